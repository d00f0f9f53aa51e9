/* Boxes without those that a better one covers, a list and a box after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/suppress.h"

#include "ir/fold/order.h"
#include "ir/hooks.h"

#include <math.h>

typedef struct boxes {
    const ig_tensor *edges; /* [B, N, 4] */
    int64_t first;          /* element where those of the list begin */
} boxes;

/* Rounds the result of one arithmetic step to the edges' dtype. */
static double round_step(const boxes *b, double x) {
    return b->edges->dtype == IG_DT_f32 ? (double)(float)x : x;
}

/* NaN where one is. */
static double greater_of(double a, double b) {
    return isnan(a) || a > b ? a : b;
}
static double lesser_of(double a, double b) {
    return isnan(a) || a < b ? a : b;
}

static double edge_of(const boxes *b, int64_t box, int64_t edge) {
    return ig_tensor_get_f64(b->edges, b->first + box * 4 + edge);
}

static double side_of(const boxes *b, int64_t box, int64_t axis) {
    return round_step(b, edge_of(b, box, axis + 2) - edge_of(b, box, axis));
}

static double area_of(const boxes *b, int64_t box) {
    return round_step(b, side_of(b, box, 0) * side_of(b, box, 1));
}

/* The part of the union of two boxes that both cover. */
static double share_of(const boxes *b, int64_t box, int64_t other) {
    double sides[2];
    for (int64_t axis = 0; axis < 2; axis++) {
        double low = greater_of(edge_of(b, box, axis), edge_of(b, other, axis));
        double high = lesser_of(edge_of(b, box, axis + 2), edge_of(b, other, axis + 2));
        sides[axis] = greater_of(round_step(b, high - low), 0);
    }
    double common = round_step(b, sides[0] * sides[1]);
    double both = round_step(b, area_of(b, box) + area_of(b, other));
    return round_step(b, common / round_step(b, both - common));
}

static bool is_covered(const boxes *b, int64_t box, const ig_tensor *out, int64_t start,
                       int64_t kept, double share) {
    for (int64_t i = 0; i < kept; i++) {
        if (share_of(b, box, ig_tensor_get_i64(out, start + i)) > share) {
            return true;
        }
    }
    return false;
}

/* The list that begins at element `start` of scores and of `out`; `order` holds its
 * boxes, the best first.  Returns how many are kept. */
static int64_t fill_list(const boxes *b, const ig_tensor *const *in, int64_t start,
                         const int64_t *order, ig_tensor *out) {
    const ig_tensor *scores = in[IG_SUPPRESS_SCORES], *min = in[IG_SUPPRESS_MIN];
    double share = ig_tensor_get_f64(in[IG_SUPPRESS_SHARE], 0);
    int64_t max = ig_tensor_get_i64(in[IG_SUPPRESS_MAX], 0), kept = 0;
    for (int64_t i = 0; i < scores->dims[2] && kept < max; i++) {
        double score = ig_tensor_get_f64(scores, start + order[i]);
        bool is_good = !min || score > ig_tensor_get_f64(min, 0);
        if (is_good && !is_covered(b, order[i], out, start, kept, share)) {
            ig_tensor_set_i64(out, start + kept++, order[i]);
        }
    }
    for (int64_t i = kept; i < scores->dims[2]; i++) {
        ig_tensor_set_i64(out, start + i, -1);
    }
    return kept;
}

ig_status ig_fold_suppress(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           ig_tensor *out) {
    const ig_tensor *scores = in[IG_SUPPRESS_SCORES], *edges = in[IG_SUPPRESS_BOXES];
    const ig_tensor *operands[IG_SUPPRESS_OPERANDS] = { NULL };
    int64_t count = scores->dims[2], *order, *room;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        operands[i] = in[i];
    }
    if (edges->dims[0] != scores->dims[0] || edges->dims[1] != count ||
        edges->dims[2] != 4) {
        return FOLD_ERROR(eval, op, "suppress: boxes and scores differ in number");
    }
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 3, scores->dims, out));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 2, scores->dims, &out[1]));
    IG_TRY(ig_eval_scratch(eval, op, count, sizeof *order, &order));
    IG_TRY(ig_eval_scratch(eval, op, count, sizeof *room, &room));
    ig_block_of line = {
        .x = scores, .outer = 1, .inner = 1, .element_step = 1, .is_descending = true
    };
    for (int64_t start = 0; start < out->count; start += count) {
        int64_t batch = start / count / scores->dims[1];
        boxes b = { edges, batch * count * 4 };
        ig_blocks_sort(&line, start, count, order, room);
        int64_t kept = fill_list(&b, operands, start, order, out);
        ig_tensor_set_i64(&out[1], start / count, kept);
    }
    return IG_OK;
}
