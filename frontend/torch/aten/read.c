/* Arguments of the aten rows, and dtypes as torch has them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"

#include <assert.h>

ig_status ig_aten_give(ig_ts_call *call, ig_value *value) {
    return ig_ts_give(call, 0, value);
}

ig_status ig_aten_give2(ig_ts_call *call, ig_value *first, ig_value *second) {
    IG_TRY(ig_ts_give(call, 0, first));
    return ig_ts_give(call, 1, second);
}

/* ---- arguments ---- */

ig_value *ig_aten_tensor(ig_ts_call *call, uint32_t index) {
    ig_value *value = NULL;
    return ig_expr_note(call->e, ig_ts_tensor_arg(call, index, &value)) ? value : NULL;
}

ig_value *ig_aten_optional(ig_ts_call *call, uint32_t index) {
    ig_value *value = NULL;
    return ig_expr_note(call->e, ig_ts_tensor_opt(call, index, &value)) ? value : NULL;
}

ig_value **ig_aten_tensors(ig_ts_call *call, uint32_t index, uint32_t *out_count) {
    ig_value **values = NULL;
    *out_count = 0;
    if (!ig_expr_note(call->e, ig_ts_tensors(call, index, &values, out_count))) {
        *out_count = 0; /* some may have been read */
        return NULL;
    }
    return values;
}

int64_t ig_aten_int(ig_ts_call *call, uint32_t index) {
    int64_t value = 0;
    return ig_expr_note(call->e, ig_ts_int(call, index, &value)) ? value : 0;
}

int64_t ig_aten_distance(ig_ts_call *call, uint32_t index) {
    enum { FAR_BITS = 40 };
    int64_t value = ig_aten_int(call, index), far = (int64_t)1 << FAR_BITS;
    if (value < -far || value > far) {
        ig_expr_fail(call->e, IG_LIMIT,
                     "the distance is %lld, expected at most 2^%d in either direction",
                     (long long)value, FAR_BITS);
        return 0;
    }
    return value;
}

int64_t ig_aten_int_or(ig_ts_call *call, uint32_t index, int64_t none) {
    int64_t value = none;
    return ig_expr_note(call->e, ig_ts_int_or(call, index, none, &value)) ? value
                                                                          : none;
}

double ig_aten_float(ig_ts_call *call, uint32_t index) {
    double value = 0;
    return ig_expr_note(call->e, ig_ts_float(call, index, &value)) ? value : 0;
}

double ig_aten_float_or(ig_ts_call *call, uint32_t index, double none) {
    double value = none;
    return ig_expr_note(call->e, ig_ts_float_or(call, index, none, &value)) ? value
                                                                            : none;
}

bool ig_aten_bool(ig_ts_call *call, uint32_t index) {
    bool value = false;
    return ig_expr_note(call->e, ig_ts_bool_or(call, index, false, &value)) && value;
}

ig_str ig_aten_str(ig_ts_call *call, uint32_t index) {
    ig_str text = ig_str_of("");
    ig_expr_note(call->e, ig_ts_str(call, index, &text));
    return text;
}

ig_dim ig_aten_dim(ig_ts_call *call, uint32_t index) {
    ig_dim dim = ig_dim_of(0);
    return ig_expr_note(call->e, ig_ts_dim(call, index, &dim)) ? dim : ig_dim_of(0);
}

enum { SUM_VISITS = 64 };

/* Is the number of the run a sum, or one of running sums, as the ends of jagged parts
 * are?  These count from the front, and are recognised as they are: bind refuses
 * others.  Looks at *left ops at most. */
static bool is_sum(const ig_value *x, uint32_t *left) {
    static const ig_opcode through[] = { IG_OP_add,   IG_OP_cast,   IG_OP_reshape,
                                         IG_OP_slice, IG_OP_gather, IG_OP_concat };
    if (!x->def || *left == 0) {
        return false;
    }
    --*left;
    if (ig_def(x, IG_OP_reduce) || ig_def(x, IG_OP_cumsum)) {
        return true;
    }
    const ig_op *op = ig_def(x, IG_OP_if);
    if (op) {
        const ig_op *end = op->bodies[0]->last;
        return is_sum(end->operands[x - op->results].value, left);
    }
    for (size_t i = 0; i < IG_COUNT_OF(through) && !op; i++) {
        op = ig_def(x, through[i]);
    }
    return op && ((op->code == IG_OP_add && is_sum(op->operands[1].value, left)) ||
                  is_sum(op->operands[0].value, left));
}

ig_dim ig_aten_position(ig_ts_call *call, uint32_t index, ig_dim extent) {
    const ig_ts_value *given = &call->args[index];
    ig_expr *e = call->e;
    ig_dim dim = ig_dim_of(0);
    if (given->kind != IG_TS_TENSOR && given->form != IG_TS_RUN) {
        return ig_aten_dim(call, index);
    }
    ig_value *at = ig_aten_operand(call, index, IG_DT_i64);
    uint32_t left = SUM_VISITS;
    if (!at || is_sum(at, &left)) {
        return ig_aten_dim(call, index);
    }
    ig_value *from_end = ig_build_add(e, at, ig_expr_dim(e, extent, IG_DT_i64));
    ig_value *is_from_end = ig_expr_with(e, IG_OP_lt, at, 0);
    from_end = ig_expr_with(e, IG_OP_max, from_end, 0);
    at = ig_build_where(e, is_from_end, from_end, at);
    ig_expr_bind_dims(e, at, 1, "a number that depends on the data", &dim);
    return dim;
}

const int64_t *ig_aten_ints(ig_ts_call *call, uint32_t index, uint32_t wanted,
                            uint32_t *out_count) {
    const int64_t *values = NULL;
    *out_count = 0;
    if (!ig_expr_note(call->e, ig_ts_ints(call, index, wanted, &values, out_count))) {
        *out_count = 0; /* some may have been read */
        return NULL;
    }
    return values;
}

const ig_dim *ig_aten_dims(ig_ts_call *call, uint32_t index, uint32_t wanted,
                           uint32_t *out_count) {
    const ig_dim *dims = NULL;
    *out_count = 0;
    if (!ig_expr_note(call->e, ig_ts_dims(call, index, wanted, &dims, out_count))) {
        *out_count = 0; /* some may have been read */
        return NULL;
    }
    return dims;
}

const ig_dim *ig_aten_shape(ig_ts_call *call, uint32_t index, uint32_t *out_rank) {
    const ig_dim *dims = ig_aten_dims(call, index, 0, out_rank);
    if (*out_rank <= IG_TENSOR_RANK) {
        return dims;
    }
    ig_expr_fail(call->e, IG_LIMIT, "a shape has %u axes, expected at most %d",
                 *out_rank, IG_TENSOR_RANK);
    *out_rank = 0;
    return NULL;
}

ig_dtype ig_aten_dtype(ig_ts_call *call, uint32_t index, ig_dtype none) {
    ig_dtype dtype = none;
    return ig_expr_note(call->e, ig_ts_dtype(call, index, none, &dtype)) ? dtype : none;
}

ig_value *ig_aten_operand(ig_ts_call *call, uint32_t index, ig_dtype dtype) {
    ig_value *value = NULL;
    return ig_expr_note(call->e, ig_ts_operand(call, index, dtype, &value)) ? value
                                                                            : NULL;
}

ig_dtype ig_aten_result_type(ig_ts_call *call, uint32_t first, uint32_t count) {
    assert(count > 0 && count <= 8 && "the operands of one formula");
    assert(first + count <= call->arg_count && "the schema has these operands");
    ig_dtype dtype = IG_DT_f32;
    uint32_t indices[8];
    for (uint32_t i = 0; i < count && i < IG_COUNT_OF(indices); i++) {
        indices[i] = first + i;
    }
    ig_expr_note(call->e, ig_ts_result_type(call, indices, count, &dtype));
    return dtype;
}

uint32_t ig_aten_axis(ig_ts_call *call, uint32_t index, uint32_t rank) {
    uint32_t axis = 0;
    return ig_expr_note(call->e, ig_ts_axis(call, index, rank, &axis)) ? axis : 0;
}

bool ig_aten_axis_of_many(ig_ts_call *call, uint32_t index, uint32_t rank,
                          uint32_t *out_axis) {
    if (rank == 0) {
        ig_expr_fail(call->e, IG_INVALID, "a tensor of rank 0 has no axes");
        return false;
    }
    return ig_expr_note(call->e, ig_ts_axis(call, index, rank, out_axis));
}

const int64_t *ig_aten_axes(ig_ts_call *call, uint32_t index, uint32_t rank,
                            bool empty_is_all, uint32_t *out_count) {
    const int64_t *axes = NULL;
    *out_count = 0;
    if (!ig_expr_note(call->e,
                      ig_ts_axes(call, index, rank, empty_is_all, &axes, out_count))) {
        *out_count = 0; /* some may have been read */
        return NULL;
    }
    return axes;
}

ig_dim ig_aten_window_room(ig_module *m, ig_dim extent, ig_dim pads, ig_dim kernel,
                           ig_dim dilation) {
    assert(m && "dims are of a module");
    ig_dim one = ig_dim_of(1),
           reach = ig_dim_mul(m, dilation, ig_dim_sub(m, kernel, one));
    return ig_dim_sub(m, ig_dim_add(m, extent, pads), ig_dim_add(m, reach, one));
}

bool ig_aten_wrap_axis(ig_expr *e, int64_t axis, uint32_t rank, uint32_t *out) {
    int64_t bound = rank ? rank : 1;
    if (axis < -bound || axis >= bound) {
        ig_expr_fail(e, IG_INVALID, "axis %lld is outside of a tensor of rank %u",
                     (long long)axis, rank);
        return false;
    }
    *out = (uint32_t)(axis < 0 ? axis + bound : axis);
    return true;
}

ig_value *ig_aten_vector(ig_expr *e, ig_value *x) {
    return x && x->type->rank == 0
               ? ig_expr_reshape(e, x, 1, (ig_dim[]){ ig_dim_of(1) })
               : x;
}

/* ---- dtypes ---- */

ig_value *ig_aten_cast(ig_ts_call *call, ig_value *x, ig_dtype to) {
    if (!x || x->type->dtype == to) {
        return x;
    }
    ig_dtype from = (ig_dtype)x->type->dtype;
    if (ig_dtype_is_float(from) && ig_dtype_is_int(to) && ig_dtypes[to].bits < 64) {
        /* Through i64, of which the low bits are kept, as torch's kernels do it. */
        x = ig_aten_cast(call, x, IG_DT_i64);
    }
    return ig_expr_cast(call->e, x, to);
}

ig_value *ig_aten_wide(ig_ts_call *call, ig_value *x) {
    return ig_expr_widen(call->e, ig_expr_to_float(call->e, x));
}

ig_value *ig_aten_combine(ig_ts_call *call, ig_opcode code, ig_value *x, ig_value *y) {
    if (!x || !y) {
        return NULL;
    }
    ig_dtype dtype = ig_ts_promote((ig_dtype)x->type->dtype, (ig_dtype)y->type->dtype);
    return ig_expr_map2(call->e, code, ig_aten_cast(call, x, dtype),
                        ig_aten_cast(call, y, dtype));
}

ig_value *ig_aten_sum_dtype(ig_ts_call *call, ig_value *x) {
    return !x || ig_expr_is_float(x) ? x : ig_aten_cast(call, x, IG_DT_i64);
}
