/* The handle of a dimension: a known extent, or an expression of a module.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opaque: only ir/dim/ knows how the two are told apart.  An integer becomes a handle
 * through a constructor: ig_dim_of for an extent that our own code knows to be one,
 * ig_dim_from for an integer of a file or of a user, ig_dim_const (dim.h) for a value
 * that may be negative.  A handle becomes an integer through ig_dim_known, or through
 * ig_dim_value where the extent is known already.
 */
#ifndef IG_IR_DIM_HANDLE_H
#define IG_IR_DIM_HANDLE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ig_dim {
    int64_t
        code; /* >= 0 a known extent; < 0 expression number -1 - code of the module */
} ig_dim;

/* No dim: what ig_dim_substitute leaves as it is. */
#define IG_DIM_KEEP ((ig_dim){ INT64_MIN })

static inline ig_dim ig_dim_of(int64_t extent) {
    assert(extent >= 0 && "an extent is never negative");
    return (ig_dim){ extent };
}

/* The dim of an integer from outside; false when it is negative, thus no extent. */
static inline bool ig_dim_from(int64_t extent, ig_dim *out_dim) {
    bool is_extent = extent >= 0;
    out_dim->code = is_extent ? extent : 0;
    return is_extent;
}

/* No expression, but a known extent? */
static inline bool ig_dim_is_static(ig_dim dim) {
    return dim.code >= 0;
}

/* The extent, when it is known. */
static inline bool ig_dim_known(ig_dim dim, int64_t *out_extent) {
    *out_extent = dim.code >= 0 ? dim.code : 0;
    return dim.code >= 0;
}

static inline int64_t ig_dim_value(ig_dim dim) {
    assert(dim.code >= 0 && "an expression has no value before its symbols do");
    return dim.code;
}

/* Known to be `extent`? */
static inline bool ig_dim_is(ig_dim dim, int64_t extent) {
    assert(extent >= 0 && "an extent is never negative");
    return dim.code >= 0 && dim.code == extent;
}

/* The same handle: equal in every call.  ig_dim_equal says more. */
static inline bool ig_dim_same(ig_dim a, ig_dim b) {
    return a.code == b.code;
}

static inline bool ig_dims_same(const ig_dim *a, const ig_dim *b, uint32_t count) {
    assert(((a && b) || !count) && "lists have their dims");
    for (uint32_t i = 0; i < count; i++) {
        if (!ig_dim_same(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

/* For maps: equal for the same handles only. */
static inline uint64_t ig_dim_key(ig_dim dim) {
    return (uint64_t)dim.code;
}

#endif
