/* Products of two computed matrices of bytes: exact at every level, for all signs, zero
 * points, layouts and sizes, without a float.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

/* How a factor lies in memory, [2, rows, columns] as the product sees it. */
typedef enum layout {
    AS_IS,
    TURNED, /* columns are rows in memory */
    PARTED, /* matrices lie between each other's rows */
    SLICED, /* every other column of wider rows */
} layout;

typedef struct product {
    int64_t m, k, n;
    const char *a, *b;           /* dtypes */
    const char *a_zero, *b_zero; /* numbers, "input", or "" for none */
    layout a_layout, b_layout;
    bool is_worst, is_open; /* is_open: extents are the call's */
    bool is_wide;           /* sums of 64 bits */
} product;

/* A factor, %name, made of input %from; its type as the product sees it. */
typedef struct factor {
    const char *name, *from, *dtype;
    layout lies;
    const char *rows, *columns;
} factor;

/* Puts the type of its input into `types`, and what makes it of that into `text`. */
static void put_factor(ig_writer *text, ig_writer *types, const factor *f) {
    const char *rows = f->rows, *columns = f->columns;
    switch (f->lies) {
    case AS_IS:
        ig_put(types, "%%%s: %s[2, %s, %s]", f->name, f->dtype, rows, columns);
        return;
    case TURNED:
        ig_put(types, "%%%s: %s[2, %s, %s]", f->from, f->dtype, columns, rows);
        ig_put(text, "    %%%s = transpose %%%s {perm = [0, 2, 1]}", f->name, f->from);
        break;
    case PARTED:
        ig_put(types, "%%%s: %s[%s, 2, %s]", f->from, f->dtype, rows, columns);
        ig_put(text, "    %%%s = transpose %%%s {perm = [1, 0, 2]}", f->name, f->from);
        break;
    case SLICED:
        ig_put(types, "%%%s: %s[2, %s, 99]", f->from, f->dtype, rows);
        ig_put(text,
               "    %%%s = slice %%%s {starts = [0, 0, 1], sizes = [2, %s, %s], "
               "steps = [1, 1, 2]}",
               f->name, f->from, rows, columns);
        break;
    }
    ig_put(text, " : %s[2, %s, %s]\n", f->dtype, rows, columns);
}

/* The value of a zero point; an input of the graph if it is one. */
static const char *put_zero(ig_writer *text, ig_writer *types, const char *name,
                            const char *zero, const char *dtype) {
    if (strcmp(zero, "input") == 0) {
        ig_put(types, ", %%%s: %s[1]", name, dtype);
    } else {
        ig_put(text, "    %%%s = const {value = %s} : %s[]\n", name, *zero ? zero : "0",
               dtype);
    }
    return name;
}

static const char *extent(ig_writer *text, const product *p, const char *name,
                          int64_t size) {
    size_t before = text->size;
    if (p->is_open) {
        return name;
    }
    ig_put(text, "%lld", (long long)size);
    ig_put_bytes(text, "", 1);
    return text->data + before;
}

static void put_product(ig_writer *text, ig_arena *arena, const product *p) {
    ig_writer body, types, numbers[3];
    ig_writer_init(&body, arena);
    ig_writer_init(&types, arena);
    for (int i = 0; i < 3; i++) {
        ig_writer_init(&numbers[i], arena);
    }
    const char *m = extent(&numbers[0], p, "M", p->m);
    const char *k = extent(&numbers[1], p, "K", p->k);
    const char *n = extent(&numbers[2], p, "N", p->n);
    factor left = { "a", "x", p->a, p->a_layout, m, k };
    factor right = { "b", "y", p->b, p->b_layout, k, n };
    put_factor(&body, &types, &left);
    ig_put(&types, ", ");
    put_factor(&body, &types, &right);
    put_zero(&body, &types, "za", p->a_zero, p->a);
    put_zero(&body, &types, "zb", p->b_zero, p->b);
    const char *sums = p->is_wide ? "i64" : "i32";
    ig_put(text, "module @t {\n  graph @main(%s, %%r: %s[%s]) -> (%s[2, %s, %s]) {\n",
           types.data, sums, n, sums, m, n);
    ig_put(text, "%s", body.data);
    bool has_zeros = *p->a_zero || *p->b_zero;
    ig_put(text, "    %%p = matmul_integer %%a, %%b%s%s : %s[2, %s, %s]\n",
           has_zeros ? ", %za, %zb" : "", p->is_wide ? " {wide}" : "", sums, m, n);
    ig_put(text, "    %%o = add %%p, %%r : %s[2, %s, %s]\n    ret %%o\n  }\n}\n", sums,
           m, n);
}

/* Bytes in no order, a quarter of them at the ends of their type. */
static void fill_bytes(lower_case *c, const product *p) {
    uint64_t state = 7;
    for (uint32_t i = 0; i < 4; i++) {
        ig_tensor *x = &c->inputs[i];
        bool is_signed = x->dtype == IG_DT_i8;
        bool is_byte = is_signed || x->dtype == IG_DT_u8;
        for (int64_t k = 0; is_byte && k < x->count; k++) {
            uint64_t number = lower_random(&state);
            int64_t value = (int64_t)(number >> 8 & 255);
            value = number % 4 ? value : number % 8 ? 255 : 0;
            value = p->is_worst ? 255 : value;
            ig_tensor_set_i64(x, k, is_signed ? value - 128 : value);
        }
    }
}

static void check_product(const product *p) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    put_product(&text, &arena, p);
    const int64_t extents[] = { p->m, p->k, p->n };
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        lower_case c;
        lower_open(&c, cpu_levels[i], text.data, extents, 255);
        fill_bytes(&c, p);
        lower_match_each(&c, lower_run(&c), 0);
        CHECK(!lower_has(&c, IG_OP_muladd) || p->a_layout == SLICED);
        CHECK(p->a_layout == SLICED || lower_has(&c, IG_OP_dot4));
        lower_close(&c);
    }
    ig_arena_fini(&arena);
}

TEST(bytes_of_all_signs_and_zero_points) {
    static const char *const dtypes[] = { "u8", "i8" };
    static const char *const zeros[] = { "", "3", "127", "input" };
    for (int i = 0; i < 16; i++) {
        product p = { .m = 5, .k = 21, .n = 37 };
        p.a = dtypes[i % 2];
        p.b = dtypes[i / 2 % 2];
        p.a_zero = zeros[i / 4];
        p.b_zero = zeros[(i / 4 + i) % 4];
        p.b_layout = i % 3 ? TURNED : AS_IS;
        check_product(&p);
    }
}

TEST(bytes_of_the_largest_numbers) {
    static const char *const dtypes[] = { "u8", "i8" };
    for (int i = 0; i < 4; i++) {
        product p = { .m = 9, .k = i % 2 ? 64 : 67, .n = 33, .is_worst = true };
        p.a = dtypes[i % 2];
        p.b = dtypes[i / 2];
        p.a_zero = p.b_zero = "";
        check_product(&p);
    }
}

TEST(bytes_in_all_layouts) {
    static const layout ways[] = { AS_IS, TURNED, PARTED, SLICED };
    for (int i = 0; i < 8; i++) {
        product p = { .m = 4, .k = 22, .n = 19, .a = "i8", .b = "u8" };
        p.a_zero = "5";
        p.b_zero = "120";
        p.b_layout = ways[i % 4];
        p.a_layout = i < 4 ? PARTED : i < 6 ? SLICED : AS_IS;
        check_product(&p);
    }
}

/* One row to more than a tile's, one column to more, K below a word and beyond a panel;
 * known and open. */
TEST(bytes_of_sampled_sizes) {
    static const int64_t sizes[][3] = {
        { 1, 1, 1 },     { 1, 64, 64 },   { 2, 3, 17 },   { 17, 4, 16 }, { 33, 7, 65 },
        { 129, 32, 31 }, { 3, 1031, 35 }, { 7, 1024, 5 }, { 6, 15, 300 }
    };
    for (size_t i = 0; i < 2 * IG_COUNT_OF(sizes); i++) {
        const int64_t *size = sizes[i / 2];
        product p = { .m = size[0], .k = size[1], .n = size[2] };
        p.a = i % 4 < 2 ? "i8" : "u8";
        p.b = i % 3 ? "u8" : "i8";
        p.a_zero = "17";
        p.b_zero = i % 4 ? "99" : "";
        p.b_layout = i % 5 < 2 ? AS_IS : TURNED;
        p.is_open = i % 2;
        check_product(&p);
    }
}

/* Sums that 32 bits do not hold; few terms, known and open; and by elements. */
TEST(bytes_of_wide_sums) {
    static const int64_t sizes[][3] = { { 1, 40000, 3 },
                                        { 5, 21, 37 },
                                        { 17, 530, 16 } };
    for (size_t i = 0; i < 8; i++) {
        const int64_t *size = sizes[i / 3];
        product p = { .m = size[0], .k = size[1], .n = size[2], .is_wide = true };
        p.a = i % 3 ? "u8" : "i8";
        p.b = i % 2 ? "u8" : "i8";
        p.a_zero = i % 3 ? "" : "127";
        p.b_zero = i % 2 ? "" : "127";
        p.b_layout = i % 4 ? TURNED : AS_IS;
        p.a_layout = i == 5 ? SLICED : AS_IS;
        p.is_open = i % 2;
        p.is_worst = i < 3;
        check_product(&p);
    }
}

/* An empty product, and sums of nothing. */
TEST(bytes_of_no_size) {
    static const int64_t sizes[][3] = { { 0, 8, 8 }, { 3, 0, 8 }, { 3, 8, 0 } };
    for (size_t i = 0; i < IG_COUNT_OF(sizes); i++) {
        product p = { .m = sizes[i][0], .k = sizes[i][1], .n = sizes[i][2] };
        p.a = p.b = "u8";
        p.a_zero = p.b_zero = "3";
        p.b_layout = TURNED;
        p.is_open = true;
        check_product(&p);
    }
}

UNIT_SUITE(cpu_lower_bytes, bytes_of_all_signs_and_zero_points,
           bytes_of_the_largest_numbers, bytes_in_all_layouts, bytes_of_sampled_sizes,
           bytes_of_wide_sums, bytes_of_no_size)
