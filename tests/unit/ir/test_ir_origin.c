/* Whose work an op does: through replacing, erasing, cloning.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build.h"

#include "tests/unit/unit.h"

static ig_context context;
static ig_module *module;
static ig_graph *graph;
static ig_value *x;
static ig_arena scratch;

static void start(void) {
    context = (ig_context){ .limits = ig_limits_default };
    module = ig_module_create(&context, "test");
    graph = ig_graph_create(module, "main", IG_STAGE_TENSOR);
    ig_dim four = ig_dim_of(4);
    x = ig_block_add_arg(&graph->body, ig_type_tensor(module, IG_DT_f32, 1, &four),
                         "x");
    ig_arena_init(&scratch, &context.budget);
}

static void finish(void) {
    ig_arena_fini(&scratch);
    ig_module_destroy(module);
}

/* An op of node number `node`. */
static ig_op *make(ig_opcode code, ig_value *a, uint32_t node) {
    ig_builder b = ig_builder_at_end(&graph->body);
    b.loc = ig_module_location(module, &(ig_location){ .node_id = node });
    return ig_make1(&b, code, a)->def;
}

/* "1 2 5": numbers of nodes. */
static const char *nodes_of(const ig_module *of, const ig_op *op) {
    uint32_t *locations;
    uint32_t count = ig_origins_list(of, ig_op_origins(op), &scratch, &locations);
    const char *text = "";
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = of->locations.items[locations[i]].node_id;
        text = ig_arena_printf(&scratch, "%s%s%u", text, i ? " " : "", node);
    }
    return text;
}

TEST(a_replacement_inherits_what_dies_with_its_op) {
    start();
    ig_op *neg = make(IG_OP_neg, x, 1);
    ig_op *exp = make(IG_OP_exp, neg->results, 2);
    ig_op *relu = make(IG_OP_relu, exp->results, 3);
    ig_builder b = ig_builder_before(relu);
    ig_op *by = ig_make1(&b, IG_OP_sigmoid, x)->def;
    CHECK_TEXT(nodes_of(module, by), "3");
    ig_value_replace(relu->results, by->results);
    ig_op_erase(relu);
    ig_op_erase(exp);
    CHECK_TEXT(nodes_of(module, by), "2 3");
    ig_op_erase(neg);
    CHECK_TEXT(nodes_of(module, by), "1 2 3");
    CHECK_INT(module->gone.count, 0);
    finish();
}

TEST(an_heir_that_went_hands_on) {
    start();
    ig_op *neg = make(IG_OP_neg, x, 1);
    ig_op *exp = make(IG_OP_exp, x, 2);
    ig_op *abs = make(IG_OP_abs, x, 3);
    ig_value_replace(neg->results, exp->results);
    ig_value_replace(exp->results, abs->results);
    ig_op_erase(exp);
    ig_op_erase(neg);
    CHECK_TEXT(nodes_of(module, abs), "1 2 3");
    finish();
}

TEST(two_that_replace_each_other_end) {
    start();
    ig_op *neg = make(IG_OP_neg, x, 1);
    ig_op *exp = make(IG_OP_exp, x, 2);
    ig_value_replace(neg->results, exp->results);
    ig_value_replace(exp->results, neg->results);
    ig_op_erase(exp);
    CHECK_TEXT(nodes_of(module, neg), "1 2");
    ig_op_erase(neg);
    CHECK_INT(module->gone.count, 1);
    CHECK_INT(module->gone.items[0].code, IG_OP_neg);
    finish();
}

TEST(what_nobody_replaces_is_gone) {
    start();
    ig_op *neg = make(IG_OP_neg, x, 7);
    ig_op_erase(neg);
    CHECK_INT(module->gone.count, 1);
    CHECK_INT(module->locations.items[module->gone.items[0].origins >> 1].node_id, 7);
    finish();
}

TEST(what_stands_in_bodies_is_inherited_too) {
    start();
    ig_op *neg = make(IG_OP_neg, x, 1);
    const ig_type *type = x->type;
    ig_op_spec spec = { .operands = &x,
                        .operand_count = 1,
                        .result_types = &type,
                        .result_count = 1,
                        .body_count = 1 };
    ig_op *fused = ig_op_create(graph, IG_OP_fused, &spec);
    ig_op_insert(fused, &graph->body, NULL);
    ig_map map;
    ig_map_init(&map, &module->arena);
    ig_op_clone(neg, fused->bodies[0], NULL, &map);
    ig_op *by = make(IG_OP_relu, x, 2);
    ig_op_inherit(by, fused);
    ig_op_erase(fused);
    CHECK_TEXT(nodes_of(module, by), "1 2");
    finish();
}

TEST(a_union_stands_once) {
    start();
    ig_origins one = 1 << 1, two = 2 << 1, three = 3 << 1;
    ig_origins both = ig_origins_join(module, one, two);
    CHECK_INT(ig_origins_join(module, two, one), both);
    CHECK_INT(ig_origins_join(module, both, two), both);
    CHECK_INT(ig_origins_join(module, 0, both), both);
    CHECK_INT(ig_origins_join(module, both, 0), both);
    CHECK_INT(module->unions.count, 1);
    ig_origins all = ig_origins_join(module, both, three);
    uint32_t *locations;
    CHECK_INT(ig_origins_list(module, all, &scratch, &locations), 3);
    CHECK_INT(locations[0], 1);
    CHECK_INT(locations[2], 3);
    CHECK_INT(ig_origins_list(module, 0, &scratch, &locations), 0);
    finish();
}

TEST(a_clone_keeps_origins) {
    start();
    ig_op *neg = make(IG_OP_neg, x, 1);
    ig_op *relu = make(IG_OP_relu, x, 2);
    ig_value_replace(neg->results, relu->results);
    ig_op_erase(neg);
    ig_op_erase(make(IG_OP_exp, x, 3));
    ig_module *copy = ig_module_clone(module);
    CHECK_TEXT(nodes_of(copy, copy->graphs.items[0]->body.first), "1 2");
    CHECK_INT(copy->gone.count, 1);
    ig_module_destroy(copy);
    finish();
}

UNIT_SUITE(ir_origin, a_replacement_inherits_what_dies_with_its_op,
           an_heir_that_went_hands_on, two_that_replace_each_other_end,
           what_nobody_replaces_is_gone, what_stands_in_bodies_is_inherited_too,
           a_union_stands_once, a_clone_keeps_origins)
