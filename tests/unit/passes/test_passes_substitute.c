/* Dims in place of symbols.  SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/substitute.h"

#include "ir/dim/dim.h"

#include "tests/unit/unit.h"

/* N to the power of 128: more than one product may be, so a symbol stands for it. */
static ig_dim too_large(ig_module *module, ig_dim n) {
    for (int i = 0; i < 7; i++) {
        n = ig_dim_mul(module, n, n);
    }
    return n;
}

TEST(a_symbol_does_not_come_to_stand_for_itself) {
    ig_context context = { .limits = ig_limits_default };
    ig_module *module = ig_module_create(&context, "test");
    ig_dim m = ig_dim_symbol(module, "M"), n = ig_dim_symbol(module, "N");
    ig_dim large = too_large(module, n), other = too_large(module, m);
    CHECK(ig_symbol_is_defined(ig_dim_as_symbol(module, large)));
    ig_substitution s;
    ig_substitution_init(&s, module, &module->arena);
    s.by_symbol[ig_symbol_index(module, m)] = n;
    for (int again = 0; again < 2; again++) {
        ig_substitute_definitions(&s);
        const ig_dim dims[] = { large, other };
        for (size_t i = 0; i < IG_COUNT_OF(dims); i++) {
            const ig_symbol *symbol = ig_dim_as_symbol(module, dims[i]);
            uint32_t index = ig_symbol_index(module, dims[i]);
            CHECK(!ig_dim_mentions(module, symbol->defined, index));
            CHECK(
                !ig_dim_mentions(module, symbol->defined, ig_symbol_index(module, m)));
            CHECK(ig_dim_mentions(module, symbol->defined, ig_symbol_index(module, n)));
        }
    }
    ig_module_destroy(module);
}

UNIT_SUITE(passes_substitute, a_symbol_does_not_come_to_stand_for_itself)
