/* Methods of lists, sets, dicts and texts, through both of their faces: operators of an
 * archive, and methods of plain Python in a package.  Each row gives the same numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

#define MODULE                                                             \
    "\200\003cm\nM\n)\201}(X\010\000\000\000training\211X\013\000\000\000" \
    "_parameters}X\010\000\000\000_buffers}X\010\000\000\000_modules}ub."

typedef struct face_row {
    const char *archive, *python; /* statements and a list of numbers; NULL: no such */
    double expected[6];
    int64_t count;
} face_row;

/* `text`'s lines, each behind `indent`; the last one is returned. */
static const char *indent_body(ig_arena *arena, const char *text, const char *indent) {
    ig_writer w;
    ig_writer_init(&w, arena);
    while (*text) {
        const char *end = strchr(text, '\n');
        size_t size = end ? (size_t)(end - text) : strlen(text);
        ig_put(&w, end ? "%s%.*s\n" : "%sreturn torch.tensor(%.*s)\n", indent,
               (int)size, text);
        text += size + (end != NULL);
    }
    return w.data;
}

static ig_status import_package(program *p, const char *source) {
    torch_entry entries[] = {
        { "p/.data/version", IG_STR("6\n") },
        { "p/.data/extern_modules", IG_STR("torch\ntorch.nn\n") },
        { "p/model/model.pkl", { MODULE, sizeof MODULE - 1 } },
        { "p/m.py", { source, strlen(source) } },
    };
    ig_torchscript_argument argument = { "x", "f32[2, 2]" };
    ig_torchscript_options options = { .arguments = &argument, .argument_count = 1 };
    memset(p, 0, sizeof(*p));
    torch_case_init(&p->c);
    ig_str zip = torch_zip(&p->c.arena, entries, IG_COUNT_OF(entries));
    return ig_import_torchscript_memory(&p->c.context, zip, "m.pt", &options,
                                        &p->module);
}

static ig_status import_face(program *p, const face_row *row, bool is_python) {
    ig_arena arena;
    ig_budget budget = { 0 };
    ig_arena_init(&arena, &budget);
    const char *source = ig_arena_printf(
        &arena, "%s%s",
        is_python ? "import torch\nclass M(torch.nn.Module):\n  def forward(self, x):\n"
                  : HEAD
            "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n",
        indent_body(&arena, is_python ? row->python : row->archive, "    "));
    ig_status status = is_python ? import_package(p, source)
                                 : import_source(p, source, NULL);
    ig_arena_fini(&arena);
    return status;
}

static void check_row(const face_row *row, bool is_python) {
    const float x[4] = { 1, 2, 3, 4 };
    const char *body = is_python ? row->python : row->archive;
    program p;
    ig_status status = import_face(&p, row, is_python);
    CHECK_MSG(status == IG_OK, "%s\n%s", p.c.why, body);
    if (status == IG_OK) {
        run(&p, x);
        CHECK_INT(p.outputs[0].count, row->count);
        for (int64_t i = 0; i < row->count; i++) {
            double got = ig_tensor_get_f64(&p.outputs[0], i);
            CHECK_MSG(fabs(got - row->expected[i]) < 1e-6,
                      "number %lld is %g, not %g:\n%s", (long long)i, got,
                      row->expected[i], body);
        }
    }
    close(&p);
}

static void check_rows(const face_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (rows[i].archive) {
            check_row(&rows[i], false);
        }
        if (rows[i].python) {
            check_row(&rows[i], true);
        }
    }
}

TEST(methods_of_lists_have_two_faces) {
    static const face_row rows[] = {
        { "a = [1, 2]\n_0 = torch.append(a, 5)\na",
          "a = [1, 2]\na.append(5)\na",
          { 1, 2, 5 },
          3 },
        { "a = [1]\ntorch.extend(a, [7, 8])\na",
          "a = [1]\na.extend((7, 8))\na",
          { 1, 7, 8 },
          3 },
        { "a = [1]\ntorch.extend(a, a)\na", "a = [1]\na.extend(a)\na", { 1, 1 }, 2 },
        { "a = [1, 2]\ntorch.insert(a, -1, 9)\na",
          "a = [1, 2]\na.insert(-1, 9)\na",
          { 1, 9, 2 },
          3 },
        { "a = [1, 2]\ntorch.insert(a, 7, 9)\na",
          "a = [1, 2]\na.insert(7, 9)\na",
          { 1, 2, 9 },
          3 },
        { "a = [1, 2, 3]\nb = torch.pop(a)\n[b, torch.len(a)]",
          "a = [1, 2, 3]\nb = a.pop()\n[b, len(a)]",
          { 3, 2 },
          2 },
        { "a = [1, 2, 3]\nb = torch.pop(a, -3)\n[b, a[0]]",
          "a = [1, 2, 3]\nb = a.pop(-3)\n[b, a[0]]",
          { 1, 2 },
          2 },
        { "a = [1, 2, 3]\ntorch.reverse(a)\na",
          "a = [1, 2, 3]\na.reverse()\na",
          { 3, 2, 1 },
          3 },
        { "a = [1]\nb = torch.pop(a)\n_0 = torch.append(a, 4)\na",
          "a = [1]\nb = a.pop()\na.append(4)\na",
          { 4 },
          1 },
        { "a = [1, 2]\ntorch.clear(a)\n[torch.len(a)]",
          "a = [1, 2]\na.clear()\n[len(a)]",
          { 0 },
          1 },
        { "a = [1, 2]\nb = torch.copy(a)\n_0 = torch.append(b, 3)\n[torch.len(a), "
          "torch.len(b)]",
          "a = [1, 2]\nb = a.copy()\nb.append(3)\n[len(a), len(b)]",
          { 2, 3 },
          2 },
    };
    check_rows(rows, IG_COUNT_OF(rows));
}
END_TEST

TEST(items_of_lists_are_found_and_taken) {
    static const face_row rows[] = {
        { "a = [3, 1, 2]\ntorch.sort(a, True)\na",
          "a = [3, 1, 2]\na.sort(reverse=True)\na",
          { 3, 2, 1 },
          3 },
        { "a = [3, 1, 2]\ntorch.sorted(a)",
          "a = [3, 1, 2]\na.sort(key=lambda v: v % 3)\na[1:] + a[:1]",
          { 1, 2, 3 },
          3 },
        { NULL, /* what cannot be compared may stand behind what decides */
          "a = {\"b\": (None, 1), \"a\": (None, 2), \"ab\": (None, 3)}\n"
          "[v for k, (_, v) in sorted(a.items())]",
          { 2, 3, 1 },
          3 },
        { NULL,
          "a = [(1, 2.5), (1,), (0, 9), (1, 2)]\n"
          "[len(v) + int(v[0]) for v in sorted(a, reverse=True)] + [a[3][1]]",
          { 3, 3, 2, 2, 2 },
          5 },
        { NULL,
          "a = [5, 6, 7, 8]\na.sort(key=lambda v: (v % 2, -v))\na",
          { 8, 6, 7, 5 },
          4 },
        { "a = [4, 5, 4]\n[torch.index(a, 5), torch.count(a, 4)]",
          "a = [4, 5, 4]\n[a.index(5), a.count(4)]",
          { 1, 2 },
          2 },
        { "a = [4, 5, 4]\ntorch.remove(a, 4)\na",
          "a = [4, 5, 4]\na.remove(4)\na",
          { 5, 4 },
          2 },
        { "a = [4, 5]\n[int(torch.__contains__(a, 4)), int(torch.__contains__(a, 6))]",
          "a = [4, 5]\n[int(4 in a), 1 - int(6 not in a)]",
          { 1, 0 },
          2 },
        { "a = [4, 5, 6]\n_0 = torch._set_item(a, -1, 9)\ntorch.Delete(a, 0)\na",
          "a = [4, 5, 6]\na[-1] = 9\ndel a[0]\na",
          { 5, 9 },
          2 },
        { "a = [1, 2, 3, 4, 5]\ntorch.slice(a, -1, None, -2)",
          "a = [1, 2, 3, 4, 5]\na[-1::-2]",
          { 5, 3, 1 },
          3 },
        { "a = [1, 2, 3, 4, 5]\ntorch.slice(a, 1, -1, 2)",
          "a = [1, 2, 3, 4, 5]\na[1:-1:2]",
          { 2, 4 },
          2 },
        { "torch.add(torch.add([1], [2]), torch.mul([3], 2))",
          "[1] + [2] + [3] * 2",
          { 1, 2, 3, 3 },
          4 },
        { "[int(torch.eq([1, 2], [1, 2])), int(torch.ne([1, 2], [1, 3]))]",
          "[int([1, 2] == [1, 2]), int([1, 2] != [1, 3])]",
          { 1, 1 },
          2 },
        { NULL,
          "a = {1, 2}\na.add(3)\na.add(3)\na.discard(1)\na.discard(9)\na.remove(2)\n"
          "a.update([3, 4])\n[len(a), int(3 in a), int(a == {4, 3})]",
          { 2, 1, 1 },
          3 },
        { NULL,
          "a, b = {1, 2, 3}, {2, 9}\n[len(a | b), len(a & b), len(a - b)]",
          { 4, 1, 2 },
          3 },
    };
    check_rows(rows, IG_COUNT_OF(rows));
}
END_TEST

#define TWO "d = {\"a\": 1, \"b\": 2}\n"

TEST(methods_of_dicts_have_two_faces) {
    static const face_row rows[] = {
        { TWO "torch._set_item(d, \"c\", 3)\n[d[\"c\"], torch.len(d)]",
          TWO "d[\"c\"] = 3\n[d[\"c\"], len(d)]",
          { 3, 3 },
          2 },
        { TWO "[torch.get(d, \"a\", 7), torch.get(d, \"x\", 7)]",
          TWO "[d.get(\"a\", 7), d.get(\"x\", 7)]",
          { 1, 7 },
          2 },
        { TWO "b = torch.pop(d, \"a\")\n[b, torch.pop(d, \"x\", 9), torch.len(d)]",
          TWO "b = d.pop(\"a\")\n[b, d.pop(\"x\", 9), len(d)]",
          { 1, 9, 1 },
          3 },
        { TWO "b = torch.setdefault(d, \"a\", 5)\nc = torch.setdefault(d, \"x\", 6)\n"
              "[b, c, d[\"x\"]]",
          TWO
          "b = d.setdefault(\"a\", 5)\nc = d.setdefault(\"x\", 6)\n[b, c, d[\"x\"]]",
          { 1, 6, 6 },
          3 },
        { TWO "torch.update(d, {\"b\": 8, \"z\": 9})\n[d[\"b\"], d[\"z\"]]",
          TWO "d.update({\"b\": 8}, z=9)\n[d[\"b\"], d[\"z\"]]",
          { 8, 9 },
          2 },
        { TWO "e = torch.copy(d)\ntorch.clear(e)\n[torch.len(d), torch.len(e)]",
          TWO "e = d.copy()\ne.clear()\n[len(d), len(e)]",
          { 2, 0 },
          2 },
        { TWO "k, v, = torch.popitem(d)\n[v, torch.len(d)]",
          TWO "k, v = d.popitem()\n[v, len(d)]",
          { 2, 1 },
          2 },
        { TWO "torch.values(d)", TWO "list(d.values())", { 1, 2 }, 2 },
        { TWO "[torch.len(torch.keys(d)), (torch.items(d)[1])[1]]",
          TWO "[len(d.keys()), list(d.items())[1][1]]",
          { 2, 2 },
          2 },
        { TWO
          "torch.Delete(d, \"a\")\n[torch.len(d), int(torch.__contains__(d, \"a\"))]",
          TWO "del d[\"a\"]\n[len(d), int(\"a\" in d)]",
          { 1, 0 },
          2 },
        { NULL,
          TWO "[int(d == {\"b\": 2, \"a\": 1}), int(d != {\"a\": 1}), len(d | {3: 4})]",
          { 1, 1, 3 },
          3 },
    };
    check_rows(rows, IG_COUNT_OF(rows));
}
END_TEST

TEST(methods_of_texts_have_two_faces) {
    static const face_row rows[] = {
        { "[torch.len(torch.split(\"a,b,c\", \",\")), torch.find(\"abc\", \"c\")]",
          "[len(\"a,b,c\".split(\",\")), \"abc\".find(\"c\")]",
          { 3, 2 },
          2 },
        { "[torch.len(torch.strip(\" a \")), torch.count(\"aaa\", \"a\")]",
          "[len(\" a \".strip()), \"aaa\".count(\"a\")]",
          { 1, 3 },
          2 },
        { "[int(torch.startswith(\"abc\", \"ab\")), int(torch.endswith(\"abc\", \"b\"))]",
          "[int(\"abc\".startswith(\"ab\")), int(\"abc\".endswith(\"b\"))]",
          { 1, 0 },
          2 },
        { "[int(torch.eq(torch.upper(\"ab\"), \"AB\")), torch.len(torch.join(\"-\", "
          "[\"a\", \"b\"]))]",
          "[int(\"ab\".upper() == \"AB\"), len(\"-\".join([\"a\", \"b\"]))]",
          { 1, 3 },
          2 },
        { "[int(torch.eq(torch.replace(\"aba\", \"a\", \"c\"), \"cbc\"))]",
          "[int(\"aba\".replace(\"a\", \"c\") == \"cbc\")]",
          { 1 },
          1 },
        { "[int(torch.eq(torch.__getitem__(\"abc\", -1), \"c\")), "
          "torch.len(torch.slice(\"abcde\", 1, 4, 2))]",
          "[int(\"abc\"[-1] == \"c\"), len(\"abcde\"[1:4:2])]",
          { 1, 2 },
          2 },
        { "[int(torch.__contains__([\"ab\"], \"ab\"))]",
          "[int(\"b\" in \"abc\")]",
          { 1 },
          1 },
    };
    check_rows(rows, IG_COUNT_OF(rows));
}
END_TEST

UNIT_SUITE(torch_container, methods_of_lists_have_two_faces,
           items_of_lists_are_found_and_taken, methods_of_dicts_have_two_faces,
           methods_of_texts_have_two_faces)
