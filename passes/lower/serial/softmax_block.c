/* Softmax of short lines that lie together in a contiguous block.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   x[outer, axis, inner], inner shorter than two vectors, or 1
 *
 * A block, x[o], is walked by whole vectors, whatever lines their lanes are of: element
 * e is of line e % period, where period is the extent of `inner`.  After `phases`
 * vectors lanes are of the same lines again, so each of these phases has its own maxima
 * and sums.  These are then halved by shuffles until the first `period` elements are
 * the lines' own, which are spread to all phases again:
 *
 *   period 5, 16 lanes: 5 phases of 80 elements, halved to 40, 20, 10, 5
 *
 * A block of few vectors stays in registers; of a longer one e is left at its
 * destination, as in softmax.c.
 */
#include "passes/lower/serial/softmax.h"

#include "passes/lower/math/math.h"

#include "base/checked.h"

#include <assert.h>
#include <math.h>

enum { PHASES = 16, HELD = 8, FEWEST_LANES = 4, SHUFFLED = 64 };

typedef ig_value *(*join_fn)(ig_builder *b, ig_value *x, ig_value *y);

/* Maxima or sums of all phases, NULL where a block has no such vector; `none` changes
 * none of them. */
typedef struct phased {
    ig_value *of[PHASES];
    ig_value *none;
    join_fn join;
} phased;

/* Vector `phase` of a round: elements at … */
typedef struct step {
    ig_value *at;
    ig_value *count; /* lanes that exist; NULL: all */
    uint32_t phase;
} step;

typedef struct walk {
    const ig_softmax_line *l;
    const phased *maxima, *sums; /* NULL: not known yet */
    phased totals;               /* of this walk */
} walk;

/* ---- from phases to lines and back ---- */

/* Elements from … from + lanes of a period of phases; NULL: none of them is there. */
static ig_value *elements_from(const ig_softmax *s, ig_builder *b, const phased *p,
                               int64_t from) {
    int64_t chosen[SHUFFLED], lanes = s->lanes, first = from / lanes;
    ig_value *x = first < s->phases ? p->of[first] : NULL;
    ig_value *y = first + 1 < s->phases ? p->of[first + 1] : NULL;
    if (!x || from % lanes == 0) {
        return x;
    }
    assert(lanes <= SHUFFLED && "as many as bytes in a vector");
    for (int64_t i = 0; i < lanes; i++) {
        chosen[i] = from % lanes + i;
    }
    return k_shuffle(b, x, y ? y : p->none, chosen, s->lanes);
}

/* Elements 0 … period become those of the lines; the others have no meaning then. */
static void halve_phases(const ig_softmax *s, ig_builder *b, phased *p) {
    for (int64_t half = s->phases * s->lanes / 2; half >= s->period; half /= 2) {
        for (int64_t at = 0; at < half; at += s->lanes) {
            ig_value *other = elements_from(s, b, p, at + half);
            ig_value **own = &p->of[at / s->lanes];
            *own = other ? p->join(b, *own, other) : *own;
        }
    }
}

/* The same of one phase, whose every lane becomes that of its line. */
static void join_lanes(const ig_softmax *s, ig_builder *b, phased *p) {
    int64_t swapped[SHUFFLED];
    ig_value *x = p->of[0];
    for (int64_t half = s->lanes / 2; half >= s->period; half /= 2) {
        for (int64_t i = 0; i < s->lanes; i++) {
            swapped[i] = i ^ half;
        }
        x = p->join(b, x, k_shuffle(b, x, x, swapped, s->lanes));
    }
    p->of[0] = x;
}

/* The lines' elements to the lanes of all phases. */
static void spread_lines(const ig_softmax *s, ig_builder *b, phased *p) {
    int64_t chosen[SHUFFLED];
    ig_value *x = p->of[0], *y = s->period > s->lanes ? p->of[1] : x;
    for (uint32_t phase = 0; phase < s->phases; phase++) {
        for (uint32_t i = 0; i < s->lanes; i++) {
            chosen[i] = (phase * s->lanes + i) % s->period;
        }
        p->of[phase] = k_shuffle(b, x, y, chosen, s->lanes);
    }
}

typedef ig_value *(*finish_fn)(const ig_softmax *s, ig_builder *b, ig_value *x);

/* The totals of a walk, for each phase. */
static phased finish_walk(const ig_softmax *s, ig_builder *b, const phased *totals,
                          finish_fn finish) {
    phased p = *totals;
    if (s->phases == 1) {
        join_lanes(s, b, &p);
        p.of[0] = finish(s, b, p.of[0]);
        return p;
    }
    halve_phases(s, b, &p);
    for (int64_t v = 0; v * s->lanes < s->period; v++) {
        p.of[v] = p.of[v] ? finish(s, b, p.of[v]) : p.none;
    }
    spread_lines(s, b, &p);
    return p;
}

static ig_value *finish_sum(const ig_softmax *s, ig_builder *b, ig_value *sum) {
    sum = ig_softmax_finish_sum(s, b, sum);
    return s->is_log ? ig_lower_math(b, IG_OP_log, sum) : sum;
}

/* ---- steps ---- */

static phased no_totals(const ig_softmax *s, ig_builder *b, double none, join_fn join) {
    phased p = { .none = k_const_vector(b, s->wide, s->lanes, none), .join = join };
    return p;
}

static ig_value *load_x(const ig_softmax_line *l, ig_builder *b, const step *at) {
    const ig_softmax *s = l->s;
    ig_value *x = k_load_count(b, s->x->buffer, k_add(b, l->x_at, at->at), s->lanes,
                               at->count);
    return k_cast(b, x, s->wide);
}

static void store_value(const ig_softmax_line *l, ig_builder *b, const step *at,
                        ig_value *value) {
    const ig_softmax *s = l->s;
    value = k_cast(b, value, (ig_dtype)s->out->type->dtype);
    k_store_count(b, value, s->out->buffer, k_add(b, l->out_at, at->at), at->count);
}

static void add_total(phased *p, ig_builder *b, uint32_t phase, ig_value *x) {
    ig_value **total = &p->of[phase];
    *total = p->join(b, x, *total ? *total : p->none);
}

static ig_value *shifted_exp(const walk *w, ig_builder *b, const step *at,
                             ig_value *x) {
    return ig_math_decay(b, k_sub(b, x, w->maxima->of[at->phase]));
}

static ig_value *result_of(const walk *w, ig_builder *b, const step *at, ig_value *x,
                           ig_value *e) {
    ig_value *sum = w->sums->of[at->phase];
    return w->l->s->is_log ? k_sub(b, k_sub(b, x, w->maxima->of[at->phase]), sum)
                           : k_binary(b, IG_OP_div, e, sum);
}

/* ---- blocks in registers ---- */

static void emit_held(const ig_softmax_line *l, ig_builder *b) {
    const ig_softmax *s = l->s;
    ig_value *x[HELD], *e[HELD];
    int64_t elements = 0;
    step at[HELD];
    walk w = { .l = l };
    phased max = no_totals(s, b, -(double)INFINITY, ig_softmax_larger);
    phased sum = no_totals(s, b, 0.0, k_add);
    bool is_known = ig_dim_constant(s->lower->module, s->elements, &elements);
    assert(is_known && s->vectors <= HELD && "ig_softmax_choose_block");
    (void)is_known;
    for (uint32_t v = 0; v < s->vectors; v++) {
        int64_t from = (int64_t)v * s->lanes, left = elements - from;
        at[v] = (step){ k_i64(b, from), left < s->lanes ? k_i64(b, left) : NULL,
                        v % s->phases };
        x[v] = load_x(l, b, &at[v]);
        ig_value *there = ig_softmax_mask(s, b, x[v], at[v].count, -(double)INFINITY);
        add_total(&max, b, at[v].phase, there);
    }
    max = finish_walk(s, b, &max, ig_softmax_finish_max);
    w.maxima = &max;
    for (uint32_t v = 0; v < s->vectors; v++) {
        e[v] = shifted_exp(&w, b, &at[v], x[v]);
        add_total(&sum, b, at[v].phase, ig_softmax_mask(s, b, e[v], at[v].count, 0.0));
    }
    sum = finish_walk(s, b, &sum, finish_sum);
    w.sums = &sum;
    for (uint32_t v = 0; v < s->vectors; v++) {
        store_value(l, b, &at[v], result_of(&w, b, &at[v], x[v], e[v]));
    }
}

/* ---- long blocks ---- */

typedef void (*step_fn)(walk *w, ig_builder *b, const step *at);

static void step_max(walk *w, ig_builder *b, const step *at) {
    ig_value *x = load_x(w->l, b, at);
    x = ig_softmax_mask(w->l->s, b, x, at->count, -(double)INFINITY);
    add_total(&w->totals, b, at->phase, x);
}

static void step_sum(walk *w, ig_builder *b, const step *at) {
    ig_value *e = shifted_exp(w, b, at, load_x(w->l, b, at));
    if (w->l->s->keeps_exp) {
        store_value(w->l, b, at, e);
    }
    add_total(&w->totals, b, at->phase, ig_softmax_mask(w->l->s, b, e, at->count, 0.0));
}

static void step_write(walk *w, ig_builder *b, const step *at) {
    const ig_softmax *s = w->l->s;
    ig_value *x = NULL, *e = NULL;
    if (s->keeps_exp) {
        ig_value *from = k_add(b, w->l->out_at, at->at);
        e = k_load_count(b, s->out->buffer, from, s->lanes, at->count);
    } else {
        x = load_x(w->l, b, at);
        e = s->is_log ? NULL : shifted_exp(w, b, at, x);
    }
    store_value(w->l, b, at, result_of(w, b, at, x, e));
}

/* Rounds of all phases, then the rest of one. */
static void walk_block(walk *w, ig_builder *b, step_fn take) {
    const ig_softmax *s = w->l->s;
    int64_t lanes = s->lanes;
    phased *totals = &w->totals;
    ig_value *by = k_i64(b, lanes * s->phases);
    ig_value *all = ig_lower_dim(s->lower, s->elements);
    ig_value *whole = k_mul(b, k_div(b, all, by), by);
    uint32_t carried = totals->none ? s->phases : 0;
    for (uint32_t v = 0; v < carried; v++) {
        totals->of[v] = totals->none;
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), whole, by, totals->of, carried);
    for (uint32_t v = 0; v < s->phases; v++) {
        totals->of[v] = carried ? loop.carried[v] : NULL;
        step at = { k_add(&loop.b, loop.index, k_i64(&loop.b, v * lanes)), NULL, v };
        take(w, &loop.b, &at);
    }
    k_loop_close(&loop, totals->of, carried);
    for (uint32_t v = 0; v < s->phases; v++) {
        totals->of[v] = carried ? loop.results[v] : NULL;
        step at = { k_add(b, whole, k_i64(b, v * lanes)), NULL, v };
        at.count = k_max(b, k_sub(b, all, at.at), k_i64(b, 0));
        at.count = k_min(b, at.count, k_i64(b, lanes));
        take(w, b, &at);
    }
}

void ig_softmax_emit_block(const ig_softmax_line *l, ig_builder *b) {
    const ig_softmax *s = l->s;
    if (s->vectors) {
        emit_held(l, b);
        return;
    }
    walk w = { .l = l };
    w.totals = no_totals(s, b, -(double)INFINITY, ig_softmax_larger);
    walk_block(&w, b, step_max);
    phased max = finish_walk(s, b, &w.totals, ig_softmax_finish_max);
    w.maxima = &max;
    w.totals = no_totals(s, b, 0.0, k_add);
    walk_block(&w, b, step_sum);
    phased sum = finish_walk(s, b, &w.totals, finish_sum);
    w.sums = &sum;
    w.totals = (phased){ .none = NULL };
    walk_block(&w, b, step_write);
}

/* ---- the choice ---- */

/* The distance between elements of a line, where x and out are contiguous from the axis
 * on; 0: they are not. */
static int64_t contiguous_period(const ig_softmax *s) {
    int64_t period = 1, extent;
    for (uint32_t d = s->x->type->rank; d-- > s->axis;) {
        ig_dim dim = s->x->type->dims[d];
        bool is_axis = d == s->axis, is_one = ig_dim_is(dim, 1);
        if (!is_one && (!ig_dim_is(s->x->strides[d], period) ||
                        !ig_dim_is(s->out->strides[d], period))) {
            return 0;
        }
        if (is_axis ? is_one
                    : !ig_dim_constant(s->lower->module, dim, &extent) ||
                          !ig_mul_i64(period, extent, &period)) {
            return 0;
        }
    }
    return period;
}

/* Vectors until lanes are of the same lines again. */
static uint32_t count_phases(uint32_t lanes, int64_t period) {
    while (lanes > 1 && period % 2 == 0) {
        lanes /= 2;
        period /= 2;
    }
    return (uint32_t)period;
}

/* The vectors of a whole block where they fit in registers beside those of an
 * exponential function, else 0. */
static uint32_t count_held(const ig_softmax *s, int64_t count) {
    int64_t vectors = count > 0 ? (count + s->lanes - 1) / s->lanes : 0;
    int64_t room = s->lower->target->vector_registers / 4;
    return vectors <= HELD && vectors <= room ? (uint32_t)vectors : 0;
}

static bool is_block(const ig_softmax *s, int64_t count) {
    if (s->period == 1) {
        return s->vectors > 0;
    }
    return count != 0 && s->period > 0 && s->period < 2 * s->lanes &&
           s->period % s->lanes != 0 && s->phases <= PHASES;
}

bool ig_softmax_choose_block(ig_softmax *s) {
    ig_lower *lower = s->lower;
    int64_t count = -1; /* not known */
    if (lower->target->has_threads) {
        return false;
    }
    s->lanes = ig_lower_lanes(lower, s->wide);
    s->period = contiguous_period(s);
    ig_dim period = ig_dim_of(s->period);
    s->elements = ig_lower_mul(lower, s->x->type->dims[s->axis], period);
    (void)!ig_dim_constant(lower->module, s->elements, &count);
    while (count >= 0 && s->lanes > FEWEST_LANES && s->lanes / 2 >= count) {
        s->lanes /= 2;
    }
    s->phases = count_phases(s->lanes, s->period);
    s->vectors = count_held(s, count);
    if (!is_block(s, count)) {
        s->period = 0;
        return false;
    }
    while (s->kept_count > 0 && s->kept[s->kept_count - 1] > s->axis) {
        s->kept_count--;
    }
    return true;
}
