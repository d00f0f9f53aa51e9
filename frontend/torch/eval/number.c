/* Numbers: known, dims, and computed at run time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/eval.h"

#include "ir/data.h"
#include "ir/interpret/interpret.h"

#include <assert.h>
#include <string.h>

static ig_dtype dtype_of_kind(ig_ts_kind kind) {
    assert((kind == IG_TS_BOOL || kind == IG_TS_INT || kind == IG_TS_FLOAT) &&
           "a kind of numbers");
    return kind == IG_TS_BOOL ? IG_DT_bool : kind == IG_TS_INT ? IG_DT_i64 : IG_DT_f64;
}

ig_status ig_ts_number_read(ig_ts_eval *eval, const ig_ts_value *number,
                            ig_value **out_value) {
    assert(ig_ts_is_number(number) && "only numbers are read as one");
    if (number->form == IG_TS_RUN) {
        *out_value = number->as.value;
        return IG_OK;
    }
    ig_expr e = ig_expr_of(&eval->builder);
    if (number->form == IG_TS_DIM) {
        *out_value = ig_expr_dim(&e, number->as.dim, IG_DT_i64);
    } else if (number->kind == IG_TS_COMPLEX) {
        *out_value = ig_expr_constant(&e, "number", IG_DT_f64, 1, (int64_t[]){ 2 },
                                      &number->as.complex);
    } else if (number->kind == IG_TS_FLOAT) {
        *out_value = ig_expr_number(&e, IG_DT_f64, number->as.f);
    } else {
        int64_t value = number->kind == IG_TS_BOOL ? number->as.b : number->as.i;
        *out_value = ig_expr_integer(&e, dtype_of_kind((ig_ts_kind)number->kind),
                                     value);
    }
    return IG_OK;
}

/* ---- known facts about a value ---- */

enum { FOLD_OPS = 256, FOLD_DEPTH = 64 };

typedef struct folding {
    ig_ts_eval *eval;
    ig_arena *arena;
    uint32_t ops, depth;
} folding;

static bool is_small(const ig_ts_eval *eval, const ig_type *type) {
    int64_t count = 1, bytes;
    if (type->kind != IG_TENSOR || !ig_type_is_static(type)) {
        return false;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t extent = ig_dim_value(type->dims[i]);
        if (extent && count > eval->context->limits.inline_bytes / extent) {
            return false;
        }
        count *= extent;
    }
    return ig_dtype_bytes((ig_dtype)type->dtype, count, &bytes) &&
           bytes <= eval->context->limits.inline_bytes;
}

/* Is a buffer in it that the call changes?  Notes what weights it is made of. */
static bool is_changing(folding *f, const ig_value *value) {
    const ig_op *op = value->def;
    if (!op || f->ops++ > FOLD_OPS || f->depth >= FOLD_DEPTH) {
        return false;
    }
    if (op->code == IG_OP_weight) {
        ig_str name = ig_str_of(ig_attr_str(op, IG_weight_name));
        ig_map_set(&f->eval->folded, name, f->eval);
        return ig_map_get(&f->eval->changing, name) != NULL;
    }
    bool is_found = false;
    f->depth++;
    for (uint32_t i = 0; i < op->operand_count && !is_found; i++) {
        is_found = is_changing(f, op->operands[i].value);
    }
    f->depth--;
    return is_found;
}

/* The value of an expression over constants; false when it is none, or a long one. */
static bool fold_value(folding *f, const ig_value *value, ig_tensor *out) {
    const ig_op *op = value->def;
    if (!op || !ig_ops[op->code].fold || op->result_count != 1 || op->body_count ||
        f->ops++ > FOLD_OPS || f->depth >= FOLD_DEPTH ||
        !is_small(f->eval, value->type) || op->code == IG_OP_dims) {
        return false;
    }
    if (op->code == IG_OP_weight && is_changing(f, value)) {
        return false;
    }
    const ig_data *data = ig_constant_of(value);
    if (data) {
        return ig_tensor_of_data(data, f->arena, f->eval->context, out) == IG_OK;
    }
    if (ig_ops[op->code].traits & (IG_CONSTANT | IG_STATE | IG_HOST)) {
        return false;
    }
    ig_tensor *in = IG_NEW_ARRAY(f->arena, ig_tensor, op->operand_count + 1u);
    const ig_tensor **pointers = IG_NEW_ARRAY(f->arena, const ig_tensor *,
                                              op->operand_count + 1u);
    bool is_known = true;
    f->depth++;
    for (uint32_t i = 0; is_known && i < op->operand_count; i++) {
        pointers[i] = &in[i];
        is_known = fold_value(f, op->operands[i].value, &in[i]);
    }
    f->depth--;
    return is_known && ig_evaluate_op(op, pointers, f->arena, out) == IG_OK;
}

bool ig_ts_fold(ig_ts_eval *eval, const ig_value *value, ig_tensor *out) {
    folding f = { .eval = eval, .arena = eval->arena };
    return fold_value(&f, value, out);
}

static bool known_number(ig_ts_eval *eval, ig_ts_kind kind, const ig_value *value,
                         ig_ts_value *out) {
    ig_dims_value dims;
    ig_tensor tensor;
    folding f = { .eval = eval, .arena = eval->arena };
    if (is_changing(&f, value)) {
        return false;
    }
    if (kind != IG_TS_FLOAT && ig_value_dims(value, &dims) && dims.count == 1) {
        ig_ts_value number = ig_ts_of_dim(eval->module, dims.dims[0]);
        bool is_number = number.form == IG_TS_KNOWN;
        *out = kind == IG_TS_BOOL ? ig_ts_of_bool(number.as.i != 0) : number;
        if (kind == IG_TS_INT || is_number) {
            return true;
        }
    }
    if (!ig_ts_fold(eval, value, &tensor) || tensor.count != 1) {
        return false;
    }
    bool is_float = ig_dtype_is_float(tensor.dtype);
    if (kind == IG_TS_FLOAT) {
        *out = ig_ts_of_float(ig_tensor_get_f64(&tensor, 0));
    } else if (kind == IG_TS_BOOL) {
        *out = ig_ts_of_bool(is_float ? ig_tensor_get_f64(&tensor, 0) != 0
                                      : ig_tensor_get_i64(&tensor, 0) != 0);
    } else {
        *out = ig_ts_of_int(ig_tensor_get_i64(&tensor, 0));
    }
    return true;
}

ig_status ig_ts_number_of(ig_ts_eval *eval, ig_ts_kind kind, ig_value *value,
                          ig_ts_value *out_number) {
    if (known_number(eval, kind, value, out_number)) {
        return IG_OK;
    }
    ig_dim count = ig_type_count(eval->module, value->type);
    if (ig_dim_equal(eval->module, count, ig_dim_of(1)) == IG_NO) {
        return ig_ts_error(eval, IG_INVALID,
                           "takes a tensor that does not have one element for %s",
                           kind == IG_TS_BOOL ? "a condition" : "a number");
    }
    ig_expr e = ig_expr_of(&eval->builder);
    value = ig_expr_cast(&e, ig_expr_reshape(&e, value, 0, NULL), dtype_of_kind(kind));
    *out_number = ig_ts_of_run(kind, value);
    return IG_OK;
}

/* ---- from one kind to another ---- */

static ig_ts_value convert_known(ig_ts_kind kind, const ig_ts_value *number) {
    assert(number->form == IG_TS_KNOWN && "a known number is converted here");
    bool is_float = number->kind == IG_TS_FLOAT;
    double f = is_float                     ? number->as.f
               : number->kind == IG_TS_BOOL ? number->as.b
                                            : (double)number->as.i;
    int64_t i = number->kind == IG_TS_INT    ? number->as.i
                : number->kind == IG_TS_BOOL ? number->as.b
                                             : 0;
    switch ((int)kind) {
    case IG_TS_BOOL:
        return ig_ts_of_bool(is_float ? f != 0 : i != 0);
    case IG_TS_FLOAT:
        return ig_ts_of_float(f);
    case IG_TS_COMPLEX:
        return ig_ts_of_complex(f, 0);
    default:
        if (!is_float) {
            return ig_ts_of_int(i);
        }
        return ig_ts_of_int(f >= -0x1p63 && f < 0x1p63 ? (int64_t)f : INT64_MIN);
    }
}

ig_status ig_ts_convert(ig_ts_eval *eval, ig_ts_kind kind, const ig_ts_value *number,
                        ig_ts_value *out_number) {
    ig_value *value;
    *out_number = *number;
    if (number->kind == kind) {
        return IG_OK;
    }
    if (number->kind == IG_TS_COMPLEX) {
        return ig_ts_error(eval, IG_INVALID,
                           "expected a real number, got a complex one");
    }
    if (number->form == IG_TS_KNOWN) {
        *out_number = convert_known(kind, number);
        return IG_OK;
    }
    if (kind == IG_TS_BOOL && number->form == IG_TS_DIM &&
        ig_dim_less_equal(eval->module, ig_dim_of(1), number->as.dim) == IG_YES) {
        *out_number = ig_ts_of_bool(true);
        return IG_OK;
    }
    IG_TRY(ig_ts_number_read(eval, number, &value));
    ig_expr e = ig_expr_of(&eval->builder);
    *out_number = ig_ts_of_run(kind, ig_expr_cast(&e, value, dtype_of_kind(kind)));
    return IG_OK;
}

ig_status ig_ts_truth(ig_ts_eval *eval, const ig_ts_value *value,
                      ig_ts_value *out_bool) {
    if (value->kind == IG_TS_TENSOR) {
        ig_value *content;
        IG_TRY(ig_ts_tensor_read(eval, value->as.tensor, &content));
        return ig_ts_number_of(eval, IG_TS_BOOL, content, out_bool);
    }
    if (value->kind == IG_TS_NONE) {
        *out_bool = ig_ts_of_bool(false);
        return IG_OK;
    }
    if (!ig_ts_is_number(value)) {
        return ig_ts_error(eval, IG_INVALID, "takes %s for a condition",
                           ig_ts_kind_name(value));
    }
    return ig_ts_convert(eval, IG_TS_BOOL, value, out_bool);
}
