/* Host function sort: the first elements of each line of a tensor, in order.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elements are compared by keys: unsigned numbers in the order of the elements, NaN
 * largest, both zeros one.  Equal keys stay in the order of their positions, so the
 * order is total, and a heap of positions in the result's own memory suffices: its root
 * is the last of those that are kept, everything after the first `kept` either replaces
 * the root or is passed over, and emptying the heap from the back leaves the positions
 * in order.
 */
#include "base/checked.h"
#include "runtime/host/host.h"

#include <assert.h>
#include <string.h>

typedef struct line {
    const char *x; /* of the line's first element */
    int64_t *at;
    int64_t inner, bytes;
    uint64_t infinity; /* bits of it; 0: integers */
    bool is_signed, is_descending;
} line;

/* 8 bytes, or fewer; copies of a known number of them are loads. */
static uint64_t load_bits(const char *x, int64_t bytes) {
    uint64_t bits = 0;
    if (bytes == 8) {
        memcpy(&bits, x, 8);
    } else {
        memcpy(&bits, x, (size_t)bytes);
    }
    return bits;
}

static uint64_t key_of(const line *l, int64_t i) {
    uint64_t sign = (uint64_t)1 << (8 * l->bytes - 1);
    uint64_t bits = load_bits(l->x + i * l->inner * l->bytes, l->bytes);
    uint64_t all = sign | (sign - 1);
    if (l->infinity) {
        uint64_t size = bits & (sign - 1);
        bits = size > l->infinity ? all
               : size == 0        ? sign
               : bits & sign      ? ~bits & all
                                  : bits | sign;
    } else if (l->is_signed) {
        bits ^= sign;
    }
    return l->is_descending ? all - bits : bits;
}

/* Does position i come after position k? */
static bool is_after(const line *l, int64_t i, int64_t k) {
    uint64_t a = key_of(l, i), b = key_of(l, k);
    return a != b ? a > b : i > k;
}

/* Slot 0 may be too far in front of those below it: sinks in a heap of `count`. */
static void sink_slot(const line *l, int64_t slot, int64_t count) {
    assert(slot >= 0 && slot < count && "a slot outside of the heap");
    int64_t moved = l->at[slot * l->inner];
    for (int64_t child = 2 * slot + 1; child < count; child = 2 * slot + 1) {
        int64_t best = l->at[child * l->inner];
        if (child + 1 < count && is_after(l, l->at[(child + 1) * l->inner], best)) {
            best = l->at[++child * l->inner];
        }
        if (!is_after(l, best, moved)) {
            break;
        }
        l->at[slot * l->inner] = best;
        slot = child;
    }
    l->at[slot * l->inner] = moved;
}

static void sort_line(const line *l, int64_t n, int64_t kept) {
    for (int64_t i = 0; i < kept; i++) {
        l->at[i * l->inner] = i;
    }
    for (int64_t slot = kept / 2; slot-- > 0;) {
        sink_slot(l, slot, kept);
    }
    uint64_t root = key_of(l, l->at[0]);
    for (int64_t i = kept; i < n; i++) {
        if (key_of(l, i) < root) {
            l->at[0] = i;
            sink_slot(l, 0, kept);
            root = key_of(l, l->at[0]);
        }
    }
    for (int64_t count = kept; count-- > 1;) {
        int64_t last = l->at[count * l->inner];
        l->at[count * l->inner] = l->at[0];
        l->at[0] = last;
        sink_slot(l, 0, count);
    }
}

/* outer * n * inner elements of `element` bytes fit into `held`. */
static bool fits_bytes(const int64_t *p, int64_t n, int64_t element, int64_t held) {
    int64_t bytes;
    return ig_mul_i64(p[0], n, &bytes) && ig_mul_i64(bytes, p[2], &bytes) &&
           ig_mul_i64(bytes, element, &bytes) && bytes <= held;
}

ig_host_fn ig_host_sort;

bool ig_host_sort(const ig_host_call *call) {
    const int64_t *p = call->params;
    int64_t outer = p[0], n = p[1], inner = p[2], kept = p[3], bytes = p[4];
    if (outer < 0 || n < 0 || inner < 0 || kept < 0 || kept > n || bytes < 1 ||
        bytes > 8 || !fits_bytes(p, kept, bytes, call->bytes[0]) ||
        !fits_bytes(p, kept, 8, call->bytes[1]) ||
        !fits_bytes(p, n, bytes, call->bytes[2])) {
        return false;
    }
    line l = { .inner = inner,
               .bytes = bytes,
               .infinity = (uint64_t)p[5],
               .is_signed = p[6] != 0,
               .is_descending = p[7] != 0 };
    for (int64_t i = 0; i < (kept > 0 ? outer * inner : 0); i++) {
        int64_t from = i / inner * n * inner + i % inner;
        int64_t to = i / inner * kept * inner + i % inner;
        l.x = (const char *)call->buffers[2] + from * bytes;
        l.at = (int64_t *)call->buffers[1] + to;
        sort_line(&l, n, kept);
        for (int64_t k = 0; k < kept; k++) {
            memcpy((char *)call->buffers[0] + (to + k * inner) * bytes,
                   l.x + l.at[k * inner] * inner * bytes, (size_t)bytes);
        }
    }
    return true;
}
