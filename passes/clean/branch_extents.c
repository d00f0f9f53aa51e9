/* branch_extents: results of an `if` on an extent have the extents that fit both sides.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = gt L, 0
 *     %2 = if %1 : i64[branch] { yield %a : i64[L + 1] } else { yield %b : i64[1] }
 *   becomes
 *     %2 = if %1 : i64[L + 1] {
 *       yield %a
 *     } else {
 *       %3 = expand %b {to = [L + 1]}
 *       yield %3
 *     }
 *
 * On the side that runs where the extent is one number, the other side's extent has
 * that number too: 1 is L + 1 where L is 0.  So the result's extent is known before the
 * run, as results in the memory of an input need it (bufferise).  A pass of
 * training: TorchRec's scripts choose so between features and none.
 *
 */
#include "ir/build/expr.h"
#include "passes/engine/extent_test.h"
#include "passes/engine/pass.h"
#include "passes/engine/symbols.h"

typedef struct joiner {
    ig_pass_run *run;
    ig_symbols symbols;
    bool has_own; /* the dim looked at has a symbol that no argument binds */
} joiner;

/* Of symbols that arguments bind alone: a body's own mean nothing outside of it. */
static void note_own(void *user, uint32_t symbol) {
    joiner *j = user;
    j->has_own |= symbol >= j->symbols.count || !j->symbols.is_bound[symbol];
}

static bool is_of_arguments(joiner *j, ig_dim dim) {
    j->has_own = false;
    ig_dim_visit_symbols(j->symbols.module, dim, note_own, j);
    return !j->has_own;
}

/* The other side's dims where they fit the special side's; else the result's own. */
static const ig_type *join_types(joiner *j, const ig_extent_test *test,
                                 const ig_type *own, const ig_type *other,
                                 const ig_type *special) {
    ig_dim dims[IG_TENSOR_RANK];
    if (own->kind != IG_TENSOR || other->rank != own->rank ||
        special->rank != own->rank) {
        return own;
    }
    for (uint32_t i = 0; i < own->rank; i++) {
        ig_dim there = ig_extent_test_apply(test, other->dims[i]);
        ig_dim here = special->dims[i];
        bool fits = (ig_dim_is(here, 0) || ig_dim_is(here, 1)) &&
                    ig_dim_equal(test->module, there, here) == IG_YES &&
                    is_of_arguments(j, other->dims[i]);
        dims[i] = fits ? other->dims[i] : own->dims[i];
    }
    return ig_type_with_dims(test->module, own, own->rank, dims);
}

/* Results of the special side get the extents that were learnt: of no elements others,
 * which are none either, and of one along an axis the same. */
static void widen_yield(ig_block *body, uint32_t index, const ig_type *old,
                        const ig_type *fresh) {
    ig_op *yield = body->last;
    ig_builder builder = ig_builder_before(yield);
    ig_expr e = ig_expr_of(&builder);
    ig_value *value = ig_op_operand(yield, index);
    ig_dim dims[IG_TENSOR_RANK];
    bool is_empty = false;
    for (uint32_t i = 0; i < fresh->rank; i++) {
        bool is_learnt = !ig_dim_same(old->dims[i], fresh->dims[i]);
        dims[i] = is_learnt ? fresh->dims[i] : value->type->dims[i];
        is_empty |= is_learnt && ig_dim_is(value->type->dims[i], 0);
    }
    ig_value *wide = is_empty ? ig_expr_fill(&e, (ig_dtype)fresh->dtype, fresh->rank,
                                             dims, 0)
                              : ig_expr_expand(&e, value, fresh->rank, dims);
    ig_use_set(&yield->operands[index], wide);
}

static void join_results(joiner *j, ig_op *op) {
    ig_extent_test test;
    if (!ig_extent_test_read(op, j->run->scratch, &test)) {
        return;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value *result = &op->results[i];
        const ig_type *old = result->type;
        const ig_type *fresh = join_types(j, &test, old,
                                          ig_op_operand(test.other->last, i)->type,
                                          ig_op_operand(test.special->last, i)->type);
        if (fresh != old && !ig_symbols_changes(&j->symbols, op, old)) {
            ig_symbols_learn(&j->symbols, op, old, fresh);
            ig_value_retype(result, fresh);
            widen_yield(test.special, i, old, fresh);
            j->run->changed = true;
        }
    }
}

ig_status ig_pass_branch_extents(ig_pass_run *run, ig_graph *graph) {
    joiner j = { .run = run };
    ig_symbols_init(&j.symbols, graph, run->scratch);
    for (ig_op *op = graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_if) {
            join_results(&j, op);
        }
    }
    return ig_symbols_apply(&j.symbols, run, graph);
}
