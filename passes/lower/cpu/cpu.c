/* The CPU's schedules by family, and their helpers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/expr.h"
#include "passes/lower/cpu/cpu.h"

#include "base/checked.h"

#include <assert.h>

const ig_lower_fn ig_lower_cpu[IG_FAMILY_COUNT] = {
    [IG_FAMILY_gemm] = ig_lower_cpu_gemm,
    [IG_FAMILY_dot] = ig_lower_cpu_dot,
    [IG_FAMILY_dot_bits] = ig_lower_cpu_dot,
    [IG_FAMILY_attention] = ig_lower_cpu_attention,
    [IG_FAMILY_bag] = ig_lower_cpu_bag,
    [IG_FAMILY_bag_group] = ig_lower_cpu_bag_group,
    [IG_FAMILY_bag_update] = ig_lower_cpu_bag_update,
    [IG_FAMILY_interact] = ig_lower_cpu_interact,
    [IG_FAMILY_map] = ig_lower_cpu_map,
    [IG_FAMILY_copy] = ig_lower_cpu_map,
    [IG_FAMILY_group_norm] = ig_lower_cpu_group_norm,
    [IG_FAMILY_gather] = ig_lower_serial_gather,
    [IG_FAMILY_jagged] = ig_lower_serial_jagged,
    [IG_FAMILY_reduce] = ig_lower_serial_reduce,
    [IG_FAMILY_softmax] = ig_lower_serial_softmax,
    [IG_FAMILY_pad] = ig_lower_serial_pad,
    [IG_FAMILY_forest] = ig_lower_serial_forest,
    [IG_FAMILY_scan] = ig_lower_serial_scan,
    [IG_FAMILY_range] = ig_lower_serial_range,
    [IG_FAMILY_scatter] = ig_lower_serial_scatter,
    [IG_FAMILY_arg] = ig_lower_serial_arg,
    [IG_FAMILY_random] = ig_lower_serial_random,
    [IG_FAMILY_search] = ig_lower_serial_search,
    [IG_FAMILY_sort] = ig_lower_serial_sort,
    [IG_FAMILY_suppress] = ig_lower_serial_suppress,
    [IG_FAMILY_conv] = ig_lower_serial_conv,
    [IG_FAMILY_conv_panels] = ig_lower_cpu_conv_panels,
    [IG_FAMILY_conv_channels] = ig_lower_cpu_conv_channels,
    [IG_FAMILY_pool] = ig_lower_cpu_pool,
};

ig_value *ig_cpu_scratch(ig_lower *lower, int64_t floats) {
    return ig_cpu_scratch_of(lower, IG_DT_f32, floats);
}

ig_value *ig_cpu_scratch_of(ig_lower *lower, ig_dtype dtype, int64_t count) {
    const ig_type *type = ig_type_buffer(lower->module, dtype, 0, NULL);
    ig_op_spec spec = { .result_types = &type, .result_count = 1 };
    ig_scratch_attrs attrs = { .offset = lower->scratch };
    ig_expr e = ig_expr_of(&lower->b);
    assert(count > 0 && ig_dtypes[dtype].bits >= 8 && "scratch holds something");
    size_t bytes = (size_t)count * ig_dtypes[dtype].bits / 8;
    lower->scratch += (int64_t)ig_align_up(bytes, 64);
    return ig_build_scratch_op(&e, &spec, attrs)->results;
}

void ig_cpu_transpose(ig_builder *b, ig_value **rows, uint32_t lanes) {
    assert(lanes <= IG_CPU_SQUARE && (lanes & (lanes - 1)) == 0 &&
           "a square of vectors");
    for (uint32_t step = 1; step < lanes; step *= 2) {
        int64_t upper[IG_CPU_SQUARE], lower[IG_CPU_SQUARE];
        for (uint32_t j = 0; j < lanes; j++) {
            upper[j] = j & step ? lanes + j - step : j;
            lower[j] = j & step ? lanes + j : j + step;
        }
        for (uint32_t i = 0; i < lanes; i++) {
            if (!(i & step)) {
                ig_value *x = rows[i], *y = rows[i + step];
                rows[i] = k_shuffle(b, x, y, upper, lanes);
                rows[i + step] = k_shuffle(b, x, y, lower, lanes);
            }
        }
    }
}

ig_value *ig_cpu_zeros(ig_lower *lower, int64_t count) {
    ig_builder *b = &lower->b;
    int64_t lanes = ig_lower_lanes(lower, IG_DT_f32);
    int64_t size = ig_ceil_div(count > 0 ? count : 1, lanes) * lanes;
    ig_value *zeros = ig_cpu_scratch(lower, size);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, size), k_i64(b, lanes), NULL, 0);
    ig_value *none = k_const_vector(&loop.b, IG_DT_f32, (uint32_t)lanes, 0.0);
    k_store(&loop.b, none, zeros, loop.index);
    k_loop_close(&loop, NULL, 0);
    return k_reinterpret(b, zeros, IG_DT_f32);
}

ig_cpu_split ig_cpu_open_split(ig_builder *b, ig_value *total, ig_value *parts) {
    return (ig_cpu_split){ k_div(b, total, parts), k_mod(b, total, parts) };
}

void ig_cpu_find_part(ig_builder *b, const ig_cpu_split *split, ig_value *number,
                      ig_value **out_skipped, ig_value **out_count) {
    ig_value *is_longer = k_compare(b, IG_OP_lt, number, split->extra);
    *out_count = k_add(b, split->base, k_cast(b, is_longer, IG_DT_i64));
    *out_skipped = k_add(b, k_mul(b, number, split->base),
                         k_min(b, number, split->extra));
}

ig_cpu_blocks ig_cpu_open_blocks(ig_builder *b, ig_value *total, uint32_t max) {
    ig_cpu_blocks blocks = { .count = k_ceil_div(b, total, max) };
    ig_cpu_split split = ig_cpu_open_split(b, total, blocks.count);
    blocks.loop = k_loop_open(b, k_i64(b, 0), blocks.count, k_i64(b, 1), NULL, 0);
    ig_cpu_find_part(&blocks.loop.b, &split, blocks.loop.index, &blocks.skipped,
                     &blocks.rows);
    return blocks;
}
