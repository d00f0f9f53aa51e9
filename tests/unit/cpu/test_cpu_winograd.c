/* Convolutions by F(2 x 2, 3 x 3): the op against the interpreter at every level, and
 * whole convolutions against themselves, first as `conv`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

/* ---- the schedule ---- */

/* Heights of blocks that divide the patches and that do not, half patches at the ends,
 * columns that fill no vector, images without elements. */
TEST(extents_of_all_kinds) {
    static const char text[] =
        "module @t {\n"
        "  graph @main(%x: f32[B, H, W, 19], %w: f32[3, 304, 16])\n"
        "      -> (f32[B, H, W, 37]) {\n"
        "    %0 = conv_winograd %x, %w {columns = 37, before = [1, 1], after = [1, 1]}\n"
        "        : f32[B, H, W, 37]\n"
        "    ret %0\n  }\n}\n";
    lower_check(text, EXTENTS(2, 5, 7), 20);
    lower_check(text, EXTENTS(1, 1, 1), 20);
    lower_check(text, EXTENTS(1, 2, 1), 20);
    lower_check(text, EXTENTS(3, 14, 16), 20);
    lower_check(text, EXTENTS(0, 4, 4), 20);
    lower_check(text, EXTENTS(2, 0, 4), 20);
}

/* Known extents choose another height of blocks; padding of each side by itself. */
TEST(padding) {
    static const struct {
        const char *x, *attrs, *out;
    } cases[] = {
        { "f32[1, 3, 3, 16]", "", "f32[1, 1, 1, 16]" },
        { "f32[2, 6, 9, 16]", "", "f32[2, 4, 7, 16]" },
        { "f32[1, 6, 9, 16]", ", before = [0, 2], after = [3, 1]",
          "f32[1, 7, 10, 16]" },
        { "f32[1, 2, 1, 16]", ", before = [4, 0], after = [0, 5]", "f32[1, 4, 4, 16]" },
        { "f32[3, 7, 7, 16]", ", before = [1, 1], after = [1, 1]", "f32[3, 7, 7, 16]" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        ig_arena arena;
        ig_writer text;
        ig_arena_init(&arena, NULL);
        ig_writer_init(&text, &arena);
        ig_put(&text, "module @t {\n  graph @main(%%x: %s, ", cases[i].x);
        ig_put(&text, "%%w: f32[1, 256, 16]) -> (%s) {\n", cases[i].out);
        ig_put(&text, "    %%0 = conv_winograd %%x, %%w {columns = 16%s} : %s\n",
               cases[i].attrs, cases[i].out);
        ig_put(&text, "    ret %%0\n  }\n}\n");
        lower_check(text.data, NULL, 20);
        ig_arena_fini(&arena);
    }
}

/* A tile of the grid has several blocks, and several tiles their parts of the images;
 * epilogues that read other values, short and long. */
TEST(epilogues) {
    static const char text[] =
        "module @t {\n"
        "  graph @main(%x: f32[B, 13, 18, 20], %w: f32[3, 320, 16], %b: f32[40],\n"
        "              %r: f32[B, 13, 18, 40])\n"
        "      -> (f32[B, 13, 18, 40], f32[B, 13, 18, 40]) {\n"
        "    %0 = conv_winograd %x, %w {columns = 40, before = [1, 1], after = [1, 1]}\n"
        "        : f32[B, 13, 18, 40]\n"
        "    %1 = add %0, %b : f32[B, 13, 18, 40]\n"
        "    %2 = add %1, %r : f32[B, 13, 18, 40]\n"
        "    %3 = relu %2 : f32[B, 13, 18, 40]\n"
        "    %4 = conv_winograd %x, %w {columns = 40, before = [1, 1], after = [1, 1]}\n"
        "        : f32[B, 13, 18, 40]\n"
        "    %5 = tanh %4 : f32[B, 13, 18, 40]\n"
        "    ret %3, %5\n  }\n}\n";
    lower_check(text, EXTENTS(1), 20);
    lower_check(text, EXTENTS(5), 20);
}

/* Few patches and many columns: groups of these are tiles of their own; the last one
 * has the panel that is left, once with another micro-panel and once alone. */
TEST(groups_of_columns) {
    static const long columns[] = { 272, 273, 256, 400 };
    for (size_t i = 0; i < IG_COUNT_OF(columns); i++) {
        ig_arena arena;
        ig_writer text;
        ig_arena_init(&arena, NULL);
        ig_writer_init(&text, &arena);
        long count = columns[i];
        ig_put(&text, "module @t {\n  graph @main(%%x: f32[2, 4, 5, 3], ");
        ig_put(&text, "%%w: f32[%ld, 48, 16]) -> ", (count + 15) / 16);
        ig_put(&text, "(f32[2, 2, 3, %ld]) {\n", count);
        ig_put(&text, "    %%0 = conv_winograd %%x, %%w {columns = %ld} : ", count);
        ig_put(&text, "f32[2, 2, 3, %ld]\n    ret %%0\n  }\n}\n", count);
        lower_check(text.data, NULL, 20);
        ig_arena_fini(&arena);
    }
}

/* ---- convolutions ---- */

static const char understand[] =
    "(decompose,infer,guards,canonicalise,fold,cse,dce)*,"
    "(channels_last,infer,guards,canonicalise,fold,cse,dce)*";

static uint32_t count_ops(const ig_graph *graph, ig_opcode code) {
    uint32_t count = 0;
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        count += op->code == code;
    }
    return count;
}

typedef struct conv_case {
    const char *args, *weight; /* type of @w */
    int64_t count;             /* of its elements */
    const char *body, *out;
    uint32_t taken; /* how many become conv_winograd */
} conv_case;

static void check_level(const char *level, const char *text, const conv_case *of,
                        const int64_t *extents) {
    lower_case c;
    lower_open_values(&c, level, text, extents, LOWER_PLAIN, 3);
    lower_interpret(&c);
    ig_pass_options options = { .target = &c.cpu.target, .winograd = true };
    CHECK_MSG(ig_passes_run(c.module, &options, understand) == IG_OK, "%s", c.cpu.last);
    CHECK_INT(count_ops(ig_module_graph(c.module, "main"), IG_OP_conv_winograd),
              of->taken);
    lower_passes(&c);
    lower_match(&c, lower_launch_all(&c), 4e-6);
    lower_close(&c);
}

static void check(const conv_case *of, const int64_t *extents) {
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        ig_arena arena;
        ig_writer text;
        ig_arena_init(&arena, NULL);
        ig_writer_init(&text, &arena);
        ig_put(&text, "module @t {\n  weight @w : %s = [", of->weight);
        for (int64_t k = 0; k < of->count; k++) {
            ig_put(&text, "%s%g", k ? ", " : "", (double)(k * 37 % 101 - 50) / 64.0);
        }
        ig_put(&text, "]\n  graph @main(%s) -> (%s) {\n%s\n  }\n}\n", of->args, of->out,
               of->body);
        check_level(cpu_levels[i], text.data, of, extents);
        ig_arena_fini(&arena);
    }
}

TEST(convolutions) {
    conv_case padded = { "%x: f32[B, 32, H, 9], %b: f32[33]",
                         "f32[33, 32, 3, 3]",
                         33 * 32 * 9,
                         "%0 = conv %x, @w, %b {before = [1, 1], after = [1, 1]} : "
                         "f32[B, 33, H, 9]\n"
                         "%1 = relu %0 : f32[B, 33, H, 9]\nret %1",
                         "f32[B, 33, H, 9]",
                         1 };
    check(&padded, EXTENTS(2, 6));
    check(&padded, EXTENTS(1, 1));
    check(&padded, EXTENTS(0, 3));
}

/* Strides, dilations, groups, other windows, few channels and single pixels stay. */
TEST(which_stay) {
    static const struct {
        const char *x, *w, *attrs, *out;
        int64_t count;
    } cases[] = {
        { "f32[1, 32, 9, 9]", "f32[32, 32, 3, 3]", "{strides = [2, 1]}",
          "f32[1, 32, 4, 7]", 9216 },
        { "f32[1, 32, 9, 9]", "f32[32, 32, 3, 3]", "{dilations = [1, 2]}",
          "f32[1, 32, 7, 5]", 9216 },
        { "f32[1, 64, 9, 9]", "f32[64, 32, 3, 3]", "{group = 2}", "f32[1, 64, 7, 7]",
          18432 },
        { "f32[1, 32, 9, 9]", "f32[32, 32, 3, 1]", "", "f32[1, 32, 7, 9]", 3072 },
        { "f32[1, 8, 9, 9]", "f32[32, 8, 3, 3]", "", "f32[1, 32, 7, 7]", 2304 },
        { "f32[1, 32, 9, 9]", "f32[8, 32, 3, 3]", "", "f32[1, 8, 7, 7]", 2304 },
        { "f32[1, 32, 4, 4]", "f32[32, 32, 3, 3]", "", "f32[1, 32, 2, 2]", 9216 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        ig_arena arena;
        ig_writer args, body;
        ig_arena_init(&arena, NULL);
        ig_writer_init(&args, &arena);
        ig_writer_init(&body, &arena);
        ig_put(&args, "%%x: %s", cases[i].x);
        ig_put(&body, "%%0 = conv %%x, @w %s : %s\nret %%0", cases[i].attrs,
               cases[i].out);
        check(&(conv_case){ args.data, cases[i].w, cases[i].count, body.data,
                            cases[i].out, 0 },
              NULL);
        ig_arena_fini(&arena);
    }
}

UNIT_SUITE(cpu_winograd, extents_of_all_kinds, padding, epilogues, groups_of_columns,
           convolutions, which_stay)
