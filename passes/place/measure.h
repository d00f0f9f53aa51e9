/* What the files of measure share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_MEASURE_H
#define IG_PASSES_PLACE_MEASURE_H

#include "passes/engine/pass.h"

typedef struct ig_meter {
    ig_pass_run *run;
    ig_module *module;
    ig_builder b;
    ig_op *op;
    ig_map known; /* symbols that have a value where the walk stands */
} ig_meter;

/* The symbol that an extent of a result is and that has no value yet, or one that
 * nobody reads. */
ig_dim ig_meter_extent(ig_meter *m, uint32_t result, uint32_t d);
/* From here on, elements of an i64 vector are the values of symbols. */
void ig_meter_bind(ig_meter *m, ig_value *found, const ig_dim *symbols, uint32_t count);
/* Puts `value` in place of a result, under the type that everyone knows that by. */
void ig_meter_give(ig_meter *m, uint32_t result, ig_value *value);

/* measure_select.c: ops whose results' sizes depend on elements. */
ig_status ig_measure_topk(ig_meter *m);
ig_status ig_measure_nonzero(ig_meter *m);
ig_status ig_measure_unique(ig_meter *m);

#endif
