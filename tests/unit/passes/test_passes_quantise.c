/* Scales, codes and ranges by hand; layers that are found, and those that are not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/parse/read.h"
#include "passes/quantise/quantise.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>

/* ---- grids ---- */

TEST(zero_is_a_code) {
    ig_quant_grid grid = ig_quant_grid_of(-1, 3, 0, 255, false);
    CHECK(fabs((double)grid.scale - 4.0 / 255) < 1e-8);
    CHECK_INT(grid.zero, 64); /* 1 / (4 / 255) = 63.75 */
    CHECK_INT(ig_quant_code(&grid, 0), 64);
    CHECK_INT(ig_quant_code(&grid, -1), 0);
    CHECK_INT(ig_quant_code(&grid, 3), 255);
    CHECK_INT(ig_quant_code(&grid, 1e30), 255);
    CHECK_INT(ig_quant_code(&grid, -1e30), 0);
}

TEST(ranges_hold_zero) {
    ig_quant_grid above = ig_quant_grid_of(2, 5.1, 0, 255, false);
    CHECK_INT(above.zero, 0);
    CHECK(fabs((double)above.scale - 5.1 / 255) < 1e-8);
    ig_quant_grid below = ig_quant_grid_of(-5.1, -2, 0, 255, false);
    CHECK_INT(below.zero, 255);
}

TEST(symmetric_is_around_zero) {
    ig_quant_grid grid = ig_quant_grid_of(-2.54, 1, -127, 127, true);
    CHECK_INT(grid.zero, 0);
    CHECK(fabs((double)grid.scale - 0.02) < 1e-8);
    CHECK_INT(ig_quant_code(&grid, -2.54), -127);
    CHECK_INT(ig_quant_code(&grid, 1), 50);
}

TEST(ties_go_to_even) {
    ig_quant_grid grid = ig_quant_grid_of(-127, 127, -127, 127, true);
    CHECK_INT(ig_quant_code(&grid, 0.5), 0);
    CHECK_INT(ig_quant_code(&grid, 1.5), 2);
    CHECK_INT(ig_quant_code(&grid, -2.5), -2);
}

/* Nothing, tiny and huge ranges have scales that are normal numbers. */
TEST(scales_are_normal) {
    static const double ends[][2] = {
        { 0, 0 },          { 0, 1e-300 }, { 0, 1e-40 },
        { -1e300, 1e300 }, { 0, 1e308 },  { -FLT_MAX, 0 }
    };
    for (size_t i = 0; i < IG_COUNT_OF(ends); i++) {
        ig_quant_grid grid = ig_quant_grid_of(ends[i][0], ends[i][1], 0, 255, false);
        CHECK_MSG(isnormal(grid.scale), "range %zu", i);
        CHECK(grid.zero >= 0 && grid.zero <= 255);
        CHECK_INT(ig_quant_code(&grid, 0), grid.zero);
    }
}

/* ---- ranges ---- */

/* 10,000 values between 0 and 1, evenly, and one at 100. */
static ig_histogram one_far_value(void) {
    ig_histogram h = { .low = 0, .high = 100 };
    for (int i = 0; i < 10000; i++) {
        h.bins[(int)(i / 10000.0 / 100 * IG_QUANT_BINS)]++;
    }
    h.bins[IG_QUANT_BINS - 1]++;
    return h;
}

static double top_by(ig_quant_method method, const ig_histogram *h) {
    ig_quant_options options = { .method = method, .percentile = 99.9 };
    double low = h->low, high = h->high;
    ig_quant_choose_range(&options, h, &low, &high);
    CHECK(low <= 0 && low >= h->low && high >= 0 && high <= h->high);
    return high;
}

TEST(methods_cut_what_is_rare) {
    ig_histogram h = one_far_value();
    CHECK(top_by(IG_QUANT_MIN_MAX, &h) == 100);
    double percentile = top_by(IG_QUANT_PERCENTILE, &h);
    CHECK(percentile >= 0.95 && percentile <= 1.1);
    CHECK(top_by(IG_QUANT_ENTROPY, &h) < 20);
    h.bins[IG_QUANT_BINS - 1] = 0; /* without the far value all methods cut */
    CHECK(top_by(IG_QUANT_MSE, &h) <= 10.1);
}

/* What lies in one bin is rare, in all bins of an end it is not. */
TEST(percentile_counts_all_that_it_cuts) {
    ig_histogram even = { .low = -100, .high = 100 };
    for (int i = 0; i < IG_QUANT_BINS; i++) {
        even.bins[i] = 5;
    }
    ig_quant_options options = { .method = IG_QUANT_PERCENTILE, .percentile = 98 };
    double low = -100, high = 100;
    ig_quant_choose_range(&options, &even, &low, &high);
    CHECK(fabs(low + 98) < 0.2 && fabs(high - 98) < 0.2);
}

/* One value at 100 of 10,000 costs more when it is cut than steps of 0.4 do. */
TEST(min_error_keeps_what_costs_more) {
    ig_histogram h = one_far_value();
    double high = top_by(IG_QUANT_MSE, &h);
    CHECK(high > 60);
    ig_quant_options options = { .method = IG_QUANT_MSE };
    double low = -100, top = 100;
    ig_histogram even = { .low = -100, .high = 100 };
    for (int i = 0; i < IG_QUANT_BINS; i++) {
        even.bins[i] = 5;
    }
    ig_quant_choose_range(&options, &even, &low, &top);
    CHECK(low < -97 && top > 97); /* nothing is rare */
}

TEST(empty_ranges_stay) {
    ig_histogram none = { 0 };
    ig_quant_options options = { .method = IG_QUANT_ENTROPY };
    double low = 0, high = 0;
    ig_quant_choose_range(&options, &none, &low, &high);
    CHECK(low == 0 && high == 0);
    ig_quant_choose_range(&options, NULL, &low, &high);
    CHECK(low == 0 && high == 0);
}

/* ---- graphs ---- */

static ig_context context;

static const char graph[] =
    "module @m {\n"
    "  weight @w : f32[2, 3] = [1, -2, 0, 4, 0.5, 0]\n"
    "  weight @t : f32[4, 3] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    "  weight @bad : f32[2, 2] = [1, nan, 1, 1]\n"
    "  weight @k : f32[2, 1, 1, 1] = [1, 2]\n"
    "  graph @main(%x: f32[B, 2], %y: f32[2, B], %i: f32[1, 2, 4, 4]) -> (f32[B, 4], "
    "f32[B, 2], f32[B, 3], f32[1, 2, 4, 4], f32[B, 3], f32[B, B]) {\n"
    "    %0 = matmul %x, @w : f32[B, 3] \"first\"\n"
    "    %1 = matmul %0, @t {transpose_b} : f32[B, 4] \"turned\"\n"
    "    %2 = matmul %x, @bad : f32[B, 2] \"broken\"\n"
    "    %3 = matmul %y, @w {transpose_a} : f32[B, 3] \"sideways\"\n"
    "    %4 = conv %i, @k {strides = [1, 1], dilations = [1, 1], before = [0, 0], "
    "after = [0, 0], group = 2} : f32[1, 2, 4, 4] \"depthwise\"\n"
    "    %5 = matmul %x, @w : f32[B, 3] \"first\"\n"
    "    %6 = matmul %x, %y : f32[B, B] \"computed\"\n"
    "    ret %1, %2, %3, %4, %5, %6\n"
    "  }\n"
    "}\n";

typedef struct found {
    ig_module *module;
    ig_arena arena;
    ig_quant_plan plan;
} found;

static void find_in(const char *text, found *out) {
    context.limits = ig_limits_default;
    *out = (found){ 0 };
    *out = (found){ 0 };
    CHECK_OK(ig_parse_module(&context, "test.ig", ig_str_of(text), &out->module));
    ig_arena_init(&out->arena, NULL);
    out->plan.options = (ig_quant_options){ .weight_bits = 8 };
    ig_quant_find_layers(out->module->graphs.items[0], &out->arena, &out->plan);
}

static void found_close(found *f) {
    ig_arena_fini(&f->arena);
    ig_module_destroy(f->module);
}

TEST(layers_are_found) {
    found f;
    find_in(graph, &f);
    CHECK_INT(f.plan.layers.count, 6);
    const ig_quant_layer *layers = f.plan.layers.items;
    CHECK_TEXT(layers[0].name, "first");
    CHECK(layers[0].is_on && layers[0].channels == 3 && layers[0].depth == 2);
    CHECK(layers[1].is_on && layers[1].channels == 4 && layers[1].depth == 3);
    CHECK(!layers[2].is_on && strstr(layers[2].why, "NaN"));
    CHECK(!layers[3].is_on && strstr(layers[3].why, "transposed"));
    CHECK(layers[4].is_on && layers[4].is_conv && layers[4].depth == 1);
    CHECK_TEXT(layers[5].name, "first#2");
    CHECK_INT(layers[0].activation, layers[5].activation); /* both read %x */
    CHECK(layers[0].activation != layers[1].activation);
    CHECK_INT(f.plan.activations.items[layers[4].activation].channels, 2);
    found_close(&f);
}

TEST(weights_by_channel) {
    found f;
    find_in(graph, &f);
    ig_quant_layer *layer = &f.plan.layers.items[0];
    ig_quant_weights(&f.plan, layer, &f.arena);
    const int8_t *codes = (const int8_t *)layer->codes;
    CHECK_INT(layer->scale_count, 3);
    CHECK(fabs((double)layer->scales[0] - 4.0 / 127) < 1e-8);
    CHECK(fabs((double)layer->scales[1] - 2.0 / 127) < 1e-8);
    CHECK(layer->scales[2] == 1); /* a column of zeros */
    CHECK_INT(codes[0], 32);      /* 1 * 127 / 4 = 31.75 */
    CHECK_INT(codes[1], -127);
    CHECK_INT(codes[3], 127);
    CHECK_INT(codes[5], 0);
    f.plan.options.weight_bits = 7;
    f.plan.options.has_one_scale = true;
    ig_quant_weights(&f.plan, layer, &f.arena);
    codes = (const int8_t *)layer->codes;
    CHECK_INT(layer->scale_count, 1);
    CHECK_INT(codes[3], 63);
    CHECK_INT(codes[4], 8); /* 0.5 * 63 / 4 = 7.875 */
    found_close(&f);
}

/* 1 + 2^-8 is a tie between 1 and 1 + 2^-7, the first even. */
TEST(weights_of_bf16) {
    found f;
    find_in(
        "module @m {\n  weight @w : f32[1, 4] = [1.00390625, 1.01171875, -3, 1e-40]\n"
        "  graph @main(%x: f32[B, 1]) -> (f32[B, 4]) {\n"
        "    %0 = matmul %x, @w : f32[B, 4]\n    ret %0\n  }\n}\n",
        &f);
    static const uint16_t want[] = { 0x3f80, 0x3f82, 0xc040, 0x0001 };
    ig_quant_layer *layer = &f.plan.layers.items[0];
    f.plan.options.is_bf16 = true;
    ig_quant_weights(&f.plan, layer, &f.arena);
    CHECK(memcmp(layer->codes, want, sizeof want) == 0);
    ig_quant_replace_layers(&f.plan, f.module->graphs.items[0], &f.arena);
    const ig_op *product = f.module->graphs.items[0]->body.last->prev;
    CHECK_INT(product->code, IG_OP_matmul);
    CHECK(ig_def(ig_op_operand(product, 0), IG_OP_cast) != NULL);
    CHECK(ig_def(ig_op_operand(product, 1), IG_OP_cast) != NULL);
    found_close(&f);
}

TEST(weights_with_zero_points) {
    found f;
    find_in(graph, &f);
    f.plan.options.has_unsigned_weights = true;
    ig_quant_layer *layer = &f.plan.layers.items[0];
    ig_quant_weights(&f.plan, layer, &f.arena);
    CHECK_INT(layer->zeros[0], 0); /* 1 … 4 */
    CHECK_INT(layer->codes[3], 255);
    CHECK_INT(layer->zeros[1], 204); /* -2 … 0.5: 2 / (2.5 / 255) */
    CHECK_INT(layer->codes[1], 0);
    CHECK_INT(layer->codes[4], 255);
    found_close(&f);
}

/* x has channels of 8 and 0.5, the weights that meet them 2 and 4. */
TEST(smoothing_moves_what_is_large) {
    found f;
    find_in(graph, &f);
    f.plan.options.smoothing = 0.5;
    ig_quant_activation *x = &f.plan.activations.items[0];
    float lows[] = { -8, 0 }, highs[] = { 4, 0.5f };
    x->lows = lows;
    x->highs = highs;
    x->is_seen = true;
    ig_quant_smooth(&f.plan, &f.arena);
    CHECK(fabs((double)x->factors[0] - 0.5) < 1e-6); /* sqrt(2) / sqrt(8) */
    CHECK(fabs((double)x->factors[1] - sqrt(8)) < 1e-6);
    CHECK(fabs(x->low + 4) < 1e-6);
    CHECK(fabs(x->high - 2) < 1e-6); /* 4 * 0.5, and 0.5 * sqrt(8) is less */
    ig_quant_layer *layer = &f.plan.layers.items[0];
    ig_quant_weights(&f.plan, layer, &f.arena);
    CHECK(fabs((double)layer->scales[0] * 127 - 2) < 1e-6); /* 1 / 0.5, 4 / sqrt(8) */
    found_close(&f);
}

TEST(grouped_channels_are_not_smoothed) {
    found f;
    find_in(graph, &f);
    f.plan.options.smoothing = 0.5;
    ig_quant_activation *x =
        &f.plan.activations.items[f.plan.layers.items[4].activation];
    float lows[] = { -8, 0 }, highs[] = { 4, 0.5f };
    x->lows = lows;
    x->highs = highs;
    x->is_seen = true;
    ig_quant_smooth(&f.plan, &f.arena);
    CHECK(!x->factors);
    found_close(&f);
}

/* ---- rows ---- */

/* min -1, range 3: steps of 0.2, as f16 rounds them. */
TEST(rows_of_four_bits) {
    static const float row[] = { -1, 0, 2, 0.9f, -0.95f };
    uint8_t bytes[4 + 3];
    float back[5];
    CHECK(ig_quant_row(row, 5, 4, bytes));
    CHECK_INT(bytes[0] | bytes[1] << 8, 0x3266); /* f16 of 0.2 */
    CHECK_INT(bytes[2] | bytes[3] << 8, 0xbc00); /* f16 of -1 */
    CHECK_INT(bytes[4], 0x50);                   /* 0, then 5 in the high bits */
    CHECK_INT(bytes[5], 0xaf); /* 15, then 10: f16 of 0.2 is a little less */
    CHECK_INT(bytes[6], 0x00); /* 0.25 */
    ig_quant_row_back(bytes, 5, 4, back);
    CHECK(back[0] == -1 && fabs((double)back[2] - 2) < 1e-3);
}

TEST(rows_of_one_number) {
    static const float row[] = { 3, 3, 3, 3 };
    static const int bits[] = { 2, 4, 8 };
    for (int i = 0; i < 3; i++) {
        uint8_t bytes[8];
        float back[4];
        CHECK(ig_quant_row(row, 4, bits[i], bytes));
        ig_quant_row_back(bytes, 4, bits[i], back);
        CHECK(back[0] == 3 && back[3] == 3);
    }
}

TEST(rows_that_f16_does_not_hold) {
    static const float rows[][2] = {
        { 1, NAN }, { INFINITY, 0 }, { -1e5f, 0 }, { 0, -INFINITY }, { 0, 3e38f }
    };
    uint8_t bytes[8];
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        CHECK(!ig_quant_row(rows[i], 2, 8, bytes));
    }
    static const float tiny[] = { 0, 1e-30f };
    CHECK(ig_quant_row(tiny, 2, 8, bytes)); /* scale 1 */
}

UNIT_SUITE(passes_quantise, rows_of_four_bits, rows_of_one_number,
           rows_that_f16_does_not_hold, zero_is_a_code, ranges_hold_zero,
           symmetric_is_around_zero, ties_go_to_even, scales_are_normal,
           methods_cut_what_is_rare, percentile_counts_all_that_it_cuts,
           min_error_keeps_what_costs_more, empty_ranges_stay, layers_are_found,
           weights_by_channel, weights_of_bf16, weights_with_zero_points,
           smoothing_moves_what_is_large, grouped_channels_are_not_smoothed)
