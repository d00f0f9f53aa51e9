/* Convolutions that take channels last, against the interpreter at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

static const char understand[] =
    "(decompose,infer,guards,canonicalise,fold,cse,dce)*,"
    "(channels_last,infer,guards,canonicalise,fold,cse,dce)*";

/* So many `conv`s are left with channels first. */
static uint32_t count_convs(const ig_graph *graph) {
    uint32_t count = 0;
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        count += op->code == IG_OP_conv;
    }
    return count;
}

/* Arguments of rank 0 are 1: what they multiply is computed, and stays itself. */
static void set_units(lower_case *c) {
    const ig_block *body = &c->graph->body;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        if (body->args[i]->type->rank == 0) {
            ig_tensor_set_f64(&c->inputs[i], 0, 1.0);
        }
    }
}

static void check_level(const char *level, const char *text, const int64_t *extents,
                        lower_values values, uint32_t convs) {
    lower_case c;
    lower_open_values(&c, level, text, extents, values, 3);
    set_units(&c);
    lower_interpret(&c);
    ig_pass_options options = { .target = &c.cpu.target };
    CHECK_MSG(ig_passes_run(c.module, &options, understand) == IG_OK, "%s", c.cpu.last);
    CHECK_INT(count_convs(ig_module_graph(c.module, "main")), convs);
    lower_passes(&c);
    uint32_t outputs = lower_launch_all(&c);
    if (!c.runs_form && lower_work(&c) <= LOWER_LITTLE) {
        lower_check_form(&c);
    }
    lower_match(&c, outputs, 2e-6);
    lower_close(&c);
}

static void put_weight(ig_writer *text, const char *name, const char *type,
                       int64_t count) {
    ig_put(text, "  weight @%s : %s = [", name, type);
    for (int64_t i = 0; i < count; i++) {
        ig_put(text, "%s%g", i ? ", " : "", (double)(i * 37 % 101 - 50) / 64.0);
    }
    ig_put(text, "]\n");
}

/* A weight, and what the graph does, whose first line makes %0. */
typedef struct conv_case {
    const char *args, *weight; /* type of @w */
    int64_t count;             /* of its elements */
    const char *body, *out;
    uint32_t convs; /* that are left */
} conv_case;

static void check_values(const conv_case *of, const int64_t *extents,
                         lower_values values) {
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        ig_arena arena;
        ig_arena_init(&arena, NULL);
        ig_writer text;
        ig_writer_init(&text, &arena);
        ig_put(&text, "module @t {\n");
        put_weight(&text, "w", of->weight, of->count);
        ig_put(&text, "  graph @main(%s) -> (%s \"o\") {\n%s\n  }\n}\n", of->args,
               of->out, of->body);
        check_level(cpu_levels[i], text.data, extents, values, of->convs);
        ig_arena_fini(&arena);
    }
}

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

static void check(const conv_case *of, const int64_t *extents) {
    check_values(of, extents, LOWER_PLAIN);
}

/* Products of few channels stay as they are where nothing is near them; a pool is. */
TEST(points) {
    conv_case odd = { "%x: f32[B, 7, H, 5], %b: f32[17]",
                      "f32[17, 7, 1, 1]",
                      17 * 7,
                      "%0 = conv %x, @w, %b : f32[B, 17, H, 5]\n"
                      "%1 = pool %0 {op = max, kernel = [1, 1]}\nret %1",
                      "f32[B, 17, H, 5]",
                      0 };
    for (int64_t batch = 0; batch < 3; batch++) {
        check(&odd, EXTENTS(batch, 4));
        check(&odd, EXTENTS(batch, 1));
    }
    conv_case one = { "%x: f32[B, 3, 1, 1]",
                      "f32[1, 3, 1, 1]",
                      3,
                      "%0 = conv %x, @w : f32[B, 1, 1, 1]\nret %0",
                      "f32[B, 1, 1, 1]",
                      0 };
    check(&one, EXTENTS(5));
    conv_case apart = {
        "%x: f32[B, 3, 9, 8]",
        "f32[20, 3, 1, 1]",
        60,
        "%0 = conv %x, @w {strides = [2, 3]} : f32[B, 20, 5, 3]\nret %0",
        "f32[B, 20, 5, 3]",
        0
    };
    check(&apart, EXTENTS(2));
}

TEST(windows) {
    conv_case pads = {
        "%x: f32[B, 3, 9, 10], %b: f32[17]",
        "f32[17, 3, 3, 3]",
        17 * 27,
        "%0 = conv %x, @w, %b {strides = [2, 1], before = [1, 0], after = [2, 3]} : f32[B, 17, 5, 11]\n"
        "%1 = relu %0 : f32[B, 17, 5, 11]\nret %1",
        "f32[B, 17, 5, 11]",
        0
    };
    check(&pads, EXTENTS(2));
    check(&pads, EXTENTS(0));
    conv_case dilated = {
        "%x: f32[2, 5, H, 12]",
        "f32[8, 5, 2, 3]",
        8 * 30,
        "%0 = conv %x, @w {dilations = [3, 2]} : f32[2, 8, H - 3, 8]\nret %0",
        "f32[2, 8, H - 3, 8]",
        0
    };
    check(&dilated, EXTENTS(4));
    check(&dilated, EXTENTS(9));
    conv_case row = { "%x: f32[B, 3, 40]",
                      "f32[33, 3, 5]",
                      33 * 15,
                      "%0 = conv %x, @w {strides = [2]} : f32[B, 33, 18]\nret %0",
                      "f32[B, 33, 18]",
                      0 };
    check(&row, EXTENTS(3));
    conv_case solid = { "%x: f32[B, 2, 4, 5, 6]",
                        "f32[9, 2, 2, 3, 2]",
                        9 * 24,
                        "%0 = conv %x, @w : f32[B, 9, 3, 3, 5]\nret %0",
                        "f32[B, 9, 3, 3, 5]",
                        0 };
    check(&solid, EXTENTS(2));
    conv_case image = { "%x: f32[B, 3, 3, 3]",
                        "f32[4, 3, 3, 3]",
                        108,
                        "%0 = conv %x, @w : f32[B, 4, 1, 1]\nret %0",
                        "f32[B, 4, 1, 1]",
                        0 };
    check(&image, EXTENTS(7));
}

/* More rows and columns than a tile has, and sums in passes. */
TEST(tiles) {
    conv_case wide = { "%x: f32[B, 4, 17, 19]",
                       "f32[150, 4, 3, 3]",
                       150 * 36,
                       "%0 = conv %x, @w : f32[B, 150, 15, 17]\nret %0",
                       "f32[B, 150, 15, 17]",
                       0 };
    check(&wide, EXTENTS(1));
    conv_case deep = { "%x: f32[B, 130, 4, 5]",
                       "f32[18, 130, 3, 3]",
                       18 * 1170,
                       "%0 = conv %x, @w : f32[B, 18, 2, 3]\nret %0",
                       "f32[B, 18, 2, 3]",
                       0 };
    check(&deep, EXTENTS(3));
}

/* A line of places, or half of it, is a tile: of blocks as high, and of two heights.
 * Lines that cannot be divided evenly are none; images, groups, no image at all and
 * lines of no place. */
TEST(lines_are_tiles) {
    static const int widths[] = { 225, 115, 449, 459, 1 };
    for (size_t i = 0; i < IG_COUNT_OF(widths); i++) {
        for (int outs = 16; outs <= 40; outs += 24) {
            char args[64], weight[32], body[200], out[32];
            int width = (widths[i] - 1) / 2;
            snprintf(args, sizeof args, "%%x: f32[B, 6, 5, %d], %%b: f32[%d]",
                     widths[i], outs);
            snprintf(weight, sizeof weight, "f32[%d, 3, 3, 3]", outs);
            snprintf(out, sizeof out, "f32[B, %d, 2, %d]", outs, width);
            snprintf(body, sizeof body,
                     "%%0 = conv %%x, @w, %%b {strides = [2, 2], group = 2} : %s\n"
                     "%%1 = relu %%0 : %s\nret %%1",
                     out, out);
            conv_case lines = { args, weight, (int64_t)outs * 27, body, out, 0 };
            check(&lines, EXTENTS(2));
            check(&lines, EXTENTS(0));
        }
    }
}

/* Wide dilations: zeros around the image that are not in memory.  Images smaller than
 * the distance of taps, as large, and larger; one block of rows, and several. */
TEST(zeros_that_are_not_in_memory) {
    conv_case wide = {
        "%x: f32[B, 64, H, W], %b: f32[18]",
        "f32[18, 64, 3, 3]",
        18 * 576,
        "%0 = conv %x, @w, %b {dilations = [24, 36], before = [24, 36], after = [24, 36]} : f32[B, 18, H, W]\n"
        "%1 = relu %0 : f32[B, 18, H, W]\nret %1",
        "f32[B, 18, H, W]",
        0
    };
    check(&wide, EXTENTS(2, 3, 5));
    check(&wide, EXTENTS(1, 1, 1));
    check(&wide, EXTENTS(1, 26, 40));
    check(&wide, EXTENTS(0, 4, 4));
    check(&wide, EXTENTS(1, 0, 4));
    conv_case strided = {
        "%x: f32[B, 128, 7, H]",
        "f32[34, 64, 2, 3]",
        34 * 64 * 6,
        "%0 = conv %x, @w {group = 2, strides = [2, 3], dilations = [9, 12], before = [5, 30], after = [8, 24]} : f32[B, 34, 6, floor((H + 29) / 3) + 1]\nret %0",
        "f32[B, 34, 6, floor((H + 29) / 3) + 1]",
        0
    };
    check(&strided, EXTENTS(2, 5));
    check(&strided, EXTENTS(1, 31));
    conv_case line = {
        "%x: f32[B, 64, L]",
        "f32[16, 64, 2]",
        16 * 128,
        "%0 = conv %x, @w {dilations = [80], before = [80], after = [0]} : f32[B, 16, L]\nret %0",
        "f32[B, 16, L]",
        0
    };
    check(&line, EXTENTS(2, 3));
    check(&line, EXTENTS(1, 133));
}

/* Small pads: as many taps as a word has bits, tiles that begin within a line of the
 * image, extents of 1, borders on one side, all values. */
TEST(zeros_of_small_pads) {
    conv_case bits = {
        "%x: f32[B, 16, 9, W]",
        "f32[17, 16, 8, 8]",
        17 * 1024,
        "%0 = conv %x, @w {before = [3, 4], after = [4, 3]} : f32[B, 17, 9, W]\nret %0",
        "f32[B, 17, 9, W]",
        0
    };
    check(&bits, EXTENTS(2, 11));
    check(&bits, EXTENTS(1, 1));
    conv_case many = {
        "%x: f32[1, 16, 1, L]",
        "f32[17, 16, 1, 65]",
        17 * 16 * 65,
        "%0 = conv %x, @w {before = [0, 32], after = [0, 32]} : f32[1, 17, 1, L]\nret %0",
        "f32[1, 17, 1, L]",
        0
    };
    check(&many, EXTENTS(70));
    conv_case lines = {
        "%x: f32[B, 16, 13, 13], %b: f32[33]",
        "f32[33, 16, 3, 3]",
        33 * 144,
        "%0 = conv %x, @w, %b {before = [1, 1], after = [1, 1]} : f32[B, 33, 13, 13]\n"
        "%1 = relu %0 : f32[B, 33, 13, 13]\nret %1",
        "f32[B, 33, 13, 13]",
        0
    };
    check(&lines, EXTENTS(0));
    check(&lines, EXTENTS(1));
    check(&lines, EXTENTS(3));
    check_values(&lines, EXTENTS(2), LOWER_SPECIAL);
    conv_case sides = {
        "%x: f32[2, 32, H, W]",
        "f32[16, 16, 3, 2]",
        16 * 96,
        "%0 = conv %x, @w {group = 2, strides = [2, 1], before = [2, 0], after = [0, 1]} : f32[2, 16, floor((H - 1) / 2) + 1, W]\nret %0",
        "f32[2, 16, floor((H - 1) / 2) + 1, W]",
        0
    };
    check(&sides, EXTENTS(1, 1));
    check(&sides, EXTENTS(8, 17));
}

/* Lines that are a block, or two, at the levels' heights of 6 and 14; fewer lines than
 * a tile of the grid has, more, and more than two tiles. */
TEST(lines_that_are_blocks) {
    for (int64_t width = 2; width <= 28; width = width == 14 ? 28 : width + 1) {
        char args[64], body[256], out[64];
        long long w = width;
        snprintf(args, sizeof args, "%%x: f32[B, 16, H, %lld]", w);
        snprintf(out, sizeof out, "f32[B, 17, H, %lld]", w);
        snprintf(body, sizeof body,
                 "%%0 = conv %%x, @w {before = [1, 1], after = [1, 1]} : %s\nret %%0",
                 out);
        conv_case c = { args, "f32[17, 16, 3, 3]", 17 * 144, body, out, 0 };
        check(&c, EXTENTS(1, 1));
        check(&c, EXTENTS(3, 9));
    }
    conv_case known = {
        "%x: f32[3, 130, 7, 7]",
        "f32[17, 130, 3, 3]",
        17 * 1170,
        "%0 = conv %x, @w {before = [1, 1], after = [1, 1]} : f32[3, 17, 7, 7]\nret %0",
        "f32[3, 17, 7, 7]",
        0
    };
    check(&known, NULL);
}

/* The op itself: known extents, more channels than a pass has, taps at the edge. */
TEST(padded_panels) {
    static const char *const attrs[] = {
        "kernel = [3, 2], columns = 19, before = [1, 1], after = [1, 0]",
        "kernel = [3, 2], columns = 19, strides = [2, 1], before = [3, 0], after = [0, 1]",
        "kernel = [3, 2], columns = 19, before = [2, 9], after = [0, 0], dilations = [1, 8]",
    };
    static const char *const out[] = { "4, 5", "3, 5", "4, 6" };
    for (size_t i = 0; i < IG_COUNT_OF(attrs); i++) {
        ig_arena arena;
        ig_writer text;
        ig_arena_init(&arena, NULL);
        ig_writer_init(&text, &arena);
        ig_put(&text, "module @t {\n  graph @main(%%x: f32[B, 4, 5, 205], ");
        ig_put(&text, "%%w: f32[2, 1230, 16]) -> (f32[B, %s, 19]) {\n", out[i]);
        ig_put(&text, "    %%0 = conv_panels %%x, %%w {%s} : f32[B, %s, 19]\n",
               attrs[i], out[i]);
        ig_put(&text, "    ret %%0\n  }\n}\n");
        lower_check(text.data, EXTENTS(2), 10);
        ig_arena_fini(&arena);
    }
}

TEST(groups) {
    conv_case two = {
        "%x: f32[B, 6, 5, 7]",
        "f32[18, 3, 3, 3]",
        18 * 27,
        "%0 = conv %x, @w {group = 2, before = [1, 1], after = [1, 1]} : f32[B, 18, 5, 7]\n"
        "%1 = tanh %0 : f32[B, 18, 5, 7]\nret %1",
        "f32[B, 18, 5, 7]",
        0
    };
    check(&two, EXTENTS(2));
    conv_case three = { "%x: f32[B, 6, 5, 7]",
                        "f32[51, 2, 1, 1]",
                        102,
                        "%0 = conv %x, @w {group = 3} : f32[B, 51, 5, 7]\nret %0",
                        "f32[B, 51, 5, 7]",
                        0 };
    check(&three, EXTENTS(2));
    conv_case few = { "%x: f32[B, 6, 5, 7]",
                      "f32[4, 3, 1, 1]",
                      12,
                      "%0 = conv %x, @w {group = 2} : f32[B, 4, 5, 7]\nret %0",
                      "f32[B, 4, 5, 7]",
                      1 };
    check(&few, EXTENTS(2));
}

/* x and w, the result, its attributes; the convolutions that keep channels first. */
typedef struct twin_case {
    const char *x, *w, *out, *attrs;
    int64_t count;
    uint32_t convs;
} twin_case;

/* The same bits whether weights are constants or computed: their difference is 0. */
TEST(computed_weights_sum_in_the_same_order) {
    static const twin_case twins[] = {
        { "f32[2, 5, 9, 9]", "f32[20, 5, 3, 3]", "f32[2, 20, 9, 9]",
          "{before = [1, 1], after = [1, 1]}", 900, 1 },
        { "f32[1, 33, 9, 8]", "f32[10, 33, 2, 2]", "f32[1, 10, 8, 7]", "", 1320, 1 },
        { "f32[1, 33, 10, 9]", "f32[10, 33, 2, 2]", "f32[1, 10, 9, 8]", "", 1320, 0 },
        { "f32[1, 1030, 2, 2]", "f32[8, 1030, 1, 1]", "f32[1, 8, 2, 2]", "", 8240, 0 },
        { "f32[2, 9, 7, 6]", "f32[9, 1, 3, 3]", "f32[2, 9, 7, 6]",
          "{group = 9, before = [1, 1], after = [1, 1]}", 81, 1 },
        { "f32[2, 6, 7, 12]", "f32[18, 3, 3, 2]", "f32[2, 18, 3, 10]",
          "{group = 2, strides = [2, 1], dilations = [1, 2]}", 324, 1 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(twins); i++) {
        const twin_case *t = &twins[i];
        char args[128], body[1024];
        snprintf(args, sizeof args, "%%x: %s, %%b: f32[%d], %%one: f32[]", t->x,
                 atoi(strchr(t->w, '[') + 1));
        snprintf(body, sizeof body,
                 "%%v = mul @w, %%one : %s\n%%0 = conv %%x, @w, %%b %s : %s\n"
                 "%%1 = conv %%x, %%v, %%b %s : %s\n%%2 = sub %%0, %%1 : %s\nret %%2",
                 t->w, t->attrs, t->out, t->attrs, t->out, t->out);
        conv_case c = { args, t->w, t->count, body, t->out, t->convs };
        check(&c, EXTENTS(0));
    }
}

TEST(what_follows) {
    conv_case residual = {
        "%x: f32[B, 5, 6, 7], %y: f32[B, 5, 1, 1]",
        "f32[5, 5, 1, 1]",
        25,
        "%0 = conv %x, @w : f32[B, 5, 6, 7]\n%1 = add %0, %x : f32[B, 5, 6, 7]\n"
        "%2 = mul %1, %y : f32[B, 5, 6, 7]\nret %2",
        "f32[B, 5, 6, 7]",
        0
    };
    check(&residual, EXTENTS(3));
    conv_case space = {
        "%x: f32[B, 3, 6, 7], %y: f32[6, 1], %z: f32[7]",
        "f32[8, 3, 1, 1]",
        24,
        "%0 = conv %x, @w : f32[B, 8, 6, 7]\n%1 = mul %0, %y : f32[B, 8, 6, 7]\n"
        "%2 = sub %1, %z : f32[B, 8, 6, 7]\nret %2",
        "f32[B, 8, 6, 7]",
        0
    };
    check(&space, EXTENTS(2));
    conv_case planes = {
        "%x: f32[B, 3, 6, 7], %y: f32[8, 6, 7], %z: f32[B, 8, 6, 7]",
        "f32[8, 3, 1, 1]",
        24,
        "%0 = conv %x, @w : f32[B, 8, 6, 7]\n%1 = mul %0, %y : f32[B, 8, 6, 7]\n"
        "%2 = sub %1, %z : f32[B, 8, 6, 7]\nret %2",
        "f32[B, 8, 6, 7]",
        0
    };
    check(&planes, EXTENTS(2));
    conv_case joined = {
        "%x: f32[B, 3, 6, 8]",
        "f32[9, 3, 1, 1]",
        27,
        "%0 = conv %x, @w : f32[B, 9, 6, 8]\n%1 = relu %0 : f32[B, 9, 6, 8]\n"
        "%2 = neg %0 : f32[B, 9, 6, 8]\n%3 = concat %1, %2 {axis = 1} : f32[B, 18, 6, 8]\n"
        "%4 = pool %3 {op = max, kernel = [3, 2], strides = [2, 1]} : f32[B, 18, 2, 7]\n"
        "%5 = slice %4 {starts = [0, 4, 0, 1], sizes = [B, 11, 2, 5]} : f32[B, 11, 2, 5]\n"
        "ret %5",
        "f32[B, 11, 2, 5]",
        0
    };
    check(&joined, EXTENTS(2));
    conv_case reduced = { "%x: f32[B, 3, 6, 8]",
                          "f32[9, 3, 1, 1]",
                          27,
                          "%0 = conv %x, @w : f32[B, 9, 6, 8]\n"
                          "%1 = reduce %0 {op = mean, axes = [2, 3]} : f32[B, 9]\n"
                          "%2 = reshape %0 {to = [B, 9, 48]} : f32[B, 9, 48]\n"
                          "%3 = transpose %2 {perm = [0, 2, 1]} : f32[B, 48, 9]\n"
                          "%4 = reduce %3 {op = max, axes = [1]} : f32[B, 9]\n"
                          "%5 = add %1, %4 : f32[B, 9]\nret %5",
                          "f32[B, 9]",
                          0 };
    check(&reduced, EXTENTS(2));
}

/* What the convolution reads is read by what follows it too. */
TEST(residuals) {
    conv_case plain = {
        "%x: f32[B, H, W, 20]",
        "f32[20, 20, 1, 1]",
        400,
        "%0 = transpose %x {perm = [0, 3, 1, 2]} : f32[B, 20, H, W]\n"
        "%1 = conv %0, @w : f32[B, 20, H, W]\n%2 = add %1, %0 : f32[B, 20, H, W]\n"
        "%3 = transpose %2 {perm = [0, 2, 3, 1]} : f32[B, H, W, 20]\nret %3",
        "f32[B, H, W, 20]",
        0
    };
    check(&plain, EXTENTS(2, 3, 5));
    check(&plain, EXTENTS(3, 1, 1));
    check(&plain, EXTENTS(1, 17, 1));
    conv_case pooled = { "%x: f32[B, 5, 1, 1]",
                         "f32[5, 5, 1, 1]",
                         25,
                         "%0 = conv %x, @w : f32[B, 5, 1, 1]\n"
                         "%1 = gt %x, %0 : bool[B, 5, 1, 1]\nret %1",
                         "bool[B, 5, 1, 1]",
                         0 };
    check(&pooled, EXTENTS(7));
}

TEST(pads_that_follow) {
    conv_case padded = {
        "%x: f32[B, 3, 5, 6]",
        "f32[9, 3, 1, 1]",
        27,
        "%0 = conv %x, @w : f32[B, 9, 5, 6]\n"
        "%1 = pad %0 {before = [0, 0, 2, 1], after = [0, 0, 0, 3]} : f32[B, 9, 7, 10]\n"
        "%2 = pool %1 {op = max, kernel = [2, 3], strides = [1, 2]} : f32[B, 9, 6, 4]\n"
        "%3 = pad %2 {before = [0, 0, -1, 0], after = [0, 0, -1, -2]} : f32[B, 9, 4, 2]\n"
        "%4 = pad %3 {before = [0, 1, 0, 0], after = [0, 2, 0, 0]} : f32[B, 12, 4, 2]\n"
        "ret %4",
        "f32[B, 12, 4, 2]",
        0
    };
    check(&padded, EXTENTS(2));
}

TEST(single_channels) {
    static const int64_t channels[] = { 4, 5, 17, 32, 67 };
    for (size_t i = 0; i < IG_COUNT_OF(channels); i++) {
        char args[128], weight[128], body[512], out[128];
        long long n = channels[i];
        snprintf(args, sizeof args, "%%x: f32[B, %lld, 6, W], %%b: f32[%lld]", n, n);
        snprintf(weight, sizeof weight, "f32[%lld, 1, 3, 3]", n);
        snprintf(out, sizeof out, "f32[B, %lld, 6, W]", n);
        snprintf(
            body, sizeof body,
            "%%0 = conv %%x, @w, %%b {group = %lld, before = [1, 1], after = [1, 1]} : %s\n"
            "%%1 = relu %%0 : %s\nret %%1",
            n, out, out);
        conv_case c = { args, weight, 9 * n, body, out, 0 };
        for (int64_t width = 1; width < 14; width += 3) {
            check(&c, EXTENTS(2, width));
        }
        check(&c, EXTENTS(0, 3));
    }
}

/* x, taps, attributes, the result: [channels, lines, columns]. */
typedef struct line_case {
    const char *x, *taps, *attrs, *out;
    int64_t channels, taps_count;
} line_case;

/* Lines of known extents: one block, two, and blocks between them; ends as wide as a
 * block and wider; windows that see zeros at both ends; channels in parts. */
TEST(lines_of_single_channels) {
    static const line_case lines[] = {
        { "3, 1", "3, 3", "before = [1, 1], after = [1, 1]", "3, 1", 20, 9 },
        { "7, 7", "5, 5", "before = [2, 2], after = [2, 2]", "7, 7", 200, 25 },
        { "4, 8", "1, 7", "before = [0, 3], after = [0, 3]", "4, 8", 33, 7 },
        { "2, 17", "1, 8", "before = [0, 7], after = [0, 0]", "2, 17", 17, 8 },
        { "2, 17", "1, 8", "before = [0, 0], after = [0, 7]", "2, 17", 17, 8 },
        { "2, 20", "1, 3", "before = [0, 8], after = [0, 9], dilations = [1, 8]",
          "2, 21", 17, 3 },
        { "5, 31", "3, 5", "before = [1, 2], after = [1, 2], strides = [2, 2]", "3, 16",
          40, 15 },
        { "2, 3", "1, 7", "before = [0, 6], after = [0, 6]", "2, 9", 16, 7 },
        { "9, 40", "7, 7", "before = [3, 3], after = [3, 3]", "9, 40", 150, 49 },
        { "3, 9", "9, 9", "before = [4, 4], after = [4, 4]", "3, 9", 130, 81 },
        { "3, 33", "3, 3", "strides = [1, 3]", "1, 11", 19, 9 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(lines); i++) {
        const line_case *l = &lines[i];
        char args[64], weight[64], body[256], out[64];
        long long n = l->channels;
        snprintf(args, sizeof args, "%%x: f32[B, %lld, %s]", n, l->x);
        snprintf(weight, sizeof weight, "f32[%lld, 1, %s]", n, l->taps);
        snprintf(out, sizeof out, "f32[B, %lld, %s]", n, l->out);
        snprintf(body, sizeof body,
                 "%%0 = conv %%x, @w {group = %lld, %s} : %s\nret %%0", n, l->attrs,
                 out);
        conv_case c = { args, weight, l->taps_count * n, body, out, 0 };
        check(&c, EXTENTS(2));
        check(&c, EXTENTS(0));
        check_values(&c, EXTENTS(1), LOWER_SPECIAL);
    }
    conv_case open = {
        "%x: f32[B, 150, 8, W]",
        "f32[150, 1, 7, 7]",
        150 * 49,
        "%0 = conv %x, @w {group = 150, before = [3, 3], after = [3, 3]} : f32[B, 150, 8, W]\nret %0",
        "f32[B, 150, 8, W]",
        0
    };
    check(&open, EXTENTS(1, 1));
    check(&open, EXTENTS(1, 21));
}

TEST(single_channels_of_all_kinds) {
    conv_case apart = {
        "%x: f32[B, 9, 11, 14]",
        "f32[9, 1, 3, 5]",
        135,
        "%0 = conv %x, @w {group = 9, strides = [2, 3], dilations = [2, 1], before = [3, 0], after = [1, 4]} : f32[B, 9, 6, 5]\n"
        "%1 = sigmoid %0 : f32[B, 9, 6, 5]\n%2 = mul %0, %1 : f32[B, 9, 6, 5]\nret %2",
        "f32[B, 9, 6, 5]",
        0
    };
    check(&apart, EXTENTS(2));
    conv_case dilated = {
        "%x: f32[B, 8, 3, 20]",
        "f32[8, 1, 1, 4]",
        32,
        "%0 = conv %x, @w {group = 8, strides = [1, 2], dilations = [1, 3], before = [0, 2], after = [0, 2]} : f32[B, 8, 3, 8]\nret %0",
        "f32[B, 8, 3, 8]",
        0
    };
    check(&dilated, EXTENTS(2));
    conv_case many = {
        "%x: f32[B, 6, 40]",
        "f32[6, 1, 13]",
        78,
        "%0 = conv %x, @w {group = 6, before = [6], after = [6]} : f32[B, 6, 40]\nret %0",
        "f32[B, 6, 40]",
        0
    };
    check(&many, EXTENTS(2));
    conv_case wider = {
        "%x: f32[B, 5, 4, 6]",
        "f32[7, 1, 3, 3]",
        63,
        "%p = pad %x {before = [0, 1, 1, 1], after = [0, 1, 1, 0]} : f32[B, 7, 6, 7]\n"
        "%0 = conv %p, @w {group = 7} : f32[B, 7, 4, 5]\nret %0",
        "f32[B, 7, 4, 5]",
        0
    };
    check(&wider, EXTENTS(2));
    conv_case outside = {
        "%x: f32[B, 6, 2, 3]",
        "f32[6, 1, 3, 3]",
        54,
        "%0 = conv %x, @w {group = 6, before = [4, 5], after = [4, 5]} : f32[B, 6, 8, 11]\nret %0",
        "f32[B, 6, 8, 11]",
        0
    };
    check(&outside, EXTENTS(1));
    conv_case solid = {
        "%x: f32[B, 4, 3, 4, 5]",
        "f32[4, 1, 3, 3, 3]",
        108,
        "%0 = conv %x, @w {group = 4, before = [1, 1, 1], after = [1, 1, 1]} : f32[B, 4, 3, 4, 5]\nret %0",
        "f32[B, 4, 3, 4, 5]",
        0
    };
    check(&solid, EXTENTS(2));
}

/* Windows see what is not a number, and nothing beside it does. */
TEST(special_values) {
    conv_case dense = {
        "%x: f32[B, 3, 5, 9]",
        "f32[9, 3, 1, 1]",
        27,
        "%0 = conv %x, @w {strides = [2, 2]} : f32[B, 9, 3, 5]\n"
        "%1 = pool %0 {op = max, kernel = [2, 2]} : f32[B, 9, 2, 4]\nret %1",
        "f32[B, 9, 2, 4]",
        0
    };
    conv_case single = {
        "%x: f32[B, 5, 9, 10]",
        "f32[5, 1, 2, 1]",
        10,
        "%0 = conv %x, @w {group = 5, before = [1, 0], after = [0, 0], strides = [2, 1]} : f32[B, 5, 5, 10]\nret %0",
        "f32[B, 5, 5, 10]",
        0
    };
    check_values(&dense, EXTENTS(2), LOWER_SPECIAL);
    check_values(&single, EXTENTS(2), LOWER_SPECIAL);
}

/* By phases, which are dealt out; where the stride does not divide the kernel, with
 * zeros between elements. */
static const conv_case phases[] = {
    { "%x: f32[B, 8, H, 5]", "f32[8, 3, 2, 2]", 96,
      "%0 = conv %x, @w {transposed, strides = [2, 2]} : f32[B, 3, 2*H, 10]\n"
      "%1 = relu %0\n%2 = pool %1 {op = max, kernel = [1, 1]}\nret %2",
      "f32[B, 3, 2*H, 10]", 0 },
    { "%x: f32[B, 3, H, 5], %b: f32[8]", "f32[3, 8, 4, 6]", 576,
      "%0 = conv %x, @w, %b {transposed, strides = [2, 3], before = [1, 2], after = [1, 0]}"
      " : f32[B, 8, 2*H, 16]\nret %0",
      "f32[B, 8, 2*H, 16]", 0 },
    { "%x: f32[B, 6, H, 5], %b: f32[8]", "f32[6, 4, 2, 4]", 192,
      "%0 = conv %x, @w, %b {transposed, group = 2, strides = [2, 4]} : f32[B, 8, 2*H, 20]\n"
      "ret %0",
      "f32[B, 8, 2*H, 20]", 0 },
    { "%x: f32[B, 4, H, 5], %b: f32[5]", "f32[4, 5, 2, 2]", 80,
      "%0 = conv %x, @w, %b {transposed, strides = [2, 1], after = [-3, 0]}"
      " : f32[B, 5, 2*H + 3, 6]\nret %0",
      "f32[B, 5, 2*H + 3, 6]", 0 },
    { "%x: f32[B, 2, H, 3, 2]", "f32[2, 4, 2, 2, 1]", 32,
      "%0 = conv %x, @w {transposed, strides = [2, 2, 1]} : f32[B, 4, 2*H, 6, 2]\n"
      "%1 = pool %0 {op = max, kernel = [1, 1, 1]}\nret %1",
      "f32[B, 4, 2*H, 6, 2]", 0 },
    { "%x: f32[B, 5, H]", "f32[5, 4, 3]", 60,
      "%0 = conv %x, @w {transposed, strides = [2]} : f32[B, 4, 2*H + 1]\nret %0",
      "f32[B, 4, 2*H + 1]", 0 },
};

TEST(transposed) {
    for (size_t i = 0; i < IG_COUNT_OF(phases); i++) {
        check(&phases[i], EXTENTS(2, 3));
        check(&phases[i], EXTENTS(1, 1));
    }
    conv_case single = {
        "%x: f32[B, 1, H, 5]",
        "f32[1, 3, 2, 2]",
        12,
        "%0 = conv %x, @w {transposed, strides = [2, 2]} : f32[B, 3, 2*H, 10]\n"
        "%1 = pool %0 {op = max, kernel = [1, 1]}\nret %1",
        "f32[B, 3, 2*H, 10]",
        0
    };
    check_values(&single, EXTENTS(2, 3), LOWER_SPECIAL);
}

UNIT_SUITE(cpu_conv_last, points, windows, tiles, lines_are_tiles,
           zeros_that_are_not_in_memory, zeros_of_small_pads, lines_that_are_blocks,
           padded_panels, groups, computed_weights_sum_in_the_same_order, what_follows,
           residuals, pads_that_follow, single_channels, lines_of_single_channels,
           single_channels_of_all_kinds, transposed, special_values)
