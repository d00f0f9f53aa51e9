/* Arenas: blocks that double, and the one jump when memory is exhausted.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   arena ─▶ block (current) ─▶ block ─▶ block …      newest first
 *            next ▲     ▲ end
 *
 * Small requests are cut from the current block.  Blocks double from 4 KiB to 1 MiB; a
 * request that is large against the next block gets one of its own, put after the
 * current one so that the current one's rest stays in use.  The budget counts whole
 * blocks, because that is what malloc was asked for.
 */
#include "base/arena.h"

#include "base/checked.h"
#include "base/platform/platform_asan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_BLOCK = 4 << 10, LARGEST_BLOCK = 1 << 20 };

struct ig_arena_block {
    ig_arena_block *next;
    size_t size;                   /* of the whole allocation, this header included */
    ig_arena_block *later, **link; /* chain of the budget's live blocks */
    uint64_t arena;                /* number of its arena */
    uint64_t reserved;
};
_Static_assert(sizeof(ig_arena_block) % ALIGNMENT == 0, "payload must stay aligned");

/* ---- budget ---- */

static bool take_budget(ig_budget *budget, size_t size) {
    if (!budget) {
        return true;
    }
    size_t used;
    if (!ig_add_size(budget->used, size, &used) ||
        (budget->limit && used > budget->limit)) {
        return false;
    }
    budget->used = used;
    budget->peak = used > budget->peak ? used : budget->peak;
    return true;
}

static void give_budget(ig_budget *budget, size_t size) {
    assert((!budget || budget->used >= size) && "more given back than was taken");
    if (budget) {
        budget->used -= size;
    }
}

static void enter_live(ig_arena_block *block, ig_budget *budget) {
    block->later = NULL;
    block->link = NULL;
    if (budget) {
        block->later = budget->live;
        block->link = &budget->live;
        if (block->later) {
            block->later->link = &block->later;
        }
        budget->live = block;
    }
}

static void free_block(ig_arena_block *block, ig_budget *budget) {
    if (block->link) {
        *block->link = block->later;
        if (block->later) {
            block->later->link = block->link;
        }
    }
    give_budget(budget, block->size);
    IG_UNPOISON(block, block->size);
    free(block);
}

void ig_budget_sweep(ig_budget *budget, uint64_t mark) {
    assert(mark <= budget->arenas && "a mark of another budget");
    for (ig_arena_block *block = budget->live; block;) {
        ig_arena_block *later = block->later;
        if (block->arena > mark) {
            free_block(block, budget);
        }
        block = later;
    }
}

void ig_budget_enter_foreign(ig_budget *budget) {
    if (budget) {
        budget->foreign_depth++;
    }
}

void ig_budget_leave_foreign(ig_budget *budget) {
    assert((!budget || budget->foreign_depth > 0) && "leaving a foreign library twice");
    if (budget) {
        budget->foreign_depth--;
    }
}

_Noreturn void ig_budget_exhausted(ig_budget *budget, size_t wanted) {
    if (budget && budget->recovery && budget->foreign_depth == 0) {
        longjmp(*budget->recovery, 1);
    }
    fprintf(stderr, "ingot: out of memory: %zu bytes wanted%s\n", wanted,
            budget && budget->foreign_depth ? " inside a foreign library" : "");
    abort();
}

_Noreturn void ig_budget_refuse(ig_budget *budget) {
    if (budget) {
        budget->is_refused = true;
    }
    ig_budget_exhausted(budget, SIZE_MAX);
}

/* ---- blocks ---- */

static ig_arena_block *create_block(ig_arena *arena, size_t payload) {
    size_t size;
    if (!ig_add_size(payload, sizeof(ig_arena_block), &size) ||
        !take_budget(arena->budget, size)) {
        return NULL;
    }
    ig_arena_block *block = malloc(size);
    if (!block) {
        give_budget(arena->budget, size);
        return NULL;
    }
    block->size = size;
    block->arena = arena->id;
    block->reserved = 0;
    enter_live(block, arena->budget);
    IG_POISON(block + 1, payload);
    return block;
}

static size_t next_block_size(const ig_arena *arena) {
    size_t size = arena->blocks ? arena->blocks->size : 0;
    if (size < FIRST_BLOCK / 2) {
        return FIRST_BLOCK;
    }
    return size < LARGEST_BLOCK / 2 ? 2 * size : LARGEST_BLOCK;
}

/* A fresh block that becomes the current one; false when there is no memory. */
static bool start_block(ig_arena *arena, size_t payload) {
    ig_arena_block *block = create_block(arena, payload);
    if (!block) {
        return false;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    arena->next = (char *)(block + 1);
    arena->end = arena->next + payload;
    return true;
}

/* A block for one request alone, after the current one. */
static void *alloc_alone(ig_arena *arena, size_t rounded) {
    if (!arena->blocks) {
        if (!start_block(arena, rounded)) {
            return NULL;
        }
        arena->next = arena->end;
        return arena->blocks + 1;
    }
    ig_arena_block *block = create_block(arena, rounded);
    if (!block) {
        return NULL;
    }
    block->next = arena->blocks->next;
    arena->blocks->next = block;
    return block + 1;
}

/* The request does not fit the current block. */
static void *alloc_slow(ig_arena *arena, size_t rounded) {
    size_t payload = next_block_size(arena) - sizeof(ig_arena_block);
    /* Near the limit a whole block may be too much where the request alone is not. */
    if (rounded > payload / 4 || !start_block(arena, payload)) {
        return alloc_alone(arena, rounded);
    }
    void *memory = arena->next;
    arena->next += rounded;
    return memory;
}

/* ---- the interface ---- */

void ig_arena_init(ig_arena *arena, ig_budget *budget) {
    *arena = (ig_arena){ .budget = budget, .id = budget ? ++budget->arenas : 0 };
}

void ig_arena_fini(ig_arena *arena) {
    for (ig_arena_block *block = arena->blocks; block;) {
        ig_arena_block *next = block->next;
        free_block(block, arena->budget);
        block = next;
    }
    *arena = (ig_arena){ .budget = arena->budget, .id = arena->id };
}

void ig_arena_adopt(ig_arena *to, ig_arena *from) {
    assert(to != from && to->budget == from->budget && "one budget counts the memory");
    ig_arena_block *first = from->blocks, *last = first;
    for (ig_arena_block *block = first; block; block = block->next) {
        block->arena = to->id;
        last = block;
    }
    if (first && to->blocks) { /* the rest of the current block stays in use */
        last->next = to->blocks->next;
        to->blocks->next = first;
    } else if (first) {
        to->blocks = first;
        to->next = from->next;
        to->end = from->end;
    }
    *from = (ig_arena){ .budget = from->budget, .id = from->id };
}

void *ig_arena_try_alloc(ig_arena *arena, size_t size) {
    if (size > SIZE_MAX - ALIGNMENT) {
        return NULL;
    }
    size_t rounded = ig_align_up(size ? size : 1, ALIGNMENT);
    void *memory = arena->next;
    if (rounded <= (size_t)(arena->end - arena->next)) {
        arena->next += rounded;
    } else {
        memory = alloc_slow(arena, rounded);
    }
    if (memory) {
        IG_UNPOISON(memory, size);
    }
    return memory;
}

/* Leaves for the recovery point, if there is one, when the context was cancelled. */
static void poll_cancelled(ig_budget *budget) {
    if (budget && budget->cancelled && budget->recovery && budget->foreign_depth == 0 &&
        atomic_load_explicit(budget->cancelled, memory_order_relaxed)) {
        budget->is_cancelled = true;
        longjmp(*budget->recovery, 1);
    }
}

void *ig_arena_alloc(ig_arena *arena, size_t size) {
    if (size > (size_t)(arena->end - arena->next)) {
        poll_cancelled(arena->budget);
    }
    void *memory = ig_arena_try_alloc(arena, size);
    if (!memory) {
        ig_budget_exhausted(arena->budget, size);
    }
    return memory;
}

void *ig_arena_zalloc(ig_arena *arena, size_t size) {
    return memset(ig_arena_alloc(arena, size), 0, size);
}

void *ig_arena_array(ig_arena *arena, size_t count, size_t size) {
    size_t total;
    if (!ig_mul_size(count, size, &total)) {
        ig_budget_exhausted(arena->budget, SIZE_MAX);
    }
    return ig_arena_zalloc(arena, total);
}

char *ig_arena_copy(ig_arena *arena, const void *bytes, size_t size) {
    assert((bytes || size == 0) && "bytes to copy");
    size_t total;
    if (!ig_add_size(size, 1, &total)) {
        ig_budget_exhausted(arena->budget, size);
    }
    char *copy = ig_arena_alloc(arena, total);
    if (size) {
        memcpy(copy, bytes, size);
    }
    copy[size] = '\0';
    return copy;
}

char *ig_arena_strdup(ig_arena *arena, const char *text) {
    assert(text && "a text to copy");
    return ig_arena_copy(arena, text, strlen(text));
}

char *ig_arena_printf(ig_arena *arena, const char *format, ...) {
    assert(format && "a format to print");
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0) { /* over INT_MAX, or a broken multibyte string */
        return ig_arena_strdup(arena, "");
    }
    char *text = ig_arena_alloc(arena, (size_t)length + 1);
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}
