/* bag_whole: bags over parts of jagged data become bags over the whole.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %part = slice %ids {starts = [min(N, n)], …}    n: sum of lengths[0 : B]
 *     %mine = slice %lengths {starts = [B], …}
 *     %off = cumsum %mine {complete}
 *     %y = bag @t, %part, %off {last = [offset], offsets = clamp}
 *   becomes
 *     %all = cumsum %lengths {complete, rising}
 *     %off = slice %all {starts = [B], sizes = [B + 1]}
 *     %y = bag @t, %ids, %off {last = [offset], offsets = clamp}
 *
 * A sharded model splits its ids by features, puts features in another order or gives
 * one feature to several shards.  None of that moves an id for a bag: it has its begin
 * and end in the list that the caller gave.  Followed are
 *
 *     slices         of the list, where a sum of lengths begins
 *     permutations   elements of segments, one segment after the other, where a bag's
 *                    lengths and begins come from the same place of the list before
 *     buckets        ids sorted by the shard that has their row, for tables that are
 *                    sharded by rows: each shard skips the ids of the others
 *
 *         %key = add (mul %bucket, bags), %bag     %bag: of each id
 *         %ids2 = gather %next, (sort %key)        %next: the row in the shard
 *       becomes, for shard 1
 *         %ids2 = where (eq %bucket, 1), %next, -1
 *
 *                    with the lengths of before.  Skipped ids count in a mean: so the
 *                    shards' sum is then the mean of the whole bag, while the program
 *                    computes the sum of the shards' means.  That is done where `whole`
 *                    asks for it; else a warning says so.
 *
 * Look-ups without pooling of such ids are put back in the order of before by the sort
 * of their order; so each row is looked up at its id's position, in one bag over all
 * shards:
 *
 *         %rows = concat (bag @s0, %ids2[0 : n] …), (bag @s1, %ids2[n : m] …)
 *         %y = gather %rows, (sort (sort %key))
 *       becomes
 *         %y = bag @s0, @s1, %all, %off {pool = [none], tables = [2], …}  (bag_shards)
 *
 * Where lengths and ids do not fit together the offsets are clamped, in the parts as in
 * the whole, with the same result.
 *
 * Keeps: every result, as lengths are not negative.
 */
#include "ir/build/expr.h"
#include "ir/bag.h"
#include "ir/build/build.h"
#include "passes/bags/bag_rows.h"
#include "passes/bags/jagged.h"
#include "passes/bags/shards.h"

#include <assert.h>
#include <string.h>

enum { STEPS_MAX = 64 };

/* One feature's bags: ids `ids`, bag b from offset at + b of the lengths' sum on. */
typedef struct source {
    const ig_jagged *j;
    ig_value *ids, *weights;
    ig_value *lengths; /* i*[…]; offsets are its complete sum */
    ig_dim at, bags;
    bool to_end;        /* the last bag goes to the end of the ids */
    bool keeps_parts;   /* means stay those of shards */
    bool is_bucketized; /* by rows */
    int64_t shard;      /* that ids are of which have it as bucket; or -1 */
    ig_value *bucket;
    uint32_t steps;
} source;

static bool is_equal(const source *s, ig_dim a, ig_dim b) {
    return ig_dim_equal(s->j->module, a, b) == IG_YES;
}

static ig_jagged_span lengths_of(const source *s) {
    return (ig_jagged_span){ s->lengths, s->at, s->bags };
}

static const ig_op *sum_of(const ig_value *offsets) {
    const ig_op *sum = ig_def(offsets, IG_OP_cumsum);
    bool is_sum = sum && ig_op_operand(sum, 0)->type->rank == 1 &&
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

/* Is the weights' slice as that of the ids?  Then *weights is the sliced value. */
static bool follow_weights(const source *s, const ig_op *ids, ig_value **weights) {
    const ig_op *slice = *weights ? ig_def(*weights, IG_OP_slice) : NULL;
    if (!*weights) {
        return true;
    }
    bool is_same = slice && slices_rank_1(slice) &&
                   is_equal(s, slice->attrs[IG_slice_starts].as.dims[0],
                            ids->attrs[IG_slice_starts].as.dims[0]) &&
                   is_equal(s, ig_op_operand(slice, 0)->type->dims[0],
                            ig_op_operand(ids, 0)->type->dims[0]);
    *weights = is_same ? ig_op_operand(slice, 0) : *weights;
    return is_same;
}

/* Does the part reach to the end of this feature's bags in the list? */
static bool reaches_end(const source *s, const ig_op *slice, ig_jagged_span before,
                        bool *out_all) {
    ig_dim start = slice->attrs[IG_slice_starts].as.dims[0];
    ig_dim size = slice->attrs[IG_slice_sizes].as.dims[0];
    ig_dim count = ig_op_operand(slice, 0)->type->dims[0];
    ig_jagged_spans end, need = { 0 };
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
    ig_dim first = ig_dim_of(0);
    ig_jagged_spans start, before = { 0 };
    if (!ids || !slices_rank_1(ids)) {
        return false;
    }
    if (mine && slices_rank_1(mine)) {
        lengths = ig_op_operand(mine, 0);
        first = mine->attrs[IG_slice_starts].as.dims[0];
    }
    ig_dim at = ig_dim_add(s->j->module, first, s->at);
    bool is_all = false;
    bool fits = ig_jagged_position(s->j, ids->attrs[IG_slice_starts].as.dims[0],
                                   ig_op_operand(ids, 0)->type->dims[0], &start) &&
                ig_spans_add(s->j, &before,
                             (ig_jagged_span){ lengths, ig_dim_of(0), first }) &&
                ig_spans_equal(s->j, &start, &before) &&
                reaches_end(s, ids,
                            (ig_jagged_span){ lengths, ig_dim_of(0),
                                              ig_dim_add(s->j->module, at, s->bags) },
                            &is_all) &&
                follow_weights(s, ids, &weights);
    if (!fits) {
        return false;
    }
    s->ids = ig_op_operand(ids, 0);
    s->weights = weights;
    s->lengths = lengths;
    s->at = at;
    s->to_end = s->to_end && is_all;
    return true;
}

/* ---- segments, one after the other ---- */

static bool is_slice_at(const source *s, const ig_value *value, const ig_value *of,
                        ig_dim start) {
    const ig_op *slice = ig_def(value, IG_OP_slice);
    return slice && slices_rank_1(slice) && ig_op_operand(slice, 0) == of &&
           is_equal(s, slice->attrs[IG_slice_starts].as.dims[0], start);
}

/* place + shift[segment of place]: the elements of segments that begin at `begins` and
 * follow each other at `offsets`. */
typedef struct segments {
    ig_value *begins, *offsets;
} segments;

static bool read_shift(const source *s, const ig_value *value, const ig_value *position,
                       segments *out) {
    const ig_op *gather = ig_def(value, IG_OP_gather);
    const ig_op *sub = gather ? ig_def(ig_op_operand(gather, 0), IG_OP_sub) : NULL;
    const ig_op *find = gather ? ig_def(ig_op_operand(gather, 1), IG_OP_bucketize)
                               : NULL;
    const ig_op *base = sub ? ig_def(ig_op_operand(sub, 1), IG_OP_slice) : NULL;
    if (!base || !find || ig_op_operand(find, 0) != position ||
        !ig_attr_int(find, IG_bucketize_right, 0)) {
        return false;
    }
    *out = (segments){ ig_op_operand(sub, 0), ig_op_operand(base, 0) };
    return sum_of(out->offsets) &&
           is_slice_at(s, ig_op_operand(sub, 1), out->offsets, ig_dim_of(0)) &&
           is_slice_at(s, ig_op_operand(find, 1), out->offsets, ig_dim_of(1));
}

static bool read_segments(const source *s, const ig_value *positions, segments *out) {
    const ig_op *add = ig_def(positions, IG_OP_add);
    for (uint32_t i = 0; add && i < 2; i++) {
        const ig_value *position = ig_op_operand(add, i);
        const ig_op *range = ig_def(position, IG_OP_range);
        int64_t first, step;
        if (range && ig_constant_i64(ig_op_operand(range, 0), &first) && first == 0 &&
            ig_constant_i64(ig_op_operand(range, 2), &step) && step == 1 &&
            read_shift(s, ig_op_operand(add, 1 - i), position, out)) {
            return true;
        }
    }
    return false;
}

/* The list of lengths whose sum begins are from; `exclusive` or `complete`. */
static ig_value *begins_are_of(const ig_value *sums) {
    const ig_op *sum = ig_def(sums, IG_OP_cumsum);
    bool is_begins = sum && ig_op_operand(sum, 0)->type->rank == 1 &&
                     !ig_attr_int(sum, IG_cumsum_reverse, 0) &&
                     (ig_attr_int(sum, IG_cumsum_exclusive, 0) ||
                      ig_attr_int(sum, IG_cumsum_complete, 0));
    return is_begins ? ig_op_operand(sum, 0) : NULL;
}

static bool follow_segments(source *s) {
    const ig_op *gather = ig_def(s->ids, IG_OP_gather);
    segments g;
    if (!gather || ig_attr_int(gather, IG_gather_axis, 0) != 0 ||
        ig_op_operand(gather, 0)->type->rank != 1 ||
        !read_segments(s, ig_op_operand(gather, 1), &g) ||
        ig_op_operand(sum_of(g.offsets), 0) != s->lengths) {
        return false;
    }
    const ig_op *weights = s->weights ? ig_def(s->weights, IG_OP_gather) : NULL;
    if (s->weights &&
        (!weights || ig_op_operand(weights, 1) != ig_op_operand(gather, 1) ||
         ig_op_operand(weights, 0)->type->rank != 1 ||
         ig_attr_int(weights, IG_gather_axis, 0) != 0)) {
        return false;
    }
    ig_jagged_span begins =
        ig_jagged_span_origin(s->j, (ig_jagged_span){ g.begins, s->at, s->bags });
    ig_value *lengths = begins_are_of(begins.list);
    if (!lengths) {
        return false;
    }
    ig_jagged_span now = ig_jagged_span_origin(s->j, lengths_of(s));
    ig_jagged_span then =
        ig_jagged_span_origin(s->j, (ig_jagged_span){ lengths, begins.at, s->bags });
    if (!ig_jagged_span_equal(s->j, &now, &then)) {
        return false;
    }
    s->ids = ig_op_operand(gather, 0);
    s->weights = weights ? ig_op_operand(weights, 0) : NULL;
    s->lengths = lengths;
    s->at = begins.at;
    s->to_end = false;
    return true;
}

/* ---- ids bucketized among shards ---- */

/* A constant list: first, first + step, … */
static bool is_progression(const ig_value *value, int64_t first, int64_t step) {
    const ig_data *data = ig_constant_of(value);
    bool is_list = data && data->bytes && data->type->kind == IG_TENSOR &&
                   data->type->rank == 1 && ig_type_is_static(data->type) &&
                   !ig_dtype_is_float((ig_dtype)data->type->dtype) && !data->is_splat;
    ig_tensor tensor = { .kind = IG_TENSOR, .dtype = IG_DT_i64 };
    if (!is_list) {
        return false;
    }
    tensor.dtype = (ig_dtype)data->type->dtype;
    tensor.count = ig_dim_value(data->type->dims[0]);
    tensor.data = (void *)(uintptr_t)data->bytes; /* only read */
    for (int64_t i = 0; is_list && i < tensor.count; i++) {
        is_list = ig_tensor_get_i64(&tensor, i) == first + i * step;
    }
    return is_list;
}

static bool is_filled(ig_value *value, int64_t number) {
    return ig_value_is_filled(value, (double)number) ||
           is_progression(value, number, 0);
}

/* Is it 0, 1, … over the elements of a list? */
static bool counts_ids(const source *s, const ig_value *value, ig_dim count) {
    const ig_op *range = ig_def(value, IG_OP_range);
    int64_t first, step;
    bool is_range = range && ig_constant_i64(ig_op_operand(range, 0), &first) &&
                    first == 0 && ig_constant_i64(ig_op_operand(range, 2), &step) &&
                    step == 1;
    return (is_range || is_progression(value, 0, 1)) &&
           is_equal(s, value->type->dims[0], count);
}

/* The lengths, when the value is the bag of each of `count` ids. */
static ig_value *lengths_of_bags(const source *s, const ig_value *value, ig_dim count) {
    const ig_op *find = ig_def(value, IG_OP_bucketize);
    const ig_op *ends = find ? ig_def(ig_op_operand(find, 1), IG_OP_slice) : NULL;
    const ig_op *sum = ends ? sum_of(ig_op_operand(ends, 0)) : NULL;
    bool is_bag = sum && ig_attr_int(find, IG_bucketize_right, 0) &&
                  counts_ids(s, ig_op_operand(find, 0), count) &&
                  is_slice_at(s, ig_op_operand(find, 1), ig_op_operand(ends, 0),
                              ig_dim_of(1));
    return is_bag ? ig_op_operand(sum, 0) : NULL;
}

typedef struct bucketized {
    ig_value *key, *bucket, *next;
    ig_value *lengths; /* of before */
} bucketized;

/* bucket * bags + bag */
static bool read_key(const source *s, bucketized *d) {
    const ig_op *add = ig_def(d->key, IG_OP_add);
    for (uint32_t i = 0; add && i < 2; i++) {
        const ig_op *mul = ig_def(ig_op_operand(add, i), IG_OP_mul);
        d->lengths = lengths_of_bags(s, ig_op_operand(add, 1 - i),
                                     d->key->type->dims[0]);
        for (uint32_t k = 0; d->lengths && mul && k < 2; k++) {
            ig_dims_value by;
            d->bucket = ig_op_operand(mul, k);
            if (ig_value_dims(ig_op_operand(mul, 1 - k), &by) && by.count == 1 &&
                d->bucket->type->rank == 1 &&
                is_equal(s, by.dims[0], d->lengths->type->dims[0])) {
                return true;
            }
        }
    }
    return false;
}

/* Are the lengths how many ids have each key? */
static bool counts_keys(const ig_value *lengths, const ig_value *key) {
    const ig_op *cast = ig_def(lengths, IG_OP_cast);
    lengths = cast ? ig_op_operand(cast, 0) : lengths;
    const ig_op *scatter = ig_def(lengths, IG_OP_scatter_nd);
    const ig_op *column = scatter ? ig_def(ig_op_operand(scatter, 1), IG_OP_reshape)
                                  : NULL;
    return column && ig_op_operand(column, 0) == key &&
           ig_attr_int(scatter, IG_scatter_nd_reduce, 0) == IG_SCATTER_add &&
           is_filled(ig_op_operand(scatter, 0), 0) &&
           is_filled(ig_op_operand(scatter, 2), 1);
}

static bool read_bucketized(const source *s, bucketized *d) {
    const ig_op *gather = ig_def(s->ids, IG_OP_gather);
    const ig_op *sort = gather ? ig_def(ig_op_operand(gather, 1), IG_OP_sort) : NULL;
    if (!sort || ig_op_operand(gather, 1)->index != 1 ||
        ig_attr_int(gather, IG_gather_axis, 0) != 0 ||
        ig_op_operand(gather, 0)->type->rank != 1 ||
        ig_attr_int(sort, IG_sort_descending, 0)) {
        return false;
    }
    d->key = ig_op_operand(sort, 0);
    d->next = ig_op_operand(gather, 0);
    return read_key(s, d) && counts_keys(s->lengths, d->key);
}

/* The shard whose keys the feature's are, and the feature's first bag in it. */
static bool find_shard(const source *s, const bucketized *d, int64_t *out_shard,
                       ig_dim *out_at) {
    enum { SHARDS_MAX = 4096 };
    ig_dim bags = d->lengths->type->dims[0], past;
    past = ig_dim_add(s->j->module, s->at, s->bags);
    for (int64_t i = 0; i < SHARDS_MAX; i++) {
        ig_dim begin = ig_dim_mul(s->j->module, bags, ig_dim_of(i));
        ig_dim end = ig_dim_add(s->j->module, begin, bags);
        if (ig_dim_less_equal(s->j->module, begin, s->at) != IG_YES) {
            return false;
        }
        if (ig_dim_less_equal(s->j->module, past, end) == IG_YES) {
            *out_shard = i;
            *out_at = ig_dim_sub(s->j->module, s->at, begin);
            return true;
        }
    }
    return false;
}

/* The new ids are made when all else is known. */
static bool follow_bucketized(source *s) {
    bucketized d;
    int64_t shard;
    ig_dim at;
    if (s->shard >= 0 || !read_bucketized(s, &d) || !find_shard(s, &d, &shard, &at)) {
        return false;
    }
    const ig_op *weights = s->weights ? ig_def(s->weights, IG_OP_gather) : NULL;
    if (s->weights &&
        (!weights || ig_op_operand(weights, 1) != ig_op_operand(s->ids->def, 1) ||
         ig_op_operand(weights, 0)->type->rank != 1)) {
        return false;
    }
    s->is_bucketized = true;
    if (s->keeps_parts) {
        return false;
    }
    s->weights = weights ? ig_op_operand(weights, 0) : NULL;
    s->ids = d.next;
    s->bucket = d.bucket;
    s->shard = shard;
    s->lengths = d.lengths;
    s->at = at;
    s->to_end = false;
    return true;
}

/* ---- a feature ---- */

/* A last bag to the end of the ids has to end with the lengths too: else ids of other
 * bags are in it. */
static bool ends_with_lengths(const source *s) {
    assert(s->lengths && s->lengths->type->rank == 1 && "a list");
    return is_equal(s, ig_dim_add(s->j->module, s->at, s->bags),
                    s->lengths->type->dims[0]);
}

static bool open_source(source *s, const ig_op *bag, const ig_bag_feature *f) {
    ig_module *module = s->j->module;
    if (!f->begins || f->ends ||
        (f->last != IG_LAST_ids && f->last != IG_LAST_offset)) {
        return false;
    }
    ig_value *begins = ig_op_operand(bag, f->begins);
    ig_dim count = begins->type->dims[0];
    bool has_last = f->last == IG_LAST_offset;
    ig_jagged_span offsets = { begins, ig_dim_of(0), count };
    for (uint32_t i = 0; i < STEPS_MAX && !sum_of(offsets.list); i++) {
        if (!ig_jagged_span_step(s->j, &offsets)) {
            return false;
        }
    }
    const ig_op *sum = sum_of(offsets.list);
    s->ids = ig_op_operand(bag, f->ids);
    s->weights = f->weights ? ig_op_operand(bag, f->weights) : NULL;
    s->at = offsets.at;
    s->bags = has_last ? ig_dim_sub(module, count, ig_dim_of(1)) : count;
    s->to_end = !has_last;
    s->lengths = sum ? ig_op_operand(sum, 0) : NULL;
    return sum && (!s->to_end || ends_with_lengths(s));
}

static bool follow_steps(source *s) {
    while (s->steps < STEPS_MAX && s->shard < 0 &&
           (follow_slice(s) || follow_segments(s) || follow_bucketized(s))) {
        s->steps++;
    }
    return s->steps > 0;
}

static ig_value *make_offsets(const source *s, ig_builder *b, ig_dtype dtype) {
    assert(s->lengths && "offsets are sums of lengths");
    ig_expr e = ig_expr_of(b);
    ig_cumsum_attrs rising = { .axis = 0, .complete = true, .rising = true };
    ig_value *all = ig_build_cumsum(&e, s->lengths, rising);
    ig_dim size = ig_dim_add(s->j->module, s->bags, ig_dim_of(s->to_end ? 0 : 1));
    return ig_expr_cast(&e, ig_expr_slice(&e, all, 0, s->at, size, 1), dtype);
}

/* Ids of other shards are skipped. */
static ig_value *ids_of_shard(const source *s, ig_builder *b) {
    if (s->shard < 0) {
        return s->ids;
    }
    ig_expr e = ig_expr_of(b);
    ig_value *shard = ig_expr_integer(&e, IG_DT_i64, s->shard);
    ig_value *none = ig_expr_integer(&e, IG_DT_i64, -1);
    ig_value *is_mine = ig_build_eq(&e, s->bucket, ig_expr_like(&e, shard, s->bucket));
    return ig_build_where(&e, is_mine, s->ids, ig_expr_like(&e, none, s->ids));
}

static void rewrite_feature(ig_recogniser *r, ig_op *bag, uint32_t index,
                            const source *s) {
    assert(index < ig_bag_feature_count(bag) && "a feature of the bag");
    ig_bag_feature f = ig_bag_feature_at(bag, index);
    ig_builder b = ig_builder_before(bag);
    ig_dtype dtype = (ig_dtype)ig_op_operand(bag, f.begins)->type->dtype;
    uint32_t count = ig_bag_feature_count(bag);
    int64_t *last = IG_NEW_ARRAY(r->arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++) {
        last[i] = ig_bag_feature_at(bag, i).last;
    }
    last[index] = s->to_end ? IG_LAST_ids : IG_LAST_offset;
    ig_use_set(&bag->operands[f.begins], make_offsets(s, &b, dtype));
    ig_use_set(&bag->operands[f.ids], ids_of_shard(s, &b));
    if (f.weights) {
        ig_use_set(&bag->operands[f.weights], s->weights);
    }
    ig_attr_set(bag, IG_bag_last, ig_attr_of_ints(r->module, last, count));
    r->run->changed = true;
}

/* The order by which ids were sorted, though not as is known here; or NULL. */
static const ig_op *sort_of(const ig_op *bag, const ig_bag_feature *f) {
    const ig_op *op = ig_op_operand(bag, f->ids)->def;
    for (uint32_t i = 0; op && i < STEPS_MAX; i++) {
        const ig_op *sort = op->code == IG_OP_gather
                                ? ig_def(ig_op_operand(op, 1), IG_OP_sort)
                                : NULL;
        if (sort) {
            return sort;
        }
        op = op->code == IG_OP_slice || op->code == IG_OP_cast
                 ? ig_op_operand(op, 0)->def
                 : NULL;
    }
    return NULL;
}

/* ---- errors of the archive itself ---- */

static const char *table_name(const ig_op *bag, const ig_bag_feature *f) {
    const ig_op *table = ig_op_operand(bag, f->table)->def;
    const char *name = table ? ig_attr_str(table, 0) : NULL;
    return name ? name : "?";
}

static void warn_of_means(const ig_op *bag, const ig_bag_feature *f) {
    ig_warn(
        &ig_op_module(bag)->context->diag, ig_op_location(bag),
        "table '%s' is sharded by rows, and the means of its shards are added, which is not the mean of the bag; --fix rowwise-mean divides by the ids of the whole bag",
        table_name(bag, f));
}

/* Ids that nobody has a row for are bucketized by their remainders, so a shard reads
 * one of its rows for them.  `tables`: names of the parts. */
static void warn_of_range(const ig_op *bag, const ig_writer *tables) {
    if (tables->size) {
        ig_warn(
            &ig_op_module(bag)->context->diag, ig_op_location(bag),
            "sharded by rows: %s; an id out of range reads a row that depends on how many shards there are, as the archive says, and not the row that the whole table would give",
            tables->data);
    }
}

static void match_feature(ig_recogniser *r, ig_op *bag, const ig_jagged *j,
                          uint32_t index, ig_writer *bucketized_tables) {
    bool skips = ig_attr_int(bag, IG_bag_negative, 0) == IG_NEGATIVE_skip;
    bool is_whole = ig_attr_int(bag, IG_bag_whole, 0) != 0;
    ig_bag_feature f = ig_bag_feature_at(bag, index);
    bool is_mean = f.pool == IG_POOL_mean;
    source s = { .j = j, .shard = -1 };
    s.keeps_parts = !skips || f.padding != INT64_MIN || f.pool == IG_POOL_max ||
                    (is_mean && !is_whole);
    if (f.pool != IG_POOL_none && open_source(&s, bag, &f) && follow_steps(&s)) {
        rewrite_feature(r, bag, index, &s);
    }
    const ig_op *sort = sort_of(bag, &f);
    bucketized d = { .key = sort ? ig_op_operand(sort, 0) : NULL };
    if (s.is_bucketized || (d.key && read_key(&s, &d))) {
        ig_put(bucketized_tables, "%stable '%s'", bucketized_tables->size ? ", " : "",
               table_name(bag, &f));
    }
    if (is_mean && s.shard < 0 && (s.is_bucketized || (is_whole && sort))) {
        warn_of_means(bag, &f);
    }
}

static void match_bag(ig_recogniser *r, ig_op *bag) {
    ig_jagged j;
    ig_writer bucketized_tables;
    if (ig_attr_int(bag, IG_bag_offsets, 0) != IG_OFFSETS_clamp) {
        return; /* offsets that are errors in a part may be none in the whole */
    }
    ig_jagged_open(&j, r->graph, r->arena);
    ig_writer_init(&bucketized_tables, r->arena);
    for (uint32_t i = 0; i < ig_bag_feature_count(bag); i++) {
        match_feature(r, bag, &j, i, &bucketized_tables);
    }
    warn_of_range(bag, &bucketized_tables);
    if (ig_attr_is_set(bag, IG_bag_whole)) {
        ig_attr_set(bag, IG_bag_whole, (ig_attr){ 0 });
        r->run->changed = true;
    }
}

/* ---- rows of bucketized ids, put back in the order of ids ---- */

/* Each shard's part of the restored rows is the sum of its features' rows. */
typedef struct restored {
    ig_recogniser *r;
    ig_jagged j;
    ig_value *order; /* of the bucketized ids among those before */
    uint32_t shards, features;
    const ig_op **bags; /* of feature 0 by shard, of feature 1 … */
    uint32_t *indices;
    source *sources; /* of each feature in shard 0 */
    ig_dim end;      /* of the parts so far, in the bucketized ids */
} restored;

typedef IG_VEC(const ig_value *) row_list;

static bool collect_rows(ig_arena *arena, const ig_value *value, row_list *out,
                         uint32_t depth) {
    enum { DEPTH_MAX = 256, ROWS_MAX = 4096 };
    const ig_op *add = ig_def(value, IG_OP_add);
    if (depth > DEPTH_MAX || out->count >= ROWS_MAX ||
        (!add && !ig_def(value, IG_OP_bag))) {
        return false;
    }
    if (!add) {
        IG_PUSH(arena, out, value);
        return true;
    }
    return collect_rows(arena, ig_op_operand(add, 0), out, depth + 1) &&
           collect_rows(arena, ig_op_operand(add, 1), out, depth + 1);
}

/* A look-up without pooling of a slice of the bucketized ids, from `end` on. */
static bool is_bucketized_part(const restored *x, const ig_op *bag,
                               const ig_bag_feature *f) {
    const ig_op *slice = ig_def(ig_op_operand(bag, f->ids), IG_OP_slice);
    const ig_op *gather = slice && slices_rank_1(slice)
                              ? ig_def(ig_op_operand(slice, 0), IG_OP_gather)
                              : NULL;
    return gather && ig_op_operand(gather, 1) == x->order && f->pool == IG_POOL_none &&
           f->tables == 1 && !f->weights && f->padding == INT64_MIN &&
           ig_attr_int(bag, IG_bag_negative, 0) == IG_NEGATIVE_skip &&
           ig_attr_int(bag, IG_bag_offsets, 0) == IG_OFFSETS_clamp &&
           ig_dim_equal(x->r->module, slice->attrs[IG_slice_starts].as.dims[0],
                        x->end) == IG_YES;
}

/* Are two shards of a feature alike? */
static bool is_same_feature(const restored *x, const ig_op *a, uint32_t a_index,
                            const ig_op *b, uint32_t b_index) {
    const ig_type *s = ig_op_operand(a, ig_bag_feature_at(a, a_index).table)->type;
    const ig_type *t = ig_op_operand(b, ig_bag_feature_at(b, b_index).table)->type;
    int64_t rows = 0;
    return s->kind == t->kind && s->dtype == t->dtype && s->rank == t->rank &&
           ig_rows_equal(s->rows, t->rows) && ig_dim_same(s->dims[1], t->dims[1]) &&
           ig_dim_constant(x->r->module, t->dims[0], &rows) && rows > 0 &&
           rows < (int64_t)1 << IG_BAG_ROW_BITS &&
           a->results[a_index].type->dtype == b->results[b_index].type->dtype &&
           ig_attr_int(a, IG_bag_range, 0) == ig_attr_int(b, IG_bag_range, 0);
}

static bool read_rows(restored *x, uint32_t shard, uint32_t k, const ig_value *rows) {
    const ig_op *bag = rows->def;
    uint32_t index = rows->index, position = k * x->shards + shard;
    ig_bag_feature f = ig_bag_feature_at(bag, index);
    source s = { .j = &x->j, .shard = -1 }, *first = &x->sources[k];
    if (!is_bucketized_part(x, bag, &f) || !open_source(&s, bag, &f) ||
        !follow_steps(&s) || s.shard != (int64_t)shard) {
        return false;
    }
    x->bags[position] = bag;
    x->indices[position] = index;
    *first = shard ? *first : s;
    return s.bucket == first->bucket && s.ids == first->ids &&
           s.lengths == first->lengths && is_equal(&s, s.at, first->at) &&
           is_equal(&s, s.bags, first->bags) &&
           is_same_feature(x, x->bags[(size_t)k * x->shards], x->indices[k * x->shards],
                           bag, index);
}

static bool read_part(restored *x, uint32_t shard, const ig_value *part) {
    row_list rows = { 0 };
    if (!collect_rows(x->r->arena, part, &rows, 0)) {
        return false;
    }
    if (!x->features) {
        x->features = (uint32_t)rows.count;
        x->bags = IG_NEW_ARRAY(x->r->arena, const ig_op *, rows.count * x->shards);
        x->indices = IG_NEW_ARRAY(x->r->arena, uint32_t, rows.count * x->shards);
        x->sources = IG_NEW_ARRAY(x->r->arena, source, rows.count);
    }
    bool is_read = rows.count == x->features;
    for (uint32_t k = 0; is_read && k < x->features; k++) {
        is_read = read_rows(x, shard, k, rows.items[k]);
    }
    x->end = ig_dim_add(x->r->module, x->end, part->type->dims[0]);
    return is_read;
}

/* gather (concat …), (sort (sort key)): the sort of an order undoes it. */
static bool read_restored(restored *x, const ig_op *gather) {
    const ig_op *concat = ig_def(ig_op_operand(gather, 0), IG_OP_concat);
    const ig_op *back = ig_def(ig_op_operand(gather, 1), IG_OP_sort);
    if (!concat || !back || ig_op_operand(gather, 1)->index != 1 ||
        ig_attr_int(gather, IG_gather_axis, 0) != 0 ||
        ig_attr_int(concat, IG_concat_axis, 0) != 0 ||
        ig_attr_int(back, IG_sort_descending, 0)) {
        return false;
    }
    x->order = ig_op_operand(back, 0);
    x->shards = concat->operand_count;
    const ig_op *sort = ig_def(x->order, IG_OP_sort);
    bool is_read = sort && x->order->index == 1;
    for (uint32_t i = 0; is_read && i < x->shards; i++) {
        is_read = read_part(x, i, ig_op_operand(concat, i));
    }
    return is_read;
}

/* Each id's row is looked up at the id's position, in the order of the ids. */
static void match_order(ig_recogniser *r, ig_op *gather) {
    restored x = { .r = r };
    ig_jagged_open(&x.j, r->graph, r->arena);
    if (!ig_def(ig_op_operand(gather, 0), IG_OP_concat) || !read_restored(&x, gather)) {
        return;
    }
    ig_builder b = ig_builder_before(gather);
    ig_value *all = NULL;
    ig_expr e = ig_expr_of(&b);
    for (uint32_t k = 0; k < x.features; k++) {
        source *s = &x.sources[k];
        size_t first = (size_t)k * x.shards;
        ig_shards shards = { .bags = x.bags + first,
                             .indices = x.indices + first,
                             .count = x.shards,
                             .shard_of = s->bucket,
                             .row = s->ids };
        s->to_end = false;
        shards.offsets = make_offsets(s, &b, IG_DT_i64);
        ig_value *rows = ig_shards_bag(r, &b, &shards);
        all = all ? ig_build_add(&e, all, rows) : rows;
    }
    ig_recogniser_replace(r, &gather->results[0], all);
    ig_recogniser_sweep(r, gather);
    r->run->changed = true;
}

ig_status ig_pass_bag_whole(ig_pass_run *run, ig_graph *graph) {
    IG_TRY(ig_recognise(run, graph, IG_OP_bag, match_bag));
    return ig_recognise(run, graph, IG_OP_gather, match_order);
}
