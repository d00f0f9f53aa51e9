/* Types, schemas and overloads of TorchScript, held against torch's own decisions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * overloads.txt was written with torch; its head says how.
 */
#include "base/platform/platform.h"
#include "base/vec.h"
#include "frontend/torch/language/overload.h"
#include "frontend/torch/entry/table.h"
#include "tests/unit/unit.h"

typedef struct overload_case {
    ig_context context;
    ig_arena arena;
    ig_map names;
    ig_script_types types;
    char why[4000];
} overload_case;

static void keep(void *user, const ig_diagnostic *diagnostic) {
    overload_case *c = user;
    ig_diagnostic_format(diagnostic, c->why, sizeof(c->why));
}

static void start(overload_case *c) {
    memset(c, 0, sizeof(*c));
    c->context.limits = ig_limits_default;
    c->context.diag.sink = keep;
    c->context.diag.user = c;
    ig_arena_init(&c->arena, NULL);
    ig_map_init(&c->names, &c->arena);
    ig_script_types_init(&c->types, &c->context, &c->arena);
}

static const ig_location here = { .file = "x" };

static const ig_script_type *type(overload_case *c, const char *text) {
    const ig_script_type *type = NULL;
    ig_status status = ig_script_type_of_text(&c->types, &here, ig_str_of(text), &type);
    CHECK_MSG(status == IG_OK, "%s", c->why);
    return type;
}

static const ig_schema *schema(overload_case *c, const char *text) {
    ig_schema *schema = NULL;
    ig_status status = ig_schema_parse(
        &c->types, &c->names, ig_arena_strdup(&c->arena, text), &here, &schema);
    CHECK_MSG(status == IG_OK, "%s", c->why);
    return schema;
}

/* ---- types ---- */

TEST(types_print_as_they_are_written) {
    static const char *const texts[] = {
        "Tensor",
        "Dict[str, List[Optional[Tensor]]]",
        "Tuple[()]",
        "Tuple[int]",
        "Union[int, str, NoneType]",
        "Future[Tuple[Tensor, __torch__.a.___torch_mangle_3.B]]",
        "List[List[List[float]]]",
        "number",
    };
    overload_case c;
    start(&c);
    for (size_t i = 0; i < IG_COUNT_OF(texts); i++) {
        CHECK_TEXT(type(&c, texts[i])->name, texts[i]);
        CHECK_PTR(type(&c, texts[i]), type(&c, texts[i]));
    }
    CHECK_TEXT(type(&c, "Union[Tensor, None]")->name, "Optional[Tensor]");
    CHECK_TEXT(type(&c, "Optional[Optional[int]]")->name, "Optional[int]");
    CHECK_TEXT(type(&c, "Union[number, int]")->name, "number");
    CHECK_TEXT(type(&c, "Union[Optional[int], str]")->name,
               "Union[int, str, NoneType]");
    ig_arena_fini(&c.arena);
}
END_TEST

TEST(subtypes_are_torchs) {
    static const struct {
        const char *type, *of;
        bool is;
    } rows[] = {
        { "int", "number", true },
        { "bool", "number", false },
        { "int", "float", false },
        { "NoneType", "Optional[Tensor]", true },
        { "Tensor", "Optional[Tensor]", true },
        { "Optional[Tensor]", "Tensor", false },
        { "List[int]", "List[number]", false },
        { "List[Tensor]", "List[Optional[Tensor]]", false },
        { "Tuple[int, Tensor]", "Tuple[number, Optional[Tensor]]", true },
        { "Tuple[int]", "Tuple[int, int]", false },
        { "Optional[int]", "Union[int, str, NoneType]", true },
        { "Union[int, str]", "Union[int, str, Tensor]", true },
        { "Dict[str, int]", "Any", true },
        { "Future[int]", "Future[number]", true },
        { "List[int]", "list", true },
    };
    overload_case c;
    start(&c);
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        bool is = ig_script_type_is_subtype(&c.types, type(&c, rows[i].type),
                                            type(&c, rows[i].of));
        CHECK_MSG(is == rows[i].is, "%s of %s: %d", rows[i].type, rows[i].of, is);
    }
    ig_arena_fini(&c.arena);
}
END_TEST

TEST(bad_types_are_refused) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "Dict[str]",
          "x: type 'Dict[str]':1:1: 'Dict[str]' takes another number of types" },
        { "Foo", "x: type 'Foo':1:1: 'Foo' is not a type" },
        { "List[3]", "x: type 'List[3]':1:6: '3' is not a type" },
        { "int[", "x: type 'int[':1:5: expected a value, found the end of the line" },
        { "Array[int]",
          "x: type 'Array[int]':1:1: 'Array' is not a type with parameters" },
    };
    overload_case c;
    start(&c);
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        const ig_script_type *type;
        CHECK_STATUS(
            ig_script_type_of_text(&c.types, &here, ig_str_of(rows[i].text), &type),
            IG_INVALID);
        CHECK_TEXT(c.why, rows[i].why);
    }
    ig_arena_fini(&c.arena);
}
END_TEST

/* ---- schemas ---- */

TEST(a_schema_tells_what_it_takes) {
    overload_case c;
    start(&c);
    const ig_schema *s = schema(
        &c,
        "aten::f.o(Tensor(a!)? self, int[3] p=2, SymInt n=-1, *, Scalar s=0.5, str m=\"a\\\", )\") -> (Tensor(a!), int)");
    CHECK_TEXT(s->name, "aten::f");
    CHECK_TEXT(s->overload, "o");
    CHECK_INT(s->argument_count, 5);
    CHECK_INT(s->result_count, 2);
    CHECK_INT(s->arguments[0].alias.before, 'a');
    CHECK(s->arguments[0].alias.is_written && !s->arguments[0].value);
    CHECK_INT(s->arguments[1].list_size, 3);
    CHECK_INT(s->arguments[1].value->as.i, 2);
    CHECK_INT(s->arguments[2].value->as.i, -1);
    CHECK(s->arguments[3].is_keyword_only && !s->arguments[2].is_keyword_only);
    CHECK(s->arguments[3].value->as.f == 0.5);
    CHECK(ig_str_is(s->arguments[4].value->as.text, "a\", )"));
    CHECK_INT(ig_schema_argument_index(s, "m"), 4);
    CHECK_INT(ig_schema_argument_index(s, "nothing"), -1);
    s = schema(&c, "aten::split.Tensor(Tensor(a -> *) self, Dict(str, t) d, ...) -> "
                   "Tensor(b|a)[]");
    CHECK(s->is_vararg && s->argument_count == 2 && s->arguments[1].type->has_variable);
    CHECK(s->arguments[0].alias.before == 'a' && s->arguments[0].alias.after == '*');
    CHECK(s->results[0].element_alias.after == 'b' && !s->results[0].alias.before);
    CHECK_TEXT(s->results[0].type->name, "List[Tensor]");
    ig_arena_fini(&c.arena);
}
END_TEST

TEST(bad_schemas_are_refused) {
    static const char *const texts[] = {
        "aten::f(Tensor self -> Tensor",
        "f(Tensor self) -> Tensor",
        "aten::f(Tensor) -> Tensor",
        "aten::f(Tensor x=) -> Tensor",
        "aten::f(int x=y) -> Tensor",
        "aten::f(int[] x=[1, [y]]) -> Tensor",
        "aten::f(Tensor x) -> Tensor)",
        "aten::f(Dict(str) x) -> Tensor",
        "aten::f(int[ x) -> Tensor",
        "aten::f(str x=\"a) -> Tensor",
        "aten::f(((((((((((((((((((int x))))))))))))))))))) -> ()",
    };
    overload_case c;
    start(&c);
    for (size_t i = 0; i < IG_COUNT_OF(texts); i++) {
        ig_schema *schema;
        CHECK_STATUS(ig_schema_parse(&c.types, &c.names, texts[i], &here, &schema),
                     IG_INVALID);
    }
    ig_arena_fini(&c.arena);
}
END_TEST

/* ---- overloads ---- */

typedef struct call_text {
    const ig_script_type *positional[64], *keyword_types[64];
    const char *keywords[64];
    ig_call_shape shape;
} call_text;

/* "Tensor ; int | dtype=int", cut in place. */
static void read_call(overload_case *c, char *text, call_text *call) {
    char *bar = strstr(text, " | "), *state = NULL;
    memset(call, 0, sizeof(*call));
    if (bar) {
        *bar = '\0';
    }
    for (char *t = strtok_r(text, ";", &state); t; t = strtok_r(NULL, ";", &state)) {
        t += strspn(t, " ");
        call->positional[call->shape.positional_count++] = type(c, t);
    }
    for (char *t = bar ? strtok_r(bar + 3, ";", &state) : NULL; t;
         t = strtok_r(NULL, ";", &state)) {
        t += strspn(t, " ");
        char *equals = strchr(t, '=');
        size_t i = call->shape.keyword_count++;
        *equals = '\0';
        call->keywords[i] = ig_arena_strdup(&c->arena, t);
        call->keyword_types[i] = type(c, equals + 1);
    }
    call->shape.positional = call->positional;
    call->shape.keywords = call->keywords;
    call->shape.keyword_types = call->keyword_types;
}

typedef struct candidates {
    IG_VEC(const ig_schema *) items;
    bool are_complete; /* a call was read */
} candidates;

static bool has_overload(const candidates *list, const char *overload) {
    for (size_t i = 0; i < list->items.count; i++) {
        if (strcmp(list->items.items[i]->overload, overload) == 0) {
            return true;
        }
    }
    return false;
}

/* Does one of the list take the call?  It is torch's own, where the list has that. */
static bool check_call(overload_case *c, const candidates *list, char *line) {
    char *arrow = strstr(line, " <- ");
    *arrow = '\0';
    const char *want = strcmp(line, "-") == 0 ? "" : line;
    call_text call;
    ig_overload_match match;
    read_call(c, arrow + 4, &call);
    const char *name = list->items.count ? list->items.items[0]->name : "";
    bool found = ig_overload_find(&c->types, list->items.items, list->items.count,
                                  &call.shape, &match);
    if (has_overload(list, want)) {
        CHECK_MSG(found, "%s: no overload, not '%s'", name, want);
        CHECK_MSG(strcmp(match.schema->overload, want) == 0, "%s: '%s', not '%s'", name,
                  match.schema->overload, want);
    }
    return found;
}

/* Our own rows of a name. */
static void list_rows(overload_case *c, const char *name, candidates *out_list) {
    size_t size = strlen(name);
    out_list->items.count = 0;
    for (size_t i = 0; i < ig_ts_operators.count; i++) {
        const char *text = ig_ts_operators.rows[i].schema;
        if (strncmp(text, name, size) == 0 && strchr(".(", text[size])) {
            IG_PUSH(&c->arena, &out_list->items, schema(c, text));
        }
    }
}

/* Every call of overloads.txt, among torch's own candidates or among our rows; those
 * that none of ours takes are counted. */
static void check_calls(bool are_ours, int *out_calls, int *out_missing) {
    overload_case c;
    candidates list = { 0 };
    ig_file_map map;
    start(&c);
    const char *path = INGOT_SOURCE_DIR "/tests/unit/torch/overloads.txt";
    CHECK_OK(ig_file_map_open(path, &map, NULL));
    char *text = ig_arena_copy(&c.arena, map.data, map.size), *state = NULL;
    ig_file_map_close(&map);
    *out_calls = *out_missing = 0;
    for (char *line = strtok_r(text, "\n", &state); line;
         line = strtok_r(NULL, "\n", &state)) {
        if (strncmp(line, "op ", 3) == 0) {
            list.items.count = list.are_complete ? 0 : list.items.count;
            IG_PUSH(&c.arena, &list.items, schema(&c, line + 3));
            list.are_complete = false;
        } else if (strncmp(line, "call ", 5) == 0) {
            if (are_ours && !list.are_complete) {
                list_rows(&c, list.items.items[0]->name, &list);
            }
            list.are_complete = true;
            *out_missing += !check_call(&c, &list, line + 5);
            *out_calls += 1;
        }
    }
    ig_arena_fini(&c.arena);
}

TEST(overloads_are_torchs) {
    int calls, missing;
    check_calls(false, &calls, &missing);
    CHECK(calls > 480);
    CHECK_INT(missing, 0);
}
END_TEST

TEST(overloads_among_our_rows_are_torchs) {
    int calls, missing;
    check_calls(true, &calls, &missing);
    CHECK_MSG(missing * 20 < calls, "rows for %d of %d calls are missing", missing,
              calls);
}
END_TEST

TEST(every_row_has_a_schema_of_its_own) {
    overload_case c;
    ig_map seen;
    start(&c);
    ig_map_init(&seen, &c.arena);
    for (size_t i = 0; i < ig_ts_operators.count; i++) {
        const ig_schema *s = schema(&c, ig_ts_operators.rows[i].schema);
        const char *name = ig_arena_printf(&c.arena, "%s.%s", s->name, s->overload);
        CHECK_MSG(!ig_map_get(&seen, ig_str_of(name)), "%s stands twice", name);
        ig_map_set(&seen, ig_str_of(name), (void *)(uintptr_t)s);
    }
    ig_arena_fini(&c.arena);
}
END_TEST

/* One call; `how` is the conversion of its last schema argument that is not default. */
static void check_conversion(const char *text, const char *call_line, int index,
                             ig_conversion how) {
    overload_case c;
    call_text call;
    ig_overload_match match;
    start(&c);
    const ig_schema *candidate = schema(&c, text);
    read_call(&c, ig_arena_strdup(&c.arena, call_line), &call);
    CHECK(ig_overload_find(&c.types, &candidate, 1, &call.shape, &match));
    CHECK_INT(match.arguments[index].conversion, how);
    ig_arena_fini(&c.arena);
}

TEST(conversions_are_given) {
    check_conversion("a::f(Tensor x, int[2] p) -> ()", "Tensor ; int", 1,
                     IG_CONVERT_REPEAT);
    check_conversion("a::f(Tensor x, int[] p) -> ()", "Tensor ; Tuple[int, int]", 1,
                     IG_CONVERT_TO_LIST);
    check_conversion("a::f(Tensor x, int[] p) -> ()", "Tensor ; int ; int", 1,
                     IG_CONVERT_GATHER);
    check_conversion("a::f(int x) -> ()", "Tensor", 0, IG_CONVERT_TENSOR_INT);
    check_conversion("a::f(Scalar? x=None) -> ()", "Tensor", 0,
                     IG_CONVERT_TENSOR_NUMBER);
    check_conversion("a::f(Scalar x) -> ()", "bool", 0, IG_CONVERT_NUMBER_INT);
    check_conversion("a::f(Device x) -> ()", "str", 0, IG_CONVERT_STR_DEVICE);
    check_conversion("a::f(float x) -> ()", "int", 0, IG_CONVERT_NUMBER_FLOAT);
    check_conversion("a::f(Tensor?[] x) -> ()", "List[Tensor]", 0, IG_CONVERT_NONE);
}
END_TEST

TEST(arguments_find_their_slots) {
    overload_case c;
    call_text call;
    ig_overload_match match;
    start(&c);
    const ig_schema *s = schema(
        &c, "a::f(Tensor x, int n=3, *, t[] l, t v, str s=\"\") -> Dict(str, t)");
    char line[] = "Tensor | v=int ; l=List[int]";
    read_call(&c, line, &call);
    CHECK(ig_overload_find(&c.types, &s, 1, &call.shape, &match));
    CHECK_INT(match.arguments[0].source, 0);
    CHECK_INT(match.arguments[1].source, IG_FROM_DEFAULT);
    CHECK_INT(match.arguments[2].source, -2); /* the second keyword */
    CHECK_INT(match.arguments[3].source, -1);
    CHECK_INT(match.arguments[4].source, IG_FROM_DEFAULT);
    CHECK_TEXT(match.result_types[0]->name, "Dict[str, int]");
    ig_arena_fini(&c.arena);
}
END_TEST

TEST(a_call_that_fits_nothing_is_explained) {
    overload_case c;
    call_text call;
    ig_overload_match match;
    start(&c);
    const ig_schema *list[] = {
        schema(&c, "aten::relu(Tensor self) -> Tensor"),
        schema(&c, "aten::relu.n(Tensor self, int n, *, bool b=False) -> Tensor"),
        schema(&c, "aten::relu.s(str self, int n) -> Tensor"),
    };
    char line[] = "str ; str | q=int";
    read_call(&c, line, &call);
    CHECK(!ig_overload_find(&c.types, list, 3, &call.shape, &match));
    CHECK_STATUS(ig_overload_explain(&c.types, list, 3, &call.shape, &here),
                 IG_UNSUPPORTED);
    CHECK_TEXT(
        c.why,
        "x: no supported overload takes (str, str, q=int)\n"
        "  aten::relu(Tensor self) -> Tensor: self is str, not Tensor\n"
        "  aten::relu.n(Tensor self, int n, *, bool b=False) -> Tensor: self is str, not Tensor\n"
        "  aten::relu.s(str self, int n) -> Tensor: n is str, not int");
    char twice[] = "str ; int | n=int";
    read_call(&c, twice, &call);
    ig_overload_explain(&c.types, &list[2], 1, &call.shape, &here);
    CHECK(strstr(c.why, "n is given twice"));
    char many[] = "Tensor ; int";
    read_call(&c, many, &call);
    ig_overload_explain(&c.types, &list[0], 1, &call.shape, &here);
    CHECK(strstr(c.why, "too many arguments"));
    ig_arena_fini(&c.arena);
}
END_TEST

static bool has_argument(const ig_schema *of, ig_str name) {
    for (size_t i = 0; i < of->argument_count; i++) {
        if (ig_str_is(name, of->arguments[i].name)) {
            return true;
        }
    }
    return false;
}

/* Column NEEDS names arguments that the row's schema has. */
TEST(needs_name_arguments_of_rows) {
    overload_case c;
    size_t count = 0;
    start(&c);
    for (size_t i = 0; i < ig_ts_operators.count; i++) {
        const char *at = ig_ts_operators.rows[i].needs;
        const ig_schema *of = at ? schema(&c, ig_ts_operators.rows[i].schema) : NULL;
        for (; at && *at; at += strcspn(at, ";"), at += *at ? 2 : 0) {
            ig_str name = { at, strcspn(at, " ") };
            CHECK_MSG(has_argument(of, name), "%s has no argument '%s'",
                      ig_ts_operators.rows[i].schema, at);
            count++;
        }
    }
    CHECK_MSG(count > 300, "only %zu clauses", count);
    ig_arena_fini(&c.arena);
}
END_TEST

UNIT_SUITE(overload, types_print_as_they_are_written, subtypes_are_torchs,
           bad_types_are_refused, a_schema_tells_what_it_takes, bad_schemas_are_refused,
           overloads_are_torchs, overloads_among_our_rows_are_torchs,
           every_row_has_a_schema_of_its_own, conversions_are_given,
           arguments_find_their_slots, a_call_that_fits_nothing_is_explained,
           needs_name_arguments_of_rows)
