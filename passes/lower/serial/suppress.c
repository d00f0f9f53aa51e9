/* Boxes without those that a better one covers: a list of boxes is the work of one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The next one is the root of a heap (heap.h) of scores, of equal ones of the first
 * box's.  It is in the list's own part of the result, backwards from its end;
 * indices of kept boxes are written from its begin, and never meet it: each was
 * in the heap.
 *
 *     for candidate                       the root; the last key sinks from there
 *         for blocks of boxes that are kept  until one covers the candidate
 *             is there one that may?      by a product that is a bit too small
 *             is there one that does?     by the quotient, of which there are few so
 *
 * Edges of the first KEPT kept boxes are in order beside the heap; those of
 * others are gathered.
 *
 *   grid    lists, one a tile
 */
#include "ir/semantics/suppress.h"
#include "passes/lower/serial/heap.h"
#include "passes/lower/serial/serial.h"
#include "passes/lower/walk.h"

#include <assert.h>
#include <math.h>

enum {
    KEPT = 1024, /* whole blocks */
    BLOCK = 128,
    EDGES = 4,
    CANDIDATE_NS = 60,
};

typedef struct suppress {
    ig_lower *lower;
    const ig_lower_operand *boxes, *scores, *min, *out, *counts;
    uint32_t lanes;
    ig_value *kept_boxes; /* [EDGES + 1, KEPT]: edges and area */
    ig_value *share, *max;
    ig_value *product_share; /* less than the share by some bits; NaN below 0 */
    ig_value *count;         /* boxes of a list */
    /* Of the list at hand. */
    ig_value *box_start; /* element of boxes */
    ig_value *first;     /* element of out */
    ig_heap heap;
} suppress;

/* One box, or a vector of them. */
typedef struct box {
    ig_value *edges[EDGES], *area;
} box;

/* ---- the candidates ---- */

/* Numbers of boxes with more than the least score, where their keys will be; how many
 * there are. */
static ig_value *collect_numbers(const suppress *s, ig_builder *b, ig_value *scores,
                                 ig_value *min) {
    ig_value *zero = k_i64(b, 0), *step = k_i64(b, 1);
    k_loop loop = k_loop_open(b, zero, s->count, step, &zero, 1);
    ig_builder *in = &loop.b;
    ig_value *size = loop.carried[0];
    ig_heap_store(&s->heap, in, loop.index, size);
    if (min) {
        ig_value *stride = ig_lower_dim(s->lower, s->scores->strides[2]);
        ig_value *at = k_add(in, scores, k_mul(in, loop.index, stride));
        ig_value *score = k_load(in, s->scores->buffer, at, 1);
        step = k_cast(in, k_compare(in, IG_OP_gt, score, min), IG_DT_i64);
    }
    size = k_add(in, size, step);
    k_loop_close(&loop, &size, 1);
    return loop.results[0];
}

/* The number of a box in its key, and back: the first is the greatest. */
static ig_value *turn_number(ig_builder *b, ig_value *number) {
    return k_sub(b, k_i64(b, UINT32_MAX), number);
}

static void make_keys(const suppress *s, ig_builder *b, ig_value *scores,
                      ig_value *size) {
    k_loop loop = k_loop_open(b, k_i64(b, 0), size, k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *number = ig_heap_load(&s->heap, in, loop.index);
    ig_value *stride = ig_lower_dim(s->lower, s->scores->strides[2]);
    ig_value *at = k_add(in, scores, k_mul(in, number, stride));
    ig_value *score = ig_heap_value(in, k_load(in, s->scores->buffer, at, 1));
    ig_value *key = ig_heap_key(in, score, turn_number(in, number));
    ig_heap_store(&s->heap, in, key, loop.index);
    k_loop_close(&loop, NULL, 0);
}

/* ---- boxes ---- */

static ig_value *area_of(ig_builder *b, const box *x) {
    return k_mul(b, k_binary(b, IG_OP_sub, x->edges[2], x->edges[0]),
                 k_binary(b, IG_OP_sub, x->edges[3], x->edges[1]));
}

/* The box or boxes with these numbers. */
static box load_boxes(const suppress *s, ig_builder *b, ig_value *indices) {
    uint32_t lanes = indices->type->lanes;
    ig_value *step = ig_lower_dim(s->lower, s->boxes->strides[1]);
    ig_value *apart = ig_lower_dim(s->lower, s->boxes->strides[2]);
    ig_value *at = k_mul(b, indices, k_splat(b, step, lanes));
    at = k_add(b, at, k_splat(b, s->box_start, lanes));
    box x;
    for (uint32_t i = 0; i < EDGES; i++) {
        ig_value *edge = k_mul(b, apart, k_i64(b, i));
        ig_value *position = k_add(b, at, k_splat(b, edge, lanes));
        x.edges[i] = lanes > 1 ? k_load_at(b, s->boxes->buffer, position)
                               : k_load(b, s->boxes->buffer, position, 1);
    }
    x.area = area_of(b, &x);
    return x;
}

static box splat_box(ig_builder *b, const box *x, uint32_t lanes) {
    box y = { .area = k_splat(b, x->area, lanes) };
    for (uint32_t i = 0; i < EDGES; i++) {
        y.edges[i] = k_splat(b, x->edges[i], lanes);
    }
    return y;
}

/* Areas of the intersection and of the union of two boxes. */
static void meet_boxes(const suppress *s, ig_builder *b, const box *x, const box *y,
                       ig_value **common, ig_value **both) {
    uint32_t lanes = x->area->type->lanes;
    ig_value *zero = k_const_vector(b, (ig_dtype)s->boxes->type->dtype, lanes, 0);
    ig_value *sides[2];
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *low = k_max(b, x->edges[i], y->edges[i]);
        ig_value *high = k_min(b, x->edges[i + 2], y->edges[i + 2]);
        sides[i] = k_max(b, k_binary(b, IG_OP_sub, high, low), zero);
    }
    *common = k_mul(b, sides[0], sides[1]);
    ig_value *sum = k_binary(b, IG_OP_add, x->area, y->area);
    *both = k_binary(b, IG_OP_sub, sum, *common);
}

typedef ig_value *(*test_fn)(const suppress *s, ig_builder *b, ig_value *common,
                             ig_value *both);

/* Does the quotient exceed the share? */
static ig_value *exceeds_share(const suppress *s, ig_builder *b, ig_value *common,
                               ig_value *both) {
    ig_value *share = k_binary(b, IG_OP_div, common, both);
    return k_compare(b, IG_OP_gt, share, k_splat(b, s->share, share->type->lanes));
}

/* Where this is not, the quotient does not exceed the share, however it is rounded: a
 * product is rounded to no more than `common` where it is less. */
static ig_value *may_cover(const suppress *s, ig_builder *b, ig_value *common,
                           ig_value *both) {
    ig_value *share = k_splat(b, s->product_share, common->type->lanes);
    ig_value *is_less = k_compare(b, IG_OP_lt, common, k_mul(b, share, both));
    return k_unary(b, IG_OP_not, is_less);
}

/* ---- kept boxes ---- */

typedef box (*load_fn)(const suppress *s, ig_builder *b, ig_value *at, ig_value *left);

/* Kept boxes, from index `at` on; `left` of them. */
static box load_kept(const suppress *s, ig_builder *b, ig_value *at, ig_value *left) {
    ig_value *parts[EDGES + 1];
    (void)left; /* the array is read to its end */
    for (int64_t i = 0; i <= EDGES; i++) {
        ig_value *position = k_add(b, at, k_i64(b, i * KEPT));
        parts[i] = k_load(b, s->kept_boxes, position, s->lanes);
    }
    return (box){ { parts[0], parts[1], parts[2], parts[3] }, parts[EDGES] };
}

static box load_others(const suppress *s, ig_builder *b, ig_value *at, ig_value *left) {
    ig_value *position = k_add(b, s->first, at);
    return load_boxes(s, b, k_load_count(b, s->out->buffer, position, s->lanes, left));
}

/* A range of the kept boxes, and how to load them. */
typedef struct standing {
    ig_value *from, *to;
    load_fn load;
} standing;

/* Does the test hold for x and one of these? */
static ig_value *test_all(const suppress *s, ig_builder *b, const box *x,
                          const standing *these, test_fn test) {
    ig_value *none = k_const_vector(b, IG_DT_i32, s->lanes, 0);
    box one = splat_box(b, x, s->lanes);
    k_loop loop = k_loop_open(b, these->from, these->to, k_i64(b, s->lanes), &none, 1);
    ig_builder *in = &loop.b;
    ig_value *left = k_sub(in, these->to, loop.index), *common, *both;
    box others = these->load(s, in, loop.index, left);
    meet_boxes(s, in, &one, &others, &common, &both);
    ig_value *flags = test(s, in, common, both);
    if (s->lanes > 1) {
        ig_value *is_in = k_compare(in, IG_OP_lt, k_iota(in, s->lanes),
                                    k_splat(in, left, s->lanes));
        flags = k_binary(in, IG_OP_and, flags, is_in);
    }
    flags = k_binary(in, IG_OP_or, loop.carried[0], k_cast(in, flags, IG_DT_i32));
    k_loop_close(&loop, &flags, 1);
    ig_value *any = loop.results[0];
    any = s->lanes > 1 ? k_hreduce(b, IG_REDUCE_max, any) : any;
    return k_compare(b, IG_OP_gt, any, k_const(b, IG_DT_i32, 0));
}

static ig_value *test_block(const suppress *s, ig_builder *b, const box *x,
                            const standing *block) {
    ig_value *may = test_all(s, b, x, block, may_cover);
    const ig_type *type = may->type;
    k_if look = k_if_open(b, may, &type, 1);
    ig_value *does = test_all(s, &look.then, x, block, exceeds_share);
    k_if_close(&look, &does, &may);
    return look.results[0];
}

/* Does one of these cover x?  `is_hit`: one before does. */
static ig_value *find_cover(const suppress *s, ig_builder *b, const box *x,
                            const standing *these, ig_value *is_hit) {
    const ig_type *type = is_hit->type;
    ig_value *step = k_i64(b, BLOCK);
    k_loop loop = k_loop_open(b, these->from, these->to, step, &is_hit, 1);
    k_if look = k_if_open(&loop.b, loop.carried[0], &type, 1);
    ig_builder *in = &look.other;
    standing block = { .from = loop.index, .load = these->load };
    block.to = k_min(in, these->to, k_add(in, loop.index, step));
    ig_value *found = test_block(s, in, x, &block);
    k_if_close(&look, &loop.carried[0], &found);
    k_loop_close(&loop, look.results, 1);
    return loop.results[0];
}

static ig_value *is_covered(const suppress *s, ig_builder *b, const box *x,
                            ig_value *kept) {
    ig_value *is_hit = k_const(b, IG_DT_bool, 0);
    standing others = { .from = k_i64(b, 0), .to = kept, .load = load_others };
    if (s->kept_boxes) {
        standing held = { .from = k_i64(b, 0), .load = load_kept };
        others.from = held.to = k_min(b, kept, k_i64(b, KEPT));
        is_hit = find_cover(s, b, x, &held, is_hit);
    }
    return find_cover(s, b, x, &others, is_hit);
}

/* Writes a box at the place of the next kept one. */
static void write_box(const suppress *s, ig_builder *b, const box *x, ig_value *number,
                      ig_value *kept) {
    k_store(b, number, s->out->buffer, k_add(b, s->first, kept));
    for (int64_t i = 0; s->kept_boxes && i <= EDGES; i++) {
        ig_value *part = i < EDGES ? x->edges[i] : x->area;
        k_store_count(b, part, s->kept_boxes, k_add(b, kept, k_i64(b, i * KEPT)),
                      k_sub(b, k_i64(b, KEPT), kept));
    }
}

/* Takes the best candidate of a heap of `size`, which loses it; how many boxes are kept
 * then.  One that is covered is written too, and the next one over it. */
static ig_value *take_best(const suppress *s, ig_builder *b, ig_value *size,
                           ig_value *kept) {
    ig_value *best = ig_heap_load(&s->heap, b, k_i64(b, 0)), *one = k_i64(b, 1);
    ig_value *rest = k_sub(b, size, one);
    ig_value *last = ig_heap_load(&s->heap, b, rest);
    ig_heap_sink(&s->heap, b, k_i64(b, 0), rest, last);
    ig_value *number = turn_number(b, ig_heap_number(b, best));
    box x = load_boxes(s, b, number);
    ig_value *stands = k_unary(b, IG_OP_not, is_covered(s, b, &x, kept));
    write_box(s, b, &x, number, kept);
    return k_add(b, kept, k_cast(b, stands, IG_DT_i64));
}

/* The kept boxes, from the heap; their number. */
static ig_value *take_all(const suppress *s, ig_builder *b, ig_value *size) {
    ig_value *kept = k_i64(b, 0);
    const ig_type *type = kept->type;
    k_loop loop = k_loop_open(b, k_i64(b, 0), size, k_i64(b, 1), &kept, 1);
    ig_value *so_far = loop.carried[0];
    ig_value *wants_more = k_compare(&loop.b, IG_OP_lt, so_far, s->max);
    k_if more = k_if_open(&loop.b, wants_more, &type, 1);
    ig_value *left = k_sub(&more.then, size, loop.index);
    ig_value *now = take_best(s, &more.then, left, so_far);
    k_if_close(&more, &now, &so_far);
    k_loop_close(&loop, more.results, 1);
    return loop.results[0];
}

static void fill_rest(const suppress *s, ig_builder *b, ig_value *kept) {
    uint32_t lanes = ig_lower_lanes(s->lower, IG_DT_i64);
    k_loop loop = k_loop_open(b, kept, s->count, k_i64(b, lanes), NULL, 0);
    ig_builder *in = &loop.b;
    k_store_count(in, k_const_vector(in, IG_DT_i64, lanes, -1), s->out->buffer,
                  k_add(in, s->first, loop.index), k_sub(in, s->count, loop.index));
    k_loop_close(&loop, NULL, 0);
}

/* A share that is less by more than roundings of a quotient and of this can be. */
static ig_value *lessen_share(ig_builder *b, ig_value *share) {
    ig_dtype dtype = (ig_dtype)share->type->dtype;
    ig_value *less = k_mul(b, share, k_const(b, dtype, 1 - 0x1p-20));
    ig_value *is_usual = k_compare(b, IG_OP_ge, share, k_const(b, dtype, 0));
    return k_where(b, is_usual, less, k_const(b, dtype, (double)NAN));
}

static void emit_list(void *user, ig_builder *b, ig_value *list) {
    suppress s = *(const suppress *)user;
    ig_value *index[3], *min = NULL;
    ig_lower_split(s.lower, b, s.scores->type, 2, list, index);
    index[2] = k_i64(b, 0);
    ig_value *scores = ig_lower_at(s.lower, b, s.scores, index);
    s.box_start = k_mul(b, index[0], ig_lower_dim(s.lower, s.boxes->strides[0]));
    s.first = k_mul(b, list, s.count);
    s.heap = (ig_heap){ .buffer = s.out->buffer, .step = k_i64(b, -1) };
    s.heap.root = k_sub(b, k_add(b, s.first, s.count), k_i64(b, 1));
    if (s.min) {
        min = k_load(b, s.min->buffer, k_i64(b, 0), 1);
    }
    ig_value *size = collect_numbers(&s, b, scores, min);
    s.heap.levels = ig_heap_levels(b, size);
    make_keys(&s, b, scores, size);
    ig_heap_build(&s.heap, b, size);
    ig_value *kept = take_all(&s, b, size);
    k_store(b, kept, s.counts->buffer, list);
    fill_rest(&s, b, kept);
}

ig_status ig_lower_serial_suppress(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_suppress);
    assert(op && "the family's body has its anchor");
    bool has_min = op->operand_count > IG_SUPPRESS_MIN;
    suppress s = { .lower = lower,
                   .boxes = ig_lower_input(lower, op, IG_SUPPRESS_BOXES),
                   .scores = ig_lower_input(lower, op, IG_SUPPRESS_SCORES),
                   .min = has_min ? ig_lower_input(lower, op, IG_SUPPRESS_MIN) : NULL,
                   .out = &lower->outs[0],
                   .counts = &lower->outs[1] };
    const ig_lower_operand *share = ig_lower_input(lower, op, IG_SUPPRESS_SHARE);
    const ig_lower_operand *max = ig_lower_input(lower, op, IG_SUPPRESS_MAX);
    ig_dtype dtype = (ig_dtype)s.boxes->type->dtype;
    const ig_dim *dims = s.scores->type->dims;
    ig_builder *b = &lower->b;
    s.lanes = ig_lower_lanes(lower, dtype);
    s.kept_boxes = s.lanes > 1 ? k_local(lower->kernel, dtype, (EDGES + 1) * KEPT)
                               : NULL;
    s.share = k_load(b, share->buffer, k_i64(b, 0), 1);
    s.product_share = lessen_share(b, s.share);
    s.max = k_load(b, max->buffer, k_i64(b, 0), 1);
    s.count = ig_lower_dim(lower, dims[2]);
    lower->name = "suppress";
    lower->grid = ig_lower_mul(lower, dims[0], dims[1]);
    lower->cost = ig_lower_mul(lower, ig_type_count(lower->module, s.scores->type),
                               ig_dim_of(CANDIDATE_NS));
    ig_lower_each_tile(lower, emit_list, &s);
    return IG_OK;
}
