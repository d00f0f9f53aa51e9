/* The rows of the op tables, by the name of the operator.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_EVAL_TABLE_H
#define IG_FRONTEND_TORCH_EVAL_TABLE_H

#include "frontend/torch/eval/eval.h"
#include "frontend/torch/language/schema.h"

/* All rows of one name, in order of registration. */
typedef struct ig_ts_overloads {
    const char *name;
    const ig_ts_row **rows;
    const ig_schema **schemas;
    size_t count;
    const char *needs; /* of its tensors, as needs.def has it; NULL: nothing */
} ig_ts_overloads;

extern const ig_ts_row ig_ts_rows[];
extern const size_t ig_ts_row_count;

/* The rows of "aten::add", or NULL; found once, and kept in eval->rows. */
ig_status ig_ts_rows_find(ig_ts_eval *eval, const char *name,
                          ig_ts_overloads **out_overloads);

/* The ranks and dtypes that an operator needs of its tensors; NULL: nothing. */
const char *ig_ts_needs_of(const char *name);
ig_status ig_ts_needs_check(const ig_ts_call *call);

ig_status ig_ts_op_contiguous(ig_ts_call *call);

#endif
