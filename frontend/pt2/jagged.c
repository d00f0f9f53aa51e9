/* TorchRec's classes as arguments and results of exported programs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * torch.export takes them apart into tensors.  A call gives and takes them whole, in
 * the same form as for a TorchScript archive, which brings their source along; here is
 * as much of it as that needs.
 */
#include "frontend/pt2/spec.h"

#include <string.h>

#define FOLDER "torchrec.sparse.jagged_tensor."

static const ig_pt2_jagged classes[] = {
    { FOLDER "KeyedJaggedTensor", "KeyedJaggedTensor", IG_NODE_KJT, { "keys" }, false },
    { FOLDER "JaggedTensor", "JaggedTensor", IG_NODE_JT, { NULL }, false },
    { "KeyedTensor", "KeyedTensor", IG_NODE_KT, { "keys", "length_per_key" }, true },
    { FOLDER "KeyedTensor",
      "KeyedTensor",
      IG_NODE_KT,
      { "keys", "length_per_key" },
      true },
};

const ig_pt2_jagged *ig_pt2_jagged_find(const char *type) {
    for (size_t i = 0; i < IG_COUNT_OF(classes); i++) {
        if (strcmp(classes[i].type, type) == 0) {
            return &classes[i];
        }
    }
    return NULL;
}

const char ig_pt2_jagged_file[] = "__torch__/torchrec/sparse/jagged_tensor.py";

#define MODULE "  __parameters__ = []\n  __buffers__ = []\n"
#define FIELDS                        \
    "  _values : Tensor\n"            \
    "  _weights : Optional[Tensor]\n" \
    "  _lengths : Optional[Tensor]\n" \
    "  _offsets : Optional[Tensor]\n"
#define TENSORS                             \
    "    values: Tensor,\n"                 \
    "    weights: Optional[Tensor]=None,\n" \
    "    lengths: Optional[Tensor]=None,\n" \
    "    offsets: Optional[Tensor]=None) -> None:\n"
#define SET_TENSORS                 \
    "    self._values = values\n"   \
    "    self._weights = weights\n" \
    "    self._lengths = lengths\n" \
    "    self._offsets = offsets\n" \
    "    return None\n"

/* Either of lengths and offsets is had of the other. */
#define LENGTHS                                                             \
    "    if torch.__isnot__(self._lengths, None):\n"                        \
    "      r = self._lengths\n"                                             \
    "    else:\n"                                                           \
    "      o = self._offsets\n"                                             \
    "      r = torch.sub(torch.slice(o, 0, 1), torch.slice(o, 0, 0, -1))\n" \
    "    return r\n"
#define OFFSETS               \
    "    s = self._lengths\n" \
    "    return ops.fbgemm.asynchronous_complete_cumsum(s)\n"

#define KJT "self: __torch__." FOLDER "KeyedJaggedTensor"
#define JT "self: __torch__." FOLDER "JaggedTensor"
#define KT "self: __torch__." FOLDER "KeyedTensor"

const char ig_pt2_jagged_source[] =
    "class KeyedJaggedTensor(Module):\n" MODULE "  _keys : List[str]\n" FIELDS
    "  def __init__(" KJT ",\n"
    "    keys: List[str],\n" TENSORS "    self._keys = keys\n" SET_TENSORS
    "  def lengths(" KJT ") -> Tensor:\n" LENGTHS "  def offsets(" KJT
    ") -> Tensor:\n" OFFSETS "class JaggedTensor(Module):\n" MODULE FIELDS
    "  def __init__(" JT ",\n" TENSORS SET_TENSORS "  def lengths(" JT
    ") -> Tensor:\n" LENGTHS "  def offsets(" JT ") -> Tensor:\n" OFFSETS
    "class KeyedTensor(Module):\n" MODULE "  _keys : List[str]\n"
    "  _length_per_key : List[int]\n"
    "  _values : Tensor\n"
    "  def __init__(" KT ",\n"
    "    keys: List[str],\n"
    "    length_per_key: List[int],\n"
    "    values: Tensor) -> None:\n"
    "    self._keys = keys\n"
    "    self._length_per_key = length_per_key\n"
    "    self._values = values\n"
    "    return None\n";
