/* Sums of products of 8-bit integers that fit 16 bits; the op chain_quads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/chains.h"

#include "ir/semantics/walk.h"
#include "ir/hooks.h"
#include "ir/semantics/check.h"

#include <assert.h>
#include <string.h>

enum {
    PAIR = 2,
    SUMS = IG_PANEL * IG_QUAD / PAIR, /* of 16 bits, of a chain */
    MAX = 128                         /* bytes of one sign that go into one of them */
};

/* ---- one chain ---- */

/* Bytes of one sign of sum `s`, those of the quad at `word`; as positive numbers. */
static int32_t bytes_of(const int8_t *word, int s, int sign) {
    int32_t total = 0;
    for (int i = 0; i < PAIR; i++) {
        int32_t x = word[s * PAIR + i] * sign;
        total += x > 0 ? x : 0;
    }
    return total;
}

/* The excess of each sum of a chain, of one sign. */
static void find_excess(const int8_t *chain, int64_t length, int sign,
                        int32_t out_excess[SUMS]) {
    for (int s = 0; s < SUMS; s++) {
        int32_t total = 0;
        for (int64_t k = 0; k < length; k++) {
            total += bytes_of(chain + k * IG_CHAIN_WORD, s, sign);
        }
        out_excess[s] = total > MAX ? total - MAX : 0;
    }
}

/* How much of the excess one extra quad could take off the quad at `word`: no more than
 * fits a sum itself. */
static int32_t share_of(const int8_t *word, int s, int sign, int32_t excess) {
    int32_t here = bytes_of(word, s, sign);
    here = here < MAX ? here : MAX;
    return excess < here ? excess : here;
}

/* Moves `share` of one sign of sum `s` from `word` to `extra`. */
static void move_share(int8_t *word, int8_t *extra, int s, int sign, int32_t share) {
    for (int i = s * PAIR; i < (s + 1) * PAIR && share > 0; i++) {
        int32_t here = word[i] * sign;
        int32_t part = here < share ? here : share;
        if (part > 0) {
            word[i] = (int8_t)(word[i] - part * sign);
            extra[i] = (int8_t)(extra[i] + part * sign);
            share -= part;
        }
    }
}

/* The excess of both signs. */
typedef struct excess {
    int32_t of[2][SUMS];
} excess;

static const int signs[] = { 1, -1 };

static int32_t shares_of(const int8_t *word, const excess *e) {
    int32_t total = 0;
    for (int sign = 0; sign < 2; sign++) {
        for (int s = 0; s < SUMS; s++) {
            int32_t much = e->of[sign][s];
            total += share_of(word, s, signs[sign], much);
        }
    }
    return total;
}

static void move_shares(int8_t *word, int8_t *extra, excess *e) {
    for (int sign = 0; sign < 2; sign++) {
        for (int s = 0; s < SUMS; s++) {
            int32_t share = share_of(word, s, signs[sign], e->of[sign][s]);
            move_share(word, extra, s, signs[sign], share);
            e->of[sign][s] -= share;
        }
    }
}

/* The quad of a chain that one extra quad takes most off; -1: nothing is too much. */
static int64_t find_largest(const int8_t *chain, int64_t length, const excess *e) {
    int64_t largest = -1;
    int32_t max = 0;
    for (int64_t k = 0; k < length; k++) {
        int32_t share = shares_of(chain + k * IG_CHAIN_WORD, e);
        if (share > max) {
            max = share;
            largest = k;
        }
    }
    return largest;
}

static void append_quad(ig_chain_extra *extra, const int8_t *word, int64_t position) {
    if (extra->count < extra->room) {
        memcpy(extra->words + extra->count * IG_CHAIN_WORD, word, IG_CHAIN_WORD);
        extra->targets[extra->count] = (int32_t)position;
    }
    extra->count++;
}

void ig_chain_split(int8_t *panel, int64_t depth, int64_t chain,
                    ig_chain_extra *extra) {
    assert(chain > 0 && chain <= IG_CHAIN_MAX && depth % chain == 0 && "whole chains");
    for (int64_t first = 0; first < depth; first += chain) {
        int8_t *words = panel + first * IG_CHAIN_WORD;
        excess e;
        find_excess(words, chain, 1, e.of[0]);
        find_excess(words, chain, -1, e.of[1]);
        for (int64_t k; (k = find_largest(words, chain, &e)) >= 0;) {
            int8_t taken[IG_CHAIN_WORD] = { 0 };
            move_shares(words + k * IG_CHAIN_WORD, taken, &e);
            append_quad(extra, taken, first + k);
        }
    }
}

/* ---- chain_quads ---- */

static ig_status check_chain(const ig_op *op, ig_dim quads) {
    int64_t chain = ig_attr_int(op, IG_chain_quads_chain, 0);
    int64_t extra = ig_attr_int(op, IG_chain_quads_extra, -1);
    int64_t depth = 0;
    bool is_known = ig_dim_constant(ig_op_module(op), quads, &depth);
    if (chain < 1 || chain > IG_CHAIN_MAX || (is_known && depth % chain != 0)) {
        return INFER_ERROR(op, "chain is %lld, expected 1 to %d and a divisor of %lld",
                           (long long)chain, IG_CHAIN_MAX, (long long)depth);
    }
    if (extra < 0 || extra >= INT32_MAX || (is_known && extra > depth)) {
        return INFER_ERROR(op, "extra is %lld, expected 0 to %lld", (long long)extra,
                           (long long)depth);
    }
    return IG_OK;
}

ig_status ig_infer_chain_quads(ig_op *op, const ig_type **out_types) {
    ig_module *module = ig_op_module(op);
    const ig_type *panels = ig_operand_type(op, 0);
    IG_TRY(ig_check_rank(op, 0, 4));
    IG_TRY(ig_check_dtype(op, 0, IG_DT_i8));
    ig_dim panel = ig_dim_of(IG_PANEL), quad = ig_dim_of(IG_QUAD), own = panel;
    IG_TRY(ig_check_extent(op, 0, 2, panel, "columns of a panel", &own));
    IG_TRY(ig_check_extent(op, 0, 3, quad, "elements of a quad", &own));
    IG_TRY(check_chain(op, panels->dims[1]));
    int64_t extra = ig_attr_int(op, IG_chain_quads_extra, 0);
    ig_dim dims[] = { panels->dims[0],
                      ig_dim_add(module, panels->dims[1], ig_dim_of(extra)), panel,
                      quad };
    ig_dim positions[] = { panels->dims[0], ig_dim_of(1 + extra) };
    out_types[0] = ig_type_tensor(module, IG_DT_i8, 4, dims);
    out_types[1] = ig_type_tensor(module, IG_DT_i32, 2, positions);
    return IG_OK;
}

/* out: the panels, and their places. */
ig_status ig_fold_chain_quads(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, ig_tensor *out) {
    int64_t chain = ig_attr_int(op, IG_chain_quads_chain, 1);
    int64_t room = ig_attr_int(op, IG_chain_quads_extra, 0);
    int64_t panels = in[0]->dims[0], depth = in[0]->dims[1];
    int64_t dims[] = { panels, depth + room, IG_PANEL, IG_QUAD };
    int64_t positions[] = { panels, 1 + room };
    if (depth % chain != 0 || room > depth) {
        return FOLD_ERROR(eval, op, "chains of %lld do not divide %lld quads",
                          (long long)chain, (long long)depth);
    }
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i8, 4, dims, &out[0]));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i32, 2, positions, &out[1]));
    for (int64_t p = 0; p < panels; p++) {
        int8_t *panel = (int8_t *)out[0].data + p * (depth + room) * IG_CHAIN_WORD;
        int32_t *row = (int32_t *)out[1].data + p * (1 + room);
        const int8_t *from = (const int8_t *)in[0]->data + p * depth * IG_CHAIN_WORD;
        ig_chain_extra extra = { .words = panel + depth * IG_CHAIN_WORD,
                                 .targets = row + 1,
                                 .room = room };
        memcpy(panel, from, (size_t)(depth * IG_CHAIN_WORD));
        ig_chain_split(panel, depth, chain, &extra);
        if (extra.count > room) {
            return FOLD_ERROR(eval, op, "panel %lld needs %lld extra quads, has %lld",
                              (long long)p, (long long)extra.count, (long long)room);
        }
        row[0] = (int32_t)extra.count;
        IG_TRY(ig_context_poll(eval->context));
    }
    return IG_OK;
}
