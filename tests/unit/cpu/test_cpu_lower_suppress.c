/* Boxes without those that a better one covers, at every level: more than stand beside
 * the heap, more than a block, equal scores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

/* Whole numbers, so that boxes and scores are equal, touch, and have no area. */
static void fill_small(lower_case *c, int64_t places, int64_t sizes) {
    uint64_t state = 7;
    ig_tensor *boxes = &c->inputs[0], *scores = &c->inputs[1];
    for (int64_t i = 0; i < boxes->count; i++) {
        int64_t low = i % 4 < 2 ? 0 : (int64_t)ig_tensor_get_f64(boxes, i - 2);
        int64_t most = i % 4 < 2 ? places : sizes;
        int64_t more = (int64_t)(lower_random(&state) % (uint64_t)most);
        ig_tensor_set_f64(boxes, i, (double)(low + more));
    }
    for (int64_t i = 0; i < scores->count; i++) {
        ig_tensor_set_f64(scores, i, (double)(lower_random(&state) % 50) / 8 - 3);
    }
}

static void fill_crowd(lower_case *c) {
    fill_small(c, 20, 9);
    ig_tensor_set_f64(&c->inputs[2], 0, 0.25);
    ig_tensor_set_i64(&c->inputs[3], 0, 1000);
}

/* All boxes stand. */
static void fill_apart(lower_case *c) {
    fill_small(c, 1000, 9);
    ig_tensor_set_f64(&c->inputs[2], 0, 1);
    ig_tensor_set_i64(&c->inputs[3], 0, INT64_MAX);
}

/* Ones far from others, and copies of the first KEPT and more of them: the copies are
 * covered, also by boxes that are gathered. */
static void fill_copies(lower_case *c) {
    ig_tensor *boxes = &c->inputs[0], *scores = &c->inputs[1];
    int64_t half = scores->count / 2;
    for (int64_t i = 0; i < boxes->count; i++) {
        int64_t box = i / 4 % half;
        ig_tensor_set_f64(
            boxes, i, (double)(i % 2 ? box % 40 : box / 40) * 3 + (i % 4 < 2 ? 0 : 2));
    }
    for (int64_t i = 0; i < scores->count; i++) {
        ig_tensor_set_f64(scores, i, -(double)i);
    }
    ig_tensor_set_f64(&c->inputs[2], 0, 0.9);
    ig_tensor_set_i64(&c->inputs[3], 0, INT64_MAX);
}

static const char *text_of(const char *dtype) {
    static char text[512];
    snprintf(
        text, sizeof text,
        "module @t {\n  graph @main(%%x: %s[B, N, 4], %%y: f32[B, C, N], %%s: %s[],"
        " %%m: i64[]) -> (i64[B, C, N] \"ids\", i64[B, C] \"counts\") {\n"
        "    %%0, %%1 = suppress %%x, %%y, %%s, %%m : i64[B, C, N], i64[B, C]\n"
        "    ret %%0, %%1\n  }\n}\n",
        dtype, dtype);
    return text;
}

static void check(const char *dtype, int64_t lists, int64_t boxes,
                  void (*prepare)(lower_case *c)) {
    int64_t extents[] = { lists > 1 ? 2 : 1, boxes, lists > 1 ? lists / 2 : 1 };
    lower_check_with(text_of(dtype), extents, 4, prepare);
}

TEST(crowds_of_every_size) {
    static const int64_t sizes[] = { 0,  1,  2,  3,  4,  5,   6,   7,   8,
                                     15, 16, 17, 21, 22, 127, 128, 129, 400 };
    for (size_t i = 0; i < IG_COUNT_OF(sizes); i++) {
        check("f32", 4, sizes[i], fill_crowd);
        check("f64", 1, sizes[i], fill_crowd);
    }
}

TEST(more_boxes_than_stand_beside_the_heap) {
    check("f32", 1, 1500, fill_apart);
    check("f64", 1, 1100, fill_apart);
}

TEST(copies_of_boxes_that_are_gathered) {
    check("f32", 1, 2300, fill_copies);
}

/* Scores and boxes that lie otherwise. */
TEST(operands_of_any_strides) {
    const char *text =
        "module @t {\n  graph @main(%x: f32[4, N, B], %y: f32[N, C, B], %s: f32[], "
        "%m: i64[]) -> (i64[B, C, N] \"ids\", i64[B, C] \"counts\") {\n"
        "    %0 = transpose %x {perm = [2, 1, 0]} : f32[B, N, 4]\n"
        "    %1 = transpose %y {perm = [2, 1, 0]} : f32[B, C, N]\n"
        "    %2, %3 = suppress %0, %1, %s, %m : i64[B, C, N], i64[B, C]\n"
        "    ret %2, %3\n  }\n}\n";
    static const int64_t extents[] = { 60, 2, 3 };
    lower_check_with(text, extents, 5, fill_crowd);
}

UNIT_SUITE(cpu_lower_suppress, crowds_of_every_size,
           more_boxes_than_stand_beside_the_heap, copies_of_boxes_that_are_gathered,
           operands_of_any_strides)
