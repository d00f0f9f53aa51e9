/* Sums of products of 8-bit integers that fit 16 bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A chain sums `chain` quads of u8 times a column's quads of i8 in two sums of 16 bits,
 * one of the products with the first two bytes of each quad, one of those with the last
 * two.  Whatever the u8 are, a sum fits where the positive bytes that go into it come
 * to 128 at most, and the negative ones to -128: 255 * 128 < 32,768.  Where they come
 * to more, the excess moves to a quad of its own, an extra one, which is summed apart:
 *
 *     chain of 2    100 20 | 90 3     is    100 20 | 8 0    +   0 0 | 82 3
 */
#ifndef IG_IR_SEMANTICS_CHAINS_H
#define IG_IR_SEMANTICS_CHAINS_H

#include "ir/ops.h"
#include "ir/semantics/panels.h"

enum {
    IG_CHAIN_MAX = 4,
    IG_CHAIN_WORD = IG_PANEL * IG_QUAD /* bytes of a quad of each column of a panel */
};

/* The extra quads of a panel: `count` of them, of which the first `room` are kept. */
typedef struct ig_chain_extra {
    int8_t *words;    /* [room][IG_PANEL][IG_QUAD] */
    int32_t *targets; /* [room]: the quad that each adds to */
    int64_t count, room;
} ig_chain_extra;

/* Takes off the excess for chains of a panel of `depth` quads, a multiple of
 * `chain`, which is IG_CHAIN_MAX at most; appends it to `extra`. */
void ig_chain_split(int8_t *panel, int64_t depth, int64_t chain, ig_chain_extra *extra);

/* ---- ops that read them ---- */

/* Checks attribute `slot` of a product with panels of quads (operand 1) and, if it has
 * them, their places (operand 2), whose extra quads are added to *quads. */
ig_status ig_check_chain(const ig_op *op, uint32_t slot, ig_dim *quads);
/* The quad that extra quad `extra` of a panel adds to, of `depth`; -1: there is none.
 * Numbers of foreign places are brought within their range. */
int64_t ig_chain_target(const ig_tensor *targets, int64_t panel, int64_t extra,
                        int64_t depth);

#endif
