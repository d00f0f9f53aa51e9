/* Values of calls: owners, and the way to and from the tensors of ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_VALUES_ARGUMENT_H
#define IG_DRIVER_VALUES_ARGUMENT_H

#include "driver/host.h"
#include "ir/tensor/tensor.h"

struct ig_arguments {
    ig_context *context;
    ig_arena arena; /* of the context's budget */
    IG_VEC(ig_argument) items;
    IG_VEC(const char *) names;
};

/* NULL when malloc fails. */
ig_arguments *ig_arguments_create(ig_context *context);
void ig_arguments_add(ig_arguments *arguments, const char *name,
                      const ig_tensor *tensor);

/* Borrows the data; reports an argument that is not a tensor. */
ig_status ig_argument_to_tensor(ig_context *context, ig_arena *arena,
                                const ig_argument *from, ig_tensor *out);
/* Borrows the data; dims and items are the arena's. */
void ig_argument_of_tensor(ig_arena *arena, const ig_tensor *from, ig_argument *out);

/* "f32[B, 13]", "seq<f32[N]>" -> kind and dtype; false for anything else. */
bool ig_declared_type(const char *type, ig_kind *out_kind, ig_dtype *out_dtype);

/* One array in numpy's format.  `wanted` (IG_DT_COUNT: none) says what bits are that
 * the format has no name for, such as bf16.  Data is copied into `arena`. */
ig_status ig_npy_read(ig_context *context, ig_arena *arena, const char *file,
                      ig_str bytes, ig_dtype wanted, ig_tensor *out);
ig_status ig_npy_write(ig_context *context, const char *file, const ig_tensor *tensor,
                       ig_writer *out);

typedef struct ig_value_want {
    ig_kind kind;   /* of a protobuf message */
    ig_dtype dtype; /* `wanted` of ig_npy_read */
} ig_value_want;

/* A file of values: numpy's format, or what its name says is that; else protobuf. */
ig_status ig_argument_read(ig_context *context, ig_arena *arena, const char *file,
                           ig_str bytes, ig_value_want want, ig_tensor *out);

/* Archives of such arrays; names lose their ".npy".  `path` is for messages. */
ig_status ig_npz_read(ig_arguments *arguments, const char *path, ig_str bytes);
typedef struct ig_npz_entry {
    const char *file; /* its name, with ".npy" */
    ig_str bytes;     /* of the .npy */
} ig_npz_entry;
/* The archive's bytes, in `arena`. */
ig_status ig_npz_write(ig_context *context, ig_arena *arena, const char *path,
                       const ig_npz_entry *entries, size_t count, ig_str *out);

/* The items of a list, '["@a.npy", "f32[2]=1,2", [3, 4]]' or "null", as values. */
ig_status ig_argument_split(ig_context *context, ig_arena *arena, const char *text,
                            const char *const **out_items, size_t *out_count);
/* "f32[2,3]=1,2,3,4,5,6", "i64[4]=iota" or JSON. */
ig_status ig_argument_parse(ig_context *context, ig_arena *arena, const char *text,
                            const char *type, ig_tensor *out);

#endif
