/* Hash map from byte strings or 64-bit keys to pointers, in an arena.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Open addressing; iteration is in order of insertion, so that output never depends on
 * addresses.  Keys of the string form are copied into the arena on first insertion.
 */
#ifndef IG_BASE_MAP_H
#define IG_BASE_MAP_H

#include "base/str.h"

typedef struct ig_map_entry {
    ig_str key;  /* string form; data NULL in the integer form */
    uint64_t id; /* integer form: the key; string form: its hash */
    void *value; /* NULL means deleted */
} ig_map_entry;

typedef struct ig_map {
    ig_arena *arena;
    ig_map_entry *entries; /* in order of insertion */
    uint32_t *slots;       /* index + 1 into entries; 0 is free */
    size_t count, capacity, slot_count;
    uint64_t seed; /* of the hash: differs from process to process */
} ig_map;

void ig_map_init(ig_map *map, ig_arena *arena);
void *ig_map_get(const ig_map *map, ig_str key); /* NULL when absent */
/* Inserts or overwrites.  `value` must not be NULL. */
void ig_map_set(ig_map *map, ig_str key, void *value);
void *ig_map_get_id(const ig_map *map, uint64_t key);
void ig_map_set_id(ig_map *map, uint64_t key, void *value);
/* For pointer keys. */
#define IG_MAP_PTR(pointer) ((uint64_t)(uintptr_t)(pointer))

#endif
