/* Arenas: alignment, growth, budgets, and the jump when memory is exhausted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/platform/platform_asan.h"
#include "base/vec.h"
#include "tests/unit/unit.h"

#include <signal.h>

TEST(memory_is_aligned_and_distinct) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    char *last = NULL;
    for (size_t size = 0; size < 5000; size += 7) {
        char *memory = ig_arena_alloc(&arena, size);
        CHECK_INT((uintptr_t)memory % 16, 0);
        CHECK(memory != last);
        memset(memory, 0xab, size);
        last = memory;
    }
    ig_arena_fini(&arena);
}

TEST(neighbours_do_not_overlap) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    enum { COUNT = 3000 };
    static unsigned char *memory[COUNT];
    for (int i = 0; i < COUNT; i++) {
        size_t size = (size_t)(i * 37 % 9000);
        memory[i] = ig_arena_alloc(&arena, size);
        memset(memory[i], i & 255, size);
    }
    size_t wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < (size_t)(i * 37 % 9000); j++) {
            wrong += memory[i][j] != (i & 255);
        }
    }
    CHECK_INT(wrong, 0);
    ig_arena_fini(&arena);
}

TEST(zalloc_is_zero_after_reuse) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    for (int round = 0; round < 3; round++) {
        unsigned char *memory = ig_arena_zalloc(&arena, 100000);
        unsigned all = 0;
        for (int i = 0; i < 100000; i++) {
            all |= memory[i];
        }
        CHECK_INT(all, 0);
        memset(memory, 255, 100000);
        ig_arena_fini(&arena);
    }
}

TEST(copies_end_with_zero) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    CHECK_TEXT(ig_arena_strdup(&arena, "name"), "name");
    CHECK_TEXT(ig_arena_copy(&arena, "names", 4), "name");
    CHECK_TEXT(ig_arena_copy(&arena, NULL, 0), "");
    CHECK_TEXT(ig_arena_printf(&arena, "%d-%s", 12, "x"), "12-x");
    char *wide = ig_arena_printf(&arena, "%20000d", 7);
    CHECK_INT(strlen(wide), 20000);
    ig_arena_fini(&arena);
}

TEST(budget_counts_and_returns) {
    ig_budget budget = { 0 };
    ig_arena a, b;
    ig_arena_init(&a, &budget);
    ig_arena_init(&b, &budget);
    ig_arena_alloc(&a, 3 << 20);
    ig_arena_alloc(&b, 10);
    CHECK(budget.used >= (3 << 20) + 10);
    size_t peak = budget.used;
    ig_arena_fini(&a);
    CHECK(budget.used < (1 << 20));
    ig_arena_fini(&b);
    CHECK_INT(budget.used, 0);
    CHECK_INT(budget.peak, peak);
}

TEST(small_requests_waste_little) {
    ig_budget budget = { 0 };
    ig_arena arena;
    ig_arena_init(&arena, &budget);
    enum { COUNT = 200000 };
    for (int i = 0; i < COUNT; i++) {
        ig_arena_alloc(&arena, 32);
        if (i % 1000 == 0) {
            ig_arena_alloc(&arena, 300000); /* must not abandon the current block */
        }
    }
    size_t asked = COUNT * 32u + COUNT / 1000 * 300000u;
    CHECK(budget.used < asked + asked / 20 + (2u << 20));
    ig_arena_fini(&arena);
}

/* Allocates until the budget unwinds; returns how much was used then. */
static size_t use_up(ig_budget *budget, size_t step) {
    ig_arena arena;
    jmp_buf recovery;
    volatile size_t used = 0;
    ig_arena_init(&arena, budget);
    budget->recovery = &recovery;
    if (setjmp(recovery) == 0) {
        for (;;) {
            memset(ig_arena_alloc(&arena, step), 1, step);
            used += step;
        }
    }
    budget->recovery = NULL;
    ig_arena_fini(&arena);
    return used;
}

TEST(exhaustion_unwinds_to_the_recovery_point) {
    ig_budget budget = { .limit = 1 << 20 };
    CHECK(use_up(&budget, 100) > (1 << 20) * 3 / 4);
    CHECK_INT(budget.used, 0);
    CHECK(budget.peak <= budget.limit);
    CHECK(use_up(&budget, 5000) > (1 << 20) * 3 / 4);
    CHECK_INT(use_up(&budget, 2 << 20), 0);
    CHECK_INT(budget.used, 0);
}

TEST(every_small_limit_unwinds) {
    for (size_t limit = 1; limit < 20000; limit += 97) {
        ig_budget budget = { .limit = limit };
        CHECK(use_up(&budget, 64) <= limit);
        CHECK_INT(budget.used, 0);
    }
}

TEST(try_alloc_returns_null) {
    ig_budget budget = { .limit = 8 << 10 };
    ig_arena arena;
    ig_arena_init(&arena, &budget);
    CHECK_PTR(ig_arena_try_alloc(&arena, 1 << 20), NULL);
    CHECK_PTR(ig_arena_try_alloc(&arena, SIZE_MAX), NULL);
    CHECK_PTR(ig_arena_try_alloc(&arena, SIZE_MAX - 20), NULL);
    CHECK(ig_arena_try_alloc(&arena, 100) != NULL);
    ig_arena_fini(&arena);
    CHECK_INT(budget.used, 0);
}

static void overflow_array(ig_arena *arena) {
    ig_arena_array(arena, SIZE_MAX / 8, 16);
}
static void overflow_alloc(ig_arena *arena) {
    ig_arena_alloc(arena, SIZE_MAX);
}
static void overflow_copy(ig_arena *arena) {
    ig_arena_copy(arena, "", SIZE_MAX);
}
static void overflow_vec(ig_arena *arena) {
    static int item;
    void *items = &item;
    size_t count = SIZE_MAX / 4, capacity = SIZE_MAX / 4;
    ig_vec_grow(arena, &items, &count, &capacity, sizeof(int));
}

static int count_jumps(void (*call)(ig_arena *)) {
    jmp_buf recovery;
    ig_budget budget = { .recovery = &recovery };
    ig_arena arena;
    volatile int jumps = 0;
    ig_arena_init(&arena, &budget);
    if (setjmp(recovery) == 0) {
        call(&arena);
    } else {
        jumps++;
    }
    ig_arena_fini(&arena);
    return jumps;
}

TEST(overflow_counts_as_exhaustion) {
    static void (*const calls[])(ig_arena *) = { overflow_array, overflow_alloc,
                                                 overflow_copy, overflow_vec };
    for (size_t i = 0; i < IG_COUNT_OF(calls); i++) {
        CHECK_INT(count_jumps(calls[i]), 1);
    }
}

/* Aborts, each with a message, instead of jumping. */
TEST(no_jump_inside_foreign_code) {
    jmp_buf recovery;
    ig_budget budget = { .limit = 1, .recovery = &recovery };
    ig_arena arena;
    ig_arena_init(&arena, &budget);
    ig_budget_enter_foreign(&budget);
    if (setjmp(recovery) == 0) {
        ig_arena_alloc(&arena, 100);
    }
}

TEST(no_jump_without_a_recovery_point) {
    ig_budget budget = { .limit = 1 };
    ig_arena arena;
    ig_arena_init(&arena, &budget);
    ig_arena_alloc(&arena, 100);
}

TEST(foreign_brackets_nest) {
    jmp_buf recovery;
    ig_budget budget = { .limit = 1, .recovery = &recovery };
    ig_arena arena;
    volatile int jumps = 0;
    ig_arena_init(&arena, &budget);
    ig_budget_enter_foreign(&budget);
    ig_budget_enter_foreign(&budget);
    ig_budget_leave_foreign(&budget);
    CHECK_PTR(ig_arena_try_alloc(&arena, 100), NULL);
    ig_budget_leave_foreign(&budget);
    if (setjmp(recovery) == 0) {
        ig_arena_alloc(&arena, 100);
    } else {
        jumps++;
    }
    CHECK_INT(jumps, 1);
    ig_budget_enter_foreign(NULL);
    ig_budget_leave_foreign(NULL);
}

TEST(tails_are_poisoned) {
#ifdef IG_HAS_ASAN
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    char *memory = ig_arena_alloc(&arena, 5);
    CHECK(!__asan_address_is_poisoned(memory + 4));
    CHECK(__asan_address_is_poisoned(memory + 8));
    CHECK(__asan_address_is_poisoned(memory + 2000));
    ig_arena_fini(&arena);
#endif
}

TEST(vectors_grow) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    IG_VEC(int64_t) numbers = { 0 };
    for (int i = 0; i < 100000; i++) {
        IG_PUSH(&arena, &numbers, (int64_t)i * 3);
    }
    CHECK_INT(numbers.count, 100000);
    size_t wrong = 0;
    for (int i = 0; i < 100000; i++) {
        wrong += numbers.items[i] != (int64_t)i * 3;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(IG_LAST(&numbers), 299997);
    CHECK_INT(IG_POP(&numbers), 299997);
    CHECK_INT(numbers.count, 99999);
    ig_arena_fini(&arena);
}

typedef struct pair {
    int first, second;
} pair;

TEST(vectors_hold_structs) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    IG_VEC(pair) pairs = { 0 };
    for (int i = 0; i < 9; i++) {
        IG_PUSH(&arena, &pairs, (pair){ i, -i });
    }
    CHECK_INT(pairs.items[0].first + pairs.items[8].second, -8);
    ig_arena_fini(&arena);
}

TEST(sweeping_frees_what_unwinding_left_after) {
    ig_budget budget = { 0 };
    ig_arena early, late, other;
    ig_arena_init(&early, &budget);
    ig_arena_init(&other, NULL);
    uint64_t mark = budget.arenas;
    char *kept = ig_arena_strdup(&early, "kept");
    size_t before = budget.used;
    ig_arena_init(&late, &budget);
    ig_arena_alloc(&late, 10);
    ig_arena_alloc(&late, 100000);
    char *grown = ig_arena_alloc(&early, 100000); /* of an old arena: stays */
    ig_arena_strdup(&other, "of no budget");
    memset(grown, 1, 100000);
    late = (ig_arena){ 0 }; /* as if its frame were gone */
    ig_budget_sweep(&budget, mark);
    CHECK_TEXT(kept, "kept");
    CHECK_INT(grown[99999], 1);
    CHECK(budget.used > before && budget.used < before + 110000);
    ig_arena_fini(&early);
    ig_arena_fini(&other);
    CHECK_INT(budget.used, 0);
}

TEST(adopted_memory_belongs_to_another_arena) {
    ig_budget budget = { 0 };
    ig_arena early, late, none;
    ig_arena_init(&early, &budget);
    uint64_t mark = budget.arenas;
    ig_arena_init(&late, &budget);
    ig_arena_init(&none, &budget);
    ig_arena_adopt(&early, &none); /* nothing, into nothing */
    CHECK(!early.blocks);
    char *small = ig_arena_strdup(&late, "small");
    ig_arena_adopt(&early, &late); /* into an empty one: its rest is used */
    CHECK(!late.blocks && ig_arena_strdup(&early, "rest") == small + 16);
    char *alone = ig_arena_alloc(&late, 100000);
    ig_arena_strdup(&late, "of a block");
    memset(alone, 7, 100000);
    size_t used = budget.used;
    ig_arena_adopt(&early, &late);
    CHECK(ig_arena_strdup(&early, "rest") == small + 32); /* of the block before */
    late = (ig_arena){ 0 };
    ig_budget_sweep(&budget, mark);
    CHECK_INT(budget.used, used);
    CHECK_TEXT(small, "small");
    CHECK_INT(alone[99999], 7);
    ig_arena_fini(&early);
    CHECK_INT(budget.used, 0);
}

/* The two that abort are told to Check with the signal that it must see. */
static void add_aborts(TCase *tcase) {
    tcase_add_test_raise_signal(tcase, no_jump_inside_foreign_code, SIGABRT);
    tcase_add_test_raise_signal(tcase, no_jump_without_a_recovery_point, SIGABRT);
}

UNIT_SUITE_WITH(base_arena, add_aborts, memory_is_aligned_and_distinct,
                neighbours_do_not_overlap, zalloc_is_zero_after_reuse,
                copies_end_with_zero, budget_counts_and_returns,
                small_requests_waste_little, exhaustion_unwinds_to_the_recovery_point,
                every_small_limit_unwinds, try_alloc_returns_null,
                overflow_counts_as_exhaustion, foreign_brackets_nest,
                tails_are_poisoned, vectors_grow, vectors_hold_structs,
                sweeping_frees_what_unwinding_left_after,
                adopted_memory_belongs_to_another_arena)
