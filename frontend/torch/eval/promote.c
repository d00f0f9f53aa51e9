/* Result types: which dtype an operation of tensors and numbers has.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operands are of three ranks of authority: tensors with dims, tensors of rank 0,
 * numbers.  Each rank's dtypes are promoted among themselves; a rank of less authority
 * counts only when its category (bool < integer < float < complex) is higher than that
 * of the ranks above.  A number counts as bool, int64 or the default float32; a tensor
 * of rank 0 that represents a number (ig_ts_tensor.is_number) counts as that number.
 */
#include "frontend/torch/eval/eval.h"

#include <assert.h>

typedef enum category { NOTHING, TRUTH, INTEGER, REAL, COMPLEX } category;

static category category_of(const ig_torch_dtype_info *info) {
    if (!info) {
        return NOTHING;
    }
    return info->is_complex              ? COMPLEX
           : ig_dtype_is_float(info->ir) ? REAL
           : info->ir == IG_DT_bool      ? TRUTH
                                         : INTEGER;
}

static uint32_t bits_of(ig_dtype dtype) {
    assert(dtype < IG_DT_COUNT && "a dtype of the IR");
    return ig_dtypes[dtype].bits;
}

static ig_dtype promote_ints(ig_dtype a, ig_dtype b) {
    bool is_a_signed = ig_dtypes[a].class == IG_SINT;
    bool is_b_signed = ig_dtypes[b].class == IG_SINT;
    ig_dtype wide = bits_of(a) >= bits_of(b) ? a : b;
    if (is_a_signed == is_b_signed || bits_of(a) == 0) {
        return wide;
    }
    ig_dtype with = is_a_signed ? a : b, without = is_a_signed ? b : a;
    if (bits_of(with) > bits_of(without)) {
        return with;
    }
    switch (bits_of(without)) {
    case 8:
        return IG_DT_i16;
    case 16:
        return IG_DT_i32;
    default:
        return IG_DT_i64;
    }
}

ig_dtype ig_ts_promote(ig_dtype a, ig_dtype b) {
    assert(a < IG_DT_COUNT && b < IG_DT_COUNT && "dtypes of the IR");
    bool is_a_float = ig_dtype_is_float(a), is_b_float = ig_dtype_is_float(b);
    if (a == b) {
        return a;
    }
    if (is_a_float != is_b_float) {
        return is_a_float ? a : b;
    }
    if (!is_a_float) {
        return a == IG_DT_bool ? b : b == IG_DT_bool ? a : promote_ints(a, b);
    }
    if (bits_of(a) == bits_of(b)) {
        return IG_DT_f32; /* f16 and bf16 */
    }
    return bits_of(a) > bits_of(b) ? a : b;
}

const ig_torch_dtype_info *ig_ts_real_of(ig_dtype dtype) {
    assert(dtype < IG_DT_COUNT && "a dtype of the IR");
    static const struct {
        ig_dtype ir;
        ig_torch_dtype code;
    } pairs[] = {
        { IG_DT_bool, IG_TORCH_bool },     { IG_DT_u8, IG_TORCH_uint8 },
        { IG_DT_i8, IG_TORCH_int8 },       { IG_DT_i16, IG_TORCH_int16 },
        { IG_DT_i32, IG_TORCH_int32 },     { IG_DT_i64, IG_TORCH_int64 },
        { IG_DT_u16, IG_TORCH_uint16 },    { IG_DT_u32, IG_TORCH_uint32 },
        { IG_DT_u64, IG_TORCH_uint64 },    { IG_DT_f16, IG_TORCH_float16 },
        { IG_DT_bf16, IG_TORCH_bfloat16 }, { IG_DT_f32, IG_TORCH_float32 },
        { IG_DT_f64, IG_TORCH_float64 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(pairs); i++) {
        if (pairs[i].ir == dtype) {
            return ig_torch_dtype_of_code(pairs[i].code);
        }
    }
    return ig_torch_dtype_of_code(IG_TORCH_float32);
}

const ig_torch_dtype_info *ig_ts_complex_of(ig_dtype part) {
    assert(part < IG_DT_COUNT && "a dtype of the IR");
    return ig_torch_dtype_of_code(part == IG_DT_f64   ? IG_TORCH_complex128
                                  : part == IG_DT_f16 ? IG_TORCH_complex32
                                                      : IG_TORCH_complex64);
}

const ig_torch_dtype_info *ig_ts_promote_dtypes(const ig_torch_dtype_info *a,
                                                const ig_torch_dtype_info *b) {
    assert((!a || a->ir < IG_DT_COUNT) && (!b || b->ir < IG_DT_COUNT) &&
           "dtypes that the IR has; quantised ones are refused by who asks");
    if (!a || !b || a == b) {
        return a ? a : b;
    }
    if (a->is_complex || b->is_complex) {
        ig_dtype x = category_of(a) >= REAL ? a->ir : b->ir;
        ig_dtype y = category_of(b) >= REAL ? b->ir : a->ir;
        return ig_ts_complex_of(ig_ts_promote(x, y));
    }
    return ig_ts_real_of(ig_ts_promote(a->ir, b->ir));
}

/* ---- operands ---- */

typedef struct operands {
    const ig_torch_dtype_info *tensors, *scalars, *numbers;
} operands;

static const ig_torch_dtype_info *number_dtype(ig_ts_kind kind) {
    return ig_torch_dtype_of_code(kind == IG_TS_BOOL    ? IG_TORCH_bool
                                  : kind == IG_TS_INT   ? IG_TORCH_int64
                                  : kind == IG_TS_FLOAT ? IG_TORCH_float32
                                                        : IG_TORCH_complex64);
}

/* A tensor that represents a number. */
static const ig_torch_dtype_info *as_number(const ig_torch_dtype_info *info) {
    category c = category_of(info);
    return number_dtype(c == TRUTH     ? IG_TS_BOOL
                        : c == INTEGER ? IG_TS_INT
                        : c == REAL    ? IG_TS_FLOAT
                                       : IG_TS_COMPLEX);
}

static void take_operand(operands *o, const ig_ts_value *value) {
    if (value->kind == IG_TS_TENSOR) {
        const ig_ts_tensor *t = value->as.tensor;
        uint32_t rank = t->type->rank - t->dtype->is_complex;
        if (rank > 0) {
            o->tensors = ig_ts_promote_dtypes(o->tensors, t->dtype);
        } else if (t->is_number) {
            o->numbers = ig_ts_promote_dtypes(o->numbers, as_number(t->dtype));
        } else {
            o->scalars = ig_ts_promote_dtypes(o->scalars, t->dtype);
        }
    } else if (ig_ts_is_number(value)) {
        o->numbers = ig_ts_promote_dtypes(o->numbers,
                                          number_dtype((ig_ts_kind)value->kind));
    }
}

/* What `more`, of less authority, adds to `have`. */
static const ig_torch_dtype_info *add_lesser(const ig_torch_dtype_info *have,
                                             const ig_torch_dtype_info *more) {
    if (category_of(more) <= category_of(have)) {
        return have;
    }
    if (have && more->is_complex && category_of(have) == REAL) {
        return ig_ts_complex_of(
            have->ir); /* float64 with a complex number: complex128 */
    }
    return more;
}

static const ig_torch_dtype_info *settle_dtype(const operands *o) {
    return add_lesser(add_lesser(o->tensors, o->scalars), o->numbers);
}

ig_status ig_ts_result_torch_type(ig_ts_call *call, const uint32_t *indices,
                                  uint32_t count,
                                  const ig_torch_dtype_info **out_dtype) {
    assert((indices || !count) && "arguments to tell the dtype by");
    operands o = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        if (indices[i] < call->arg_count) {
            take_operand(&o, &call->args[indices[i]]);
        }
    }
    *out_dtype = settle_dtype(&o);
    return *out_dtype
               ? IG_OK
               : ig_ts_fail(call, IG_INVALID,
                            "has no tensor or number to tell the result's dtype by");
}

static ig_status plain_dtype(ig_ts_call *call, const ig_torch_dtype_info *info,
                             ig_dtype *out_dtype) {
    if (info->is_complex || info->is_quantised) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "works on elements of type %s, which this operator does not take yet",
            info->name);
    }
    *out_dtype = info->ir;
    return IG_OK;
}

ig_status ig_ts_result_type(ig_ts_call *call, const uint32_t *indices, uint32_t count,
                            ig_dtype *out_dtype) {
    const ig_torch_dtype_info *info = NULL;
    IG_TRY(ig_ts_result_torch_type(call, indices, count, &info));
    return plain_dtype(call, info, out_dtype);
}

ig_status ig_ts_result_type_of_list(ig_ts_call *call, uint32_t index,
                                    ig_dtype *out_dtype) {
    assert(index < call->arg_count && "the call has no such argument");
    const ig_ts_value *value = &call->args[index];
    operands o = { 0 };
    if (value->kind != IG_TS_LIST && value->kind != IG_TS_TUPLE) {
        return ig_ts_fail(call, IG_INVALID, "takes a list of tensors, got %s",
                          ig_ts_kind_name(value));
    }
    for (size_t i = 0; i < value->as.list->count; i++) {
        take_operand(&o, &value->as.list->items[i]);
    }
    const ig_torch_dtype_info *info = settle_dtype(&o);
    if (!info) {
        return ig_ts_fail(call, IG_INVALID,
                          "takes a list of tensors, got an empty one");
    }
    return plain_dtype(call, info, out_dtype);
}

/* ---- operands of one dtype ---- */

ig_status ig_ts_number_value(ig_ts_call *call, const ig_ts_value *number,
                             ig_dtype dtype, ig_value **out_value) {
    if (number->form == IG_TS_KNOWN && number->kind == IG_TS_FLOAT) {
        *out_value = ig_expr_number(call->e, dtype, number->as.f);
        return IG_OK;
    }
    if (number->form == IG_TS_KNOWN && number->kind == IG_TS_INT) {
        *out_value = ig_expr_integer(call->e, dtype, number->as.i);
        return IG_OK;
    }
    if (number->form == IG_TS_KNOWN && number->kind == IG_TS_BOOL) {
        *out_value = ig_expr_integer(call->e, dtype, number->as.b);
        return IG_OK;
    }
    if (number->kind == IG_TS_COMPLEX) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "complex numbers are not supported here yet");
    }
    IG_TRY(ig_ts_number_read(call->eval, number, out_value));
    *out_value = ig_expr_cast(call->e, *out_value, dtype);
    return call->e->status;
}

ig_status ig_ts_operand(ig_ts_call *call, uint32_t index, ig_dtype dtype,
                        ig_value **out_value) {
    if (index < call->arg_count && ig_ts_is_number(&call->args[index])) {
        return ig_ts_number_value(call, &call->args[index], dtype, out_value);
    }
    IG_TRY(ig_ts_tensor_arg(call, index, out_value));
    *out_value = ig_expr_cast(call->e, *out_value, dtype);
    return call->e->status;
}
