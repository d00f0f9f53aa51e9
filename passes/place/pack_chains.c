/* How long sums of 16 bits may be in a product of 8-bit integers, for `pack`.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Instructions for each quad of a row and a vector of columns: two to multiply and add
 * in 16 bits, and one more for each chain to add its sums in 32; where both factors are
 * widened, five and a half.  An extra quad costs a chain of one, and as much again for
 * what finds it (measured).
 */
#include "passes/place/pack.h"

#include "ir/semantics/chains.h"

#include <string.h>

/* In quarters of an instruction. */
enum { MULTIPLY = 8, CLOSE = 4, EXTRA = 28, WIDEN = 22 };

/* The extra quads of all panels for chains of one length; *most: of one panel. */
static int64_t count_extra(const int8_t *panels, int64_t count, int64_t depth,
                           int64_t chain, int8_t *room, int64_t *max) {
    int64_t total = 0;
    *max = 0;
    for (int64_t p = 0; p < count; p++) {
        ig_chain_extra extra = { 0 };
        memcpy(room, panels + p * depth * IG_CHAIN_WORD,
               (size_t)(depth * IG_CHAIN_WORD));
        ig_chain_split(room, depth, chain, &extra);
        total += extra.count;
        *max = extra.count > *max ? extra.count : *max;
    }
    return total;
}

ig_pack_chains ig_pack_choose_chains(ig_pass_run *run, const int8_t *panels,
                                     const int64_t dims[2]) {
    ig_pack_chains best = { 0 };
    int64_t quads = dims[0] * dims[1], cost = WIDEN * quads;
    int8_t *room = IG_NEW_ARRAY(run->scratch, int8_t,
                                (size_t)(dims[1] * IG_CHAIN_WORD));
    for (int64_t chain = 1; chain <= IG_CHAIN_MAX; chain *= 2) {
        int64_t max = 0;
        if (dims[1] % chain != 0) {
            break;
        }
        int64_t extra = count_extra(panels, dims[0], dims[1], chain, room, &max);
        int64_t own = (MULTIPLY + CLOSE / chain) * quads + EXTRA * extra;
        if (own < cost && max <= dims[1]) {
            best = (ig_pack_chains){ chain, max };
            cost = own;
        }
    }
    return best;
}
