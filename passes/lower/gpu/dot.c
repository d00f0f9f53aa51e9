/* Matrix multiplication by dot products, on GPUs: few columns, or odd strides.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   C[…, m, n] = epilogue(sum over k of A[…, m, k] * B[…, n, k])
 *
 *   grid       blocks of ELEMENTS elements of C, in row-major order
 *   thread     a warp works on one element: each thread sums every LANES-th product in
 *              one chain, then halves are added to halves by exchanges - one fixed
 *              order for each element, whatever the batch
 *
 * The bottom tier of matmul: any rank, dtype and strides.
 */
#include "passes/lower/gpu/gpu.h"

#include <assert.h>

enum { ELEMENTS = 8, LANES = 32 };

/* One operand: its steps along its own dim (m or n) and along k. */
typedef struct dot_side {
    const ig_lower_operand *x;
    ig_dim step, k_step;
} dot_side;

typedef struct dot {
    ig_lower *lower;
    const ig_op *anchor;
    const ig_type *type; /* of the product */
    uint32_t rank;
    dot_side sides[2];
    ig_dtype wide; /* the type of the sums */
    ig_value *k, *count, *thread;
} dot;

/* ---- where the operands are ---- */

static dot_side side_of(const ig_lower_operand *x, bool k_is_last) {
    const ig_dim *last = &x->strides[x->type->rank - 2];
    return (dot_side){ x, last[k_is_last ? 0 : 1], last[k_is_last ? 1 : 0] };
}

/* The operand's row m (or n) of the matrix of this batch. */
static ig_value *open_row(const dot *d, ig_builder *b, const dot_side *side,
                          ig_value *const *index, ig_value *row) {
    const ig_lower_operand *x = side->x;
    ig_value *at = k_mul(b, row, ig_lower_dim(d->lower, side->step));
    uint32_t missing = d->rank - x->type->rank;
    for (uint32_t i = 0; i + 2 < x->type->rank; i++) {
        ig_dim stride = ig_lower_batch_stride(d->lower, x, i,
                                              d->type->dims[missing + i]);
        ig_value *step = ig_lower_dim(d->lower, stride);
        at = k_add(b, at, k_mul(b, index[missing + i], step));
    }
    return k_offset(b, x->buffer, at);
}

static void split_element(const dot *d, ig_builder *b, ig_value *element,
                          ig_value **index) {
    for (uint32_t i = d->rank; i-- > 1;) {
        ig_value *extent = ig_lower_dim(d->lower, d->type->dims[i]);
        index[i] = k_mod(b, element, extent);
        element = k_div(b, element, extent);
    }
    index[0] = element;
}

/* ---- sums ---- */

static ig_value *load_wide(const dot *d, ig_builder *b, const dot_side *side,
                           ig_value *row, ig_value *k) {
    ig_value *at = k_mul(b, k, ig_lower_dim(d->lower, side->k_step));
    return k_cast(b, k_load(b, row, at, 1), d->wide);
}

/* This thread's chain: products lane, lane + LANES … below `limit`. */
static ig_value *emit_chain(const dot *d, ig_builder *b, ig_value *const *index,
                            ig_value *lane, ig_value *limit) {
    ig_value *rows[2] = {
        open_row(d, b, &d->sides[0], index, index[d->rank - 2]),
        open_row(d, b, &d->sides[1], index, index[d->rank - 1]),
    };
    ig_value *zero = k_const(b, d->wide, 0.0);
    k_loop loop = k_loop_open(b, lane, limit, k_i64(b, LANES), &zero, 1);
    ig_value *x = load_wide(d, &loop.b, &d->sides[0], rows[0], loop.index);
    ig_value *y = load_wide(d, &loop.b, &d->sides[1], rows[1], loop.index);
    ig_value *sum = k_muladd(&loop.b, x, y, loop.carried[0]);
    k_loop_close(&loop, &sum, 1);
    return loop.results[0];
}

static void store_element(const dot *d, ig_builder *b, ig_value *const *index,
                          ig_value *sum) {
    ig_map values;
    ig_map_init(&values, d->lower->arena);
    ig_map_set_id(&values, IG_MAP_PTR(&d->anchor->results[0]),
                  k_cast(b, sum, (ig_dtype)d->type->dtype));
    ig_site site = { .b = b,
                     .lanes = 1,
                     .rank = d->rank,
                     .dims = d->type->dims,
                     .index = index,
                     .values = &values };
    ig_lower_store_yields(d->lower, &site);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const dot *d = user;
    ig_value *index[IG_TENSOR_RANK];
    ig_value *lanes = k_i64(b, LANES), *zero = k_i64(b, 0);
    ig_value *lane = k_mod(b, d->thread, lanes);
    ig_value *element = k_add(b, k_mul(b, tile, k_i64(b, ELEMENTS)),
                              k_div(b, d->thread, lanes));
    ig_value *is_there = k_compare(b, IG_OP_lt, element, d->count);
    split_element(d, b, element, index);
    ig_value *limit = k_where(b, is_there, d->k, zero);
    ig_value *sum = ig_warp_combine(b, IG_REDUCE_sum,
                                    emit_chain(d, b, index, lane, limit));
    ig_value *is_first = k_compare(b, IG_OP_eq, lane, zero);
    k_if store = k_if_open(b, k_binary(b, IG_OP_and, is_first, is_there), NULL, 0);
    store_element(d, &store.then, index, sum);
    k_if_close(&store, NULL, NULL);
}

/* ---- the schedule ---- */

static void open_sides(dot *d, const ig_lower_operand *a, const ig_lower_operand *b) {
    bool transpose_a = ig_attr_int(d->anchor, IG_matmul_transpose_a, 0) != 0;
    bool transpose_b = ig_attr_int(d->anchor, IG_matmul_transpose_b, 0) != 0;
    d->sides[0] = side_of(a, !transpose_a);
    d->sides[1] = side_of(b, transpose_b);
    uint32_t rank = a->type->rank;
    d->k = ig_lower_param(d->lower, a->type->dims[transpose_a ? rank - 2 : rank - 1]);
}

ig_status ig_lower_gpu_dot(ig_lower *lower) {
    ig_op *anchor = ig_lower_anchor(lower, IG_OP_matmul);
    assert(anchor && "the family's body has its anchor");
    const ig_lower_operand *a = ig_lower_input(lower, anchor, 0);
    const ig_lower_operand *b = ig_lower_input(lower, anchor, 1);
    const ig_type *type = anchor->results[0].type;
    bool has_matrices = a && b && a->type->rank >= 2 && b->type->rank >= 2;
    if (!has_matrices || ig_dtypes[type->dtype].class == IG_BOOL) {
        return ig_lower_unsupported(lower, "this form of matmul");
    }
    ig_dtype dtype = (ig_dtype)type->dtype;
    bool is_narrow = ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits < 32;
    dot d = { .lower = lower,
              .anchor = anchor,
              .type = type,
              .rank = type->rank,
              .wide = is_narrow ? IG_DT_f32 : dtype };
    open_sides(&d, a, b);
    ig_dim count = ig_type_count(lower->module, type);
    lower->name = ig_lower_name(lower, "dot");
    lower->threads = (int64_t)ELEMENTS * LANES;
    lower->grid = ig_lower_ceil_div(lower, count, ELEMENTS);
    d.count = ig_lower_dim(lower, count);
    d.thread = ig_gpu_thread(&lower->b);
    ig_lower_each_tile(lower, emit_tile, &d);
    return IG_OK;
}
