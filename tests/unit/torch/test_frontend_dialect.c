/* The parser of TorchScript's source, and the classes that it finds.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What libtorch printed must print the same again, but for blanks; archives lie in
 * models/torch and models/torchrec below INGOT_CASES (or ../shared).
 */
#include "base/platform/platform.h"
#include "frontend/torch/archive/archive.h"
#include "frontend/torch/language/code.h"
#include "tests/unit/torch/ast_print.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <math.h>

typedef struct dialect_case {
    ig_context context;
    ig_arena arena;
    ig_map names;
    uint32_t node_count;
    ig_script_source source;
    char why[2000];
} dialect_case;

static void keep(void *user, const ig_diagnostic *diagnostic) {
    dialect_case *c = user;
    ig_diagnostic_format(diagnostic, c->why, sizeof(c->why));
}

static void start(dialect_case *c) {
    memset(c, 0, sizeof(*c));
    c->context.limits = ig_limits_default;
    c->context.diag.sink = keep;
    c->context.diag.user = c;
    ig_arena_init(&c->arena, NULL);
    ig_map_init(&c->names, &c->arena);
    c->source = (ig_script_source){ .context = &c->context,
                                    .arena = &c->arena,
                                    .names = &c->names,
                                    .node_count = &c->node_count,
                                    .file = "m.py",
                                    .is_dialect = true };
}

static const char *print(dialect_case *c, const ig_ast_list *list) {
    ig_writer writer;
    ig_writer_init(&writer, &c->arena);
    ig_put(&writer, "%s", "");
    for (size_t i = 0; i < list->count; i++) {
        ig_ast_print(&writer, list->items[i], 0);
    }
    return writer.data ? writer.data : "";
}

/* ---- printing back ---- */

static void check_same(const char *text) {
    dialect_case c;
    ig_ast_list list;
    start(&c);
    ig_status status = ig_parse_source(&c.source, ig_str_of(text), &list);
    CHECK_MSG(status == IG_OK, "%s", c.why);
    CHECK_TEXT(print(&c, &list), text);
    ig_arena_fini(&c.arena);
}

static void check_printed(const char *text, const char *printed) {
    dialect_case c;
    ig_ast_list list;
    start(&c);
    ig_status status = ig_parse_source(&c.source, ig_str_of(text), &list);
    CHECK_MSG(status == IG_OK, "%s", c.why);
    CHECK_TEXT(print(&c, &list), printed);
    ig_arena_fini(&c.arena);
}

TEST(the_printers_own_source_prints_the_same) {
    check_same("class Net(Module):\n"
               "  __parameters__ = [\"weight\", ]\n"
               "  __annotations__[\"0\"] = __torch__.a.B\n"
               "  training : bool\n"
               "  k : Final[int] = 3\n"
               "  def forward(self: __torch__.Net,\n"
               "    x: Tensor,\n"
               "    n: Optional[int]=None) -> Tuple[Tensor, int]:\n"
               "    _0, _1, = (self).f(x, )\n"
               "    a, b = torch.max(x, 0)\n"
               "    c, d = _0, _1\n"
               "    e, = (1,)\n"
               "    self.k = -9223372036854775808\n"
               "    y = annotate(List[int], [])\n"
               "    z = {\"a\": 1., \"b\": -0., \"c\": 1e-08, \"d\": 1.+2.j}\n"
               "    if torch.gt(n, 0):\n"
               "      pass\n"
               "    else:\n"
               "      ops.prim.RaiseException(\"a\\n\\\"\\'\\001\")\n"
               "    while _c:\n"
               "      for i in range(3):\n"
               "        def __forked_function():\n"
               "          return (self).g(i, )\n"
               "        _2 = fork(__forked_function)\n"
               "    t = (y)[0:2]\n"
               "    return ((self).h(), inf, ())\n");
}
END_TEST

TEST(ordinary_python_prints_its_sense) {
    check_same("from ..a import b as c, d\n"
               "import x.y\n"
               "@torch.jit.script\n"
               "class A(B, metaclass=C):\n"
               "  async def f(a,\n"
               "    b,\n"
               "    /,\n"
               "    c=1,\n"
               "    *d,\n"
               "    e,\n"
               "    **f):\n"
               "    x += [a for a, b in c if a or b]\n"
               "    y = a if b < c <= d else lambda z: -z ** 2\n"
               "    assert not a is None, \"b\"\n"
               "    try:\n"
               "      raise ValueError(1) from e\n"
               "    except (A, B) as e:\n"
               "      del a[0], b\n"
               "    finally:\n"
               "      return\n"
               "    with a as b, c:\n"
               "      x[1:, ..., ::2] = (y := 3)\n"
               "    f(*a, k=1, **b)\n");
    check_printed(
        "x = 1; y = (1 +\n  2) # three\n\n\nif x: pass\nelif y:\n\tz = 0x1F\n",
        "x = 1\ny = (1 + 2)\nif x:\n  pass\nelse:\n  if y:\n    z = 31\n");
    check_printed("s = 'a' \"b\" r'\\n'\n", "s = \"ab\\\\n\"\n");
    check_printed("s = \"\"\"a\n'b'\"\"\"\r\n", "s = \"a\\n\\'b\\'\"\n");
    check_printed("x = \\\n  1_000\n", "x = 1000\n");
    check_printed("x = 277777777777.7777e4 - 1e30j\n",
                  "x = 2777777777777777.-1e+30j\n");
    check_printed("\xef\xbb\xbfx = 1", "x = 1\n");
    check_printed("x = a+b*c-d\n", "x = a + b * c - d\n");
    check_printed("x = -6**a---6**--6**-b\n", "x = -6 ** a - --6 ** --6 ** -b\n");
}
END_TEST

/* The first expression of a text. */
static const ig_ast *expression(dialect_case *c, const char *text) {
    ig_ast *node = NULL;
    ig_status status = ig_parse_expression(&c->source, ig_str_of(text), &node);
    CHECK_MSG(status == IG_OK, "%s", c->why);
    return node;
}

TEST(literals_are_exact) {
    dialect_case c;
    start(&c);
    CHECK_INT(expression(&c, "-9223372036854775808")->as.i, INT64_MIN);
    CHECK_INT(expression(&c, "9223372036854775807")->as.i, INT64_MAX);
    CHECK_INT(expression(&c, "1000000000000000")->kind, IG_AST_INT);
    CHECK(expression(&c, "0.10000000000000001")->as.f == 0.1);
    CHECK(expression(&c, "-0.")->as.f == 0 && signbit(expression(&c, "-0.")->as.f));
    CHECK(expression(&c, "1e-08")->as.f == 1e-08);
    ig_str bytes = expression(&c, "\"\\303\\251\\101\\0\"")->as.text;
    CHECK(bytes.size == 4 && memcmp(bytes.data, "\xc3\xa9\x41\0", 4) == 0);
    CHECK_INT(expression(&c, "-1 ** 2")->kind, IG_AST_UNARY);
    CHECK_INT(expression(&c, "-2 ** -1")->kind, IG_AST_UNARY);
    CHECK_INT(expression(&c, "-1")->kind, IG_AST_INT);
    CHECK_INT(expression(&c, "2.j")->kind, IG_AST_IMAGINARY);
    ig_arena_fini(&c.arena);
}
END_TEST

/* ---- messages ---- */

TEST(defects_are_given_with_their_line) {
    static const struct {
        const char *text, *why;
        ig_status status;
    } rows[] = {
        { "def f():\n  x = (1\n  return x\n", "m.py:3:3: expected ')', found 'return'",
          IG_INVALID },
        { "x = 9223372036854775808\n", "m.py:1:5: an integer that 64 bits cannot hold",
          IG_INVALID },
        { "x = 1e999\n", "m.py:1:5: a number that no double holds", IG_INVALID },
        { "x = \"a\n",
          "m.py:1:5: expected a value, found a string without its end quote",
          IG_INVALID },
        { "if x:\ny = 1\n", "m.py:2:1: expected an indented block, found 'y'",
          IG_INVALID },
        { "f(x) = 1\n", "m.py:1:1: a call cannot be assigned to", IG_INVALID },
        { "x = \"\\777\"\n", "m.py:1:5: an octal escape above \\377", IG_INVALID },
        { "x = 1\ny = \"\xff\"\n", "m.py:2: not UTF-8", IG_INVALID },
        { "x = class\n", "m.py:1:5: expected a value, found 'class'", IG_INVALID },
        { "x = 1 $ 2\n",
          "m.py:1:7: expected the end of the line, found a stray character",
          IG_INVALID },
        { "try:\n  pass\n",
          "m.py:3:1: expected 'except' or 'finally', found the end of the file",
          IG_INVALID },
        { "if a:\n    b\n  c\n",
          "m.py:3:3: expected a value, found an indentation that no block around it has",
          IG_INVALID },
        { "x = 3rd\n", "m.py:1:5: expected a value, found a number followed by letters",
          IG_INVALID },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        dialect_case c;
        ig_ast_list list;
        start(&c);
        CHECK_STATUS(ig_parse_source(&c.source, ig_str_of(rows[i].text), &list),
                     rows[i].status);
        CHECK_TEXT(c.why, rows[i].why);
        ig_arena_fini(&c.arena);
    }
}
END_TEST

/* `count` times `piece` behind "x = ". */
static void check_deep(const char *piece) {
    dialect_case c;
    ig_writer writer;
    ig_ast_list list;
    start(&c);
    ig_writer_init(&writer, &c.arena);
    ig_put(&writer, "x = ");
    for (int i = 0; i < 100000; i++) {
        ig_put(&writer, "%s", piece);
    }
    ig_put(&writer, "1\n");
    CHECK_STATUS(ig_parse_source(&c.source, ig_writer_str(&writer), &list), IG_LIMIT);
    CHECK(strstr(c.why, "source_depth"));
    ig_arena_fini(&c.arena);
}

TEST(depth_is_bounded) {
    static const char *const pieces[] = {
        "(",  "[",    "f(",           "{1:",      "-",   "not ", "2**",
        "1+", "a.b[", "a if b else ", "lambda: ", "(*(", "f()(", "[a for "
    };
    for (size_t i = 0; i < IG_COUNT_OF(pieces); i++) {
        check_deep(pieces[i]);
    }
}
END_TEST

/* ---- classes ---- */

typedef struct text_file {
    const char *name, *text;
} text_file;

static ig_status read_text(void *user, const char *name, ig_str *out_text,
                           bool *out_found) {
    for (const text_file *file = user; file->name; file++) {
        if (strcmp(file->name, name) == 0) {
            *out_text = ig_str_of(file->text);
            *out_found = true;
        }
    }
    return IG_OK;
}

static void start_code(dialect_case *c, ig_code *code, const text_file *files) {
    start(c);
    ig_code_init(code, &c->context, &c->arena, "m.pt", "code/");
    code->read = read_text;
    code->user = (void *)(uintptr_t)files;
}

static const text_file some_files[] = {
    { "code/__torch__/a/b.py", "op_version_set = 1\n"
                               "import __torch__.c\n"
                               "class Net(Module):\n"
                               "  __parameters__ = [\"w\", ]\n"
                               "  __buffers__ = []\n"
                               "  w : Tensor\n"
                               "  __annotations__[\"0\"] = __torch__.c.Mode\n"
                               "  k : Final[List[int]] = [1, 2]\n"
                               "  def forward(self,\n"
                               "    x: Tensor) -> Tensor:\n"
                               "    return x\n"
                               "class Point(NamedTuple):\n"
                               "  x : Tensor\n"
                               "  n : int = 3\n"
                               "def free(x: Tensor) -> int:\n"
                               "  return 1\n" },
    { "code/__torch__/c.py", "class Mode(Enum):\n  SUM = 1\n  MEAN = 2\n"
                             "class Face(ModuleInterface):\n"
                             "  def forward(self, x: Tensor) -> Tensor:\n    pass\n" },
    { "code/__torch__.py", "class Top:\n  pass\n" },
    { "code/__torch__/bad.py", "class Bad(Module):\n  x : Foo\n" },
    { "code/__torch__/worse.py", "class Bad(\n" },
    { "code/__torch__/lost.py", "class Lost(Module):\n"
                                "  a : Optional[__torch__.lost.Lost]\n"
                                "  b : List[Dict[str, __torch__.no.Such]]\n" },
    { NULL, NULL },
};

TEST(classes_are_found_by_name) {
    dialect_case c;
    ig_code code;
    const ig_class *class;
    const ig_function *function;
    start_code(&c, &code, some_files);
    CHECK_OK(ig_code_class(&code, "__torch__.a.b.Net", NULL, &class));
    CHECK_INT(class->kind, IG_CLASS_MODULE);
    CHECK_INT(class->parameter_count, 1);
    CHECK_INT(class->buffer_count, 0);
    CHECK_TEXT(ig_class_attribute(class, "w")->type->name, "Tensor");
    CHECK_TEXT(ig_class_attribute(class, "0")->type->name, "__torch__.c.Mode");
    CHECK_TEXT(ig_class_constant(class, "k")->type->name, "List[int]");
    CHECK_INT(ig_class_constant(class, "k")->value->kind, IG_AST_LIST);
    const ig_function *forward = ig_class_method(class, "forward");
    CHECK_TEXT(forward->name, "__torch__.a.b.Net.forward");
    CHECK_TEXT(forward->file, "m.pt/code/__torch__/a/b.py");
    CHECK_TEXT(forward->params[0].type->name, "__torch__.a.b.Net");
    CHECK_TEXT(forward->params[1].type->name, "Tensor");
    CHECK(!ig_class_method(class, "backward"));
    CHECK_INT(code.op_version_set, 1);
    CHECK_OK(ig_code_find(&code, "__torch__.a.b.free", &class, &function));
    CHECK(!class && function && strcmp(function->returns->name, "int") == 0);
    CHECK_OK(ig_code_find(&code, "__torch__.Top", &class, &function));
    CHECK_INT(class->kind, IG_CLASS_PLAIN);
    CHECK_OK(ig_code_find(&code, "__torch__.c.Mode", &class, &function));
    CHECK_INT(ig_class_member(class, "MEAN")->value->as.i, 2);
    CHECK_OK(
        ig_code_find(&code, "__torch__.torch.classes.quantized.X", &class, &function));
    CHECK_INT(class->kind, IG_CLASS_CUSTOM);
    CHECK_OK(ig_code_find(&code, "__torch__.nothing.C", &class, &function));
    CHECK(!class && !function);
    ig_arena_fini(&c.arena);
}
END_TEST

TEST(classes_take_part_in_subtyping) {
    dialect_case c;
    ig_code code;
    start_code(&c, &code, some_files);
    ig_script_types *types = &code.types;
    const ig_script_type *net = ig_script_type_class(types, "__torch__.a.b.Net");
    const ig_script_type *point = ig_script_type_class(types, "__torch__.a.b.Point");
    const ig_script_type *mode = ig_script_type_class(types, "__torch__.c.Mode");
    const ig_script_type *face = ig_script_type_class(types, "__torch__.c.Face");
    const ig_script_type *pair[] = { types->simple[IG_SCRIPT_TENSOR],
                                     types->simple[IG_SCRIPT_INT] };
    CHECK(
        ig_script_type_is_subtype(types, point, ig_script_type_tuple(types, pair, 2)));
    CHECK(
        !ig_script_type_is_subtype(types, point, ig_script_type_tuple(types, pair, 1)));
    CHECK(ig_script_type_is_subtype(types, mode, types->simple[IG_SCRIPT_ANY_ENUM]));
    CHECK(!ig_script_type_is_subtype(types, net, types->simple[IG_SCRIPT_ANY_ENUM]));
    CHECK(ig_script_type_is_subtype(types, net, face));
    CHECK(!ig_script_type_is_subtype(types, mode, face));
    CHECK(!ig_script_type_is_subtype(types, net, point));
    ig_arena_fini(&c.arena);
}
END_TEST

TEST(bad_classes_are_given) {
    dialect_case c;
    ig_code code;
    const ig_class *class;
    ig_location where = { .file = "m.pt" };
    start_code(&c, &code, some_files);
    CHECK_STATUS(ig_code_class(&code, "__torch__.bad.Bad", &where, &class), IG_INVALID);
    CHECK_TEXT(c.why, "m.pt/code/__torch__/bad.py:2:7: 'Foo' is not a type");
    CHECK_STATUS(ig_code_class(&code, "__torch__.no.Such", &where, &class), IG_INVALID);
    CHECK_TEXT(c.why,
               "m.pt: the archive has no source of the class '__torch__.no.Such'");
    CHECK_STATUS(ig_code_class(&code, "__torch__.worse.Bad", &where, &class),
                 IG_INVALID);
    CHECK_TEXT(
        c.why,
        "m.pt/code/__torch__/worse.py:2:1: expected a value, found the end of the line");
    c.why[0] = '\0'; /* said once */
    CHECK_STATUS(ig_code_class(&code, "__torch__.worse.Bad", &where, &class),
                 IG_INVALID);
    CHECK_TEXT(c.why, "");
    CHECK_TEXT(ig_code_plain_name(&code, "__torch__.a.___torch_mangle_12.Net"),
               "a.Net");
    ig_arena_fini(&c.arena);
}
END_TEST

/* ---- archives ---- */

/* Equal but for blanks and line ends? */
static bool same_but_blanks(const char *a, ig_str b) {
    size_t i = 0;
    for (;; a++, i++) {
        while (*a == ' ' || *a == '\n') {
            a++;
        }
        while (i < b.size && (b.data[i] == ' ' || b.data[i] == '\n')) {
            i++;
        }
        if (!*a || i == b.size || *a != b.data[i]) {
            return !*a && i == b.size;
        }
    }
}

static void check_archive(const char *path, int *out_files) {
    dialect_case c;
    ig_archive archive;
    ig_file_map map;
    start(&c);
    CHECK_OK(ig_file_map_open(path, &map, NULL));
    CHECK_OK(ig_archive_open(&archive, &c.context, &c.arena, path,
                             (ig_str){ map.data, map.size }));
    for (size_t i = 0; i < archive.entry_count; i++) {
        ig_archive_entry *entry = &archive.entries[i];
        ig_str text;
        ig_ast_list list;
        if (!ig_str_starts(entry->name, "code/") || !ig_str_ends(entry->name, ".py")) {
            continue;
        }
        CHECK_OK(ig_archive_read_text(&archive, entry, &text));
        ig_status status = ig_parse_source(&c.source, text, &list);
        CHECK_MSG(status == IG_OK, "%s %s: %s", path, entry->name.data, c.why);
        CHECK_MSG(same_but_blanks(print(&c, &list), text), "%s %s prints otherwise",
                  path, entry->name.data);
        ++*out_files;
    }
    ig_file_map_close(&map);
    ig_arena_fini(&c.arena);
}

/* Every model.pt below `folder`, broken ones left out. */
static void check_folder(const char *folder, int depth, int *out_files) {
    DIR *dir = depth < 6 ? opendir(folder) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[1000];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, "model.pt") == 0) {
            check_archive(path, out_files);
        } else if (entry->d_name[0] != '.' && strcmp(entry->d_name, "bad") != 0) {
            check_folder(path, depth + 1, out_files);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

TEST(code_of_archives_prints_the_same) {
    const char *cases = getenv("INGOT_CASES");
    char folder[600];
    int files = 0;
    snprintf(folder, sizeof(folder), "%s/models",
             cases ? cases : INGOT_SOURCE_DIR "/../shared");
    check_folder(folder, 0, &files);
    if (files == 0) {
        unit_skip("no model.pt below %s", folder);
    }
}
END_TEST

UNIT_SUITE(dialect, the_printers_own_source_prints_the_same,
           ordinary_python_prints_its_sense, literals_are_exact,
           defects_are_given_with_their_line, depth_is_bounded,
           classes_are_found_by_name, classes_take_part_in_subtyping,
           bad_classes_are_given, code_of_archives_prints_the_same)
