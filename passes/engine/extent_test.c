/* A test of an extent on which an `if` chooses: see extent_test.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/extent_test.h"

#include "ir/build/expr.h"

static void note_symbol(void *user, uint32_t symbol) {
    *(uint32_t *)user = symbol;
}

/* The symbol of a scalar of an extent, `*out_times` it; UINT32_MAX: neither. */
static uint32_t extent_of(ig_module *module, const ig_value *value,
                          int64_t *out_times) {
    ig_dims_value dims;
    uint32_t symbol = UINT32_MAX;
    if (!value || !ig_value_dims(value, &dims) || dims.count != 1) {
        return UINT32_MAX;
    }
    ig_dim_visit_symbols(module, dims.dims[0], note_symbol, &symbol);
    if (symbol == UINT32_MAX) {
        return UINT32_MAX;
    }
    ig_dim dim = ig_dim_named(module, ig_str_of(ig_symbol_at(module, symbol)->name));
    ig_dim times = ig_dim_exact_div(module, dims.dims[0], dim);
    bool is_good = ig_dim_constant(module, times, out_times) && *out_times > 0;
    return is_good ? symbol : UINT32_MAX;
}

/* Of extent != number, extent == number, and extent > 0. */
static bool is_number_test(const ig_op *test, uint32_t extent, int64_t number) {
    bool is_above = (test->code == IG_OP_gt && extent == 0) ||
                    (test->code == IG_OP_lt && extent == 1);
    return test->code == IG_OP_ne || test->code == IG_OP_eq ||
           (is_above && number == 0);
}

bool ig_extent_test_read(const ig_op *op, ig_arena *arena, ig_extent_test *out) {
    const ig_op *test = ig_op_operand(op, 0)->def;
    ig_module *module = ig_op_module(op);
    for (uint32_t i = 0; test && test->operand_count == 2 && i < 2; i++) {
        int64_t times = 1, number;
        uint32_t extent = extent_of(module, ig_op_operand(test, i), &times);
        if (extent == UINT32_MAX ||
            !ig_constant_i64(ig_op_operand(test, 1 - i), &number) || number < 0 ||
            number % times || !is_number_test(test, i, number)) {
            continue;
        }
        uint32_t count = ig_symbol_count(module);
        bool is_equal = test->code == IG_OP_eq;
        *out = (ig_extent_test){ .module = module,
                                 .special = op->bodies[is_equal ? 0 : 1],
                                 .other = op->bodies[is_equal ? 1 : 0],
                                 .by_symbol = IG_NEW_ARRAY(arena, ig_dim, count) };
        for (uint32_t k = 0; k < count; k++) {
            out->by_symbol[k] = IG_DIM_KEEP;
        }
        out->by_symbol[extent] = ig_dim_of(number / times);
        return true;
    }
    return false;
}

ig_dim ig_extent_test_apply(const ig_extent_test *test, ig_dim dim) {
    return ig_dim_substitute(test->module, dim, test->by_symbol);
}
