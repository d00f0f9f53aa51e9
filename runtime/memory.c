/* A session's memory: blocks, regions that grow, and the sharing of one by buffers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sharing is greedy by size (arXiv 2001.03288): the largest buffer gets its offset
 * first, each further one in the smallest gap that fits among the buffers with offsets
 * whose lives touch its own.  Where that needs more than what lives at once, other
 * orders are tried, then those in which buffers that ended too high go first, and the
 * lowest gap in place of the smallest; the best plan counts.
 *
 *     offset
 *       │   ┌────────┐
 *       │   │  C     │ ┌────┐     A is largest; C overlaps it in time, so it is
 *       │ ┌─┴──────┐ │ │ B  │     above; D and B come when A has died
 *       │ │   A    ├─┘ ├────┤
 *       │ │        │   │ D  │
 *       └─┴────────┴───┴────┴──▶ step
 */
#include "runtime/memory.h"

#include "base/checked.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- blocks ---- */

enum { LARGE_PAGE = 2 << 20 };

/* Large blocks use large pages where the system has them. */
void *ig_memory_allocate_host(void *user, size_t size, size_t alignment) {
    (void)user;
    void *memory = NULL;
    size += size == 0;
    bool is_large = size >= 2 * (size_t)LARGE_PAGE;
    if (posix_memalign(&memory, is_large ? LARGE_PAGE : alignment, size) != 0) {
        return NULL;
    }
    if (is_large) {
        (void)madvise(memory, size / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
    }
    return memory;
}

void ig_memory_release_host(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    free(memory);
}

static bool passes_limit(const ig_memory *memory, size_t size) {
    return memory->limit &&
           (memory->held > memory->limit || size > memory->limit - memory->held);
}

const char *ig_memory_refusal(const ig_memory *memory, size_t size) {
    return passes_limit(memory, size) ? "over the session's memory limit "
                                        "(--limit session_bytes=N)"
                                      : "out of memory";
}

void *ig_memory_take(ig_memory *memory, size_t size) {
    size += size == 0;
    if (passes_limit(memory, size)) {
        return NULL;
    }
    void *block = memory->allocate(memory->user, size, IG_MEMORY_ALIGN);
    if (block) {
        memory->held += size;
    }
    return block;
}

void ig_memory_give(ig_memory *memory, void *block, size_t size) {
    if (block) {
        size += size == 0;
        assert(size <= memory->held && "giving back more than was taken");
        memory->held -= size;
        memory->release(memory->user, block, size);
    }
}

bool ig_region_reserve(ig_memory *memory, ig_region *region, size_t size) {
    if (size <= region->size && region->data) {
        return true;
    }
    char *data = ig_memory_take(memory, size);
    if (!data) {
        return false;
    }
    assert((!region->data || size > region->size) && "a region only grows");
    ig_region_free(memory, region);
    *region = (ig_region){ data, size };
    return true;
}

void ig_region_free(ig_memory *memory, ig_region *region) {
    ig_memory_give(memory, region->data, region->size);
    *region = (ig_region){ NULL, 0 };
}

void *ig_cut(ig_cutter *cutter, size_t count, size_t size) {
    size_t at = cutter->used;
    cutter->used += ig_align_up(count * size, IG_MEMORY_ALIGN);
    return cutter->memory ? cutter->memory + at : NULL;
}

/* ---- sharing ---- */

enum {
    PLAN_ROUNDS = 64,   /* of lifting the lives that ended too high */
    PLAN_ANY = 4,       /* rounds after which any life goes first */
    PLAN_TURNS = 8,     /* with the smallest and with the lowest gaps */
    PLAN_NEAR = 32,     /* two turns suffice where this part of the min is lost */
    PLAN_WORK = 1 << 25 /* pairs of lives that all attempts together may compare */
};

static int heavier_first(const void *left, const void *right) {
    const ig_life *a = left, *b = right;
    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

static bool overlap_in_time(const ig_life *a, const ig_life *b) {
    return a->first <= b->last && b->first <= a->last;
}

/* The smallest gap (or the lowest) among the lives that have an offset (in that order)
 * into which `life` fits, else the end of those that overlap it in time. */
static bool choose_offset(const ig_life *lives, size_t count, bool takes_lowest,
                          ig_life *life) {
    assert(life->bytes % IG_LIFE_ALIGN == 0 && "a size was not rounded up");
    int64_t best = -1, best_gap = INT64_MAX, end = 0;
    for (size_t i = 0; i < count && !(takes_lowest && best >= 0); i++) {
        const ig_life *other = &lives[i];
        if (!overlap_in_time(other, life)) {
            continue;
        }
        int64_t gap = other->offset - end;
        if (gap >= life->bytes && gap < best_gap) {
            best = end;
            best_gap = gap;
        }
        int64_t other_end = other->offset + other->bytes;
        end = other_end > end ? other_end : end;
    }
    life->offset = best >= 0 ? best : end;
    int64_t sum;
    return ig_add_i64(life->offset, life->bytes, &sum);
}

/* Keeps lives[0 … count] in order of offset. */
static void insert_life(ig_life *lives, size_t count, ig_life life) {
    size_t at = count;
    assert(life.offset % IG_LIFE_ALIGN == 0 && "an offset is not aligned");
    while (at > 0 && lives[at - 1].offset > life.offset) {
        lives[at] = lives[at - 1];
        at--;
    }
    lives[at] = life;
}

/* A sum has its largest value at a step in which some life begins. */
int64_t ig_memory_min(const ig_life *lives, size_t count) {
    int64_t max = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < count; k++) {
            bool lives_then = lives[k].first <= lives[i].first &&
                              lives[i].first <= lives[k].last;
            int64_t bytes = (int64_t)ig_align_up((size_t)lives[k].bytes, IG_LIFE_ALIGN);
            sum += lives_then ? bytes : 0;
        }
        max = sum > max ? sum : max;
    }
    return max;
}

/* The state of a search for a plan that needs no more than `min`. */
typedef struct plan_search {
    ig_life *lives;
    size_t count;
    int64_t min, best;
    int64_t attempts; /* left */
    uint32_t random;
    bool takes_lowest; /* gaps, in place of the smallest */
} plan_search;

/* Offsets in the order of weights; false on overflow. */
static bool try_order(const plan_search *s, int64_t *out_bytes) {
    *out_bytes = 0;
    qsort(s->lives, s->count, sizeof *s->lives, heavier_first);
    for (size_t i = 0; i < s->count; i++) {
        ig_life life = s->lives[i];
        if (!choose_offset(s->lives, i, s->takes_lowest, &life)) {
            return false;
        }
        int64_t end = life.offset + life.bytes;
        *out_bytes = end > *out_bytes ? end : *out_bytes;
        insert_life(s->lives, i, life);
    }
    return true;
}

/* An attempt that counts when it is better than the best. */
static void improve_plan(plan_search *s) {
    int64_t bytes;
    s->attempts--;
    if (!try_order(s, &bytes) || bytes >= s->best) {
        return;
    }
    s->best = bytes;
    for (size_t i = 0; i < s->count; i++) {
        s->lives[i].kept = s->lives[i].offset;
    }
}

static bool goes_on(const plan_search *s) {
    return s->best > s->min && s->attempts > 0;
}

typedef int64_t weigh_fn(const ig_life *life);

static int64_t by_size(const ig_life *life) {
    return life->bytes;
}

static int64_t by_length(const ig_life *life) {
    return life->last - life->first;
}

static int64_t by_area(const ig_life *life) {
    int64_t area;
    bool fits = ig_mul_i64(life->bytes, 1 + by_length(life), &area);
    return fits ? area : INT64_MAX / 2;
}

static int64_t by_begin(const ig_life *life) {
    return -(int64_t)life->first;
}

static int64_t by_end(const ig_life *life) {
    return life->last;
}

static weigh_fn *const orders[] = { by_size, by_area, by_length, by_begin, by_end };
enum { ORDER_COUNT = sizeof orders / sizeof orders[0] };

static void weigh_lives(plan_search *s, weigh_fn *weight) {
    for (size_t i = 0; i < s->count; i++) {
        s->lives[i].weight = weight(&s->lives[i]);
    }
}

static int64_t max_weight(const plan_search *s) {
    int64_t max = INT64_MIN;
    for (size_t i = 0; i < s->count; i++) {
        max = s->lives[i].weight > max ? s->lives[i].weight : max;
    }
    return max;
}

/* Lives that end above `min` go before all others the next time. */
static void lift_lives(plan_search *s) {
    int64_t max = max_weight(s);
    for (size_t i = 0; i < s->count; i++) {
        if (s->lives[i].offset + s->lives[i].bytes > s->min && max < INT64_MAX) {
            s->lives[i].weight = ++max;
        }
    }
}

/* Lifting alone comes back to where it was: now and then some life goes first.  The
 * numbers are the same in every run. */
static void lift_any(plan_search *s) {
    int64_t max = max_weight(s);
    s->random = s->random * 1664525u + 1013904223u;
    if (max < INT64_MAX) {
        s->lives[(s->random >> 8) % s->count].weight = max + 1;
    }
}

static void lift_again(plan_search *s) {
    for (int round = 1; round <= PLAN_ROUNDS && goes_on(s); round++) {
        improve_plan(s);
        lift_lives(s);
        if (round % PLAN_ANY == 0) {
            lift_any(s);
        }
    }
}

static void search_orders(plan_search *s) {
    for (int i = 1; i < ORDER_COUNT && goes_on(s); i++) {
        weigh_lives(s, orders[i]);
        improve_plan(s);
    }
    for (int turn = 0; turn < PLAN_TURNS && goes_on(s); turn++) {
        s->takes_lowest = turn % 2 != 0;
        for (int i = 0; i < ORDER_COUNT; i++) {
            weigh_lives(s, orders[i]);
            lift_again(s);
        }
        bool is_near = s->best - s->min <= s->min / PLAN_NEAR;
        s->attempts = turn % 2 != 0 && is_near ? 0 : s->attempts;
    }
}

bool ig_memory_plan(ig_life *lives, size_t count, int64_t *out_bytes) {
    *out_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (lives[i].bytes > INT64_MAX - IG_LIFE_ALIGN) {
            return false;
        }
        lives[i].bytes = (int64_t)ig_align_up((size_t)lives[i].bytes, IG_LIFE_ALIGN);
    }
    plan_search s = { .lives = lives, .count = count, .best = INT64_MAX };
    weigh_lives(&s, orders[0]);
    improve_plan(&s);
    if (s.best == INT64_MAX) {
        return false;
    }
    s.min = ig_memory_min(lives, count);
    s.attempts = PLAN_WORK / ((int64_t)count * (int64_t)count + 1);
    search_orders(&s);
    for (size_t i = 0; i < count; i++) {
        lives[i].offset = lives[i].kept;
    }
    *out_bytes = s.best;
    return true;
}
