/* Functions of ranks that meet: the two halves of an all_to_all, and reduce_scatter;
 * and what begins at one step and is waited for at another.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All lists of a collective travel in one exchange: a rank's parts of them, one after
 * the other, are one parcel.
 */
#include "base/checked.h"
#include "runtime/collective/flight.h"
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

/* Sums of the received parts of each list. */
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

/* Buffers of sums: first sums, then scratch, and counts every `step` from `counts`. */
typedef struct sums {
    uint32_t counts, step;
} sums;

static const int64_t *counts_at(const meeting *m, sums s, uint32_t k) {
    return m->call->buffers[s.counts + s.step * k];
}

/* Elements of list `k` that are this rank's. */
static bool own_elements(const meeting *m, sums s, uint32_t k, int64_t *out) {
    return ig_rank_holds(m->call, s.counts + s.step * k, m->world, 8) &&
           ig_mul_i64(counts_at(m, s, k)[m->group->options.rank],
                      m->call->params[3 + 2 * k], out);
}

/* Each rank's terms of list `k` are piece `k` of its parcel. */
static bool receive_terms(const meeting *m, sums s, uint32_t k) {
    int64_t bytes = m->call->params[4 + 2 * k], own;
    uint32_t n = (uint32_t)m->n;
    if (!own_elements(m, s, k, &own) || !ig_rank_holds(m->call, k, own, bytes) ||
        !ig_rank_holds(m->call, n + k, m->world * own, bytes)) {
        return false;
    }
    for (int64_t r = 0; r < m->world; r++) {
        char *rows = m->call->buffers[n + k];
        char *row = own ? rows + r * own * bytes : NULL;
        m->group->receive[r * n + k] = (ig_group_part){ row, (size_t)(own * bytes) };
    }
    return true;
}

/* The sums of what came from all ranks, in their order; every rank adds alike. */
static void add_lists(const meeting *m, sums s) {
    for (uint32_t k = 0; k < m->n; k++) {
        int64_t own = 0;
        (void)own_elements(m, s, k, &own); /* as before */
        ig_group_add_rows(m->call->params[4 + 2 * k] == 8 ? IG_GROUP_F64 : IG_GROUP_F32,
                          m->call->buffers[m->n + k], (uint32_t)m->world, (size_t)own,
                          m->call->buffers[k]);
    }
}

bool ig_rank_reduce_scatter(ig_group *group, const ig_host_call *call) {
    meeting m;
    if (!open_meeting(group, call, &m)) {
        return false;
    }
    uint32_t n = (uint32_t)m.n;
    sums s = { 2 * n + 1, 2 };
    if (call->param_count != 3 + 2 * n || call->buffer_count != 4 * n ||
        !reserve_parts(&m, IG_COLLECTIVE_REDUCE_SCATTER, n)) {
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        int64_t bytes;
        if (!ig_mul_i64(call->params[3 + 2 * k], call->params[4 + 2 * k], &bytes) ||
            !receive_terms(&m, s, k) ||
            !cut_list(&m, group->send, n, k,
                      (cut){ 2 * n + 2 * k, counts_at(&m, s, k), bytes })) {
            return false;
        }
    }
    if (!exchange_parcels(&m, IG_COLLECTIVE_REDUCE_SCATTER, n)) {
        return false;
    }
    add_lists(&m, s);
    return true;
}

/* ---- under way ---- */

/* Bytes of list `k` that come from each rank: as found, or as many of this rank's. */
static bool count_coming(const meeting *m, size_t *coming, uint32_t k,
                         const int64_t *found, const int64_t *counts) {
    for (int64_t r = 0; r < m->world; r++) {
        int64_t count = found ? found[m->n + k * m->world + r]
                              : counts[m->group->options.rank];
        int64_t size;
        if (count < 0 || !ig_mul_i64(count, m->call->params[3 + k], &size) ||
            !ig_add_size(coming[r], (size_t)size, &coming[r])) {
            return ig_rank_refuse(m->call, "rank %lld sends %lld of list %u",
                                  (long long)r, (long long)count, k);
        }
    }
    return true;
}

bool ig_rank_meet_start(ig_group *group, const ig_host_call *call) {
    meeting m;
    ig_flight *flight;
    if (!open_meeting(group, call, &m)) {
        return false;
    }
    uint32_t n = (uint32_t)m.n, at = 1 + 2 * n;
    bool is_sum = call->buffer_count == at;
    ig_collective what = is_sum ? IG_COLLECTIVE_REDUCE_SCATTER
                                : IG_COLLECTIVE_ALL_TO_ALL;
    if (call->param_count != 3 + n || call->buffer_count != at + !is_sum ||
        !ig_rank_holds(call, 0, 1, 8) ||
        (!is_sum && !ig_rank_holds(call, at, m.n + m.n * m.world, 8))) {
        return false;
    }
    ig_status status = ig_flight_open(group, what, n, &flight);
    if (status != IG_OK) {
        return refuse_group(&m, status);
    }
    memset(flight->coming, 0, (size_t)m.world * sizeof *flight->coming);
    for (uint32_t k = 0; k < n; k++) {
        const int64_t *counts = call->buffers[1 + n + k];
        if (!ig_rank_holds(call, 1 + n + k, m.world, 8) ||
            !cut_list(&m, flight->send, n, k,
                      (cut){ 1 + k, counts, call->params[3 + k] }) ||
            !count_coming(&m, flight->coming, k, is_sum ? NULL : call->buffers[at],
                          counts)) {
            return false;
        }
    }
    *(int64_t *)call->buffers[0] = flight->id;
    status = ig_flight_start(group, flight);
    return status == IG_OK ? true : refuse_group(&m, status);
}

/* The flight whose number is in the last buffer, of `n` pieces. */
static ig_flight *find_flight(const meeting *m, uint32_t buffer, uint32_t n) {
    if (!ig_rank_holds(m->call, buffer, 1, 8)) {
        return NULL;
    }
    int64_t id = *(const int64_t *)m->call->buffers[buffer];
    ig_flight *flight = ig_flight_at(m->group, id, n);
    if (!flight) {
        (void)ig_rank_refuse(m->call, "exchange %lld of %u lists was not started",
                             (long long)id, n);
    }
    return flight;
}

static bool wait_for(const meeting *m, ig_flight *flight) {
    ig_status status = ig_flight_wait(m->group, flight, m->group->receive);
    return status == IG_OK ? true : refuse_group(m, status);
}

bool ig_rank_meet_wait(ig_group *group, const ig_host_call *call) {
    meeting m;
    if (!open_meeting(group, call, &m)) {
        return false;
    }
    uint32_t n = (uint32_t)m.n;
    if (call->param_count != 3 + n || call->buffer_count != n + 2 ||
        !ig_rank_holds(call, n, m.n + m.n * m.world, 8) ||
        !reserve_parts(&m, IG_COLLECTIVE_ALL_TO_ALL, n)) {
        return false;
    }
    const int64_t *came = (const int64_t *)call->buffers[n] + m.n;
    for (uint32_t k = 0; k < n; k++) {
        if (!cut_list(&m, group->receive, n, k,
                      (cut){ k, came + k * m.world, call->params[3 + k] })) {
            return false;
        }
    }
    ig_flight *flight = find_flight(&m, n + 1, n);
    return flight && wait_for(&m, flight);
}

bool ig_rank_reduce_wait(ig_group *group, const ig_host_call *call) {
    meeting m;
    if (!open_meeting(group, call, &m)) {
        return false;
    }
    uint32_t n = (uint32_t)m.n;
    sums s = { 2 * n, 1 };
    if (call->param_count != 3 + 2 * n || call->buffer_count != 3 * n + 1 ||
        !reserve_parts(&m, IG_COLLECTIVE_REDUCE_SCATTER, n)) {
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (!receive_terms(&m, s, k)) {
            return false;
        }
    }
    ig_flight *flight = find_flight(&m, 3 * n, n);
    if (!flight || !wait_for(&m, flight)) {
        return false;
    }
    add_lists(&m, s);
    return true;
}

bool ig_rank_meet_end(ig_group *group, const ig_host_call *call) {
    meeting m = { .group = group, .call = call };
    if (call->param_count != 1 || call->buffer_count < 2 ||
        call->params[0] != (int64_t)call->buffer_count - 1) {
        return false;
    }
    ig_flight *flight = find_flight(&m, 0, call->buffer_count - 1);
    ig_status status = flight ? ig_flight_end(group, flight) : IG_INVALID;
    return status == IG_OK || (flight && refuse_group(&m, status));
}
