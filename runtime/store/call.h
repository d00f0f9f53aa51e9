/* What stores and plug-ins do with the settings of a call.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORE_CALL_H
#define IG_RUNTIME_STORE_CALL_H

#include "base/status.h"
#include "ingot/store.h"

/* The whole struct as this build knows it, whatever the caller's was; NULL: all
 * defaults. */
ig_status ig_store_call_take(const ig_store_call *given, ig_store_call *out_call);
/* INVALID, in words: a struct of that name came without its size. */
ig_status ig_store_refuse_unsized(const ig_store_call *call, const char *name);
/* Puts one line into the call's message, without secrets, and returns `status`. */
ig_status ig_store_fail(const ig_store_call *call, ig_status status, const char *format,
                        ...) IG_PRINTF(3, 4);
/* CANCELLED or LIMIT, with words, when the call is cancelled or past its deadline. */
ig_status ig_store_check_time(const ig_store_call *call);
int64_t ig_store_now_ns(void); /* of CLOCK_MONOTONIC */

static inline size_t ig_store_cell_count(const ig_store_cells *cells) {
    return cells->id_count * cells->column_count * cells->state_count;
}

/* The name of cell number `index`, without data. */
static inline ig_store_cell ig_store_cell_at(const ig_store_cells *cells,
                                             size_t index) {
    size_t row = index / cells->state_count;
    return (ig_store_cell){ .table = cells->table,
                            .id = cells->ids[row / cells->column_count],
                            .column = cells->columns[row % cells->column_count],
                            .state = cells->states[index % cells->state_count] };
}

#endif
