/* If: branches that a constant decides, and results whose ranks differ.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_expect.h"

/* y = If(`cond`) { one } else { row }, where one is f32[], and row f32[1]. */
static void begin_choice(const char *cond, const char *low, const char *high) {
    const int64_t one[1] = { 1 };
    Onnx__NodeProto *choice = begin(17, "If", cond, "y");
    onnx_input(&model, "go", ONNX_BOOL, 0);
    onnx_initializer(&model, onnx_tensor(&model, "one", ONNX_F32, 0, NULL, FLOATS(10)));
    onnx_initializer(&model, onnx_tensor(&model, "row", ONNX_F32, 1, one, FLOATS(20)));
    Onnx__GraphProto *main = model.graph, *first = onnx_graph(&model, "first"),
                     *second = onnx_graph(&model, "second");
    model.graph = first;
    onnx_node(&model, "Identity", low, "l");
    onnx_output(&model, "l");
    model.graph = second;
    onnx_node(&model, "Identity", high, "h");
    onnx_output(&model, "h");
    model.graph = main;
    onnx_attr_g(&model, choice, "then_branch", first);
    onnx_attr_g(&model, choice, "else_branch", second);
}

/* Runs on x [1, 3] of 0, 1, 2; the import's status where that fails. */
static ig_status run_choice(bool go, ig_tensor *out) {
    ig_module *module;
    ig_status status = ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL,
                                             NULL, &module);
    if (status != IG_OK) {
        return status;
    }
    CHECK_OK(ig_verify_module(module));
    ig_tensor in[2];
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, INTS(1, 3), &in[0]));
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_bool, 0, NULL, &in[1]));
    ig_tensor_set_i64(&in[1], 0, go);
    for (int64_t i = 0; i < 3; i++) {
        ig_tensor_set_f64(&in[0], i, (double)i);
    }
    status = ig_interpret(ig_module_graph(module, "main"), in, &run.arena, out);
    ig_module_destroy(module);
    return status;
}

TEST(a_rank_that_nothing_sees_may_differ) {
    for (int k = 0; k < 4; k++) {
        bool go = k % 2, swapped = k / 2;
        begin_choice("go", swapped ? "row" : "one", swapped ? "one" : "row");
        onnx_node(&model, "Neg", "y", "n"); /* of a rank that is not sure either */
        onnx_node(&model, "Mul", "n,n", "m");
        onnx_node(&model, "Add", "x,m", "z");
        onnx_output(&model, "z");
        ig_tensor out;
        CHECK_OK(run_choice(go, &out));
        CHECK(out.rank == 2 && out.dims[1] == 3);
        CHECK(ig_tensor_get_f64(&out, 2) == (go != swapped ? 102 : 402));
        end();
    }
}
END_TEST

TEST(a_rank_that_changes_again_may_be_seen) {
    for (int go = 0; go < 2; go++) {
        begin_choice("go", "one", "row");
        onnx_node(&model, "Shape", "y", "s");
        onnx_node(&model, "Size", "s", "z");
        onnx_output(&model, "z");
        ig_tensor out;
        CHECK_OK(run_choice(go, &out));
        CHECK_INT(ig_tensor_get_i64(&out, 0), go ? 0 : 1);
        end();
    }
}
END_TEST

/* Axes in front of more than one element: both branches go on to where ranks are one,
 * with what stands in between, and what that reads. */
TEST(nodes_go_on_in_both_branches) {
    for (int go = 0; go < 2; go++) {
        begin_choice("go", "one", "x");
        onnx_node(&model, "Neg", "y", "n");
        onnx_node(&model, "Abs", "x", "a"); /* of neither branch */
        onnx_node(&model, "Shape", "n", "s");
        onnx_node(&model, "Size", "s", "rank");
        onnx_attr_i(&model, onnx_node(&model, "Cast", "rank", "r"), "to", ONNX_F32);
        onnx_node(&model, "Mul", "n,a", "m"); /* the ranks are one */
        onnx_node(&model, "Add", "m,r", "z");
        onnx_output(&model, "z");
        ig_tensor out;
        CHECK_OK(run_choice(go, &out));
        CHECK(out.rank == 2 && out.dims[0] == 1 && out.dims[1] == 3);
        CHECK(ig_tensor_get_f64(&out, 2) == (go ? -20 + 0 : -4 + 2));
        CHECK(ig_tensor_get_f64(&out, 1) == (go ? -10 + 0 : -1 + 2));
        end();
    }
}
END_TEST

/* Of two ranks is the output itself, what reads it, and both beside what is
 * levelled. */
TEST(an_output_has_the_rank_of_the_branch) {
    static const struct {
        const char *op, *low, *high;
        uint32_t ranks[2];
        double first; /* of the branch that is not taken */
    } cases[] = {
        { NULL, "one", "x", { 2, 0 }, 0 },
        { "Neg", "one", "x", { 2, 0 }, 0 },
        { "Identity", "one", "row", { 1, 0 }, 20 },
        { "Neg", "one", "row", { 1, 0 }, -20 },
        { NULL, "row", "one", { 0, 1 }, 10 },
    };
    for (size_t k = 0; k < 2 * IG_COUNT_OF(cases); k++) {
        size_t c = k / 2;
        begin_choice("go", cases[c].low, cases[c].high);
        if (cases[c].op) {
            onnx_node(&model, cases[c].op, "y", "z");
        }
        onnx_output(&model, cases[c].op ? "z" : "y");
        ig_tensor out;
        CHECK_OK(run_choice(k % 2, &out));
        CHECK(out.kind == IG_TENSOR);
        CHECK_MSG(out.rank == cases[c].ranks[k % 2], "%zu: %u", k, out.rank);
        CHECK(k % 2 || ig_tensor_get_f64(&out, 0) == cases[c].first);
        end();
    }
}
END_TEST

TEST(an_item_of_a_list_of_ranks_is_an_output) {
    static const struct {
        const char *position;
        uint32_t rank;
    } cases[] = { { "last", 0 }, { "back", 2 }, { "go", 0 } };
    for (size_t k = 0; k < IG_COUNT_OF(cases); k++) {
        bool is_known = k < 2;
        begin_choice("go", "one", "x");
        onnx_initializer(&model, onnx_tensor(&model, "last", ONNX_I64, 0, NULL,
                                             (const int64_t[]){ 1 }));
        onnx_initializer(&model, onnx_tensor(&model, "back", ONNX_I64, 0, NULL,
                                             (const int64_t[]){ -2 }));
        onnx_attr_i(&model, onnx_node(&model, "Cast", "go", "at"), "to", ONNX_I64);
        onnx_node(&model, "SequenceConstruct", "x,one", "s");
        onnx_node(&model, "SequenceAt", is_known ? "s,last" : "s,at", "i");
        if (k == 1) {
            model.graph->node[model.graph->n_node - 1]->input[1] =
                (char *)(uintptr_t)cases[k].position;
        }
        onnx_node(&model, is_known ? "Neg" : "Identity", "i", "z");
        onnx_output(&model, "z");
        ig_tensor out;
        CHECK_OK(run_choice(true, &out));
        CHECK_INT(out.rank, cases[k].rank);
        end();
    }
}
END_TEST

/* An If behind another: what to do is told, with the name of the value. */
TEST(two_ranks_after_two_choices_are_refused_in_words) {
    begin_choice("go", "one", "row");
    Onnx__GraphProto *main = model.graph, *branches[2];
    for (int k = 0; k < 2; k++) {
        branches[k] = onnx_graph(&model, k ? "more" : "same");
        model.graph = branches[k];
        onnx_node(&model, k ? "Unsqueeze" : "Identity", k ? "y,first" : "y",
                  k ? "u" : "i");
        onnx_output(&model, k ? "u" : "i");
    }
    model.graph = main;
    onnx_initializer(&model,
                     onnx_tensor(&model, "first", ONNX_I64, 1, INTS(1), INTS(0)));
    Onnx__NodeProto *choice = onnx_node(&model, "If", "go", "z");
    onnx_attr_g(&model, choice, "then_branch", branches[0]);
    onnx_attr_g(&model, choice, "else_branch", branches[1]);
    onnx_output(&model, "z");
    ig_tensor out;
    CHECK_STATUS(run_choice(false, &out), IG_UNSUPPORTED);
    CHECK_MSG(strstr(run.why, "has one rank in one branch of an If") &&
                  strstr(run.why, "give both branches one rank"),
              "%s", run.why);
    end();
}
END_TEST

/* What needs a rank says that there is none. */
TEST(a_reader_of_any_rank_is_refused) {
    begin_choice("go", "one", "x");
    onnx_attr_i(&model, onnx_node(&model, "Cast", "go", "at"), "to", ONNX_I64);
    onnx_node(&model, "SequenceConstruct", "x,one", "s");
    onnx_node(&model, "SequenceAt", "s,at", "i");
    onnx_node(&model, "Neg", "i", "z");
    onnx_output(&model, "z");
    ig_tensor out;
    CHECK_STATUS(run_choice(false, &out), IG_UNSUPPORTED);
    CHECK_MSG(strstr(run.why, "has a rank that the run decides"), "%s", run.why);
    end();
}
END_TEST

/* z = Loop(2) { item }, of what is outside. */
static void stack_twice(const char *item) {
    onnx_initializer(&model, onnx_tensor(&model, "trips", ONNX_I64, 0, NULL,
                                         (const int64_t[]){ 2 }));
    Onnx__GraphProto *main = model.graph, *body = onnx_graph(&model, "body");
    model.graph = body;
    onnx_formal(&model, "trip");
    onnx_formal(&model, "more");
    onnx_node(&model, "Identity", "more", "next");
    onnx_node(&model, "Identity", item, "item");
    onnx_output(&model, "next");
    onnx_output(&model, "item");
    model.graph = main;
    onnx_attr_g(&model, onnx_node(&model, "Loop", "trips,", "z"), "body", body);
    onnx_output(&model, "z");
}

TEST(a_loop_stacks_in_both_branches) {
    for (int go = 0; go < 2; go++) {
        begin_choice("go", "one", "x");
        stack_twice("y");
        ig_tensor out;
        CHECK_OK(run_choice(go, &out));
        CHECK_INT(out.rank, go ? 1 : 3);
        CHECK_INT(out.dims[0], 2);
        end();
    }
}
END_TEST

TEST(a_scan_output_of_any_rank_is_refused) {
    begin_choice("go", "one", "x");
    onnx_attr_i(&model, onnx_node(&model, "Cast", "go", "at"), "to", ONNX_I64);
    onnx_node(&model, "SequenceConstruct", "x,one", "s");
    onnx_node(&model, "SequenceAt", "s,at", "i");
    stack_twice("i");
    ig_tensor out;
    CHECK_STATUS(run_choice(false, &out), IG_UNSUPPORTED);
    CHECK_MSG(strstr(run.why, "has a rank that the run decides"), "%s", run.why);
    end();
}
END_TEST

/* A result of two ranks that nothing reads is no reason to refuse the model. */
TEST(an_unread_result_may_have_two_ranks) {
    begin_choice("go", "one", "x");
    onnx_node(&model, "Neg", "y", "unread");
    onnx_node(&model, "Abs", "x", "z");
    onnx_output(&model, "z");
    ig_tensor out;
    CHECK_OK(run_choice(false, &out));
    CHECK(ig_tensor_get_f64(&out, 2) == 2);
    end();
}
END_TEST

TEST(a_constant_decides_which_branch_there_is) {
    for (int k = 0; k < 4; k++) {
        const uint8_t truth = k % 2 ? 1 : 0;
        bool is_negated = k / 2 > 0;
        begin_choice(is_negated ? "not" : "const", "one", "x");
        Onnx__TensorProto *tensor = onnx_tensor(&model, "const", ONNX_BOOL, 0, NULL,
                                                &truth);
        onnx_initializer(&model, tensor);
        if (is_negated) {
            onnx_node(&model, "Not", "const", "not");
        }
        onnx_output(&model, "y");
        ig_tensor out;
        CHECK_OK(run_choice(false, &out));
        CHECK_INT(out.rank, truth != is_negated ? 0 : 2);
        end();
    }
}
END_TEST

UNIT_SUITE(onnx_branch, a_rank_that_nothing_sees_may_differ,
           a_rank_that_changes_again_may_be_seen, nodes_go_on_in_both_branches,
           an_output_has_the_rank_of_the_branch,
           an_item_of_a_list_of_ranks_is_an_output,
           two_ranks_after_two_choices_are_refused_in_words,
           a_reader_of_any_rank_is_refused, a_scan_output_of_any_rank_is_refused,
           a_loop_stacks_in_both_branches, an_unread_result_may_have_two_ranks,
           a_constant_decides_which_branch_there_is)
