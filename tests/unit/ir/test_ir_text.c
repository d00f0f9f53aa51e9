/* The text form beyond golden files: exactness of elements, options, limits, names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/parse/read.h"

#include "ir/build/build.h"
#include "ir/tensor/element.h"
#include "ir/verify/verify.h"
#include "tests/unit/unit.h"

#include <locale.h>
#include <stdlib.h>

static ig_context context;
static char messages[4096];

static void note_message(void *user, const ig_diagnostic *diagnostic) {
    (void)user;
    size_t size = strlen(messages);
    ig_diagnostic_format(diagnostic, messages + size, sizeof(messages) - size - 1);
    strcat(messages, "\n");
}

static void start(void) {
    messages[0] = '\0';
    context = (ig_context){ .limits = ig_limits_default, .diag.sink = note_message };
}

static ig_module *parse_as(const char *file, const char *text) {
    ig_module *module = NULL;
    ig_status status = ig_parse_module(&context, file, ig_str_of(text), &module);
    CHECK_MSG(status == IG_OK, "%s", messages);
    return module;
}

static ig_module *parse(const char *text) {
    return parse_as("test.ig", text);
}

static ig_status parse_status(const char *text) {
    ig_module *module = NULL;
    ig_status status = ig_parse_module(&context, "test.ig", ig_str_of(text), &module);
    CHECK((module != NULL) == (status == IG_OK));
    ig_module_destroy(module);
    return status;
}

static const char *print_with(ig_module *module, const ig_print_options *options) {
    ig_writer writer;
    ig_writer_init(&writer, &module->arena);
    ig_print_module_with(module, options, &writer);
    return writer.data;
}

static const char *print(ig_module *module) {
    return print_with(module, &(ig_print_options){ 0 });
}

/* ---- elements ---- */

static void check_element(ig_arena *arena, ig_dtype dtype, uint64_t bits) {
    ig_writer writer;
    uint64_t again = ~bits;
    ig_writer_init(&writer, arena);
    ig_element_print(dtype, &bits, 0, &writer);
    const char *problem = ig_element_parse(dtype, ig_writer_str(&writer), &again, 0);
    CHECK_MSG(!problem, "%s of %s %s", writer.data, ig_dtypes[dtype].name, problem);
    CHECK_MSG(memcmp(&bits, &again, ig_dtypes[dtype].bits / 8) == 0,
              "%s of %s reads back as other bits", writer.data, ig_dtypes[dtype].name);
}

static void check_all_bits(ig_dtype dtype) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    for (uint64_t bits = 0; bits < 1u << ig_dtypes[dtype].bits; bits++) {
        check_element(&arena, dtype, bits);
    }
    ig_arena_fini(&arena);
}

TEST(narrow_elements_are_exact) {
    const ig_dtype dtypes[] = { IG_DT_bool,       IG_DT_i8,     IG_DT_u8,
                                IG_DT_f8e4m3fn,   IG_DT_f8e5m2, IG_DT_f8e4m3fnuz,
                                IG_DT_f8e5m2fnuz, IG_DT_f16,    IG_DT_bf16,
                                IG_DT_i16,        IG_DT_u16,    IG_DT_f8e8m0,
                                IG_DT_f4e2m1 };
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        check_all_bits(dtypes[i]);
    }
}

TEST(wide_elements_are_exact) {
    const ig_dtype dtypes[] = { IG_DT_f32, IG_DT_f64, IG_DT_i32,
                                IG_DT_u32, IG_DT_i64, IG_DT_u64 };
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    uint64_t bits = 88172645463325252u; /* xorshift */
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        for (size_t k = 0; k < IG_COUNT_OF(dtypes); k++) {
            check_element(&arena, dtypes[k], bits);
        }
    }
    ig_arena_fini(&arena);
}

TEST(packed_elements_keep_their_neighbours) {
    unsigned char bytes[2] = { 0xff, 0xff };
    CHECK(!ig_element_parse(IG_DT_u4, IG_STR("5"), bytes, 1));
    CHECK_INT(bytes[0], 0x5f);
    CHECK_INT(bytes[1], 0xff);
    CHECK(!ig_element_parse(IG_DT_i2, IG_STR("-2"), bytes, 5));
    CHECK_INT(bytes[1], 0xfb);
    CHECK(ig_element_parse(IG_DT_i2, IG_STR("2"), bytes, 5) != NULL);
    CHECK_INT(bytes[1], 0xfb);
}

TEST(numbers_do_not_depend_on_the_locale) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        setlocale(LC_ALL, ""); /* whatever there is */
    }
    start();
    ig_module *module = parse("module @m {\n  weight @w : f32[2] = [0.5, 1e-3]\n}\n");
    CHECK_TEXT(print(module), "module @m {\n  weight @w : f32[2] = [0.5, 0.001]\n}\n");
    ig_module_destroy(module);
}

/* ---- types and dims alone ---- */

static void check_type(const char *text, const char *expected) {
    const ig_type *type = NULL;
    ig_module *module = ig_module_create(&context, "m");
    CHECK_OK(ig_parse_type(module, ig_str_of(text), &type));
    ig_writer writer;
    ig_writer_init(&writer, &module->arena);
    ig_print_type(module, type, &writer);
    CHECK_TEXT(writer.data, expected);
    ig_module_destroy(module);
}

TEST(types_stand_alone) {
    start();
    check_type("f32[8,13]", "f32[8, 13]");
    check_type(" f32 [ B , N + B ] ", "f32[B, B + N]");
    check_type("i64[]", "i64[]");
    check_type("&f32", "&f32");
    check_type("&f32[]", "&f32");
    check_type("bool<16>", "bool<16>");
    check_type("f32<1>", "f32");
    check_type("seq<opt<f16[2]>>", "seq<opt<f16[2]>>");
    check_type("opt<seq<f16[*]>>", "opt<seq<f16[*]>>");
    check_type("f16<rowwise>[4, 64]", "f16<rowwise>[4, 64]");
    CHECK_TEXT(messages, "");
}

static void check_bad_type(const char *text) {
    const ig_type *type = NULL;
    ig_module *module = ig_module_create(&context, "m");
    CHECK_STATUS(ig_parse_type(module, ig_str_of(text), &type), IG_INVALID);
    ig_module_destroy(module);
}

TEST(broken_types_are_invalid) {
    const char *const broken[] = { "",     "f32[",      "f32[2]]",   "f32[2] x",
                                   "f33",  "f32[-2]",   "seq<f32[]", "f32<>",
                                   "[2]",  "f32[2,,]",  "f32[2 3]",  "f32[B=1]",
                                   "f32{", "f32<65536>" };
    for (size_t i = 0; i < IG_COUNT_OF(broken); i++) {
        start();
        check_bad_type(broken[i]);
        CHECK_MSG(*messages, "no message for '%s'", broken[i]);
    }
}

TEST(dims_stand_alone) {
    start();
    ig_module *module = ig_module_create(&context, "m");
    ig_dim a, b;
    CHECK_OK(ig_parse_dim(module, IG_STR("(B + 1)*(B + 1) - 2*B"), &a));
    CHECK_OK(ig_parse_dim(module, IG_STR("B*B + 1"), &b));
    CHECK(ig_dim_same(a, b));
    CHECK_OK(ig_parse_dim(module, IG_STR("-(B) + B + 5 + 0*N"), &a));
    CHECK(ig_dim_is(a, 5));
    CHECK_STATUS(ig_parse_dim(module, IG_STR("B +"), &a), IG_INVALID);
    CHECK_STATUS(ig_parse_dim(module, IG_STR("B B"), &a), IG_INVALID);
    CHECK_STATUS(ig_parse_dim(module, IG_STR("exact(B / -1)"), &a), IG_INVALID);
    ig_module_destroy(module);
}

/* ---- what printing leaves out, or adds ---- */

TEST(long_constants_are_bytes_or_elided) {
    start();
    ig_writer writer;
    ig_module *scratch = ig_module_create(&context, "scratch");
    ig_writer_init(&writer, &scratch->arena);
    ig_put(&writer, "module @m {\n  weight @w : u8[65] = inline(0x");
    for (int i = 0; i < 65; i++) {
        ig_put(&writer, "%02x", i);
    }
    ig_put(&writer, ")\n}\n");
    ig_module *module = parse(writer.data);
    CHECK_TEXT(print(module), writer.data);
    ig_print_options options = { .data_bytes = 64 };
    const char *short_text = print_with(module, &options);
    CHECK_TEXT(short_text, "module @m {\n  weight @w : u8[65] = elided(65)\n}\n");
    CHECK_STATUS(parse_status(short_text), IG_INVALID);
    CHECK(strstr(messages, "left out") != NULL);
    ig_module_destroy(module);
    ig_module_destroy(scratch);
}

TEST(locations_come_back) {
    static const char text[] =
        "module @m {\n"
        "  graph @g(%x: f32[2]) -> (f32[2]) {\n"
        "    %0 = relu %x : f32[2] loc {file = \"a.onnx\", graph = \"then\", node = \"n\\\"1\", op = \"Relu\", number = 12, line = 3, column = 4}\n"
        "    ret %0 loc {number = 13}\n"
        "  }\n"
        "}\n";
    start();
    ig_module *module = parse(text);
    const char *plain = print(module);
    CHECK(strstr(plain, "loc") == NULL);
    CHECK_TEXT(print_with(module, &(ig_print_options){ .locations = true }), text);
    const ig_location *where = ig_op_location(module->graphs.items[0]->body.first);
    CHECK_TEXT(where->node, "n\"1");
    CHECK_INT(where->node_id, 12);
    ig_module_destroy(module);
}

TEST(parsed_ops_know_where_they_stand) {
    start();
    ig_module *module = parse("module @m {\n  graph @g() {\n    ret\n  }\n}\n");
    const ig_location *where = ig_op_location(module->graphs.items[0]->body.first);
    CHECK_TEXT(where->file, "test.ig");
    CHECK_INT(where->line, 3);
    CHECK_INT(where->column, 5);
    ig_module_destroy(module);
}

TEST(names_of_values_are_kept) {
    start();
    ig_module *module = parse("module @m {\n  graph @g(%x: f32[]) {\n"
                              "    %0 = relu %x : f32[] \"a\\nb\"\n"
                              "    %1 = fused %0 : f32[] \"f\" (%a \"a b\": f32[]) {\n"
                              "      yield %a\n    }\n    ret\n  }\n}\n");
    ig_op *relu = module->graphs.items[0]->body.first;
    CHECK_TEXT(relu->results[0].name, "a\nb");
    CHECK_TEXT(relu->next->results[0].name, "f");
    CHECK_TEXT(relu->next->bodies[0]->args[0]->name, "a b");
    CHECK(strstr(print(module), "(%a_b: f32[])") != NULL);
    ig_module *again = parse(print(module));
    CHECK_TEXT(print(again), print(module));
    CHECK(ig_graph_hash(again->graphs.items[0]) ==
          ig_graph_hash(module->graphs.items[0]));
    ig_module_destroy(again);
    ig_module_destroy(module);
}

TEST(one_op_prints_with_the_numbers_of_its_graph) {
    start();
    ig_module *module = parse("module @m {\n  graph @g(%x: f32[]) -> (f32[]) {\n"
                              "    %0 = neg %x\n    %1 = relu %0\n    %2 = exp %1\n"
                              "    ret %2\n  }\n}\n");
    ig_graph *graph = module->graphs.items[0];
    ig_op *relu = graph->body.first->next;
    ig_writer writer;
    ig_writer_init(&writer, &module->arena);
    ig_print_op(relu, &writer);
    CHECK_TEXT(writer.data, "%1 = relu %0 : f32[]");
    ig_value_replace(&relu->results[0], graph->body.args[0]);
    ig_op_erase(relu);
    ig_writer_init(&writer, &module->arena);
    ig_print_op(graph->body.first->next, &writer);
    CHECK_TEXT(writer.data, "%1 = exp %x : f32[]");
    ig_module_destroy(module);
}

/* ---- names ---- */

/* Names of users may be anything; in text they stay apart and come back. */
TEST(user_names_are_kept) {
    static const char *const names[] = { "x",   "x",  "x_1",      "9",
                                         "a b", "\"", "\xc3\xa9", "a_b" };
    start();
    ig_module *module = ig_module_create(&context, "m");
    ig_graph *graph = ig_graph_create(module, "g", IG_STAGE_TENSOR);
    const ig_type *type = ig_type_tensor(module, IG_DT_f32, 0, NULL);
    graph->is_entry = true;
    graph->arg_names = names;
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        ig_block_add_arg(&graph->body, type, NULL);
    }
    ig_builder builder = ig_builder_at_end(&graph->body);
    ig_make_ret(&builder, graph->body.args, 1);
    const char *text = print(module);
    ig_module *again = parse(text);
    CHECK_TEXT(print(again), text);
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        CHECK_TEXT(again->graphs.items[0]->arg_names[i], names[i]);
    }
    ig_module_destroy(again);
    ig_module_destroy(module);
}

TEST(weights_are_one_op_a_graph) {
    static const char text[] = "module @m {\n"
                               "  weight @w : f32[] = 1\n"
                               "  graph @g(%c: bool[]) -> (f32[]) {\n"
                               "    %0 = if %c : f32[] { yield @w } else { yield @w }\n"
                               "    %1 = add %0, @w\n"
                               "    ret %1\n"
                               "  }\n"
                               "}\n";
    start();
    ig_module *module = parse(text);
    const ig_op *first = module->graphs.items[0]->body.first;
    CHECK_INT(first->code, IG_OP_weight);
    CHECK_INT(first->next->code, IG_OP_if);
    ig_module_destroy(module);
}

TEST(a_text_is_one_module) {
    start();
    CHECK_STATUS(parse_status("graph @g() {\n  ret\n}\n"), IG_INVALID);
    CHECK_TEXT(messages, "test.ig:1:1: expected 'module', found 'graph'\n");
    start();
    CHECK_STATUS(parse_status(""), IG_INVALID);
    CHECK_TEXT(messages, "test.ig:1:1: expected 'module', but the text ends here\n");
}

/* ---- files ---- */

TEST(constants_are_mapped_from_files) {
    static const char file[] = INGOT_SOURCE_DIR "/tests/golden/text/any.ig";
    static const char text[] =
        "module @m {\n  weight @w : u8[4] = file(\"weights.bin\", 3, 4)\n}\n";
    start();
    ig_module *module = parse_as(file, text);
    const ig_data *data = &ig_module_weight(module, "w")->data;
    const unsigned char *bytes = data->bytes;
    CHECK_INT(bytes[0], 3);
    CHECK_INT(bytes[3], 6);
    CHECK_TEXT(data->file, INGOT_SOURCE_DIR "/tests/golden/text/weights.bin");
    CHECK_INT(module->files.count, 1);
    CHECK_TEXT(print(module), text);
    ig_module_destroy(module);
}

TEST(text_in_memory_names_no_files) {
    static const char text[] =
        "module @m {\n  weight @w : u8[1] = file(\"Makefile\", 0, 1)\n}\n";
    ig_module *module = NULL;
    start();
    CHECK_STATUS(ig_parse_module(&context, NULL, ig_str_of(text), &module), IG_INVALID);
    CHECK_STATUS(ig_parse_module(&context, "<memory>", ig_str_of(text), &module),
                 IG_INVALID);
    CHECK(strstr(messages, "no folder") != NULL);
}

/* ---- limits ---- */

TEST(limits_end_the_parse) {
    static const char text[] = "module @m {\n  graph @g(%c: bool[]) {\n"
                               "    if %c { yield } else { yield }\n    ret\n  }\n}\n";
    start();
    CHECK_OK(parse_status(text));
    context.limits.graph_depth = 0;
    CHECK_STATUS(parse_status(text), IG_LIMIT);
    context.limits = ig_limits_default;
    context.limits.node_count = 2;
    CHECK_STATUS(parse_status(text), IG_LIMIT);
    context.limits = ig_limits_default;
    atomic_store(&context.cancelled, true);
    CHECK_STATUS(parse_status(text), IG_CANCELLED);
}

TEST(every_cut_of_a_text_is_refused) {
    static const char text[] =
        "module @m {\n"
        "  symbol B {min = 1, origin = \"o\"}\n"
        "  weight @w : f32[2] = [1, 0x3f800000]\n"
        "  graph @g(%x \"x\": f32[B, 2], %c: bool[]) -> (f32[B, 2] \"y\") {\n"
        "    guard eq(B, 2*B - B) \"same\"\n"
        "    %0 = softmax %x {axis = -1, log = false} : f32[B, 2]\n"
        "    %1 = if %c : f32[B, 2] { yield %0 } else { yield %x } loc {line = 1}\n"
        "    %2 = add %1, @w\n"
        "    ret %2\n"
        "  }\n"
        "}";
    start();
    CHECK_OK(parse_status(text));
    char *cut = malloc(sizeof text);
    for (size_t size = 0; size < sizeof text - 1; size++) {
        ig_module *module = NULL;
        memcpy(cut, text, size);
        CHECK_STATUS(
            ig_parse_module(&context, "test.ig", (ig_str){ cut, size }, &module),
            IG_INVALID);
    }
    free(cut);
}

UNIT_SUITE(ir_text, narrow_elements_are_exact, wide_elements_are_exact,
           packed_elements_keep_their_neighbours, numbers_do_not_depend_on_the_locale,
           types_stand_alone, broken_types_are_invalid, dims_stand_alone,
           long_constants_are_bytes_or_elided, locations_come_back,
           parsed_ops_know_where_they_stand, names_of_values_are_kept,
           one_op_prints_with_the_numbers_of_its_graph, user_names_are_kept,
           weights_are_one_op_a_graph, a_text_is_one_module,
           constants_are_mapped_from_files, text_in_memory_names_no_files,
           limits_end_the_parse, every_cut_of_a_text_is_refused)
