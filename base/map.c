/* Hash map: slots of indices into entries that stay in order of insertion.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   slots    [ 0 | 2 | 0 | 1 | 0 | 3 | 0 | 0 ]     index + 1, linear probing
 *   entries  [ k0 v0 | k1 v1 | k2 v2 ]             order of insertion
 *
 * The hash is seeded with an address, so that names in a model file cannot be chosen to
 * collide; nothing that is written out depends on it, because iteration never looks at
 * slots.
 */
#include "base/map.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

enum { FIRST_SLOTS = 16 };

void ig_map_init(ig_map *map, ig_arena *arena) {
    assert(arena && "a map lives in an arena");
    *map = (ig_map){ .arena = arena };
    map->seed = (IG_MAP_PTR(map) ^ IG_MAP_PTR(arena)) * 0x9e3779b97f4a7c15u;
}

/* Spreads an integer key over all bits (the finaliser of splitmix64). */
static uint64_t mix_bits(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t hash_of(const ig_map *map, const ig_map_entry *entry) {
    return entry->key.data ? entry->id : mix_bits(entry->id ^ map->seed);
}

static bool same_key(const ig_map_entry *a, const ig_map_entry *b) {
    return a->id == b->id && !a->key.data == !b->key.data &&
           ig_str_equal(a->key, b->key);
}

/* The slot that holds `key`, or the free one where it belongs. */
static uint32_t *find_slot(const ig_map *map, const ig_map_entry *key) {
    assert(map->count < map->slot_count && "probing ends at a free slot");
    size_t mask = map->slot_count - 1;
    size_t i = (size_t)hash_of(map, key) & mask;
    while (map->slots[i] && !same_key(&map->entries[map->slots[i] - 1], key)) {
        i = (i + 1) & mask;
    }
    return &map->slots[i];
}

static void grow_slots(ig_map *map) {
    assert(map->count == map->capacity && "a map grows when it is full");
    size_t slot_count = map->slot_count ? 2 * map->slot_count : FIRST_SLOTS;
    size_t capacity = slot_count / 2;
    if (capacity >= UINT32_MAX) {
        ig_budget_exhausted(map->arena->budget, SIZE_MAX);
    }
    ig_map_entry *entries = IG_NEW_ARRAY(map->arena, ig_map_entry, capacity);
    if (map->count) {
        memcpy(entries, map->entries, map->count * sizeof(*entries));
    }
    map->slots = IG_NEW_ARRAY(map->arena, uint32_t, slot_count);
    map->slot_count = slot_count;
    map->entries = entries;
    map->capacity = capacity;
    for (size_t i = 0; i < map->count; i++) {
        *find_slot(map, &entries[i]) = (uint32_t)i + 1;
    }
}

static void *find_value(const ig_map *map, const ig_map_entry *key) {
    if (!map->count) {
        return NULL;
    }
    uint32_t slot = *find_slot(map, key);
    return slot ? map->entries[slot - 1].value : NULL;
}

static void set_entry(ig_map *map, ig_map_entry entry) {
    uint32_t *slot = map->slot_count ? find_slot(map, &entry) : NULL;
    if (slot && *slot) {
        map->entries[*slot - 1].value = entry.value;
        return;
    }
    if (map->count == map->capacity) {
        grow_slots(map);
        slot = find_slot(map, &entry);
    }
    if (entry.key.data) {
        entry.key.data = ig_arena_copy(map->arena, entry.key.data, entry.key.size);
    }
    map->entries[map->count++] = entry;
    *slot = (uint32_t)map->count;
}

static ig_map_entry string_key(const ig_map *map, ig_str key) {
    assert((key.data || key.size == 0) && "a key has bytes");
    if (!key.data) {
        key = IG_STR("");
    }
    return (ig_map_entry){ .key = key,
                           .id = ig_hash_bytes(key.data, key.size, map->seed) };
}

void *ig_map_get(const ig_map *map, ig_str key) {
    ig_map_entry entry = string_key(map, key);
    return find_value(map, &entry);
}

void ig_map_set(ig_map *map, ig_str key, void *value) {
    ig_map_entry entry = string_key(map, key);
    entry.value = value;
    set_entry(map, entry);
}

void *ig_map_get_id(const ig_map *map, uint64_t key) {
    return find_value(map, &(ig_map_entry){ .id = key });
}

void ig_map_set_id(ig_map *map, uint64_t key, void *value) {
    set_entry(map, (ig_map_entry){ .id = key, .value = value });
}
