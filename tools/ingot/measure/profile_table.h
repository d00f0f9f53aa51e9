/* A profile: its rows, its limits, and the ways it is printed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MEASURE_PROFILE_TABLE_H
#define IG_TOOLS_INGOT_MEASURE_PROFILE_TABLE_H

#include "tools/ingot/model/sources.h"

/* Rates of the machine on the session's threads; 0: not measured. */
typedef struct machine_limits {
    double fma, stream, line; /* FLOPs, bytes, and lines at random, a second */
    size_t stream_bytes;      /* read again and again */
    size_t line_bytes;        /* that holds the lines */
} machine_limits;

typedef struct profile_row {
    ig_step_profile step; /* of the last run */
    size_t index;
    double seconds; /* median */
    double p95;     /* seconds: 95 runs of 100 took no longer */
    double flops, bytes, lines;
    double limit;      /* seconds; 0: unknown */
    const char *bound; /* and its source: "fma", "stream", "line", or "" */
} profile_row;

typedef struct profile_table {
    const json_t *sources; /* of its steps, or NULL */
    profile_row *rows;
    size_t count, runs, memory;
    int threads;
    int64_t arena_bytes, arena_min;
    double ordinary, whole; /* seconds of a run, without and with clocks */
    double inside;          /* of all steps */
    machine_limits limits;
} profile_table;

/* "sources": […], the nodes that step number `step` does the work of. */
void profile_put_sources(FILE *file, const json_t *sources, size_t step);
void profile_set_limits(profile_table *table);
void profile_print(const profile_table *table);
void profile_put_json(FILE *file, const profile_table *table);
/* Medians as folded stacks, which flame graphs are drawn of ("model;top;gemm 812"), in
 * nanoseconds, by the scopes of the first node that a step comes from. */
ig_status profile_write_folded(const char *path, const profile_table *table);

#endif
