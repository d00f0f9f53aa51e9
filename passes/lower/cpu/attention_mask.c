/* Keys that a mask leaves out, of attention on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   softmax(where(mask, scores, -inf))         weights of 0 where the mask is false
 *   silu(scores) * mask, where(mask, w, 0)     where it is 0
 *
 * Keys at both ends of a block that the mask leaves out for all rows of a tile are not
 * multiplied: those after the rows in causal attention, those outside of a window,
 * those that fill up a batch.  Their values are not read, so that a NaN of theirs gives
 * none.
 */
#include "ir/semantics/constant.h"
#include "passes/lower/cpu/attention.h"

#include <math.h>
#include <string.h>

/* ---- finding it ---- */

/* The value that one operand of a product or quotient leaves as it is where it is 0:
 * the other one is a number.  NULL: there is none. */
static const ig_value *scaled_value(const ig_op *op) {
    double number;
    for (uint32_t i = 0; i < 2; i++) {
        bool is_factor = op->code == IG_OP_mul || (op->code == IG_OP_div && i == 1);
        if (is_factor && ig_constant_f64(ig_op_operand(op, i), &number) &&
            isfinite(number) && number != 0) {
            return ig_op_operand(op, 1 - i);
        }
    }
    return NULL;
}

static bool take_choice(attention *a, const ig_op *choice) {
    double number, left_out = a->softmax ? -(double)INFINITY : 0;
    const ig_lower_operand *mask = ig_lower_input(a->lower, choice, 0);
    for (uint32_t i = 1; mask && i <= 2; i++) {
        if (ig_constant_f64(ig_op_operand(choice, i), &number) && number == left_out) {
            a->mask = (attention_mask){ mask, i == 1 };
            return true;
        }
    }
    return false;
}

static bool take_factor(attention *a, const ig_op *product) {
    for (uint32_t i = 0; i < 2; i++) {
        const ig_lower_operand *mask = ig_lower_input(a->lower, product, i);
        if (mask) {
            a->mask = (attention_mask){ mask, false };
            return true;
        }
    }
    return false;
}

void attention_find_mask(attention *a) {
    const ig_value *x = a->mapped;
    while (x && x->def) {
        const ig_op *op = x->def;
        if (op->code == IG_OP_where) {
            (void)take_choice(a, op);
            return;
        }
        if (a->softmax || (op->code == IG_OP_mul && take_factor(a, op))) {
            return;
        }
        x = op->code == IG_OP_mul || op->code == IG_OP_div ? scaled_value(op) : NULL;
    }
}

/* ---- looking at it ---- */

/* Are there lanes of a row and `lanes` keys, from this one on, that have a weight? */
static ig_value *has_weight(const attention *a, ig_builder *b, ig_value **index,
                            ig_value *end) {
    ig_value *left = a->is_ragged ? k_sub(b, end, index[a->rank - 1]) : NULL;
    ig_site site = { .b = b,
                     .lanes = a->lanes,
                     .rank = a->rank,
                     .dims = a->scores.type->dims,
                     .index = index,
                     .count = left };
    ig_value *x = ig_lower_load(a->lower, &site, a->mask.operand);
    if (x->type->dtype != IG_DT_bool) {
        ig_dtype dtype = (ig_dtype)x->type->dtype;
        x = k_compare(b, IG_OP_ne, x, k_const_vector(b, dtype, a->lanes, 0));
    }
    return a->mask.is_inverted ? k_unary(b, IG_OP_not, x) : x;
}

/* The same of rows rows[0] … rows[1] and the keys of a micro-panel. */
static ig_value *has_weights(const attention *a, ig_builder *b, const attention_tile *t,
                             ig_value *const rows[2], const attention_keys *panel) {
    ig_value *none = k_const_vector(b, IG_DT_bool, a->lanes, 0);
    int64_t width = dot_panel_width(a->lanes);
    k_loop loop = k_loop_open(b, rows[0], rows[1], k_i64(b, 1), &none, 1);
    ig_builder *in = &loop.b;
    ig_value *some = loop.carried[0], *index[IG_TENSOR_RANK];
    memcpy(index, t->index, a->rank * sizeof *index);
    index[a->rank - 2] = loop.index;
    for (int64_t skipped = 0; skipped < width; skipped += a->lanes) {
        index[a->rank - 1] = k_add(in, panel->first, k_i64(in, skipped));
        if (a->is_ragged && skipped > 0) { /* no vector begins after the last key */
            ig_value *last = k_sub(in, panel->end, k_i64(in, 1));
            index[a->rank - 1] = k_min(in, index[a->rank - 1], last);
        }
        some = k_binary(in, IG_OP_or, some, has_weight(a, in, index, panel->end));
    }
    k_loop_close(&loop, &some, 1);
    return k_any(b, loop.results[0]);
}

/* Of all rows; where the last one has some it is the only one that is looked at. */
static ig_value *is_wanted(const attention *a, ig_builder *b, const attention_tile *t,
                           const attention_keys *panel) {
    ig_value *last = k_sub(b, t->rows[1], k_i64(b, 1));
    ig_value *one[] = { last, t->rows[1] }, *others[] = { t->rows[0], last };
    ig_value *some = has_weights(a, b, t, one, panel), *any = NULL;
    k_if known = k_if_open(b, some, &some->type, 1);
    any = has_weights(a, &known.other, t, others, panel);
    k_if_close(&known, &some, &any);
    return known.results[0];
}

attention_keys attention_trim(const attention *a, ig_builder *b,
                              const attention_tile *t, attention_keys keys) {
    ig_value *width = k_i64(b, dot_panel_width(a->lanes));
    if (!a->mask.operand) {
        return keys;
    }
    ig_value *state[] = { keys.end, keys.first };
    k_loop panels = k_loop_open(b, keys.first, keys.end, width, state, 2);
    ig_builder *in = &panels.b;
    ig_value *some = is_wanted(a, in, t, &(attention_keys){ panels.index, keys.end });
    ig_value *first = k_min(in, panels.carried[0], panels.index);
    ig_value *end = k_min(in, keys.end, k_add(in, panels.index, width));
    state[0] = k_where(in, some, first, panels.carried[0]);
    state[1] = k_where(in, some, end, panels.carried[1]);
    k_loop_close(&panels, state, 2);
    return (attention_keys){ panels.results[0], panels.results[1] };
}
