/* Exchanges between the threads of a warp: values, and fragments of products.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fragments are those of PTX ISA, "Matrix Fragments for mma.m16n8k8" and "m16n8k16".
 * Each sum is one chain of muladds over k; a GPU may round elsewhere.
 */
#include "ir/hooks.h"
#include "ir/interpret/kernel_state.h"

#include <math.h>
#include <string.h>

enum {
    WARP = 32,
    ROWS = 16,
    COLUMNS = 8,
    DEPTH = 16,
    SUMS = 4,
    FACTORS_A = 4,
    FACTORS_B = 2
};

typedef struct fragments {
    int64_t lanes; /* elements of k in a register */
    float a[ROWS][DEPTH], b[DEPTH][COLUMNS];
} fragments;

/* All threads come here before any goes on. */
ig_status ig_kernel_run_exchange(ig_kernel_thread *thread, const ig_op *op) {
    thread->barrier = op;
    return IG_OK;
}

/* tf32 has 10 bits after the point. */
static float take_factor(const ig_tensor *lanes, int64_t lane) {
    float x = (float)ig_tensor_get_f64(lanes, lane);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= lanes->dtype == IG_DT_f32 ? ~(uint32_t)0x1fff : ~(uint32_t)0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void take_thread(const ig_kernel_thread *thread, const ig_op *op, fragments *f) {
    uint32_t group = thread->index % WARP / 4, column_index = thread->index % 4;
    for (uint32_t i = 0; i < FACTORS_A + FACTORS_B; i++) {
        ig_tensor lanes = ig_kernel_lanes(thread, op->operands[i].value);
        f->lanes = lanes.count;
        for (int64_t lane = 0; lane < lanes.count; lane++) {
            bool is_far = i < FACTORS_A ? (i & 2) != 0 : i > FACTORS_A;
            int64_t k = (column_index + (is_far ? 4 : 0)) * lanes.count + lane;
            float x = take_factor(&lanes, lane);
            if (i < FACTORS_A) {
                f->a[group + (i & 1 ? 8 : 0)][k] = x;
            } else {
                f->b[k][group] = x;
            }
        }
    }
}

static void give_thread(const ig_kernel_thread *thread, const ig_op *op,
                        const fragments *f) {
    uint32_t group = thread->index % WARP / 4, column_index = thread->index % 4;
    ig_tensor c = ig_kernel_lanes(thread, op->operands[FACTORS_A + FACTORS_B].value);
    ig_tensor out = ig_kernel_lanes(thread, &op->results[0]);
    for (uint32_t i = 0; i < SUMS; i++) {
        uint32_t row = group + (i & 2 ? 8 : 0), column = 2 * column_index + (i & 1);
        float sum = (float)ig_tensor_get_f64(&c, i);
        for (int64_t k = 0; k < 8 * f->lanes; k++) {
            sum = fmaf(f->a[row][k], f->b[k][column], sum);
        }
        ig_tensor_set_f64(&out, i, sum);
    }
}

static void multiply_fragments(ig_kernel_thread *threads, const ig_op *op) {
    fragments f = { 0 };
    for (uint32_t t = 0; t < WARP; t++) {
        take_thread(&threads[t], op, &f);
    }
    for (uint32_t t = 0; t < WARP; t++) {
        give_thread(&threads[t], op, &f);
    }
}

static void swap_values(ig_kernel_thread *threads, const ig_op *op) {
    const ig_value *x = op->operands[0].value;
    uint32_t bit = (uint32_t)op->attrs[IG_swap_bit].as.i;
    for (uint32_t t = 0; t < WARP; t++) {
        memcpy(ig_kernel_value(&threads[t], &op->results[0]),
               ig_kernel_value(&threads[t ^ bit], x), (size_t)ig_kernel_size(x->type));
    }
}

ig_status ig_kernel_exchange(ig_kernel_run *run, const ig_op *op) {
    uint32_t threads = run->call->threads;
    if (threads % WARP != 0) {
        return ig_kernel_error(&run->threads[0], op, "%u threads are not whole warps",
                               threads);
    }
    for (uint32_t first = 0; first < threads; first += WARP) {
        (op->code == IG_OP_mma ? multiply_fragments : swap_values)(&run->threads[first],
                                                                   op);
    }
    return IG_OK;
}
