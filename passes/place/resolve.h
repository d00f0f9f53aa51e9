/* The interface between the files of resolve_shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_RESOLVE_H
#define IG_PASSES_PLACE_RESOLVE_H

#include "ir/build/expr.h"
#include "passes/engine/pass.h"

typedef struct ig_resolver {
    ig_pass_run *run;
    ig_module *module;
    ig_builder b; /* before `op` */
    ig_expr e;    /* over `b` */
    ig_op *op;
    ig_map known; /* symbols that have a value at this point of the walk */
} ig_resolver;

/* Extent `d` of a result when it is a symbol without a value yet; otherwise a new
 * symbol that is not read. */
ig_dim ig_resolver_extent(ig_resolver *m, uint32_t result, uint32_t d);
/* From here on, elements of an i64 vector are the values of symbols. */
void ig_resolver_bind(ig_resolver *m, ig_value *found, const ig_dim *symbols,
                      uint32_t count);
/* Replaces a result by `value`, reshaped to the result's type where that differs. */
void ig_resolver_replace(ig_resolver *m, uint32_t result, ig_value *value);

/* resolve_ranks.c: what ops of sharded graphs tell the functions of libingot-group,
 * whose arguments runtime/collective/ranks.h gives: params of rank_bag_ids, and of
 * rank_bag_ids_count. */
enum { IG_BAG_IDS_PARAMS = 14 };
void ig_resolve_bag_params(const ig_op *op, ig_dim params[IG_BAG_IDS_PARAMS]);

/* resolve_select.c: ops whose results' sizes depend on elements. */
ig_status ig_resolve_topk(ig_resolver *m);
ig_status ig_resolve_nonzero(ig_resolver *m);
ig_status ig_resolve_unique(ig_resolver *m);
ig_status ig_resolve_custom(ig_resolver *m);

/* resolve_ranks.c: ops of sharded graphs. */
ig_status ig_resolve_bag_ids(ig_resolver *m);
ig_status ig_resolve_deal(ig_resolver *m);
ig_status ig_resolve_all_to_all(ig_resolver *m);
ig_status ig_resolve_reduce_scatter(ig_resolver *m);

#endif
