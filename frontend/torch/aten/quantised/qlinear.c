/* quantized::linear and convolution: integer products, exact.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     acc = sum (x - zx) (w - zw)                               in i32
 *     y = clamp(rint((acc + bias / (sx sw)) * (sx sw / sy)) + zy)
 *
 * The bias is added in f32, as FBGEMM, torch's engine on x86, does; QNNPACK rounds it
 * to an integer first.
 *
 * Packed parameters are custom objects; their attribute `state` holds the operands of
 * libtorch's packing as they were written: (weight, bias) of linear layers, ("2",
 * [config, weight], [bias]) of convolutions. */
#include "frontend/torch/aten/quantised/packed.h"

#include "frontend/torch/eval/eval.h"
#include "ir/build/extent.h"

#include <string.h>

typedef struct packed {
    ig_ts_value weight, bias; /* bias may be NONE */
    int64_t config[16];
    uint32_t config_count;
} packed;

static const ig_ts_value *state_of(ig_ts_call *call, uint32_t index) {
    ig_ts_object *object = NULL;
    if (call->e->status == IG_OK) {
        call->e->status = ig_ts_object_arg(call, index, "PackedParamsBase", &object);
    }
    const ig_ts_value *state = object ? ig_ts_object_get(object, "state") : NULL;
    if (!state) {
        ig_expr_fail(call->e, IG_INVALID, "packed parameters without content");
    }
    return state;
}

static bool read_linear(ig_ts_call *call, uint32_t index, packed *out) {
    const ig_ts_list *parts = ig_ts_items_of(state_of(call, index), 1);
    memset(out, 0, sizeof *out);
    if (!parts) {
        ig_expr_fail(call->e, IG_INVALID, "packed parameters are not (weight, bias)");
        return false;
    }
    out->weight = parts->items[0];
    out->bias = parts->count > 1 ? parts->items[1] : ig_ts_none();
    return true;
}

/* config: an i16 tensor, known, or a list of ints. */
static bool read_config(ig_ts_call *call, const ig_ts_value *value, packed *out) {
    const ig_ts_list *list = ig_ts_items_of(value, 1);
    if (list) {
        bool are_known = true;
        for (size_t i = 0; i < list->count && i < IG_COUNT_OF(out->config); i++) {
            const ig_ts_value *item = &list->items[i];
            are_known = are_known && item->kind == IG_TS_INT && ig_ts_is_known(item);
            out->config[out->config_count++] = are_known ? item->as.i : 0;
        }
        if (!are_known) {
            ig_expr_fail(call->e, IG_INVALID,
                         "a convolution's parameters are not numbers");
        }
        return are_known;
    }
    const ig_data *data = value->kind == IG_TS_TENSOR
                              ? ig_constant_of(ig_ts_read(call, value))
                              : NULL;
    if (!data || !data->bytes || data->is_splat || data->type->rank != 1) {
        ig_expr_fail(call->e, IG_INVALID, "a convolution without its parameters");
        return false;
    }
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count =
                             ig_dim_value(ig_expr_extent_of(call->e, data->type, 0)),
                         .data = (void *)(uintptr_t)data->bytes };
    for (int64_t i = 0; i < tensor.count && i < (int64_t)IG_COUNT_OF(out->config);
         i++) {
        out->config[out->config_count++] = ig_tensor_get_i64(&tensor, i);
    }
    return true;
}

static bool read_conv(ig_ts_call *call, uint32_t index, packed *out) {
    const ig_ts_list *parts = ig_ts_items_of(state_of(call, index), 3);
    memset(out, 0, sizeof *out);
    const ig_ts_list *tensors = parts ? ig_ts_items_of(&parts->items[1], 2) : NULL;
    const ig_ts_list *optional = parts ? ig_ts_items_of(&parts->items[2], 1) : NULL;
    if (!tensors || !optional) {
        ig_expr_fail(call->e, IG_INVALID, "packed parameters of no convolution");
        return false;
    }
    out->weight = tensors->items[1];
    out->bias = optional->items[0];
    return read_config(call, &tensors->items[0], out);
}

static ig_value *bias_of(ig_ts_call *call, const packed *p) {
    return p->bias.kind == IG_TS_TENSOR
               ? ig_aten_cast(call, ig_ts_read(call, &p->bias), IG_DT_f32)
               : NULL;
}

/* ---- output ---- */

typedef struct product {
    ig_value *acc;   /* i32, without bias */
    ig_value *a, *b; /* scales of both factors, f32: a number, one per channel */
    ig_value *bias;  /* f32, one per channel; or NULL */
    uint32_t axis;   /* of acc: the channels */
} product;

/* The sums with bias / (sx sw), along their channels, in f32. */
static ig_value *add_bias(ig_ts_call *call, const product *p) {
    ig_expr *e = call->e;
    ig_value *bias = ig_build_div(e, p->bias, ig_build_mul(e, p->a, p->b));
    bias = ig_expr_along(e, bias, 0, p->acc->type->rank - p->axis);
    return ig_build_add(e, ig_aten_cast(call, p->acc, IG_DT_f32), bias);
}

/* Scale and zero point are at `at`. */
static ig_status give_product(ig_ts_call *call, const product *p, uint32_t at,
                              const ig_torch_dtype_info *dtype, bool has_relu) {
    double scale = ig_aten_float(call, at);
    int64_t zero = ig_aten_int(call, at + 1);
    const ig_ts_quant *quant = ig_aten_quant_of(call, scale, zero);
    ig_value *acc = p->acc, *lowest = ig_expr_integer(call->e, IG_DT_u8, zero);
    ig_quant_params y = { .scale = ig_expr_number(call->e, IG_DT_f32, scale),
                          .zero_point = lowest,
                          .axis = p->axis };
    IG_TRY(call->e->status);
    if (p->bias) {
        acc = add_bias(call, p);
    }
    ig_value *raw = ig_compose_requantize(call->e, acc, p->a, p->b, &y, IG_DT_u8);
    raw = has_relu ? ig_build_max(call->e, raw, lowest) : raw;
    IG_TRY(call->e->status);
    return ig_ts_give_quantised(call, 0, raw, dtype, quant);
}

/* ---- linear ---- */

static ig_value *transpose_weight(ig_ts_call *call, ig_value *w) {
    return w ? ig_expr_swap(call->e, w, 0, 1) : NULL;
}

/* sum (x - zx) (w - zw), with sx and sw; channels are the last axis. */
static bool multiply_quantised(ig_ts_call *call, const ig_aten_quantised *x,
                               const ig_aten_quantised *w, product *out) {
    ig_quant_params left = ig_aten_quant_params(call, x->quant, x->dtype);
    ig_quant_params right = ig_aten_quant_params(call, w->quant, w->dtype);
    ig_integers a = { x->raw, left.zero_point };
    ig_integers b = { transpose_weight(call, w->raw), right.zero_point };
    out->acc = ig_compose_matmul_integer(call->e, a, b);
    out->a = left.scale;
    out->b = right.scale;
    out->axis = out->acc ? out->acc->type->rank - 1 : 0;
    return call->e->status == IG_OK;
}

/* quantized::linear(X, W_prepack, Y_scale, Y_zero_point); variant 1: relu */
ig_status ig_ts_op_q_linear(ig_ts_call *call) {
    packed p;
    ig_aten_quantised x, w;
    product out = { 0 };
    if (!ig_aten_quantised_arg(call, 0, &x) || !read_linear(call, 1, &p) ||
        !ig_aten_quantised_of(call, &p.weight, &w) ||
        !multiply_quantised(call, &x, &w, &out)) {
        return call->e->status;
    }
    out.bias = bias_of(call, &p);
    return give_product(call, &out, 2, x.dtype, call->row->variant == 1);
}

/* Weights that are plain: f16 ones, computed in f32. */
static ig_value *linear_float(ig_ts_call *call, ig_value *x, const packed *p) {
    ig_value *w = ig_aten_cast(call, ig_ts_read(call, &p->weight), IG_DT_f32);
    ig_value *bias = bias_of(call, p);
    x = ig_expr_matmul(call->e, x, transpose_weight(call, w));
    return bias ? ig_build_add(call->e, x, bias) : x;
}

static ig_value *linear_dynamic(ig_ts_call *call, ig_value *x, const packed *p,
                                bool reduce_range) {
    ig_aten_quantised w, q = { .dtype = ig_torch_dtype_of_code(IG_TORCH_quint8) };
    product out = { 0 };
    if (p->weight.kind == IG_TS_TENSOR && !p->weight.as.tensor->quant) {
        return linear_float(call, x, p);
    }
    if (!ig_aten_quantised_of(call, &p->weight, &w)) {
        return NULL;
    }
    q.quant = ig_aten_choose_quant(call, x, reduce_range ? 127 : 255);
    q.raw = ig_aten_quantise(call, x, q.dtype, q.quant);
    if (!q.raw || !multiply_quantised(call, &q, &w, &out)) {
        return NULL;
    }
    ig_quant_params sums = { .scale = ig_build_mul(call->e, out.a, out.b),
                             .axis = out.axis };
    ig_value *y = ig_compose_dequantize(call->e, out.acc, &sums, IG_DT_f32);
    ig_value *bias = bias_of(call, p);
    return bias ? ig_build_add(call->e, y, bias) : y;
}

ig_value *ig_aten_packed_linear(ig_ts_call *call, ig_value *x,
                                const ig_ts_value *object, bool reduce_range) {
    const ig_ts_list *parts = NULL;
    packed p = { 0 };
    if (object->kind == IG_TS_OBJECT) {
        parts = ig_ts_items_of(ig_ts_object_get(object->as.object, "state"), 1);
    }
    if (!parts) {
        return ig_expr_fail(call->e, IG_INVALID, "packed parameters without content");
    }
    p.weight = parts->items[0];
    p.bias = parts->count > 1 ? parts->items[1] : ig_ts_none();
    return linear_dynamic(call, x, &p, reduce_range);
}

/* quantized::linear_dynamic(X, W_prepack, reduce_range), linear_dynamic_fp16(X,
 * W_prepack); variant 1: relu */
ig_status ig_ts_op_q_linear_dynamic(ig_ts_call *call) {
    packed p;
    ig_value *x = ig_aten_tensor(call, 0);
    if (!read_linear(call, 1, &p)) {
        return call->e->status;
    }
    bool narrow = call->arg_count > 2 && ig_aten_bool(call, 2);
    x = linear_dynamic(call, x, &p, narrow);
    return ig_aten_give(call, call->row->variant ? ig_build_relu(call->e, x) : x);
}

/* quantized::linear_prepack(W, B): as the archive would have held it */
ig_status ig_ts_op_q_linear_prepack(ig_ts_call *call) {
    ig_ts_list *state = ig_ts_list_create(call->eval, 2);
    ig_ts_list_add(call->eval, state, call->args[0]);
    ig_ts_list_add(call->eval, state, call->args[1]);
    ig_ts_object *object = ig_ts_object_create(
        call->eval, "__torch__.torch.classes.quantized.LinearPackedParamsBase");
    ig_ts_object_set(call->eval, object, "state", ig_ts_of_tuple(state));
    return ig_ts_give_value(call, 0, ig_ts_of_object(object));
}

/* quantized::linear_unpack(packed) -> weight, bias */
ig_status ig_ts_op_q_linear_unpack(ig_ts_call *call) {
    packed p;
    if (!read_linear(call, 0, &p)) {
        return call->e->status;
    }
    IG_TRY(ig_ts_give_value(call, 0, p.weight));
    return ig_ts_give_value(call, 1, p.bias);
}

/* ---- convolution ---- */

/* config: spatial axes, stride, padding, dilation, output padding, groups, flags. */
typedef struct geometry {
    uint32_t space;
    int64_t stride[3], dilation[3], group;
    ig_dim before[3], after[3];
    bool is_transposed;
} geometry;

static bool read_geometry(ig_ts_call *call, const packed *p, geometry *g) {
    memset(g, 0, sizeof *g);
    int64_t space = p->config_count ? p->config[0] : 0;
    if (space < 1 || space > 3 || p->config_count < 1 + 4 * space + 2) {
        ig_expr_fail(call->e, IG_INVALID, "a convolution with %u parameters",
                     p->config_count);
        return false;
    }
    const int64_t *at = p->config + 1;
    g->space = (uint32_t)space;
    g->group = at[4 * space];
    g->is_transposed = at[4 * space + 1] & 1;
    for (uint32_t i = 0; i < g->space; i++) {
        int64_t pad = at[space + i], more = g->is_transposed ? at[3 * space + i] : 0;
        g->stride[i] = at[i];
        g->dilation[i] = at[2 * space + i];
        g->before[i] = ig_dim_const(call->module, pad);
        g->after[i] = ig_dim_const(call->module, pad - more);
    }
    return true;
}

static bool convolve_quantised(ig_ts_call *call, const ig_aten_quantised *x,
                               const ig_aten_quantised *w, const geometry *g,
                               product *out) {
    ig_quant_params left = ig_aten_quant_params(call, x->quant, x->dtype);
    ig_quant_params right = ig_aten_quant_params(call, w->quant, w->dtype);
    ig_value *zero = right.zero_point;
    if (zero && zero->type->rank == 1) {
        zero = ig_expr_along(call->e, zero, (uint32_t)w->quant->axis,
                             w->raw->type->rank);
    }
    ig_conv_integer_attrs attrs = { .strides = { g->stride, g->space },
                                    .dilations = { g->dilation, g->space },
                                    .before = { g->before, g->space },
                                    .after = { g->after, g->space },
                                    .group = IG_SET(g->group),
                                    .transposed = g->is_transposed };
    *out = (product){ .a = left.scale, .b = right.scale, .axis = 1 };
    out->acc = ig_compose_conv_integer(call->e,
                                       (ig_integers){ x->raw, left.zero_point },
                                       (ig_integers){ w->raw, zero }, attrs);
    return call->e->status == IG_OK;
}

/* quantized::conv2d(qx, packed, output_scale, output_zero_point) and its kin; variant
 * 1: relu, + 2: one axis, stored as two */
ig_status ig_ts_op_q_conv(ig_ts_call *call) {
    packed p;
    geometry g;
    product out;
    ig_aten_quantised x, w;
    bool is_row = (call->row->variant & 2) != 0;
    if (!ig_aten_quantised_arg(call, 0, &x) || !read_conv(call, 1, &p) ||
        !ig_aten_quantised_of(call, &p.weight, &w) || !read_geometry(call, &p, &g)) {
        return call->e->status;
    }
    x.raw = is_row ? ig_expr_unsqueeze(call->e, x.raw, 2) : x.raw;
    if (!convolve_quantised(call, &x, &w, &g, &out)) {
        return call->e->status;
    }
    out.acc = is_row ? ig_expr_squeeze(call->e, out.acc, 2) : out.acc;
    out.bias = bias_of(call, &p);
    return give_product(call, &out, 2, x.dtype, call->row->variant & 1);
}

/* A list of ints into the configuration; that of one axis as of two, the first of which
 * has extent 1. */
static void add_config(ig_ts_call *call, ig_ts_list *config, int arg, uint32_t space,
                       int64_t first) {
    uint32_t count;
    const int64_t *given = arg < 0 ? NULL
                                   : ig_aten_ints(call, (uint32_t)arg, space, &count);
    if (space == 1) {
        ig_ts_list_add(call->eval, config, ig_ts_of_int(first));
    }
    for (uint32_t i = 0; call->e->status == IG_OK && i < space; i++) {
        ig_ts_list_add(call->eval, config, ig_ts_of_int(given ? given[i] : 0));
    }
}

/* The weight of one axis as of two. */
static ig_ts_value weight_of(ig_ts_call *call, uint32_t space) {
    const ig_ts_tensor *weight = ig_ts_peek(call, 0);
    if (space != 1 || !weight || !weight->quant) {
        return call->args[0];
    }
    ig_value *raw = ig_expr_unsqueeze(call->e, ig_ts_read(call, &call->args[0]), 2);
    if (!raw) {
        return call->args[0];
    }
    ig_ts_tensor *wide = ig_ts_tensor_create(call->eval, raw, weight->dtype);
    wide->quant = weight->quant;
    return ig_ts_of_tensor(wide);
}

/* convN_prepack(weight, bias, stride, padding, dilation, groups),
 * conv_transposeN_prepack (weight, bias, stride, padding, output_padding, dilation,
 * groups); variant: N */
ig_status ig_ts_op_q_conv_prepack(ig_ts_call *call) {
    ig_ts_list *state = ig_ts_list_create(call->eval, 3);
    ig_ts_list *config = ig_ts_list_create(call->eval, 16);
    ig_ts_list *tensors = ig_ts_list_create(call->eval, 2);
    ig_ts_list *optional = ig_ts_list_create(call->eval, 1);
    uint32_t space = (uint32_t)call->row->variant;
    const char *name = space == 3
                           ? "__torch__.torch.classes.quantized.Conv3dPackedParamsBase"
                           : "__torch__.torch.classes.quantized.Conv2dPackedParamsBase";
    bool is_transposed = call->arg_count == 7;
    ig_ts_list_add(call->eval, config, ig_ts_of_int(space == 1 ? 2 : space));
    add_config(call, config, 2, space, 1);
    add_config(call, config, 3, space, 0);
    add_config(call, config, is_transposed ? 5 : 4, space, 1);
    add_config(call, config, is_transposed ? 4 : -1, space, 0);
    int64_t groups = ig_aten_int(call, call->arg_count - 1);
    ig_ts_list_add(call->eval, config, ig_ts_of_int(groups));
    ig_ts_list_add(call->eval, config, ig_ts_of_int(is_transposed));
    ig_ts_list_add(call->eval, tensors, ig_ts_of_list(config));
    ig_ts_list_add(call->eval, tensors, weight_of(call, space));
    ig_ts_list_add(call->eval, optional, call->args[1]);
    ig_ts_list_add(call->eval, state, ig_ts_of_str(ig_str_of("2")));
    ig_ts_list_add(call->eval, state, ig_ts_of_list(tensors));
    ig_ts_list_add(call->eval, state, ig_ts_of_list(optional));
    IG_TRY(call->e->status);
    ig_ts_object *object = ig_ts_object_create(call->eval, name);
    ig_ts_object_set(call->eval, object, "state", ig_ts_of_tuple(state));
    return ig_ts_give_value(call, 0, ig_ts_of_object(object));
}
