/* Gathers and scatters along one axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"
#include "frontend/torch/aten/quant.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

static ig_status give_as_rank(ig_ts_call *call, ig_value *value, uint32_t rank) {
    return ig_aten_give(call,
                        rank == 0 ? ig_expr_reshape(call->e, value, 0, NULL) : value);
}

static ig_status give_like_self(ig_ts_call *call, ig_value *value) {
    const ig_value *self = ig_aten_tensor(call, 0);
    return self ? give_as_rank(call, value, self->type->rank) : call->e->status;
}

/* gather(self, dim, index) */
ig_status ig_ts_op_gather(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *index = ig_aten_cast(call, ig_aten_tensor(call, 2), IG_DT_i64);
    if (!x || !index) {
        return call->e->status;
    }
    uint32_t rank = index->type->rank, axis = ig_aten_axis(call, 1, x->type->rank);
    if (ig_dim_is(ig_type_count(call->module, index->type), 0)) { /* of any rank */
        return ig_aten_give(call, ig_expr_fill(call->e, (ig_dtype)x->type->dtype, rank,
                                               index->type->dims, 0));
    }
    x = ig_build_gather_elements(call->e, ig_aten_vector(call->e, x),
                                 ig_aten_vector(call->e, index),
                                 (ig_gather_elements_attrs){ .axis = axis });
    return give_as_rank(call, x, rank);
}

/* take(self, index): of the flattened tensor */
ig_status ig_ts_op_take(ig_ts_call *call) {
    ig_value *x = ig_expr_flatten(call->e, ig_aten_tensor(call, 0));
    ig_value *index = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_i64);
    return ig_aten_give(call, ig_expr_gather(call->e, x, index, 0, IG_NEGATIVE_wrap));
}

/* take_along_dim(self, indices, dim): the other axes broadcast */
ig_status ig_ts_op_take_along(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0), *index = ig_aten_tensor(call, 1);
    if (!x || !index) {
        return e->status;
    }
    if (ig_ts_is_none(call, 2)) {
        x = ig_expr_flatten(e, x);
        index = ig_expr_flatten(e, index);
        return ig_aten_give(call, ig_expr_gather(e, x, index, 0, IG_NEGATIVE_wrap));
    }
    uint32_t axis, rank = 0;
    if (!ig_aten_axis_of_many(call, 2, x->type->rank, &axis)) {
        return e->status;
    }
    if (index->type->rank != x->type->rank) {
        return ig_ts_fail(call, IG_INVALID,
                          "indices of rank %u for a tensor of rank %u",
                          index->type->rank, x->type->rank);
    }
    ig_dim dims[IG_TENSOR_RANK], own[IG_TENSOR_RANK], theirs[IG_TENSOR_RANK];
    memcpy(own, x->type->dims, x->type->rank * sizeof *own);
    own[axis] = ig_dim_of(1);
    memcpy(theirs, index->type->dims, x->type->rank * sizeof *theirs);
    theirs[axis] = ig_dim_of(1);
    ig_module *module = call->module;
    if (!ig_expr_broadcast_dims(
            e, ig_type_with_dims(module, x->type, x->type->rank, own), dims, &rank) ||
        !ig_expr_broadcast_dims(
            e, ig_type_with_dims(module, x->type, x->type->rank, theirs), dims,
            &rank)) {
        return e->status;
    }
    dims[axis] = ig_expr_extent(e, x, axis);
    ig_value *wide = ig_expr_expand(e, x, rank, dims);
    dims[axis] = ig_expr_extent(e, index, axis);
    index = ig_expr_expand(e, ig_aten_cast(call, index, IG_DT_i64), rank, dims);
    return ig_aten_give(
        call, ig_build_gather_elements(e, wide, index,
                                       (ig_gather_elements_attrs){ .axis = axis }));
}

/* index_select(self, dim, index) */
ig_status ig_ts_op_index_select(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_raw(call, ig_ts_op_index_select);
    }
    ig_value *x = ig_aten_tensor(call, 0), *index = ig_aten_tensor(call, 2);
    if (!x || !index) {
        return call->e->status;
    }
    uint32_t rank = x->type->rank, axis = ig_aten_axis(call, 1, rank);
    index = ig_aten_vector(call->e, index);
    x = ig_expr_gather(call->e, ig_aten_vector(call->e, x), index, axis,
                       IG_NEGATIVE_error);
    return give_as_rank(call, x, rank);
}

/* ---- scatters ---- */

typedef struct scattering {
    ig_value *x, *index, *updates;
    uint32_t axis;
    bool fresh;
} scattering;

static ig_value *scatter_values(ig_expr *e, const scattering *s, ig_scatter reduce) {
    assert((!s->x || s->x->type->rank > 0) && "scalars are scattered as vectors");
    ig_scatter_elements_attrs attrs = { .axis = s->axis,
                                        .reduce = (int)reduce,
                                        .fresh = s->fresh };
    return ig_build_scatter_elements(e, s->x, s->index, s->updates, attrs);
}

/* self, dim, index as arguments 0 … 2; false when something is missing. */
static bool open_scatter(ig_ts_call *call, scattering *s) {
    memset(s, 0, sizeof *s);
    s->x = ig_aten_tensor(call, 0);
    s->index = ig_aten_cast(call, ig_aten_tensor(call, 2), IG_DT_i64);
    if (!s->x || !s->index) {
        return false;
    }
    s->axis = ig_aten_axis(call, 1, s->x->type->rank);
    s->x = ig_aten_vector(call->e, s->x);
    s->index = ig_aten_vector(call->e, s->index);
    if (!s->x || !s->index) {
        return false;
    }
    if (s->index->type->rank != s->x->type->rank) {
        /* An empty index of any rank changes nothing. */
        bool is_empty = ig_dim_is(ig_type_count(call->module, s->index->type), 0);
        if (!is_empty) {
            ig_expr_fail(call->e, IG_INVALID,
                         "index of rank %u for a tensor of rank %u",
                         s->index->type->rank, s->x->type->rank);
        }
        return false;
    }
    return call->e->status == IG_OK;
}

/* Updates cut to the index's extents. */
static bool set_updates(ig_ts_call *call, scattering *s, ig_value *updates) {
    assert(s->x && s->index && "open_scatter has succeeded");
    updates = ig_aten_vector(call->e, updates);
    for (uint32_t i = 0; updates && i < s->index->type->rank; i++) {
        updates = ig_expr_slice(call->e, updates, i, ig_dim_of(0),
                                ig_expr_extent(call->e, s->index, i), 1);
    }
    s->updates = ig_aten_cast(call, updates, (ig_dtype)s->x->type->dtype);
    return s->updates != NULL;
}

/* A number, or source tensor, in every place: scatter.value and .src. */
static bool read_updates(ig_ts_call *call, scattering *s, uint32_t index) {
    assert(index < call->arg_count && "the schema has no such argument");
    if (call->args[index].kind == IG_TS_TENSOR) {
        return set_updates(call, s, ig_aten_tensor(call, index));
    }
    ig_value *number = ig_aten_operand(call, index, (ig_dtype)s->x->type->dtype);
    s->updates = ig_expr_expand(call->e, number, s->index->type->rank,
                                s->index->type->dims);
    return s->updates != NULL;
}

static ig_status give_scatter(ig_ts_call *call, const scattering *s, ig_scatter kind) {
    return give_like_self(call, scatter_values(call->e, s, kind));
}

static ig_status keep_unchanged(ig_ts_call *call) {
    return call->e->status != IG_OK ? call->e->status
                                    : ig_aten_give(call, ig_aten_tensor(call, 0));
}

/* scatter(self, dim, index, src or value); variant: an ig_scatter */
ig_status ig_ts_op_scatter(ig_ts_call *call) {
    scattering s;
    if (!open_scatter(call, &s) || !read_updates(call, &s, 3)) {
        return keep_unchanged(call);
    }
    return give_scatter(call, &s, (ig_scatter)call->row->variant);
}

/* scatter(self, dim, index, src or value, *, reduce): "add" or "multiply" */
ig_status ig_ts_op_scatter_named(ig_ts_call *call) {
    scattering s;
    ig_str reduce = ig_aten_str(call, 4);
    bool adds = ig_str_is(reduce, "add");
    if (!adds && !ig_str_is(reduce, "multiply")) {
        return ig_ts_fail(call, IG_INVALID, "reduce is '%.*s'", IG_STR_ARG(reduce));
    }
    if (!open_scatter(call, &s) || !read_updates(call, &s, 3)) {
        return keep_unchanged(call);
    }
    return give_scatter(call, &s, adds ? IG_SCATTER_add : IG_SCATTER_mul);
}

static bool scatter_kind(ig_expr *e, ig_str name, ig_scatter *out, bool *is_mean) {
    static const struct {
        const char *name;
        ig_scatter kind;
    } kinds[] = { { "sum", IG_SCATTER_add },
                  { "prod", IG_SCATTER_mul },
                  { "amax", IG_SCATTER_max },
                  { "amin", IG_SCATTER_min },
                  { "mean", IG_SCATTER_add } };
    *is_mean = ig_str_is(name, "mean");
    for (size_t i = 0; i < IG_COUNT_OF(kinds); i++) {
        if (ig_str_is(name, kinds[i].name)) {
            *out = kinds[i].kind;
            return true;
        }
    }
    ig_expr_fail(e, IG_INVALID, "reduce is '%.*s'", IG_STR_ARG(name));
    return false;
}

/* Sums divided by how many there were. */
static ig_value *scatter_mean(ig_expr *e, scattering s) {
    ig_value *sum = scatter_values(e, &s, IG_SCATTER_add);
    scattering count = s;
    ig_dtype dtype = (ig_dtype)s.x->type->dtype;
    count.x = ig_expr_fill(e, dtype, s.x->type->rank, s.x->type->dims, 1);
    count.updates = ig_expr_fill(e, dtype, s.index->type->rank, s.index->type->dims, 1);
    ig_value *number = scatter_values(e, &count, IG_SCATTER_add);
    if (ig_dtype_is_float(dtype)) {
        return ig_build_div(e, sum, number);
    }
    ig_value *rest = ig_expr_map2(e, IG_OP_mod, sum, number);
    return ig_build_div(e, ig_build_sub(e, sum, rest), number);
}

/* scatter_reduce(self, dim, index, src, reduce, include_self) */
ig_status ig_ts_op_scatter_reduce(ig_ts_call *call) {
    scattering s;
    ig_scatter kind;
    bool is_mean;
    if (!scatter_kind(call->e, ig_aten_str(call, 4), &kind, &is_mean) ||
        !open_scatter(call, &s) || !read_updates(call, &s, 3)) {
        return keep_unchanged(call);
    }
    s.fresh = !ig_aten_bool(call, 5);
    if (is_mean) {
        return give_like_self(call, scatter_mean(call->e, s));
    }
    return give_scatter(call, &s, kind);
}

/* ---- whole slices at the places of an index vector ---- */

/* self, dim, index, source: the index spread over source's shape. */
static bool open_slices(ig_ts_call *call, scattering *s, ig_value *source) {
    memset(s, 0, sizeof *s);
    s->x = ig_aten_tensor(call, 0);
    s->index = ig_aten_cast(call, ig_aten_tensor(call, 2), IG_DT_i64);
    if (!s->x || !s->index || !source) {
        return false;
    }
    s->axis = ig_aten_axis(call, 1, s->x->type->rank);
    s->x = ig_aten_vector(call->e, s->x);
    s->index = ig_expr_flatten(call->e, s->index);
    if (!s->x || !s->index) {
        return false;
    }
    source = ig_aten_cast(call, source, (ig_dtype)s->x->type->dtype);
    ig_dim dims[IG_TENSOR_RANK], along[IG_TENSOR_RANK];
    uint32_t rank = s->x->type->rank;
    for (uint32_t i = 0; s->index && i < rank; i++) {
        dims[i] = i == s->axis ? ig_expr_extent(call->e, s->index, 0)
                               : ig_expr_extent(call->e, s->x, i);
        along[i] = i == s->axis ? ig_expr_extent(call->e, s->index, 0) : ig_dim_of(1);
    }
    if (source && source->type->rank == 0) {
        source = ig_expr_expand(call->e, source, rank, dims);
    }
    s->updates = source;
    s->index = ig_expr_expand(call->e, ig_expr_reshape(call->e, s->index, rank, along),
                              rank, dims);
    return s->index && s->updates;
}

/* index_copy, index_add (alpha after source): variant, an ig_scatter */
ig_status ig_ts_op_index_add(ig_ts_call *call) {
    scattering s;
    ig_value *source = ig_aten_tensor(call, 3);
    if (call->row->variant == IG_SCATTER_add && source) {
        const ig_ts_value *alpha = &call->args[4];
        bool is_one = alpha->kind == IG_TS_INT && ig_ts_is_known(alpha) &&
                      alpha->as.i == 1;
        if (!is_one) {
            ig_value *factor = ig_aten_operand(call, 4, (ig_dtype)source->type->dtype);
            source = ig_build_mul(call->e, source, factor);
        }
    }
    return open_slices(call, &s, source)
               ? give_scatter(call, &s, (ig_scatter)call->row->variant)
               : call->e->status;
}

/* index_fill(self, dim, index, value) */
ig_status ig_ts_op_index_fill(ig_ts_call *call) {
    scattering s;
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *value = x ? ig_aten_operand(call, 3, (ig_dtype)x->type->dtype) : NULL;
    return open_slices(call, &s, value) ? give_scatter(call, &s, IG_SCATTER_none)
                                        : call->e->status;
}

/* index_reduce(self, dim, index, source, reduce, include_self) */
ig_status ig_ts_op_index_reduce(ig_ts_call *call) {
    scattering s;
    ig_scatter kind;
    bool is_mean;
    if (!scatter_kind(call->e, ig_aten_str(call, 4), &kind, &is_mean) ||
        !open_slices(call, &s, ig_aten_tensor(call, 3))) {
        return call->e->status;
    }
    s.fresh = !ig_aten_bool(call, 5);
    if (is_mean) {
        return give_like_self(call, scatter_mean(call->e, s));
    }
    return give_scatter(call, &s, kind);
}
