/* Results that are lists of dicts, one for each row of a matrix (ZipMap).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_IMPORT_KEYS_H
#define IG_FRONTEND_ONNX_IMPORT_KEYS_H

#include "frontend/onnx/import/import.h"

struct ig_onnx_keys {       /* of these dicts: of the matrix's columns */
    const int64_t *numbers; /* NULL: texts */
    const char *const *texts;
    uint32_t count;
};

/* Output `index` of the node is a list of dicts with these keys; NULL: it is none. */
void ig_onnx_set_keys(ig_onnx_node *node, uint32_t index, const ig_onnx_keys *keys);
/* The tree of a call whose `count` results, called `names`, are lists of dicts where
 * `keys` says so.  NULL: none is. */
const ig_signature *ig_onnx_signature(const ig_onnx_import *import,
                                      const ig_onnx_keys *const *keys,
                                      const char *const *names, size_t count);

#endif
