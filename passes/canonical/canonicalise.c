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
 * guard.  The rules are in canonical/<area>.c, each under a comment that says the
 * fact.
 *
 * Keeps: values, and types but for more precise ones.
 */
#include "passes/canonical/canonicalise.h"

#include <string.h>

/* ---- what rules share ---- */

bool ig_canonical_same_type(const ig_module *module, const ig_type *a,
                            const ig_type *b) {
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
    return ig_canonical_same_type(ig_op_module(op), op->results[0].type, x->type)
               ? x
               : NULL;
}

/* ---- the pass ---- */

ig_status ig_pass_canonicalise(ig_pass_run *run, ig_graph *graph) {
    const ig_rules *const tables[] = { &ig_rules_runtime, &ig_rules_view,
                                       &ig_rules_map,     &ig_rules_index,
                                       &ig_rules_window,  &ig_rules_flow,
                                       &ig_rules_parts };
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
