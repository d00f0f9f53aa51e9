/* sort and topk of numbers of at most 32 bits: a line is the work of one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of a line the k elements that come first so far are kept, by their keys (heap.h):
 *
 *     the first k elements                 are kept
 *     for vectors of the others            may one come before the last kept?
 *         for elements of the vector       it takes that one's place, if it does
 *
 * Few elements of a long line come before the k best so far, so nearly all of it is
 * read once, in vectors.  FEW keys are values of the loop, in order: one that comes in
 * moves those after it on.  More are a heap in the positions' own memory, with the last
 * at its root; emptied from there it leaves them in order.  FEW of lines side by side
 * are for sort_across.c.
 *
 *   grid    lines, of about CHUNK elements a tile
 */
#include "passes/lower/serial/sort.h"

#include "passes/lower/serial/heap.h"
#include "passes/lower/serial/serial.h"
#include "passes/lower/walk.h"

#include <assert.h>
#include <string.h>

enum { CHUNK = 4096, SORT_NS = 30, FEW = 16 };

typedef struct sort {
    ig_lower *lower;
    const ig_lower_operand *x, *values, *positions;
    uint32_t axis, lanes;
    bool is_descending;
    ig_value *extent, *kept, *levels;
    int64_t lines; /* of a tile */
    uint32_t few;  /* how many are kept; 0: in a heap */
    /* Of the line at hand. */
    ig_value *start; /* element of x */
    ig_heap heap;
} sort;

static ig_value *load_lanes(const sort *s, ig_builder *b, ig_value *at, uint32_t lanes,
                            ig_value *left) {
    ig_value *stride = ig_lower_dim(s->lower, s->x->strides[s->axis]);
    ig_value *position = k_add(b, s->start, k_mul(b, at, stride));
    return k_load_count(b, s->x->buffer, position, lanes, left);
}

/* Element `at`. */
static ig_value *load_element(const sort *s, ig_builder *b, ig_value *at) {
    return load_lanes(s, b, at, 1, NULL);
}

/* The key of element `at`: greater ones come after. */
static ig_value *load_key(const sort *s, ig_builder *b, ig_value *at) {
    ig_value *value = ig_heap_value(b, load_element(s, b, at));
    value = s->is_descending ? k_unary(b, IG_OP_not, value) : value;
    return ig_heap_key(b, value, at);
}

/* As what elements are compared. */
static ig_value *widen_lanes(const sort *s, ig_builder *b, ig_value *x) {
    return k_cast(b, x, ig_lower_wide((ig_dtype)s->x->type->dtype));
}

/* The element whose key is the root; 0 where nothing is kept. */
static ig_value *load_bound(const sort *s, ig_builder *b, ig_value *root) {
    ig_value *at = ig_heap_number(b, root);
    return widen_lanes(s, b, load_lanes(s, b, at, 1, s->kept));
}

/* ---- the kept elements ---- */

/* The values that the loops carry: the bound, which is the last element that is kept,
 * and FEW keys or none. */
typedef struct state {
    ig_value *values[1 + FEW];
    uint32_t count;
} state;

enum { BOUND, KEYS };

void ig_sort_put_key(ig_builder *b, ig_value *key, ig_value **keys, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ig_value *kept = keys[i];
        keys[i] = k_min(b, kept, key);
        key = k_max(b, kept, key);
    }
}

static ig_value *last_key(const sort *s, ig_builder *b, const state *now) {
    return s->few ? now->values[KEYS + s->few - 1]
                  : ig_heap_load(&s->heap, b, k_i64(b, 0));
}

static void start_few(const sort *s, ig_builder *b, state *now) {
    state next = { .count = s->few };
    for (uint32_t i = 0; i < s->few; i++) {
        next.values[i] = k_i64(b, INT64_MAX);
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), s->kept, k_i64(b, 1), next.values,
                              next.count);
    memcpy(now->values + KEYS, loop.carried, s->few * sizeof *loop.carried);
    ig_sort_put_key(&loop.b, load_key(s, &loop.b, loop.index), now->values + KEYS,
                    s->few);
    k_loop_close(&loop, now->values + KEYS, s->few);
    memcpy(now->values + KEYS, loop.results, s->few * sizeof *loop.results);
    now->values[BOUND] = load_bound(s, b, last_key(s, b, now));
}

static void start_heap(const sort *s, ig_builder *b, state *now) {
    k_loop loop = k_loop_open(b, k_i64(b, 0), s->kept, k_i64(b, 1), NULL, 0);
    ig_value *key = load_key(s, &loop.b, loop.index);
    ig_heap_store(&s->heap, &loop.b, key, loop.index);
    k_loop_close(&loop, NULL, 0);
    ig_heap_build(&s->heap, b, s->kept);
    ig_value *root = k_load_count(b, s->heap.buffer, s->heap.root, 1, s->kept);
    now->values[BOUND] = load_bound(s, b, root);
}

/* Element `at` replaces the last kept one, if it comes before it. */
static void take_element(const sort *s, ig_builder *b, ig_value *at, state *now) {
    ig_value *key = load_key(s, b, at), *last = last_key(s, b, now);
    if (s->few) {
        ig_sort_put_key(b, key, now->values + KEYS, s->few);
    } else {
        ig_heap_sink(&s->heap, b, k_i64(b, 0), s->kept, k_min(b, key, last));
    }
    now->values[BOUND] = load_bound(s, b, last_key(s, b, now));
}

/* ---- the others ---- */

/* May x come before the bound? Where NaN is involved, keys decide. */
static ig_value *may_precede(const sort *s, ig_builder *b, ig_value *x,
                             ig_value *bound) {
    ig_opcode after = s->is_descending ? IG_OP_le : IG_OP_ge;
    bound = k_splat(b, bound, x->type->lanes);
    return k_unary(b, IG_OP_not, k_compare(b, after, x, bound));
}

typedef void (*step_fn)(const sort *s, ig_builder *b, ig_value *at, state *now);

/* now = step(now) where `is_wanted`. */
static void step_if(const sort *s, ig_builder *b, ig_value *is_wanted, step_fn step,
                    ig_value *at, state *now) {
    const ig_type *types[1 + FEW];
    state next = *now;
    for (uint32_t i = 0; i < now->count; i++) {
        types[i] = now->values[i]->type;
    }
    k_if branch = k_if_open(b, is_wanted, types, now->count);
    step(s, &branch.then, at, &next);
    k_if_close(&branch, next.values, now->values);
    memcpy(now->values, branch.results, now->count * sizeof *now->values);
}

/* now = step(now) from one place to another. */
static void step_each(const sort *s, ig_builder *b, ig_value *const range[2],
                      uint32_t stride, step_fn step, state *now) {
    k_loop loop = k_loop_open(b, range[0], range[1], k_i64(b, stride), now->values,
                              now->count);
    memcpy(now->values, loop.carried, now->count * sizeof *now->values);
    step(s, &loop.b, loop.index, now);
    k_loop_close(&loop, now->values, now->count);
    memcpy(now->values, loop.results, now->count * sizeof *now->values);
}

static void try_element(const sort *s, ig_builder *b, ig_value *at, state *now) {
    ig_value *x = widen_lanes(s, b, load_element(s, b, at));
    ig_value *may = may_precede(s, b, x, now->values[BOUND]);
    step_if(s, b, may, take_element, at, now);
}

static void try_elements(const sort *s, ig_builder *b, ig_value *at, state *now) {
    ig_value *range[] = { at, k_add(b, at, k_i64(b, s->lanes)) };
    range[1] = k_min(b, range[1], s->extent);
    step_each(s, b, range, 1, try_element, now);
}

static void try_vector(const sort *s, ig_builder *b, ig_value *at, state *now) {
    ig_value *left = k_sub(b, s->extent, at);
    ig_value *x = widen_lanes(s, b, load_lanes(s, b, at, s->lanes, left));
    ig_value *may = may_precede(s, b, x, now->values[BOUND]);
    step_if(s, b, k_any(b, may), try_elements, at, now);
}

/* None, where none are kept. */
static void scan_rest(const sort *s, ig_builder *b, state *now) {
    ig_value *has_some = k_compare(b, IG_OP_gt, s->kept, k_i64(b, 0));
    ig_value *range[] = { s->kept, k_where(b, has_some, s->extent, k_i64(b, 0)) };
    step_each(s, b, range, s->lanes, s->lanes > 1 ? try_vector : try_element, now);
}

/* ---- in order ---- */

static void empty_heap(const sort *s, ig_builder *b) {
    ig_value *one = k_i64(b, 1), *zero = k_i64(b, 0);
    k_loop loop = k_loop_open(b, one, s->kept, one, NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *size = k_sub(in, s->kept, loop.index);
    ig_value *last = ig_heap_load(&s->heap, in, size);
    ig_heap_store(&s->heap, in, ig_heap_load(&s->heap, in, zero), size);
    ig_heap_sink(&s->heap, in, zero, size, last);
    k_loop_close(&loop, NULL, 0);
}

/* Position number `number` of the line, and the value there; `to`: the line's first
 * value. */
static void write_element(const sort *s, ig_builder *b, ig_value *key, ig_value *number,
                          ig_value *to) {
    ig_value *stride = ig_lower_dim(s->lower, s->values->strides[s->axis]);
    ig_value *at = ig_heap_number(b, key);
    ig_heap_store(&s->heap, b, at, number);
    k_store(b, load_element(s, b, at), s->values->buffer,
            k_add(b, to, k_mul(b, number, stride)));
}

static void write_heap(const sort *s, ig_builder *b, ig_value *to) {
    empty_heap(s, b);
    k_loop loop = k_loop_open(b, k_i64(b, 0), s->kept, k_i64(b, 1), NULL, 0);
    ig_value *key = ig_heap_load(&s->heap, &loop.b, loop.index);
    write_element(s, &loop.b, key, loop.index, to);
    k_loop_close(&loop, NULL, 0);
}

static void write_few(const sort *s, ig_builder *b, const state *now, ig_value *to) {
    for (uint32_t i = 0; i < s->few; i++) {
        write_element(s, b, now->values[KEYS + i], k_i64(b, i), to);
    }
}

static void emit_line(const sort *all, ig_builder *b, ig_value *line) {
    sort s = *all;
    ig_value *index[IG_TENSOR_RANK];
    ig_lower_split(s.lower, b, s.x->type, s.axis, line, index);
    index[s.axis] = k_i64(b, 0);
    s.start = ig_lower_at(s.lower, b, s.x, index);
    s.heap = (ig_heap){ .buffer = s.positions->buffer,
                        .root = ig_lower_at(s.lower, b, s.positions, index),
                        .step = ig_lower_dim(s.lower, s.positions->strides[s.axis]),
                        .levels = s.levels };
    state now = { .count = 1 + s.few };
    if (s.few) {
        start_few(&s, b, &now);
    } else {
        start_heap(&s, b, &now);
    }
    scan_rest(&s, b, &now);
    ig_value *to = ig_lower_at(s.lower, b, s.values, index);
    if (s.few) {
        write_few(&s, b, &now, to);
    } else {
        write_heap(&s, b, to);
    }
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const sort *s = user;
    ig_dim lines = ig_lower_lines(s->lower, s->x->type, s->axis);
    k_loop loop = ig_lower_open_lines(b, tile, ig_lower_dim(s->lower, lines), s->lines);
    emit_line(s, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}

static void read_op(sort *s) {
    ig_op *sorts = ig_lower_anchor(s->lower, IG_OP_sort);
    ig_op *op = sorts ? sorts : ig_lower_anchor(s->lower, IG_OP_topk);
    assert(op && "the family's body has its anchor");
    int64_t axis = ig_attr_int(op, sorts ? IG_sort_axis : IG_topk_axis, 0);
    s->x = ig_lower_input(s->lower, op, 0);
    s->axis = (uint32_t)(axis < 0 ? axis + s->x->type->rank : axis);
    s->is_descending = sorts ? ig_attr_int(op, IG_sort_descending, 0) != 0
                             : ig_attr_int(op, IG_topk_smallest, 0) == 0;
}

/* The cost of the work, in ns: reading all, and for each that is kept a way down. */
static ig_dim estimate_cost(const sort *s) {
    ig_module *module = s->lower->module;
    ig_dim kept = ig_type_count(module, s->values->type);
    kept = ig_lower_mul(s->lower, kept, ig_dim_of(SORT_NS));
    return ig_dim_add(module, ig_type_count(module, s->x->type), kept);
}

/* An extent that is known, or `otherwise`. */
static int64_t known_or(const sort *s, ig_dim extent, int64_t otherwise) {
    int64_t known;
    return ig_dim_constant(s->lower->module, extent, &known) ? known : otherwise;
}

ig_status ig_lower_serial_sort(ig_lower *lower) {
    sort s = { .lower = lower,
               .values = &lower->outs[0],
               .positions = &lower->outs[1] };
    read_op(&s);
    ig_dim along = s.x->type->dims[s.axis], few = s.values->type->dims[s.axis];
    int64_t extent = known_or(&s, along, CHUNK), kept = known_or(&s, few, 0);
    ig_dtype wide = ig_lower_wide((ig_dtype)s.x->type->dtype);
    bool is_side_by_side = ig_dim_is(s.x->strides[s.axis], 1);
    s.lanes = is_side_by_side ? ig_lower_lanes(lower, wide) : 1;
    s.extent = ig_lower_dim(lower, along);
    s.kept = ig_lower_dim(lower, few);
    s.few = kept <= FEW ? (uint32_t)kept : 0;
    if (ig_sort_is_across(lower, s.x, s.axis, s.few)) {
        return ig_sort_lower_across(lower, s.x, s.axis, s.few, s.is_descending);
    }
    s.levels = s.few ? NULL : ig_heap_levels(&lower->b, s.kept);
    s.lines = extent > 0 && extent < CHUNK ? ig_lower_tile(lower, CHUNK) / extent : 1;
    s.lines = s.lines < 1 ? 1 : s.lines;
    lower->name = "sort";
    lower->grid = ig_lower_ceil_div(lower, ig_lower_lines(lower, s.x->type, s.axis),
                                    s.lines);
    lower->cost = estimate_cost(&s);
    ig_lower_each_tile(lower, emit_tile, &s);
    return IG_OK;
}
