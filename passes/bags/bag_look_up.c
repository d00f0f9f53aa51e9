/* Look-ups in embedding tables outside of loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/bags/bag_look_up.h"

#include "ir/build/expr.h"

#include <assert.h>
enum { DEPTH_MAX = 16 };

static bool is_equal(const ig_op *op, ig_dim a, ig_dim b) {
    return ig_dim_equal(ig_op_module(op), a, b) == IG_YES;
}

static ig_dim width_of(const ig_type *type) {
    return type->dims[type->rank - 1];
}

/* A view that keeps rows whole. */
static ig_value *before_view(const ig_op *op) {
    if (op->code != IG_OP_reshape && op->code != IG_OP_cast) {
        return NULL; /* it may have no operands at all */
    }
    ig_value *x = op->operands[0].value;
    const ig_type *from = x->type, *to = op->results[0].type;
    bool is_view = op->code == IG_OP_reshape && from->rank > 0 && to->rank > 0 &&
                   is_equal(op, width_of(from), width_of(to));
    bool is_cast = op->code == IG_OP_cast && from->dtype == to->dtype;
    return is_view || is_cast ? x : NULL;
}

/* Rows of the table, without weights.  A gather that skips does so for any negative id,
 * a bag for -1 alone. */
static bool read_rows(ig_value *value, ig_look_up *out) {
    out->rows = value->type;
    for (uint32_t i = 0; value && i < DEPTH_MAX; i++) {
        const ig_op *op = value->def;
        int64_t negative = op && op->code == IG_OP_gather
                               ? ig_attr_int(op, IG_gather_negative, IG_NEGATIVE_wrap)
                               : IG_NEGATIVE_skip;
        bool is_look_up = negative != IG_NEGATIVE_skip &&
                          ig_attr_int(op, IG_gather_axis, 0) == 0 &&
                          ig_value_is_table(op->operands[0].value) &&
                          !ig_constant_of(op->operands[1].value);
        if (is_look_up) {
            out->table = op->operands[0].value;
            out->ids = op->operands[1].value;
            out->negative = (ig_negative)negative;
            return true;
        }
        value = op ? before_view(op) : NULL;
    }
    return false;
}

/* One number a row, or for many rows?  Not one for all, nor more than rows. */
static bool is_column(const ig_op *mul, const ig_type *rows, const ig_type *type) {
    bool fits = type->rank == rows->rank && type->rank > 1 &&
                ig_dim_is(width_of(type), 1) && type->dtype == rows->dtype;
    bool is_one = true;
    for (uint32_t d = 0; fits && d + 1 < type->rank; d++) {
        ig_truth truth = ig_dim_equal(ig_op_module(mul), rows->dims[d], type->dims[d]);
        bool may_be = truth == IG_MAYBE && !ig_dim_is(rows->dims[d], 1);
        fits = truth == IG_YES || ig_dim_is(type->dims[d], 1) || may_be;
        is_one = is_one && ig_dim_is(type->dims[d], 1);
    }
    return fits && !is_one;
}

bool ig_look_up_read(ig_value *value, ig_look_up *out) {
    const ig_op *mul = ig_def(value, IG_OP_mul);
    *out = (ig_look_up){ 0 };
    for (uint32_t i = 0; mul && i < 2; i++) {
        ig_value *rows = mul->operands[i].value, *other = mul->operands[1 - i].value;
        if (is_column(mul, rows->type, other->type) && read_rows(rows, out)) {
            out->weights = ig_value_is_filled(other, 1) ? NULL : other;
            return true;
        }
    }
    return read_rows(value, out);
}

/* ---- in the requested shape ---- */

/* A view between has the elements that are wanted, just so shaped. */
static ig_value *before_reshapes(ig_value *x, uint32_t rank) {
    while (x->type->rank != rank && ig_def(x, IG_OP_reshape)) {
        x = x->def->operands[0].value;
    }
    return x;
}

ig_value *ig_look_up_ids(const ig_look_up *look_up, ig_builder *b, uint32_t rank,
                         const ig_dim *dims) {
    assert(look_up->ids && "a look-up that was read");
    ig_expr e = ig_expr_of(b);
    return ig_expr_reshape(&e, look_up->ids, rank, dims);
}

ig_value *ig_look_up_weights(const ig_look_up *look_up, ig_builder *b, uint32_t rank,
                             const ig_dim *dims) {
    ig_value *weights = look_up->weights;
    if (!weights) {
        return NULL;
    }
    ig_module *module = b->graph->module;
    ig_dim wanted[IG_TENSOR_RANK];
    bool is_repeated = false;
    assert(weights->type->rank <= look_up->rows->rank && "at most a weight per row");
    ig_expr e = ig_expr_of(b);
    for (uint32_t d = 0; d < weights->type->rank; d++) {
        ig_dim dim = weights->type->dims[d];
        bool is_last = d + 1 == weights->type->rank;
        wanted[d] = is_last ? ig_dim_of(1) : look_up->rows->dims[d];
        bool repeats = ig_dim_is(dim, 1) &&
                       ig_dim_equal(module, wanted[d], ig_dim_of(1)) != IG_YES;
        is_repeated = is_repeated || repeats;
        if (!repeats) {
            ig_expr_guard_equal(&e, wanted[d], dim, "there must be one weight an id");
        }
    }
    if (is_repeated) {
        weights = ig_expr_expand(&e, weights, weights->type->rank, wanted);
        return ig_expr_reshape(&e, weights, rank, dims);
    }
    return ig_expr_reshape(&e, before_reshapes(weights, rank), rank, dims);
}
