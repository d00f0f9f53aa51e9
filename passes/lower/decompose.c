/* decompose: composites become simpler ops, unless the target has a kernel.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = batch_norm %x, @scale, @bias, @mean, @variance {epsilon = 1e-05}
 *   becomes
 *     %1 = mul %x, %factor
 *     %2 = add %1, %shift
 *
 * with factor and shift computed from constants, once.  Convolutions, and on GPUs
 * pools, lose their padding, which becomes a pad op in front of them.
 *
 * Recognisers and importers make composites, so this runs after all of them.
 * `dequantize` is left: `pack` has to see it (passes/place/dequantise.c).  So are
 * integer products on CPUs, which have kernels for them (passes/place/pack_integer.c).
 * Sums of bytes in f32 go on as they are, since here one still sees that they are
 * whole:
 *
 *     %1 = conv (dequantize %x, 1, %zx), (dequantize @w, 1)
 *     %2 = dequantize (cast %1 {to = i32}), %scale
 *   becomes
 *     %2 = mul %1, %scale
 */
#include "compose/decompose.h"
#include "compose/quantise.h"
#include "ir/semantics/bits.h"
#include "passes/engine/rewrite.h"
#include "passes/lower/lower.h"

#include <assert.h>

/* A rule's answer: the results' values, in place of the op. */
static ig_value *decompose_op(ig_builder *b, ig_op *op, ig_decompose_fn decompose) {
    ig_expr e = ig_expr_of(b);
    ig_value *results[IG_DECOMPOSE_RESULTS];
    assert(op->result_count <= IG_DECOMPOSE_RESULTS && "room for each result");
    if (!decompose(&e, op, results)) {
        return NULL;
    }
    for (uint32_t i = 0; op->result_count > 1 && i < op->result_count; i++) {
        ig_value_retype(&op->results[i], results[i]->type);
        ig_value_replace(&op->results[i], results[i]);
    }
    return op->result_count > 1 ? ig_rule_done(op) : results[0];
}

static ig_value *decompose_row(ig_builder *b, ig_op *op) {
    return decompose_op(b, op, ig_decomposition_of((ig_opcode)op->code));
}

static ig_value *decompose_conv(ig_builder *b, ig_op *op) {
    return decompose_op(b, op, ig_decompose_conv_form);
}

static bool take_pads(ig_expr *e, const ig_op *op, ig_value **out_results) {
    return ig_decompose_pool_form(e, op, false, out_results);
}

static bool keep_pads(ig_expr *e, const ig_op *op, ig_value **out_results) {
    return ig_decompose_pool_form(e, op, true, out_results);
}

static ig_value *decompose_pool(ig_builder *b, ig_op *op) {
    return decompose_op(b, op, take_pads);
}

static ig_value *decompose_padded_pool(ig_builder *b, ig_op *op) {
    return decompose_op(b, op, keep_pads);
}

/* To f32 by way of i32: the sums are whole already. */
static ig_value *decompose_cast(ig_builder *b, ig_op *op) {
    ig_expr e = ig_expr_trying(b);
    bool is_float = op->results->type->dtype == IG_DT_f32;
    return is_float ? ig_exact_sum(&e, op->operands[0].value) : NULL;
}

static ig_value *decompose_dequantize_sum(ig_builder *b, ig_op *op) {
    ig_expr e = ig_expr_trying(b);
    bool is_sum = ig_exact_sum(&e, op->operands[0].value) != NULL;
    return is_sum ? decompose_op(b, op, ig_decompose_dequantize) : NULL;
}

static const ig_kernel_family families[IG_OP_COUNT] = {
#define OP(op, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                    \
    [IG_OP_##op] = IG_FAMILY_##lower,
#include "ir/ops.def"
#undef OP
};

/* Is there a kernel for the op, or a pass or rule of its own? */
static bool keeps_op(const ig_target *target, uint32_t code) {
    if (code == IG_OP_matmul_integer || code == IG_OP_windows ||
        code == IG_OP_conv_integer) {
        return target->has_integer_products;
    }
    return code == IG_OP_dequantize || ig_lower_has_family(target, families[code]);
}

/* Blocks that kernels cannot load in vectors. */
static ig_value *decompose_odd_bits(ig_builder *b, ig_op *op) {
    ig_bits form = ig_bits_of(op);
    bool is_odd = form.block == 0 || form.block % IG_BITS_LANES != 0;
    return is_odd ? decompose_op(b, op, ig_decompose_matmul_bits) : NULL;
}

/* Groups of bytes are left to channels_last. */
static ig_value *decompose_conv_windows(ig_builder *b, ig_op *op) {
    ig_byte_groups groups;
    return ig_byte_groups_of(op, &groups)
               ? NULL
               : decompose_op(b, op, ig_decompose_conv_integer);
}

ig_status ig_pass_decompose(ig_pass_run *run, ig_graph *graph) {
    ig_rule rules[IG_OP_COUNT];
    uint32_t count = 0;
    if (!run->options->target) {
        return IG_OK; /* the interpreter knows every op */
    }
    for (uint32_t code = 0; code < IG_OP_COUNT; code++) {
        if (ig_decomposition_of((ig_opcode)code) &&
            !keeps_op(run->options->target, code)) {
            rules[count++] = (ig_rule){ .name = ig_ops[code].name,
                                        .root = (ig_opcode)code,
                                        .apply = decompose_row };
        }
    }
    if (run->options->target->has_integer_products) {
        rules[count++] = (ig_rule)RULE(conv_integer, decompose_conv_windows);
    }
    if (keeps_op(run->options->target, IG_OP_matmul_bits)) {
        rules[count++] = (ig_rule)RULE(matmul_bits, decompose_odd_bits);
    }
    rules[count++] = (ig_rule)RULE(conv, decompose_conv);
    rules[count++] = run->options->target->has_threads
                         ? (ig_rule)RULE(pool, decompose_pool)
                         : (ig_rule)RULE(pool, decompose_padded_pool);
    rules[count++] = (ig_rule)RULE(cast, decompose_cast);
    rules[count++] = (ig_rule)RULE(dequantize, decompose_dequantize_sum);
    return ig_rewrite(run, graph, rules, count);
}
