/* The ONNX importer: names, symbols, options, functions, order, and what it says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/text.h"
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

static onnx_case run;
static ig_module *module;

/* Imports the model; messages are in run.why. */
static ig_status import_with(onnx_model *m, const ig_onnx_options *options) {
    onnx_case_init(&run);
    return ig_import_onnx_memory(&run.context, onnx_pack(m), "dir/m.onnx", options,
                                 &module);
}

static ig_status import(onnx_model *m) {
    return import_with(m, NULL);
}

static void finish(onnx_model *m) {
    ig_module_destroy(module);
    module = NULL;
    onnx_case_fini(&run);
    onnx_model_fini(m);
}

static const ig_graph *main_graph(void) {
    CHECK_OK(ig_verify_module(module));
    return ig_module_graph(module, "main");
}

static uint32_t count_ops(const ig_graph *graph, ig_opcode code) {
    uint32_t count = 0;
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        count += op->code == code;
    }
    return count;
}

/* The text of a type of an argument or, behind the arguments, of a result. */
static const char *type_text(const ig_graph *graph, uint32_t index) {
    ig_writer text;
    ig_writer_init(&text, &run.arena);
    uint32_t args = graph->body.arg_count;
    const ig_value *value = index < args
                                ? graph->body.args[index]
                                : graph->body.last->operands[index - args].value;
    ig_print_type(module, value->type, &text);
    return text.data;
}

/* ---- symbols and names ---- */

TEST(each_dim_has_a_symbol_of_its_own) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_input(&m, "x", ONNX_F32, 2, "batch", "4");
    onnx_input(&m, "y", ONNX_F32, 2, "batch", "");
    onnx_input(&m, "z", ONNX_F32, 1, "batch size/2");
    onnx_node(&m, "Relu", "x", "a");
    onnx_output(&m, "a");
    CHECK_OK(import(&m));
    const ig_graph *graph = main_graph();
    CHECK_TEXT(type_text(graph, 0), "f32[batch, 4]");
    CHECK_TEXT(type_text(graph, 1), "f32[batch2, y_d1]");
    CHECK_TEXT(type_text(graph, 2), "f32[batch_size_2]");
    CHECK_TEXT(ig_symbol_at(module, 1)->origin, "dim 0 of input 'y'");
    CHECK_TEXT(graph->arg_names[2], "z");
    CHECK_TEXT(graph->result_names[0], "a");
    CHECK(graph->is_entry);
    finish(&m);
}
END_TEST

TEST(extents_that_must_agree_are_guarded) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_input(&m, "x", ONNX_F32, 2, "N", "K");
    onnx_input(&m, "y", ONNX_F32, 2, "K", "4");
    onnx_node(&m, "MatMul", "x,y", "p");
    onnx_output(&m, "p");
    CHECK_OK(import(&m));
    const ig_graph *graph = main_graph();
    CHECK_INT(count_ops(graph, IG_OP_guard), 1);
    const float ones[6] = { 1, 1, 1, 1, 1, 1 };
    ig_tensor in[2], out;
    int64_t a[2] = { 2, 3 }, b[2] = { 1, 4 };
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, a, &in[0]));
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, b, &in[1]));
    memcpy(in[0].data, ones, sizeof(ones));
    CHECK_STATUS(ig_interpret(graph, in, &run.arena, &out), IG_INVALID);
    CHECK_MSG(strstr(run.why, "'x'") && strstr(run.why, "'y'"), "%s", run.why);
    finish(&m);
}
END_TEST

static ig_status multiply_bytes(int64_t columns, int64_t zeros) {
    ig_tensor in[3], out;
    int64_t a[] = { 2, 3 }, b[] = { 3, columns };
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_u8, 2, a, &in[0]));
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_i8, 2, b, &in[1]));
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_i8, 1, &zeros, &in[2]));
    return ig_interpret(main_graph(), in, &run.arena, &out);
}

TEST(zero_points_do_not_widen_a_product) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_input(&m, "a", ONNX_U8, 2, "N", "K");
    onnx_input(&m, "b", ONNX_I8, 2, "K", "M");
    onnx_input(&m, "z", ONNX_I8, 1, "Z");
    onnx_node(&m, "MatMulInteger", "a,b,,z", "p");
    onnx_output(&m, "p");
    CHECK_OK(import(&m));
    CHECK_OK(multiply_bytes(5, 5));
    CHECK_OK(multiply_bytes(5, 1));
    CHECK_STATUS(multiply_bytes(1, 5), IG_INVALID);
    CHECK_MSG(strstr(run.why, "the zero point has more elements than its axis"), "%s",
              run.why);
    finish(&m);
}
END_TEST

/* ---- options ---- */

TEST(given_types_replace_declared_ones) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_input(&m, "x", ONNX_F32, 2, "N", "4");
    onnx_input(&m, "y", ONNX_F32, 2, "M", "4");
    onnx_node(&m, "Add", "x,y", "a");
    onnx_output(&m, "a");
    const ig_onnx_input_type both[] = { { "x", "f32[B, 4]" }, { "y", "f32[B, 4]" } };
    CHECK_OK(import_with(&m, &(ig_onnx_options){ .types = both, .type_count = 2 }));
    CHECK_INT(count_ops(main_graph(), IG_OP_guard), 0);
    CHECK_TEXT(type_text(main_graph(), 2), "f32[B, 4]");
    ig_module_destroy(module);
    onnx_case_fini(&run);
    const ig_onnx_input_type wrong[] = { { "x", "f32[8, 5]" }, { "q", "f32[1]" } };
    CHECK_STATUS(import_with(&m, &(ig_onnx_options){ .types = wrong, .type_count = 2 }),
                 IG_INVALID);
    CHECK_MSG(strstr(run.why, "input 'x'") && strstr(run.why, "input 'q'") &&
                  strstr(run.why, "x, y"),
              "%s", run.why);
    finish(&m);
}
END_TEST

TEST(inputs_can_be_folded_in) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_input(&m, "x", ONNX_F32, 1, "N");
    onnx_input(&m, "shape", ONNX_I64, 1, "2");
    onnx_node(&m, "Reshape", "x,shape", "a");
    onnx_output(&m, "a");
    int64_t dim = 2, values[2] = { -1, 3 };
    ig_tensor shape = { .kind = IG_TENSOR,
                        .dtype = IG_DT_i64,
                        .rank = 1,
                        .dims = { dim },
                        .count = 2,
                        .data = values };
    const ig_onnx_input_value value = { "shape", &shape };
    CHECK_OK(import_with(
        &m, &(ig_onnx_options){ .constants = &value, .constant_count = 1 }));
    CHECK_INT(main_graph()->body.arg_count, 1);
    CHECK_TEXT(type_text(main_graph(), 1), "f32[exact(N / 3), 3]");
    finish(&m);
}
END_TEST

TEST(an_initializer_that_is_also_an_input_is_a_constant) {
    onnx_model m;
    onnx_model_init(&m, 9);
    const float w[2] = { 1, 2 };
    const int64_t dim = 2;
    onnx_input(&m, "w", ONNX_F32, 1, "2");
    onnx_input(&m, "x", ONNX_F32, 1, "2");
    onnx_initializer(&m, onnx_tensor(&m, "w", ONNX_F32, 1, &dim, w));
    onnx_node(&m, "Add", "w,x", "a");
    onnx_output(&m, "a");
    CHECK_OK(import(&m));
    CHECK_INT(main_graph()->body.arg_count, 1);
    finish(&m);
}
END_TEST

/* ---- functions ---- */

/* local::scale(x) {by}: x * by, made of a Constant whose value is the attribute. */
static void add_scale(onnx_model *m) {
    Onnx__GraphProto *main = m->graph;
    m->graph = onnx_graph(m, "scale");
    Onnx__NodeProto *constant = onnx_node(m, "Constant", "", "by");
    onnx_attr(m, constant, "value_float", 1)->ref_attr_name = ig_arena_strdup(&m->arena,
                                                                              "by");
    onnx_node(m, "Mul", "x,by", "y");
    Onnx__FunctionProto *f = onnx_function(m, "scale", "x", "y", m->graph);
    f->attribute = onnx_names(m, "by", &f->n_attribute);
    m->graph = main;
}

TEST(functions_are_inlined_with_their_attributes) {
    onnx_model m;
    onnx_model_init(&m, 17);
    add_scale(&m);
    onnx_input(&m, "x", ONNX_F32, 1, "2");
    onnx_attr_f(&m, onnx_call(&m, "scale", "x", "a"), "by", 3);
    onnx_attr_f(&m, onnx_call(&m, "scale", "a", "b"), "by", 5);
    onnx_output(&m, "b");
    CHECK_OK(import(&m));
    float x[2] = { 1, -2 };
    ig_tensor in = { .kind = IG_TENSOR,
                     .dtype = IG_DT_f32,
                     .rank = 1,
                     .dims = { 2 },
                     .count = 2,
                     .data = x },
              out;
    CHECK_OK(ig_interpret(main_graph(), &in, &run.arena, &out));
    CHECK(ig_tensor_get_f64(&out, 0) == 15 && ig_tensor_get_f64(&out, 1) == -30);
    finish(&m);
}
END_TEST

TEST(calls_are_checked) {
    onnx_model m;
    onnx_model_init(&m, 17);
    add_scale(&m);
    onnx_input(&m, "x", ONNX_F32, 1, "2");
    onnx_attr_i(&m, onnx_call(&m, "scale", "x", "a"), "by", 3);
    onnx_attr_f(&m, onnx_call(&m, "scale", "x,x", "b"), "depth", 3);
    onnx_output(&m, "a");
    CHECK_STATUS(import(&m), IG_INVALID);
    CHECK_MSG(strstr(run.why, "has 2 inputs, but function local::scale takes 1"), "%s",
              run.why);
    CHECK_MSG(strstr(run.why, "no attribute 'depth'"), "%s", run.why);
    CHECK_MSG(strstr(run.why, "comes from the call"), "%s", run.why);
    finish(&m);
}
END_TEST

TEST(functions_that_call_each_other_are_refused) {
    onnx_model m;
    onnx_model_init(&m, 17);
    Onnx__GraphProto *main = m.graph;
    m.graph = onnx_graph(&m, "f");
    onnx_call(&m, "g", "x", "y");
    onnx_function(&m, "f", "x", "y", m.graph);
    m.graph = onnx_graph(&m, "g");
    onnx_call(&m, "f", "x", "y");
    onnx_function(&m, "g", "x", "y", m.graph);
    m.graph = main;
    onnx_input(&m, "x", ONNX_F32, 1, "2");
    onnx_node(&m, "Relu", "x", "a");
    onnx_output(&m, "a");
    CHECK_STATUS(import(&m), IG_INVALID);
    CHECK_MSG(strstr(run.why, "local::f, which calls local::g, which calls local::f"),
              "%s", run.why);
    finish(&m);
}
END_TEST

TEST(functions_that_explode_are_refused_before_they_do) {
    onnx_model m;
    onnx_model_init(&m, 17);
    Onnx__GraphProto *main = m.graph;
    static const char *const names[] = { "f0", "f1", "f2", "f3", "f4", "f5", "f6" };
    for (int i = 0; i < 7; i++) { /* each calls the next ten times: 10^7 nodes */
        m.graph = onnx_graph(&m, names[i]);
        for (int k = 0; k < 10; k++) {
            char out[16];
            snprintf(out, sizeof(out), "y%d", k);
            if (i < 6) {
                onnx_call(&m, names[i + 1], "x", out);
            } else {
                onnx_node(&m, "Relu", "x", out);
            }
        }
        onnx_function(&m, names[i], "x", "y0", m.graph);
    }
    m.graph = main;
    onnx_input(&m, "x", ONNX_F32, 1, "2");
    onnx_call(&m, "f0", "x", "a");
    onnx_output(&m, "a");
    CHECK_STATUS(import(&m), IG_LIMIT);
    CHECK(run.context.budget.peak < (8u << 20));
    finish(&m);
}
END_TEST

/* ---- what is said ---- */

/* A node that ONNX knows and Ingot does not. */
static void add_unsupported(onnx_model *m, const char *ins, const char *outs) {
    Onnx__NodeProto *node = onnx_node(m, "CastMap", ins, outs);
    Onnx__OperatorSetIdProto *set = ig_arena_alloc(&m->arena, sizeof *set);
    onnx__operator_set_id_proto__init(set);
    set->has_version = 1;
    set->version = 1;
    set->domain = ig_arena_strdup(&m->arena, "ai.onnx.ml");
    node->domain = set->domain;
    m->opsets[1] = set;
    m->model.n_opset_import = 2;
}

TEST(several_defects_are_all_reported) {
    onnx_model m;
    onnx_model_init(&m, 17);
    const int64_t dims[2] = { 2, 2 };
    onnx_input(&m, "x", ONNX_F32, 2, "N", "4");
    const float few[4] = { 0 };
    onnx_initializer(&m, onnx_tensor(&m, "short", ONNX_F32, 2, dims, few))
        ->raw_data.len = 3;
    onnx_node(&m, "Relu", "nowhere", "a");
    onnx_node(&m, "Frobnicate", "x", "b");
    onnx_node(&m, "Cast", "x", "c");
    onnx_node(&m, "Tanh", "x", "c");
    add_unsupported(&m, "x", "d");
    onnx_node(&m, "MaxPool", "d", "e");
    add_unsupported(&m, "e", "f");
    onnx_node(&m, "Gelu", "x", "g");
    onnx_output(&m, "f");
    onnx_output(&m, "h");
    CHECK_STATUS(import(&m), IG_INVALID);
    static const char *const expected[] = {
        "dir/m.onnx: ",
        "initializer 'short' holds 3 bytes instead of 16",
        "node 1 (Relu): reads 'nowhere'",
        "ai.onnx has no operator 'Frobnicate'",
        "node 3 (Cast): lacks attribute 'to'",
        "value 'c' is defined twice: by node 3 (Cast) and by node 4 (Tanh)",
        "node 5 (CastMap): operator ai.onnx.ml::CastMap (version 1) is not supported",
        "(2 nodes, ",
        "node 6 (MaxPool)",
        "node 8 (Gelu): exists since version 20",
        "output 1, 'h', is never produced",
    };
    for (size_t i = 0; i < IG_COUNT_OF(expected); i++) {
        CHECK_MSG(strstr(run.why, expected[i]), "'%s' is not in:\n%s", expected[i],
                  run.why);
    }
    finish(&m);
}
END_TEST

TEST(valid_but_unsupported_models_say_so) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_input(&m, "x", ONNX_F32, 2, "N", "4");
    add_unsupported(&m, "x", "a");
    onnx_output(&m, "a");
    CHECK_STATUS(import(&m), IG_UNSUPPORTED);
    ig_module_destroy(module);
    onnx_case_fini(&run);
    m.opset.version = 29;
    CHECK_STATUS(import(&m), IG_UNSUPPORTED);
    finish(&m);
}
END_TEST

/* Those beyond a dozen are listed by name alone. */
TEST(all_missing_operators_are_listed) {
    onnx_model m;
    onnx_model_init(&m, 17);
    Onnx__OperatorSetIdProto corp = m.opset;
    corp.domain = ig_arena_strdup(&m.arena, "com.corp");
    m.opsets[m.model.n_opset_import++] = &corp;
    onnx_input(&m, "x", ONNX_F32, 2, "N", "4");
    for (int i = 0; i < 80; i++) {
        const char *name = ig_arena_printf(&m.arena, "Secret%d", i / 2);
        const char *output = ig_arena_printf(&m.arena, "y%d", i);
        onnx_node(&m, name, "x", output)->domain = corp.domain;
    }
    onnx_output(&m, "y0");
    CHECK_STATUS(import(&m), IG_UNSUPPORTED);
    static const char *const expected[] = {
        ("node 1 (Secret0): operator com.corp::Secret0 (version 17) is not supported yet "
         "(2 nodes, this is the first)"),
        "node 21 (Secret10)",
        "29 further operators are not supported yet: com.corp::Secret11, ",
        "com.corp::Secret39",
    };
    for (size_t i = 0; i < IG_COUNT_OF(expected); i++) {
        CHECK_MSG(strstr(run.why, expected[i]), "'%s' is not in:\n%s", expected[i],
                  run.why);
    }
    CHECK_MSG(!strstr(run.why, "node 23"), "%s", run.why);
    finish(&m);
}
END_TEST

TEST(a_domain_without_a_version_is_refused_once) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_input(&m, "x", ONNX_F32, 2, "N", "4");
    onnx_node(&m, "Mystery", "x", "a")->domain = ig_arena_strdup(&m.arena, "com.x");
    onnx_node(&m, "Mystery", "a", "b")->domain = ig_arena_strdup(&m.arena, "com.x");
    onnx_output(&m, "b");
    CHECK_STATUS(import(&m), IG_INVALID);
    const char *first = strstr(run.why, "opset_import lacks domain 'com.x'");
    CHECK_MSG(first && !strstr(first + 1, "opset_import"), "%s", run.why);
    finish(&m);
}
END_TEST

TEST(claims_are_checked_where_they_are_made) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_input(&m, "x", ONNX_F32, 2, "N", "4");
    onnx_input(&m, "y", ONNX_F32, 2, "5", "4");
    onnx_node(&m, "MatMul", "x,y", "p"); /* 4 and 5 provably differ */
    onnx_output(&m, "p");
    CHECK_STATUS(import(&m), IG_INVALID);
    CHECK_MSG(strstr(run.why, "node 1 (MatMul): the inner extents"), "%s", run.why);
    finish(&m);
}
END_TEST

TEST(unsorted_nodes_are_sorted_with_a_warning) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_input(&m, "x", ONNX_F32, 1, "2");
    onnx_input(&m, "go", ONNX_BOOL, 0);
    Onnx__GraphProto *main = m.graph, *branch = onnx_graph(&m, "branch");
    m.graph = branch; /* captures b, which is made after the If */
    onnx_node(&m, "Neg", "b", "r");
    onnx_output(&m, "r");
    m.graph = main;
    Onnx__NodeProto *choice = onnx_node(&m, "If", "go", "c");
    onnx_attr_g(&m, choice, "then_branch", branch);
    onnx_attr_g(&m, choice, "else_branch", branch);
    onnx_node(&m, "Relu", "x", "b");
    onnx_output(&m, "c");
    CHECK_OK(import(&m));
    CHECK_MSG(strstr(run.why, "warning"), "%s", run.why);
    CHECK_OK(ig_verify_module(module));
    finish(&m);
}
END_TEST

/* Are these, named with blanks between, the parameters of the module? */
static void check_parameters(const char *names) {
    char found[256] = "";
    for (size_t i = 0; i < module->weights.count; i++) {
        const ig_weight *weight = module->weights.items[i];
        if (weight->is_parameter) {
            strcat(strcat(found, weight->name), " ");
        }
    }
    CHECK_TEXT(found, names);
}

/* x * weight, normalised, at rows that are integers. */
static void make_trained(onnx_model *m) {
    static const int64_t numbers[400]; /* bytes of any type */
    static const char *const names[] = { "scale", "shift", "mean", "variance" };
    int64_t dims[] = { 400, 1 };
    onnx_model_init(m, 17);
    onnx_input(m, "x", ONNX_F32, 2, "N", "400");
    onnx_initializer(m, onnx_tensor(m, "weight", ONNX_F32, 2, dims, numbers));
    onnx_initializer(m, onnx_tensor(m, "rows", ONNX_I64, 1, dims, numbers));
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        onnx_initializer(m, onnx_tensor(m, names[i], ONNX_F32, 1, dims, numbers));
    }
    onnx_node(m, "BatchNormalization", "x,scale,shift,mean,variance", "n");
    onnx_node(m, "MatMul", "n,weight", "p");
    onnx_node(m, "Gather", "p,rows", "y");
    onnx_output(m, "y");
}

TEST(floats_but_statistics_are_parameters) {
    onnx_model m;
    make_trained(&m);
    CHECK_MSG(import(&m) == IG_OK, "%s", run.why);
    CHECK_INT(module->weights.count, 6);
    check_parameters("weight scale shift ");
    finish(&m);
}
END_TEST

/* Two norms of one pair of statistics: the first changes them, as states of a model
 * that is to be trained; a call of another model changes nothing. */
TEST(statistics_of_training_mode_are_states_of_what_is_trained) {
    static const float numbers[3] = { 1, 2, 3 };
    static const char *const names[] = { "scale", "shift", "mean", "variance" };
    for (int keeps = 0; keeps < 2; keeps++) {
        onnx_model m;
        int64_t channels = 3;
        onnx_model_init(&m, 17);
        onnx_input(&m, "x", ONNX_F32, 2, "N", "3");
        for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
            onnx_initializer(
                &m, onnx_tensor(&m, names[i], ONNX_F32, 1, &channels, numbers));
        }
        onnx_attr_i(&m,
                    onnx_node(&m, "BatchNormalization", "x,scale,shift,mean,variance",
                              "n,next_mean"),
                    "training_mode", 1);
        onnx_attr_i(
            &m, onnx_node(&m, "BatchNormalization", "n,scale,shift,mean,variance", "y"),
            "training_mode", 1);
        onnx_output(&m, "y");
        onnx_output(&m, "next_mean");
        onnx_output(&m, "mean");
        CHECK_MSG(import_with(&m, &(ig_onnx_options){ .keeps_weights = keeps }) ==
                      IG_OK,
                  "%s", run.why);
        const ig_graph *graph = main_graph();
        const ig_op *ret = graph->body.last;
        CHECK_INT(graph->state_count, keeps ? 2 : 0);
        CHECK_INT(graph->body.arg_count, keeps ? 3 : 1);
        CHECK_INT(ret->operand_count, keeps ? 5 : 3);
        if (keeps) {
            CHECK_TEXT(graph->states[0], "mean");
            CHECK_TEXT(graph->states[1], "variance");
            CHECK(ret->operands[3].value == ret->operands[1].value);
            CHECK(ret->operands[2].value == graph->body.args[1]);
        }
        finish(&m);
    }
}
END_TEST

TEST(training_information_names_parameters) {
    onnx_model m;
    make_trained(&m);
    Onnx__StringStringEntryProto update = ONNX__STRING_STRING_ENTRY_PROTO__INIT;
    Onnx__StringStringEntryProto *updates[] = { &update };
    Onnx__TrainingInfoProto info = ONNX__TRAINING_INFO_PROTO__INIT;
    Onnx__TrainingInfoProto *infos[] = { &info };
    update.key = (char[]){ "shift" };
    update.value = (char[]){ "fresh" };
    info.update_binding = updates;
    info.n_update_binding = 1;
    info.algorithm = m.graph; /* passed over */
    m.model.training_info = infos;
    m.model.n_training_info = 1;
    CHECK_OK(import(&m));
    check_parameters("shift ");
    finish(&m);
}
END_TEST

TEST(a_cycle_names_its_nodes) {
    onnx_model m;
    onnx_model_init(&m, 17);
    onnx_node(&m, "Relu", "c", "a");
    onnx_node(&m, "Tanh", "a", "b");
    onnx_node(&m, "Neg", "b", "c");
    onnx_output(&m, "c");
    CHECK_STATUS(import(&m), IG_INVALID);
    CHECK_MSG(strstr(run.why, "node 1 (Relu)") && strstr(run.why, "node 2 (Tanh)") &&
                  strstr(run.why, "node 3 (Neg)"),
              "%s", run.why);
    finish(&m);
}
END_TEST

TEST(an_initializer_of_an_input_is_a_default_that_may_be_replaced) {
    onnx_model m;
    onnx_model_init(&m, 17);
    const float w[2] = { 1, 2 };
    const int64_t dim = 2;
    onnx_input(&m, "w", ONNX_F32, 1, "2");
    onnx_input(&m, "x", ONNX_F32, 1, "2");
    onnx_initializer(&m, onnx_tensor(&m, "w", ONNX_F32, 1, &dim, w));
    onnx_node(&m, "Add", "x,w", "a");
    onnx_output(&m, "a");
    const ig_onnx_input_type type = { "w", "f32[2]" };
    CHECK_OK(import_with(&m, &(ig_onnx_options){ .types = &type, .type_count = 1 }));
    CHECK_INT(main_graph()->body.arg_count, 2);
    CHECK_TEXT(main_graph()->arg_names[0], "w");
    ig_module_destroy(module);
    onnx_case_fini(&run);
    CHECK_OK(import_with(
        &m, &(ig_onnx_options){ .is_inputs_only = true, .has_defaults = true }));
    CHECK_INT(main_graph()->body.arg_count, 2);
    ig_module_destroy(module);
    onnx_case_fini(&run);
    m.model.ir_version = 3; /* all weights were inputs then */
    CHECK_OK(import_with(
        &m, &(ig_onnx_options){ .is_inputs_only = true, .has_defaults = true }));
    CHECK_INT(main_graph()->body.arg_count, 1);
    finish(&m);
}
END_TEST

/* ---- external data in memory ---- */

/* y = x + w, with w in "data/w.bin" from `offset` on. */
static void build_external(onnx_model *m, const char *offset, const char *length) {
    const float w[2] = { 0, 0 };
    const int64_t dim = 2;
    const char *const pairs[][2] = { { "location", "data/w.bin" },
                                     { "offset", offset },
                                     { "length", length } };
    onnx_model_init(m, 17);
    onnx_input(m, "x", ONNX_F32, 1, "2");
    Onnx__TensorProto *tensor = onnx_tensor(m, "w", ONNX_F32, 1, &dim, w);
    tensor->has_raw_data = 0;
    tensor->has_data_location = 1;
    tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    for (size_t i = 0; i < IG_COUNT_OF(pairs); i++) {
        Onnx__StringStringEntryProto *entry = ig_arena_alloc(&m->arena, sizeof *entry);
        onnx__string_string_entry_proto__init(entry);
        entry->key = ig_arena_strdup(&m->arena, pairs[i][0]);
        entry->value = ig_arena_strdup(&m->arena, pairs[i][1] ? pairs[i][1] : "");
        if (pairs[i][1]) {
            ONNX_APPEND(m, tensor->external_data, tensor->n_external_data, entry);
        }
    }
    onnx_initializer(m, tensor);
    onnx_node(m, "Add", "x,w", "y");
    onnx_output(m, "y");
}

/* Imports it without a folder, with `count` things in memory. */
static ig_status import_given(onnx_model *m, const ig_onnx_external *given,
                              size_t count) {
    onnx_case_init(&run);
    return ig_import_onnx_memory(
        &run.context, onnx_pack(m), NULL,
        &(ig_onnx_options){ .external = given, .external_count = count }, &module);
}

/* w is what was given: y[1] of x = (1, 2) says. */
static void check_given(const ig_onnx_external *given, size_t count, const char *offset,
                        float wanted) {
    onnx_model m;
    build_external(&m, offset, NULL);
    ig_status status = import_given(&m, given, count);
    CHECK_MSG(status == IG_OK, "%s", run.why);
    float values[2] = { 1, 2 };
    ig_tensor x = { .kind = IG_TENSOR,
                    .dtype = IG_DT_f32,
                    .rank = 1,
                    .dims = { 2 },
                    .count = 2,
                    .data = values },
              y = { 0 };
    CHECK_OK(ig_interpret(main_graph(), &x, &run.arena, &y));
    CHECK(ig_tensor_get_f64(&y, 1) == (double)wanted);
    finish(&m);
}

TEST(external_data_may_be_in_memory) {
    static const float file[4] = { 10, 20, 30, 40 }, own[2] = { 5, 6 };
    const ig_onnx_external given[] = {
        { "data/w.bin", { (const char *)file, sizeof file } },
        { "w", { (const char *)own, sizeof own } },
        { "nobody", { NULL, 0 } },
    };
    check_given(given, 1, NULL, 22);
    check_given(given, 1, "8", 42);
    check_given(given + 1, 2, "8", 8); /* the tensor by its name: no offset counts */
    check_given(given, 3, "4", 32);    /* the file comes first */
}
END_TEST

static void check_refused(const ig_onnx_external *given, size_t count,
                          const char *offset, const char *length, const char *words) {
    onnx_model m;
    build_external(&m, offset, length);
    CHECK_STATUS(import_given(&m, given, count), IG_INVALID);
    CHECK_MSG(strstr(run.why, "initializer 'w'") && strstr(run.why, words), "%s",
              run.why);
    onnx_case_fini(&run);
    onnx_model_fini(&m);
}

TEST(external_data_in_memory_is_held_to_its_size) {
    static const float file[2] = { 10, 20 };
    const ig_onnx_external whole = { "data/w.bin", { (const char *)file, 8 } };
    const ig_onnx_external less = { "data/w.bin", { (const char *)file, 7 } };
    const ig_onnx_external none = { "data/w.bin", { NULL, 0 } };
    const ig_onnx_external own = { "w", { (const char *)file, 4 } };
    const ig_onnx_external other = { "w.bin", { (const char *)file, 8 } };
    check_refused(&whole, 1, "1", NULL, "runs past the end");
    check_refused(&whole, 1, "9223372036854775807", NULL, "runs past the end");
    check_refused(&whole, 1, "-8", NULL, "not a size");
    check_refused(&whole, 1, "0", "16", "its external length is 16");
    check_refused(&less, 1, NULL, NULL, "runs past the end");
    check_refused(&none, 1, NULL, NULL, "runs past the end");
    check_refused(&own, 1, NULL, NULL, "given as 'w' has 4");
    check_refused(&other, 1, NULL, NULL, "external in 'data/w.bin'");
    check_refused(NULL, 0, NULL, NULL, "read from memory");
}
END_TEST

UNIT_SUITE(onnx_import, each_dim_has_a_symbol_of_its_own,
           external_data_may_be_in_memory, external_data_in_memory_is_held_to_its_size,
           floats_but_statistics_are_parameters, training_information_names_parameters,
           statistics_of_training_mode_are_states_of_what_is_trained,
           extents_that_must_agree_are_guarded, zero_points_do_not_widen_a_product,
           given_types_replace_declared_ones, inputs_can_be_folded_in,
           an_initializer_that_is_also_an_input_is_a_constant,
           an_initializer_of_an_input_is_a_default_that_may_be_replaced,
           functions_are_inlined_with_their_attributes, calls_are_checked,
           functions_that_call_each_other_are_refused,
           functions_that_explode_are_refused_before_they_do,
           several_defects_are_all_reported, valid_but_unsupported_models_say_so,
           all_missing_operators_are_listed, a_domain_without_a_version_is_refused_once,
           claims_are_checked_where_they_are_made,
           unsorted_nodes_are_sorted_with_a_warning, a_cycle_names_its_nodes)
