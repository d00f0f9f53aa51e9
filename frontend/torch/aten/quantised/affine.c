/* torchao's quantisation, in blocks, and the parts of its tensors.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elements of a block of `block_size`, an extent for each axis, share a scale and a
 * zero point; rows and whole tensors are blocks too.  An axis that is cut becomes two,
 * of blocks and of elements in them:
 *
 *     x [4, 64], blocks of [1, 32]  ->  [4, 2, 32]; scales [4, 2, 1], kept as [4, 2]
 *
 * The formulas, and the precision of each step, are those of
 * torchao/quantization/quant_primitives.py. */
#include "frontend/torch/aten/quant.h"

#include "frontend/torch/eval/eval.h"

typedef struct blocks {
    uint32_t rank, cut_rank, gone_count;
    ig_dim counts[IG_TENSOR_RANK]; /* of blocks along each axis */
    ig_dim cut[IG_TENSOR_RANK];    /* x's extents, cut */
    ig_dim shared[IG_TENSOR_RANK]; /* the same of scales */
    int64_t gone[IG_TENSOR_RANK];  /* axes of `cut` that are inside of a block */
} blocks;

/* ---- blocks ---- */

static void add_axis(blocks *b, ig_dim extent, bool is_inside) {
    if (is_inside) {
        b->gone[b->gone_count++] = b->cut_rank;
    }
    b->shared[b->cut_rank] = is_inside ? ig_dim_of(1) : extent;
    b->cut[b->cut_rank++] = extent;
}

/* Is `size` no block of an axis of n elements, as far as they are known? */
static bool is_misfit(const ig_module *module, ig_dim n, ig_dim size) {
    int64_t length, block;
    return ig_dim_constant(module, size, &block) &&
           (block < 1 || (ig_dim_constant(module, n, &length) && length % block != 0));
}

static ig_status read_blocks(ig_ts_call *call, uint32_t index, const ig_value *x,
                             blocks *out) {
    const ig_dim *sizes = ig_aten_dims(call, index, 0, &out->rank);
    IG_TRY(call->e->status);
    if (out->rank != x->type->rank || 2 * out->rank > IG_TENSOR_RANK) {
        return ig_ts_fail(call, IG_INVALID, "its input is of rank %u, its blocks of %u",
                          x->type->rank, out->rank);
    }
    for (uint32_t d = 0; d < out->rank; d++) {
        ig_dim n = x->type->dims[d];
        if (is_misfit(call->module, n, sizes[d])) {
            return ig_ts_fail(call, IG_INVALID, "axis %u is not made of whole blocks",
                              d);
        }
        bool is_one = ig_dim_is(sizes[d], 1);
        bool is_whole = !is_one && ig_dim_equal(call->module, n, sizes[d]) == IG_YES;
        out->counts[d] = is_one     ? n
                         : is_whole ? ig_dim_of(1)
                                    : ig_dim_exact_div(call->module, n, sizes[d]);
        if (!is_whole) {
            add_axis(out, out->counts[d], false);
        }
        if (!is_one) {
            add_axis(out, sizes[d], true);
        }
    }
    return IG_OK;
}

static ig_value *cut_blocks(ig_expr *e, ig_value *x, const blocks *b) {
    return x ? ig_expr_reshape(e, x, b->cut_rank, b->cut) : NULL;
}

/* Scales or zero points, to broadcast against cut elements. */
static ig_value *share_blocks(ig_expr *e, ig_value *x, const blocks *b) {
    return x ? ig_expr_reshape(e, x, b->cut_rank, b->shared) : NULL;
}

/* ---- ranges ---- */

typedef struct range {
    double min, max;
} range;

/* quant_min and quant_max; None: those of the integers. */
static ig_status read_range(ig_ts_call *call, uint32_t index, ig_dtype dtype,
                            range *out) {
    bool is_int = ig_dtype_is_int(dtype) && ig_dtypes[dtype].bits <= 32;
    if (!is_int || dtype == IG_DT_u32) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "blocks of %s are not supported yet: expected integers of up "
                          "to 32 bits",
                          ig_dtypes[dtype].name);
    }
    int64_t span = (int64_t)1 << ig_dtypes[dtype].bits;
    int64_t low = ig_dtypes[dtype].class == IG_UINT ? 0 : -span / 2;
    out->min = (double)ig_aten_int_or(call, index, low);
    out->max = (double)ig_aten_int_or(call, index + 1, low + span - 1);
    IG_TRY(call->e->status);
    return out->min < out->max && out->min >= (double)low &&
                   out->max < (double)(low + span)
               ? IG_OK
               : ig_ts_fail(call, IG_INVALID,
                            "quant_min is %.0f and quant_max %.0f, of %s", out->min,
                            out->max, ig_dtypes[dtype].name);
}

static ig_value *clamp_to(ig_expr *e, ig_value *x, range limits) {
    x = ig_expr_with(e, IG_OP_max, x, limits.min);
    return ig_expr_with(e, IG_OP_min, x, limits.max);
}

/* ---- scales chosen at run time ---- */

enum { MAPPING = 1, CHOSEN_BLOCKS, TARGET, TARGET_MIN, EPS = 6, SCALE_TYPE, ZERO_TYPE };
enum { KEEPS = 9 };

typedef struct choice {
    ig_ts_call *call;
    const blocks *blocks;
    ig_value *x; /* cut */
    range limits;
    double eps;
    ig_dtype zero_type; /* where none is given */
} choice;

static ig_value *reduce_blocks(const choice *c, ig_reduce kind, ig_value *x) {
    return ig_expr_reduce(c->call->e, kind, x, c->blocks->gone, c->blocks->gone_count,
                          true);
}

/* The middle of the range, for each scale. */
static ig_value *middle_of(const choice *c, const ig_value *scale) {
    int64_t middle = (int64_t)((c->limits.max + c->limits.min + 1) / 2);
    return scale ? ig_expr_fill(c->call->e, (ig_dtype)scale->type->dtype,
                                scale->type->rank, scale->type->dims, (double)middle)
                 : NULL;
}

/* The largest distance from 0 is the end of the range. */
static ig_value *choose_symmetric(choice *c, ig_value **out_zero) {
    ig_expr *e = c->call->e;
    ig_value *far = reduce_blocks(c, IG_REDUCE_max, ig_build_abs(e, c->x));
    ig_value *scale = ig_expr_with(e, IG_OP_div, far,
                                   (c->limits.max - c->limits.min) / 2);
    scale = ig_expr_with(e, IG_OP_max, scale, c->eps);
    *out_zero = middle_of(c, scale);
    return scale;
}

/* The smallest and the largest element of each block, 0 among them. */
static void find_ends(const choice *c, ig_value **out_low, ig_value **out_high) {
    ig_expr *e = c->call->e;
    *out_low = ig_expr_with(e, IG_OP_min, reduce_blocks(c, IG_REDUCE_min, c->x), 0);
    *out_high = ig_expr_with(e, IG_OP_max, reduce_blocks(c, IG_REDUCE_max, c->x), 0);
}

/* No element is beyond the range: the end decides that wants the larger scale. */
static ig_value *choose_without_clipping(choice *c, ig_value **out_zero) {
    ig_expr *e = c->call->e;
    ig_value *low, *high;
    find_ends(c, &low, &high);
    low = ig_expr_with(e, IG_OP_div, low, c->limits.min);
    high = ig_expr_with(e, IG_OP_div, high, c->limits.max);
    ig_value *scale = ig_build_where(e, ig_build_gt(e, low, high), low, high);
    scale = ig_expr_with(e, IG_OP_max, scale, c->eps);
    *out_zero = middle_of(c, scale);
    return scale;
}

static ig_value *choose_asymmetric(choice *c, ig_value **out_zero) {
    ig_expr *e = c->call->e;
    ig_value *low, *high;
    find_ends(c, &low, &high);
    ig_value *scale = ig_expr_with(e, IG_OP_div, ig_build_sub(e, high, low),
                                   c->limits.max - c->limits.min);
    scale = ig_expr_with(e, IG_OP_max, scale, c->eps);
    ig_value *steps = ig_build_round(e, ig_build_div(e, low, scale));
    *out_zero = clamp_to(e, ig_expr_number_with(e, IG_OP_sub, c->limits.min, steps),
                         c->limits);
    c->zero_type = IG_DT_i32;
    return scale;
}

typedef struct mapping_row {
    const char *name;
    ig_value *(*choose)(choice *c, ig_value **out_zero);
} mapping_row;

static const mapping_row *find_mapping(ig_ts_call *call) {
    static const mapping_row rows[] = {
        { "SYMMETRIC", choose_symmetric },
        { "SYMMETRIC_NO_CLIPPING_ERR", choose_without_clipping },
        { "ASYMMETRIC", choose_asymmetric },
    };
    ig_str name = ig_aten_str(call, MAPPING);
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (ig_str_is(name, rows[i].name)) {
            return &rows[i];
        }
    }
    ig_expr_fail(call->e, IG_INVALID, "its mapping is '%.*s'", IG_STR_ARG(name));
    return NULL;
}

/* As many as there are blocks; without `keeps`, axes that are one block are left
 * out. */
static ig_value *shape_chosen(ig_ts_call *call, ig_value *x, const blocks *b,
                              ig_dtype dtype) {
    ig_dim kept[IG_TENSOR_RANK];
    uint32_t rank = 0;
    bool keeps = ig_aten_bool(call, KEEPS);
    for (uint32_t d = 0, gone = 0; d < b->cut_rank; d++) {
        bool is_gone = gone < b->gone_count && b->gone[gone] == d;
        gone += is_gone;
        kept[rank] = b->cut[d];
        rank += !is_gone;
    }
    x = ig_aten_cast(call, x, dtype);
    return x ? ig_expr_reshape(call->e, x, keeps ? b->rank : rank,
                               keeps ? b->counts : kept)
             : NULL;
}

static double smallest_normal(ig_dtype dtype) {
    return dtype == IG_DT_f16 ? 0x1p-14 : 0x1p-126;
}

ig_status ig_ts_op_affine_choose(ig_ts_call *call) {
    blocks b = { 0 };
    choice c = { .call = call, .blocks = &b };
    ig_value *x = ig_aten_tensor(call, 0), *zero = NULL;
    IG_TRY(call->e->status);
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    const mapping_row *mapping = find_mapping(call);
    IG_TRY(call->e->status);
    IG_TRY(read_blocks(call, CHOSEN_BLOCKS, x, &b));
    IG_TRY(
        read_range(call, TARGET_MIN, ig_aten_dtype(call, TARGET, IG_DT_i8), &c.limits));
    if (!ig_dtype_is_float(dtype) || b.gone_count == 0) {
        return ig_ts_fail(call, IG_INVALID,
                          "its input is %s in blocks of rank %u, expected blocks of "
                          "several floats",
                          ig_dtypes[dtype].name, b.gone_count);
    }
    c.x = cut_blocks(call->e, x, &b);
    c.eps = ig_aten_float_or(call, EPS, smallest_normal(dtype));
    c.zero_type = dtype;
    ig_value *scale = mapping->choose(&c, &zero);
    ig_dtype scale_type = ig_aten_dtype(call, SCALE_TYPE, dtype);
    ig_dtype zero_type = ig_aten_dtype(call, ZERO_TYPE, c.zero_type);
    IG_TRY(call->e->status);
    return ig_aten_give2(call, shape_chosen(call, scale, &b, scale_type),
                         shape_chosen(call, zero, &b, zero_type));
}

/* ---- integers and back ---- */

enum { INPUT, BLOCKS, SCALE, ZERO_POINT, DTYPE, LIMITS, OUT_DTYPE = 7 };

/* round(x * (1 / scale)) + zero point, within the range */
ig_status ig_ts_op_affine_quantize(ig_ts_call *call) {
    ig_expr *e = call->e;
    blocks b = { 0 };
    range limits;
    ig_value *x = ig_aten_tensor(call, INPUT), *scale = ig_aten_tensor(call, SCALE);
    ig_value *zero = ig_aten_optional(call, ZERO_POINT);
    ig_dtype to = ig_aten_dtype(call, DTYPE, IG_DT_i8);
    IG_TRY(e->status);
    IG_TRY(read_blocks(call, BLOCKS, x, &b));
    IG_TRY(read_range(call, LIMITS, to, &limits));
    scale = ig_expr_number_with(e, IG_OP_div, 1, share_blocks(e, scale, &b));
    ig_value *y = ig_aten_combine(call, IG_OP_mul, cut_blocks(e, x, &b), scale);
    y = ig_build_round(e, y);
    y = zero ? ig_aten_combine(call, IG_OP_add, y, share_blocks(e, zero, &b)) : y;
    y = ig_aten_cast(call, clamp_to(e, y, limits), to);
    return ig_aten_give(call, y ? ig_expr_reshape(e, y, b.rank, x->type->dims) : NULL);
}

/* (x - zero point) * scale */
ig_status ig_ts_op_affine_dequantize(ig_ts_call *call) {
    ig_expr *e = call->e;
    blocks b = { 0 };
    ig_value *x = ig_aten_tensor(call, INPUT), *scale = ig_aten_tensor(call, SCALE);
    ig_value *zero = ig_aten_optional(call, ZERO_POINT);
    ig_dtype to = ig_aten_dtype(call, OUT_DTYPE, IG_DT_f32);
    IG_TRY(e->status);
    IG_TRY(read_blocks(call, BLOCKS, x, &b));
    ig_value *y = ig_aten_cast(call, cut_blocks(e, x, &b), to);
    zero = ig_aten_cast(call, share_blocks(e, zero, &b), to);
    y = zero ? ig_build_sub(e, y, zero) : y;
    y = ig_aten_combine(call, IG_OP_mul, y, share_blocks(e, scale, &b));
    y = ig_aten_cast(call, y, to);
    return ig_aten_give(call, y ? ig_expr_reshape(e, y, b.rank, x->type->dims) : NULL);
}

/* ---- tensors around others ---- */

/* access_subclass_inner_tensor(tensor, "qdata") */
ig_status ig_ts_op_subclass_part(ig_ts_call *call) {
    ig_ts_object *object;
    ig_str name;
    IG_TRY(ig_ts_object_arg(call, 0, "WrapperSubclass", &object));
    IG_TRY(ig_ts_str(call, 1, &name));
    const ig_ts_value *part =
        ig_ts_object_get(object, ig_arena_copy(call->arena, name.data, name.size));
    return part ? ig_ts_give_value(call, 0, *part)
                : ig_ts_fail(call, IG_INVALID, "the tensor '%s' has no part '%.*s'",
                             object->path, IG_STR_ARG(name));
}
