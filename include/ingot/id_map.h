/* Rows of a table that holds a part of all ids; ingot/store.h includes this.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_ID_MAP_H
#define INGOT_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_store_call ig_store_call; /* store.h */

/* Gives each global id a row of a small table, and says which to evict (mixed least
 * recently and least frequently used).  A use at time t pins the row until the caller
 * says that batches up to t are done.  One thread at a time. */
typedef struct ig_id_map ig_id_map;

typedef struct ig_id_row {
    int64_t id, row;
} ig_id_row;

typedef enum ig_id_map_kind {
    IG_ID_MAP_CACHELINE, /* 32 slots that an id may take: fast, full a little early */
    IG_ID_MAP_NAIVE,     /* any slot: full only when all rows are taken */
} ig_id_map_kind;

enum {
    IG_ID_MAP_ROWS = 1 << 30,      /* rows at most */
    IG_ID_MAP_TIME = (1 << 27) - 1 /* the last time */
};

/* A map of `row_count` rows.  `frequency`, 0 to 31, is where a new id's counter of uses
 * begins (5 in TorchRec): a counter at f rises with probability 2^-f a use. */
IG_API IG_MUST_USE ig_status ig_id_map_create(ig_id_map_kind kind, int64_t row_count,
                                              uint32_t frequency,
                                              const ig_store_call *call,
                                              ig_id_map **out_map);
IG_API void ig_id_map_destroy(ig_id_map *map);

/* The ids of one batch, and their rows.  Extensible: set size. */
typedef struct ig_id_batch {
    size_t size;
    const int64_t *ids; /* not negative */
    size_t count;
    uint32_t time;      /* must not fall from call to call */
    int64_t *rows;      /* receives the row of each id */
    ig_id_row *fresh;   /* receives ids that are new and took the lowest free row, in
                         * order; room for `count` */
    size_t fresh_count; /* set: how many are new */
    size_t done;        /* set: how many ids have a row */
} ig_id_batch;

/* LIMIT: no row is free for ids[done]; the ids before it are done: evict, and go on
 * from there.  INVALID: a negative id, a time out of range, or a batch without its
 * size; nothing is done. */
IG_API IG_MUST_USE ig_status ig_id_map_transform(ig_id_map *map, ig_id_batch *batch);
/* The same for ids that have a row already; the others get row -1 and stay without.
 * INVALID as above. */
IG_API IG_MUST_USE ig_status ig_id_map_find(ig_id_map *map, ig_id_batch *batch);
/* All batches up to `time` are done with their rows. */
IG_API void ig_id_map_release(ig_id_map *map, uint32_t time);
/* Lists up to `count` ids in `min`, the least used first, none that is pinned, and
 * returns how many; 0 also when memory is out.  They keep their rows until they are
 * forgotten, so that the rows can be written first. */
IG_API size_t ig_id_map_choose(const ig_id_map *map, size_t count, ig_id_row *min);
/* Frees the rows of these ids; those that have none are passed over. */
IG_API void ig_id_map_forget(ig_id_map *map, const ig_id_row *gone, size_t count);
/* Lists ids used after the time `since` (-1: all), at most `room`; returns how many
 * there are. */
IG_API size_t ig_id_map_list(const ig_id_map *map, int64_t since, ig_id_row *used,
                             size_t room);
IG_API size_t ig_id_map_count(const ig_id_map *map);
/* Halves all times, rounding down, so that a map outlives IG_ID_MAP_TIME batches; the
 * order of uses stays but for neighbours.  No batch may be unreleased. */
IG_API void ig_id_map_halve_times(ig_id_map *map);

#ifdef __cplusplus
}
#endif
#endif
