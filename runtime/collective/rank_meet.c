/* Functions of ranks that meet: the two halves of an all_to_all, and reduce_scatter.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All lists of a collective travel in one exchange: a rank's parts of them, one behind
 * the other, are one parcel.
 */
#include "base/checked.h"
#include "runtime/collective/ranks.h"

#include <string.h>

/* world, rank, n: the first params of all three. */
typedef struct meeting {
    ig_group *group;
    const ig_host_call *call;
    int64_t world, n;
} meeting;

static bool refuse_group(const meeting *m, ig_status status) {
    *m->call->status = status;
    return ig_rank_refuse(m->call, "%s", m->group->text);
}

/* Is this the group that the program was made for? */
static bool open_meeting(ig_group *group, const ig_host_call *call, meeting *m) {
    const int64_t *p = call->params;
    if (call->param_count < 3 || p[2] < 1 || p[2] > INT16_MAX) {
        return false;
    }
    *m = (meeting){ group, call, p[0], p[2] };
    const ig_group_options *o = &group->options;
    return (p[0] == o->world && p[1] == o->rank) ||
           ig_rank_refuse(call,
                          "this is the program of rank %lld of %lld, and its session "
                          "was given to rank %u of %u",
                          (long long)p[1], (long long)p[0], o->rank, o->world);
}

static bool exchange_parcels(const meeting *m, ig_collective what, uint32_t pieces) {
    ig_status status = ig_group_exchange_own(m->group, what, pieces);
    return status == IG_OK ? true : refuse_group(m, status);
}

static bool reserve_parts(const meeting *m, ig_collective what, uint32_t pieces) {
    ig_status status = ig_group_reserve(m->group, what, pieces);
    return status == IG_OK ? true : refuse_group(m, status);
}

/* ---- counts ---- */

/* Sums of what comes of each list. */
static bool add_counts(const meeting *m, int64_t *found) {
    for (int64_t k = 0; k < m->n; k++) {
        const int64_t *came = found + m->n + k * m->world;
        found[k] = 0;
        for (int64_t r = 0; r < m->world; r++) {
            if (came[r] < 0 || !ig_add_i64(found[k], came[r], &found[k])) {
                return ig_rank_refuse(m->call, "rank %lld sends %lld of list %lld",
                                      (long long)r, (long long)came[r], (long long)k);
            }
        }
    }
    return true;
}

static bool check_programs(const meeting *m, const int64_t *marks) {
    for (int64_t r = 0; r < m->world; r++) {
        if (marks[r] != m->call->params[3]) {
            return ig_rank_refuse(m->call,
                                  "rank %lld has the program of another model or plan",
                                  (long long)r);
        }
    }
    return true;
}

bool ig_rank_meet_counts(ig_group *group, const ig_host_call *call) {
    meeting m;
    if (!open_meeting(group, call, &m)) {
        return false;
    }
    uint32_t n = (uint32_t)m.n, pieces = n + 1;
    bool is_whole = call->param_count == 4 && call->buffer_count == n + 1 &&
                    ig_rank_holds(call, 0, m.n + m.n * m.world + m.world, 8);
    for (uint32_t k = 0; is_whole && k < n; k++) {
        is_whole = ig_rank_holds(call, 1 + k, m.world, 8);
    }
    if (!is_whole || !reserve_parts(&m, IG_COLLECTIVE_ALL_TO_ALL, pieces)) {
        return false;
    }
    int64_t *found = call->buffers[0], *marks = found + m.n + m.n * m.world;
    int64_t mark = call->params[3];
    for (int64_t r = 0; r < m.world; r++) {
        ig_group_part *send = group->send + r * pieces;
        ig_group_part *receive = group->receive + r * pieces;
        for (uint32_t k = 0; k < n; k++) {
            send[k] = (ig_group_part){ (int64_t *)call->buffers[1 + k] + r, 8 };
            receive[k] = (ig_group_part){ found + m.n + k * m.world + r, 8 };
        }
        send[n] = (ig_group_part){ &mark, 8 };
        receive[n] = (ig_group_part){ marks + r, 8 };
    }
    return exchange_parcels(&m, IG_COLLECTIVE_ALL_TO_ALL, pieces) &&
           check_programs(&m, marks) && add_counts(&m, found);
}

/* ---- lists ---- */

/* A list in the parts of the ranks: counts[r] times `bytes` each. */
typedef struct cut {
    uint32_t buffer;
    const int64_t *counts;
    int64_t bytes;
} cut;

/* They are piece `k` of each rank's parcel. */
static bool cut_list(const meeting *m, ig_group_part *parts, uint32_t pieces,
                     uint32_t k, cut list) {
    char *at = m->call->buffers[list.buffer];
    int64_t left = m->call->bytes[list.buffer], size;
    for (int64_t r = 0; r < m->world; r++) {
        int64_t count = list.counts[r];
        if (count < 0 || !ig_mul_i64(count, list.bytes, &size) || size > left) {
            return ig_rank_refuse(m->call, "list %u has no %lld elements for rank %lld",
                                  k, (long long)count, (long long)r);
        }
        parts[r * pieces + k] = (ig_group_part){ at, (size_t)size };
        at = size ? at + size : at; /* an empty list may be nowhere */
        left -= size;
    }
    return true;
}

bool ig_rank_meet_lists(ig_group *group, const ig_host_call *call) {
    meeting m;
    if (!open_meeting(group, call, &m)) {
        return false;
    }
    uint32_t n = (uint32_t)m.n, found = 3 * n;
    if (call->param_count != 3 + n || call->buffer_count != 3 * n + 1 ||
        !ig_rank_holds(call, found, m.n + m.n * m.world, 8) ||
        !reserve_parts(&m, IG_COLLECTIVE_ALL_TO_ALL, n)) {
        return false;
    }
    const int64_t *came = (const int64_t *)call->buffers[found] + m.n;
    for (uint32_t k = 0; k < n; k++) {
        int64_t bytes = call->params[3 + k];
        uint32_t counts = 2 * n + k;
        if (!ig_rank_holds(call, counts, m.world, 8) ||
            !cut_list(&m, group->send, n, k,
                      (cut){ n + k, call->buffers[counts], bytes }) ||
            !cut_list(&m, group->receive, n, k,
                      (cut){ k, came + k * m.world, bytes })) {
            return false;
        }
    }
    return exchange_parcels(&m, IG_COLLECTIVE_ALL_TO_ALL, n);
}

/* ---- sums ---- */

/* The sums of what came from all ranks, in their order; every rank adds alike. */
static void add_list(const meeting *m, uint32_t k, int64_t elements, int64_t bytes) {
    const void *rows = m->call->buffers[m->n + k];
    ig_group_add_rows(bytes == 8 ? IG_GROUP_F64 : IG_GROUP_F32, rows,
                      (uint32_t)m->world, (size_t)elements, m->call->buffers[k]);
}

bool ig_rank_reduce_scatter(ig_group *group, const ig_host_call *call) {
    meeting m;
    if (!open_meeting(group, call, &m)) {
        return false;
    }
    uint32_t n = (uint32_t)m.n, rank = group->options.rank;
    if (call->param_count != 3 + 2 * n || call->buffer_count != 4 * n ||
        !reserve_parts(&m, IG_COLLECTIVE_REDUCE_SCATTER, n)) {
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        int64_t inner = call->params[3 + 2 * k], bytes = call->params[4 + 2 * k], own;
        uint32_t list = 2 * n + 2 * k;
        const int64_t *counts = call->buffers[list + 1];
        if (!ig_rank_holds(call, list + 1, m.world, 8) ||
            !ig_mul_i64(counts[rank], inner, &own) ||
            !ig_rank_holds(call, k, own, bytes) ||
            !ig_rank_holds(call, n + k, m.world * own, bytes) ||
            !cut_list(&m, group->send, n, k, (cut){ list, counts, inner * bytes })) {
            return false;
        }
        for (int64_t r = 0; r < m.world; r++) {
            char *rows = call->buffers[n + k];
            char *row = own ? rows + r * own * bytes : NULL;
            group->receive[r * n + k] = (ig_group_part){ row, (size_t)(own * bytes) };
        }
    }
    if (!exchange_parcels(&m, IG_COLLECTIVE_REDUCE_SCATTER, n)) {
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        const int64_t *counts = call->buffers[2 * n + 2 * k + 1];
        add_list(&m, k, counts[rank] * call->params[3 + 2 * k],
                 call->params[4 + 2 * k]);
    }
    return true;
}
