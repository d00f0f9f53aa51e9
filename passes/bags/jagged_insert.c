/* jagged_insert: parts of a list that others were written into are read where they
 * were.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     bind %n0 {symbols = [n]}                           %n0 = sum of lengths[0 : B]
 *     bind %n1 {symbols = [n2]}                          %n1 = sum of lengths[0 : 2*B]
 *     %0 = insert %ids, %mended {starts = [0]}           %mended: i64[min(N, n)]
 *     %1 = slice %0 {starts = [0], sizes = [min(N, n)]}
 *     %2 = slice %0 {starts = [min(N, n)], sizes = [max(0, min(N, n2) - min(N, n))]}
 *   becomes
 *     %1 is %mended
 *     %2 = slice %ids {starts = [min(N, n)], …}
 *
 * A program that checks the ids of each part in place makes such chains.  That one part
 * follows another is known from their positions: sums of lengths, of which the one has
 * all that the other has (jagged.h).
 *
 * Keeps: every value that is read, as lengths are not negative.
 */
#include "ir/build/build.h"
#include "passes/bags/jagged.h"
#include "passes/bags/recognise.h"

enum { CHAIN_MAX = 4096 };

typedef struct part {
    ig_dim at, size;
} part;

static bool reads_plainly(const ig_op *op, const ig_attr *steps) {
    return op->results[0].type->rank == 1 &&
           (steps->kind != IG_ATTR_INTS || steps->as.ints[0] == 1);
}

/* Does `b` begin where `a` ends, or later? */
static bool is_after(const ig_jagged *j, part a, part b, ig_dim count) {
    ig_dim end = ig_dim_add(j->module, a.at, a.size);
    ig_jagged_spans ends, begins;
    if (ig_dim_less_equal(j->module, end, b.at) == IG_YES) {
        return true;
    }
    return ig_jagged_end(j, a.at, a.size, count, &ends) &&
           ig_jagged_position(j, b.at, count, &begins) &&
           ig_spans_begin_with(j, &begins, &ends);
}

/* The value of which the slice may be taken instead; or, with `*out_is_all`, the one
 * that it is. */
static ig_value *source_of(const ig_jagged *j, const ig_op *slice, bool *out_is_all) {
    part mine = { slice->attrs[IG_slice_starts].as.dims[0],
                  slice->attrs[IG_slice_sizes].as.dims[0] };
    ig_value *list = slice->operands[0].value;
    for (uint32_t i = 0; i < CHAIN_MAX; i++) {
        const ig_op *insert = ig_def(list, IG_OP_insert);
        if (!insert || !reads_plainly(insert, &insert->attrs[IG_insert_steps])) {
            break;
        }
        ig_value *y = insert->operands[1].value;
        part written = { insert->attrs[IG_insert_starts].as.dims[0], y->type->dims[0] };
        ig_dim count = list->type->dims[0];
        *out_is_all = ig_dim_equal(j->module, mine.at, written.at) == IG_YES &&
                      ig_dim_equal(j->module, mine.size, written.size) == IG_YES;
        if (*out_is_all) {
            return y;
        }
        if (!is_after(j, written, mine, count) && !is_after(j, mine, written, count)) {
            break;
        }
        list = insert->operands[0].value;
    }
    return list;
}

static void match_slice(ig_recogniser *r, ig_op *slice) {
    ig_jagged j;
    if (slice->operand_count != 1 || !ig_def(slice->operands[0].value, IG_OP_insert) ||
        !reads_plainly(slice, &slice->attrs[IG_slice_steps])) {
        return;
    }
    ig_jagged_open(&j, r->graph, r->arena);
    bool is_all = false;
    ig_value *from = source_of(&j, slice, &is_all);
    if (is_all) {
        ig_recogniser_replace(r, &slice->results[0], from);
    } else if (from != slice->operands[0].value) {
        ig_use_set(&slice->operands[0], from);
        r->run->changed = true;
    }
}

ig_status ig_pass_jagged_insert(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_slice, match_slice);
}
