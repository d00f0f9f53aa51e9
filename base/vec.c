/* Growth of arrays in an arena.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include "base/checked.h"

#include <string.h>

size_t ig_vec_grow(ig_arena *arena, void **items, size_t *count, size_t *capacity,
                   size_t item_size) {
    if (*count < *capacity) {
        return (*count)++;
    }
    size_t wanted = *capacity ? 2 * *capacity : 4;
    size_t size;
    if (*capacity > SIZE_MAX / 2 || !ig_mul_size(wanted, item_size, &size)) {
        ig_budget_exhausted(arena->budget, SIZE_MAX);
    }
    void *grown = ig_arena_alloc(arena, size);
    if (*count) {
        memcpy(grown, *items, *count * item_size);
    }
    *items = grown;
    *capacity = wanted;
    return (*count)++;
}
