/* Functions of ranks about ids: deal.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Written apart from the interpreter's (ir/fold/deal.c), which judges it.  Where an id
 * goes but once, a table of at least twice their number holds those seen: an id's slot
 * follows from its product with an odd number, or is the next free one.
 */
#include "base/checked.h"
#include "base/status.h"
#include "runtime/collective/ranks.h"

#include <stdlib.h>
#include <string.h>

enum { DEAL_PARAMS = 7, MIN_SEEN = 64 };

typedef struct ig_seen_id {
    int64_t id, position; /* -1: none; not yet known */
} ig_seen_id;

/* ---- ids that came before ---- */

typedef struct seen_ids {
    ig_seen_id *slots;
    size_t mask;
} seen_ids;

/* An empty table for `ids`.  False: no memory. */
static bool open_seen(ig_group *group, const ig_host_call *call, int64_t ids,
                      seen_ids *out) {
    size_t room = MIN_SEEN;
    while (room / 2 < (size_t)ids) {
        room *= 2;
    }
    if (room > group->seen_room) {
        free(group->seen);
        group->seen = calloc(room, sizeof *group->seen);
        group->seen_room = group->seen ? room : 0;
    }
    if (!group->seen) {
        *call->status = IG_LIMIT;
        return ig_rank_refuse(call, "deal: no memory for %lld ids", (long long)ids);
    }
    memset(group->seen, 0xff, room * sizeof *group->seen);
    *out = (seen_ids){ group->seen, room - 1 };
    return true;
}

/* The id's entry, made where there is none. */
static ig_seen_id *find_seen(const seen_ids *seen, int64_t id) {
    uint64_t at = (uint64_t)id * 0x9e3779b97f4a7c15u >> 32;
    while (seen->slots[at & seen->mask].id >= 0 &&
           seen->slots[at & seen->mask].id != id) {
        at++;
    }
    return &seen->slots[at & seen->mask];
}

/* Was it not seen before?  Now it is. */
static bool see_id(const seen_ids *seen, int64_t id) {
    ig_seen_id *entry = find_seen(seen, id);
    bool is_new = entry->id < 0;
    entry->id = id;
    return is_new;
}

/* ---- dealing ---- */

typedef struct dealer {
    const ig_host_call *call;
    int64_t world, shards, bag_count, id_count, weight_bytes;
    bool keeps, is_distinct;
    seen_ids seen;
    const int64_t *lengths, *ids, *starts, *ranks, *bases, *indices;
    const char *weights;
    int64_t *to_lengths, *bags_of, *to_ids, *ids_of, *positions, *next;
    char *to_weights;
} dealer;

/* The shard with row `id`: the last that starts there or before. */
static int64_t shard_of(const dealer *d, int64_t id) {
    int64_t low = 0, high = d->shards;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        low = d->starts[middle] <= id ? middle : low;
        high = d->starts[middle] <= id ? high : middle;
    }
    return low;
}

static bool refuse_bags(const dealer *d) {
    return ig_rank_refuse(d->call, "deal: the bags do not have %lld ids together",
                          (long long)d->id_count);
}

static bool is_dealt(const dealer *d, int64_t id) {
    return id < 0 ? d->keeps : !d->is_distinct || see_id(&d->seen, id);
}

/* How many go to each rank, and the index of its first. */
static bool count_ids(dealer *d) {
    int64_t left = d->id_count, at = 0;
    for (int64_t i = 0; i < d->bag_count; i++) {
        if (d->lengths[i] < 0 || d->lengths[i] > left) {
            return refuse_bags(d);
        }
        left -= d->lengths[i];
    }
    memset(d->ids_of, 0, (size_t)d->world * sizeof *d->ids_of);
    for (int64_t i = 0; i < d->id_count; i++) {
        if (d->ids[i] < -1) {
            return ig_rank_refuse(d->call, "deal: id %lld at position %lld",
                                  (long long)d->ids[i], (long long)i);
        }
        if (is_dealt(d, d->ids[i])) {
            d->ids_of[d->ranks[shard_of(d, d->ids[i])]]++;
        }
    }
    for (int64_t rank = 0; rank < d->world; rank++) {
        d->next[rank] = at;
        at += d->ids_of[rank];
    }
    return left == 0 ? true : refuse_bags(d);
}

static void deal_id(dealer *d, int64_t from, int64_t bag) {
    int64_t id = d->ids[from];
    if (id < 0 && !d->keeps) {
        d->positions[from] = -1;
        return;
    }
    ig_seen_id *seen = d->is_distinct ? find_seen(&d->seen, id) : NULL;
    if (seen && seen->position >= 0) {
        d->positions[from] = seen->position;
        return;
    }
    int64_t shard = shard_of(d, id), rank = d->ranks[shard], to = d->next[rank]++;
    d->to_lengths[d->indices[rank] * d->bag_count + bag]++;
    d->to_ids[to] = id < 0 ? -1 : id - d->starts[shard] + d->bases[shard];
    d->positions[from] = to;
    if (seen) {
        seen->position = to;
    }
    if (d->weights) {
        memcpy(d->to_weights + to * d->weight_bytes,
               d->weights + from * d->weight_bytes, (size_t)d->weight_bytes);
    }
}

static bool open_dealer(const ig_host_call *call, dealer *d) {
    const int64_t *p = call->params;
    if (call->param_count != DEAL_PARAMS) {
        return false;
    }
    *d = (dealer){ .call = call,
                   .world = p[0],
                   .shards = p[1],
                   .keeps = p[2] != 0,
                   .bag_count = p[3],
                   .id_count = p[4],
                   .weight_bytes = p[5],
                   .is_distinct = p[6] != 0 };
    uint32_t extra = d->weight_bytes > 0, next = 5 + extra, in = next + 1;
    uint32_t shards = in + 2 + extra;
    void *const *buffers = call->buffers;
    if (call->buffer_count != shards + 1 || d->world < 1 || d->shards < 1 ||
        d->shards > INT32_MAX || d->world > INT32_MAX ||
        !ig_rank_holds(call, 1, d->world, 8) || !ig_rank_holds(call, 3, d->world, 8) ||
        !ig_rank_holds(call, 4, d->id_count, 8) ||
        !ig_rank_holds(call, next, d->world, 8) ||
        !ig_rank_holds(call, in, d->bag_count, 8) ||
        !ig_rank_holds(call, in + 1, d->id_count, 8) ||
        (extra && !ig_rank_holds(call, in + 2, d->id_count, d->weight_bytes)) ||
        !ig_rank_holds(call, shards, 3 * d->shards + d->world, 8)) {
        return false;
    }
    d->to_lengths = buffers[0];
    d->bags_of = buffers[1];
    d->to_ids = buffers[2];
    d->ids_of = buffers[3];
    d->positions = buffers[4];
    d->to_weights = extra ? buffers[5] : NULL;
    d->next = buffers[next];
    d->lengths = buffers[in];
    d->ids = buffers[in + 1];
    d->weights = extra ? buffers[in + 2] : NULL;
    d->starts = buffers[shards];
    d->ranks = d->starts + d->shards;
    d->bases = d->ranks + d->shards;
    d->indices = d->bases + d->shards;
    return true;
}

bool ig_rank_deal_count(ig_group *group, const ig_host_call *call) {
    if (call->buffer_count != 2 || call->param_count != 3 ||
        !ig_rank_holds(call, 0, 1, 8) || !ig_rank_holds(call, 1, call->params[1], 8)) {
        return false;
    }
    const int64_t *ids = call->buffers[1];
    int64_t count = 0;
    bool is_distinct = call->params[2] != 0;
    seen_ids seen;
    if (is_distinct && !open_seen(group, call, call->params[1], &seen)) {
        return false;
    }
    for (int64_t i = 0; i < call->params[1]; i++) {
        bool is_new = !is_distinct || ids[i] < 0 || see_id(&seen, ids[i]);
        count += is_new && (call->params[0] || ids[i] >= 0);
    }
    *(int64_t *)call->buffers[0] = count;
    return true;
}

bool ig_rank_deal(ig_group *group, const ig_host_call *call) {
    dealer d;
    if (!open_dealer(call, &d) ||
        (d.is_distinct && !open_seen(group, call, d.id_count, &d.seen)) ||
        !count_ids(&d)) {
        return false;
    }
    int64_t held = 0, dealt = d.next[d.world - 1] + d.ids_of[d.world - 1], at = 0, size;
    for (int64_t rank = 0; rank < d.world; rank++) {
        bool has_rows = d.indices[rank] >= 0;
        d.bags_of[rank] = has_rows ? d.bag_count : 0;
        held += has_rows;
    }
    if (!ig_mul_i64(held, d.bag_count, &size) || !ig_rank_holds(call, 0, size, 8) ||
        !ig_rank_holds(call, 2, dealt, 8) ||
        (d.weights && !ig_rank_holds(call, 5, dealt, d.weight_bytes))) {
        return false;
    }
    if (size) {
        memset(d.to_lengths, 0, (size_t)size * sizeof *d.to_lengths);
    }
    for (int64_t bag = 0; bag < d.bag_count; bag++) {
        for (int64_t end = at + d.lengths[bag]; at < end; at++) {
            deal_id(&d, at, bag);
        }
    }
    return true;
}
