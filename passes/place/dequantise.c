/* dequantise: `dequantize` ops that `pack` has left become arithmetic.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = dequantize %x, %scale, %zero
 *   becomes
 *     %1 = mul (sub (cast %x), (cast %zero)), %scale
 *
 * `decompose` takes all other composites apart, before `pack`, which has to see
 * weights of 8-bit integers with their scales as one op.
 */
#include "compose/decompose.h"
#include "passes/engine/rewrite.h"

static ig_value *decompose_dequantize(ig_builder *b, ig_op *op) {
    ig_expr e = ig_expr_of(b);
    ig_value *result = NULL;
    return ig_decompose_dequantize(&e, op, &result) ? result : NULL;
}

ig_status ig_pass_dequantise(ig_pass_run *run, ig_graph *graph) {
    static const ig_rule rules[] = { RULE(dequantize, decompose_dequantize) };
    return run->options->target ? ig_rewrite(run, graph, rules, 1) : IG_OK;
}
