/* Archives of torch.export: extents, JSON, programs that are wrong.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/torch_case.h"
#include "tests/unit/unit.h"

#include "frontend/pt2/extent.h"
#include "frontend/pt2/json.h"
#include "frontend/pt2/pt2.h"
#include "ir/interpret/interpret.h"
#include "ir/parse/read.h"
#include "ir/verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- extents ---- */

#define SYM(name) "Symbol('" name "', positive=True, integer=True)"

/* The normal form of what an extent is read as; "?": it is not read. */
TEST(extents_of_sympy_become_ours) {
    static const struct {
        const char *text, *expected;
    } rows[] = {
        { SYM("s0"), "s0" },
        { "Symbol(\"u1\", integer=True)", "u1" },
        { "Mul(Integer(-1), Integer(-7))", "7" },
        { "Add(Mul(Integer(2), " SYM("s0") "), Integer(-1))", "2*s0 - 1" },
        { "FloorDiv(Add(" SYM("s0") ", Integer(3)), Integer(4))", "ceil(s0 / 4)" },
        { "Max(Integer(1), " SYM("a") ", " SYM("b") ")", "max(b, max(a, 1))" },
        { "Pow(" SYM("s0") ", Integer(2))", "s0*s0" },
        { "CeilToInt(IntTrueDiv(" SYM("s0") ", Integer(2)))", "ceil(s0 / 2)" },
        { "Mod(" SYM("s0") ", Integer(2))", "s0 - 2*floor(s0 / 2)" },
        { "2*s0 - 1", "2*s0 - 1" },
        { "s0*(s1 + 1)", "s0*s1 + s0" },
        { "", "?" },
        { "s0 //", "?" },
        { "__import__('os').system('true')", "?" },
        { "Symbol('s0', evil=__import__('os'))", "?" },
        { "Pow(Integer(10), Integer(99))", "?" },
        { "Rational(1, 2)", "?" },
        { "Integer(99999999999999999999)", "?" },
        { "Symbol('s0", "?" },
        { "Add(" SYM("s0"), "?" },
    };
    torch_case c;
    torch_case_init(&c);
    ig_module *module = ig_module_create_for(&c.context, "m");
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        ig_writer text, printed;
        const ig_type *type = NULL;
        ig_writer_init(&text, &c.arena);
        ig_writer_init(&printed, &c.arena);
        ig_put(&text, "f32[");
        bool is_read = ig_pt2_extent(ig_str_of(rows[i].text), &text);
        ig_put(&text, "]");
        if (!is_read) {
            CHECK_MSG(rows[i].expected[0] == '?', "%s is not read", rows[i].text);
            continue;
        }
        CHECK_MSG(ig_parse_type(module, ig_writer_str(&text), &type) == IG_OK, "%s: %s",
                  text.data, c.why);
        ig_dim_print(module, type->dims[0], &printed);
        CHECK_STR(ig_writer_str(&printed), rows[i].expected);
    }
    ig_module_destroy(module);
    torch_case_fini(&c);
}
END_TEST

/* Depth is bounded, whatever the text. */
TEST(nested_extents_are_not_read) {
    torch_case c;
    ig_writer text, out;
    torch_case_init(&c);
    ig_writer_init(&text, &c.arena);
    ig_writer_init(&out, &c.arena);
    for (int i = 0; i < 100000; i++) {
        ig_put(&text, "(");
    }
    CHECK(!ig_pt2_extent(ig_writer_str(&text), &out));
    torch_case_fini(&c);
}
END_TEST

/* ---- JSON ---- */

TEST(words_that_json_does_not_know_are_read) {
    static const char text[] =
        "{\"a\": [Infinity, -Infinity, NaN, 1.5, 9223372036854775807],"
        " \"b\": \"NaN \\\" Infinity\", \"c\": null, \"d\": true}";
    torch_case c;
    const ig_json *json;
    double number;
    int64_t whole;
    ig_location where = { .file = "x" };
    torch_case_init(&c);
    CHECK_OK(ig_json_read(&c.context, &c.arena, &where, ig_str_of(text), &json));
    const ig_json *list = ig_json_get(json, "a");
    CHECK_INT(ig_json_count(list), 5);
    CHECK(ig_json_real(&list->as.list.items[0], &number) && number == INFINITY);
    CHECK(ig_json_real(&list->as.list.items[1], &number) && number == -INFINITY);
    CHECK(ig_json_real(&list->as.list.items[2], &number) && isnan(number));
    CHECK(ig_json_real(&list->as.list.items[3], &number) && number == 1.5);
    CHECK(ig_json_int(&list->as.list.items[4], &whole) && whole == INT64_MAX);
    CHECK_STR(ig_str_of(ig_json_text(ig_json_get(json, "b"))), "NaN \" Infinity");
    CHECK(!ig_json_get(json, "c") && ig_json_is_true(ig_json_get(json, "d")));
    CHECK(!ig_json_real(ig_json_get(json, "b"), &number));
    torch_case_fini(&c);
}
END_TEST

TEST(what_is_no_json_is_an_error) {
    static const char *const texts[] = {
        "", "{", "\"a", "{\"a\": Infinit}", "[1,]", "-"
    };
    for (size_t i = 0; i < IG_COUNT_OF(texts); i++) {
        torch_case c;
        const ig_json *json;
        ig_location where = { .file = "x" };
        torch_case_init(&c);
        CHECK_STATUS(
            ig_json_read(&c.context, &c.arena, &where, ig_str_of(texts[i]), &json),
            IG_INVALID);
        torch_case_fini(&c);
    }
}
END_TEST

/* ---- programs ---- */

/* y = target(operand) of an argument x with one extent; the graph gives `output`.
 * `inputs`: of the node, in place of the operand. */
typedef struct recipe {
    int version;
    const char *size, *target, *operand, *output, *inputs;
} recipe;

/* Quotes are turned: ' of the text is " of the JSON, and ` is \". */
static const char form[] =
    "{'graph_module': {'graph': {'inputs': [%s{'as_tensor': {'name': 'x'}}],"
    " 'outputs': [{'as_tensor': {'name': '%s'}}],"
    " 'nodes': [{'target': '%s', 'outputs': [{'as_tensor': {'name': 'y'}}],"
    "  'inputs': [%s]}],"
    " 'tensor_values': {'x': {'dtype': 7, 'sizes': [{'as_expr': {'expr_str': \"%s\"}}]}}},"
    " 'signature': {"
    "  'input_specs': [%s{'user_input': {'arg': {'as_tensor': {'name': 'x'}}}}],"
    "  'output_specs': [{'user_output': {'arg': {'as_tensor': {'name': '%s'}}}}]},"
    " 'module_call_graph': [{'fqn': '', 'signature': {'forward_arg_names': ['x'],"
    "  'in_spec': '[1, {`type`: `builtins.tuple`, `context`: `null`, `children_spec`: ["
    "{`type`: `builtins.tuple`, `context`: `null`, `children_spec`: [{`type`: null}]}, "
    "{`type`: `builtins.dict`, `context`: `[]`, `children_spec`: []}]}]',"
    "  'out_spec': '[1, {`type`: null}]'}}]},"
    " 'range_constraints': {'s0': {'min_val': 3, 'max_val': 9}},"
    " 'schema_version': {'major': %d, 'minor': 2}}";

static const char *turn_quotes(ig_arena *arena, const char *text) {
    ig_writer out;
    ig_writer_init(&out, arena);
    for (const char *at = text; *at; at++) {
        const char *quote = *at == '`' ? "\\\"" : "\"";
        bool is_quote = *at == '`' || *at == '\'';
        ig_put(&out, "%.*s", is_quote ? (int)strlen(quote) : 1, is_quote ? quote : at);
    }
    return text[0] ? out.data : "";
}

/* `places`, `specs`: of a parameter, before those of x. */
static const char *write_json_of(ig_arena *arena, const recipe *r,
                                 const char *positions, const char *specs) {
    static const char one[] = "{'name': 'self', 'arg': {'as_tensor': {'name': '%s'}}}";
    const char *inputs = ig_arena_printf(
        arena, turn_quotes(arena, r->inputs ? r->inputs : one), r->operand);
    return ig_arena_printf(arena, turn_quotes(arena, form),
                           turn_quotes(arena, positions), r->output, r->target, inputs,
                           r->size, turn_quotes(arena, specs), r->output, r->version);
}

static const char *write_json(ig_arena *arena, const recipe *r) {
    return write_json_of(arena, r, "", "");
}

typedef struct exported {
    torch_case c;
    ig_module *module;
} exported;

static ig_status import_json(exported *p, const char *json, const char *x) {
    torch_entry entries[] = { { "serialized_exported_program.json", ig_str_of(json) },
                              { "version", { "8.2", 3 } } };
    ig_torchscript_argument argument = { "x", x };
    ig_torchscript_options options = { .arguments = &argument,
                                       .argument_count = x != NULL };
    ig_str zip = torch_zip(&p->c.arena, entries, IG_COUNT_OF(entries));
    return ig_import_pt2_memory(&p->c.context, zip, "m.pt2", &options, &p->module);
}

static void open_case(exported *p) {
    *p = (exported){ 0 };
    torch_case_init(&p->c);
}

static ig_status import_recipe(exported *p, const recipe *r, const char *x) {
    open_case(p);
    return import_json(p, write_json(&p->c.arena, r), x);
}

static void close_program(exported *p) {
    if (p->module) {
        ig_module_destroy(p->module);
    }
    torch_case_fini(&p->c);
}

#define RELU "torch.ops.aten.relu.default"

/* The operator writes to a view of base `index`, of one base. */
#define FUNCTIONALIZED "torch.ops.higher_order.auto_functionalized_v2"
#define WRITES(op, index, more)                                    \
    "{'name': '', 'arg': {'as_operator': 'torch.ops." op "'}}, "   \
    "{'name': '_self_base_index', 'arg': {'as_int': " index "}}, " \
    "{'name': '_all_bases', 'arg': {'as_tensors': [{'name': '%s'}]}}" more

/* A graph in the node that calls two operators that are none. */
#define UNKNOWN(name, from, to)                        \
    "{'target': 'torch.ops.aten." name ".default', "   \
    "'outputs': [{'as_tensor': {'name': '" to "'}}], " \
    "'inputs': [{'name': 'self', 'arg': {'as_tensor': {'name': '" from "'}}}]}"
#define TWO_UNKNOWN                                             \
    "{'name': '', 'arg': {'as_graph': {'name': 'g', 'graph': {" \
    "'inputs': [{'as_tensor': {'name': 'a'}}], "                \
    "'outputs': [{'as_tensor': {'name': 'c'}}], "               \
    "'nodes': [" UNKNOWN("frobnicate", "a", "b") ", " UNKNOWN(  \
        "fumble", "b", "c") "]}}}}, "                           \
                            "{'name': '', 'arg': {'as_tensor': {'name': '%s'}}}"

static const recipe relu = { 8, SYM("s0"), RELU, "x", "y", NULL };

TEST(a_program_says_the_types_of_its_inputs) {
    exported p;
    CHECK_OK(import_recipe(&p, &relu, NULL));
    CHECK_OK(ig_verify_module(p.module));
    const ig_graph *graph = ig_module_graph(p.module, "main");
    CHECK_INT(graph->body.arg_count, 1);
    ig_symbol *symbol = ig_dim_as_symbol(p.module, graph->body.args[0]->type->dims[0]);
    CHECK_STR(ig_str_of(symbol->name), "s0");
    CHECK_INT(symbol->min, 3);
    CHECK_INT(symbol->max, 9);
    close_program(&p);
}
END_TEST

TEST(types_that_are_given_must_agree) {
    static const struct {
        const char *given;
        ig_status status;
    } rows[] = { { "f32[4]", IG_OK },       { "f32[B]", IG_OK },
                 { "f32[2]", IG_INVALID },  { "f32[10]", IG_INVALID },
                 { "f64[4]", IG_INVALID },  { "f32[4, 1]", IG_INVALID },
                 { "[f32[4]]", IG_INVALID } };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        exported p;
        CHECK_MSG(import_recipe(&p, &relu, rows[i].given) == rows[i].status, "%s: %s",
                  rows[i].given, p.c.why);
        close_program(&p);
    }
}
END_TEST

/* A program that is refused, and words of the message. */
typedef struct refusal {
    recipe r;
    ig_status status;
    const char *why;
} refusal;

static void check_refusals(const refusal *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        exported p;
        CHECK_STATUS(import_recipe(&p, &rows[i].r, NULL), rows[i].status);
        CHECK_MSG(strstr(p.c.why, rows[i].why) != NULL, "row %zu: %s", i, p.c.why);
        close_program(&p);
    }
}

TEST(what_is_wrong_is_given_and_nothing_is_run) {
    static const refusal rows[] = {
        { { 999, SYM("s0"), RELU, "x", "y", NULL }, IG_UNSUPPORTED, "version 999" },
        { { 8, SYM("s0"), "torch.ops.aten.frobnicate.default", "x", "y", NULL },
          IG_UNSUPPORTED,
          "aten::frobnicate" },
        { { 8, SYM("s0"), "torch.ops.aten.linalg_pinv.atol_rtol_tensor", "x", "y",
            NULL },
          IG_UNSUPPORTED,
          "node 'y': operator aten::linalg_pinv.atol_rtol_tensor is not supported yet" },
        { { 8, SYM("s0"), "torch.ops.higher_order.wrap", "x", "y", TWO_UNKNOWN },
          IG_UNSUPPORTED,
          "node 'b': operator aten::frobnicate" },
        { { 8, SYM("s0"), "torch.ops.higher_order.wrap", "x", "y", TWO_UNKNOWN },
          IG_UNSUPPORTED,
          "node 'c': operator aten::fumble" },
        { { 8, SYM("s0"), "os.system", "x", "y", NULL },
          IG_UNSUPPORTED,
          "function os.system" },
        { { 8, SYM("s0"), "torch.ops.higher_order.magic", "x", "y", NULL },
          IG_UNSUPPORTED,
          "higher-order operator magic" },
        { { 8, SYM("s0"), FUNCTIONALIZED, "x", "y", NULL },
          IG_INVALID,
          "names no operator" },
        { { 8, SYM("s0"), FUNCTIONALIZED, "x", "y", WRITES("mine.bump_", "0", "") },
          IG_INVALID,
          "1 bases and has 1 results" },
        { { 8, SYM("s0"), FUNCTIONALIZED, "x", "y", WRITES("mine.bump_", "1", "") },
          IG_INVALID,
          "a base that it does not have" },
        { { 8, SYM("s0"), FUNCTIONALIZED, "ghost", "y", WRITES("mine.bump_", "0", "") },
          IG_INVALID,
          "'ghost'" },
        { { 8, SYM("s0"), FUNCTIONALIZED, "x", "y",
            WRITES("mine.bump_", "0",
                   ", {'name': '_self_storage_offset', 'arg': {'as_int': 0}}, "
                   "{'name': '_self_size', 'arg': {'as_ints': [2]}}, "
                   "{'name': '_self_stride', 'arg': {'as_ints': [2]}}") },
          IG_UNSUPPORTED,
          "strided view of 'x'" },
        { { 8, SYM("s0"), "torch.ops.higher_order.auto_functionalized", "x", "y",
            "{'name': '', 'arg': {'as_operator': 'torch.ops.mine.bump_'}}, "
            "{'name': 'x', 'arg': {'as_tensor': {'name': '%s'}}}" },
          IG_UNSUPPORTED,
          "torch 2.6" },
        { { 8, SYM("s0"), "torch.ops.aten.zeros_like.default", "x", "y",
            "{'name': 'self', 'arg': {'as_tensor': {'name': '%s'}}}, "
            "{'name': 'layout', 'arg': {'as_layout': 1}}" },
          IG_UNSUPPORTED,
          "torch.sparse_coo" },
        { { 8, SYM("s0"), RELU, "ghost", "y", NULL }, IG_INVALID, "'ghost'" },
        { { 8, SYM("s0"), RELU, "x", "ghost", NULL }, IG_INVALID, "'ghost'" },
    };
    check_refusals(rows, IG_COUNT_OF(rows));
}
END_TEST

TEST(maps_and_scans_that_are_wrong) {
    static const refusal rows[] = {
        { { 8, SYM("s0"), "torch._functorch.predispatch._vmap_increment_nesting", "x",
            "y", NULL },
          IG_INVALID,
          "torch.vmap has no end" },
        { { 8, SYM("s0"), "torch._functorch.predispatch._add_batch_dim", "x", "y",
            NULL },
          IG_UNSUPPORTED,
          "predispatch._add_batch_dim is not supported yet" },
        { { 8, SYM("s0"), "torch.ops.higher_order.associative_scan", "x", "y", NULL },
          IG_INVALID,
          "associative_scan scans no operand" },
    };
    check_refusals(rows, IG_COUNT_OF(rows));
}
END_TEST

TEST(json_that_is_no_program_is_given) {
    static const struct {
        const char *json, *why;
    } rows[] = { { "{}", "version of its schema" },
                 { "[]", "version of its schema" },
                 { "{\"schema_version\": {\"major\": 8}}", "no graph" } };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        exported p;
        open_case(&p);
        CHECK_STATUS(import_json(&p, rows[i].json, NULL), IG_INVALID);
        CHECK_MSG(strstr(p.c.why, rows[i].why) != NULL, "row %zu: %s", i, p.c.why);
        close_program(&p);
    }
}
END_TEST

/* An extent is text of the file: torch evaluates it as Python, we read what we know. */
TEST(an_extent_that_is_code_is_an_open_extent) {
    static const recipe r = {
        8, "__import__('os').system('true')", RELU, "x", "y", NULL
    };
    exported p;
    CHECK_OK(import_recipe(&p, &r, NULL));
    const ig_graph *graph = ig_module_graph(p.module, "main");
    ig_symbol *symbol = ig_dim_as_symbol(p.module, graph->body.args[0]->type->dims[0]);
    CHECK_STR(ig_str_of(symbol->name), "x_d0");
    close_program(&p);
}
END_TEST

/* y is a dataclass's only field that is set; `past` is None.  Its context lists fields
 * that are set, then the others. */
TEST(fields_of_a_dataclass_have_their_own_names) {
    static const char plain[] = "\"out_spec\": \"[1, ",
                      record[] = "{\\\"type\\\": \\\"own.Answer\\\", "
                                 "\\\"context\\\": \\\"[[\\\\\\\"logits\\\\\\\"], "
                                 "[\\\\\\\"past\\\\\\\"]]\\\", "
                                 "\\\"children_spec\\\": [{\\\"type\\\": null}]}";
    exported p;
    open_case(&p);
    const char *json = write_json(&p.c.arena, &relu);
    const char *spec = strstr(json, plain) + strlen(plain);
    json = ig_arena_printf(&p.c.arena, "%.*s%s%s", (int)(spec - json), json, record,
                           strstr(spec, "]"));
    CHECK_MSG(import_json(&p, json, NULL) == IG_OK, "%s", p.c.why);
    const ig_graph *graph = ig_module_graph(p.module, "main");
    CHECK_STR(ig_str_of(graph->result_names[0]), "logits");
    close_program(&p);
}
END_TEST

/* .pt2 names overloads: that of a dtype is not that of sizes. */
TEST(a_view_of_another_dtype_has_the_same_bits) {
    static const recipe r = { 8,
                              "Integer(2)",
                              "torch.ops.aten.view.dtype",
                              "x",
                              "y",
                              "{'name': 'self', 'arg': {'as_tensor': {'name': '%s'}}}, "
                              "{'name': 'dtype', 'arg': {'as_scalar_type': 4}}" };
    exported p;
    CHECK_MSG(import_recipe(&p, &r, NULL) == IG_OK, "%s", p.c.why);
    float x[] = { 1, -0.0F };
    ig_tensor in = {
        .data = x, .dtype = IG_DT_f32, .count = 2, .rank = 1, .dims = { 2 }
    };
    ig_tensor out[1];
    CHECK_OK(ig_interpret(ig_module_graph(p.module, "main"), &in, &p.c.arena, out));
    CHECK_INT(out[0].dtype, IG_DT_i32);
    CHECK_INT(ig_tensor_get_i64(&out[0], 0), 0x3f800000);
    CHECK_INT(ig_tensor_get_i64(&out[0], 1), INT32_MIN);
    close_program(&p);
}
END_TEST

/* ---- pickled weights ---- */

#define CONFIG \
    "{\"config\": {\"w\": {\"path_name\": \"weight_0\", \"use_pickle\": true}}}"

/* A program with one weight "w", which torch.save wrote as this pickle. */
static ig_status import_pickled(exported *p, const char *json, ig_str pickle) {
    ig_arena *arena = &p->c.arena;
    torch_entry saved[] = {
        { "archive/data.pkl", pickle },
        { "archive/data/0", { "\0\0\200\77\0\0\0\100", 8 } }, /* 1, 2 */
        { "archive/version", { "3\n", 2 } },
    };
    torch_entry entries[] = {
        { "m/models/model.json", ig_str_of(json) },
        { "m/data/weights/model_weights_config.json", ig_str_of(CONFIG) },
        { "m/data/weights/weight_0", torch_zip(arena, saved, IG_COUNT_OF(saved)) },
        { "m/archive_format", { "pt2", 3 } },
    };
    ig_torchscript_options options = { 0 };
    return ig_import_pt2_memory(&p->c.context,
                                torch_zip(arena, entries, IG_COUNT_OF(entries)),
                                "m.pt2", &options, &p->module);
}

static ig_status import_weight(exported *p, ig_str pickle) {
    open_case(p);
    return import_pickled(p, write_json(&p->c.arena, &relu), pickle);
}

#define TEXT(literal) \
    { literal, sizeof(literal) - 1 }

/* A tensor of class __main__.Mine. */
#define PICKLED_TENSOR                                          \
    "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n"   \
    "_rebuild_tensor_v2\nc__main__\nMine\n((Vstorage\nctorch\n" \
    "FloatStorage\nV0\nVcpu\nI2\ntQI0\n(I2\nt(I1\ntI00\n"       \
    "ccollections\nOrderedDict\n)Rt}tR."

TEST(a_pickled_tensor_is_read) {
    exported p;
    CHECK_MSG(import_weight(&p, ig_str_of(PICKLED_TENSOR)) == IG_OK, "%s", p.c.why);
    close_program(&p);
}
END_TEST

/* y = relu(w) of a weight that is a view: `sizes`, `strides` and `offset` in a storage
 * of 1, 2, 3, 4. */
static ig_status import_raw(exported *p, const char *sizes, const char *strides,
                            int offset) {
    static const recipe r = { 8, SYM("s0"), RELU, "p_w", "y", NULL };
    static const float storage[] = { 1, 2, 3, 4 };
    open_case(p);
    ig_arena *arena = &p->c.arena;
    const char *json = write_json_of(
        arena, &r, "{'as_tensor': {'name': 'p_w'}}, ",
        "{'parameter': {'arg': {'name': 'p_w'}, 'parameter_name': 'w'}}, ");
    const char *config = ig_arena_printf(
        arena,
        turn_quotes(arena,
                    "{'config': {'w': {'path_name': 'weight_0', 'is_param': true, "
                    "'use_pickle': false, 'tensor_meta': {'dtype': 7, "
                    "'sizes': [%s], 'strides': [%s], 'layout': 7, "
                    "'storage_offset': {'as_int': %d}}}}}"),
        turn_quotes(arena, sizes), turn_quotes(arena, strides), offset);
    torch_entry entries[] = {
        { "m/models/model.json", ig_str_of(json) },
        { "m/data/weights/model_weights_config.json", ig_str_of(config) },
        { "m/data/weights/weight_0", { (const char *)storage, sizeof storage } },
        { "m/archive_format", { "pt2", 3 } },
    };
    ig_torchscript_options options = { 0 };
    return ig_import_pt2_memory(&p->c.context,
                                torch_zip(arena, entries, IG_COUNT_OF(entries)),
                                "m.pt2", &options, &p->module);
}

#define ONE(n) "{'as_int': " #n "}"

TEST(raw_weights_are_views_of_their_storages) {
    static const struct {
        const char *sizes, *strides;
        int offset;
        float values[4];
        size_t count; /* 0: it reaches past the storage */
    } rows[] = {
        { ONE(4), ONE(1), 0, { 1, 2, 3, 4 }, 4 },
        { ONE(2), ONE(1), 1, { 2, 3 }, 2 },
        { ONE(2), ONE(1), 2, { 3, 4 }, 2 },
        { ONE(2), ONE(1), 3, { 0 }, 0 },
        { ONE(2), ONE(2), 1, { 2, 4 }, 2 },
        { ONE(2) ", " ONE(2), ONE(1) ", " ONE(2), 0, { 1, 3, 2, 4 }, 4 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        exported p;
        ig_status status = import_raw(&p, rows[i].sizes, rows[i].strides,
                                      rows[i].offset);
        CHECK_MSG(status == (rows[i].count ? IG_OK : IG_INVALID), "row %zu: %s", i,
                  p.c.why);
        if (status == IG_OK) {
            ig_tensor out[1];
            const ig_graph *graph = ig_module_graph(p.module, "main");
            float x[3] = { 0 };
            ig_tensor in = {
                .data = x, .dtype = IG_DT_f32, .count = 3, .rank = 1, .dims = { 3 }
            };
            status = ig_interpret(graph, &in, &p.c.arena, out);
            CHECK_MSG(status == IG_OK, "row %zu: %s", i, p.c.why);
            CHECK(memcmp(out[0].data, rows[i].values, rows[i].count * sizeof(float)) ==
                  0);
        }
        close_program(&p);
    }
}
END_TEST

/* ---- tensors around others ---- */

#define REBUILD(class, state)                                                     \
    "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n"                     \
    "_rebuild_wrapper_subclass\n" class "(" class "ctorch\nfloat32\n(I2\nt(I1\nt" \
                                                  "I0\nNNI00\nt" state "tR"
#define INNER(class) "caround." class "\n"
#define ELEMENTS                                                            \
    "ctorch._utils\n_rebuild_tensor_v2\n((Vstorage\nctorch\nFloatStorage\n" \
    "V0\nVcpu\nI2\ntQI0\n(I2\nt(I1\ntI00\nccollections\nOrderedDict\n)RtR"

/* y is the part of the weight of that name. */
static ig_status import_part(exported *p, const char *pickle, const char *name) {
    const recipe r = { 8,
                       "Integer(2)",
                       "torch.ops.export.access_subclass_inner_tensor.default",
                       "p_w",
                       "y",
                       "{'name': 'src_subclass_tensor', 'arg': {'as_tensor': {'name': "
                       "'%s'}}}, {'name': 'attr', 'arg': {'as_string': 'PART'}}" };
    open_case(p);
    const char *json = write_json_of(
        &p->c.arena, &r, "{'as_tensor': {'name': 'p_w'}}, ",
        "{'parameter': {'arg': {'name': 'p_w'}, 'parameter_name': 'w'}}, ");
    const char *at = strstr(json, "PART");
    json = ig_arena_printf(&p->c.arena, "%.*s%s%s", (int)(at - json), json, name,
                           at + strlen("PART"));
    return import_pickled(p, json, ig_str_of(pickle));
}

/* torchao's: what its class brings along of its package is nothing but names. */
TEST(a_tensor_around_others_has_parts) {
    static const char pickle[] =
        REBUILD(INNER("tensor\nInt8Tensor"),
                "(dVqdata\n" ELEMENTS "sVkwargs\ncaround.kwargs\nKwargs\n)\201sVkind\n"
                "caround.kwargs\nKind\n(I1\ntRsVbits\nctorch\nint4\nsVnone\nNs") ".";
    static const struct {
        const char *name, *why;
    } wrong[] = { { "scale", "'w' has no part 'scale'" },
                  { "kwargs", "'w' has no part 'kwargs'" } };
    exported p;
    CHECK_MSG(import_part(&p, pickle, "qdata") == IG_OK, "%s", p.c.why);
    float x[] = { 5, 6 };
    ig_tensor in = {
        .data = x, .dtype = IG_DT_f32, .count = 2, .rank = 1, .dims = { 2 }
    };
    ig_tensor out[1];
    CHECK_OK(ig_interpret(ig_module_graph(p.module, "main"), &in, &p.c.arena, out));
    CHECK_INT(out[0].count, 2);
    CHECK(ig_tensor_get_f64(&out[0], 0) == 1 && ig_tensor_get_f64(&out[0], 1) == 2);
    close_program(&p);
    for (size_t i = 0; i < IG_COUNT_OF(wrong); i++) {
        CHECK_STATUS(import_part(&p, pickle, wrong[i].name), IG_INVALID);
        CHECK_MSG(strstr(p.c.why, wrong[i].why), "%s", p.c.why);
        close_program(&p);
    }
}
END_TEST

/* The whole as an operator's tensor or as the result, and parts of no such tensor. */
TEST(a_tensor_around_others_is_none_itself) {
    static const recipe whole = { 8, "Integer(2)", RELU, "p_w", "y", NULL };
    static const char nested[] = REBUILD(
        INNER("tensor\nOuter"),
        "(dVinner\n" REBUILD(INNER("tensor\nInner"), "(dVq\n" ELEMENTS "s") "s") ".";
    exported p;
    open_case(&p);
    const char *json = write_json_of(
        &p.c.arena, &whole, "{'as_tensor': {'name': 'p_w'}}, ",
        "{'parameter': {'arg': {'name': 'p_w'}, 'parameter_name': 'w'}}, ");
    CHECK(import_pickled(&p, json, ig_str_of(nested)) != IG_OK);
    CHECK_MSG(strstr(p.c.why, "WrapperSubclass"), "%s", p.c.why);
    close_program(&p);
    CHECK(import_part(&p, nested, "inner") != IG_OK);
    CHECK_MSG(strstr(p.c.why, "WrapperSubclass"), "%s", p.c.why);
    close_program(&p);
    CHECK(import_part(&p, PICKLED_TENSOR, "q") != IG_OK);
    CHECK_MSG(strstr(p.c.why, "expected"), "%s", p.c.why);
    close_program(&p);
}
END_TEST

/* No tensor at all, and names of two packages. */
TEST(what_is_around_no_tensor_is_refused) {
    exported p;
    CHECK_STATUS(import_weight(&p, ig_str_of("caround.tensor\nInt8Tensor\n"
                                             "caround.kwargs\nKwargs\n\206.")),
                 IG_UNSUPPORTED);
    CHECK_MSG(strstr(p.c.why, "it is pickled as tuple with 'Int8Tensor' in it"), "%s",
              p.c.why);
    close_program(&p);
    CHECK_STATUS(import_weight(&p, ig_str_of("caround.tensor\nInt8Tensor\n"
                                             "cother.kwargs\nKwargs\n\206.")),
                 IG_INVALID);
    CHECK_MSG(strstr(p.c.why, "other.kwargs.Kwargs"), "%s", p.c.why);
    close_program(&p);
}
END_TEST

/* torch.export.load would run these: it unpickles what is marked so. */
TEST(a_weight_that_is_code_is_refused_and_not_run) {
    char folder[] = "/tmp/ingot-pickle-XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/ran", folder);
    static const char *const codes[] = {
        "cos\nsystem\n(Vtouch %s\ntR.",
        "cbuiltins\neval\n(Vopen('%s', 'w')\ntR.",
        "(Vtouch %s\nios\nsystem\n.",
        "cos\nsystem\n(Vtouch %s\ntR0" PICKLED_TENSOR,
        "cos\nsystem\n(Vtouch %s\ntR0ctorch._utils\n_rebuild_tensor_v2\n((Vstorage\n"
        "ctorch\nFloatStorage\nV0\nVcpu\nI2\ntQI0\n(I2\nt(I1\ntI00\n"
        "ccollections\nOrderedDict\n)RtR.",
    };
    for (size_t i = 0; i < IG_COUNT_OF(codes); i++) {
        char code[400];
        exported p;
        snprintf(code, sizeof code, codes[i], path);
        CHECK_MSG(import_weight(&p, ig_str_of(code)) != IG_OK, "code %zu", i);
        CHECK_MSG(p.c.why[0] != 0, "code %zu: no words", i);
        CHECK_MSG(access(path, F_OK) != 0, "code %zu was run", i);
        close_program(&p);
    }
    rmdir(folder);
}
END_TEST

UNIT_SUITE(torch_pt2, a_pickled_tensor_is_read, raw_weights_are_views_of_their_storages,
           a_tensor_around_others_has_parts, a_tensor_around_others_is_none_itself,
           what_is_around_no_tensor_is_refused,
           a_weight_that_is_code_is_refused_and_not_run, extents_of_sympy_become_ours,
           nested_extents_are_not_read, words_that_json_does_not_know_are_read,
           what_is_no_json_is_an_error, a_program_says_the_types_of_its_inputs,
           types_that_are_given_must_agree, what_is_wrong_is_given_and_nothing_is_run,
           maps_and_scans_that_are_wrong, json_that_is_no_program_is_given,
           an_extent_that_is_code_is_an_open_extent,
           fields_of_a_dataclass_have_their_own_names,
           a_view_of_another_dtype_has_the_same_bits)
