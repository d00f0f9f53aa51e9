/* Boxes without those that a better one covers, at every level: more than stand beside
 * the heap, more than a block, equal scores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

/* Whole numbers, so that boxes and scores are equal, touch, and have no area. */
static void fill_small(lower_case *c, int64_t positions, int64_t sizes) {
    uint64_t state = 7;
    ig_tensor *boxes = &c->inputs[0], *scores = &c->inputs[1];
    for (int64_t i = 0; i < boxes->count; i++) {
        int64_t low = i % 4 < 2 ? 0 : (int64_t)ig_tensor_get_f64(boxes, i - 2);
        int64_t max = i % 4 < 2 ? positions : sizes;
        int64_t more = (int64_t)(lower_random(&state) % (uint64_t)max);
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

/* Those after v4 differ in integer products, of which there are none here. */
enum { LEVELS = 3 };

static void check(const char *dtype, int64_t lists, int64_t boxes,
                  void (*prepare)(lower_case *c)) {
    int64_t extents[] = { lists > 1 ? 2 : 1, boxes, lists > 1 ? lists / 2 : 1 };
    for (size_t i = 0; i < LEVELS; i++) {
        lower_case c;
        lower_open(&c, cpu_levels[i], text_of(dtype), extents, 4);
        prepare(&c);
        lower_compare(&c, 1e-6);
        lower_close(&c);
    }
}

static const int64_t sizes[] = { 0,  1,  2,  3,  4,  5,   6,   7,   8,
                                 15, 16, 17, 21, 22, 127, 128, 129, 400 };

/* The code of one level for crowds of each of `sizes`. */
static void check_crowds(const char *level, const char *dtype, int64_t b, int64_t n) {
    ig_tensor inputs[IG_COUNT_OF(sizes)][4], expected[IG_COUNT_OF(sizes)][2];
    int64_t extents[] = { b, sizes[0], n };
    lower_case c;
    lower_open(&c, level, text_of(dtype), extents, 4);
    for (size_t i = 0; i < IG_COUNT_OF(sizes); i++) {
        c.symbols[1] = sizes[i];
        lower_inputs(&c, LOWER_PLAIN, 4);
        fill_crowd(&c);
        lower_interpret(&c);
        memcpy(inputs[i], c.inputs, sizeof inputs[i]);
        memcpy(expected[i], c.expected, sizeof expected[i]);
    }
    lower_passes(&c);
    for (size_t i = 0; i < IG_COUNT_OF(sizes); i++) {
        c.symbols[1] = sizes[i];
        memcpy(c.inputs, inputs[i], sizeof inputs[i]);
        memcpy(c.expected, expected[i], sizeof expected[i]);
        uint32_t outputs = lower_launch_all(&c);
        if (!c.runs_form && lower_work(&c) <= LOWER_LITTLE) {
            lower_check_form(&c);
        }
        lower_match(&c, outputs, 1e-6);
    }
    lower_close(&c);
}

TEST(crowds_of_every_size) {
    for (size_t i = 0; i < LEVELS; i++) {
        if (cpu_level_is_due(i)) {
            check_crowds(cpu_levels[i], "f32", 2, 2);
            check_crowds(cpu_levels[i], "f64", 1, 1);
        }
    }
}

TEST(more_boxes_than_stand_beside_the_heap) {
    check("f32", 1, 1064, fill_apart);
    check("f64", 1, 1060, fill_apart);
}

TEST(copies_of_boxes_that_are_gathered) {
    check("f32", 1, 2150, fill_copies);
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
