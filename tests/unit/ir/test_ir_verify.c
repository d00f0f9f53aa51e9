/* The verifier on graphs that no text can express: broken links, orders, chains.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/verify/verify.h"

#include "ir/build/build.h"
#include "ir/parse/read.h"
#include "tests/unit/unit.h"

static ig_context context;
static ig_module *module;
static ig_graph *graph;
static char messages[64 << 10];

static void note_message(void *user, const ig_diagnostic *diagnostic) {
    (void)user;
    size_t size = strlen(messages);
    ig_diagnostic_format(diagnostic, messages + size, sizeof(messages) - size);
}

static void start(const char *text) {
    messages[0] = '\0';
    context = (ig_context){ .limits = ig_limits_default, .diag.sink = note_message };
    ig_status status = ig_parse_module(&context, "test.ig", ig_str_of(text), &module);
    CHECK_MSG(status == IG_OK, "%s", messages);
    graph = module->graphs.items[0];
    CHECK_OK(ig_verify(graph, graph->stage));
}

static void finish(const char *problem) {
    CHECK_STATUS(ig_verify(graph, graph->stage), IG_INTERNAL);
    CHECK_MSG(strstr(messages, problem), "no '%s' in\n%s", problem, messages);
    ig_module_destroy(module);
}

static const char chain[] = "module @m {\n"
                            "  graph @g(%x: f32[4], %c: bool[]) -> (f32[4]) {\n"
                            "    %0 = relu %x\n"
                            "    %1 = neg %0\n"
                            "    %2 = if %c : f32[4] {\n"
                            "      %3 = add %1, %0\n"
                            "      yield %3\n"
                            "    } else {\n"
                            "      yield %1\n"
                            "    }\n"
                            "    ret %2\n"
                            "  }\n"
                            "}\n";

static ig_op *op_at(int index) {
    ig_op *op = graph->body.first;
    while (index-- > 0) {
        op = op->next;
    }
    return op;
}

TEST(errors_stand_under_their_lines) {
    start(chain);
    ig_value_retype(&op_at(1)->results[0],
                    ig_type_tensor(module, IG_DT_f32, 1, (ig_dim[]){ ig_dim_of(5) }));
    CHECK_STATUS(ig_verify(graph, IG_STAGE_TENSOR), IG_INTERNAL);
    CHECK_MSG(strstr(messages, "    # error: result 0 should be f32[4]\n"), "%s",
              messages);
    const char *line = strstr(messages, "%1 = neg %0 : f32[5]\n");
    CHECK_MSG(line, "%s", messages);
    CHECK(strncmp(strchr(line, '\n') + 1, "    # error: result 0", 21) == 0);
    ig_module_destroy(module);
}

TEST(an_operand_is_defined_before) {
    start(chain);
    ig_op_move(op_at(0), &graph->body, op_at(2));
    finish("operand 0 is not defined before here");
}

TEST(a_closed_block_hides_its_values) {
    start(chain);
    ig_op *add = op_at(2)->bodies[0]->first;
    ig_use_set(&op_at(3)->operands[0], &add->results[0]);
    finish("is defined in a block that is closed");
}

TEST(use_chains_are_complete) {
    start(chain);
    op_at(0)->results[0].uses = op_at(0)->results[0].uses->next;
    finish("its chain has fewer");
}

TEST(an_erased_op_is_seen) {
    start(chain);
    op_at(1)->code = IG_OP_ERASED;
    finish("an erased op is here");
}

TEST(links_of_a_block_agree) {
    start(chain);
    op_at(1)->prev = NULL;
    finish("the op is linked wrongly into its block");
}

TEST(ids_are_unique) {
    start(chain);
    op_at(1)->results[0].id = op_at(0)->results[0].id;
    finish("is taken twice");
}

TEST(ids_are_bounded) {
    start(chain);
    op_at(1)->results[0].id = 1u << 30;
    finish("is beyond the graph's");
}

TEST(attributes_are_complete) {
    start("module @m {\n  graph @g(%x: f32[4]) {\n    %0 = softmax %x {axis = 0}\n"
          "    %1 = reduce %0 {op = max}\n    ret\n  }\n}\n");
    op_at(0)->attrs[IG_softmax_axis] = (ig_attr){ 0 };
    op_at(1)->attrs[IG_reduce_op].as.i = 99;
    CHECK_STATUS(ig_verify(graph, IG_STAGE_TENSOR), IG_INTERNAL);
    CHECK(strstr(messages, "attribute 'axis' is missing") != NULL);
    CHECK(strstr(messages, "attribute 'op' has no name for 99") != NULL);
    ig_module_destroy(module);
}

/* No number stands for a name that the text could not read back. */
TEST(lists_of_names_are_complete) {
    start("module @m {\n  weight @t : f32[8, 4] = splat(1)\n"
          "  graph @g(%i: i64[4, 2]) {\n"
          "    %0 = bag @t, %i {operands = [0], pool = [none], empty = [nan]}\n"
          "    ret %0\n  }\n}\n");
    int64_t bad = 7;
    ig_op *bag = ig_op_operand(graph->body.last, 0)->def;
    ig_attr_set(bag, IG_bag_empty, ig_attr_of_ints(module, &bad, 1));
    bad = -1;
    ig_attr_set(bag, IG_bag_pool, ig_attr_of_ints(module, &bad, 1));
    CHECK_STATUS(ig_verify(graph, IG_STAGE_TENSOR), IG_INTERNAL);
    CHECK(strstr(messages, "attribute 'empty' has no name for 7") != NULL);
    CHECK(strstr(messages, "attribute 'pool' has no name for -1") != NULL);
    ig_module_destroy(module);
}

TEST(operands_stay_in_their_graph) {
    start("module @m {\n  graph @g(%x: f32[4]) {\n    %0 = relu %x\n    ret\n  }\n"
          "  graph @h(%x: f32[4]) {\n    ret\n  }\n}\n");
    ig_use_set(&op_at(0)->operands[0], module->graphs.items[1]->body.args[0]);
    finish("operand 0 is not defined before here");
}

TEST(a_graph_has_its_stage) {
    start(chain);
    CHECK_STATUS(ig_verify(graph, IG_STAGE_PLAN), IG_INTERNAL);
    CHECK(strstr(messages, "the graph is of another stage") != NULL);
    ig_module_destroy(module);
}

TEST(circles_of_views_end) {
    start("module @m {\n  plan @p() {\n    %0 = alloc : &f32[4]\n"
          "    %1 = view %0 {offset = 0, strides = [1]} : &f32[4]\n"
          "    %2 = view %1 {offset = 0, strides = [1]} : &f32[4]\n"
          "    ret\n  }\n}\n");
    ig_use_set(&op_at(1)->operands[0], &op_at(2)->results[0]);
    ig_use_set(&op_at(3)->prev->operands[0], &op_at(1)->results[0]);
    finish("operand 0 is not defined before here");
}

TEST(long_graphs_show_the_surroundings_of_errors) {
    ig_writer text;
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @m {\n  graph @g(%%x: f32[4]) {\n    %%0 = relu %%x\n");
    for (int i = 1; i < 3000; i++) {
        ig_put(&text, "    %%%d = neg %%%d\n", i, i - 1);
    }
    ig_put(&text, "    ret\n  }\n}\n");
    start(text.data);
    op_at(1500)->results[0].type = NULL;
    CHECK_STATUS(ig_verify(graph, IG_STAGE_TENSOR), IG_INTERNAL);
    CHECK(strlen(messages) < 20000);
    CHECK(strstr(messages, "%1500 = neg %1499 : ?\n    # error: result 0 has no type"));
    CHECK(strstr(messages, "%1499 = neg %1498 : f32[4]\n"));
    CHECK(!strstr(messages, "%100 = "));
    ig_module_destroy(module);
    ig_arena_fini(&arena);
}

TEST(a_module_is_verified_as_a_whole) {
    start("module @m {\n  weight @w : f32[4] = splat(1)\n  graph @g() {\n    ret\n  }\n"
          "}\n");
    CHECK_OK(ig_verify_module(module));
    ig_module_weight(module, "w")->is_recipe = true;
    CHECK_STATUS(ig_verify_module(module), IG_INTERNAL);
    CHECK(strstr(messages, "@w is a result that graph @weights does not have"));
    ig_module_destroy(module);
}

TEST(types_agree_unless_they_provably_differ) {
    static const struct {
        const char *a, *b;
        bool agrees;
    } cases[] = {
        { "f32[B, 4]", "f32[B, 4]", true },
        { "f32[B, 4]", "f32[N, 4]", true },
        { "f32[B]", "f32[B + 1]", false },
        { "f32[3]", "f32[4]", false },
        { "f32[B]", "f32[4]", true },
        { "f32[B]", "i32[B]", false },
        { "f32[B]", "f32[B, 1]", false },
        { "f32[]", "f32", true },
        { "f32[]", "f32<4>", false },
        { "&f32[B]", "f32[B]", false },
        { "seq<f32[B]>", "seq<f32[N]>", true },
        { "seq<f32[B]>", "opt<f32[B]>", false },
        { "seq<f32[2]>", "seq<f32[3]>", false },
        { "seq<f32[*]>", "seq<f32[*]>", true },
        { "seq<f32[*]>", "seq<f32[]>", false },
        { "i8<rowwise f16>[2, 2]", "i8<rowwise f32>[2, 2]", false },
    };
    start(chain);
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        const ig_type *a, *b;
        CHECK_OK(ig_parse_type(module, ig_str_of(cases[i].a), &a));
        CHECK_OK(ig_parse_type(module, ig_str_of(cases[i].b), &b));
        CHECK_MSG(ig_types_agree(module, a, b) == cases[i].agrees, "%s and %s",
                  cases[i].a, cases[i].b);
    }
    ig_module_destroy(module);
}

UNIT_SUITE(ir_verify, errors_stand_under_their_lines, an_operand_is_defined_before,
           a_closed_block_hides_its_values, use_chains_are_complete,
           an_erased_op_is_seen, links_of_a_block_agree, ids_are_unique,
           ids_are_bounded, attributes_are_complete, lists_of_names_are_complete,
           operands_stay_in_their_graph, a_graph_has_its_stage, circles_of_views_end,
           long_graphs_show_the_surroundings_of_errors, a_module_is_verified_as_a_whole,
           types_agree_unless_they_provably_differ)
