/* bag_whole: bags over parts of jagged data become bags over the whole.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %part = slice %ids {starts = [min(N, n)], …}    n: sum of lengths[0 : B]
 *     %mine = slice %lengths {starts = [B], …}
 *     %off = cumsum %mine {complete}
 *     %y = bag @t, %part, %off {last = [1], offsets = clamp}
 *   becomes
 *     %all = cumsum %lengths {complete, rising}
 *     %off = slice %all {starts = [B], sizes = [B + 1]}
 *     %y = bag @t, %ids, %off {last = [1], offsets = clamp}
 *
 * A sharded model splits its ids by features, puts features in another order or gives
 * one feature to several shards.  None of that moves an id for a bag: it has its begin
 * and end in the list that the caller gave.  Followed are
 *
 *     slices         of the list, where a sum of lengths begins
 *     permutations   elements of segments, one segment behind the other, where a bag's
 *                    lengths and begins come from the same place of the list before
 *
 * Where lengths and ids do not fit together the offsets are clamped, in the parts as in
 * the whole, with the same result.
 *
 * Keeps: every result, as lengths are not negative.
 */
#include "ir/bag.h"
#include "ir/build.h"
#include "passes/jagged.h"
#include "passes/recognise.h"

#include <string.h>

enum { STEPS_MAX = 64 };

/* One feature's bags: ids `ids`, bag b from offset at + b of the lengths' sum on. */
typedef struct source {
    const ig_jagged *j;
    ig_value        *ids, *weights;
    ig_value        *lengths; /* i*[…]; offsets are its complete sum */
    ig_dim           at, bags;
    bool             to_end; /* the last bag goes to the end of the ids */
    uint32_t         steps;
} source;

static ig_value *operand(const ig_op *op, uint32_t index) {
    return op->operands[index].value;
}

static bool is_equal(const source *s, ig_dim a, ig_dim b) {
    return ig_dim_equal(s->j->module, a, b) == IG_YES;
}

static ig_span lengths_of(const source *s) {
    return (ig_span){ s->lengths, s->at, s->bags };
}

static const ig_op *sum_of(const ig_value *offsets) {
    const ig_op *sum = ig_def(offsets, IG_OP_cumsum);
    bool         is_sum = sum && operand(sum, 0)->type->rank == 1 &&
                  ig_attr_int(sum, IG_cumsum_complete, 0) &&
                  !ig_attr_int(sum, IG_cumsum_reverse, 0);
    return is_sum ? sum : NULL;
}

/* ---- a slice of the ids ---- */

static bool slices_rank_1(const ig_op *slice) {
    const ig_attr *steps = &slice->attrs[IG_slice_steps];
    return slice->operand_count == 1 && slice->results[0].type->rank == 1 &&
           (steps->kind != IG_ATTR_INTS || steps->as.ints[0] == 1);
}

/* Is the weights' slice as that of the ids?  Then *weights is what it is taken of. */
static bool follow_weights(const source *s, const ig_op *ids, ig_value **weights) {
    const ig_op *slice = *weights ? ig_def(*weights, IG_OP_slice) : NULL;
    if (!*weights) {
        return true;
    }
    bool is_same = slice && slices_rank_1(slice) &&
                   is_equal(s, slice->attrs[IG_slice_starts].as.dims[0],
                            ids->attrs[IG_slice_starts].as.dims[0]) &&
                   is_equal(s, operand(slice, 0)->type->dims[0],
                            operand(ids, 0)->type->dims[0]);
    *weights = is_same ? operand(slice, 0) : *weights;
    return is_same;
}

/* Does the part reach to the end of this feature's bags in the list? */
static bool reaches(const source *s, const ig_op *slice, ig_span before,
                    bool *out_all) {
    ig_dim   start = slice->attrs[IG_slice_starts].as.dims[0];
    ig_dim   size = slice->attrs[IG_slice_sizes].as.dims[0];
    ig_dim   count = operand(slice, 0)->type->dims[0];
    ig_spans end, need = { 0 };
    *out_all = is_equal(s, ig_dim_add(s->j->module, start, size), count);
    return *out_all || (ig_jagged_end(s->j, start, size, count, &end) &&
                        ig_spans_add(s->j, &need, before) &&
                        ig_spans_begin_with(s->j, &end, &need));
}

/* ids are a slice of a list, and lengths one of the list's lengths from the same bag
 * on. */
static bool follow_slice(source *s) {
    const ig_op *ids = ig_def(s->ids, IG_OP_slice),
                *mine = ig_def(s->lengths, IG_OP_slice);
    ig_value *lengths = s->lengths, *weights = s->weights;
    ig_dim    first = 0;
    ig_spans  start, before = { 0 };
    if (!ids || !slices_rank_1(ids)) {
        return false;
    }
    if (mine && slices_rank_1(mine)) {
        lengths = operand(mine, 0);
        first = mine->attrs[IG_slice_starts].as.dims[0];
    }
    ig_dim at = ig_dim_add(s->j->module, first, s->at);
    bool   is_all = false;
    bool   fits = ig_jagged_place(s->j, ids->attrs[IG_slice_starts].as.dims[0],
                                  operand(ids, 0)->type->dims[0], &start) &&
                ig_spans_add(s->j, &before, (ig_span){ lengths, 0, first }) &&
                ig_spans_equal(s->j, &start, &before) &&
                reaches(s, ids,
                        (ig_span){ lengths, 0, ig_dim_add(s->j->module, at, s->bags) },
                        &is_all) &&
                follow_weights(s, ids, &weights);
    if (!fits) {
        return false;
    }
    s->ids = operand(ids, 0);
    s->weights = weights;
    s->lengths = lengths;
    s->at = at;
    s->to_end = s->to_end && is_all;
    return true;
}

/* ---- segments, one behind the other ---- */

static bool is_slice_at(const source *s, const ig_value *value, const ig_value *of,
                        ig_dim start) {
    const ig_op *slice = ig_def(value, IG_OP_slice);
    return slice && slices_rank_1(slice) && operand(slice, 0) == of &&
           is_equal(s, slice->attrs[IG_slice_starts].as.dims[0], start);
}

/* place + shift[segment of place]: the elements of segments that begin at `begins` and
 * lie one behind the other at `offsets`. */
typedef struct segments {
    ig_value *begins, *offsets;
} segments;

static bool read_shift(const source *s, const ig_value *value, const ig_value *place,
                       segments *out) {
    const ig_op *gather = ig_def(value, IG_OP_gather);
    const ig_op *sub = gather ? ig_def(operand(gather, 0), IG_OP_sub) : NULL;
    const ig_op *find = gather ? ig_def(operand(gather, 1), IG_OP_bucketize) : NULL;
    const ig_op *base = sub ? ig_def(operand(sub, 1), IG_OP_slice) : NULL;
    if (!base || !find || operand(find, 0) != place ||
        !ig_attr_int(find, IG_bucketize_right, 0)) {
        return false;
    }
    *out = (segments){ operand(sub, 0), operand(base, 0) };
    return sum_of(out->offsets) && is_slice_at(s, operand(sub, 1), out->offsets, 0) &&
           is_slice_at(s, operand(find, 1), out->offsets, 1);
}

static bool read_segments(const source *s, const ig_value *positions, segments *out) {
    const ig_op *add = ig_def(positions, IG_OP_add);
    for (uint32_t i = 0; add && i < 2; i++) {
        const ig_value *place = operand(add, i);
        const ig_op    *range = ig_def(place, IG_OP_range);
        int64_t         first, step;
        if (range && ig_constant_i64(operand(range, 0), &first) && first == 0 &&
            ig_constant_i64(operand(range, 2), &step) && step == 1 &&
            read_shift(s, operand(add, 1 - i), place, out)) {
            return true;
        }
    }
    return false;
}

/* The list of lengths whose sum begins are from; `exclusive` or `complete`. */
static ig_value *begins_are_of(const ig_value *sums) {
    const ig_op *sum = ig_def(sums, IG_OP_cumsum);
    bool         is_begins = sum && operand(sum, 0)->type->rank == 1 &&
                     !ig_attr_int(sum, IG_cumsum_reverse, 0) &&
                     (ig_attr_int(sum, IG_cumsum_exclusive, 0) ||
                      ig_attr_int(sum, IG_cumsum_complete, 0));
    return is_begins ? operand(sum, 0) : NULL;
}

static bool follow_segments(source *s) {
    const ig_op *gather = ig_def(s->ids, IG_OP_gather);
    segments     g;
    if (!gather || ig_attr_int(gather, IG_gather_axis, 0) != 0 ||
        operand(gather, 0)->type->rank != 1 ||
        !read_segments(s, operand(gather, 1), &g) ||
        operand(sum_of(g.offsets), 0) != s->lengths) {
        return false;
    }
    const ig_op *weights = s->weights ? ig_def(s->weights, IG_OP_gather) : NULL;
    if (s->weights && (!weights || operand(weights, 1) != operand(gather, 1) ||
                       operand(weights, 0)->type->rank != 1 ||
                       ig_attr_int(weights, IG_gather_axis, 0) != 0)) {
        return false;
    }
    ig_span   begins = ig_span_origin(s->j, (ig_span){ g.begins, s->at, s->bags });
    ig_value *lengths = begins_are_of(begins.list);
    if (!lengths) {
        return false;
    }
    ig_span now = ig_span_origin(s->j, lengths_of(s));
    ig_span then = ig_span_origin(s->j, (ig_span){ lengths, begins.at, s->bags });
    if (!ig_span_equal(s->j, &now, &then)) {
        return false;
    }
    s->ids = operand(gather, 0);
    s->weights = weights ? operand(weights, 0) : NULL;
    s->lengths = lengths;
    s->at = begins.at;
    s->to_end = false;
    return true;
}

/* ---- a feature ---- */

static bool open_source(source *s, const ig_op *bag, const ig_bag_feature *f) {
    ig_module *module = s->j->module;
    if (!f->begins || f->ends || f->pool == IG_POOL_none ||
        (f->last != IG_LAST_ids && f->last != IG_LAST_offset)) {
        return false;
    }
    ig_value *begins = operand(bag, f->begins);
    ig_dim    count = begins->type->dims[0];
    bool      has_last = f->last == IG_LAST_offset;
    ig_span   offsets = { begins, 0, count };
    for (uint32_t i = 0; i < STEPS_MAX && !sum_of(offsets.list); i++) {
        if (!ig_span_step(s->j, &offsets)) {
            return false;
        }
    }
    const ig_op *sum = sum_of(offsets.list);
    s->ids = operand(bag, f->ids);
    s->weights = f->weights ? operand(bag, f->weights) : NULL;
    s->at = offsets.at;
    s->bags = has_last ? ig_dim_sub(module, count, 1) : count;
    s->to_end = !has_last;
    s->lengths = sum ? operand(sum, 0) : NULL;
    return sum != NULL;
}

/* A last bag to the end of the ids has to end with the lengths too: then what lies
 * behind its own end is nothing that the sums do not tell. */
static bool follow(source *s) {
    while (s->steps < STEPS_MAX && (follow_slice(s) || follow_segments(s))) {
        s->steps++;
    }
    return s->steps > 0;
}

static ig_value *make_offsets(const source *s, ig_builder *b, ig_dtype dtype) {
    ig_attr rising[IG_cumsum_attr_count] = {
        [IG_cumsum_axis] = ig_attr_of_int(0),
        [IG_cumsum_complete] = ig_attr_of_bool(true),
        [IG_cumsum_rising] = ig_attr_of_bool(true),
    };
    ig_value *lengths = s->lengths;
    ig_value *all = ig_make(b, IG_OP_cumsum, 1, &lengths, rising);
    ig_dim    size = ig_dim_add(s->j->module, s->bags, s->to_end ? 0 : 1);
    int64_t   step = 1;
    ig_attr   cut[IG_slice_attr_count] = {
          [IG_slice_starts] = ig_attr_of_dims(s->j->module, &s->at, 1),
          [IG_slice_sizes] = ig_attr_of_dims(s->j->module, &size, 1),
          [IG_slice_steps] = ig_attr_of_ints(s->j->module, &step, 1),
    };
    return ig_make_cast(b, ig_make(b, IG_OP_slice, 1, &all, cut), dtype);
}

static void rewrite(ig_recogniser *r, ig_op *bag, uint32_t number, const source *s) {
    ig_bag_feature f = ig_bag_feature_at(bag, number);
    ig_builder     b = ig_builder_before(bag);
    ig_dtype       dtype = (ig_dtype)operand(bag, f.begins)->type->dtype;
    uint32_t       count = ig_bag_feature_count(bag);
    int64_t       *last = IG_NEW_ARRAY(r->arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++) {
        last[i] = ig_bag_feature_at(bag, i).last;
    }
    last[number] = s->to_end ? IG_LAST_ids : IG_LAST_offset;
    ig_use_set(&bag->operands[f.begins], make_offsets(s, &b, dtype));
    ig_use_set(&bag->operands[f.ids], s->ids);
    if (f.weights) {
        ig_use_set(&bag->operands[f.weights], s->weights);
    }
    ig_attr_set(bag, IG_bag_last, ig_attr_of_ints(r->module, last, count));
    r->run->changed = true;
}

static void look(ig_recogniser *r, ig_op *bag) {
    ig_jagged j;
    if (ig_attr_int(bag, IG_bag_offsets, 0) != IG_OFFSETS_clamp) {
        return;
    }
    ig_jagged_open(&j, r->graph, r->arena);
    for (uint32_t i = 0; i < ig_bag_feature_count(bag); i++) {
        ig_bag_feature f = ig_bag_feature_at(bag, i);
        source         s = { .j = &j };
        if (open_source(&s, bag, &f) && follow(&s)) {
            rewrite(r, bag, i, &s);
        }
    }
}

ig_status ig_pass_bag_whole(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_bag, look);
}
