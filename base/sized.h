/* Structs of callers that begin with their size, so that later versions can add fields.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_SIZED_H
#define IG_BASE_SIZED_H

#include "base/status.h"

#include <string.h>

#define IG_UNSIZED_WORDS \
    "the struct %s has no size: set its field `size` to sizeof(the struct)"

/* A caller who forgot the size would have its other fields left out without a word. */
static inline bool ig_is_sized(const void *from) {
    size_t size = 0;
    memcpy(&size, from, sizeof size);
    return size >= sizeof size;
}

/* Copies the caller's struct, as far as its size goes, to the `room` bytes at `to`;
 * other fields stay as they are.  NULL is all defaults.  False: the struct has no size;
 * nothing was copied. */
static inline bool ig_sized_take(void *to, size_t room, const void *from) {
    if (!from) {
        return true;
    }
    if (!ig_is_sized(from)) {
        return false;
    }
    size_t size = 0;
    memcpy(&size, from, sizeof size);
    memcpy(to, from, size < room ? size : room);
    memcpy(to, &room, sizeof room);
    return true;
}

#endif
