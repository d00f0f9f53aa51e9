/* Convolutions and pools: windows that slide over the spatial axes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * auto_pad makes of a result of ceil(in / stride) the padding that it needs:
 *
 *     need  = (ceil(in / stride) - 1) * stride + dilation * (kernel - 1) + 1
 *     total = max(need - in, 0)
 *
 * half before and half after, an odd one on the named side.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

enum { SPACE = IG_TENSOR_RANK };

typedef struct sliding {
    const ig_onnx_node *node;
    const ig_type *x;
    uint32_t rank; /* spatial axes */
    ig_dim kernel[SPACE], before[SPACE], after[SPACE];
    int64_t kernel_shape[SPACE], strides[SPACE], dilations[SPACE];
    int auto_pad;
} sliding;

enum { NOTSET, SAME_UPPER, SAME_LOWER, VALID };

/* ---- attributes ---- */

static ig_status read_list(sliding *s, const char *name, int64_t least, int64_t *out) {
    uint32_t count;
    const int64_t *ints = ig_onnx_attr_ints(s->node, name, &count);
    for (uint32_t i = 0; i < s->rank; i++) {
        out[i] = 1;
    }
    if (!ints) {
        return IG_OK;
    }
    if (count != s->rank) {
        return ig_onnx_fail(s->node, IG_INVALID, "%s has %u entries, expected %u", name,
                            count, s->rank);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ints[i] < least || ints[i] > INT32_MAX) {
            return ig_onnx_fail(s->node, IG_INVALID, "entry %u of %s is %lld", i, name,
                                (long long)ints[i]);
        }
        out[i] = ints[i];
    }
    return IG_OK;
}

static ig_status read_pads(sliding *s) {
    uint32_t count;
    const int64_t *ints = ig_onnx_attr_ints(s->node, "pads", &count);
    if (ints && count != 2 * s->rank) {
        return ig_onnx_fail(s->node, IG_INVALID, "pads has %u entries, expected %u",
                            count, 2 * s->rank);
    }
    for (uint32_t i = 0; i < s->rank; i++) {
        int64_t before = ints ? ints[i] : 0, after = ints ? ints[i + s->rank] : 0;
        if (before < -INT32_MAX || before > INT32_MAX || after < -INT32_MAX ||
            after > INT32_MAX) {
            return ig_onnx_fail(s->node, IG_INVALID, "pads are out of range");
        }
        s->before[i] = ig_dim_const(s->node->import->module, before);
        s->after[i] = ig_dim_const(s->node->import->module, after);
    }
    return IG_OK;
}

static ig_status read_auto_pad(sliding *s) {
    static const char *const names[] = { "NOTSET", "SAME_UPPER", "SAME_LOWER",
                                         "VALID" };
    ig_str text = ig_onnx_attr_str(s->node, "auto_pad", "NOTSET");
    for (uint32_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (ig_str_is(text, names[i])) {
            s->auto_pad = (int)i;
            return IG_OK;
        }
    }
    return ig_onnx_fail(
        s->node, IG_INVALID,
        "auto_pad is '%.*s', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID",
        IG_STR_ARG(text));
}

static void split_total(sliding *s, uint32_t axis, ig_dim total, bool odd_before) {
    ig_module *module = s->node->import->module;
    ig_dim small = ig_dim_floor_div(module, total, ig_dim_of(2));
    ig_dim large = ig_dim_sub(module, total, small);
    s->before[axis] = odd_before ? large : small;
    s->after[axis] = odd_before ? small : large;
}

static ig_dim reach_of(const sliding *s, uint32_t axis) {
    ig_module *module = s->node->import->module;
    ig_dim steps = ig_dim_sub(module, s->kernel[axis], ig_dim_of(1));
    return ig_dim_mul(module, steps, ig_dim_const(module, s->dilations[axis]));
}

static void pad_same(sliding *s) {
    ig_module *module = s->node->import->module;
    for (uint32_t i = 0; i < s->rank; i++) {
        ig_dim in = s->x->dims[2 + i];
        ig_dim stride = ig_dim_const(module, s->strides[i]);
        ig_dim last = ig_dim_sub(module, ig_dim_ceil_div(module, in, stride),
                                 ig_dim_of(1));
        ig_dim need = ig_dim_add(module, ig_dim_mul(module, last, stride),
                                 reach_of(s, i));
        ig_dim total = ig_dim_sub(module, ig_dim_add(module, need, ig_dim_of(1)), in);
        split_total(s, i, ig_dim_max(module, total, ig_dim_of(0)),
                    s->auto_pad == SAME_LOWER);
    }
}

/* Everything but the kernel. */
static ig_status read_geometry(ig_onnx_node *node, sliding *s) {
    IG_TRY(ig_onnx_tensor(node, 0));
    s->node = node;
    s->x = node->inputs[0]->type;
    if (s->x->rank < 3) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 3 or more",
                            s->x->rank);
    }
    s->rank = s->x->rank - 2;
    IG_TRY(read_list(s, "strides", 1, s->strides));
    IG_TRY(read_list(s, "dilations", 1, s->dilations));
    IG_TRY(read_pads(s));
    return read_auto_pad(s);
}

/* ---- convolutions ---- */

static void guard_equal(const ig_onnx_node *node, ig_dim a, ig_dim b,
                        const char *what) {
    if (ig_dim_equal(node->import->module, a, b) != IG_MAYBE) {
        return; /* proved, or for the op to report */
    }
    const char *text = ig_arena_printf(
        node->import->arena, "%s: %s",
        ig_onnx_node_label(node->import, node->proto, node->where.number - 1), what);
    ig_make_guard_equal(node->builder, a, b, text);
}

/* The kernel is that of the weights, which kernel_shape repeats. */
static ig_status read_weights(ig_onnx_node *node, sliding *s) {
    IG_TRY(ig_onnx_tensor(node, 1));
    const ig_type *w = node->inputs[1]->type;
    uint32_t count;
    const int64_t *ints = ig_onnx_attr_ints(node, "kernel_shape", &count);
    if (w->rank != s->x->rank || (ints && count != s->rank)) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "input 1 has rank %u and input 0 rank %u, or kernel_shape does not fit them",
            w->rank, s->x->rank);
    }
    for (uint32_t i = 0; i < s->rank; i++) {
        s->kernel[i] = w->dims[2 + i];
        if (!ints) {
            continue;
        }
        ig_dim asked = ig_dim_const(node->import->module, ints[i]);
        if (ig_dim_equal(node->import->module, asked, s->kernel[i]) == IG_NO) {
            return ig_onnx_fail(node, IG_INVALID,
                                "kernel_shape is not that of the weights");
        }
        guard_equal(node, asked, s->kernel[i], "kernel_shape is that of the weights");
    }
    return IG_OK;
}

static void guard_channels(ig_onnx_node *node, int64_t group, bool is_transposed) {
    ig_module *module = node->import->module;
    const ig_type *x = node->inputs[0]->type, *w = node->inputs[1]->type;
    ig_dim groups = ig_dim_const(module, group);
    ig_dim ins = is_transposed ? w->dims[0] : ig_dim_mul(module, w->dims[1], groups);
    ig_dim outs = is_transposed ? ig_dim_mul(module, w->dims[1], groups) : w->dims[0];
    guard_equal(node, x->dims[1], ins, "the channels of input and weights differ");
    const ig_value *bias = ig_onnx_in(node, 2);
    if (bias && bias->type->kind == IG_TENSOR && bias->type->rank == 1) {
        guard_equal(node, bias->type->dims[0], outs,
                    "the bias has one entry a channel");
    }
}

static ig_status build_conv(ig_onnx_node *node, const sliding *s, bool is_transposed) {
    ig_module *module = node->import->module;
    int64_t group = ig_onnx_attr_int(node, "group", 1);
    if (group < 1 || group > INT32_MAX) {
        return ig_onnx_fail(node, IG_INVALID, "group is %lld", (long long)group);
    }
    guard_channels(node, group, is_transposed);
    ig_attr attrs[IG_conv_attr_count] = {
        [IG_conv_strides] = ig_attr_of_ints(module, s->strides, s->rank),
        [IG_conv_dilations] = ig_attr_of_ints(module, s->dilations, s->rank),
        [IG_conv_before] = ig_attr_of_dims(module, s->before, s->rank),
        [IG_conv_after] = ig_attr_of_dims(module, s->after, s->rank),
        [IG_conv_group] = ig_attr_of_int(group),
    };
    if (is_transposed) {
        attrs[IG_conv_transposed] = ig_attr_of_bool(true);
    }
    uint32_t count = ig_onnx_in(node, 2) ? 3 : 2;
    return ig_onnx_build(node, IG_OP_conv, count, node->inputs, attrs,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_conv(ig_onnx_node *node) {
    sliding s = { .rank = 0 };
    IG_TRY(read_geometry(node, &s));
    IG_TRY(read_weights(node, &s));
    if (s.auto_pad == SAME_UPPER || s.auto_pad == SAME_LOWER) {
        pad_same(&s);
    }
    return build_conv(node, &s, false);
}

/* The result's extent is asked for: what must go is split between its ends. */
static void crop_to(sliding *s, uint32_t axis, ig_dim wanted, ig_dim extra) {
    ig_module *module = s->node->import->module;
    ig_dim steps = ig_dim_sub(module, s->x->dims[2 + axis], ig_dim_of(1));
    ig_dim stride = ig_dim_const(module, s->strides[axis]);
    ig_dim full = ig_dim_mul(module, steps, stride);
    full = ig_dim_add(module, full,
                      ig_dim_add(module, reach_of(s, axis), ig_dim_of(1)));
    full = ig_dim_add(module, full, extra);
    ig_dim total = ig_dim_max(module, ig_dim_sub(module, full, wanted), ig_dim_of(0));
    ig_dim lacking = ig_dim_max(module, ig_dim_sub(module, wanted, full), ig_dim_of(0));
    split_total(s, axis, total, s->auto_pad == SAME_LOWER);
    s->after[axis] = ig_dim_sub(module, s->after[axis], lacking);
}

ig_status ig_onnx_import_conv_transpose(ig_onnx_node *node) {
    ig_module *module = node->import->module;
    sliding s = { .rank = 0 };
    int64_t extra[SPACE];
    uint32_t count, extras;
    IG_TRY(read_geometry(node, &s));
    IG_TRY(read_weights(node, &s));
    IG_TRY(read_list(&s, "output_padding", 0, extra));
    bool has_extra = ig_onnx_attr_ints(node, "output_padding", &extras);
    const int64_t *shape = ig_onnx_attr_ints(node, "output_shape", &count);
    if (shape && count != s.rank) {
        return ig_onnx_fail(node, IG_INVALID,
                            "output_shape has %u entries, expected %u", count, s.rank);
    }
    for (uint32_t i = 0; i < s.rank; i++) {
        ig_dim more = ig_dim_const(module, has_extra ? extra[i] : 0);
        ig_dim stride = ig_dim_const(module, s.strides[i]);
        if (shape) {
            crop_to(&s, i, ig_dim_const(module, shape[i]), more);
        } else if (s.auto_pad == SAME_UPPER || s.auto_pad == SAME_LOWER) {
            crop_to(&s, i, ig_dim_mul(module, s.x->dims[2 + i], stride), more);
        }
        s.after[i] = ig_dim_sub(module, s.after[i], more);
    }
    return build_conv(node, &s, true);
}

/* ---- pools ---- */

static ig_status read_kernel(sliding *s) {
    IG_TRY(read_list(s, "kernel_shape", 1, s->kernel_shape));
    for (uint32_t i = 0; i < s->rank; i++) {
        s->kernel[i] = ig_dim_of(s->kernel_shape[i]);
    }
    if (s->auto_pad == SAME_UPPER || s->auto_pad == SAME_LOWER) {
        pad_same(s);
    }
    return IG_OK;
}

static void set_geometry(const sliding *s, ig_attr *attrs) {
    ig_module *module = s->node->import->module;
    attrs[IG_pool_kernel] = ig_attr_of_ints(module, s->kernel_shape, s->rank);
    attrs[IG_pool_strides] = ig_attr_of_ints(module, s->strides, s->rank);
    attrs[IG_pool_dilations] = ig_attr_of_ints(module, s->dilations, s->rank);
    attrs[IG_pool_before] = ig_attr_of_dims(module, s->before, s->rank);
    attrs[IG_pool_after] = ig_attr_of_dims(module, s->after, s->rank);
    if (ig_onnx_attr_int(s->node, "ceil_mode", 0)) {
        attrs[IG_pool_ceil_mode] = ig_attr_of_bool(true);
    }
}

static ig_status build_indices(ig_onnx_node *node, const ig_attr *pool) {
    ig_attr attrs[IG_pool_indices_attr_count] = {
        [IG_pool_indices_kernel] = pool[IG_pool_kernel],
        [IG_pool_indices_strides] = pool[IG_pool_strides],
        [IG_pool_indices_dilations] = pool[IG_pool_dilations],
        [IG_pool_indices_before] = pool[IG_pool_before],
        [IG_pool_indices_after] = pool[IG_pool_after],
        [IG_pool_indices_ceil_mode] = pool[IG_pool_ceil_mode],
        [IG_pool_indices_whole] = ig_attr_of_bool(true),
    };
    if (ig_onnx_attr_int(node, "storage_order", 0)) {
        attrs[IG_pool_indices_column_major] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_pool_indices, 1, node->inputs, attrs,
                         &node->outputs[1]);
}

/* MaxPool, AveragePool. */
ig_status ig_onnx_import_pool(ig_onnx_node *node) {
    sliding s = { .rank = 0 };
    ig_attr attrs[IG_pool_attr_count] = { [IG_pool_op] =
                                              ig_attr_of_enum(node->row->variant) };
    IG_TRY(read_geometry(node, &s));
    IG_TRY(read_kernel(&s));
    set_geometry(&s, attrs);
    if (ig_onnx_attr_int(node, "count_include_pad", 0)) {
        attrs[IG_pool_count_pad] = ig_attr_of_bool(true);
    }
    IG_TRY(ig_onnx_build(node, IG_OP_pool, 1, node->inputs, attrs, &node->outputs[0]));
    return node->output_count > 1 ? build_indices(node, attrs) : IG_OK;
}

static ig_status raise_to(ig_onnx_node *node, ig_value *x, double power,
                          ig_value **out_value) {
    *out_value = x;
    return power == 1 ? IG_OK
                      : ig_onnx_build_scalar(node, IG_OP_pow, x, power, out_value);
}

/* The p-norm of each window. */
ig_status ig_onnx_import_lp_pool(ig_onnx_node *node) {
    sliding s = { .rank = 0 };
    ig_attr attrs[IG_pool_attr_count] = { [IG_pool_op] =
                                              ig_attr_of_enum(IG_WINDOW_sum) };
    int64_t p = ig_onnx_attr_int(node, "p", 2);
    IG_TRY(ig_onnx_float_tensor(node, 0));
    IG_TRY(read_geometry(node, &s));
    IG_TRY(read_kernel(&s));
    if (p < 1) {
        return ig_onnx_fail(node, IG_INVALID, "p is %lld", (long long)p);
    }
    set_geometry(&s, attrs);
    ig_value *x;
    IG_TRY(ig_onnx_build1(node, IG_OP_abs, node->inputs[0], &x));
    IG_TRY(raise_to(node, x, (double)p, &x));
    IG_TRY(ig_onnx_build(node, IG_OP_pool, 1, &x, attrs, &x));
    return raise_to(node, x, 1 / (double)p, &node->outputs[0]);
}

/* ---- over all of space ---- */

static ig_status reduce_space(ig_onnx_node *node, ig_value *x, ig_reduce op,
                              ig_value **out_value) {
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count = 0;
    for (uint32_t d = 2; d < x->type->rank; d++) {
        axes[count++] = d;
    }
    if (count == 0) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 3 or more",
                            x->type->rank);
    }
    ig_attr attrs[IG_reduce_attr_count] = {
        [IG_reduce_op] = ig_attr_of_enum(op),
        [IG_reduce_axes] = ig_attr_of_ints(node->import->module, axes, count),
        [IG_reduce_keep] = ig_attr_of_bool(true),
    };
    return ig_onnx_build(node, IG_OP_reduce, 1, &x, attrs, out_value);
}

ig_status ig_onnx_import_global_pool(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    return reduce_space(node, node->inputs[0], (ig_reduce)node->row->variant,
                        &node->outputs[0]);
}

ig_status ig_onnx_import_global_lp_pool(ig_onnx_node *node) {
    int64_t p = ig_onnx_attr_int(node, "p", 2);
    ig_value *x;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    if (p < 1) {
        return ig_onnx_fail(node, IG_INVALID, "p is %lld", (long long)p);
    }
    IG_TRY(ig_onnx_build1(node, IG_OP_abs, node->inputs[0], &x));
    IG_TRY(raise_to(node, x, (double)p, &x));
    IG_TRY(reduce_space(node, x, IG_REDUCE_sum, &x));
    return raise_to(node, x, 1 / (double)p, &node->outputs[0]);
}
