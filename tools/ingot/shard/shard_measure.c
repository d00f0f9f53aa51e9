/* SPDX-License-Identifier: Apache-2.0
 *
 * All ranks measure at once, as they will work at once: rows of 256 bytes, drawn from a
 * table larger than caches, are added up, as bags are; then parts of 1 MB go from every
 * rank to every rank, and parts of 8 bytes.  Each figure is the median of rounds on the
 * slowest rank.
 */
#include "tools/ingot/shard/shard_measure.h"

#include "tools/ingot/cli/streams.h"
#include "tools/ingot/measure/clock.h"
#include "tools/ingot/model/ranks.h"

#include <ingot/group.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 9, ROW = 64, ROWS = 1 << 18, LOOKUPS = 1 << 17 };
enum { LARGE = 1 << 20, SMALL = 8, SMALL_CALLS = 200, LARGE_BYTES = 32 << 20 };

typedef struct measures {
    double memory, exchange; /* bytes per millisecond */
    double latency;          /* microseconds */
} measures;

typedef struct meter {
    ig_group *group;
    uint32_t world;
    char *send, *receive; /* world parts each */
    ig_group_part *to, *from;
} meter;

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

/* ---- memory ---- */

static double add_rows(const float *table, uint32_t *state) {
    float sum[ROW] = { 0 };
    double total = 0;
    for (int i = 0; i < LOOKUPS; i++) {
        *state = *state * 1664525u + 1013904223u;
        const float *row = table + (size_t)(*state >> 8) % ROWS * ROW;
        for (int k = 0; k < ROW; k++) {
            sum[k] += row[k];
        }
    }
    for (int k = 0; k < ROW; k++) {
        total += (double)sum[k];
    }
    return total;
}

static ig_status measure_memory(const meter *m, double *out) {
    float *table = need(malloc((size_t)ROWS * ROW * sizeof *table));
    double seconds[ROUNDS], total = 0;
    uint32_t state = 1;
    ig_status status = IG_OK;
    for (size_t i = 0; i < (size_t)ROWS * ROW; i++) {
        table[i] = (float)(i % 7);
    }
    for (int i = 0; i < ROUNDS && status == IG_OK; i++) {
        status = ig_group_barrier(m->group);
        double begin = clock_seconds();
        total += add_rows(table, &state);
        seconds[i] = clock_seconds() - begin;
    }
    free(table);
    /* The sum is used, so that it is made. */
    *out = total < 0 ? 0 : (double)LOOKUPS * ROW * 4 / (1e3 * median(seconds));
    return status;
}

/* ---- exchanges ---- */

/* Seconds that one exchange of parts of so many bytes takes. */
static ig_status measure_exchange(const meter *m, size_t bytes, int calls,
                                  double *out) {
    double seconds[ROUNDS];
    for (uint32_t r = 0; r < m->world; r++) {
        m->to[r] = (ig_group_part){ m->send + r * bytes, bytes };
        m->from[r] = (ig_group_part){ m->receive + r * bytes, bytes };
    }
    for (int i = 0; i < ROUNDS; i++) {
        ig_status status = ig_group_barrier(m->group);
        double begin = clock_seconds();
        for (int k = 0; k < calls && status == IG_OK; k++) {
            status = ig_group_all_to_all(m->group, m->to, m->from);
        }
        if (status != IG_OK) {
            return status;
        }
        seconds[i] = (clock_seconds() - begin) / calls;
    }
    *out = median(seconds);
    return IG_OK;
}

static ig_status measure_exchanges(const meter *m, measures *out) {
    double large = 0, small = 0;
    size_t bytes = LARGE * m->world <= LARGE_BYTES ? LARGE : LARGE_BYTES / m->world;
    ig_status status = measure_exchange(m, bytes, 4, &large);
    if (status == IG_OK) {
        status = measure_exchange(m, SMALL, SMALL_CALLS, &small);
    }
    out->exchange = (double)bytes * m->world / (1e3 * large);
    out->latency = 1e6 * small;
    return status;
}

/* Of each figure the slowest rank's. */
static ig_status agree(const meter *m, measures *own) {
    measures *all = need(calloc(m->world, sizeof *all));
    ig_status status = ig_group_all_gather(m->group, own, sizeof *own, all);
    for (uint32_t r = 0; r < m->world; r++) {
        own->memory = all[r].memory < own->memory ? all[r].memory : own->memory;
        own->exchange = all[r].exchange < own->exchange ? all[r].exchange
                                                        : own->exchange;
        own->latency = all[r].latency > own->latency ? all[r].latency : own->latency;
    }
    free(all);
    return status;
}

static ig_status measure_all(ig_group *group, uint32_t world, measures *out) {
    size_t bytes = LARGE * world <= LARGE_BYTES ? (size_t)LARGE * world : LARGE_BYTES;
    meter m = { .group = group,
                .world = world,
                .send = need(calloc(1, bytes)),
                .receive = need(calloc(1, bytes)),
                .to = need(calloc(world, sizeof *m.to)),
                .from = need(calloc(world, sizeof *m.from)) };
    ig_status status = measure_memory(&m, &out->memory);
    if (status == IG_OK) {
        status = measure_exchanges(&m, out);
    }
    if (status == IG_OK) {
        status = agree(&m, out);
    }
    free(m.send);
    free(m.receive);
    free(m.to);
    free(m.from);
    return status;
}

/* ---- the topology ---- */

/* Ranks of one host among so many: what mpirun says, else all. */
static int64_t local_ranks(int64_t world) {
    static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_SIZE",
                                         "MPI_LOCALNRANKS", "LOCAL_WORLD_SIZE" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        long long count = text ? strtoll(text, NULL, 10) : 0;
        if (count > 0 && count <= world && world % count == 0) {
            return count;
        }
    }
    return world;
}

static ig_status write_topology(const settings *given, const measures *m) {
    int64_t world = given->world ? given->world : 1, local = local_ranks(world);
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char *text = text_of(
        "{\"world_size\": %lld, \"local_world_size\": %lld, \"compute_device\": "
        "\"cpu\",\n \"ddr_cap\": %.0f, \"ddr_mem_bw\": %.0f, \"%s\": %.0f, "
        "\"latency_us\": %.0f}\n",
        (long long)world, (long long)local, memory / (double)local, m->memory,
        local < world ? "inter_host_bw" : "intra_host_bw", m->exchange,
        m->latency < 1 ? 1 : m->latency);
    ig_status status = write_output(given->output ? given->output : "-", text,
                                    strlen(text));
    free(text);
    return status;
}

static int measure_rank(const settings *given) {
    ig_group_options alone = { .size = sizeof alone };
    ig_group *group = NULL;
    ig_ranks *ranks;
    measures m = { 0 };
    message why = { .text = "" };
    ig_status status = given->world ? ranks_meet(given, &ranks, &why)
                                    : ig_group_open("self", &alone, &group);
    if (status == IG_OK) {
        status = measure_all(group ? group : ranks_group(),
                             given->world ? (uint32_t)given->world : 1, &m);
    }
    ig_group_close(group);
    if (status != IG_OK) {
        return complain(exit_of(status), "%s", why.text);
    }
    return ranks_are_silent(given) || given->rank > 0
               ? 0
               : exit_of(write_topology(given, &m));
}

int shard_measure(const settings *given) {
    return given->arguments.count
               ? complain(EXIT_USAGE, "--measure takes no MODEL")
               : ranks_work(given, measure_rank);
}
