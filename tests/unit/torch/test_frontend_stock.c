/* torch's own Python: its modules are found by name, and each is Python.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/parse.h"
#include "frontend/torch/stock/stock.h"
#include "tests/unit/unit.h"

TEST(modules_and_classes_are_found) {
    const ig_stock_module *linear = ig_stock_find(IG_STR("torch.nn.modules.linear"));
    const ig_stock_module *all = ig_stock_find(IG_STR("torch.nn.modules"));
    CHECK(linear && !linear->is_package);
    CHECK_TEXT(linear->file, "torch/nn/modules/linear.py");
    CHECK(all && all->is_package);
    CHECK(!ig_stock_find(IG_STR("torch.nn.modules.module"))); /* the evaluator's */
    CHECK(!ig_stock_find(IG_STR("torch")) && !ig_stock_find(IG_STR("")));
    CHECK(ig_stock_has_class(IG_STR("torch.nn.modules.linear"), IG_STR("Linear")));
    CHECK(!ig_stock_has_class(IG_STR("torch.nn.modules.linear"), IG_STR("Line")));
    CHECK(!ig_stock_has_class(IG_STR("torch.nn.modules.linear"), IG_STR("")));
    CHECK(!ig_stock_has_class(IG_STR("torch.nn.modules.conv"), IG_STR("Linear")));
}
END_TEST

TEST(a_class_is_found_by_its_line) {
    static const struct {
        const char *text, *name;
        uint32_t line;
    } rows[] = {
        { "class A:\n  pass\n", "A", 1 },
        { "x = 1\n\nclass A(B):\n  pass", "A", 3 },
        { "class AB:\n  pass\nclass A(B):", "A", 3 },
        { "  class A:\n", "A", 0 },
        { "class A", "A", 0 },
        { "class \n", "A", 0 },
        { "", "A", 0 },
        { "class :\n", "", 0 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        uint32_t line = ig_stock_class_line(ig_str_of(rows[i].text),
                                            ig_str_of(rows[i].name));
        CHECK_MSG(line == rows[i].line, "row %zu: %u", i, line);
    }
}
END_TEST

/* A model parses only the pieces that it uses; all of them are Python. */
TEST(every_module_is_python) {
    ig_context context = { .limits = ig_limits_default };
    ig_arena arena;
    ig_map names;
    uint32_t nodes = 0;
    ig_arena_init(&arena, NULL);
    ig_map_init(&names, &arena);
    CHECK(ig_stock_count > 20);
    for (size_t i = 0; i < ig_stock_count; i++) {
        ig_ast_list body;
        ig_script_source source = { .context = &context,
                                    .arena = &arena,
                                    .names = &names,
                                    .node_count = &nodes,
                                    .file = ig_stock_modules[i].file };
        ig_status status = ig_parse_source(&source, ig_stock_modules[i].text, &body);
        CHECK_MSG(status == IG_OK, "%s", ig_stock_modules[i].file);
    }
    ig_arena_fini(&arena);
}
END_TEST

UNIT_SUITE(frontend_stock, modules_and_classes_are_found, a_class_is_found_by_its_line,
           every_module_is_python)
