/* Rows for global ids: a hash table of 16-byte slots, and records that order eviction.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The table is cut into groups; an id belongs to one group and is found there by linear
 * probing that wraps at the group's end.  A group of 32 slots is 8 cache lines
 * (CACHELINE); one group is all of the table in the NAIVE form.  Removal shifts the
 * followers back, so that a probe ends at the first empty slot.
 *
 * A record is one number that orders ids by use: 5 bits of frequency over 27 bits of
 * the last time.  A use at frequency f raises f with probability 2^-f (Morris's
 * counter), as TorchRec's mixed_lru_lfu_strategy.h does.
 */
#include "base/sized.h"
#include "runtime/store/call.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP_SLOTS = 32,
    SLOTS_AFTER = 4, /* a line that stays empty: guess_slot looks there */
    TIME_BITS = 27,
    FREQUENCY_MAX = 31,
    BLOCK_IDS = 64 /* that are hashed, and asked of memory, before they are looked at */
};

typedef struct slot {
    int64_t key; /* ~id, which is negative; 0: empty */
    uint32_t row, record;
} slot;

struct ig_id_map {
    slot *slots;
    uint64_t group_mask, slot_mask; /* groups - 1; slots of a group - 1 */
    uint32_t group_bits;            /* log2 of the slots of a group */
    uint64_t *taken;                /* a bit a row */
    size_t row_count, count, first_free_word;
    uint64_t random;
    uint32_t frequency, now;
    int64_t released; /* a time; -1: none yet */
};

/* As many rows are taken as there are ids, all rows below the first word that may have
 * a free one among them. */
static void check_rows(const ig_id_map *map) {
    size_t taken = 0;
    for (size_t i = 0; i < (map->row_count + 63) / 64; i++) {
        assert((i >= map->first_free_word || map->taken[i] == UINT64_MAX) &&
               "rows below the first free word are taken");
        taken += (size_t)__builtin_popcountll(map->taken[i]);
    }
    assert(taken == map->count && "an id has a row of its own");
    assert(map->count <= map->row_count && "there are no more ids than rows");
    (void)taken;
}

/* ---- life cycle ---- */

static uint64_t power_of_two_from(uint64_t number) {
    uint64_t power = 1;
    while (power < number) {
        power *= 2;
    }
    return power;
}

ig_status ig_id_map_create(ig_id_map_kind kind, int64_t row_count, uint32_t frequency,
                           const ig_store_call *given, ig_id_map **out_map) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    if (row_count < 1 || row_count > IG_ID_MAP_ROWS || frequency > FREQUENCY_MAX) {
        return ig_store_fail(&call, IG_INVALID,
                             "an id map has 1 to %d rows and a frequency of 0 to %d",
                             IG_ID_MAP_ROWS, FREQUENCY_MAX);
    }
    uint64_t slots = power_of_two_from(2 * (uint64_t)row_count);
    slots = slots < GROUP_SLOTS ? GROUP_SLOTS : slots;
    uint64_t group = kind == IG_ID_MAP_NAIVE ? slots : GROUP_SLOTS;
    size_t words = ((size_t)row_count + 63) / 64;
    ig_id_map *map = calloc(1, sizeof *map);
    size_t bytes = (slots + SLOTS_AFTER) * sizeof(slot);
    slot *table = aligned_alloc(64, bytes);
    uint64_t *taken = calloc(words, sizeof *taken);
    if (!map || !table || !taken) {
        free(map);
        free(table);
        free(taken);
        return ig_store_fail(&call, IG_LIMIT, "out of memory for %lld rows",
                             (long long)row_count);
    }
    memset(table, 0, bytes);
    *map = (ig_id_map){ .slots = table,
                        .group_mask = slots / group - 1,
                        .slot_mask = group - 1,
                        .group_bits = (uint32_t)__builtin_ctzll(group),
                        .taken = taken,
                        .row_count = (size_t)row_count,
                        .random = UINT64_C(0x9e3779b97f4a7c15),
                        .frequency = frequency,
                        .released = -1 };
    *out_map = map;
    return IG_OK;
}

void ig_id_map_destroy(ig_id_map *map) {
    if (map) {
        free(map->slots);
        free(map->taken);
        free(map);
    }
}

size_t ig_id_map_count(const ig_id_map *map) {
    return map->count;
}

/* ---- records ---- */

/* Knuth's MMIX generator, of which the high half is used. */
static uint32_t draw_random(uint64_t *random) {
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*random >> 32);
}

static uint32_t time_of(uint32_t record) {
    return record & IG_ID_MAP_TIME;
}

/* A frequency f rises where the f lowest of the drawn bits are 0, and never at 31. */
static uint32_t record_use(uint64_t *random, uint32_t record, uint32_t time) {
    uint32_t frequency = record >> TIME_BITS;
    uint32_t drawn = draw_random(random) | UINT32_C(1) << (FREQUENCY_MAX - 1);
    uint32_t rises = (uint32_t)__builtin_ctz(drawn) >= frequency;
    return (frequency + rises) << TIME_BITS | time;
}

/* ---- slots ---- */

/* One product mixes upwards; both its halves are folded into the used bits, so that ids
 * that differ only in high bits, or by a power of two, are apart. */
static uint64_t hash_id(int64_t id) {
    uint64_t h = (uint64_t)id;
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

/* Where the search for an id begins: a place of its group. */
static uint64_t home_of(const ig_id_map *map, uint64_t hash) {
    return hash & (map->group_mask << map->group_bits | map->slot_mask);
}

static slot *group_of(const ig_id_map *map, uint64_t hash) {
    return map->slots +
           ((hash >> map->group_bits & map->group_mask) << map->group_bits);
}

/* The slot of the id, or the empty one where it would go; NULL: the group is full. */
static slot *find_slot(const ig_id_map *map, int64_t id, uint64_t hash) {
    slot *group = group_of(map, hash);
    for (uint64_t i = 0; i <= map->slot_mask; i++) {
        slot *s = group + ((hash + i) & map->slot_mask);
        if (s->key == ~id || s->key == 0) {
            return s;
        }
    }
    return NULL;
}

/* Empties `gone` and moves back its followers, up to the first empty slot. */
static void clear_slot(ig_id_map *map, slot *gone) {
    uint64_t mask = map->slot_mask;
    slot *group = group_of(map, hash_id(~gone->key));
    uint64_t hole = (uint64_t)(gone - group);
    for (uint64_t steps = 1; steps <= mask; steps++) {
        uint64_t at = ((uint64_t)(gone - group) + steps) & mask;
        if (group[at].key == 0) {
            break;
        }
        uint64_t home = hash_id(~group[at].key) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            group[hole] = group[at];
            hole = at;
        }
    }
    group[hole] = (slot){ 0, 0, 0 };
}

/* ---- rows ---- */

/* The lowest free row, taken now; there must be one. */
static uint32_t take_row(ig_id_map *map) {
    size_t word = map->first_free_word;
    while (map->taken[word] == UINT64_MAX) {
        word++;
    }
    map->first_free_word = word;
    uint32_t bit = (uint32_t)__builtin_ctzll(~map->taken[word]);
    map->taken[word] |= UINT64_C(1) << bit;
    map->count++;
    return (uint32_t)(word * 64 + bit);
}

static void free_row(ig_id_map *map, uint32_t row) {
    size_t word = row / 64;
    assert(map->taken[word] >> row % 64 & 1 && "a row that is taken is freed");
    map->taken[word] &= ~(UINT64_C(1) << row % 64);
    map->first_free_word = word < map->first_free_word ? word : map->first_free_word;
    map->count--;
}

/* ---- transforming ---- */

static bool are_ids(const int64_t *ids, size_t count) {
    int64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        all |= ids[i];
    }
    return all >= 0;
}

/* Sets the homes of ids, and asks memory for them; returns how many. */
static size_t find_homes(const ig_id_map *map, const int64_t *ids, size_t count,
                         uint32_t homes[BLOCK_IDS]) {
    count = count < BLOCK_IDS ? count : BLOCK_IDS;
    for (size_t i = 0; i < count; i++) {
        homes[i] = (uint32_t)home_of(map, hash_id(ids[i]));
    }
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(map->slots + homes[i], 1);
    }
    return count;
}

static ig_status begin_batch(ig_id_map *map, ig_id_batch *batch) {
    if (!ig_is_sized(batch)) {
        return IG_INVALID;
    }
    batch->fresh_count = 0;
    batch->done = 0;
    if (batch->time < map->now || batch->time > IG_ID_MAP_TIME ||
        !are_ids(batch->ids, batch->count)) {
        return IG_INVALID;
    }
    map->now = batch->time;
    return IG_OK;
}

/* The slot of most ids: their home or the one after it, which may be another
 * group's or after the last, where no such id is.  No branch tells which. */
static slot *guess_slot(slot *slots, int64_t id, uint32_t home) {
    slot *s = slots + home;
    return s + (s->key != ~id);
}

/* The row of an id that is elsewhere or new; -1: there is none for it. */
static int64_t place_id(ig_id_map *map, ig_id_batch *batch, int64_t id,
                        uint64_t *random) {
    slot *s = find_slot(map, id, hash_id(id));
    if (!s || (s->key == 0 && map->count == map->row_count)) {
        return -1;
    }
    if (s->key != 0) {
        s->record = record_use(random, s->record, batch->time);
    } else {
        *s = (slot){ ~id, take_row(map), map->frequency << TIME_BITS | batch->time };
        batch->fresh[batch->fresh_count++] = (ig_id_row){ id, s->row };
    }
    return s->row;
}

/* Rows of ids of a block, up to the first that gets none; returns how many. */
static size_t transform_block(ig_id_map *map, ig_id_batch *batch, const int64_t *ids,
                              const uint32_t *homes, size_t count) {
    slot *slots = map->slots;
    int64_t *rows = batch->rows + (ids - batch->ids);
    uint64_t random = map->random; /* a copy: rows could overlap it */
    uint32_t time = batch->time;
    size_t i = 0;
    for (; i < count; i++) {
        slot *s = guess_slot(slots, ids[i], homes[i]);
        if (s->key == ~ids[i]) {
            s->record = record_use(&random, s->record, time);
            rows[i] = s->row;
            continue;
        }
        rows[i] = place_id(map, batch, ids[i], &random);
        if (rows[i] < 0) {
            break;
        }
    }
    map->random = random;
    check_rows(map);
    return i;
}

ig_status ig_id_map_transform(ig_id_map *map, ig_id_batch *batch) {
    uint32_t homes[BLOCK_IDS];
    IG_TRY(begin_batch(map, batch));
    while (batch->done < batch->count) {
        const int64_t *ids = batch->ids + batch->done;
        size_t count = find_homes(map, ids, batch->count - batch->done, homes);
        size_t done = transform_block(map, batch, ids, homes, count);
        batch->done += done;
        if (done < count) {
            return IG_LIMIT;
        }
    }
    return IG_OK;
}

ig_status ig_id_map_find(ig_id_map *map, ig_id_batch *batch) {
    uint32_t homes[BLOCK_IDS];
    IG_TRY(begin_batch(map, batch));
    for (size_t count; batch->done < batch->count; batch->done += count) {
        const int64_t *ids = batch->ids + batch->done;
        int64_t *rows = batch->rows + batch->done;
        count = find_homes(map, ids, batch->count - batch->done, homes);
        for (size_t i = 0; i < count; i++) {
            slot *s = guess_slot(map->slots, ids[i], homes[i]);
            s = s->key == ~ids[i] ? s : find_slot(map, ids[i], hash_id(ids[i]));
            bool is_there = s && s->key != 0;
            if (is_there) {
                s->record = record_use(&map->random, s->record, batch->time);
            }
            rows[i] = is_there ? (int64_t)s->row : -1;
        }
    }
    return IG_OK;
}

void ig_id_map_release(ig_id_map *map, uint32_t time) {
    map->released = time > map->released ? (int64_t)time : map->released;
}

/* ---- evicting ---- */

static size_t slot_count(const ig_id_map *map) {
    return (size_t)(map->group_mask + 1) << map->group_bits;
}

/* Is `a` used less than `b`?  Equal records go by row, so that the order is one. */
static bool is_less_used(const slot *a, const slot *b) {
    return a->record != b->record ? a->record < b->record : a->row < b->row;
}

/* A heap of pointers to slots with the most used at its top. */
static void sink_slot(const slot **heap, size_t count, size_t at) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < count && is_less_used(heap[child], heap[child + 1])) {
            child++;
        }
        if (child >= count || !is_less_used(heap[at], heap[child])) {
            return;
        }
        const slot *swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
        at = child;
    }
}

static void raise_slot(const slot **heap, size_t at) {
    while (at > 0 && is_less_used(heap[(at - 1) / 2], heap[at])) {
        const slot *swap = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = swap;
        at = (at - 1) / 2;
    }
}

/* The `count` least used slots that are not pinned, as a heap; returns how many. */
static size_t choose_min(const ig_id_map *map, size_t count, const slot **heap) {
    size_t chosen = 0;
    for (size_t i = 0, slots = slot_count(map); i < slots; i++) {
        const slot *s = map->slots + i;
        if (s->key == 0 || time_of(s->record) > map->released) {
            continue;
        }
        if (chosen < count) {
            heap[chosen] = s;
            raise_slot(heap, chosen++);
        } else if (is_less_used(s, heap[0])) {
            heap[0] = s;
            sink_slot(heap, count, 0);
        }
    }
    return chosen;
}

size_t ig_id_map_choose(const ig_id_map *map, size_t count, ig_id_row *min) {
    count = count < map->count ? count : map->count;
    const slot **heap = count > 0 ? malloc(count * sizeof(const slot *)) : NULL;
    if (!heap) {
        return 0;
    }
    size_t chosen = choose_min(map, count, heap);
    for (size_t left = chosen; left > 0; left--) { /* from the most used down */
        min[left - 1] = (ig_id_row){ ~heap[0]->key, heap[0]->row };
        heap[0] = heap[left - 1];
        sink_slot(heap, left - 1, 0);
    }
    free(heap);
    return chosen;
}

void ig_id_map_forget(ig_id_map *map, const ig_id_row *gone, size_t count) {
    for (size_t i = 0; i < count; i++) {
        slot *s = find_slot(map, gone[i].id, hash_id(gone[i].id));
        if (s && s->key == ~gone[i].id) {
            free_row(map, s->row);
            clear_slot(map, s);
        }
    }
    check_rows(map);
}

void ig_id_map_halve_times(ig_id_map *map) {
    assert(map->released >= (int64_t)map->now && "no batch is unreleased");
    for (size_t i = 0, slots = slot_count(map); i < slots; i++) {
        uint32_t record = map->slots[i].record;
        map->slots[i].record = (record & ~(uint32_t)IG_ID_MAP_TIME) |
                               time_of(record) / 2;
    }
    map->now /= 2;
    map->released = map->now;
}

size_t ig_id_map_list(const ig_id_map *map, int64_t since, ig_id_row *used,
                      size_t room) {
    size_t found = 0;
    for (size_t i = 0, slots = slot_count(map); i < slots; i++) {
        const slot *s = map->slots + i;
        if (s->key == 0 || time_of(s->record) <= since) {
            continue;
        }
        if (found < room) {
            used[found] = (ig_id_row){ ~s->key, s->row };
        }
        found++;
    }
    return found;
}
