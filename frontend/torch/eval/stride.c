/* The positions of the elements of views in memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program may ask for strides, and some operators share memory or copy depending on
 * them: `reshape` and `flatten` are views only where strides allow it, `contiguous` is
 * the tensor itself only when it is in row-major order.  A storage's content is dense
 * in the order of axes that layout.c found; the strides of a view follow from its
 * steps.
 *
 * Steps that take elements of an axis by an index (unfold, as_strided, open diagonals)
 * are gathers whose index has strides: entry (i, j …) of it is a constant plus
 * i * strides[0] + j * strides[1] + ….  They say where elements of the view are, and
 * whether two of them are one.
 */
#include "frontend/torch/eval/eval.h"

#include <assert.h>
#include <string.h>

typedef struct layout {
    uint32_t rank;
    bool is_open; /* extents of the run decide about a reshape */
    ig_dim dims[IG_TENSOR_RANK], strides[IG_TENSOR_RANK];
} layout;

static bool is_equal(const ig_module *module, ig_dim a, ig_dim b) {
    return ig_dim_equal(module, a, b) == IG_YES;
}

static bool is_equal_in(const ig_module *module, layout *l, ig_dim a, ig_dim b) {
    ig_truth same = ig_dim_equal(module, a, b);
    l->is_open = l->is_open || same == IG_MAYBE;
    return same == IG_YES;
}

static void lay_densely(ig_module *module, const ig_type *type,
                        const ig_ts_order *order, layout *out) {
    ig_dim run = ig_dim_of(1);
    out->rank = type->rank;
    out->is_open = false;
    for (uint32_t i = type->rank; i-- > 0;) {
        uint32_t axis = order ? order->axes[i] : i;
        out->dims[axis] = type->dims[axis];
        out->strides[axis] = run;
        run = ig_dim_mul(module, run, type->dims[axis]);
    }
}

/* Strides of the same elements in another shape: torch's computeStride.  Axes of the
 * old shape that follow on each other without gaps make one stretch, which the new axes
 * must divide among them. */
static bool reshape_layout(ig_module *module, layout *l, uint32_t rank,
                           const ig_dim *dims) {
    layout to = { .rank = rank };
    uint32_t next = rank; /* new axes still to be placed */
    ig_dim old_count = ig_dim_of(1), new_count = ig_dim_of(1);
    ig_dim base = l->rank ? l->strides[l->rank - 1] : ig_dim_of(1);
    memcpy(to.dims, dims, rank * sizeof(*dims));
    for (uint32_t d = l->rank; d-- > 0;) {
        old_count = ig_dim_mul(module, old_count, l->dims[d]);
        bool goes_on = d > 0 && (is_equal_in(module, l, l->dims[d - 1], ig_dim_of(1)) ||
                                 is_equal_in(module, l, l->strides[d - 1],
                                             ig_dim_mul(module, old_count, base)));
        if (goes_on) {
            continue;
        }
        while (next > 0 && (!is_equal(module, new_count, old_count) ||
                            is_equal(module, dims[next - 1], ig_dim_of(1)))) {
            next--;
            to.strides[next] = ig_dim_mul(module, new_count, base);
            new_count = ig_dim_mul(module, new_count, dims[next]);
        }
        if (!is_equal_in(module, l, new_count, old_count)) {
            return false;
        }
        base = d > 0 ? l->strides[d - 1] : ig_dim_of(1);
        old_count = new_count = ig_dim_of(1);
    }
    while (next > 0) { /* of a scalar, or ones in front */
        next--;
        to.strides[next] = ig_dim_of(1);
        if (!is_equal_in(module, l, dims[next], ig_dim_of(1))) {
            return false;
        }
    }
    *l = to;
    return true;
}

static void transpose_layout(ig_ts_eval *eval, const ig_op *step, layout *l) {
    (void)eval;
    assert(step->attrs[IG_transpose_perm].count == l->rank &&
           "a permutation of all axes");
    layout from = *l;
    const ig_attr *perm = &step->attrs[IG_transpose_perm];
    for (uint32_t i = 0; i < l->rank; i++) {
        l->dims[i] = from.dims[perm->as.ints[i]];
        l->strides[i] = from.strides[perm->as.ints[i]];
    }
}

static void slice_layout(ig_ts_eval *eval, const ig_op *step, layout *l) {
    ig_module *module = eval->module;
    assert(step->attrs[IG_slice_starts].count == l->rank && "a slice of all axes");
    const ig_attr *steps = &step->attrs[IG_slice_steps];
    for (uint32_t i = 0; i < l->rank && steps->kind == IG_ATTR_INTS; i++) {
        ig_dim by = ig_dim_const(module, steps->as.ints[i]);
        l->strides[i] = ig_dim_mul(module, l->strides[i], by);
    }
}

static void expand_layout(ig_ts_eval *eval, const ig_op *step, layout *l) {
    const ig_module *module = eval->module;
    const ig_type *type = step->results[0].type;
    assert(type->rank >= l->rank && "an expansion keeps or adds axes");
    layout from = *l;
    uint32_t more = type->rank - l->rank;
    l->rank = type->rank;
    for (uint32_t i = 0; i < type->rank; i++) {
        bool is_new = i < more ||
                      (is_equal(module, from.dims[i - more], ig_dim_of(1)) &&
                       !is_equal(module, type->dims[i], ig_dim_of(1)));
        l->strides[i] = is_new ? ig_dim_of(0) : from.strides[i - more];
    }
}

static void gather_layout(ig_ts_eval *eval, const ig_op *step, layout *l) {
    const ig_dim *strides = ig_ts_pick_strides(eval, step);
    uint32_t picked = ig_op_operand(step, 1)->type->rank;
    int64_t at = ig_attr_int(step, IG_gather_axis, 0);
    uint32_t axis = (uint32_t)(at < 0 ? at + l->rank : at);
    ig_dim stride = l->strides[axis];
    memmove(&l->strides[axis + picked], &l->strides[axis + 1],
            (l->rank - axis - 1) * sizeof(*l->strides));
    l->rank += picked - 1;
    for (uint32_t i = 0; i < picked; i++) {
        l->strides[axis + i] = ig_dim_mul(eval->module, stride, strides[i]);
    }
}

static const struct {
    ig_opcode code;
    void (*follow)(ig_ts_eval *eval, const ig_op *step, layout *l);
} followers[] = { { IG_OP_transpose, transpose_layout },
                  { IG_OP_slice, slice_layout },
                  { IG_OP_expand, expand_layout },
                  { IG_OP_gather, gather_layout } };

static bool follow_step(ig_ts_eval *eval, const ig_op *step, layout *l) {
    const ig_type *type = step->results[0].type;
    if (step->code == IG_OP_reshape) {
        return reshape_layout(eval->module, l, type->rank, type->dims);
    }
    for (size_t i = 0; i < IG_COUNT_OF(followers); i++) {
        if (followers[i].code == (ig_opcode)step->code) {
            followers[i].follow(eval, step, l);
        }
    }
    memcpy(l->dims, type->dims, type->rank * sizeof(*l->dims));
    return true;
}

ig_truth ig_ts_tensor_strides(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                              ig_dim *out_strides) {
    const ig_value *content = tensor->storage->value;
    const ig_type *base = tensor->step_count && content ? content->type : tensor->type;
    const ig_ts_order *order = tensor->storage->order;
    layout l;
    const ig_ts_alias *alias = tensor->alias;
    bool is_maybe_view = alias && alias->is_by_layout && !alias->has_strides;
    if ((order && !order->is_known) || is_maybe_view) {
        return IG_MAYBE;
    }
    lay_densely(eval->module, base, order, &l);
    for (uint32_t i = 0; i < tensor->step_count; i++) {
        if (!follow_step(eval, tensor->steps[i], &l)) {
            return l.is_open ? IG_MAYBE : IG_NO;
        }
    }
    memcpy(out_strides, l.strides, l.rank * sizeof(*out_strides));
    return IG_YES;
}

/* ---- asking for an order ---- */

/* Where a stride is not surely the wanted one: it is, or the axis has one element. */
static ig_value *ask_axis(ig_expr *e, ig_value *so_far, ig_dim extent, ig_dim stride,
                          ig_dim wanted) {
    ig_value *one = ig_expr_dim(e, ig_dim_of(1), IG_DT_i64);
    ig_value *is_one = ig_build_eq(e, ig_expr_dim(e, extent, IG_DT_i64), one);
    ig_value *is_wanted = ig_build_eq(e, ig_expr_dim(e, stride, IG_DT_i64),
                                      ig_expr_dim(e, wanted, IG_DT_i64));
    ig_value *fits = ig_build_or(e, is_one, is_wanted);
    return so_far ? ig_build_and(e, so_far, fits) : fits;
}

ig_truth ig_ts_lies_in_order(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                             const ig_ts_order *order, ig_expr *e,
                             ig_value **out_condition) {
    assert((!order || order->is_known) && "an order that can be asked for");
    ig_module *module = eval->module;
    const ig_type *type = tensor->type;
    ig_dim strides[IG_TENSOR_RANK], run = ig_dim_of(1);
    ig_value *condition = NULL;
    ig_truth lies = IG_YES;
    if (ig_ts_tensor_strides(eval, tensor, strides) != IG_YES) {
        return IG_MAYBE;
    }
    for (uint32_t i = type->rank; i-- > 0 && lies != IG_NO;) {
        uint32_t axis = order ? order->axes[i] : i;
        ig_truth is_one = ig_dim_equal(module, type->dims[axis], ig_dim_of(1));
        ig_truth is_next = ig_dim_equal(module, strides[axis], run);
        if (is_one == IG_NO && is_next == IG_NO) {
            lies = IG_NO;
        } else if (is_one != IG_YES && is_next != IG_YES) {
            lies = IG_MAYBE;
            condition = out_condition ? ask_axis(e, condition, type->dims[axis],
                                                 strides[axis], run)
                                      : NULL;
        }
        run = ig_dim_mul(module, run, type->dims[axis]);
    }
    if (out_condition) {
        *out_condition = lies == IG_MAYBE ? condition : NULL;
    }
    return ig_dim_is(ig_dim_product(module, type->dims, type->rank), 0) ? IG_YES : lies;
}

/* ---- steps that take elements by an index ---- */

typedef struct pick {
    const ig_dim *strides;
} pick;

ig_value *ig_ts_mark_pick(ig_ts_call *call, ig_value *taken, const ig_dim *strides) {
    if (!taken) {
        return NULL;
    }
    assert(taken->def && taken->def->code == IG_OP_gather && "elements of an axis");
    const ig_value *index = ig_op_operand(taken->def, 1);
    ig_dim *kept = IG_NEW_ARRAY(call->arena, ig_dim, index->type->rank + 1u);
    memcpy(kept, strides, index->type->rank * sizeof(*kept));
    pick *own = IG_NEW(call->arena, pick);
    *own = (pick){ kept };
    ig_map_set_id(&call->eval->picks, IG_MAP_PTR(index), own);
    return taken;
}

void ig_ts_pick_copy(ig_ts_eval *eval, const ig_value *from, const ig_value *to) {
    pick *own = ig_map_get_id(&eval->picks, IG_MAP_PTR(from));
    if (own) {
        ig_map_set_id(&eval->picks, IG_MAP_PTR(to), own);
    }
}

const ig_dim *ig_ts_pick_strides(const ig_ts_eval *eval, const ig_op *step) {
    const pick *own = ig_map_get_id(&eval->picks, IG_MAP_PTR(ig_op_operand(step, 1)));
    return own ? own->strides : NULL;
}

/* An axis whose stride is surely none of the larger ones of those left, or else the
 * last one; `rank`: none is left. */
static uint32_t find_narrowest(const ig_module *module, uint32_t rank,
                               const ig_dim *strides, const bool *is_left) {
    uint32_t last = rank;
    for (uint32_t i = 0; i < rank; i++) {
        bool is_it = is_left[i];
        last = is_it ? i : last;
        for (uint32_t k = 0; is_it && k < rank; k++) {
            is_it = !is_left[k] ||
                    ig_dim_less_equal(module, strides[i], strides[k]) == IG_YES;
        }
        if (is_it) {
            return i;
        }
    }
    return last;
}

/* Each stride must be wider than all that the narrower ones reach together, where its
 * axis has two elements or more.  What extents decide, the run checks. */
bool ig_ts_guard_distinct(ig_ts_eval *eval, ig_expr *e, const ig_op *step) {
    static const char message[] =
        "writes in place through a view, elements of which share memory";
    const ig_type *index = ig_op_operand(step, 1)->type;
    const ig_dim *strides = ig_ts_pick_strides(eval, step);
    bool is_left[IG_TENSOR_RANK];
    ig_module *m = eval->module;
    ig_dim reach = ig_dim_of(1), one = ig_dim_of(1);
    for (uint32_t i = 0; i < index->rank; i++) {
        is_left[i] = !ig_dim_is(index->dims[i], 1);
    }
    for (uint32_t i;
         (i = find_narrowest(m, index->rank, strides, is_left)) < index->rank;
         is_left[i] = false) {
        ig_dim more = ig_dim_sub(m, index->dims[i], one);
        ig_dim needed = ig_dim_mul(m, ig_dim_min(m, more, one), reach);
        if (ig_dim_less_equal(m, needed, strides[i]) == IG_NO) {
            return false;
        }
        ig_expr_guard_less_equal(e, needed, strides[i], message);
        reach = ig_dim_add(m, reach, ig_dim_mul(m, more, strides[i]));
    }
    return true;
}

/* One value everywhere: writing it twice is writing it once. */
bool ig_ts_is_uniform(const ig_value *value) {
    enum { OPS_MAX = 16 };
    for (uint32_t i = 0; i < OPS_MAX && value->type->rank > 0; i++) {
        ig_opcode code = value->def ? (ig_opcode)value->def->code : IG_OP_ret;
        if (code != IG_OP_expand && code != IG_OP_cast && code != IG_OP_reshape) {
            return false;
        }
        value = ig_op_operand(value->def, 0);
    }
    return value->type->rank == 0;
}
