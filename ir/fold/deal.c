/* deal: ids of bags, in order of the ranks that have their rows.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ids of one rank stay in their order, so that bags of one rank are one after the other
 * too: next[rank] is where its next id goes.
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

typedef struct dealer {
    ig_eval *eval;
    const ig_op *op;
    const ig_tensor *lengths, *ids, *weights;
    const int64_t *starts, *ranks, *bases;
    int64_t world;
    uint32_t shards;
    bool keeps, is_distinct;
    ig_map counted, positions; /* of distinct ids: id -> 1; id -> 1 + where it went */
    int64_t *slots;         /* by rank: which of those that have rows it is; -1: none */
    int64_t slot_count;     /* of them */
    int64_t *counts, *next; /* by rank */
} dealer;

/* The shard with row `id`: the last that starts there or before. */
static uint32_t shard_of(const dealer *d, int64_t id) {
    uint32_t low = 0, high = d->shards;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (d->starts[middle] <= id) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static ig_status open_dealer(dealer *d) {
    ig_map_init(&d->counted, d->eval->scratch);
    ig_map_init(&d->positions, d->eval->scratch);
    IG_TRY(ig_eval_scratch(d->eval, d->op, d->world, sizeof(int64_t), &d->slots));
    IG_TRY(ig_eval_scratch(d->eval, d->op, d->world, sizeof(int64_t), &d->counts));
    IG_TRY(ig_eval_scratch(d->eval, d->op, d->world, sizeof(int64_t), &d->next));
    for (uint32_t i = 0; i < d->shards; i++) {
        d->slots[d->ranks[i]] = 1;
    }
    for (int64_t rank = 0; rank < d->world; rank++) {
        d->slots[rank] = d->slots[rank] ? d->slot_count++ : -1;
    }
    return IG_OK;
}

/* Does id number `i` go anywhere? */
static bool is_dealt(dealer *d, int64_t id) {
    if (id < 0 || !d->is_distinct) {
        return id >= 0 || d->keeps;
    }
    bool is_first = !ig_map_get_id(&d->counted, (uint64_t)id);
    ig_map_set_id(&d->counted, (uint64_t)id, d);
    return is_first;
}

/* How many ids go to each rank; is every one of them in a bag? */
static ig_status count_ids(dealer *d) {
    int64_t ids = d->ids->count, left = ids;
    for (int64_t i = 0; i < d->lengths->count; i++) {
        int64_t length = ig_tensor_get_i64(d->lengths, i);
        if (length < 0 || length > left) {
            return FOLD_ERROR(d->eval, d->op,
                              "deal: bag %lld has %lld ids, and %lld are left",
                              (long long)i, (long long)length, (long long)left);
        }
        left -= length;
    }
    for (int64_t i = 0; i < ids; i++) {
        int64_t id = ig_tensor_get_i64(d->ids, i);
        if (id < -1) {
            return FOLD_ERROR(d->eval, d->op, "deal: id %lld at position %lld",
                              (long long)id, (long long)i);
        }
        if (is_dealt(d, id)) {
            d->counts[d->ranks[shard_of(d, id)]]++;
        }
    }
    return left == 0 ? IG_OK
                     : FOLD_ERROR(d->eval, d->op, "deal: %lld ids are in no bag",
                                  (long long)left);
}

static void deal_id(dealer *d, int64_t from, int64_t bag, ig_tensor *out) {
    int64_t id = ig_tensor_get_i64(d->ids, from), bags = d->lengths->count;
    if (id < 0 && !d->keeps) {
        ig_tensor_set_i64(&out[4], from, -1);
        return;
    }
    uintptr_t position = d->is_distinct
                             ? (uintptr_t)ig_map_get_id(&d->positions, (uint64_t)id)
                             : 0;
    if (position) {
        ig_tensor_set_i64(&out[4], from, (int64_t)position - 1);
        return;
    }
    uint32_t shard = shard_of(d, id);
    int64_t rank = d->ranks[shard], to = d->next[rank]++;
    int64_t row = id < 0 ? -1 : id - d->starts[shard] + d->bases[shard];
    int64_t part = d->slots[rank] * bags + bag;
    ig_tensor_set_i64(&out[0], part, ig_tensor_get_i64(&out[0], part) + 1);
    ig_tensor_set_i64(&out[2], to, row);
    ig_tensor_set_i64(&out[4], from, to);
    if (d->is_distinct) {
        ig_map_set_id(&d->positions, (uint64_t)id, (void *)(uintptr_t)(to + 1));
    }
    if (d->weights) {
        ig_span_copy(&out[5], to, d->weights, from, 1);
    }
}

static ig_status make_results(dealer *d, ig_tensor *out) {
    int64_t bags = d->lengths->count * d->slot_count, dealt = 0;
    for (int64_t rank = 0; rank < d->world; rank++) {
        d->next[rank] = dealt;
        dealt += d->counts[rank];
    }
    IG_TRY(ig_eval_alloc(d->eval, d->op, IG_DT_i64, 1, &bags, &out[0]));
    IG_TRY(ig_eval_alloc(d->eval, d->op, IG_DT_i64, 1, &d->world, &out[1]));
    IG_TRY(ig_eval_alloc(d->eval, d->op, IG_DT_i64, 1, &dealt, &out[2]));
    IG_TRY(ig_eval_alloc(d->eval, d->op, IG_DT_i64, 1, &d->world, &out[3]));
    IG_TRY(ig_eval_alloc(d->eval, d->op, IG_DT_i64, 1, d->ids->dims, &out[4]));
    for (int64_t rank = 0; rank < d->world; rank++) {
        bool has_rows = d->slots[rank] >= 0;
        ig_tensor_set_i64(&out[1], rank, has_rows ? d->lengths->count : 0);
        ig_tensor_set_i64(&out[3], rank, d->counts[rank]);
    }
    return d->weights
               ? ig_eval_alloc(d->eval, d->op, d->weights->dtype, 1, &dealt, &out[5])
               : IG_OK;
}

ig_status ig_fold_deal(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                       ig_tensor *out) {
    dealer d = { .eval = eval,
                 .op = op,
                 .lengths = in[0],
                 .ids = in[1],
                 .weights = op->operand_count > 2 ? in[2] : NULL,
                 .starts = op->attrs[IG_deal_starts].as.ints,
                 .ranks = op->attrs[IG_deal_ranks].as.ints,
                 .bases = op->attrs[IG_deal_bases].as.ints,
                 .world = ig_attr_int(op, IG_deal_world, 1),
                 .shards = op->attrs[IG_deal_starts].count,
                 .keeps = ig_attr_int(op, IG_deal_keep, 0),
                 .is_distinct = ig_attr_int(op, IG_deal_distinct, 0) };
    if (d.weights && d.weights->count != d.ids->count) {
        return FOLD_ERROR(eval, op, "deal: %lld weights for %lld ids",
                          (long long)d.weights->count, (long long)d.ids->count);
    }
    IG_TRY(open_dealer(&d));
    IG_TRY(count_ids(&d));
    IG_TRY(make_results(&d, out));
    int64_t at = 0;
    for (int64_t bag = 0; bag < d.lengths->count; bag++) {
        int64_t end = at + ig_tensor_get_i64(d.lengths, bag);
        for (; at < end; at++) {
            deal_id(&d, at, bag, out);
        }
    }
    return IG_OK;
}
