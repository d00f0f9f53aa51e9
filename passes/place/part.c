/* Parts of one buffer that have nothing in common.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part begins at an offset and goes over its dims by strides.  Two parts whose axis k
 * has the same stride S, and whose outer axes go by multiples of S, repeat with period
 * S: their part of one period is an interval each, begin … begin + span.  When the
 * one ends before the other begins, and that one ends before the first begins again,
 * they never meet.  Without a period (all axes inside) ending before the other is
 * enough.
 */
#include "passes/place/part.h"

#include <assert.h>

ig_value *ig_part_root(ig_value *value) {
    const ig_op *view = ig_def(value, IG_OP_view);
    assert((!view || !ig_def(view->operands[0].value, IG_OP_view)) &&
           "a view is of a buffer, not of a view");
    return view ? view->operands[0].value : value;
}

uint32_t ig_part_in_count(const ig_op *compute) {
    uint32_t outs = (uint32_t)ig_attr_int(compute, IG_compute_outs, 0);
    assert(outs <= compute->operand_count && "destinations are operands");
    return compute->operand_count - outs;
}

/* Elements from the first to the last of the axes from `axis` on.  Extents count as if
 * they were not 0: a part of an extent of 0 has no element that another could share, so
 * whatever is proved of its span holds. */
static ig_dim span_of(ig_module *module, const ig_part *p, uint32_t axis) {
    assert(axis <= p->type->rank && "axes of the part");
    ig_dim span = ig_dim_of(1);
    for (uint32_t d = axis; d < p->type->rank; d++) {
        ig_dim last = ig_dim_sub(module, p->type->dims[d], ig_dim_of(1));
        span = ig_dim_add(module, span, ig_dim_mul(module, last, p->strides[d]));
    }
    return span;
}

ig_part ig_part_of(ig_module *module, const ig_value *value) {
    const ig_op *view = ig_def(value, IG_OP_view);
    assert(value->type->rank <= IG_TENSOR_RANK && "strides have room for each axis");
    assert((!view || view->attrs[IG_view_strides].count == value->type->rank) &&
           "a view has a stride per axis");
    ig_part part = { .root = value, .type = value->type };
    ig_dim step = ig_dim_of(1);
    for (uint32_t d = value->type->rank; d-- > 0;) {
        part.strides[d] = view ? view->attrs[IG_view_strides].as.dims[d] : step;
        step = ig_dim_mul(module, step, value->type->dims[d]);
    }
    if (view) {
        part.root = view->operands[0].value;
        part.offset = view->attrs[IG_view_offset].as.dim;
    }
    part.end = ig_dim_add(module, part.offset, span_of(module, &part, 0));
    return part;
}

/* ---- apart ---- */

/* Is `stride` a multiple of `period`: of a number, or as that of the axis outside
 * it? */
static bool is_multiple(ig_module *module, const ig_part *p, uint32_t axis,
                        ig_dim period) {
    int64_t stride, of;
    assert(axis + 1 < p->type->rank && "there is an axis inside of it");
    if (ig_dim_constant(module, p->strides[axis], &stride) &&
        ig_dim_constant(module, period, &of)) {
        return of > 0 && stride % of == 0;
    }
    ig_dim inner = ig_dim_mul(module, p->type->dims[axis + 1], p->strides[axis + 1]);
    return ig_dim_equal(module, p->strides[axis], inner) == IG_YES;
}

static bool has_period(ig_module *module, const ig_part *p, uint32_t axis) {
    assert(axis < p->type->rank && "an axis of the part");
    for (uint32_t d = 0; d < axis; d++) {
        if (!is_multiple(module, p, d, p->strides[axis])) {
            return false;
        }
    }
    return true;
}

static bool ends_before(ig_module *module, ig_dim begin, ig_dim span, ig_dim next) {
    return ig_dim_less_equal(module, ig_dim_add(module, begin, span), next) == IG_YES;
}

/* a's interval before b's, and b's before a's next. */
static bool do_alternate(ig_module *module, const ig_part *a, const ig_part *b,
                         uint32_t axis) {
    ig_dim again = ig_dim_add(module, a->offset, a->strides[axis]);
    return ends_before(module, a->offset, span_of(module, a, axis + 1), b->offset) &&
           ends_before(module, b->offset, span_of(module, b, axis + 1), again);
}

static bool is_apart_at(ig_module *module, const ig_part *a, const ig_part *b,
                        uint32_t axis) {
    assert(axis < a->type->rank && axis < b->type->rank && "an axis of both parts");
    return ig_dim_equal(module, a->strides[axis], b->strides[axis]) == IG_YES &&
           has_period(module, a, axis) && has_period(module, b, axis) &&
           (do_alternate(module, a, b, axis) || do_alternate(module, b, a, axis));
}

static uint32_t axis_count(const ig_part *p) {
    return p->type ? p->type->rank : 0;
}

bool ig_parts_lie_apart(ig_module *module, const ig_part *a, const ig_part *b) {
    if (a->root != b->root || ig_dim_less_equal(module, a->end, b->offset) == IG_YES ||
        ig_dim_less_equal(module, b->end, a->offset) == IG_YES) {
        return true;
    }
    uint32_t axes_of_a = axis_count(a), axes_of_b = axis_count(b);
    uint32_t axes = axes_of_a < axes_of_b ? axes_of_a : axes_of_b;
    for (uint32_t axis = 0; axis < axes; axis++) {
        if (is_apart_at(module, a, b, axis)) {
            return true;
        }
    }
    return false;
}

void ig_part_list_add(ig_arena *arena, ig_part_list *parts, const ig_part *part) {
    ig_part *last = parts->count ? &parts->items[parts->count - 1] : NULL;
    if (last && last->root == part->root && ig_dim_same(last->end, part->offset)) {
        last->type = NULL;
        last->end = part->end;
        return;
    }
    IG_PUSH(arena, parts, *part);
}

bool ig_part_lies_apart(ig_module *module, const ig_part_list *parts,
                        const ig_value *to) {
    if (parts->count > IG_PARTS_COMPARED) {
        return false;
    }
    ig_part part = ig_part_of(module, to);
    for (size_t i = 0; i < parts->count; i++) {
        if (!ig_parts_lie_apart(module, &parts->items[i], &part)) {
            return false;
        }
    }
    return true;
}
