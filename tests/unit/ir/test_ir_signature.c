/* Signature trees and state: what prints, parses; what is wrong, is told.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/signature.h"

#include "ir/parse/signature_read.h"
#include "ir/verify/verify.h"
#include "tests/unit/unit.h"

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

/* ---- trees ---- */

static const char *again(ig_arena *arena, const char *text) {
    ig_node_list nodes;
    uint32_t leaf = 0;
    ig_writer out;
    const char *wrong = ig_node_parse(ig_str_of(text), arena, &nodes);
    if (wrong) {
        return wrong;
    }
    CHECK_INT(ig_node_size(nodes.items), (int64_t)nodes.count);
    ig_writer_init(&out, arena);
    ig_node_print(nodes.items, NULL, &leaf, &out);
    CHECK_INT(leaf, ig_node_leaves(nodes.items, nodes.count));
    return out.data;
}

TEST(trees_print_as_they_parse) {
    static const char *const texts[] = {
        "tensor",
        "f32[B, 13]",
        "int",
        "-7",
        "9223372036854775807",
        "2.0",
        "1e+300",
        "-inf",
        "nan",
        "true",
        "none",
        "\"gr\xc3\xbc\xc3\x9f \\\"e\\\"\\n\"",
        "[]",
        "()",
        "(tensor,)",
        "[f32[3], [1, 2], none]",
        "{\"a\": tensor, 3: {}}",
        "Point(x=tensor, y=tensor, name=\"p\")",
        "\"__torch__.a b\"(x=tensor)",
        "\"kjt\"(x=tensor)",
        "complex(1.5, -2.0)",
        "complex(f32[3, 2])",
        "optional(present=bool, value=tensor)",
        "quantized(values=u8[2, 3], scale=0.04, zero_point=100)",
        "kjt(keys=[\"a\", \"b\"], values=i64[V], lengths=i64[L], weights=none)",
        "kt(keys=[\"a\"], length_per_key=[64], values=tensor)",
        "jt(values=tensor, lengths=tensor, weights=none)",
    };
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    for (size_t i = 0; i < IG_COUNT_OF(texts); i++) {
        CHECK_TEXT(again(&arena, texts[i]), texts[i]);
    }
    ig_arena_fini(&arena);
}

TEST(broken_trees_are_given) {
    static const struct {
        const char *text, *wrong;
    } rows[] = {
        { "", "expected a type or a value" },
        { "[1, 2", "expected ',' or the end of it" },
        { "[1 2]", "expected ',' or the end of it" },
        { "f32[3", "expected ']' after the extents" },
        { "{\"a\"}", "expected ':' after a key" },
        { "{\"a\":}", "expected a value after the key" },
        { "f99[3]", "'f99' is neither a type nor a value" },
        { "1 2", "expected nothing further" },
        { "9223372036854775808", "expected a number that fits" },
        { "kjt(values=tensor)",
          "kjt has the fields keys values lengths weights, in this order" },
        { "\"open", "a string without its closing quote" },
    };
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        CHECK_TEXT(again(&arena, rows[i].text), rows[i].wrong);
    }
    char deep[201] = { 0 };
    memset(deep, '[', 200);
    CHECK_TEXT(again(&arena, deep), "nested too deep, or too much of it");
    ig_arena_fini(&arena);
}

TEST(leaves_have_paths) {
    static const char *const paths[] = { "x", "f.values", "f.lengths", "d.a.1", "d.7" };
    static const char text[] =
        "forward(x: tensor, n: 3, f: kjt(keys=[\"a\"], values=tensor, lengths=tensor, weights=none), d: {\"a\": [0, tensor], 7: int}) -> ()";
    ig_arena arena;
    ig_lexer lexer;
    ig_signature signature;
    ig_arena_init(&arena, NULL);
    ig_lexer_init(&lexer, ig_str_of(text));
    ig_token token = ig_lexer_next(&lexer);
    CHECK(!ig_signature_read(&lexer, &token, &arena, &signature));
    CHECK_INT(token.kind, IG_TOKEN_END);
    CHECK_TEXT(signature.entry, "forward");
    CHECK_INT(signature.arg_count, 4);
    CHECK_INT(ig_signature_result(&signature), (int64_t)signature.nodes.count - 1);
    for (uint32_t i = 0; i < IG_COUNT_OF(paths); i++) {
        CHECK_TEXT(
            ig_node_path(signature.nodes.items, signature.nodes.count, i, &arena),
            paths[i]);
    }
    ig_arena_fini(&arena);
}

TEST(signatures_say_what_a_call_changes) {
    static const char text[] =
        "forward(x: tensor, y: [tensor]) -> none after x: tensor, y.0: tensor";
    ig_arena arena;
    ig_lexer lexer;
    ig_signature signature;
    ig_writer out;
    ig_arena_init(&arena, NULL);
    ig_lexer_init(&lexer, ig_str_of(text));
    ig_token token = ig_lexer_next(&lexer);
    CHECK(!ig_signature_read(&lexer, &token, &arena, &signature));
    CHECK_INT(signature.after_count, 2);
    ig_writer_init(&out, &arena);
    ig_signature_print(&signature, NULL, &out);
    CHECK_TEXT(out.data, text);
    ig_arena_fini(&arena);
}

/* ---- graphs ---- */

static const char with_state[] =
    "module @m {\n"
    "  weight @zero : i64[] = 0\n"
    "  graph @main(%x: i64[3], %n: i64[] = @zero) -> (i64[3] \"y\", i64[])\n"
    "      as forward(x: tensor, by: 2) -> {\"y\": tensor} {\n"
    "    %0 = add %x, %n : i64[3]\n"
    "    %1 = const {value = 1} : i64[]\n"
    "    %2 = add %n, %1 : i64[]\n"
    "    ret %0, %2\n"
    "  }\n"
    "}\n";

TEST(graphs_keep_signature_and_state) {
    start();
    ig_module *module = NULL;
    ig_writer out;
    CHECK_MSG(ig_parse_module(&context, "t.ig", ig_str_of(with_state), &module) ==
                  IG_OK,
              "%s", messages);
    CHECK_INT(module->graphs.items[0]->state_count, 1);
    ig_module *copy = ig_module_clone(module);
    ig_module_destroy(module);
    ig_writer_init(&out, &copy->arena);
    ig_print_module(copy, &out);
    CHECK_TEXT(out.data, with_state);
    CHECK_INT(ig_verify_module(copy), IG_OK);
    ig_module_destroy(copy);
}

static void check_refused(const char *from, const char *to, const char *message) {
    char text[1024];
    ig_module *module = NULL;
    const char *at = strstr(with_state, from);
    CHECK(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - with_state), with_state, to,
             at + strlen(from));
    start();
    CHECK_INT(ig_parse_module(&context, "t.ig", ig_str_of(text), &module), IG_INVALID);
    CHECK_MSG(strstr(messages, message), "%s", messages);
}

TEST(what_does_not_fit_is_refused) {
    check_refused("by: 2", "by: int", "the signature has 2 leaves, the graph 1");
    check_refused("{\"y\": tensor}", "none", "result has 0 leaves, the graph 1");
    check_refused("= @zero)", "= @none)", "begins with @none, which does not exist");
    check_refused("weight @zero : i64[]", "weight @zero : i32[]",
                  "state @zero is i64[] before");
    check_refused("by: 2", "by: [", "the signature: expected");
    check_refused("i64[3], %n: i64[] = @zero", "i64[3] = @zero, %n: i64[]",
                  "expected '=' and the state's first value");
}

UNIT_SUITE(ir_signature, trees_print_as_they_parse, broken_trees_are_given,
           leaves_have_paths, signatures_say_what_a_call_changes,
           graphs_keep_signature_and_state, what_does_not_fit_is_refused)
