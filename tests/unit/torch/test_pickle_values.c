/* What pickles denote.  The bytes were written by Python's pickle.dumps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/torch_case.h"
#include "tests/unit/unit.h"

static ig_py *read_bytes(torch_case *c, ig_pickle_set *set, ig_str bytes,
                         bool is_torchscript) {
    ig_pickle_options options = { .file = "test",
                                  .name = "x.pkl",
                                  .storage_prefix = "data/",
                                  .storage_suffix = "",
                                  .is_torchscript = is_torchscript };
    ig_py *value = NULL;
    ig_status status = ig_pickle_read(set, bytes, &options, &value);
    CHECK_MSG((status == IG_OK) == (value != NULL), "%s", c->why);
    return value;
}

/* The value as text, or the status's name. */
static const char *text_of(torch_case *c, ig_str bytes) {
    ig_pickle_set set;
    ig_pickle_set_init_bare(&set, &c->context, &c->arena);
    ig_py *value = read_bytes(c, &set, bytes, false);
    if (!value) {
        return c->why;
    }
    ig_writer out;
    ig_writer_init(&out, &c->arena);
    ig_py_print(&out, value, 20);
    return out.data;
}

typedef struct pickle_row {
    int protocol;
    ig_str bytes;
    const char *text;
} pickle_row;

#define ROW(protocol, bytes, text) { protocol, { bytes, sizeof(bytes) - 1 }, text },

static const pickle_row rows[] = {
    /* clang-format off */
    ROW(0, "N.",
        "None")
    ROW(2, "\200\002N.",
        "None")
    ROW(3, "\200\003N.",
        "None")
    ROW(4, "\200\004N.",
        "None")
    ROW(5, "\200\005N.",
        "None")
    ROW(0, "(I01\012I00\012tp0\012.",
        "(True, False)")
    ROW(2, "\200\002\210\211\206q\000.",
        "(True, False)")
    ROW(3, "\200\003\210\211\206q\000.",
        "(True, False)")
    ROW(4, "\200\004\225\005\000\000\000\000\000\000\000\210\211\206\224.",
        "(True, False)")
    ROW(5, "\200\005\225\005\000\000\000\000\000\000\000\210\211\206\224.",
        "(True, False)")
    ROW(0,
        "(lp0\012I0\012aI255\012aI65535\012aI-1\012aL2147483648L\012aL-9223372036854775808L\012a.",
        "[0, 255, 65535, -1, 2147483648, -9223372036854775808]")
    ROW(2,
        "\200\002]q\000(K\000K\377M\377\377J\377\377\377\377\212\005\000"
        "\000\000\200\000\212\010\000\000\000\000\000\000\000\200e.",
        "[0, 255, 65535, -1, 2147483648, -9223372036854775808]")
    ROW(3,
        "\200\003]q\000(K\000K\377M\377\377J\377\377\377\377\212\005\000"
        "\000\000\200\000\212\010\000\000\000\000\000\000\000\200e.",
        "[0, 255, 65535, -1, 2147483648, -9223372036854775808]")
    ROW(4,
        "\200\004\225\"\000\000\000\000\000\000\000]\224(K\000K\377M\377\377J\377\377\377\377\212\005\000\000\000\200\000\212\010\000\000"
"\000\000\000\000\000\200e.",
        "[0, 255, 65535, -1, 2147483648, -9223372036854775808]")
    ROW(5,
        "\200\005\225\"\000\000\000\000\000\000\000]\224(K\000K\377M\377\377J\377\377\377\377\212\005\000\000\000\200\000\212\010\000\000"
"\000\000\000\000\000\200e.",
        "[0, 255, 65535, -1, 2147483648, -9223372036854775808]")
    ROW(0,
        "(L1180591620717411303424L\012L-1180591620717411303424L\012L9223372036854775808L\012tp0\012.",
        "(1180591620717411303424, -1180591620717411303424, 9223372036854775808)")
    ROW(2,
        "\200\002\212\011\000\000\000\000\000\000\000\000@\212\011\000\000"
        "\000\000\000\000\000\000\300\212\011\000\000\000\000\000\000\000"
        "\200\000\207q\000.",
        "(1180591620717411303424, -1180591620717411303424, 9223372036854775808)")
    ROW(3,
        "\200\003\212\011\000\000\000\000\000\000\000\000@\212\011\000\000"
        "\000\000\000\000\000\000\300\212\011\000\000\000\000\000\000\000"
        "\200\000\207q\000.",
        "(1180591620717411303424, -1180591620717411303424, 9223372036854775808)")
    ROW(4,
        "\200\004\225$\000\000\000\000\000\000\000\212\011\000\000\000\000"
"\000\000\000\000@\212\011\000\000\000\000\000\000\000\000\300\212\011\000\000\000\000\000\000\000\200\000\207\224.",
        "(1180591620717411303424, -1180591620717411303424, 9223372036854775808)")
    ROW(5,
        "\200\005\225$\000\000\000\000\000\000\000\212\011\000\000\000\000"
"\000\000\000\000@\212\011\000\000\000\000\000\000\000\000\300\212\011\000\000\000\000\000\000\000\200\000\207\224.",
        "(1180591620717411303424, -1180591620717411303424, 9223372036854775808)")
    ROW(0,
        "(Vtab\011\012p0\012Vgr\374\337e\012p1\012c_codecs\012encode\012p2\012(V\\u0000\377\012p3\012Vlatin1\012p4\012tp5\012Rp6\012tp7\012.",
        "(\"tab\\t\", \"grüße\", b\"\\x00\\xff\")")
    ROW(2,
        "\200\002X\004\000\000\000tab\011q\000X\007\000\000\000gr\303\274\303\237eq\001c_codecs\012encode\012q\002X\003\000\000\000\000\303\277q\003X\006\000\000\000latin1q\004\206q\005Rq\006\207q\007.",
        "(\"tab\\t\", \"grüße\", b\"\\x00\\xff\")")
    ROW(3,
        "\200\003X\004\000\000\000tab\011q\000X\007\000\000\000gr\303\274\303\237eq\001C\002\000\377q\002\207q\003.",
        "(\"tab\\t\", \"grüße\", b\"\\x00\\xff\")")
    ROW(4,
        "\200\004\225\031\000\000\000\000\000\000\000\214\004tab\011\224\214\007gr\303\274\303\237e\224C\002\000\377\224\207\224.",
        "(\"tab\\t\", \"grüße\", b\"\\x00\\xff\")")
    ROW(5,
        "\200\005\225\031\000\000\000\000\000\000\000\214\004tab\011\224\214\007gr\303\274\303\237e\224C\002\000\377\224\207\224.",
        "(\"tab\\t\", \"grüße\", b\"\\x00\\xff\")")
    ROW(0, "(F1.5\012F-0.1\012Finf\012tp0\012.",
        "(1.5, -0.1, inf)")
    ROW(2,
        "\200\002G\?\370\000\000\000\000\000\000G\277\271\231\231\231\231\231\232G\177\360\000\000\000\000\000\000\207q\000.",
        "(1.5, -0.1, inf)")
    ROW(3,
        "\200\003G\?\370\000\000\000\000\000\000G\277\271\231\231\231\231\231\232G\177\360\000\000\000\000\000\000\207q\000.",
        "(1.5, -0.1, inf)")
    ROW(4,
        "\200\004\225\036\000\000\000\000\000\000\000G\?\370\000\000\000"
        "\000\000\000G\277\271\231\231\231\231\231\232G\177\360\000\000\000"
        "\000\000\000\207\224.",
        "(1.5, -0.1, inf)")
    ROW(5,
        "\200\005\225\036\000\000\000\000\000\000\000G\?\370\000\000\000"
        "\000\000\000G\277\271\231\231\231\231\231\232G\177\360\000\000\000"
        "\000\000\000\207\224.",
        "(1.5, -0.1, inf)")
    ROW(0, "(dp0\012Va\012p1\012(lp2\012I1\012aI2\012asVb\012p3\012(dp4\012s.",
        "{\"a\": [1, 2], \"b\": {}}")
    ROW(2,
        "\200\002}q\000(X\001\000\000\000aq\001]q\002(K\001K\002eX\001\000"
        "\000\000bq\003}q\004u.",
        "{\"a\": [1, 2], \"b\": {}}")
    ROW(3,
        "\200\003}q\000(X\001\000\000\000aq\001]q\002(K\001K\002eX\001\000"
        "\000\000bq\003}q\004u.",
        "{\"a\": [1, 2], \"b\": {}}")
    ROW(4,
        "\200\004\225\027\000\000\000\000\000\000\000}\224(\214\001a\224]\224(K\001K\002e\214\001b\224}\224u.",
        "{\"a\": [1, 2], \"b\": {}}")
    ROW(5,
        "\200\005\225\027\000\000\000\000\000\000\000}\224(\214\001a\224]\224(K\001K\002e\214\001b\224}\224u.",
        "{\"a\": [1, 2], \"b\": {}}")
    ROW(0, "c__builtin__\012set\012p0\012((lp1\012I1\012aI2\012aI3\012atp2\012Rp3\012.",
        "{1, 2, 3}")
    ROW(2,
        "\200\002c__builtin__\012set\012q\000]q\001(K\001K\002K\003e\205q\002Rq\003.",
        "{1, 2, 3}")
    ROW(3, "\200\003cbuiltins\012set\012q\000]q\001(K\001K\002K\003e\205q\002Rq\003.",
        "{1, 2, 3}")
    ROW(4, "\200\004\225\013\000\000\000\000\000\000\000\217\224(K\001K\002K\003\220.",
        "{1, 2, 3}")
    ROW(5, "\200\005\225\013\000\000\000\000\000\000\000\217\224(K\001K\002K\003\220.",
        "{1, 2, 3}")
    ROW(0, "ccollections\012OrderedDict\012p0\012(tRp1\012I1\012(ts.",
        "collections.OrderedDict{1: ()}")
    ROW(2, "\200\002ccollections\012OrderedDict\012q\000)Rq\001K\001)s.",
        "collections.OrderedDict{1: ()}")
    ROW(3, "\200\003ccollections\012OrderedDict\012q\000)Rq\001K\001)s.",
        "collections.OrderedDict{1: ()}")
    ROW(4,
        "\200\004\225&\000\000\000\000\000\000\000\214\013collections\224\214\013OrderedDict\224\223\224)R\224K\001)s.",
        "collections.OrderedDict{1: ()}")
    ROW(5,
        "\200\005\225&\000\000\000\000\000\000\000\214\013collections\224\214\013OrderedDict\224\223\224)R\224K\001)s.",
        "collections.OrderedDict{1: ()}")
    ROW(0, "c__builtin__\012complex\012p0\012(F1.0\012F-2.0\012tp1\012Rp2\012.",
        "complex(1, -2)")
    ROW(2,
        "\200\002c__builtin__\012complex\012q\000G\?\360\000\000\000\000"
        "\000\000G\300\000\000\000\000\000\000\000\206q\001Rq\002.",
        "complex(1, -2)")
    ROW(3,
        "\200\003cbuiltins\012complex\012q\000G\?\360\000\000\000\000\000"
        "\000G\300\000\000\000\000\000\000\000\206q\001Rq\002.",
        "complex(1, -2)")
    ROW(4,
        "\200\004\225.\000\000\000\000\000\000\000\214\010builtins\224\214\007complex\224\223\224G\?\360\000\000\000\000\000\000G\300\000"
"\000\000\000\000\000\000\206\224R\224.",
        "complex(1, -2)")
    ROW(5,
        "\200\005\225.\000\000\000\000\000\000\000\214\010builtins\224\214\007complex\224\223\224G\?\360\000\000\000\000\000\000G\300\000"
"\000\000\000\000\000\000\206\224R\224.",
        "complex(1, -2)")
    ROW(0, "c__builtin__\012frozenset\012p0\012((lp1\012Vx\012p2\012atp3\012Rp4\012.",
        "frozenset{\"x\"}")
    ROW(2,
        "\200\002c__builtin__\012frozenset\012q\000]q\001X\001\000\000\000x"
        "q\002a\205q\003Rq\004.",
        "frozenset{\"x\"}")
    ROW(3,
        "\200\003cbuiltins\012frozenset\012q\000]q\001X\001\000\000\000xq\002a\205q\003Rq\004.",
        "frozenset{\"x\"}")
    ROW(4, "\200\004\225\010\000\000\000\000\000\000\000(\214\001x\224\221\224.",
        "frozenset{\"x\"}")
    ROW(5, "\200\005\225\010\000\000\000\000\000\000\000(\214\001x\224\221\224.",
        "frozenset{\"x\"}")
    /* clang-format on */
};

TEST(all_protocols_give_the_same_values) {
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        torch_case c;
        torch_case_init(&c);
        const char *text = text_of(&c, rows[i].bytes);
        CHECK_MSG(strcmp(text, rows[i].text) == 0, "protocol %d: %s, not %s",
                  rows[i].protocol, text, rows[i].text);
        torch_case_fini(&c);
    }
}
END_TEST

/* Every prefix and every one-byte change is answered, with words where it is
 * refused. */
TEST(damage_is_refused) {
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        torch_case c;
        torch_case_init(&c);
        ig_str bytes = rows[i].bytes;
        for (size_t size = 0; size < bytes.size; size++) {
            torch_case_clear(&c);
            (void)text_of(&c, (ig_str){ bytes.data, size });
            CHECK_MSG(strstr(c.why, "test: in 'x.pkl': byte "), "%s", c.why);
        }
        char *copy = ig_arena_copy(&c.arena, bytes.data, bytes.size);
        for (size_t at = 0; at < bytes.size; at++) {
            for (int bit = 0; bit < 8; bit++) {
                copy[at] = (char)(bytes.data[at] ^ 1 << bit);
                (void)text_of(&c, (ig_str){ copy, bytes.size });
            }
            copy[at] = bytes.data[at];
        }
        torch_case_fini(&c);
    }
}
END_TEST

/* a = [1]; pickle.dumps([a, a], 2) */
TEST(what_is_shared_stays_one) {
    torch_case c;
    torch_case_init(&c);
    ig_pickle_set set;
    ig_pickle_set_init_bare(&set, &c.context, &c.arena);
    ig_py *list = read_bytes(&c, &set, IG_STR("\200\002]q\000(]q\001K\001ah\001e."),
                             false);
    CHECK(list && list->kind == IG_PY_LIST && list->as.list.count == 2);
    CHECK_PTR(list->as.list.items[0], list->as.list.items[1]);
    torch_case_fini(&c);
}
END_TEST

/* libtorch writes an enum as class and value without a tuple. */
TEST(enums_of_torchscript) {
    torch_case c;
    torch_case_init(&c);
    ig_pickle_set set;
    ig_pickle_set_init_bare(&set, &c.context, &c.arena);
    ig_py *value = read_bytes(&c, &set, IG_STR("\200\002c__torch__.m\nColor\nK\002R."),
                              true);
    CHECK(value && value->kind == IG_PY_ENUM);
    CHECK_TEXT(ig_py_path(value, &c.arena), "__torch__.m.Color");
    CHECK_INT(value->as.enumeration.value->as.i, 2);
    torch_case_fini(&c);
}
END_TEST

typedef struct refusal_row {
    ig_str bytes;
    const char *word; /* in the message */
} refusal_row;

#define REFUSAL(bytes, word) { { bytes, sizeof(bytes) - 1 }, word },

static const refusal_row refusals[] = {
    REFUSAL("cos\nsystem\n(S'echo EXECUTED'\ntR.", "os.system") REFUSAL(
        "\200\004\214\005posix\214\006system\223\214\002id\205R.", "posix.system")
        REFUSAL("cbuiltins\neval\n(X\003\000\000\0001+1tR.", "builtins.eval")
            REFUSAL("(I1\nios\nsystem\n.", "os.system") REFUSAL("h\007.", "number 7")
                REFUSAL("R.", "stack") REFUSAL("(K\001.", "mark") REFUSAL(
                    "X\377\377\377\177a.", "ends") REFUSAL("\200\006N.", "protocol")
                    REFUSAL("]q\000h\000a.", "holds itself")
                        REFUSAL("\202\001.", "outside") REFUSAL("}(K\001u.", "no value")
                            REFUSAL("K\001K\002a.", "int")
                                REFUSAL("NN\201.", "object of")
                                    REFUSAL("(NtQ.", "persistent id")
};

TEST(hostile_pickles_are_refused) {
    for (size_t i = 0; i < IG_COUNT_OF(refusals); i++) {
        torch_case c;
        torch_case_init(&c);
        const char *text = text_of(&c, refusals[i].bytes);
        CHECK_MSG(text == c.why && strstr(c.why, refusals[i].word),
                  "row %zu: %s, expected '%s'", i, text, refusals[i].word);
        torch_case_fini(&c);
    }
}
END_TEST

/* Deep nesting and shared growth end at limits, quickly and without recursion. */
TEST(limits_hold) {
    enum { DEPTH = 200000 };
    torch_case c;
    torch_case_init(&c);
    char *deep = ig_arena_alloc(&c.arena, DEPTH + 2);
    deep[0] = 'N';
    memset(deep + 1, '\205', DEPTH);
    deep[DEPTH + 1] = '.';
    (void)text_of(&c, (ig_str){ deep, DEPTH + 2 });
    CHECK_MSG(strstr(c.why, "exceeds limit pickle_depth (500)"), "%s", c.why);
    c.context.limits.pickle_values = 1000;
    torch_case_clear(&c);
    (void)text_of(&c, (ig_str){ deep, DEPTH + 2 });
    CHECK_MSG(strstr(c.why, "values"), "%s", c.why);
    torch_case_clear(&c);
    memset(deep, '(', DEPTH);
    (void)text_of(&c, (ig_str){ deep, DEPTH });
    CHECK_MSG(strstr(c.why, "marks"), "%s", c.why);
    torch_case_clear(&c);
    memset(deep + 1, '2', DEPTH - 1);
    deep[0] = 'N';
    (void)text_of(&c, (ig_str){ deep, DEPTH });
    CHECK_MSG(strstr(c.why, "doubles"), "%s", c.why);
    torch_case_fini(&c);
}
END_TEST

/* One value under 500,000 numbers. */
TEST(the_memo_is_bounded) {
    torch_case c;
    ig_writer bytes;
    torch_case_init(&c);
    ig_writer_init(&bytes, &c.arena);
    ig_put(&bytes, "N");
    for (uint32_t i = 0; i < 500000; i++) {
        uint32_t word = i * 2654435761u;
        ig_put_char(&bytes, 'r');
        ig_put_bytes(&bytes, &word, sizeof(word));
    }
    ig_put(&bytes, ".");
    (void)text_of(&c, ig_writer_str(&bytes));
    CHECK_MSG(strstr(c.why, "keeps more"), "%s", c.why);
    torch_case_fini(&c);
}
END_TEST

/* [[…[x, x]…], the same]: 2^60 values when told one by one. */
TEST(printing_ends) {
    torch_case c;
    torch_case_init(&c);
    ig_writer bytes;
    ig_writer_init(&bytes, &c.arena);
    ig_put(&bytes, "N");
    for (int i = 0; i < 60; i++) {
        ig_put(&bytes, "2\206");
    }
    ig_put(&bytes, ".");
    CHECK(strlen(text_of(&c, ig_writer_str(&bytes))) < 100000);
    torch_case_fini(&c);
}
END_TEST

UNIT_SUITE(pickle_values, all_protocols_give_the_same_values, damage_is_refused,
           what_is_shared_stays_one, enums_of_torchscript, hostile_pickles_are_refused,
           limits_hold, the_memo_is_bounded, printing_ends)
