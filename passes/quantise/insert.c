/* The ops of a quantised layer.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %2 = matmul %x, @w
 *   becomes
 *     %1 = quantize %x, 0.02, 128 {to = u8}        (after a mul, where it is smoothed)
 *     %2 = dequantize %1, 0.02, 128
 *     %3 = dequantize @w.int8, [scales] {axis = 1}
 *     %4 = matmul %2, %3
 *   or, where scales are found by the run,
 *     %1 = quantize %x, s, z {to = u8}             s, z: from min and max of x
 *     %2 = matmul_integer %1, @w.int8, z
 *     %3 = dequantize %2, s * [scales] {axis = 1}
 *
 * recognise_integer and its like make the first one a product of bytes.  In bf16 it is
 *     %1 = cast (cast %x {to = bf16}) {to = f32}
 *     %2 = cast @w.bf16 {to = f32}
 *     %3 = matmul %1, %2                           sums in f32
 */
#include "passes/quantise/quantise.h"

#include "compose/quantise.h"

#include <assert.h>

static const int64_t swap_perm[] = { 1, 0 };

/* ---- parts ---- */

static ig_value *vector_of(ig_expr *e, const char *name, ig_dtype dtype, uint32_t count,
                           const void *elements) {
    int64_t extent = count;
    uint32_t rank = count == 1 ? 0 : 1;
    return ig_expr_constant(e, name, dtype, rank, &extent, elements);
}

/* x times the factors of its channels. */
static ig_value *smooth_value(ig_expr *e, const ig_quant_activation *activation,
                              ig_value *x) {
    if (!activation->factors) {
        return x;
    }
    int64_t channels = activation->channels;
    ig_value *by = ig_expr_constant(e, "smoothing", IG_DT_f32, 1, &channels,
                                    activation->factors);
    return ig_build_mul(e, x, ig_expr_along(e, by, activation->axis, x->type->rank));
}

static ig_quant_params quant_of(ig_expr *e, const ig_quant_activation *activation) {
    const ig_quant_grid *grid = &activation->grid;
    bool is_signed = grid->min < 0;
    ig_quant_params q = { .axis = -1 };
    q.scale = ig_expr_constant(e, "scale", IG_DT_f32, 0, NULL, &grid->scale);
    if (!is_signed) {
        q.zero_point = ig_expr_integer(e, IG_DT_u8, grid->zero);
    }
    return q;
}

/* The activation's integers as real numbers, once a graph. */
static ig_value *round_value(ig_quant_inserter *in, ig_expr *e, uint32_t index,
                             ig_value *x) {
    const ig_quant_activation *activation = &in->plan->activations.items[index];
    if (!in->rounded[index]) {
        ig_quant_params q = quant_of(e, activation);
        ig_dtype to = activation->grid.min < 0 ? IG_DT_i8 : IG_DT_u8;
        x = smooth_value(e, activation, x);
        x = ig_compose_quantize(e, x, &q, to, IG_ROUNDING_divide);
        in->rounded[index] = ig_compose_dequantize(e, x, &q, IG_DT_f32);
    }
    return in->rounded[index];
}

/* The weight as `dtype`; what its name ends in. */
static ig_value *stored_weight(ig_expr *e, const ig_quant_layer *layer, ig_dtype dtype,
                               const char *ending) {
    const ig_tensor *weight = &layer->weight;
    ig_dim dims[IG_TENSOR_RANK];
    size_t size = (size_t)weight->count * ig_dtypes[dtype].bits / 8;
    for (uint32_t d = 0; d < weight->rank; d++) {
        dims[d] = ig_dim_of(weight->dims[d]);
    }
    ig_data data = { .type = ig_type_tensor(e->module, dtype, weight->rank, dims),
                     .bytes = ig_arena_copy(&e->module->arena, layer->codes, size),
                     .size = (int64_t)size };
    const char *name = ig_arena_printf(&e->module->arena, "%s.%s", layer->name, ending);
    return ig_make_weight(e->builder, ig_module_add_weight(e->module, name, &data));
}

static ig_value *codes_of(ig_expr *e, const ig_quant_layer *layer) {
    return stored_weight(e, layer, layer->zeros ? IG_DT_u8 : IG_DT_i8, "int8");
}

static ig_value *scales_of(ig_expr *e, const ig_quant_layer *layer) {
    return vector_of(e, "scale", IG_DT_f32, layer->scale_count, layer->scales);
}

static ig_value *zeros_of(ig_expr *e, const ig_quant_layer *layer) {
    return layer->zeros
               ? vector_of(e, "zero", IG_DT_u8, layer->scale_count, layer->zeros)
               : NULL;
}

/* ---- scales that calibration chose ---- */

static ig_value *build_static(ig_quant_inserter *in, ig_expr *e,
                              const ig_quant_layer *layer, const ig_op *op) {
    assert(op->operand_count <= 3 && "x, weight, bias");
    ig_quant_params q = { .axis = layer->scale_count > 1 ? (int64_t)layer->out_axis
                                                         : -1 };
    ig_value *operands[3] = { NULL, NULL, ig_op_operand(op, 2) };
    operands[0] = round_value(in, e, layer->activation, ig_op_operand(op, 0));
    q.scale = scales_of(e, layer);
    q.zero_point = zeros_of(e, layer);
    operands[1] = ig_compose_dequantize(e, codes_of(e, layer), &q, IG_DT_f32);
    return ig_expr_make(e, (ig_opcode)op->code, operands, op->operand_count, op->attrs);
}

/* ---- no scales ---- */

static ig_value *build_bf16(ig_quant_inserter *in, ig_expr *e,
                            const ig_quant_layer *layer, const ig_op *op) {
    assert(op->operand_count <= 3 && "x, weight, bias");
    ig_value **x = &in->rounded[layer->activation];
    ig_value *operands[3] = { NULL, NULL, ig_op_operand(op, 2) };
    if (!*x) {
        *x = ig_expr_cast(e, ig_op_operand(op, 0), IG_DT_bf16);
        *x = ig_expr_cast(e, *x, IG_DT_f32);
    }
    operands[0] = *x;
    operands[1] = stored_weight(e, layer, IG_DT_bf16, "bf16");
    operands[1] = ig_expr_cast(e, operands[1], IG_DT_f32);
    return ig_expr_make(e, (ig_opcode)op->code, operands, op->operand_count, op->attrs);
}

/* ---- scales that the run finds ---- */

static ig_value *add_bias(ig_expr *e, ig_value *x, ig_value *bias) {
    return bias ? ig_build_add(e, x, ig_expr_along(e, bias, 1, x->type->rank)) : x;
}

static ig_value *sum_products(ig_expr *e, const ig_quant_layer *layer, const ig_op *op,
                              ig_integers a) {
    ig_integers w = { .value = codes_of(e, layer) };
    w.zero_point = zeros_of(e, layer);
    if (!layer->is_conv) {
        bool is_turned = layer->out_axis == 0;
        w.value = is_turned ? ig_expr_transpose(e, w.value, swap_perm) : w.value;
        return ig_compose_matmul_integer(e, a, w);
    }
    if (w.zero_point && layer->scale_count > 1) {
        w.zero_point = ig_expr_along(e, w.zero_point, 0, layer->weight.rank);
    }
    ig_conv_attrs like = ig_conv_attrs_of(op);
    ig_conv_integer_attrs attrs = { .strides = like.strides,
                                    .dilations = like.dilations,
                                    .before = like.before,
                                    .after = like.after,
                                    .group = like.group };
    return ig_compose_conv_integer(e, a, w, attrs);
}

static ig_value *build_dynamic(ig_quant_inserter *in, ig_expr *e,
                               const ig_quant_layer *layer, const ig_op *op) {
    const ig_quant_activation *activation =
        &in->plan->activations.items[layer->activation];
    ig_value *x = smooth_value(e, activation, ig_op_operand(op, 0));
    ig_quant_params q = ig_compose_choose_quant(e, x);
    ig_integers a = { .zero_point = q.zero_point };
    a.value = ig_compose_quantize(e, x, &q, IG_DT_u8, IG_ROUNDING_divide);
    ig_value *sum = sum_products(e, layer, op, a);
    ig_value *scales = scales_of(e, layer);
    ig_quant_params back = { .axis = layer->is_conv ? 1
                                                    : (int64_t)sum->type->rank - 1 };
    back.scale = ig_build_mul(e, q.scale, scales);
    ig_value *y = ig_compose_dequantize(e, sum, &back, IG_DT_f32);
    return layer->is_conv ? add_bias(e, y, ig_op_operand(op, 2)) : y;
}

/* ---- graphs ---- */

ig_quant_inserter ig_quant_inserter_of(const ig_quant_plan *plan, ig_graph *graph,
                                       ig_arena *arena) {
    return (ig_quant_inserter){ .plan = plan,
                                .graph = graph,
                                .rounded = IG_NEW_ARRAY(arena, ig_value *,
                                                        plan->activations.count) };
}

ig_value *ig_quant_build_layer(ig_quant_inserter *in, size_t index, ig_op *op) {
    const ig_quant_layer *layer = &in->plan->layers.items[index];
    assert(layer->codes && "weights are quantised before layers are built");
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    if (in->plan->options.is_bf16) {
        return build_bf16(in, &e, layer, op);
    }
    return in->plan->options.is_dynamic ? build_dynamic(in, &e, layer, op)
                                        : build_static(in, &e, layer, op);
}

void ig_quant_replace_layers(const ig_quant_plan *plan, ig_graph *graph,
                             ig_arena *arena) {
    ig_quant_inserter in = ig_quant_inserter_of(plan, graph, arena);
    ig_op **ops = IG_NEW_ARRAY(arena, ig_op *, plan->layers.count);
    for (size_t i = 0; i < plan->layers.count; i++) {
        ops[i] = ig_quant_op(graph, plan->layers.items[i].position);
    }
    for (size_t i = 0; i < plan->layers.count; i++) {
        if (plan->layers.items[i].is_on) {
            ig_value *y = ig_quant_build_layer(&in, i, ops[i]);
            y->name = ops[i]->results->name;
            if (y->type != ops[i]->results->type) {
                ig_value_retype(y, ops[i]->results->type);
            }
            ig_value_replace(ops[i]->results, y);
            ig_op_erase(ops[i]);
        }
    }
}
