/* A session's memory: blocks from a device, the host or the caller's allocator, and a
 * plan that lets buffers share one.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_MEMORY_H
#define IG_RUNTIME_MEMORY_H

#include "base/status.h"

enum {
    IG_MEMORY_ALIGN = 128, /* of blocks: two cache lines */
    IG_LIFE_ALIGN = 64,    /* of buffers in a shared block */
};

typedef struct ig_memory {
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *memory, size_t size);
    void *user;
    size_t held;  /* bytes */
    size_t limit; /* the limit of memory; 0: no limit */
} ig_memory;

/* Verbs of an ig_memory over malloc; `user` is not used. */
void *ig_memory_allocate_host(void *user, size_t size, size_t alignment);
void ig_memory_release_host(void *user, void *memory, size_t size);
static inline ig_memory ig_memory_host(void) {
    return (ig_memory){ .allocate = ig_memory_allocate_host,
                        .release = ig_memory_release_host };
}
/* Aligned, with any content; NULL when memory is short or the limit is passed.  A size
 * of 0 counts as 1. */
void *ig_memory_take(ig_memory *memory, size_t size);
/* Why there is none of this size: memory is short, or the limit says so. */
const char *ig_memory_refusal(const ig_memory *memory, size_t size);
void ig_memory_give(ig_memory *memory, void *block, size_t size);

/* A block that only grows. */
typedef struct ig_region {
    char *data;
    size_t size;
} ig_region;

/* Makes room for `size` bytes of any content.  False when memory is short: the region
 * is then as it was. */
bool ig_region_reserve(ig_memory *memory, ig_region *region, size_t size);
void ig_region_free(ig_memory *memory, ig_region *region);

/* Cuts arrays out of a block.  With `memory` NULL it only counts bytes. */
typedef struct ig_cutter {
    char *memory;
    size_t used;
} ig_cutter;

void *ig_cut(ig_cutter *cutter, size_t count, size_t size);

/* ---- sharing ---- */

typedef struct ig_life {
    int64_t bytes;        /* >= 0 */
    int64_t offset;       /* out: a multiple of 64 */
    uint32_t first, last; /* steps, inclusive */
    uint32_t id;          /* the caller's */
    int64_t weight; /* the planner's: heavier lives get their offset before others */
    int64_t kept;   /* and the offset in the best plan so far */
} ig_life;

/* Gives each life an offset such that lives that overlap in time do not in space;
 * changes the order of the array.  False on overflow. */
bool ig_memory_plan(ig_life *lives, size_t count, int64_t *out_bytes);
/* The max over time of the bytes (of whole lines) that live at once: no plan has
 * less. */
int64_t ig_memory_min(const ig_life *lives, size_t count);

#endif
