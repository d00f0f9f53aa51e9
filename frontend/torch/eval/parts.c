/* Operators over complex numbers by their rows' functions over real ones.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Column PARTS of a row names the arguments that are values.  A call with complex ones
 * runs the row's function over the real and over the imaginary parts, of which real
 * values have zeros:
 *
 *     "self; src"              both parts are treated alike
 *     "=self"                  values say nothing but what the result is like, which
 *                              has no imaginary part (ones_like)
 *     "input * weight; bias"   the result is linear in either factor: four products
 */
#include "frontend/torch/eval/stacked.h"
#include "frontend/torch/eval/table.h"
#include "ir/build/extent.h"

#include <string.h>

/* ---- which arguments ---- */

typedef enum role { NO_VALUE, LEFT, RIGHT, VALUE } role;

static role role_of(const ig_ts_call *call, uint32_t index) {
    if (index >= call->schema->argument_count) {
        return NO_VALUE;
    }
    const char *name = call->schema->arguments[index].name, *at = call->row->parts;
    bool is_left = false;
    for (at += *at == '='; *at; at += strspn(at, " *;")) {
        size_t length = strcspn(at, " ;");
        bool is_it = strlen(name) == length && !strncmp(at, name, length);
        bool is_right = is_left;
        at += length;
        is_left = !strncmp(at, " * ", 3);
        if (is_it) {
            return is_left ? LEFT : is_right ? RIGHT : VALUE;
        }
    }
    return NO_VALUE;
}

/* The tensor whose items a list is of, or the value is itself; or NULL. */
static const ig_ts_tensor *tensor_of(const ig_ts_value *value) {
    return value->kind == IG_TS_TENSOR ? value->as.tensor
           : value->kind == IG_TS_LIST ? value->as.list->stack
                                       : NULL;
}

/* A tensor's lists of numbers are `depth` deep at the most. */
static bool is_complex(const ig_ts_value *value, uint32_t depth) {
    const ig_ts_list *list = depth ? ig_ts_items_of(value, 1) : NULL;
    const ig_ts_tensor *tensor = tensor_of(value);
    for (size_t i = 0; list && i < list->count; i++) {
        if (is_complex(&list->items[i], depth - 1)) {
            return true;
        }
    }
    return tensor ? tensor->dtype->is_complex : value->kind == IG_TS_COMPLEX;
}

/* The dtype that the call asks for; NULL: none. */
static const ig_torch_dtype_info *asked_dtype(const ig_ts_call *call, int *out_index) {
    *out_index = ig_schema_argument_index(call->schema, "dtype");
    const ig_ts_value *value = *out_index < 0 ? NULL : &call->args[*out_index];
    bool is_code = value && value->kind == IG_TS_INT && ig_ts_is_known(value);
    return is_code ? ig_torch_dtype_of_code(value->as.i) : NULL;
}

bool ig_ts_is_by_parts(const ig_ts_call *call) {
    if (!call->row->parts) {
        return false;
    }
    int at;
    const ig_torch_dtype_info *dtype = asked_dtype(call, &at);
    bool has_complex = dtype && dtype->is_complex;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (is_complex(&call->args[i], IG_TENSOR_RANK)) {
            if (role_of(call, i) == NO_VALUE) {
                return false;
            }
            has_complex = true;
        }
    }
    return has_complex;
}

/* ---- arguments ---- */

typedef enum part_kind { REAL, IMAGINARY, NOTHING } part_kind;

static ig_status part_of_tensor(ig_ts_call *call, ig_ts_value *value, part_kind which) {
    const ig_ts_tensor *tensor = tensor_of(value);
    ig_expr *e = call->e;
    ig_value *x = NULL;
    bool is_complex = tensor->dtype->is_complex;
    if (!is_complex && which == REAL) {
        return IG_OK;
    }
    IG_TRY(ig_ts_tensor_read(call->eval, tensor, &x));
    uint32_t rank = x->type->rank - is_complex;
    if (is_complex && which != NOTHING) {
        x = ig_expr_select(e, x, rank, ig_dim_of(which == REAL ? 0 : 1));
    } else {
        ig_value *zero = ig_expr_number(e, (ig_dtype)x->type->dtype, 0);
        x = ig_expr_expand(e, zero, rank, x->type->dims);
    }
    IG_TRY(e->status);
    ig_ts_tensor *part = ig_ts_tensor_create(call->eval, x, NULL);
    part->is_number = tensor->is_number;
    *value = value->kind == IG_TS_LIST
                 ? ig_ts_of_list(ig_ts_stacked_list(call->eval, part))
                 : ig_ts_of_tensor(part);
    return IG_OK;
}

static ig_status part_of_number(ig_ts_call *call, ig_ts_value *value, part_kind which) {
    ig_ts_value number = *value;
    if (number.kind == IG_TS_COMPLEX && which != NOTHING) {
        double re = number.as.complex.re, im = number.as.complex.im;
        *value = ig_ts_is_known(&number) ? ig_ts_of_float(which == REAL ? re : im)
                                         : number;
        return IG_OK;
    }
    if (which != REAL) {
        *value = ig_ts_of_float(0);
        return IG_OK;
    }
    return ig_ts_is_known(&number)
               ? ig_ts_convert(call->eval, IG_TS_FLOAT, &number, value)
               : IG_OK;
}

/* Makes a value, or the items of lists of values, one of its parts. */
static ig_status take_part(ig_ts_call *call, ig_ts_value *value, part_kind which,
                           uint32_t depth) {
    const ig_ts_list *list = depth ? ig_ts_items_of(value, 0) : NULL;
    if (tensor_of(value)) {
        return part_of_tensor(call, value, which);
    }
    if (!list) {
        return ig_ts_is_number(value) ? part_of_number(call, value, which) : IG_OK;
    }
    ig_ts_list *parts = ig_ts_list_create(call->eval, list->count);
    for (size_t i = 0; i < list->count; i++) {
        ig_ts_value item = list->items[i];
        IG_TRY(take_part(call, &item, which, depth - 1));
        ig_ts_list_add(call->eval, parts, item);
    }
    value->as.list = parts;
    return IG_OK;
}

/* ---- runs ---- */

/* What a run takes of each role. */
typedef struct run {
    part_kind of[VALUE + 1];
} run;

/* The row's function over these parts, by real numbers. */
static ig_status run_parts(ig_ts_call *call, const ig_ts_value *given, const run *r,
                           ig_ts_value **out_results) {
    int dtype_at;
    call->results = IG_NEW_ARRAY(call->arena, ig_ts_value, call->result_count + 1u);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        role is = role_of(call, i);
        call->args[i] = given[i];
        if (is != NO_VALUE) {
            IG_TRY(take_part(call, &call->args[i], r->of[is], IG_TENSOR_RANK));
        }
    }
    const ig_torch_dtype_info *dtype = asked_dtype(call, &dtype_at);
    if (dtype && dtype->is_complex) {
        call->args[dtype_at].as.i = ig_ts_real_of(dtype->ir)->code;
    }
    IG_TRY(call->row->hook(call));
    *out_results = call->results;
    return call->e->status;
}

/* Result `at` of a run as numbers that complex ones have. */
static ig_value *read_part(ig_ts_call *call, const ig_ts_value *results, uint32_t at) {
    ig_value *x = ig_ts_read(call, &results[at]);
    return x ? ig_expr_to_float(call->e, x) : NULL;
}

/* The complex tensor of two parts; `y` NULL: the imaginary one is 0. */
static ig_status join_parts(ig_ts_call *call, ig_value *x, ig_value *y,
                            ig_ts_value *out) {
    ig_expr *e = call->e;
    IG_TRY(e->status);
    uint32_t rank = x->type->rank;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    y = y ? ig_expr_cast(e, y, dtype)
          : ig_expr_expand(e, ig_expr_number(e, dtype, 0), rank, x->type->dims);
    ig_value *sides[] = { ig_expr_unsqueeze(e, x, rank),
                          ig_expr_unsqueeze(e, y, rank) };
    ig_value *joined = ig_expr_concat(e, rank, sides, 2);
    IG_TRY(e->status);
    *out = ig_ts_of_tensor(
        ig_ts_tensor_create(call->eval, joined, ig_ts_complex_of(dtype)));
    return IG_OK;
}

/* Runs whose results are `out_results`: one, one a part, or four of products. */
static ig_status run_all(ig_ts_call *call, const ig_ts_value *given, uint32_t count,
                         ig_ts_value *out_results[4]) {
    static const run alike[] = { { { 0, REAL, REAL, REAL } },
                                 { { 0, IMAGINARY, IMAGINARY, IMAGINARY } } },
                     products[] = { { { 0, REAL, REAL, REAL } },
                                    { { 0, REAL, IMAGINARY, IMAGINARY } },
                                    { { 0, IMAGINARY, IMAGINARY, NOTHING } },
                                    { { 0, IMAGINARY, REAL, NOTHING } } };
    for (uint32_t i = 0; i < count; i++) {
        const run *r = count == 4 ? &products[i] : &alike[i];
        IG_TRY(run_parts(call, given, r, &out_results[i]));
    }
    return IG_OK;
}

static ig_status join_results(ig_ts_call *call, ig_ts_value *const runs[4],
                              uint32_t count) {
    for (uint32_t i = 0; i < call->result_count; i++) {
        if (runs[0][i].kind != IG_TS_TENSOR) {
            continue;
        }
        ig_value *x = read_part(call, runs[0], i);
        ig_value *y = count > 1 ? read_part(call, runs[1], i) : NULL;
        if (count == 4) {
            x = ig_build_sub(call->e, x, read_part(call, runs[2], i));
            y = ig_build_add(call->e, y, read_part(call, runs[3], i));
        }
        IG_TRY(join_parts(call, x, y, &call->results[i]));
    }
    return IG_OK;
}

ig_status ig_ts_run_by_parts(ig_ts_call *call) {
    ig_ts_value *given = call->args, *results = call->results, *runs[4] = { NULL };
    int at;
    const ig_torch_dtype_info *dtype = asked_dtype(call, &at);
    bool is_real = dtype && !dtype->is_complex; /* imaginary parts are dropped */
    const char *parts = call->row->parts;
    uint32_t count = is_real || *parts == '=' ? 1 : strchr(parts, '*') ? 4 : 2;
    call->args = IG_NEW_ARRAY(call->arena, ig_ts_value, call->arg_count + 1u);
    ig_status status = run_all(call, given, count, runs);
    call->args = given;
    call->results = results;
    IG_TRY(status);
    memcpy(results, runs[0], call->result_count * sizeof *results);
    return is_real ? IG_OK : join_results(call, runs, count);
}
