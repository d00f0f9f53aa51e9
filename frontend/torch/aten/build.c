/* Ops in one call each: what formulas of the aten rows are made of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ig_value *ig_aten_fail(ig_ts_call *call, ig_status status, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (call->status == IG_OK) {
        call->status = ig_ts_fail(call, status, "%s", text);
    }
    return NULL;
}

/* A formula that has no case for what it was given ends in NULL without a failure. */
static ig_status refuse_case(ig_ts_call *call) {
    ig_aten_fail(call, IG_UNSUPPORTED, "is not supported for arguments like these");
    return call->status;
}

ig_status ig_aten_give(ig_ts_call *call, ig_value *value) {
    bool is_good = value && call->status == IG_OK;
    return is_good ? ig_ts_give(call, 0, value) : refuse_case(call);
}

ig_status ig_aten_give2(ig_ts_call *call, ig_value *first, ig_value *second) {
    if (!first || !second || call->status != IG_OK) {
        return refuse_case(call);
    }
    IG_TRY(ig_ts_give(call, 0, first));
    return ig_ts_give(call, 1, second);
}

/* ---- arguments ---- */

/* Keeps the first failure. */
static bool note(ig_ts_call *call, ig_status status) {
    if (call->status == IG_OK) {
        call->status = status;
    }
    return status == IG_OK;
}

ig_value *ig_aten_tensor(ig_ts_call *call, uint32_t index) {
    ig_value *value = NULL;
    return note(call, ig_ts_tensor_arg(call, index, &value)) ? value : NULL;
}

ig_value *ig_aten_optional(ig_ts_call *call, uint32_t index) {
    ig_value *value = NULL;
    return note(call, ig_ts_tensor_opt(call, index, &value)) ? value : NULL;
}

ig_value **ig_aten_tensors(ig_ts_call *call, uint32_t index, uint32_t *out_count) {
    ig_value **values = NULL;
    *out_count = 0;
    return note(call, ig_ts_tensors(call, index, &values, out_count)) ? values : NULL;
}

int64_t ig_aten_int(ig_ts_call *call, uint32_t index) {
    int64_t value = 0;
    return note(call, ig_ts_int(call, index, &value)) ? value : 0;
}

int64_t ig_aten_distance(ig_ts_call *call, uint32_t index) {
    enum { FAR_BITS = 40 };
    int64_t value = ig_aten_int(call, index), far = (int64_t)1 << FAR_BITS;
    if (value < -far || value > far) {
        ig_aten_fail(call, IG_LIMIT, "a number as far as %lld", (long long)value);
        return 0;
    }
    return value;
}

int64_t ig_aten_int_or(ig_ts_call *call, uint32_t index, int64_t none) {
    int64_t value = none;
    return note(call, ig_ts_int_or(call, index, none, &value)) ? value : none;
}

double ig_aten_float(ig_ts_call *call, uint32_t index) {
    double value = 0;
    return note(call, ig_ts_float(call, index, &value)) ? value : 0;
}

double ig_aten_float_or(ig_ts_call *call, uint32_t index, double none) {
    double value = none;
    return note(call, ig_ts_float_or(call, index, none, &value)) ? value : none;
}

bool ig_aten_bool(ig_ts_call *call, uint32_t index) {
    bool value = false;
    return note(call, ig_ts_bool_or(call, index, false, &value)) && value;
}

ig_str ig_aten_str(ig_ts_call *call, uint32_t index) {
    ig_str text = ig_str_of("");
    note(call, ig_ts_str(call, index, &text));
    return text;
}

ig_dim ig_aten_dim(ig_ts_call *call, uint32_t index) {
    ig_dim dim = ig_dim_of(0);
    return note(call, ig_ts_dim(call, index, &dim)) ? dim : ig_dim_of(0);
}

const int64_t *ig_aten_ints(ig_ts_call *call, uint32_t index, uint32_t wanted,
                            uint32_t *out_count) {
    const int64_t *values = NULL;
    *out_count = 0;
    return note(call, ig_ts_ints(call, index, wanted, &values, out_count)) ? values
                                                                           : NULL;
}

const ig_dim *ig_aten_dims(ig_ts_call *call, uint32_t index, uint32_t wanted,
                           uint32_t *out_count) {
    const ig_dim *dims = NULL;
    *out_count = 0;
    return note(call, ig_ts_dims(call, index, wanted, &dims, out_count)) ? dims : NULL;
}

ig_dtype ig_aten_dtype(ig_ts_call *call, uint32_t index, ig_dtype none) {
    ig_dtype dtype = none;
    return note(call, ig_ts_dtype(call, index, none, &dtype)) ? dtype : none;
}

ig_value *ig_aten_operand(ig_ts_call *call, uint32_t index, ig_dtype dtype) {
    ig_value *value = NULL;
    return note(call, ig_ts_operand(call, index, dtype, &value)) ? value : NULL;
}

ig_dtype ig_aten_result_type(ig_ts_call *call, uint32_t first, uint32_t count) {
    ig_dtype dtype = IG_DT_f32;
    uint32_t indices[8];
    for (uint32_t i = 0; i < count && i < IG_COUNT_OF(indices); i++) {
        indices[i] = first + i;
    }
    note(call, ig_ts_result_type(call, indices, count, &dtype));
    return dtype;
}

uint32_t ig_aten_axis(ig_ts_call *call, uint32_t index, uint32_t rank) {
    uint32_t axis = 0;
    return note(call, ig_ts_axis(call, index, rank, &axis)) ? axis : 0;
}

bool ig_aten_axis_of_many(ig_ts_call *call, uint32_t index, uint32_t rank,
                          uint32_t *out_axis) {
    if (rank == 0) {
        ig_aten_fail(call, IG_INVALID, "a tensor of rank 0 has no axes");
        return false;
    }
    return note(call, ig_ts_axis(call, index, rank, out_axis));
}

const int64_t *ig_aten_axes(ig_ts_call *call, uint32_t index, uint32_t rank,
                            bool empty_is_all, uint32_t *out_count) {
    const int64_t *axes = NULL;
    *out_count = 0;
    return note(call, ig_ts_axes(call, index, rank, empty_is_all, &axes, out_count))
               ? axes
               : NULL;
}

/* ---- ops ---- */

static ig_op *make_op(ig_ts_call *call, ig_opcode code, uint32_t count,
                      ig_value *const *operands, const ig_attr *attrs) {
    ig_op *op = NULL;
    ig_op_spec spec = { .operands = operands, .operand_count = count, .attrs = attrs };
    spec.result_count = ig_ops[code].result_count == IG_MANY; /* bag: one a feature */
    for (uint32_t i = 0; i < count; i++) {
        if (!operands[i]) {
            return NULL;
        }
    }
    if (call->status == IG_OK) {
        call->status = ig_build(call->builder, code, &spec, &op);
    }
    return call->status == IG_OK ? op : NULL;
}

ig_value *ig_aten_make(ig_ts_call *call, ig_opcode code, uint32_t count,
                       ig_value *const *operands, const ig_attr *attrs) {
    ig_op *op = make_op(call, code, count, operands, attrs);
    return op ? ig_op_result(op, 0) : NULL;
}

bool ig_aten_make_all(ig_ts_call *call, ig_opcode code, uint32_t count,
                      ig_value *const *operands, const ig_attr *attrs,
                      ig_value **out_results) {
    ig_op *op = make_op(call, code, count, operands, attrs);
    for (uint32_t i = 0; op && i < op->result_count; i++) {
        out_results[i] = ig_op_result(op, i);
    }
    return op != NULL;
}

ig_value *ig_aten_map1(ig_ts_call *call, ig_opcode code, ig_value *x) {
    return ig_aten_make(call, code, 1, &x, NULL);
}

/* Two extents broadcast when bcast(a, b) = bcast(b, a). */
static void guard_broadcast(ig_ts_call *call, const ig_value *x, const ig_value *y) {
    ig_module *module = call->module;
    uint32_t rank = x->type->rank < y->type->rank ? x->type->rank : y->type->rank;
    for (uint32_t i = 1; i <= rank; i++) {
        ig_dim a = x->type->dims[x->type->rank - i];
        ig_dim b = y->type->dims[y->type->rank - i];
        if (!ig_dim_is(a, 1) && !ig_dim_is(b, 1) &&
            ig_dim_equal(module, a, b) == IG_MAYBE) {
            ig_make_guard_equal(call->builder, ig_dim_bcast(module, a, b),
                                ig_dim_bcast(module, b, a),
                                "the shapes of the operands do not broadcast");
        }
    }
}

ig_value *ig_aten_map2(ig_ts_call *call, ig_opcode code, ig_value *x, ig_value *y) {
    if (!x || !y) {
        return NULL;
    }
    guard_broadcast(call, x, y);
    return ig_aten_make(call, code, 2, (ig_value *[]){ x, y }, NULL);
}

ig_value *ig_aten_map2n(ig_ts_call *call, ig_opcode code, ig_value *x, double number) {
    ig_value *y = x ? ig_aten_number(call, (ig_dtype)x->type->dtype, number) : NULL;
    return ig_aten_make(call, code, 2, (ig_value *[]){ x, y }, NULL);
}

ig_value *ig_aten_mapn2(ig_ts_call *call, ig_opcode code, double number, ig_value *x) {
    ig_value *y = x ? ig_aten_number(call, (ig_dtype)x->type->dtype, number) : NULL;
    return ig_aten_make(call, code, 2, (ig_value *[]){ y, x }, NULL);
}

ig_value *ig_aten_where(ig_ts_call *call, ig_value *condition, ig_value *x,
                        ig_value *y) {
    if (!condition || !x || !y) {
        return NULL;
    }
    guard_broadcast(call, condition, x);
    guard_broadcast(call, condition, y);
    guard_broadcast(call, x, y);
    return ig_aten_make(call, IG_OP_where, 3, (ig_value *[]){ condition, x, y }, NULL);
}

ig_value *ig_aten_cast(ig_ts_call *call, ig_value *x, ig_dtype to) {
    if (!x || x->type->dtype == to) {
        return x;
    }
    ig_dtype from = (ig_dtype)x->type->dtype;
    if (ig_dtype_is_float(from) && ig_dtype_is_int(to) && ig_dtypes[to].bits < 64) {
        /* Through i64, of which the low bits are kept, as torch's kernels do it. */
        x = ig_aten_cast(call, x, IG_DT_i64);
    }
    ig_attr attrs[IG_cast_attr_count] = { [IG_cast_to] = ig_attr_of_dtype(to) };
    return ig_aten_make(call, IG_OP_cast, 1, &x, attrs);
}

/* ---- constants ---- */

ig_value *ig_aten_number(ig_ts_call *call, ig_dtype dtype, double value) {
    int64_t room = 0;
    ig_tensor tensor = { .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = &room };
    ig_tensor_set_f64(&tensor, 0, value);
    return ig_make_const(call->builder, ig_type_tensor(call->module, dtype, 0, NULL),
                         &room);
}

ig_value *ig_aten_integer(ig_ts_call *call, ig_dtype dtype, int64_t value) {
    int64_t room = 0;
    ig_tensor tensor = { .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = &room };
    if (ig_dtype_is_float(dtype)) {
        ig_tensor_set_f64(&tensor, 0, (double)value);
    } else {
        ig_tensor_set_i64(&tensor, 0, dtype == IG_DT_bool ? value != 0 : value);
    }
    return ig_make_const(call->builder, ig_type_tensor(call->module, dtype, 0, NULL),
                         &room);
}

ig_value *ig_aten_dims_value(ig_ts_call *call, const ig_dim *dims, uint32_t count) {
    return ig_make_dims(call->builder, dims, count);
}

ig_value *ig_aten_dim_value(ig_ts_call *call, ig_dim dim, ig_dtype dtype) {
    int64_t number;
    if (ig_dim_constant(call->module, dim, &number)) {
        return ig_aten_integer(call, dtype, number);
    }
    ig_attr attrs[IG_dims_attr_count] = {
        [IG_dims_values] = ig_attr_of_dims(call->module, &dim, 1),
        [IG_dims_scalar] = ig_attr_of_bool(true),
    };
    return ig_aten_cast(call, ig_aten_make(call, IG_OP_dims, 0, NULL, attrs), dtype);
}

ig_value *ig_aten_fill(ig_ts_call *call, ig_dtype dtype, uint32_t rank,
                       const ig_dim *dims, double value) {
    return ig_aten_expand(call, ig_aten_number(call, dtype, value), rank, dims);
}

ig_value *ig_aten_iota(ig_ts_call *call, ig_dtype dtype, ig_dim count) {
    ig_value *range[] = { ig_aten_integer(call, IG_DT_i64, 0),
                          ig_aten_dim_value(call, count, IG_DT_i64),
                          ig_aten_integer(call, IG_DT_i64, 1) };
    return ig_aten_cast(call, ig_aten_make(call, IG_OP_range, 3, range, NULL), dtype);
}

ig_value *ig_aten_axis_numbers(ig_ts_call *call, uint32_t rank, uint32_t axis,
                               ig_dim extent) {
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = i == axis ? extent : ig_dim_of(1);
    }
    return ig_aten_reshape(call, ig_aten_iota(call, IG_DT_i64, extent), rank, dims);
}

/* ---- movement ---- */

ig_value *ig_aten_reshape(ig_ts_call *call, ig_value *x, uint32_t rank,
                          const ig_dim *dims) {
    if (!x) {
        return NULL;
    }
    bool is_same = x->type->rank == rank;
    for (uint32_t i = 0; is_same && i < rank; i++) {
        is_same = ig_dim_same(x->type->dims[i], dims[i]);
    }
    if (is_same) {
        return x;
    }
    ig_dim before = ig_type_count(call->module, x->type);
    ig_dim after = ig_dim_product(call->module, dims, rank);
    if (ig_dim_equal(call->module, before, after) == IG_MAYBE) {
        ig_make_guard_equal(call->builder, before, after,
                            "the tensor has not as many elements as its new shape");
    }
    ig_attr attrs[IG_reshape_attr_count] = { [IG_reshape_to] = ig_attr_of_dims(
                                                 call->module, dims, rank) };
    return ig_aten_make(call, IG_OP_reshape, 1, &x, attrs);
}

ig_value *ig_aten_flatten(ig_ts_call *call, ig_value *x) {
    ig_dim count = x ? ig_type_count(call->module, x->type) : ig_dim_of(0);
    return ig_aten_reshape(call, x, 1, &count);
}

ig_value *ig_aten_transpose(ig_ts_call *call, ig_value *x, const int64_t *perm) {
    if (!x) {
        return NULL;
    }
    bool is_same = true;
    for (uint32_t i = 0; i < x->type->rank; i++) {
        is_same = is_same && perm[i] == i;
    }
    ig_attr attrs[IG_transpose_attr_count] = { [IG_transpose_perm] = ig_attr_of_ints(
                                                   call->module, perm, x->type->rank) };
    return is_same ? x : ig_aten_make(call, IG_OP_transpose, 1, &x, attrs);
}

ig_value *ig_aten_swap(ig_ts_call *call, ig_value *x, uint32_t a, uint32_t b) {
    int64_t perm[IG_TENSOR_RANK];
    for (uint32_t i = 0; x && i < x->type->rank; i++) {
        perm[i] = i == a ? b : i == b ? a : i;
    }
    return ig_aten_transpose(call, x, perm);
}

ig_value *ig_aten_move_axis(ig_ts_call *call, ig_value *x, uint32_t from, uint32_t to) {
    int64_t perm[IG_TENSOR_RANK];
    for (uint32_t i = 0, next = 0; x && i < x->type->rank; i++) {
        if (i == to) {
            perm[i] = from;
        } else {
            next += next == from;
            perm[i] = next++;
        }
    }
    return ig_aten_transpose(call, x, perm);
}

ig_value *ig_aten_expand(ig_ts_call *call, ig_value *x, uint32_t rank,
                         const ig_dim *dims) {
    if (!x) {
        return NULL;
    }
    bool is_same = x->type->rank == rank;
    for (uint32_t i = 0; is_same && i < rank; i++) {
        is_same = ig_dim_same(x->type->dims[i], dims[i]);
    }
    ig_attr attrs[IG_expand_attr_count] = { [IG_expand_to] = ig_attr_of_dims(
                                                call->module, dims, rank) };
    return is_same ? x : ig_aten_make(call, IG_OP_expand, 1, &x, attrs);
}

/* Is there `axis` among `more` axes than `x` has?  Callers take axes from ranks that an
 * archive chose. */
static bool has_axis(ig_ts_call *call, const ig_value *x, uint32_t axis,
                     uint32_t more) {
    if (x && axis >= x->type->rank + more) {
        ig_aten_fail(call, IG_INVALID, "a tensor of rank %u has too few axes",
                     x->type->rank);
        return false;
    }
    return x != NULL;
}

ig_value *ig_aten_slice(ig_ts_call *call, ig_value *x, uint32_t axis, ig_dim start,
                        ig_dim size, int64_t step) {
    if (!has_axis(call, x, axis, 0)) {
        return NULL;
    }
    if (ig_dim_is(start, 0) && step == 1 && ig_dim_same(size, x->type->dims[axis])) {
        return x;
    }
    ig_dim starts[IG_TENSOR_RANK] = { 0 }, sizes[IG_TENSOR_RANK];
    int64_t steps[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < x->type->rank; i++) {
        sizes[i] = x->type->dims[i];
        steps[i] = 1;
    }
    starts[axis] = start;
    sizes[axis] = size;
    steps[axis] = step;
    ig_attr attrs[IG_slice_attr_count] = {
        [IG_slice_starts] = ig_attr_of_dims(call->module, starts, x->type->rank),
        [IG_slice_sizes] = ig_attr_of_dims(call->module, sizes, x->type->rank),
    };
    if (step != 1) {
        attrs[IG_slice_steps] = ig_attr_of_ints(call->module, steps, x->type->rank);
    }
    return ig_aten_make(call, IG_OP_slice, 1, &x, attrs);
}

ig_value *ig_aten_select(ig_ts_call *call, ig_value *x, uint32_t axis, ig_dim index) {
    return ig_aten_squeeze(call, ig_aten_slice(call, x, axis, index, ig_dim_of(1), 1),
                           axis);
}

ig_value *ig_aten_unsqueeze(ig_ts_call *call, ig_value *x, uint32_t axis) {
    ig_dim dims[IG_TENSOR_RANK + 1];
    if (!has_axis(call, x, axis, 1)) {
        return NULL;
    }
    memcpy(dims, x->type->dims, axis * sizeof *dims);
    dims[axis] = ig_dim_of(1);
    memcpy(dims + axis + 1, x->type->dims + axis,
           (x->type->rank - axis) * sizeof *dims);
    return ig_aten_reshape(call, x, x->type->rank + 1, dims);
}

ig_value *ig_aten_squeeze(ig_ts_call *call, ig_value *x, uint32_t axis) {
    ig_dim dims[IG_TENSOR_RANK];
    if (!has_axis(call, x, axis, 0)) {
        return NULL;
    }
    memcpy(dims, x->type->dims, axis * sizeof *dims);
    memcpy(dims + axis, x->type->dims + axis + 1,
           (x->type->rank - axis - 1) * sizeof *dims);
    return ig_aten_reshape(call, x, x->type->rank - 1, dims);
}

ig_value *ig_aten_concat(ig_ts_call *call, uint32_t axis, uint32_t count,
                         ig_value *const *values) {
    ig_attr attrs[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(axis) };
    return count == 1 ? values[0]
                      : ig_aten_make(call, IG_OP_concat, count, values, attrs);
}

ig_value *ig_aten_flip(ig_ts_call *call, ig_value *x, uint32_t axis) {
    if (!has_axis(call, x, axis, 0)) {
        return NULL;
    }
    ig_dim extent = x->type->dims[axis];
    return ig_aten_slice(call, x, axis, ig_dim_sub(call->module, extent, ig_dim_of(1)),
                         extent, -1);
}

ig_value *ig_aten_pad(ig_ts_call *call, ig_value *x, const ig_dim *before,
                      const ig_dim *after, ig_pad_mode mode, double value) {
    if (!x) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    ig_attr attrs[IG_pad_attr_count] = {
        [IG_pad_before] = ig_attr_of_dims(call->module, before, rank),
        [IG_pad_after] = ig_attr_of_dims(call->module, after, rank),
        [IG_pad_mode] = ig_attr_of_enum(mode),
    };
    ig_value *number = ig_aten_number(call, (ig_dtype)x->type->dtype, value);
    return ig_aten_make(call, IG_OP_pad, mode == IG_PAD_constant ? 2 : 1,
                        (ig_value *[]){ x, number }, attrs);
}

/* ---- sums ---- */

ig_value *ig_aten_reduce(ig_ts_call *call, ig_reduce kind, ig_value *x,
                         const int64_t *axes, uint32_t count, bool keep) {
    if (x && axes && count == 0 && x->type->rank > 0) {
        return x; /* over no axis */
    }
    ig_attr attrs[IG_reduce_attr_count] = { [IG_reduce_op] = ig_attr_of_enum(kind) };
    if (axes && count > 0 && x && x->type->rank > 0) {
        attrs[IG_reduce_axes] = ig_attr_of_ints(call->module, axes, count);
    }
    if (keep) {
        attrs[IG_reduce_keep] = ig_attr_of_bool(true);
    }
    return ig_aten_make(call, IG_OP_reduce, 1, &x, attrs);
}

ig_value *ig_aten_reduce1(ig_ts_call *call, ig_reduce kind, ig_value *x, uint32_t axis,
                          bool keep) {
    int64_t axes[] = { axis };
    return ig_aten_reduce(call, kind, x, axes, 1, keep);
}

/* Inner extents are equal, and those of batches broadcast. */
static void guard_product(ig_ts_call *call, const ig_type *x, const ig_type *y) {
    if (x->rank == 0 || y->rank == 0) {
        return;
    }
    ig_dim inner = y->dims[y->rank == 1 ? 0 : y->rank - 2];
    call->status = ig_ts_guard_equal(call, x->dims[x->rank - 1], inner,
                                     "the inner extents of the product");
    for (uint32_t i = 3; i <= x->rank && i <= y->rank; i++) {
        ig_dim a = x->dims[x->rank - i], b = y->dims[y->rank - i];
        bool is_sure = ig_dim_is(a, 1) || ig_dim_is(b, 1) ||
                       ig_dim_equal(call->module, a, b) != IG_MAYBE;
        if (call->status == IG_OK && !is_sure) {
            call->status = ig_ts_guard_equal(call, ig_dim_bcast(call->module, a, b),
                                             ig_dim_bcast(call->module, b, a),
                                             "the batches of the product");
        }
    }
}

ig_value *ig_aten_matmul(ig_ts_call *call, ig_value *x, ig_value *y) {
    if (x && y && call->status == IG_OK) {
        guard_product(call, x->type, y->type);
    }
    return ig_aten_make(call, IG_OP_matmul, 2, (ig_value *[]){ x, y }, NULL);
}

ig_value *ig_aten_gather(ig_ts_call *call, ig_value *x, ig_value *indices,
                         uint32_t axis, bool errors) {
    ig_attr attrs[IG_gather_attr_count] = { [IG_gather_axis] = ig_attr_of_int(axis) };
    if (errors) {
        attrs[IG_gather_negative] = ig_attr_of_enum(IG_NEGATIVE_error);
    }
    return ig_aten_make(call, IG_OP_gather, 2, (ig_value *[]){ x, indices }, attrs);
}

ig_value *ig_aten_gather_elements(ig_ts_call *call, ig_value *x, ig_value *indices,
                                  uint32_t axis) {
    ig_attr attrs[IG_gather_elements_attr_count] = { [IG_gather_elements_axis] =
                                                         ig_attr_of_int(axis) };
    return ig_aten_make(call, IG_OP_gather_elements, 2, (ig_value *[]){ x, indices },
                        attrs);
}

/* ---- dtypes ---- */

bool ig_aten_is_float(const ig_value *x) {
    return ig_dtype_is_float((ig_dtype)x->type->dtype);
}

ig_value *ig_aten_to_float(ig_ts_call *call, ig_value *x) {
    return !x || ig_aten_is_float(x) ? x : ig_aten_cast(call, x, IG_DT_f32);
}

ig_value *ig_aten_wide(ig_ts_call *call, ig_value *x) {
    x = ig_aten_to_float(call, x);
    return x && ig_dtypes[x->type->dtype].bits < 32 ? ig_aten_cast(call, x, IG_DT_f32)
                                                    : x;
}

ig_value *ig_aten_sum_dtype(ig_ts_call *call, ig_value *x) {
    return !x || ig_aten_is_float(x) ? x : ig_aten_cast(call, x, IG_DT_i64);
}

/* ---- shapes ---- */

bool ig_aten_broadcast(ig_ts_call *call, const ig_type *type, ig_dim *dims,
                       uint32_t *rank) {
    ig_module *module = call->module;
    uint32_t wide = *rank > type->rank ? *rank : type->rank;
    ig_dim joined[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < wide; i++) {
        ig_dim a = i + *rank < wide ? ig_dim_of(1) : dims[i + *rank - wide];
        ig_dim b = i + type->rank < wide ? ig_dim_of(1)
                                         : type->dims[i + type->rank - wide];
        ig_truth same = ig_dim_equal(module, a, b);
        bool is_number = ig_dim_is_static(a) && ig_dim_is_static(b);
        if (is_number && !ig_dim_same(a, b) && !ig_dim_is(a, 1) && !ig_dim_is(b, 1)) {
            ig_aten_fail(call, IG_INVALID, "extents %lld and %lld do not broadcast",
                         (long long)ig_dim_value(a), (long long)ig_dim_value(b));
            return false;
        }
        joined[i] = ig_dim_is(a, 1)                     ? b
                    : ig_dim_is(b, 1) || same == IG_YES ? a
                                                        : ig_dim_bcast(module, a, b);
        if (!ig_dim_is(a, 1) && !ig_dim_is(b, 1) && same == IG_MAYBE) {
            ig_make_guard_equal(call->builder, ig_dim_bcast(module, a, b),
                                ig_dim_bcast(module, b, a),
                                "the shapes of the operands do not broadcast");
        }
    }
    memcpy(dims, joined, wide * sizeof *dims);
    *rank = wide;
    return true;
}

ig_op *ig_aten_open_loop(ig_ts_call *call, ig_value *const operands[3],
                         const ig_type *carried) {
    ig_attr attrs[IG_loop_attr_count] = { { 0 } };
    ig_op_spec spec = { .operands = operands,
                        .operand_count = 3,
                        .result_types = &carried,
                        .result_count = 1,
                        .attrs = attrs,
                        .body_count = 1,
                        .loc = call->builder->loc };
    ig_op *op = ig_make_op(call->builder, IG_OP_loop, &spec);
    ig_block_add_arg(op->bodies[0], operands[0]->type, NULL);
    ig_block_add_arg(op->bodies[0], operands[1]->type, NULL);
    ig_block_add_arg(op->bodies[0], carried, NULL);
    *call->builder = ig_builder_at_end(op->bodies[0]);
    call->builder->loc = spec.loc;
    return op;
}
