/* The rows of the op tables, by the name of the operator.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_EVAL_TABLE_H
#define IG_FRONTEND_TORCH_EVAL_TABLE_H

#include "frontend/torch/eval/eval.h"
#include "frontend/torch/language/overload.h"

/* All rows of one name, in order of registration. */
typedef struct ig_ts_overloads {
    const char *name;
    const ig_ts_row **rows;
    const ig_schema **schemas;
    size_t count;
} ig_ts_overloads;

/* The rows of "aten::add", or NULL; found once, and kept in eval->rows. */
ig_status ig_ts_rows_find(ig_ts_eval *eval, const char *name,
                          ig_ts_overloads **out_overloads);

/* The rows that may serve a call, in the order in which they are tried: those of the
 * name itself; and of the form without the underscore, which serve it in place when
 * none of its own does.  Where the name tells the overload ("aten::add_.Tensor"), first
 * those of it alone: a file that tells it may still hold what that overload does not
 * take (a number for a tensor). */
enum { IG_TS_FORMS = 2, IG_TS_CANDIDATES = 2 * IG_TS_FORMS };

typedef struct ig_ts_candidates {
    ig_ts_overloads *own[IG_TS_CANDIDATES]; /* every second: of a plain form; or NULL */
    bool is_given; /* the name tells the overload: numbers may be given for tensors */
    bool is_any;   /* are there any? */
} ig_ts_candidates;

ig_status ig_ts_candidates_find(ig_ts_eval *eval, const char *name,
                                ig_ts_candidates *out);

/* The rows that take a call of this shape, a place in `from->own`; IG_TS_CANDIDATES
 * where none do. */
uint32_t ig_ts_candidates_match(ig_ts_eval *eval, const ig_ts_candidates *from,
                                const ig_call_shape *shape,
                                ig_overload_match *out_match);

/* Are the tensors of a call what its row needs? */
ig_status ig_ts_needs_check(const ig_ts_call *call);

/* Does it take complex values part by part?  Runs its row's function so. */
bool ig_ts_is_by_parts(const ig_ts_call *call);
ig_status ig_ts_run_by_parts(ig_ts_call *call);

#endif
