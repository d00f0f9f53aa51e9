/* Arenas: memory that is given back all at once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compile-side memory comes from arenas, and an arena never returns NULL: when malloc
 * fails or the budget is used up, it unwinds to the public entry point that was called
 * (the recovery point), which then reports IG_LIMIT.  That is the only jump in Ingot.
 * It must never cross foreign frames (LLVM, protobuf-c, qsort callbacks): code that
 * calls back from such a library brackets the call with ig_budget_enter_foreign and
 * ig_budget_leave_foreign, and inside the bracket uses ig_arena_try_alloc.
 *
 * Cancelling takes the same way (ig_budget.cancelled).
 *
 * The runtime has no budget and no jump: it checks every malloc.
 */
#ifndef IG_BASE_ARENA_H
#define IG_BASE_ARENA_H

#include "base/status.h"

#include <setjmp.h>
#include <stdatomic.h>

typedef struct ig_arena_block ig_arena_block;

/* What one context may use, shared by all of its arenas on one thread. */
typedef struct ig_budget {
    size_t used, peak; /* bytes */
    size_t limit;      /* bytes; 0 means no limit */
    /* Which limit that is, where it is not memory_bytes, and of what file. */
    const char *limit_name, *limit_file;
    jmp_buf *recovery; /* where exhaustion unwinds to; NULL aborts with a message */
    unsigned foreign_depth; /* > 0: inside a foreign library, jumping is forbidden */
    bool is_refused; /* it unwinds, but not for lack of memory: ig_budget_refuse */
    /* The context's, or NULL: once it is set, the next new block unwinds, which ends
     * loops that look at nothing else.  is_cancelled tells that it did. */
    const atomic_bool *cancelled;
    bool is_cancelled;
    ig_arena_block *live; /* private: every block of every arena, in no order */
    uint64_t arenas;      /* how many there have been: see ig_budget_sweep */
} ig_budget;

typedef struct ig_arena {
    ig_budget *budget; /* may be NULL: unlimited, aborts when malloc fails */
    ig_arena_block *blocks;
    char *next, *end;
    uint64_t id; /* counts the arenas of its budget */
} ig_arena;

void ig_arena_init(ig_arena *arena, ig_budget *budget);
/* Frees every block.  The arena may be used again afterwards. */
void ig_arena_fini(ig_arena *arena);

/* Moves all memory of `from`, which is empty then, to `to`: of the same budget. */
void ig_arena_adopt(ig_arena *to, ig_arena *from);

/* Uninitialised memory aligned to 16 bytes.  size 0 gives a unique non-NULL pointer. */
void *ig_arena_alloc(ig_arena *arena, size_t size);
/* The same, zeroed. */
void *ig_arena_zalloc(ig_arena *arena, size_t size);
/* Zeroed array; count * size is checked for overflow (overflow counts as
 * exhaustion). */
void *ig_arena_array(ig_arena *arena, size_t count, size_t size);
/* Returns NULL instead of unwinding. */
void *ig_arena_try_alloc(ig_arena *arena, size_t size);
/* A copy of `size` bytes followed by one zero byte. */
char *ig_arena_copy(ig_arena *arena, const void *bytes, size_t size);
/* A copy of a zero-terminated string. */
char *ig_arena_strdup(ig_arena *arena, const char *text);
/* printf into the arena. */
char *ig_arena_printf(ig_arena *arena, const char *format, ...) IG_PRINTF(2, 3);

#define IG_NEW(arena, type) ((type *)ig_arena_zalloc((arena), sizeof(type)))
#define IG_NEW_ARRAY(arena, type, count) \
    ((type *)ig_arena_array((arena), (count), sizeof(type)))

void ig_budget_enter_foreign(ig_budget *budget);
void ig_budget_leave_foreign(ig_budget *budget);
/* After exhaustion unwound: frees the memory of arenas that were made later than
 * budget->arenas was `mark` (their structs were in frames that are gone).  Call it
 * after everything still reachable has been destroyed. */
void ig_budget_sweep(ig_budget *budget, uint64_t mark);
/* Unwinds to the recovery point; does not return. */
_Noreturn void ig_budget_exhausted(ig_budget *budget, size_t wanted);
/* Like ig_budget_exhausted, for a request that no amount of memory can satisfy.  The
 * error has already been reported. */
_Noreturn void ig_budget_refuse(ig_budget *budget);

#endif
