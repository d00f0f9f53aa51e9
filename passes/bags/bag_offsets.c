/* bag_offsets: where bags begin and end, in the plainest form.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %off = range 0, B*L, L : i64[B]
 *     %y = bag @t, %ids, %off {operands = [1]}               %ids: i64[B*L]
 *   becomes
 *     %m = reshape %ids {to = [B, L]}
 *     %y = bag @t, %m {operands = [0]}
 *
 * and
 *
 *     %b = slice %off {starts = [0], sizes = [C - 1]}        %off: i64[C]
 *     %e = slice %off {starts = [1], sizes = [C - 1]}
 *     %y = bag @t, %ids, %b, %e {operands = [3]}
 *   becomes
 *     %y = bag @t, %ids, %off {operands = [1], last = [offset]}
 *
 * so that bags which exporters write in several ways are one.  That there is an offset
 * at all is asked for by a guard where it is not known.
 *
 * Keeps: every result.  Bags of one feature only: bag_merge comes later.
 */
#include "ir/build/expr.h"
#include "ir/bag.h"
#include "ir/build/build.h"
#include "passes/canonical/canonicalise.h"
#include "passes/bags/recognise.h"

#include <assert.h>

/* The same bag with other operands; weights are the last where there are any. */
static void remake_bag(ig_recogniser *r, ig_op *bag, ig_value *ids, ig_value *begins,
                       ig_value *weights) {
    assert(ig_bag_feature_count(bag) == 1 && "bags are merged later");
    ig_builder b = ig_builder_before(bag);
    uint32_t count = ig_bag_feature_at(bag, 0).tables;
    ig_value **operands = IG_NEW_ARRAY(r->arena, ig_value *, count + 3);
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = ig_op_operand(bag, i);
    }
    operands[count++] = ids;
    int64_t mask = (begins ? IG_BAG_BEGINS : 0) | (weights ? IG_BAG_WEIGHTS : 0);
    int64_t last = IG_LAST_offset;
    ig_bag_attrs attrs = ig_bag_attrs_of(bag);
    attrs.operands = (ig_ints){ &mask, 1 };
    attrs.last = (ig_ints){ begins ? &last : NULL, 1 };
    if (begins) {
        operands[count++] = begins;
    } else {
        attrs.offsets = 0;
    }
    if (weights) {
        operands[count++] = weights;
    }
    ig_expr e = ig_expr_of(&b);
    ig_value *made = ig_build_bag(&e, operands, count, attrs);
    ig_recogniser_replace(r, &bag->results[0], made);
    ig_recogniser_sweep(r, bag);
}

/* ---- bags of one length ---- */

/* 0, L, 2*L, … : the step; 0 where it is none. */
static int64_t even_step(const ig_value *begins) {
    const ig_op *range = ig_def(begins, IG_OP_range);
    int64_t first, step;
    bool is_even = range && ig_constant_i64(ig_op_operand(range, 0), &first) &&
                   first == 0 && ig_constant_i64(ig_op_operand(range, 2), &step) &&
                   step > 0;
    return is_even ? step : 0;
}

static int64_t constant_step(const ig_value *begins) {
    const ig_data *data = ig_constant_of(begins);
    if (!data || !data->bytes || data->is_splat ||
        ig_dim_value(data->type->dims[0]) < 2) {
        return 0;
    }
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = ig_dim_value(data->type->dims[0]) };
    tensor.data = (void *)(uintptr_t)data->bytes; /* only read */
    int64_t step = ig_tensor_get_i64(&tensor, 1);
    for (int64_t i = 0; i < tensor.count; i++) {
        if (ig_tensor_get_i64(&tensor, i) / (i ? i : 1) != (i ? step : 0) ||
            (i && ig_tensor_get_i64(&tensor, i) % i)) {
            return 0;
        }
    }
    return step;
}

static bool make_fixed(ig_recogniser *r, ig_op *bag, const ig_bag_feature *f) {
    ig_value *begins = ig_op_operand(bag, f->begins), *ids = ig_op_operand(bag, f->ids);
    ig_value *weights = f->weights ? ig_op_operand(bag, f->weights) : NULL;
    int64_t step = even_step(begins);
    step = step ? step : constant_step(begins);
    ig_dim dims[] = { begins->type->dims[0], ig_dim_of(step) };
    ig_dim total = ig_dim_mul(r->module, dims[0], dims[1]);
    if (step <= 0 || f->ends || f->last != IG_LAST_ids || f->pool == IG_POOL_none ||
        ig_dim_equal(r->module, total, ids->type->dims[0]) != IG_YES) {
        return false;
    }
    ig_builder b = ig_builder_before(bag);
    ig_expr e = ig_expr_of(&b);
    ids = ig_expr_reshape(&e, ids, 2, dims);
    remake_bag(r, bag, ids, NULL, ig_expr_reshape(&e, weights, 2, dims));
    return true;
}

/* ---- ends that are the next begins ---- */

static const ig_op *plain_slice(const ig_value *value) {
    const ig_op *slice = ig_def(value, IG_OP_slice);
    const ig_attr *steps = slice ? &slice->attrs[IG_slice_steps] : NULL;
    bool is_plain = slice && slice->operand_count == 1 &&
                    (steps->kind != IG_ATTR_INTS || steps->as.ints[0] == 1);
    return is_plain ? slice : NULL;
}

/* From 0 to the last but one, and from 1 to the last; of none at all nothing. */
static ig_value *all_offsets(ig_recogniser *r, const ig_value *begins,
                             const ig_value *ends) {
    const ig_op *from = plain_slice(begins), *to = plain_slice(ends);
    if (!from || !to || ig_op_operand(from, 0) != ig_op_operand(to, 0) ||
        !ig_dim_is(from->attrs[IG_slice_starts].as.dims[0], 0)) {
        return NULL;
    }
    ig_value *all = ig_op_operand(from, 0);
    ig_dim count = all->type->dims[0],
           less = ig_dim_sub(r->module, count, ig_dim_of(1));
    ig_dim start = to->attrs[IG_slice_starts].as.dims[0];
    ig_dim bags = from->attrs[IG_slice_sizes].as.dims[0];
    ig_dim max = ig_dim_max(r->module, ig_dim_of(0), less);
    bool is_next = ig_dim_is(start, 1) ||
                   ig_dim_same(start, ig_dim_min(r->module, count, ig_dim_of(1)));
    bool is_all = ig_dim_same(bags, less) || ig_dim_same(bags, max);
    return is_next && is_all && ig_dim_same(bags, to->attrs[IG_slice_sizes].as.dims[0])
               ? all
               : NULL;
}

static void join_ends(ig_recogniser *r, ig_op *bag, const ig_bag_feature *f) {
    ig_value *all = f->ends ? all_offsets(r, ig_op_operand(bag, f->begins),
                                          ig_op_operand(bag, f->ends))
                            : NULL;
    if (!all) {
        return;
    }
    ig_builder b = ig_builder_before(bag);
    ig_expr e = ig_expr_of(&b);
    ig_expr_guard_less_equal(&e, ig_dim_of(1), all->type->dims[0],
                             "the offsets must hold the last bag's end");
    remake_bag(r, bag, ig_op_operand(bag, f->ids), all,
               f->weights ? ig_op_operand(bag, f->weights) : NULL);
}

static void match_bag(ig_recogniser *r, ig_op *bag) {
    if (ig_bag_feature_count(bag) != 1) {
        return;
    }
    ig_bag_feature f = ig_bag_feature_at(bag, 0);
    if (f.begins && !make_fixed(r, bag, &f)) {
        join_ends(r, bag, &f);
    }
}

ig_status ig_pass_bag_offsets(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_bag, match_bag);
}
