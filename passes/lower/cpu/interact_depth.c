/* Dot interaction with lanes along the depth: for rows of several vectors.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   sums[p]  = sum over vectors k of x[s, i(p), k] * x[s, j(p), k]      a vector a pair
 *   out[p]   = the sum of all lanes of sums[p]
 *
 * Pairs (row, column) are made in groups, in blocks of 4 x COLUMNS (2 x COLUMNS where
 * there are 16 registers), so that 8 loads feed 16 sums in registers.  Pairs of blocks
 * that are not full (those of the diagonal) are gathered into groups.  Blocks side by
 * side whose results are side by side too are one loop, which keeps the code small.  A
 * sample stays in the first cache, and is neither transposed nor copied.
 *
 * As many sums as there are lanes are added up together: a step adds vectors in twos,
 * after which each holds half as many parts of twice as many sums.  Each sum is the
 * same tree over its lanes wherever its pair is in a group.
 */
#include "passes/lower/cpu/interact.h"

#include <assert.h>
#include <string.h>

enum { SUMS = 16, COLUMNS = 4 };

/* Some pairs, by their positions in `pairs`, and how many times: each time columns and
 * positions are COLUMNS further. */
typedef struct group {
    uint32_t positions[SUMS];
    uint32_t count, times;
} group;

/* A sample at one time of a group. */
typedef struct walk {
    const ig_interact *t;
    ig_value *rows, *columns; /* the sample's first element; of columns, shifted */
    ig_value *out_row;
} walk;

static uint32_t group_sums(const ig_interact *t) {
    return t->lower->target->vector_registers >= 32 ? SUMS : SUMS / 2;
}

static int64_t row_of(const ig_interact *t, uint32_t position) {
    int64_t pair = t->pairs[position];
    return t->swaps ? pair % t->rows : pair / t->rows;
}

static int64_t column_of(const ig_interact *t, uint32_t position) {
    int64_t pair = t->pairs[position];
    return t->swaps ? pair / t->rows : pair % t->rows;
}

/* ---- sums of lanes ---- */

/* One vector of x + y: lanes whose bit `half` is unset hold x's, the others y's, each
 * the sum of two lanes.  y NULL: those are x's too. */
static ig_value *add_halves(ig_builder *b, ig_value *x, ig_value *y, uint32_t half) {
    int64_t own[IG_CPU_SQUARE], other[IG_CPU_SQUARE];
    uint32_t lanes = x->type->lanes;
    for (uint32_t i = 0; i < lanes; i++) {
        int64_t of = y && i & half ? lanes : 0;
        own[i] = of + i;
        other[i] = of + (i ^ half);
    }
    ig_value *second = y ? y : x;
    ig_value *kept = y ? k_shuffle(b, x, second, own, lanes) : x;
    return k_add(b, kept, k_shuffle(b, x, second, other, lanes));
}

/* A vector whose lane n is the sum of the lanes of sums[n], n < count <= lanes. */
static ig_value *sum_lanes(ig_builder *b, ig_value *const *sums, uint32_t count,
                           uint32_t lanes) {
    ig_value *parts[IG_CPU_SQUARE] = { 0 };
    for (uint32_t n = 0; n < count; n++) {
        parts[n] = sums[n];
    }
    for (uint32_t half = lanes / 2; half > 0; half /= 2) {
        for (uint32_t n = 0; n < half && parts[n]; n++) {
            parts[n] = add_halves(b, parts[n], parts[n + half], half);
        }
    }
    return parts[0];
}

/* ---- results ---- */

/* Lanes first … first + count to consecutive elements. */
static void store_run(ig_builder *b, ig_value *x, uint32_t first, uint32_t count,
                      ig_value *buffer, ig_value *at) {
    int64_t chosen[IG_CPU_SQUARE];
    for (uint32_t done = 0; done < count;) {
        uint32_t size = 1;
        while (size * 2 <= count - done) {
            size *= 2;
        }
        for (uint32_t i = 0; i < size; i++) {
            chosen[i] = first + done + i;
        }
        ig_value *part = size == x->type->lanes ? x : k_shuffle(b, x, x, chosen, size);
        k_store(b, part, buffer, k_add(b, at, k_i64(b, done)));
        done += size;
    }
}

/* Lane n is the product of the pair at positions[n]. */
static void store_products(const ig_interact *t, ig_builder *b, ig_value *x,
                           const uint32_t *positions, uint32_t count,
                           ig_value *out_row) {
    for (uint32_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count; next++) {
            if (positions[next] != positions[next - 1] + 1) {
                break;
            }
        }
        ig_value *at = k_add(b, out_row, k_i64(b, positions[first]));
        store_run(b, x, first, next - first, t->out->buffer, at);
    }
}

/* ---- products ---- */

/* Vectors of a sample's rows, each loaded once. */
typedef struct loaded {
    const ig_interact *t;
    ig_value *from, *k;
    ig_value *count; /* lanes that exist; NULL: all */
    ig_value *vectors[SUMS];
    int64_t rows[SUMS];
    uint32_t used;
} loaded;

/* Vector k of a row. */
static ig_value *load_row(loaded *all, ig_builder *b, int64_t row) {
    for (uint32_t n = 0; n < all->used; n++) {
        if (all->rows[n] == row) {
            return all->vectors[n];
        }
    }
    assert(all->used < SUMS && "a row of each pair at most");
    ig_value *step = ig_lower_dim(all->t->lower, all->t->x->strides[1]);
    ig_value *at = k_add(b, k_mul(b, step, k_i64(b, row)), all->k);
    ig_value *x = k_load_count(b, all->from, at, all->t->lanes, all->count);
    all->rows[all->used] = row;
    all->vectors[all->used++] = x;
    return x;
}

/* The sums go on by vector k of their pairs' rows. */
static void multiply_pairs(const walk *w, ig_builder *b, const group *of, ig_value *k,
                           ig_value *count, ig_value **sums) {
    loaded rows = { .t = w->t, .from = w->rows, .k = k, .count = count };
    loaded columns = { .t = w->t, .from = w->columns, .k = k, .count = count };
    for (uint32_t n = 0; n < of->count; n++) {
        ig_value *x = load_row(&rows, b, row_of(w->t, of->positions[n]));
        ig_value *y = load_row(&columns, b, column_of(w->t, of->positions[n]));
        sums[n] = k_muladd(b, x, y, sums[n]);
    }
}

static void store_sums(const walk *w, ig_builder *b, const group *of,
                       ig_value *const *sums) {
    uint32_t lanes = w->t->lanes;
    for (uint32_t n = 0; n < of->count; n += lanes) {
        uint32_t count = of->count - n < lanes ? of->count - n : lanes;
        ig_value *x = sum_lanes(b, sums + n, count, lanes);
        store_products(w->t, b, x, of->positions + n, count, w->out_row);
    }
}

static void emit_once(const walk *w, ig_builder *b, const group *of) {
    const ig_interact *t = w->t;
    ig_value *sums[SUMS];
    for (uint32_t n = 0; n < of->count; n++) {
        sums[n] = k_const_vector(b, IG_DT_f32, t->lanes, 0.0);
    }
    int64_t whole = t->depth / t->lanes * t->lanes;
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, whole), k_i64(b, t->lanes), sums,
                              of->count);
    for (uint32_t n = 0; n < of->count; n++) {
        sums[n] = loop.carried[n];
    }
    multiply_pairs(w, &loop.b, of, loop.index, NULL, sums);
    k_loop_close(&loop, sums, of->count);
    if (whole < t->depth) {
        ig_value *left = k_i64(b, t->depth - whole);
        multiply_pairs(w, b, of, k_i64(b, whole), left, loop.results);
    }
    store_sums(w, b, of, loop.results);
}

static void emit_group(const walk *w, ig_builder *b, const group *of) {
    if (of->times == 1) {
        emit_once(w, b, of);
        return;
    }
    ig_value *end = k_i64(b, (int64_t)of->times * COLUMNS);
    k_loop loop = k_loop_open(b, k_i64(b, 0), end, k_i64(b, COLUMNS), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *step = ig_lower_dim(w->t->lower, w->t->x->strides[1]);
    walk once = *w;
    once.columns = k_offset(in, w->columns, k_mul(in, loop.index, step));
    once.out_row = k_add(in, w->out_row, loop.index);
    emit_once(&once, in, of);
    k_loop_close(&loop, NULL, 0);
}

/* ---- groups ---- */

typedef struct groups {
    group *list;
    uint32_t count;
    uint32_t *rest, rest_count; /* positions of pairs of blocks that are not full */
} groups;

/* Is the group what another one is when its columns are so many times further? */
static bool is_further(const ig_interact *t, const group *of, const group *first) {
    uint32_t by = first->times * COLUMNS;
    if (of->count != first->count) {
        return false;
    }
    for (uint32_t n = 0; n < of->count; n++) {
        uint32_t at = of->positions[n], from = first->positions[n];
        if (at != from + by || row_of(t, at) != row_of(t, from) ||
            column_of(t, at) != column_of(t, from) + by) {
            return false;
        }
    }
    return true;
}

static void add_group(const ig_interact *t, groups *all, const uint32_t *positions,
                      uint32_t count) {
    group of = { .count = count, .times = 1 };
    memcpy(of.positions, positions, count * sizeof *positions);
    group *last = all->count ? &all->list[all->count - 1] : NULL;
    if (last && is_further(t, &of, last)) {
        last->times++;
    } else {
        all->list[all->count++] = of;
    }
}

/* Pairs of one block, by their positions. */
static void add_block(const ig_interact *t, groups *all, const uint32_t *positions,
                      uint32_t count) {
    uint32_t room = group_sums(t), done = 0;
    for (; done + room <= count; done += room) {
        add_group(t, all, positions + done, room);
    }
    for (; done < count; done++) {
        all->rest[all->rest_count++] = positions[done];
    }
}

/* Positions by the blocks of their pairs. */
typedef struct order {
    uint32_t *positions, *ends; /* of all pairs; where in it each block ends */
    int64_t blocks;
} order;

static order order_by_blocks(const ig_interact *t) {
    ig_arena *arena = t->lower->arena;
    int64_t high = group_sums(t) / COLUMNS, wide = (t->rows + COLUMNS - 1) / COLUMNS;
    order o = { .blocks = (t->rows + high - 1) / high * wide };
    o.positions = IG_NEW_ARRAY(arena, uint32_t, t->pair_count);
    o.ends = IG_NEW_ARRAY(arena, uint32_t, (size_t)o.blocks + 1);
    uint32_t *block = IG_NEW_ARRAY(arena, uint32_t, t->pair_count);
    for (uint32_t p = 0; p < t->pair_count; p++) {
        block[p] = (uint32_t)(row_of(t, p) / high * wide + column_of(t, p) / COLUMNS);
        o.ends[block[p] + 1]++;
    }
    for (int64_t n = 1; n <= o.blocks; n++) {
        o.ends[n] += o.ends[n - 1];
    }
    for (uint32_t p = 0; p < t->pair_count; p++) {
        o.positions[o.ends[block[p]]++] = p;
    }
    return o;
}

static groups make_groups(const ig_interact *t) {
    order o = order_by_blocks(t);
    uint32_t room = group_sums(t);
    groups all = { .list = IG_NEW_ARRAY(t->lower->arena, group,
                                        t->pair_count / room + 1) };
    all.rest = IG_NEW_ARRAY(t->lower->arena, uint32_t, t->pair_count);
    for (int64_t n = 0, from = 0; n < o.blocks; from = o.ends[n++]) {
        add_block(t, &all, o.positions + from, o.ends[n] - (uint32_t)from);
    }
    for (uint32_t done = 0; done < all.rest_count; done += room) {
        uint32_t left = all.rest_count - done;
        add_group(t, &all, all.rest + done, left < room ? left : room);
    }
    return all;
}

void ig_interact_emit_depth(const ig_interact *t, ig_builder *b, ig_value *sample,
                            ig_value *out_row) {
    walk w = { .t = t, .rows = sample, .columns = sample, .out_row = out_row };
    groups all = make_groups(t);
    for (uint32_t n = 0; n < all.count; n++) {
        emit_group(&w, b, &all.list[n]);
    }
}
