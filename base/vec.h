/* Growable arrays in an arena.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     IG_VEC(ig_op *) ops = { 0 };
 *     IG_PUSH(arena, &ops, op);
 *     for (size_t i = 0; i < ops.count; i++) use(ops.items[i]);
 *
 * Growth abandons the old storage in the arena (at most as much again as is in use).
 */
#ifndef IG_BASE_VEC_H
#define IG_BASE_VEC_H

#include "base/arena.h"

#define IG_VEC(type)            \
    struct {                    \
        type *items;            \
        size_t count, capacity; \
    }

/* Makes room for one more element, counts it and returns its index. */
size_t ig_vec_grow(ig_arena *arena, void **items, size_t *count, size_t *capacity,
                   size_t item_size);

/* An expression: the value pushed.  The value must not itself push to `vec`. */
#define IG_PUSH(arena, vec, ...)                                       \
    ((void)ig_vec_grow((arena), (void **)&(vec)->items, &(vec)->count, \
                       &(vec)->capacity, sizeof(*(vec)->items)),       \
     (vec)->items[(vec)->count - 1] = (__VA_ARGS__))
#define IG_LAST(vec) ((vec)->items[(vec)->count - 1])
#define IG_POP(vec) ((vec)->items[--(vec)->count])

#endif
