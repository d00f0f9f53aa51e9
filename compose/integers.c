/* Products and convolutions of 8-bit integers, taken apart.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Such products are sums of `depth` products below 2^16.  Where all of these are whole
 * numbers of f32, the product is computed in f32, whose kernels are fastest, else in a
 * wider type.
 *
 * A convolution with constant weights is a product of integers itself, of the
 * elements below each window with the weights as a matrix.  Channels come last
 * meanwhile, so that those of one place are contiguous:
 *
 *     %1 = conv_integer %x, @w, %zx, %zw       x [N, C, H, W], w [O, C, h, w]
 *   becomes
 *     %a = transpose (pad %x with %zx)         [N, H', W', C']
 *     %b = windows %a                          [N, H", W", h * w * C']
 *     %c = matmul_integer %b, @w', %zx, %zw    [N, H", W", O]
 *     %1 = transpose %c
 *
 * Padded with the zero point, elements outside of x add nothing; nor do channels that
 * make whole quads.  Convolutions of groups are convolutions of floats, exact as
 * products are, but where a kernel takes ig_byte_groups.
 *
 * Where no kernel reads windows in place, they are a concat of a slice for each tap.
 */
#include "compose/quantise.h"

#include "compose/decompose.h"
#include "ir/semantics/panels.h"

#include <assert.h>
#include <string.h>

enum {
    PRODUCT_MAX = 255 * 255,
    EXACT_F32 = 1 << 24,
    TAPS_MAX = 256, /* each may be an op */
    FLIP = 128,     /* between i8 and u8 */
};

/* ---- factors ---- */

/* The type in which sums of `depth` products of bytes are exact and fast. */
static ig_dtype choose_exact(const ig_expr *e, ig_dim depth, ig_dtype wide) {
    int64_t count;
    bool is_known = ig_dim_constant(e->module, depth, &count);
    return is_known && count <= EXACT_F32 / PRODUCT_MAX ? IG_DT_f32 : wide;
}

static ig_integers factor_of(const ig_op *op, uint32_t operand) {
    bool has_zero = operand + 2 < op->operand_count;
    return (ig_integers){ op->operands[operand].value,
                          has_zero ? op->operands[operand + 2].value : NULL };
}

/* value - zero point.  In f32 it is a dequantize of scale 1, for `pack` to match. */
static ig_value *subtract_zero(ig_expr *e, ig_integers x, ig_dtype dtype) {
    if (dtype == IG_DT_f32) {
        ig_value *one = ig_expr_number(e, IG_DT_f32, 1);
        return ig_build_dequantize(e, x.value, one, x.zero_point,
                                   (ig_dequantize_attrs){ 0 });
    }
    ig_value *value = ig_expr_cast(e, x.value, dtype);
    ig_value *zero = ig_expr_cast(e, x.zero_point, dtype);
    return zero ? ig_build_sub(e, value, zero) : value;
}

/* The matrix below a transposition, with its zero points along its own axes. */
static bool transpose_factor(ig_expr *e, ig_integers *b) {
    const ig_op *op = ig_def(b->value, IG_OP_transpose);
    const ig_attr *perm = op ? &op->attrs[IG_transpose_perm] : NULL;
    if (!op || perm->count != 2 || perm->as.ints[0] != 1) {
        return false;
    }
    b->value = op->operands[0].value;
    if (b->zero_point && b->zero_point->type->rank == 1) {
        b->zero_point = ig_expr_along(e, b->zero_point, 0, 2);
    } else if (b->zero_point && b->zero_point->type->rank == 2) {
        b->zero_point = ig_expr_swap(e, b->zero_point, 0, 1);
    }
    return true;
}

/* ---- products ---- */

bool ig_decompose_matmul_integer(ig_expr *e, const ig_op *op, ig_value **results) {
    ig_integers left = factor_of(op, 0), right = factor_of(op, 1);
    const ig_type *type = left.value->type;
    bool is_wide = ig_attr_int(op, IG_matmul_integer_wide, 0) != 0;
    ig_dtype wide = choose_exact(e, type->dims[type->rank - 1],
                                 is_wide ? IG_DT_f64 : IG_DT_i32);
    ig_matmul_attrs attrs = { .transpose_b = transpose_factor(e, &right) };
    ig_value *x = subtract_zero(e, left, wide), *y = subtract_zero(e, right, wide);
    results[0] = ig_expr_cast(e, ig_build_matmul(e, x, y, attrs),
                              is_wide ? IG_DT_i64 : IG_DT_i32);
    return true;
}

/* ---- convolutions ---- */

typedef struct windows {
    const ig_op *op;
    uint32_t rank;                                  /* of x: N, C and space */
    int64_t taps, outputs, extents[IG_TENSOR_RANK]; /* of the weights */
    int64_t channels, added;
    bool are_positions; /* windows of one element, side by side */
    ig_integers x, w;   /* x: u8 */
} windows;

static int64_t int_at(const ig_op *op, uint32_t slot, uint32_t axis) {
    assert(slot < ig_ops[op->code].attr_count && "a slot of the op's row");
    return ig_attr_is_set(op, slot) ? op->attrs[slot].as.ints[axis] : 1;
}

static bool is_number(const ig_expr *e, const ig_value *x) {
    return ig_dim_is(ig_type_count(e->module, x->type), 1);
}

/* One zero point, or one for each output. */
static bool is_by_output(const ig_expr *e, const ig_value *zero, const windows *g) {
    const ig_type *type = zero->type;
    return is_number(e, zero) ||
           (type->rank == g->rank && ig_dim_is(type->dims[0], g->outputs) &&
            ig_dim_is(ig_type_count(e->module, type), g->outputs));
}

static bool read_windows(const ig_expr *e, const ig_op *op, windows *out) {
    ig_integers x = factor_of(op, 0), w = factor_of(op, 1);
    const ig_type *type = w.value->type;
    *out = (windows){ .op = op, .rank = type->rank, .taps = 1, .x = x, .w = w };
    if (ig_attr_int(op, IG_conv_integer_transposed, 0) || !ig_constant_of(w.value) ||
        !ig_type_is_static(type)) {
        return false;
    }
    for (uint32_t d = 0; d < type->rank; d++) {
        out->extents[d] = ig_dim_value(type->dims[d]);
        out->taps *= d < 2 || out->taps > TAPS_MAX ? 1 : out->extents[d];
    }
    out->outputs = out->extents[0];
    out->channels = out->extents[1];
    out->are_positions = out->taps == 1;
    for (uint32_t d = 2; d < type->rank; d++) {
        out->are_positions &= int_at(op, IG_conv_integer_strides, d - 2) == 1;
    }
    out->added = out->are_positions ? 0 : (IG_QUAD - out->channels % IG_QUAD) % IG_QUAD;
    return out->outputs > 0 && out->channels > 0 && out->taps > 0 &&
           out->taps <= TAPS_MAX && (!x.zero_point || is_number(e, x.zero_point)) &&
           (!w.zero_point || is_by_output(e, w.zero_point, out));
}

ig_value *ig_compose_as_unsigned(ig_expr *e, ig_value *x) {
    if (x->type->dtype == IG_DT_u8) {
        return x;
    }
    x = ig_build_bitcast(e, x, (ig_bitcast_attrs){ .to = IG_DT_u8 });
    return ig_build_xor(e, x, ig_expr_integer(e, IG_DT_u8, FLIP));
}

/* x as u8, and its zero point as a number. */
static void settle_input(ig_expr *e, windows *g) {
    ig_value *zero = g->x.zero_point;
    zero = zero ? ig_expr_reshape(e, zero, 0, NULL)
                : ig_expr_integer(e, (ig_dtype)g->x.value->type->dtype, 0);
    g->x.zero_point = ig_compose_as_unsigned(e, zero);
    g->x.value = ig_compose_as_unsigned(e, g->x.value);
}

/* [N, C, s…] as [N, s…, C]. */
static ig_value *put_channels_last(ig_expr *e, ig_value *x) {
    return ig_expr_move_axis(e, x, 1, x->type->rank - 1);
}

/* Zero points around the axes of space of [N, C, s…], and after the channels, whose
 * planes are filled faster than places one by one. */
static ig_value *pad_space(ig_expr *e, const windows *g, ig_value *x) {
    static const uint32_t slots[] = { IG_conv_integer_before, IG_conv_integer_after };
    ig_dim wide[2][IG_TENSOR_RANK];
    bool is_none = true;
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t d = 0; d < g->rank; d++) {
            bool is_set = d > 1 && ig_attr_is_set(g->op, slots[side]);
            bool is_added = side == 1 && d == 1;
            wide[side][d] = is_set ? g->op->attrs[slots[side]].as.dims[d - 2]
                                   : ig_dim_of(is_added ? g->added : 0);
            is_none = is_none && ig_dim_is(wide[side][d], 0);
        }
    }
    ig_pad_attrs attrs = { .before = { wide[0], g->rank },
                           .after = { wide[1], g->rank } };
    return is_none ? x : ig_build_pad(e, x, g->x.zero_point, NULL, NULL, attrs);
}

static ig_value *take_windows(ig_expr *e, const windows *g, ig_value *x) {
    const ig_op *op = g->op;
    ig_conv_integer_attrs own = ig_conv_integer_attrs_of(op);
    ig_windows_attrs attrs = { .kernel = { g->extents + 2, g->rank - 2 },
                               .strides = own.strides,
                               .dilations = own.dilations };
    return ig_build_windows(e, x, attrs);
}

/* ---- groups ---- */

/* Are all elements of a constant zero point `wanted`?  Without one they are 0. */
static bool is_all(const ig_value *zero, int64_t wanted) {
    const ig_data *data = zero ? ig_constant_of(zero) : NULL;
    const uint8_t *bytes = data ? data->bytes : NULL;
    int64_t count = data && data->is_splat ? 1 : data ? data->size : 0;
    bool is_all = zero ? bytes != NULL : wanted == 0;
    for (int64_t i = 0; is_all && i < count; i++) {
        is_all = bytes[i] == wanted;
    }
    return is_all;
}

/* How many neighbours of `groups` make whole quads, and one panel if they can; 0: none
 * do. */
static int64_t count_merged(int64_t groups, int64_t ins, int64_t outs) {
    int64_t best = 0;
    for (int64_t n = 1; n <= groups && n <= IG_PANEL; n++) {
        bool fits = groups % n == 0 && n * ins % IG_QUAD == 0;
        best = fits && (best == 0 || n * outs <= IG_PANEL) ? n : best;
    }
    return best;
}

bool ig_byte_groups_of(const ig_op *op, ig_byte_groups *out) {
    windows g;
    ig_builder b = ig_builder_before((ig_op *)op);
    ig_expr e = ig_expr_of(&b);
    int64_t groups = ig_attr_int(op, IG_conv_integer_group, 1);
    if (groups < 2 || !read_windows(&e, op, &g) || g.outputs % groups != 0) {
        return false;
    }
    int64_t outs = g.outputs / groups;
    bool is_unsigned = g.w.value->type->dtype == IG_DT_u8;
    *out = (ig_byte_groups){ .merged = count_merged(groups, g.channels, outs),
                             .outs = outs,
                             .ins = g.channels,
                             .taps = g.taps,
                             .zero = is_unsigned ? FLIP : 0 };
    out->groups = out->merged > 0 ? groups / out->merged : 0;
    bool is_depthwise = g.channels == 1 && outs == 1;
    return out->merged > 0 && !is_depthwise && is_all(g.w.zero_point, out->zero);
}

ig_integers ig_compose_padded_bytes(ig_expr *e, const ig_op *op) {
    windows g;
    bool is_good = read_windows(e, op, &g);
    assert(is_good && "ig_byte_groups_of has looked at it");
    (void)is_good;
    g.added = 0;
    settle_input(e, &g);
    return (ig_integers){ pad_space(e, &g, g.x.value), g.x.zero_point };
}

/* ---- products of windows ---- */

/* The weights as a matrix [taps * C', O]. */
static ig_value *build_matrix(ig_expr *e, const windows *g) {
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    ig_dim dims[] = { ig_dim_of(g->outputs),
                      ig_dim_of(g->taps * (g->channels + g->added)) };
    for (uint32_t d = 0; d < g->rank; d++) {
        before[d] = ig_dim_of(0);
        after[d] = ig_dim_of(d == 1 ? g->added : 0);
    }
    ig_value *w = g->added == 0
                      ? g->w.value
                      : ig_expr_pad(e, g->w.value, before, after, IG_PAD_constant, 0);
    w = ig_expr_reshape(e, put_channels_last(e, w), 2, dims);
    return ig_expr_swap(e, w, 0, 1);
}

/* A zero point for each column, or one number, or NULL. */
static ig_value *flatten_zero(ig_expr *e, ig_value *zero) {
    bool is_one = zero && is_number(e, zero);
    return is_one ? ig_expr_reshape(e, zero, 0, NULL)
           : zero ? ig_expr_flatten(e, zero)
                  : NULL;
}

static ig_value *multiply_windows(ig_expr *e, const windows *g) {
    ig_value *x = put_channels_last(e, pad_space(e, g, g->x.value));
    x = g->are_positions ? x : take_windows(e, g, x);
    ig_value *zero = flatten_zero(e, g->w.zero_point);
    return ig_build_matmul_integer(e, x, build_matrix(e, g), g->x.zero_point, zero,
                                   (ig_matmul_integer_attrs){ 0 });
}

/* By the convolution of floats, which takes any form. */
static ig_value *convolve_numbers(ig_expr *e, const ig_op *op) {
    ig_integers x = factor_of(op, 0), w = factor_of(op, 1);
    const ig_type *type = w.value->type;
    bool is_transposed = ig_attr_int(op, IG_conv_integer_transposed, 0) != 0;
    ig_dim channels = is_transposed ? type->dims[0] : type->dims[1];
    ig_dim taps = ig_dim_product(e->module, type->dims + 2, type->rank - 2u);
    ig_dtype wide = choose_exact(e, ig_dim_mul(e->module, channels, taps), IG_DT_f64);
    ig_value *operands[] = { subtract_zero(e, x, wide), subtract_zero(e, w, wide) };
    ig_value *sum = ig_expr_make(e, IG_OP_conv, operands, 2, op->attrs);
    return ig_expr_cast(e, sum, IG_DT_i32);
}

/* Is x bytes less their zero point, perhaps within zeros, as floats? */
static bool are_bytes(const ig_value *x) {
    double scale = 0;
    const ig_op *pad = ig_def(x, IG_OP_pad);
    if (pad) {
        bool has_zeros = pad->operand_count == 1 &&
                         ig_attr_int(pad, IG_pad_mode, IG_PAD_constant) ==
                             IG_PAD_constant;
        x = has_zeros ? pad->operands[0].value : NULL;
    }
    const ig_op *op = x ? ig_def(x, IG_OP_dequantize) : NULL;
    if (!op || !ig_constant_f64(op->operands[1].value, &scale) || scale != 1) {
        return false;
    }
    ig_dtype dtype = (ig_dtype)op->operands[0].value->type->dtype;
    bool has_bytes = dtype == IG_DT_u8 || dtype == IG_DT_i8;
    return has_bytes &&
           (op->operand_count < 3 || op->operands[2].value->type->dtype == dtype);
}

ig_value *ig_exact_sum(const ig_expr *e, const ig_value *x) {
    const ig_op *cast = ig_def(x, IG_OP_cast);
    ig_value *sum = cast ? cast->operands[0].value : NULL;
    const ig_op *conv = sum ? ig_def(sum, IG_OP_conv) : NULL;
    if (!conv || x->type->dtype != IG_DT_i32 || sum->type->dtype != IG_DT_f32 ||
        conv->operand_count > 2 || ig_attr_int(conv, IG_conv_transposed, 0)) {
        return NULL;
    }
    const ig_type *w = conv->operands[1].value->type;
    ig_dim depth = ig_dim_product(e->module, w->dims + 1, w->rank - 1u);
    bool is_exact = are_bytes(conv->operands[0].value) &&
                    are_bytes(conv->operands[1].value) &&
                    choose_exact(e, depth, IG_DT_i32) == IG_DT_f32;
    return is_exact ? sum : NULL;
}

bool ig_decompose_conv_integer(ig_expr *e, const ig_op *op, ig_value **results) {
    windows g;
    if (!read_windows(e, op, &g) || ig_attr_int(op, IG_conv_integer_group, 1) != 1) {
        results[0] = convolve_numbers(e, op);
        return true;
    }
    settle_input(e, &g);
    results[0] = ig_expr_move_axis(e, multiply_windows(e, &g), g.rank - 1, 1);
    return true;
}

/* ---- windows ---- */

/* Of each window the element below tap `number`: [N, o…, C]. */
static ig_value *take_tap(ig_expr *e, const ig_op *op, int64_t index) {
    ig_dim starts[IG_TENSOR_RANK], sizes[IG_TENSOR_RANK];
    int64_t steps[IG_TENSOR_RANK];
    ig_value *x = op->operands[0].value;
    uint32_t rank = x->type->rank;
    for (uint32_t d = rank; d-- > 0;) {
        starts[d] = ig_dim_of(0);
        sizes[d] = x->type->dims[d];
        steps[d] = 1;
        if (d > 0 && d + 1 < rank) {
            int64_t extent = op->attrs[IG_windows_kernel].as.ints[d - 1];
            int64_t dilation = int_at(op, IG_windows_dilations, d - 1);
            starts[d] = ig_dim_of(index % extent * dilation);
            sizes[d] = op->results->type->dims[d];
            steps[d] = int_at(op, IG_windows_strides, d - 1);
            index /= extent;
        }
    }
    return ig_expr_slices(e, x, starts, sizes, steps);
}

bool ig_decompose_windows(ig_expr *e, const ig_op *op, ig_value **results) {
    const ig_attr *kernel = &op->attrs[IG_windows_kernel];
    ig_value *taps[TAPS_MAX];
    int64_t count = 1;
    for (uint32_t d = 0; d < kernel->count; d++) {
        count = count > TAPS_MAX ? count : count * kernel->as.ints[d];
    }
    if (count > TAPS_MAX) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        taps[i] = take_tap(e, op, i);
    }
    results[0] = ig_expr_concat(e, op->results->type->rank - 1, taps, (uint32_t)count);
    return true;
}
