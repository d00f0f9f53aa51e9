/* Embedding bags on CPUs: which bags a call does.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tiles are a measure of work, not certain bags: tiles begin … end of a grid of G are
 * that part of every class's work.  The work of a class is a line, feature after
 * feature, and a bag on it is as long as its ids are many, and some more:
 *
 *      feature 0          feature 1                      2
 *      |a-|b----|c|d--|   |e------------------|f----|   |g|h-|      weights
 *      0 ─────────────── total begin / G ──────── total end / G ── total
 *
 * A bag belongs to the call in whose part it begins.  So threads that get as many tiles
 * get as many rows, however ids are spread over features and bags, and each bag is
 * still summed by one thread, in one order.  Offsets that do not rise, which the
 * look-up reports, move the border between two threads, for both alike: a search for a
 * later place on the line never ends before that for an earlier one.
 *
 * The result for each feature is kept in a local array, the plan, for the two
 * cursors that walk the look-ups.
 */
#include "passes/lower/bag/bag.h"

enum { LOW, HIGH, POSITION, LEFT, FIELDS }; /* bags; place of the first id; ids */
enum { ID_LINES = 3, BAG_WEIGHT = 2, F32_EXPONENT = 23, F32_BIAS = 127 };

static ig_value *field_of(ig_builder *b, ig_value *number, int64_t field) {
    return k_add(b, k_mul(b, number, k_i64(b, FIELDS)), k_i64(b, field));
}

static ig_value *load_field(const bag_class *c, ig_builder *b, ig_value *number,
                            int64_t field) {
    return k_load(b, c->plan, field_of(b, number, field), 1);
}

static bool has_offsets(const bag_class *c) {
    return c->features[0].begins && c->features[0].pool != IG_POOL_none;
}

static ig_value *clamp_to(ig_builder *b, ig_value *x, ig_value *high) {
    return k_max(b, k_min(b, x, high), k_i64(b, 0));
}

/* ---- weights ---- */

/* The ids of bags low … high: where they begin, and how many. */
static void find_ids(const bag_class *c, ig_builder *b, const bag_cursor *at,
                     ig_value *const bags[2], ig_value *out[2]) {
    ig_value *zero = k_i64(b, 0), *count = k_max(b, k_sub(b, bags[1], bags[0]), zero);
    if (!has_offsets(c)) {
        ig_value *length = at->begins ? k_i64(b, 1) : at->length;
        out[0] = k_mul(b, bags[0], at->begins ? at->id_stride : at->bag_stride);
        out[1] = k_mul(b, count, length);
        return;
    }
    const ig_type *types[] = { zero->type, zero->type };
    k_if is_some = k_if_open(b, k_compare(b, IG_OP_gt, count, zero), types, 2);
    ig_builder *then = &is_some.then;
    ig_value *last = k_sub(then, bags[1], k_i64(then, 1)), *ends[2];
    bag_load_offsets(c, then, at, bags[0], last, ends);
    ends[0] = clamp_to(then, ends[0], at->id_count);
    ends[1] = k_max(then, clamp_to(then, ends[1], at->id_count), ends[0]);
    ig_value *found[] = { k_mul(then, ends[0], at->id_stride),
                          k_sub(then, ends[1], ends[0]) };
    k_if_close(&is_some, found, (ig_value *[]){ zero, zero });
    out[0] = is_some.results[0];
    out[1] = is_some.results[1];
}

static ig_value *weight_of(const bag_class *c, ig_builder *b, const bag_cursor *at) {
    ig_value *ids[2];
    find_ids(c, b, at, (ig_value *[]){ k_i64(b, 0), at->bags }, ids);
    return k_add(b, ids[1], k_mul(b, at->bags, k_i64(b, BAG_WEIGHT)));
}

static ig_value *total_weight(const bag_class *c, ig_builder *b) {
    ig_value *zero = k_i64(b, 0), *count = k_i64(b, c->count);
    bag_cursor at = { 0 };
    if (c->count == 1) {
        bag_open_feature(c, b, zero, &at);
        return weight_of(c, b, &at);
    }
    k_loop loop = k_loop_open(b, zero, count, k_i64(b, 1), &zero, 1);
    bag_open_feature(c, &loop.b, loop.index, &at);
    ig_value *weight = weight_of(c, &loop.b, &at);
    k_loop_close(&loop, (ig_value *[]){ k_add(&loop.b, loop.carried[0], weight) }, 1);
    return loop.results[0];
}

/* total * tile / grid, rounded down, without a product that is too large. */
static ig_value *part_of(ig_builder *b, ig_value *total, ig_value *tile,
                         ig_value *grid) {
    ig_value *whole = k_mul(b, k_div(b, total, grid), tile);
    ig_value *rest = k_mul(b, k_mod(b, total, grid), tile);
    return k_add(b, whole, k_div(b, rest, grid));
}

/* ---- the bag at a place of the line ---- */

/* Bags before `bag` weigh so much. */
static ig_value *weight_before(ig_builder *b, const bag_cursor *at, ig_value *bag) {
    ig_value *ids =
        k_sub(b, bag_load_offset(b, at->begins, bag, at->begin_stride),
              bag_load_offset(b, at->begins, k_i64(b, 0), at->begin_stride));
    return k_add(b, ids, k_mul(b, bag, k_i64(b, BAG_WEIGHT)));
}

/* Steps that a search among `count` > 0 takes: the bits of the number. */
static ig_value *search_steps(ig_builder *b, ig_value *count) {
    ig_value *bits = k_reinterpret(b, k_cast(b, count, IG_DT_f32), IG_DT_i32);
    ig_value *shift = k_cast(b, k_i64(b, F32_EXPONENT), IG_DT_i32);
    ig_value *exponent = k_cast(b, k_binary(b, IG_OP_shr, bits, shift), IG_DT_i64);
    return k_sub(b, exponent, k_i64(b, F32_BIAS - 1));
}

/* Lower bound: the first bag that starts at or after `place`.  There is at least one
 * bag. */
static ig_value *search_bag(ig_builder *b, const bag_cursor *at, ig_value *position) {
    ig_value *one = k_i64(b, 1), *last = k_sub(b, at->bags, one);
    ig_value *ends[] = { k_i64(b, 0), at->bags };
    k_loop loop = k_loop_open(b, k_i64(b, 0), search_steps(b, at->bags), one, ends, 2);
    ig_builder *in = &loop.b;
    ig_value *low = loop.carried[0], *high = loop.carried[1];
    ig_value *middle = k_div(in, k_add(in, low, high), k_i64(in, 2));
    ig_value *weight = weight_before(in, at, k_min(in, middle, last));
    ig_value *is_open = k_compare(in, IG_OP_lt, low, high);
    ig_value *is_before = k_compare(in, IG_OP_lt, weight, position);
    ig_value *goes_up = k_binary(in, IG_OP_and, is_open, is_before);
    ig_value *next[] = { k_where(in, goes_up, k_add(in, middle, one), low),
                         k_where(in, is_before, high, k_min(in, middle, high)) };
    k_loop_close(&loop, next, 2);
    return loop.results[0];
}

static ig_value *bag_from(const bag_class *c, ig_builder *b, const bag_cursor *at,
                          ig_value *position, ig_value *weight) {
    ig_value *zero = k_i64(b, 0);
    const ig_type *type = zero->type;
    ig_value *is_in = k_binary(b, IG_OP_and, k_compare(b, IG_OP_gt, position, zero),
                               k_compare(b, IG_OP_lt, position, weight));
    k_if found = k_if_open(b, is_in, &type, 1);
    ig_value *bag, *is_after = k_compare(&found.other, IG_OP_ge, position, weight);
    if (has_offsets(c)) {
        bag = search_bag(&found.then, at, position);
    } else {
        ig_builder *then = &found.then;
        ig_value *length = at->begins ? k_i64(then, 1) : at->length;
        ig_value *each = k_add(then, length, k_i64(then, BAG_WEIGHT));
        ig_value *up = k_add(then, position, k_sub(then, each, k_i64(then, 1)));
        bag = k_min(then, k_div(then, up, each), at->bags);
    }
    /* No weight at all: no bags. */
    ig_value *other = k_where(&found.other, is_after, at->bags, zero);
    k_if_close(&found, &bag, &other);
    return found.results[0];
}

/* ---- the plan ---- */

/* The first ids of a table's own list come together with its offsets, not after
 * them. */
static void prefetch_ids(const bag_class *c, ig_builder *b, const bag_cursor *at) {
    int64_t per_line = c->lower->target->line_bytes / 8;
    for (int64_t i = 0; i < ID_LINES && has_offsets(c); i++) {
        k_prefetch(b, at->ids, k_i64(b, i * per_line), 1);
    }
}

typedef struct part {
    ig_value *is_whole;    /* all tiles */
    ig_value *begin, *end; /* on the class's line */
} part;

static part open_part(const bag_class *c, ig_builder *b, ig_value *const range[2]) {
    ig_value *zero = k_i64(b, 0), *grid = ig_lower_dim(c->lower, c->lower->grid);
    part p = { 0 };
    p.is_whole = k_binary(b, IG_OP_and, k_compare(b, IG_OP_le, range[0], zero),
                          k_compare(b, IG_OP_ge, range[1], grid));
    const ig_type *types[] = { zero->type, zero->type };
    k_if whole = k_if_open(b, p.is_whole, types, 2);
    ig_value *total = total_weight(c, &whole.other);
    ig_value *ends[] = { part_of(&whole.other, total, range[0], grid),
                         part_of(&whole.other, total, range[1], grid) };
    k_if_close(&whole, (ig_value *[]){ zero, zero }, ends);
    p.begin = whole.results[0];
    p.end = whole.results[1];
    return p;
}

/* Bags of the feature at `from` on the line; its weight is the result. */
static ig_value *find_bags(const bag_class *c, ig_builder *b, const bag_cursor *at,
                           const part *p, ig_value *from, ig_value *out_bags[2]) {
    ig_value *zero = k_i64(b, 0);
    const ig_type *types[] = { zero->type, zero->type, zero->type };
    k_if whole = k_if_open(b, p->is_whole, types, 3);
    ig_builder *other = &whole.other;
    ig_value *weight = weight_of(c, other, at);
    ig_value *some[] = { bag_from(c, other, at, k_sub(other, p->begin, from), weight),
                         bag_from(c, other, at, k_sub(other, p->end, from), weight),
                         weight };
    k_if_close(&whole, (ig_value *[]){ zero, at->bags, zero }, some);
    out_bags[0] = whole.results[0];
    out_bags[1] = whole.results[1];
    return whole.results[2];
}

/* Of the feature at `from`; the position of the next one. */
static ig_value *plan_feature(const bag_class *c, ig_builder *b, ig_value *number,
                              const part *p, ig_value *from) {
    bag_cursor at = { 0 };
    ig_value *found[FIELDS];
    bag_open_feature(c, b, number, &at);
    prefetch_ids(c, b, &at);
    ig_value *weight = find_bags(c, b, &at, p, from, &found[LOW]);
    find_ids(c, b, &at, &found[LOW], &found[POSITION]);
    for (int64_t i = 0; i < FIELDS; i++) {
        k_store(b, found[i], c->plan, field_of(b, number, i));
    }
    return k_add(b, from, weight);
}

void bag_plan(bag_class *c, ig_builder *b, ig_value *const range[2]) {
    c->plan = k_local(c->lower->kernel, IG_DT_i64, (int64_t)c->count * FIELDS);
    part p = open_part(c, b, range);
    ig_value *zero = k_i64(b, 0), *count = k_i64(b, c->count);
    if (c->count == 1) {
        (void)plan_feature(c, b, zero, &p, zero);
        return;
    }
    k_loop loop = k_loop_open(b, zero, count, k_i64(b, 1), &zero, 1);
    ig_value *next = plan_feature(c, &loop.b, loop.index, &p, loop.carried[0]);
    k_loop_close(&loop, &next, 1);
}

void bag_planned_bags(const bag_class *c, ig_builder *b, ig_value *number,
                      ig_value *out_bags[2]) {
    out_bags[0] = load_field(c, b, number, LOW);
    out_bags[1] = load_field(c, b, number, HIGH);
}

void bag_planned_ids(const bag_class *c, ig_builder *b, ig_value *number,
                     ig_value **out_position, ig_value **out_left) {
    *out_position = load_field(c, b, number, POSITION);
    *out_left = load_field(c, b, number, LEFT);
}
