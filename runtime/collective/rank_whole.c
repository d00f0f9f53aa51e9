/* Functions of ranks that meet with whole tensors: all_reduce and all_gather.
 * SPDX-License-Identifier: Apache-2.0
 *
 * all_reduce: rank r adds up the r-th slice of each tensor, in the order of ranks, and
 * gives it to all; so each element is added once, and is the same bits everywhere.
 *
 *     rank 0   [a0 a1 a2]   gets a0 b0 c0, sends a0+b0+c0 ─▶ all
 *     rank 1   [b0 b1 b2]   gets a1 b1 c1 …
 */
#include "runtime/collective/ranks.h"

#include <string.h>

/* world, n; of each tensor elements and bytes of one. */
typedef struct whole {
    ig_group *group;
    const ig_host_call *call;
    uint32_t world, rank, n;
} whole;

typedef struct slice {
    int64_t first, count; /* elements */
} slice;

static int64_t elements_of(const whole *w, uint32_t k) {
    return w->call->params[2 + 2 * k];
}

static int64_t bytes_of(const whole *w, uint32_t k) {
    return w->call->params[3 + 2 * k];
}

static slice slice_of(const whole *w, uint32_t k, uint32_t rank) {
    int64_t each = elements_of(w, k) / w->world, more = elements_of(w, k) % w->world;
    int64_t r = rank;
    return (slice){ r * each + (r < more ? r : more), each + (r < more) };
}

static bool refuse_group(const whole *w, ig_status status) {
    *w->call->status = status;
    return ig_rank_refuse(w->call, "%s", w->group->text);
}

/* Are there so many buffers for each tensor, as large as the params say? */
static bool open_whole(ig_group *group, const ig_host_call *call, uint32_t buffers,
                       whole *w) {
    const int64_t *p = call->params;
    if (call->param_count < 4 || p[1] < 1 || p[1] > INT16_MAX) {
        return false;
    }
    *w = (whole){ group, call, group->options.world, group->options.rank,
                  (uint32_t)p[1] };
    if (call->param_count != 2 + 2 * w->n || call->buffer_count != buffers * w->n) {
        return false;
    }
    return p[0] == w->world ||
           ig_rank_refuse(call,
                          "this is the program of one of %lld ranks, and its session "
                          "was given to one of %u",
                          (long long)p[0], w->world);
}

static bool exchange_parts(const whole *w, ig_collective what) {
    ig_status status = ig_group_exchange_own(w->group, what, w->n);
    return status == IG_OK ? true : refuse_group(w, status);
}

static bool reserve_parts(const whole *w, ig_collective what) {
    ig_status status = ig_group_reserve(w->group, what, w->n);
    return status == IG_OK ? true : refuse_group(w, status);
}

/* The slice's bytes in a buffer of whole elements. */
static ig_group_part part_of(const whole *w, uint32_t buffer, uint32_t k, slice s) {
    int64_t bytes = bytes_of(w, k);
    char *data = w->call->buffers[buffer];
    return (ig_group_part){ s.count ? data + s.first * bytes : NULL,
                            (size_t)(s.count * bytes) };
}

static ig_group_part *sent_part(const whole *w, uint32_t rank, uint32_t k) {
    return &w->group->send[rank * w->n + k];
}

static ig_group_part *received_part(const whole *w, uint32_t rank, uint32_t k) {
    return &w->group->receive[rank * w->n + k];
}

/* Slices of the operand to those who add them up; theirs of this rank's to scratch. */
static void deal_slices(const whole *w, uint32_t k) {
    slice own = slice_of(w, k, w->rank);
    for (uint32_t r = 0; r < w->world; r++) {
        *sent_part(w, r, k) = part_of(w, 2 * w->n + k, k, slice_of(w, k, r));
        *received_part(w, r, k) = part_of(w, w->n + k, k,
                                          (slice){ r * own.count, own.count });
    }
}

/* Sums of this rank's slice to all, and theirs. */
static void give_sums(const whole *w, uint32_t k) {
    slice own = slice_of(w, k, w->rank);
    for (uint32_t r = 0; r < w->world; r++) {
        bool is_own = r == w->rank;
        *sent_part(w, r, k) = part_of(w, k, k, is_own ? (slice){ 0 } : own);
        *received_part(w, r, k) = part_of(w, k, k,
                                          is_own ? (slice){ 0 } : slice_of(w, k, r));
    }
}

static void add_slices(const whole *w, uint32_t k) {
    ig_group_part out = part_of(w, k, k, slice_of(w, k, w->rank));
    if (out.bytes) {
        ig_group_add_rows(bytes_of(w, k) == 8 ? IG_GROUP_F64 : IG_GROUP_F32,
                          w->call->buffers[w->n + k], w->world,
                          out.bytes / (size_t)bytes_of(w, k), out.data);
    }
}

bool ig_rank_all_reduce(ig_group *group, const ig_host_call *call) {
    whole w;
    if (!open_whole(group, call, 3, &w) ||
        !reserve_parts(&w, IG_COLLECTIVE_ALL_REDUCE)) {
        return false;
    }
    for (uint32_t k = 0; k < w.n; k++) {
        int64_t rows = slice_of(&w, k, w.rank).count * w.world;
        if ((bytes_of(&w, k) != 4 && bytes_of(&w, k) != 8) ||
            !ig_rank_holds(call, k, elements_of(&w, k), bytes_of(&w, k)) ||
            !ig_rank_holds(call, w.n + k, rows, bytes_of(&w, k)) ||
            !ig_rank_holds(call, 2 * w.n + k, elements_of(&w, k), bytes_of(&w, k))) {
            return false;
        }
        deal_slices(&w, k);
    }
    if (!exchange_parts(&w, IG_COLLECTIVE_ALL_REDUCE)) {
        return false;
    }
    for (uint32_t k = 0; k < w.n; k++) {
        add_slices(&w, k);
        give_sums(&w, k);
    }
    return exchange_parts(&w, IG_COLLECTIVE_ALL_REDUCE);
}

bool ig_rank_all_gather(ig_group *group, const ig_host_call *call) {
    whole w;
    int64_t all;
    if (!open_whole(group, call, 2, &w) ||
        !reserve_parts(&w, IG_COLLECTIVE_ALL_GATHER)) {
        return false;
    }
    for (uint32_t k = 0; k < w.n; k++) {
        int64_t count = elements_of(&w, k);
        if (!ig_mul_i64(count, w.world, &all) ||
            !ig_rank_holds(call, k, all, bytes_of(&w, k)) ||
            !ig_rank_holds(call, w.n + k, count, bytes_of(&w, k))) {
            return false;
        }
        for (uint32_t r = 0; r < w.world; r++) {
            *sent_part(&w, r, k) = part_of(&w, w.n + k, k, (slice){ 0, count });
            *received_part(&w, r, k) = part_of(&w, k, k, (slice){ r * count, count });
        }
    }
    return exchange_parts(&w, IG_COLLECTIVE_ALL_GATHER);
}
