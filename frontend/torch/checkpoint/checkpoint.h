/* Checkpoints of sharded modules: the folders that torch.distributed.checkpoint writes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A folder has `.metadata`, a pickle of which tensors there are, how each is cut into
 * chunks, and the position of each chunk (torch/distributed/checkpoint/metadata.py and
 * filesystem.py); and the chunks, in files `__RANK_N.distcp`, each as torch.save writes
 * a tensor.  Sharded tensors of both kinds (ShardedTensor, DTensor) and whole ones look
 * alike there.  Nothing of the pickles is run.
 */
#ifndef IG_FRONTEND_TORCH_CHECKPOINT_CHECKPOINT_H
#define IG_FRONTEND_TORCH_CHECKPOINT_CHECKPOINT_H

#include "base/vec.h"
#include "frontend/torch/pickle/dtypes.h"
#include "ir/graph.h"
#include "ir/tensor/tensor.h"

/* A box of a tensor, and the position of its elements. */
typedef struct ig_checkpoint_chunk {
    int64_t begin[IG_TENSOR_RANK], extents[IG_TENSOR_RANK];
    ig_str file;          /* beneath the folder; no data: not told yet */
    int64_t offset, size; /* bytes there */
} ig_checkpoint_chunk;

typedef struct ig_checkpoint_tensor {
    ig_str name;
    const ig_torch_dtype_info *dtype;
    uint32_t rank;
    int64_t extents[IG_TENSOR_RANK];
    ig_checkpoint_chunk *chunks;
    size_t chunk_count;
} ig_checkpoint_tensor;

/* A counter, or another object of Python that is not a tensor. */
typedef struct ig_checkpoint_object {
    ig_str name;
    ig_checkpoint_chunk chunk;
} ig_checkpoint_object;

typedef struct ig_checkpoint_file {
    ig_str name, bytes;
} ig_checkpoint_file;

typedef struct ig_checkpoint {
    ig_context *context;
    ig_module *module; /* which keeps the files mapped, also when memory runs out */
    ig_arena *arena;
    const char *path; /* of .metadata */
    IG_VEC(ig_checkpoint_tensor) tensors;
    IG_VEC(ig_checkpoint_object) objects;
    IG_VEC(ig_checkpoint_file) files; /* opened so far */
} ig_checkpoint;

/* Reads `metadata`, the content of `path`: tensors whose chunks cover them once, and
 * other values.  All of it lives in the arena, and borrows from the bytes. */
ig_status ig_checkpoint_read(ig_module *module, ig_arena *arena, const char *path,
                             ig_str metadata, ig_checkpoint *out);
/* Writes all elements of a tensor to `to`, row-major; chunks' files are mapped, and
 * stay so as long as the module. */
ig_status ig_checkpoint_copy(ig_checkpoint *checkpoint,
                             const ig_checkpoint_tensor *tensor, char *to);
/* A counter, as i64 or f64: `*out_dtype`, of which the one is set; IG_DT_COUNT: the
 * object is no number. */
ig_status ig_checkpoint_count(ig_checkpoint *checkpoint,
                              const ig_checkpoint_object *object, ig_dtype *out_dtype,
                              int64_t *out_integer, double *out_real);

#endif
