/* canonicalise: rewrites ops into simpler ones that do the same.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = reshape %x {to = [B, 52]} : f32[B, 52]
 *     %1 = reshape %0 {to = [B, 4, 13]} : f32[B, 4, 13]
 *     %2 = mul %1, 1.0 : f32[B, 4, 13]
 *   becomes
 *     %0 = reshape %x {to = [B, 4, 13]} : f32[B, 4, 13]
 *
 * Each rule is right for every value, NaN and -0 among them, and for every extent, 0
 * among them; where a rule takes a check away that the run would have made, it leaves a
 * guard.  The rules stand in canonical_<area>.c, each under a comment that says the
 * fact.
 *
 * Keeps: values, and types but for more precise ones.
 */
#include "passes/canonical/canonicalise.h"

#include "base/silence.h"

#include <string.h>

/* ---- what rules share ---- */

bool ig_types_equal(const ig_module *module, const ig_type *a, const ig_type *b) {
    if (a == b) {
        return true;
    }
    if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank ||
        a->kind != IG_TENSOR) {
        return false;
    }
    for (uint32_t i = 0; i < a->rank; i++) {
        if (ig_dim_equal(module, a->dims[i], b->dims[i]) != IG_YES) {
            return false;
        }
    }
    return true;
}

ig_value *ig_same_type(const ig_op *op, ig_value *x) {
    return ig_types_equal(ig_op_module(op), op->results[0].type, x->type) ? x : NULL;
}

ig_value *ig_try_make(ig_builder *b, ig_opcode code, uint32_t operand_count,
                      ig_value *const *operands, const ig_attr *attrs) {
    ig_op_spec spec = { .operands = operands,
                        .operand_count = operand_count,
                        .attrs = attrs };
    ig_op *op = NULL;
    ig_silence silence = ig_silence_begin(b->graph->module->context);
    ig_status status = ig_build(b, code, &spec, &op);
    ig_silence_end(&silence);
    return status == IG_OK ? &op->results[0] : NULL;
}

ig_value *ig_try_reshape(ig_builder *b, ig_value *x, uint32_t rank,
                         const ig_dim *dims) {
    ig_attr attrs[IG_reshape_attr_count] = { { 0 } };
    attrs[IG_reshape_to] = ig_attr_of_dims(b->graph->module, dims, rank);
    return ig_try_make(b, IG_OP_reshape, 1, &x, attrs);
}

ig_value *ig_try_slice(ig_builder *b, ig_value *x, const ig_dim *starts,
                       const ig_dim *sizes, const int64_t *steps) {
    ig_module *module = b->graph->module;
    uint32_t rank = x->type->rank;
    ig_attr attrs[IG_slice_attr_count] = { { 0 } };
    attrs[IG_slice_starts] = ig_attr_of_dims(module, starts, rank);
    attrs[IG_slice_sizes] = ig_attr_of_dims(module, sizes, rank);
    bool has_steps = false;
    for (uint32_t i = 0; steps && i < rank; i++) {
        has_steps = has_steps || steps[i] != 1;
    }
    if (has_steps) {
        attrs[IG_slice_steps] = ig_attr_of_ints(module, steps, rank);
    }
    return ig_try_make(b, IG_OP_slice, 1, &x, attrs);
}

void ig_make_guard_least(ig_builder *b, ig_dim left, ig_dim right,
                         const char *message) {
    ig_module *module = b->graph->module;
    if (ig_dim_less_equal(module, left, right) == IG_YES) {
        return;
    }
    ig_attr attrs[IG_guard_attr_count] = { { 0 } };
    attrs[IG_guard_left] = ig_attr_of_dim(left);
    attrs[IG_guard_right] = ig_attr_of_dim(right);
    attrs[IG_guard_test] = ig_attr_of_enum(1); /* le */
    attrs[IG_guard_message] = ig_attr_of_str(module, ig_str_of(message));
    (void)ig_make(b, IG_OP_guard, 0, NULL, attrs);
}

/* ---- the pass ---- */

ig_status ig_pass_canonicalise(ig_pass_run *run, ig_graph *graph) {
    const ig_rules *const tables[] = { &ig_rules_runtime, &ig_rules_view, &ig_rules_map,
                                       &ig_rules_index, &ig_rules_flow };
    size_t count = 0;
    for (size_t i = 0; i < IG_COUNT_OF(tables); i++) {
        count += tables[i]->count;
    }
    ig_rule *rules = IG_NEW_ARRAY(run->scratch, ig_rule, count);
    count = 0;
    for (size_t i = 0; i < IG_COUNT_OF(tables); i++) {
        memcpy(&rules[count], tables[i]->items, tables[i]->count * sizeof(ig_rule));
        count += tables[i]->count;
    }
    return ig_rewrite(run, graph, rules, count);
}
