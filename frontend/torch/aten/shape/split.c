/* A tensor in several parts along an axis: split, chunk, tensor_split, unbind.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A list has a length that is known at import.  Where it depends on an extent that is
 * not, the names that the list is unpacked into tell it, and the run checks that the
 * extent makes so many parts:
 *
 *     a, b, c, = torch.unbind(x)      guard eq(n, 3)
 *     a, b, = torch.split(x, 2)       guard le(3, n), le(n, 4)
 */
#include "frontend/torch/aten/view.h"
#include "frontend/torch/eval/stacked.h"

#include <assert.h>
#include <string.h>

typedef struct parts {
    ig_aten_view v;
    uint32_t axis, count;
    ig_dim extent;
    ig_value **values;
} parts;

enum { PARTS_MAX = 4096 };

/* Reads argument 0, which must have an axis to split. */
static bool open_whole(ig_ts_call *call, parts *out) {
    memset(out, 0, sizeof *out);
    if (!ig_aten_viewed(call, &out->v)) {
        return false;
    }
    if (out->v.rank == 0) {
        ig_expr_fail(call->e, IG_INVALID, "a tensor of rank 0 cannot be split");
        return false;
    }
    return call->e->status == IG_OK;
}

/* The same, with the axis at `axis_arg`. */
static bool open_parts(ig_ts_call *call, uint32_t axis_arg, parts *out) {
    if (!open_whole(call, out)) {
        return false;
    }
    out->axis = ig_aten_axis(call, axis_arg, out->v.rank);
    out->extent = call->e->status == IG_OK ? out->v.dims[out->axis] : ig_dim_of(0);
    return call->e->status == IG_OK;
}

/* The same, with the axis that the operator is named after. */
static bool open_fixed(ig_ts_call *call, uint32_t axis, parts *out) {
    if (!open_whole(call, out)) {
        return false;
    }
    if (axis >= out->v.rank) {
        ig_expr_fail(call->e, IG_INVALID,
                     "splits axis %u, which a tensor of rank %u does not have", axis,
                     out->v.rank);
        return false;
    }
    out->axis = axis;
    out->extent = out->v.dims[axis];
    return true;
}

static bool set_count(ig_ts_call *call, parts *p, int64_t count) {
    if (count < 0 || count > PARTS_MAX) {
        ig_expr_fail(call->e, IG_LIMIT,
                     "the split makes %lld parts, expected at most %d",
                     (long long)count, PARTS_MAX);
        return false;
    }
    p->count = (uint32_t)count;
    p->values = IG_NEW_ARRAY(call->arena, ig_value *, p->count + 1u);
    return true;
}

static ig_status unknown_count(const ig_ts_call *call, const parts *p) {
    return ig_ts_fail(call, IG_UNSUPPORTED,
                      "the number of parts depends on extent %u, %s", p->axis,
                      ig_ts_open_dim(call->module, call->arena, p->extent));
}

static ig_status give_parts(ig_ts_call *call, const parts *p) {
    assert(p->count <= PARTS_MAX && "set_count bounds the parts");
    return ig_ts_give_list(call, 0, 0, p->values, p->count);
}

/* From bounds[k] to bounds[k + 1]. */
static ig_status give_between(ig_ts_call *call, parts *p, const ig_dim *bounds) {
    assert(p->values && "set_count has made room for the parts");
    assert(p->axis < p->v.rank && "open_parts has checked the axis");
    for (uint32_t k = 0; k < p->count; k++) {
        ig_dim size = ig_dim_sub(call->module, bounds[k + 1], bounds[k]);
        p->values[k] = ig_expr_slice(call->e, p->v.x, p->axis, bounds[k], size, 1);
    }
    return give_parts(call, p);
}

/* `count` parts of `size`, of which the last may be shorter, but not empty. */
static ig_status give_parts_of(ig_ts_call *call, parts *p, ig_dim size, int64_t count) {
    ig_expr *e = call->e;
    assert(count >= 0 && "a count of names or chunks");
    ig_module *m = call->module;
    if (!set_count(call, p, count)) {
        return e->status;
    }
    ig_dim *bounds = IG_NEW_ARRAY(call->arena, ig_dim, p->count + 1u);
    for (int64_t k = 0; k < count; k++) {
        bounds[k] = ig_dim_mul(m, ig_dim_const(m, k), size);
    }
    bounds[count] = p->extent;
    if (count) {
        ig_expr_guard_less_equal(e, ig_dim_add(m, bounds[count - 1], ig_dim_of(1)),
                                 p->extent, "the extent must not make fewer parts");
    }
    ig_expr_guard_less_equal(e, p->extent, ig_dim_mul(m, ig_dim_const(m, count), size),
                             "the extent must not make more parts");
    IG_TRY(e->status);
    return give_between(call, p, bounds);
}

static ig_status give_known(ig_ts_call *call, parts *p, int64_t extent, int64_t size) {
    bool is_size = size > 0 || (size == 0 && extent == 0);
    int64_t count = extent == 0 || !is_size ? 1 : (extent - 1) / size + 1;
    if (!is_size) {
        return ig_ts_fail(call, IG_INVALID,
                          "split_size is %lld, expected a value above 0",
                          (long long)size);
    }
    if (!set_count(call, p, count)) {
        return call->e->status;
    }
    ig_dim *bounds = IG_NEW_ARRAY(call->arena, ig_dim, p->count + 1u);
    for (uint32_t k = 0; k <= p->count; k++) {
        bounds[k] = ig_dim_of(k * size < extent ? k * size : extent);
    }
    return give_between(call, p, bounds);
}

/* split.Tensor(self, split_size, dim) */
ig_status ig_ts_op_split(ig_ts_call *call) {
    parts p;
    ig_dim size = ig_aten_dim(call, 1);
    int64_t extent, known;
    if (!open_parts(call, 2, &p)) {
        return call->e->status;
    }
    if (ig_dim_constant(call->module, p.extent, &extent) &&
        ig_dim_constant(call->module, size, &known)) {
        return give_known(call, &p, extent, known);
    }
    return call->names ? give_parts_of(call, &p, size, call->names)
                       : unknown_count(call, &p);
}

/* split_with_sizes(self, split_sizes, dim): the sizes may be expressions. */
ig_status ig_ts_op_split_sizes(ig_ts_call *call) {
    parts p = { 0 };
    uint32_t count;
    const ig_dim *sizes = ig_aten_dims(call, 1, 0, &count);
    if (!ig_aten_viewed(call, &p.v) || !set_count(call, &p, count)) {
        return call->e->status;
    }
    if (!ig_aten_axis_of_many(call, 2, p.v.rank, &p.axis)) {
        return call->e->status;
    }
    ig_dim at = ig_dim_of(0);
    for (uint32_t k = 0; k < count; k++) {
        p.values[k] = ig_expr_slice(call->e, p.v.x, p.axis, at, sizes[k], 1);
        at = ig_dim_add(call->module, at, sizes[k]);
    }
    ig_expr_guard_equal(call->e, at, p.v.dims[p.axis],
                        "the sizes of a split must sum to the extent");
    IG_TRY(call->e->status);
    return give_parts(call, &p);
}

/* chunk(self, chunks, dim).  Of an unknown extent there are so many chunks as asked
 * for: the run checks that there are not fewer. */
ig_status ig_ts_op_chunk(ig_ts_call *call) {
    parts p;
    int64_t chunks = ig_aten_distance(call, 1), extent;
    if (!open_parts(call, 2, &p)) {
        return call->e->status;
    }
    if (chunks <= 0) {
        return ig_ts_fail(call, IG_INVALID, "chunks is %lld, expected 1 or more",
                          (long long)chunks);
    }
    if (!ig_dim_constant(call->module, p.extent, &extent)) {
        ig_dim size = ig_dim_ceil_div(call->module, p.extent, ig_dim_of(chunks));
        return give_parts_of(call, &p, size, call->names ? call->names : chunks);
    }
    if (extent == 0) {
        return set_count(call, &p, chunks)
                   ? give_between(call, &p,
                                  IG_NEW_ARRAY(call->arena, ig_dim, p.count + 1u))
                   : call->e->status;
    }
    return give_known(call, &p, extent, (extent + chunks - 1) / chunks);
}

/* The first extent % sections parts are one larger. */
static ig_status give_sections(ig_ts_call *call, parts *p, int64_t sections) {
    ig_module *m = call->module;
    if (sections <= 0 || !set_count(call, p, sections)) {
        return ig_ts_fail(call, IG_INVALID, "sections is %lld, expected 1 or more",
                          (long long)sections);
    }
    ig_dim *bounds = IG_NEW_ARRAY(call->arena, ig_dim, p->count + 1u);
    ig_dim min = ig_dim_floor_div(m, p->extent, ig_dim_of(sections));
    ig_dim more = ig_dim_sub(m, p->extent, ig_dim_mul(m, min, ig_dim_of(sections)));
    for (uint32_t k = 0; k <= p->count; k++) {
        bounds[k] = ig_dim_add(m, ig_dim_mul(m, min, ig_dim_of(k)),
                               ig_dim_min(m, more, ig_dim_of(k)));
    }
    return give_between(call, p, bounds);
}

static ig_dim clamp_index(ig_module *m, int64_t index, ig_dim extent) {
    return index < 0 ? ig_dim_max(m, ig_dim_add(m, extent, ig_dim_const(m, index)),
                                  ig_dim_of(0))
                     : ig_dim_min(m, ig_dim_of(index), extent);
}

static ig_status give_at_indices(ig_ts_call *call, parts *p, const int64_t *indices,
                                 uint32_t count) {
    ig_module *m = call->module;
    ig_dim start = ig_dim_of(0);
    if (!set_count(call, p, (int64_t)count + 1)) {
        return call->e->status;
    }
    for (uint32_t k = 0; k <= count; k++) {
        ig_dim end = k == count ? p->extent : clamp_index(m, indices[k], p->extent);
        ig_dim size = ig_dim_max(m, ig_dim_sub(m, end, start), ig_dim_of(0));
        p->values[k] = ig_expr_slice(call->e, p->v.x, p->axis, start, size, 1);
        start = end;
    }
    return give_parts(call, p);
}

/* A tensor that says how many sections, or at which indices: known at import. */
static ig_status split_by_tensor(ig_ts_call *call, parts *p) {
    ig_dims_value value;
    int64_t numbers[IG_COUNT_OF(value.dims)];
    ig_value *at = ig_aten_tensor(call, 1);
    IG_TRY(call->e->status);
    if (!ig_value_dims(at, &value)) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "the split positions are computed from data, expected values that are known when the model is compiled");
    }
    for (uint32_t i = 0; i < value.count; i++) {
        if (!ig_dim_constant(call->module, value.dims[i], &numbers[i])) {
            return ig_ts_fail(
                call, IG_UNSUPPORTED,
                "split position %u depends on inputs, expected a value that is known when the model is compiled",
                i);
        }
    }
    return value.rank == 0 ? give_sections(call, p, numbers[0])
                           : give_at_indices(call, p, numbers, value.count);
}

/* hsplit, vsplit and dsplit; hsplit of a vector splits axis 0. */
static bool open_named(ig_ts_call *call, parts *out) {
    int axis = call->row->variant - 1;
    const ig_ts_tensor *x = ig_ts_peek(call, 0);
    bool is_vector = x && x->type->rank == 1;
    assert(axis >= 0 && "the row's variant is an axis + 1");
    return open_fixed(call, axis == 1 && is_vector ? 0 : (uint32_t)axis, out);
}

/* tensor_split(self, sections or indices, dim); hsplit and the like have no dim:
 * variant: the axis + 1. */
ig_status ig_ts_op_tensor_split(ig_ts_call *call) {
    parts p;
    uint32_t count = 0;
    if (!(call->row->variant ? open_named(call, &p) : open_parts(call, 2, &p))) {
        return call->e->status;
    }
    if (call->args[1].kind == IG_TS_TENSOR) {
        return split_by_tensor(call, &p);
    }
    if (call->args[1].kind == IG_TS_INT) {
        return give_sections(call, &p, ig_aten_distance(call, 1));
    }
    const int64_t *indices = ig_aten_ints(call, 1, 0, &count);
    IG_TRY(call->e->status);
    return give_at_indices(call, &p, indices, count);
}

/* As many parts as the extent says: a list of that length. */
static ig_status give_stacked(ig_ts_call *call, const parts *p) {
    assert(p->axis < p->v.rank && "open_parts has checked the axis");
    const ig_ts_tensor *self = ig_ts_peek(call, 0);
    if (self->quant) {
        return unknown_count(call, p);
    }
    ig_value *stack = ig_expr_move_axis(call->e, p->v.x, p->axis, 0);
    IG_TRY(call->e->status);
    ig_ts_tensor *view = ig_ts_view_create(call->eval, self, stack);
    ig_ts_list *list = ig_ts_stacked_list(call->eval, view);
    return ig_ts_give_value(call, 0, ig_ts_of_list(list));
}

/* unbind(self, dim) */
ig_status ig_ts_op_unbind(ig_ts_call *call) {
    parts p;
    int64_t count;
    if (!open_parts(call, 1, &p)) {
        return call->e->status;
    }
    if (!ig_dim_constant(call->module, p.extent, &count)) {
        count = call->names;
        if (!count) {
            return give_stacked(call, &p);
        }
        ig_expr_guard_equal(call->e, p.extent, ig_dim_of(count),
                            "the extent must be the number of names");
        IG_TRY(call->e->status);
    }
    if (!set_count(call, &p, count)) {
        return call->e->status;
    }
    for (uint32_t k = 0; k < p.count; k++) {
        p.values[k] = ig_expr_select(call->e, p.v.x, p.axis, ig_dim_of(k));
    }
    return give_parts(call, &p);
}
