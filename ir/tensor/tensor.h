/* A concrete tensor: the interpreter's values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_TENSOR_TENSOR_H
#define IG_IR_TENSOR_TENSOR_H

#include "ir/tensor/dtype.h"
#include "ir/tensor/row.h"

#define IG_TENSOR_RANK 32

typedef struct ig_tensor ig_tensor;
struct ig_tensor {
    ig_kind kind; /* IG_TENSOR, IG_TABLE, IG_SEQUENCE or IG_OPTIONAL */
    ig_dtype dtype;
    ig_rows rows; /* tables */
    uint32_t rank;
    int64_t dims[IG_TENSOR_RANK];
    void *data;       /* row-major, contiguous; sub-byte dtypes packed */
    ig_tensor *items; /* sequence: `count` tensors; optional: 0 or 1, or a sequence */
    int64_t count;    /* elements of a tensor, items of a sequence */
};

/* Sets kind, dims and count and allocates zeroed data.  IG_LIMIT (reported to the
 * context when it is not NULL) when the size passes limits.interpret_bytes. */
ig_status ig_tensor_alloc(ig_arena *arena, ig_context *context, ig_dtype dtype,
                          uint32_t rank, const int64_t *dims, ig_tensor *out_tensor);
int64_t ig_tensor_bytes(const ig_tensor *tensor);
/* The offsets of the parts of a table's row; false when its type makes none. */
bool ig_table_layout(const ig_tensor *table, ig_row_layout *out_layout);
/* Element access with conversion, sub-byte dtypes included; `index` is row-major. */
double ig_tensor_get_f64(const ig_tensor *tensor, int64_t index);
int64_t ig_tensor_get_i64(const ig_tensor *tensor, int64_t index);
void ig_tensor_set_f64(ig_tensor *tensor, int64_t index, double value);
void ig_tensor_set_i64(ig_tensor *tensor, int64_t index, int64_t value);

#endif
