/* The table of ingot bench: a row for each point, as text, Markdown or JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MEASURE_BENCH_TABLE_H
#define IG_TOOLS_INGOT_MEASURE_BENCH_TABLE_H

#include "tools/ingot/measure/load_generator.h"
#include "tools/ingot/measure/subject.h"

/* One batch size and number of threads. */
typedef struct bench_point {
    int64_t batch;
    int threads;
    size_t sessions;
    size_t ranks; /* that call in step, each with a batch; 0: no ranks */
    load_facts took;
    double cpu_share; /* of the wall time that we had a CPU */
} bench_point;

typedef struct bench_table {
    const settings *given; /* json, format */
    subject what;          /* the model at hand */
    int name_columns;      /* of the longest name; 0: one model, which has no column */
    size_t rows;           /* printed so far */
} bench_table;

/* Prints the point as soon as it is known; the first brings the head of the table. */
void bench_table_add(bench_table *table, const bench_point *point);
void bench_table_end(const bench_table *table);

#endif
