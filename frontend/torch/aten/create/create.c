/* Tensors from numbers: factories.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Layout, device and pinning are passed over: tensors live where the program runs. */
#include "frontend/torch/aten/aten.h"
#include "frontend/torch/eval/poison.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static ig_value *fill_shape(ig_expr *e, ig_value *scalar, uint32_t rank,
                            const ig_dim *dims) {
    ig_value *value = NULL;
    if (scalar && e->status == IG_OK) {
        value = ig_expr_expand(e, scalar, rank, dims);
    }
    return value;
}

/* ---- a shape and a number ---- */

/* zeros, ones, empty: (size, dtype …); variant: the number.  Empty storage is 0. */
ig_status ig_ts_op_zeros(ig_ts_call *call) {
    uint32_t rank;
    const ig_dim *dims = ig_aten_shape(call, 0, &rank);
    ig_dtype dtype = ig_aten_dtype(call, 1, IG_DT_f32);
    ig_value *number = ig_expr_integer(call->e, dtype, call->row->variant);
    return ig_aten_give(call, fill_shape(call->e, number, rank, dims));
}

/* zeros_like …: (self, dtype …) */
ig_status ig_ts_op_zeros_like(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x) {
        return call->e->status;
    }
    ig_dtype dtype = ig_aten_dtype(call, 1, (ig_dtype)x->type->dtype);
    ig_value *number = ig_expr_integer(call->e, dtype, call->row->variant);
    return ig_aten_give(call,
                        fill_shape(call->e, number, x->type->rank, x->type->dims));
}

/* new_zeros …: (self, size, dtype …) */
ig_status ig_ts_op_new_zeros(ig_ts_call *call) {
    uint32_t rank;
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_dim *dims = ig_aten_shape(call, 1, &rank);
    if (!x) {
        return call->e->status;
    }
    ig_dtype dtype = ig_aten_dtype(call, 2, (ig_dtype)x->type->dtype);
    ig_value *number = ig_expr_integer(call->e, dtype, call->row->variant);
    return ig_aten_give(call, fill_shape(call->e, number, rank, dims));
}

/* The dtype of a number: what full and scalar_tensor take without one. */
static ig_dtype dtype_of_number(const ig_ts_value *number) {
    switch ((int)number->kind) {
    case IG_TS_BOOL:
        return IG_DT_bool;
    case IG_TS_INT:
        return IG_DT_i64;
    case IG_TS_TENSOR:
        return (ig_dtype)number->as.tensor->type->dtype;
    default:
        return IG_DT_f32;
    }
}

/* full(size, fill_value, dtype …).  Before version 5 the dtype was f32. */
ig_status ig_ts_op_full(ig_ts_call *call) {
    uint32_t rank;
    const ig_dim *dims = ig_aten_shape(call, 0, &rank);
    ig_dtype dtype = dtype_of_number(&call->args[1]);
    dtype = ig_aten_dtype(call, 2, call->version < 5 ? IG_DT_f32 : dtype);
    return ig_aten_give(
        call, fill_shape(call->e, ig_aten_operand(call, 1, dtype), rank, dims));
}

/* full_like(self, fill_value, dtype …) */
ig_status ig_ts_op_full_like(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x) {
        return call->e->status;
    }
    ig_dtype dtype = ig_aten_dtype(call, 2, (ig_dtype)x->type->dtype);
    return ig_aten_give(call, fill_shape(call->e, ig_aten_operand(call, 1, dtype),
                                         x->type->rank, x->type->dims));
}

/* new_full(self, size, fill_value, dtype …) */
ig_status ig_ts_op_new_full(ig_ts_call *call) {
    uint32_t rank;
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_dim *dims = ig_aten_shape(call, 1, &rank);
    if (!x) {
        return call->e->status;
    }
    ig_dtype dtype = ig_aten_dtype(call, 3, (ig_dtype)x->type->dtype);
    return ig_aten_give(
        call, fill_shape(call->e, ig_aten_operand(call, 2, dtype), rank, dims));
}

/* fill(self, value), zero(self) (variant 1) */
ig_status ig_ts_op_fill(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x) {
        return call->e->status;
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *number = call->row->variant ? ig_expr_integer(call->e, dtype, 0)
                                          : ig_aten_operand(call, 1, dtype);
    return ig_aten_give(call,
                        fill_shape(call->e, number, x->type->rank, x->type->dims));
}

/* copy(self, src): src in self's dtype and shape */
ig_status ig_ts_op_copy(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *source = ig_aten_tensor(call, 1);
    if (!x || !source) {
        return call->e->status;
    }
    source = ig_aten_cast(call, source, (ig_dtype)x->type->dtype);
    return ig_aten_give(call,
                        ig_expr_expand(call->e, source, x->type->rank, x->type->dims));
}

/* ---- rows of numbers ---- */

static bool is_integer_kind(const ig_ts_value *value) {
    return value->kind == IG_TS_INT || value->kind == IG_TS_BOOL ||
           value->kind == IG_TS_NONE;
}

/* arange(end), (start, end), (start, end, step); variant: how many come before dtype */
ig_status ig_ts_op_arange(ig_ts_call *call) {
    uint32_t count = (uint32_t)call->row->variant;
    bool is_whole = true;
    for (uint32_t i = 0; i < count; i++) {
        is_whole = is_whole && is_integer_kind(&call->args[i]);
    }
    ig_dtype dtype = ig_aten_dtype(call, count, is_whole ? IG_DT_i64 : IG_DT_f32);
    /* The number of elements follows from the numbers as they are given. */
    ig_dtype exact = is_whole ? IG_DT_i64 : IG_DT_f64;
    ig_value *zero = ig_expr_integer(call->e, exact, 0);
    ig_value *one = ig_expr_integer(call->e, exact, 1);
    ig_value *range[] = { count > 1 ? ig_aten_operand(call, 0, exact) : zero,
                          ig_aten_operand(call, count > 1, exact),
                          count > 2 ? ig_aten_operand(call, 2, exact) : one };
    ig_value *value = ig_expr_make(call->e, IG_OP_range, range, 3, NULL);
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}

/* start + i (end - start) / (steps - 1), from the nearer end. */
static ig_value *space_evenly(ig_ts_call *call, ig_dim steps, ig_dtype dtype) {
    ig_value *start = ig_aten_operand(call, 0, dtype);
    ig_value *end = ig_aten_operand(call, 1, dtype);
    ig_module *module = call->module;
    ig_dim last = ig_dim_max(module, ig_dim_sub(module, steps, ig_dim_of(1)),
                             ig_dim_of(1));
    ig_value *step = ig_build_div(call->e, ig_build_sub(call->e, end, start),
                                  ig_expr_dim(call->e, last, dtype));
    ig_value *index = ig_expr_iota(call->e, dtype, steps);
    ig_value *rest = ig_build_sub(call->e, ig_expr_dim(call->e, last, dtype), index);
    ig_value *up = ig_build_add(call->e, start, ig_build_mul(call->e, step, index));
    ig_value *down = ig_build_sub(call->e, end, ig_build_mul(call->e, step, rest));
    ig_value *half = ig_expr_dim(call->e, ig_dim_floor_div(module, steps, ig_dim_of(2)),
                                 dtype);
    return ig_build_where(call->e, ig_build_lt(call->e, index, half), up, down);
}

static ig_dim steps_of(ig_ts_call *call, uint32_t index) {
    return ig_ts_is_none(call, index) ? ig_dim_of(100) : ig_aten_dim(call, index);
}

/* linspace(start, end, steps, dtype …) */
ig_status ig_ts_op_linspace(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_dtype(call, 3, IG_DT_f32);
    ig_dtype wide = dtype == IG_DT_f64 || !ig_dtype_is_float(dtype) ? IG_DT_f64
                                                                    : IG_DT_f32;
    ig_value *value = space_evenly(call, steps_of(call, 2), wide);
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}

/* logspace(start, end, steps, base, dtype …) */
ig_status ig_ts_op_logspace(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_dtype(call, 4, IG_DT_f32);
    ig_value *power = space_evenly(call, steps_of(call, 2), IG_DT_f64);
    ig_value *base = ig_expr_number(call->e, IG_DT_f64, ig_aten_float(call, 3));
    ig_value *value = ig_build_pow(call->e, base, power);
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}

/* eye(n, dtype …), eye(n, m, dtype …); variant: how many come before dtype */
ig_status ig_ts_op_eye(ig_ts_call *call) {
    ig_dim rows = ig_aten_dim(call, 0);
    ig_dim columns = call->row->variant == 2 ? ig_aten_dim(call, 1) : rows;
    ig_dtype dtype = ig_aten_dtype(call, (uint32_t)call->row->variant, IG_DT_f32);
    ig_value *value = ig_build_eq(call->e, ig_expr_axis_iota(call->e, 2, 0, rows),
                                  ig_expr_axis_iota(call->e, 2, 1, columns));
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}

/* ---- triangles ---- */

/* column - row >= k (upper) or <= k of the last two axes of `rank`; as column and
 * row + k where k is near and known: causal masks are found by that form. */
static ig_value *triangle_of(ig_expr *e, uint32_t rank, ig_dim rows, ig_dim columns,
                             ig_dim k, bool is_upper) {
    enum { FAR_BITS = 40 };
    assert(rank >= 2 && rank <= IG_TENSOR_RANK && "a triangle has rows and columns");
    ig_value *row = ig_expr_axis_iota(e, rank, rank - 2, rows);
    ig_value *column = ig_expr_axis_iota(e, rank, rank - 1, columns);
    ig_value *side = ig_expr_dim(e, k, IG_DT_i64);
    int64_t known, far = (int64_t)1 << FAR_BITS;
    if (ig_dim_constant(e->module, k, &known) && known < far && known > -far) {
        side = ig_build_add(e, row, side);
    } else {
        column = ig_build_sub(e, column, row);
    }
    return ig_expr_map2(e, is_upper ? IG_OP_ge : IG_OP_le, column, side);
}

/* variant 1: triu, 0: tril */
ig_status ig_ts_op_triangle(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_dim k = ig_aten_dim(call, 1);
    IG_TRY(call->e->status);
    const ig_type *type = x->type;
    if (type->rank < 2) {
        return ig_ts_fail(call, IG_INVALID, "a triangle of a tensor of rank %u",
                          type->rank);
    }
    const ig_dim *last = type->dims + type->rank - 2;
    ig_value *mask = triangle_of(call->e, type->rank, last[0], last[1], k,
                                 call->row->variant == 1);
    ig_value *zero = ig_expr_integer(call->e, (ig_dtype)type->dtype, 0);
    return ig_aten_give(call, ig_build_where(call->e, mask, x, zero));
}

/* tril_indices, triu_indices(row, col, offset, dtype …): known numbers */
ig_status ig_ts_op_triangle_indices(ig_ts_call *call) {
    enum { MAX = 1 << 20 };
    int64_t rows = ig_aten_int(call, 0), columns = ig_aten_int(call, 1);
    int64_t offset = ig_aten_distance(call, 2), count = 0;
    ig_dtype dtype = ig_aten_dtype(call, 3, IG_DT_i64);
    IG_TRY(call->e->status);
    if (rows < 0 || columns < 0 || (rows && columns > MAX / rows)) {
        return ig_ts_fail(call, IG_LIMIT, "indices of a %lld x %lld triangle",
                          (long long)rows, (long long)columns);
    }
    rows = columns ? rows : 0; /* none of them holds anything */
    int64_t *pairs = IG_NEW_ARRAY(call->arena, int64_t,
                                  (size_t)(2 * rows * columns + 1));
    for (int64_t pass = 0, all = 0; pass < 2; pass++) {
        all = count;
        count = 0;
        for (int64_t r = 0; r < rows; r++) {
            for (int64_t c = 0; c < columns; c++) {
                bool is_in = call->row->variant ? c - r >= offset : c - r <= offset;
                if (is_in && pass) {
                    pairs[count] = r;
                    pairs[all + count] = c;
                }
                count += is_in;
            }
        }
    }
    ig_value *value = ig_expr_constant(call->e, "constant", IG_DT_i64, 2,
                                       (int64_t[]){ 2, count }, pairs);
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}

/* ---- tensor(data): numbers and nested lists of them ---- */

typedef struct literal {
    int64_t dims[IG_TENSOR_RANK];
    uint32_t rank;
    const ig_ts_value **leaves;
    size_t count, capacity;
    ig_ts_kind kind; /* the widest of the leaves */
} literal;

static ig_status add_leaf(ig_ts_call *call, literal *l, const ig_ts_value *value) {
    assert(l->count <= l->capacity && "leaves are counted once");
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 16;
        const ig_ts_value **leaves = IG_NEW_ARRAY(call->arena, const ig_ts_value *,
                                                  l->capacity);
        memcpy(leaves, l->leaves ? l->leaves : leaves, l->count * sizeof *leaves);
        l->leaves = leaves;
    }
    l->leaves[l->count++] = value;
    if (value->kind == IG_TS_TENSOR) {
        ig_dtype dtype = (ig_dtype)value->as.tensor->type->dtype;
        l->kind = ig_dtype_is_float(dtype) ? IG_TS_FLOAT
                  : l->kind > IG_TS_INT    ? l->kind
                                           : IG_TS_INT;
    } else if (value->kind > l->kind) {
        l->kind = (ig_ts_kind)value->kind;
    }
    return IG_OK;
}

/* Lists of equal length at each depth; `depth` is bounded by the rank. */
static ig_status read_literal(ig_ts_call *call, literal *l, const ig_ts_value *value,
                              uint32_t depth) {
    assert(depth <= l->rank && "the depth is bounded by the rank");
    bool is_list = value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE;
    if (!is_list) {
        if (!ig_ts_is_number(value) && value->kind != IG_TS_TENSOR) {
            return ig_ts_fail(call, IG_INVALID, "a tensor made of %s",
                              ig_ts_kind_name(value));
        }
        return depth == l->rank
                   ? add_leaf(call, l, value)
                   : ig_ts_fail(call, IG_INVALID, "lists of different depths");
    }
    IG_TRY(ig_ts_open(call->eval, value));
    const ig_ts_list *list = value->as.list;
    if (depth >= l->rank || (int64_t)list->count != l->dims[depth]) {
        return ig_ts_fail(call, IG_INVALID, "lists of different lengths");
    }
    for (size_t i = 0; i < list->count; i++) {
        IG_TRY(read_literal(call, l, &list->items[i], depth + 1));
    }
    return IG_OK;
}

static ig_status open_literal(ig_ts_call *call, literal *l, const ig_ts_value *value) {
    l->kind = IG_TS_BOOL;
    while (value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE) {
        if (l->rank == IG_TENSOR_RANK) {
            return ig_ts_fail(call, IG_LIMIT, "lists nested too deeply");
        }
        IG_TRY(ig_ts_open(call->eval, value));
        l->dims[l->rank++] = (int64_t)value->as.list->count;
        if (value->as.list->count == 0) {
            return IG_OK;
        }
        value = &value->as.list->items[0];
    }
    return IG_OK;
}

/* One leaf, which need not be known, of rank 0. */
static ig_value *leaf_value(ig_ts_call *call, const ig_ts_value *leaf, ig_dtype dtype) {
    ig_value *value = NULL;
    if (leaf->kind == IG_TS_TENSOR) {
        const ig_ts_tensor *tensor = leaf->as.tensor;
        if (tensor->quant || tensor->dtype->is_complex) {
            return ig_expr_fail(call->e, IG_UNSUPPORTED, "a literal of %s tensors",
                                tensor->dtype->name);
        }
        value = ig_aten_cast(call, ig_ts_read(call, leaf), dtype);
        return ig_expr_reshape(call->e, value, 0, NULL);
    }
    if (call->e->status == IG_OK) {
        call->e->status = ig_ts_number_value(call, leaf, dtype, &value);
    }
    return value;
}

static ig_value *known_literal(ig_ts_call *call, const literal *l, ig_dtype dtype) {
    assert(l->rank <= IG_TENSOR_RANK && "open_literal bounds the depth");
    int64_t bytes = 0;
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = dtype,
                         .count = (int64_t)l->count };
    if (!ig_dtype_bytes(dtype, (int64_t)l->count, &bytes)) {
        return ig_expr_fail(call->e, IG_LIMIT, "a literal of %zu numbers", l->count);
    }
    tensor.data = ig_arena_alloc(call->arena, (size_t)bytes + 8);
    for (size_t i = 0; i < l->count; i++) {
        const ig_ts_value *leaf = l->leaves[i];
        if (leaf->kind == IG_TS_FLOAT) {
            ig_tensor_set_f64(&tensor, (int64_t)i, leaf->as.f);
        } else {
            int64_t number = leaf->kind == IG_TS_BOOL ? leaf->as.b : leaf->as.i;
            ig_tensor_set_i64(&tensor, (int64_t)i,
                              dtype == IG_DT_bool ? number != 0 : number);
        }
    }
    return ig_expr_constant(call->e, "constant", dtype, l->rank, l->dims, tensor.data);
}

static ig_value *literal_value(ig_ts_call *call, const literal *l, ig_dtype dtype) {
    bool is_known = true;
    for (size_t i = 0; i < l->count; i++) {
        const ig_ts_value *leaf = l->leaves[i];
        is_known = is_known && leaf->kind != IG_TS_TENSOR && ig_ts_is_known(leaf);
    }
    if (is_known) {
        return known_literal(call, l, dtype);
    }
    ig_value **values = IG_NEW_ARRAY(call->arena, ig_value *, l->count);
    for (size_t i = 0; i < l->count; i++) {
        values[i] = ig_expr_reshape(call->e, leaf_value(call, l->leaves[i], dtype),
                                    l->rank ? 1 : 0, (ig_dim[]){ ig_dim_of(1) });
    }
    if (l->rank == 0) {
        return values[0];
    }
    ig_value *all = ig_expr_concat(call->e, 0, values, (uint32_t)l->count);
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < l->rank; i++) {
        dims[i] = ig_dim_of(l->dims[i]);
    }
    return ig_expr_reshape(call->e, all, l->rank, dims);
}

/* tensor(data, dtype, device), as_tensor; scalar_tensor and NumToTensor, whose floats
 * are f32 and f64: variant 1 */
ig_status ig_ts_op_tensor(ig_ts_call *call) {
    literal l = { 0 };
    if (call->args[0].kind == IG_TS_TENSOR) { /* of a tensor: a copy */
        ig_value *x = ig_aten_tensor(call, 0);
        ig_dtype same = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
        return ig_aten_give(call, ig_aten_cast(call, x, ig_aten_dtype(call, 1, same)));
    }
    IG_TRY(open_literal(call, &l, &call->args[0]));
    IG_TRY(read_literal(call, &l, &call->args[0], 0));
    bool is_empty = l.rank > 0 && l.count == 0;
    ig_dtype dtype = is_empty || l.kind == IG_TS_FLOAT ? IG_DT_f32
                     : l.kind == IG_TS_BOOL            ? IG_DT_bool
                                                       : IG_DT_i64;
    if (l.kind == IG_TS_COMPLEX) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "literal tensors of complex numbers");
    }
    dtype = call->arg_count > 1 ? ig_aten_dtype(call, 1, dtype) : dtype;
    IG_TRY(call->e->status);
    return ig_aten_give(call, literal_value(call, &l, dtype));
}

/* scalar_tensor(s, dtype …): f32 whatever the number is */
ig_status ig_ts_op_scalar_tensor(ig_ts_call *call) {
    return ig_aten_give(call,
                        ig_aten_operand(call, 0, ig_aten_dtype(call, 1, IG_DT_f32)));
}

/* prim::NumToTensor: i64 or f64 */
ig_status ig_ts_op_num_to_tensor(ig_ts_call *call) {
    int kind = call->args[0].kind;
    ig_dtype dtype = kind == IG_TS_BOOL  ? IG_DT_bool
                     : kind == IG_TS_INT ? IG_DT_i64
                                         : IG_DT_f64;
    return ig_aten_give(call, ig_aten_operand(call, 0, dtype));
}
