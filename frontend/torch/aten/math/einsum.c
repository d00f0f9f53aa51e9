/* einsum(equation, tensors), and products of three tensors as one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/math/einsum.h"
#include "frontend/torch/aten/complex.h"

#include <string.h>

/* ---- of complex numbers ---- */

enum { MAX_COMPLEX = 4 }; /* operands: 2^n products of parts */

static bool read_parts(ig_ts_call *call, const ig_ts_list *list, ig_complex *out) {
    const ig_ts_tensor *first = list->items[0].as.tensor;
    for (size_t i = 0; i < list->count && call->e->status == IG_OK; i++) {
        if (list->items[i].kind != IG_TS_TENSOR ||
            list->items[i].as.tensor->dtype != first->dtype) {
            ig_expr_fail(call->e, IG_INVALID, "tensors of different dtypes");
            return false;
        }
        out[i] = ig_aten_complex_item(call, list->items[i].as.tensor);
    }
    return call->e->status == IG_OK;
}

/* The product of the real parts of operands and the imaginary ones of those in
 * `ones`. */
static ig_value *multiply_chosen(ig_ts_call *call, ig_str equation, const ig_complex *x,
                                 uint32_t count, unsigned ones) {
    ig_value *operands[MAX_COMPLEX], *value;
    const char *why;
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = ones >> i & 1 ? x[i].im : x[i].re;
    }
    ig_einsum_spec spec = { equation, operands, count, true };
    return ig_einsum(call->builder, call->arena, &spec, &value, &why) == IG_OK
               ? value
               : ig_expr_fail(call->e, IG_INVALID, "'%.*s': %s", IG_STR_ARG(equation),
                              why);
}

/* Products of as many imaginary parts as i^n says go to either part of the result. */
static ig_status give_complex(ig_ts_call *call, ig_str equation,
                              const ig_ts_list *list) {
    ig_complex x[MAX_COMPLEX], sum = { NULL, NULL };
    if (list->count > MAX_COMPLEX) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "a product of %zu complex tensors, expected at most %d",
                          list->count, MAX_COMPLEX);
    }
    if (!read_parts(call, list, x)) {
        return call->e->status;
    }
    for (unsigned ones = 0; ones < 1U << list->count; ones++) {
        ig_value *term = multiply_chosen(call, equation, x, (uint32_t)list->count,
                                         ones);
        unsigned power = (unsigned)__builtin_popcount(ones);
        ig_value **part = power & 1 ? &sum.im : &sum.re;
        *part = !*part      ? term
                : power & 2 ? ig_build_sub(call->e, *part, term)
                            : ig_build_add(call->e, *part, term);
    }
    IG_TRY(call->e->status);
    return ig_aten_give_complex(call, sum);
}

static bool begins_complex(const ig_ts_list *list) {
    return list && list->items[0].kind == IG_TS_TENSOR &&
           list->items[0].as.tensor->dtype->is_complex;
}

/* ---- einsum ---- */

ig_status ig_ts_op_einsum(ig_ts_call *call) {
    uint32_t count;
    ig_str equation = ig_aten_str(call, 0);
    const ig_ts_list *list = ig_ts_items_of(&call->args[1], 1);
    if (call->e->status == IG_OK && begins_complex(list)) {
        return give_complex(call, equation, list);
    }
    ig_value **tensors = ig_aten_tensors(call, 1, &count);
    ig_value *value;
    const char *why;
    IG_TRY(call->e->status);
    for (uint32_t i = 1; i < count; i++) {
        if (tensors[i]->type->dtype != tensors[0]->type->dtype) {
            return ig_ts_fail(call, IG_INVALID, "tensors of different dtypes");
        }
    }
    ig_einsum_spec spec = { equation, tensors, count, true };
    if (ig_einsum(call->builder, call->arena, &spec, &value, &why) != IG_OK) {
        return ig_ts_fail(call, IG_INVALID, "'%.*s': %s", IG_STR_ARG(equation), why);
    }
    return ig_aten_give(call, value);
}

/* ---- _trilinear ---- */

enum { FACTORS = 3 };

/* Axes are letters: those of `axes` as bits. */
static size_t write_letters(char *out, uint32_t rank, uint64_t axes) {
    size_t count = 0;
    for (uint32_t d = 0; d < rank; d++) {
        if (axes >> d & 1) {
            out[count++] = (char)('a' + d);
        }
    }
    return count;
}

/* Argument `index`, axes of `rank`, as bits. */
static uint64_t read_axes(ig_ts_call *call, uint32_t index, uint32_t rank) {
    uint32_t count;
    uint64_t axes = 0;
    const int64_t *given = ig_aten_ints(call, index, 0, &count);
    for (uint32_t i = 0; i < count && call->e->status == IG_OK; i++) {
        if (given[i] < 0 || given[i] >= rank || axes >> given[i] & 1) {
            ig_expr_fail(call->e, IG_INVALID,
                         "argument %u holds %lld, expected different axes below %u",
                         index, (long long)given[i], rank);
            return 0;
        }
        axes |= UINT64_C(1) << given[i];
    }
    return axes;
}

/* Appends the letters of factor `i` and a comma.  False: it does not fit. */
static bool write_factor(ig_ts_call *call, uint32_t i, const ig_value *factor,
                         uint32_t rank, char *equation, size_t *length) {
    uint64_t own = ~read_axes(call, FACTORS + i, rank);
    size_t count = write_letters(equation + *length, rank, own);
    if (call->e->status == IG_OK && count != factor->type->rank) {
        ig_expr_fail(call->e, IG_INVALID,
                     "argument %u has rank %u, expected %zu beside its new axes", i,
                     factor->type->rank, count);
    }
    *length += count;
    equation[(*length)++] = ',';
    return call->e->status == IG_OK;
}

/* _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim): the product of three
 * tensors, each with new axes of 1 where its `expand` says, summed over `sumdim`. */
ig_status ig_ts_op_trilinear(ig_ts_call *call) {
    ig_value *factors[FACTORS], *value;
    char equation[(FACTORS + 1) * (IG_TENSOR_RANK + 2)];
    const char *why;
    size_t length = 0;
    uint32_t added;
    for (uint32_t i = 0; i < FACTORS; i++) {
        factors[i] = ig_aten_tensor(call, i);
    }
    (void)ig_aten_ints(call, FACTORS, 0, &added);
    IG_TRY(call->e->status);
    uint32_t rank = factors[0]->type->rank + added;
    if (rank > IG_TENSOR_RANK) {
        return ig_ts_fail(call, IG_LIMIT, "a product of rank %u, expected at most %d",
                          rank, IG_TENSOR_RANK);
    }
    ig_dtype dtype = (ig_dtype)factors[0]->type->dtype;
    for (uint32_t i = 1; i < FACTORS; i++) {
        dtype = ig_ts_promote(dtype, (ig_dtype)factors[i]->type->dtype);
    }
    for (uint32_t i = 0; i < FACTORS; i++) {
        factors[i] = ig_aten_cast(call, factors[i], dtype);
        IG_TRY(call->e->status);
        if (!write_factor(call, i, factors[i], rank, equation, &length)) {
            return call->e->status;
        }
    }
    memcpy(equation + length - 1, "->", 2);
    length += 1 + write_letters(equation + length + 1, rank,
                                ~read_axes(call, 2 * FACTORS, rank));
    IG_TRY(call->e->status);
    ig_einsum_spec spec = { { equation, length }, factors, FACTORS, true };
    if (ig_einsum(call->builder, call->arena, &spec, &value, &why) != IG_OK) {
        return ig_ts_fail(call, IG_INVALID, "%s", why);
    }
    return ig_aten_give(call, value);
}
