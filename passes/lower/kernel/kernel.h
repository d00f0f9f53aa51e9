/* Vocabulary for building kernel form: one line per thought.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Scalars and vectors are one type (a scalar has one lane), so the same helper builds
 * both.  Loops are opened and closed around the code of their body:
 *
 *     k_loop loop = k_loop_open(b, k_i64(b, 0), n, k_i64(b, 1), &zero, 1);
 *     ig_value *sum = k_add(&loop.b, loop.carried[0], k_load(&loop.b, ...));
 *     k_loop_close(&loop, &sum, 1);         loop.results[0] is the total
 */
#ifndef IG_PASSES_LOWER_KERNEL_KERNEL_H
#define IG_PASSES_LOWER_KERNEL_KERNEL_H

#include "ir/build/build.h"

/* ---- constants ---- */
ig_value *k_i64(ig_builder *b, int64_t value);
ig_value *k_const(ig_builder *b, ig_dtype dtype, double value); /* one lane */
ig_value *k_const_vector(ig_builder *b, ig_dtype dtype, uint32_t lanes, double value);

/* ---- arithmetic; i64 index arithmetic folds constants while building ---- */
ig_value *k_unary(ig_builder *b, ig_opcode code, ig_value *x);
ig_value *k_binary(ig_builder *b, ig_opcode code, ig_value *x, ig_value *y);
ig_value *k_compare(ig_builder *b, ig_opcode code, ig_value *x, ig_value *y);
ig_value *k_add(ig_builder *b, ig_value *x, ig_value *y);
ig_value *k_sub(ig_builder *b, ig_value *x, ig_value *y);
ig_value *k_mul(ig_builder *b, ig_value *x, ig_value *y);
ig_value *k_min(ig_builder *b, ig_value *x, ig_value *y);
ig_value *k_max(ig_builder *b, ig_value *x, ig_value *y);
/* Quotients of non-negative i64 by a positive one. */
ig_value *k_div(ig_builder *b, ig_value *x, ig_value *y);
ig_value *k_mod(ig_builder *b, ig_value *x, ig_value *y);
ig_value *k_ceil_div(ig_builder *b, ig_value *x, int64_t y);
ig_value *k_muladd(ig_builder *b, ig_value *x, ig_value *y, ig_value *z);
/* z + x0 y0 + x1 y1 + x2 y2 + x3 y3 for each lane of z, i32; x is u8, y i8. */
ig_value *k_dot4(ig_builder *b, ig_value *x, ig_value *y, ig_value *z);
/* z + x0 y0 + x1 y1 for each lane of z, i16, which are known to fit; x is u8, y i8. */
ig_value *k_dot2(ig_builder *b, ig_value *x, ig_value *y, ig_value *z);
/* z + x0 + x1 for each lane of z, i32; x is i16. */
ig_value *k_add_pairs(ig_builder *b, ig_value *x, ig_value *z);
/* GPU: sums + A B of fragments of a warp; factors are a0 … a3, b0 and b1 (ops.def). */
ig_value *k_mma(ig_builder *b, ig_value *const factors[6], ig_value *sums);
/* GPU: x of the thread of the warp whose number differs by `bit`. */
ig_value *k_swap(ig_builder *b, ig_value *x, int64_t bit);
/* Rows of bytes times panels, k quads deep, into (or onto) rows of sums; each step is
 * in elements. */
typedef struct k_block {
    ig_value *a, *a_step, *b, *b_step, *sums, *sums_step;
    ig_value *rows, *k;
    uint32_t panels;
    bool adds;
} k_block;
void k_dot4_block(ig_builder *b, const k_block *block);
/* The same by loads, dot4 and stores; `adds` and panels as `op`, a dot4_block, has. */
void k_expand_block(ig_builder *b, const ig_op *op);
ig_value *k_where(ig_builder *b, ig_value *cond, ig_value *x, ig_value *y);
ig_value *k_cast(ig_builder *b, ig_value *x, ig_dtype to); /* x when equal */

/* ---- vectors ---- */
ig_value *k_splat(ig_builder *b, ig_value *x, uint32_t lanes); /* x when lanes is 1 */
ig_value *k_iota(ig_builder *b, uint32_t lanes);               /* i64 0, 1, 2 … */
ig_value *k_hreduce(ig_builder *b, ig_reduce op, ig_value *x); /* to one lane */
ig_value *k_any(ig_builder *b, ig_value *x); /* of lanes of bool */
ig_value *k_extract(ig_builder *b, ig_value *x, int64_t lane);
ig_value *k_shuffle(ig_builder *b, ig_value *x, ig_value *y, const int64_t *lanes,
                    uint32_t count);

/* ---- memory; indices are in elements ---- */
ig_value *k_load(ig_builder *b, ig_value *buffer, ig_value *index, uint32_t lanes);
/* One element a lane, at i64 indices. */
ig_value *k_load_at(ig_builder *b, ig_value *buffer, ig_value *indices);
/* Lanes from `count` on are zero and are not touched; count NULL: all lanes. */
ig_value *k_load_count(ig_builder *b, ig_value *buffer, ig_value *index, uint32_t lanes,
                       ig_value *count);
/* One element a lane, `stride` apart.  Lanes from `count` on (NULL: none) are of no
 * meaning; no element after the last of the others is touched. */
ig_value *k_load_apart(ig_builder *b, ig_value *buffer, ig_value *index,
                       ig_value *stride, uint32_t lanes, ig_value *count);
/* Can k_load_apart do it by loads of whole vectors? */
bool k_is_near(ig_dtype dtype, int64_t stride);
void k_store(ig_builder *b, ig_value *x, ig_value *buffer, ig_value *index);
void k_store_count(ig_builder *b, ig_value *x, ig_value *buffer, ig_value *index,
                   ig_value *count);
ig_value *k_offset(ig_builder *b, ig_value *buffer, ig_value *index);
ig_value *k_reinterpret(ig_builder *b, ig_value *x, ig_dtype dtype);
/* The bits of a vector as elements of another size. */
ig_value *k_regroup(ig_builder *b, ig_value *x, ig_dtype dtype);
ig_value *k_local(ig_graph *kernel, ig_dtype dtype, int64_t count);
ig_value *k_buffer_at(ig_builder *b, ig_value *first, ig_value *index);
ig_value *k_param_at(ig_builder *b, ig_value *first, ig_value *index);
void k_prefetch(ig_builder *b, ig_value *buffer, ig_value *index, int64_t level);
void k_report(ig_builder *b, ig_value *operand, ig_value *position, ig_value *value);
/* The tile range of this call. */
void k_tiles(ig_builder *b, ig_value **out_begin, ig_value **out_end);

/* ---- control flow ---- */

/* Carried values of one loop: the largest register tile and some. */
enum { K_CARRIED = 40 };

typedef struct k_loop {
    ig_op *op;
    ig_builder b; /* at the end of the body */
    ig_value *index;
    ig_value *carried[K_CARRIED]; /* inside the body */
    ig_value *results[K_CARRIED]; /* after it */
    uint32_t count;
} k_loop;

k_loop k_loop_open(ig_builder *b, ig_value *lo, ig_value *hi, ig_value *step,
                   ig_value *const *inits, uint32_t count);
void k_loop_close(k_loop *loop, ig_value *const *yields, uint32_t count);

/* if (cond) { then } else { other }; both give `count` values of the types of
 * `types`. */
typedef struct k_if {
    ig_op *op;
    ig_builder then, other;
    ig_value *results[K_CARRIED];
    uint32_t count;
} k_if;

k_if k_if_open(ig_builder *b, ig_value *cond, const ig_type *const *types,
               uint32_t count);
void k_if_close(k_if *branch, ig_value *const *then, ig_value *const *other);

#endif
