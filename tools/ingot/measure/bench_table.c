/* The table of ingot bench.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/measure/bench_table.h"

#include <string.h>

enum { MAX_REASONS = 4 };

/* Why the figures of a point are not to be trusted; their count. */
static size_t list_warnings(const bench_point *p, const char *reasons[MAX_REASONS]) {
    size_t count = 0;
    if (p->took.calls < 100) {
        reasons[count++] = "fewer than 100 calls: give more --seconds";
    }
    if (p->took.drift > 0.05) {
        reasons[count++] =
            "the two halves differ by more than 5%: the machine changed its speed, or was busy";
    }
    if (p->cpu_share < 0.9 * (double)p->sessions) {
        reasons[count++] = "other programs took CPU time";
    }
    if (p->took.p50 < 1e-6) {
        reasons[count++] = "calls are as short as reading the clock takes";
    }
    return count;
}

static size_t ranks_of(const bench_point *p) {
    return p->ranks ? p->ranks : 1;
}

/* ---- JSON ---- */

static void put_json_point(const bench_table *table, const bench_point *p) {
    const char *reasons[MAX_REASONS];
    size_t count = list_warnings(p, reasons);
    fputs(table->rows ? ",\n  {" : "[\n  {", stdout);
    subject_put_json(&table->what);
    printf(
        "\"batch\": %lld, \"threads\": %d, \"sessions\": %zu, \"ranks\": %zu, \"calls\": %zu, \"p50\": %.9g, \"p90\": %.9g, \"p99\": %.9g, \"min\": %.9g, \"mean\": %.9g, \"calls_per_second\": %.6g, \"warnings\": [",
        (long long)p->batch, p->threads, p->sessions, ranks_of(p), p->took.calls,
        p->took.p50, p->took.p90, p->took.p99, p->took.min, p->took.mean,
        p->took.per_second);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", stdout);
        put_json_text(stdout, reasons[i]);
    }
    fputs("]}", stdout);
}

/* ---- text and Markdown ---- */

static void print_text_head(const bench_table *table, const char *const *columns) {
    putchar('\n');
    if (table->name_columns) {
        printf("%-*s ", table->name_columns, "model");
    }
    printf("%8s %7s %8s %10s %10s %10s %10s %12s %14s\n", columns[0], columns[1],
           columns[2], columns[3], columns[4], columns[5], columns[6], columns[7],
           columns[8]);
}

static void print_head(const bench_table *table, bool is_markdown) {
    static const char *const columns[] = { "batch",  "threads", "sessions",
                                           "p50 µs", "p90 µs",  "p99 µs",
                                           "min µs", "calls/s", "samples/s" };
    subject_print(&table->what, table->name_columns == 0);
    if (!is_markdown) {
        print_text_head(table, columns);
        return;
    }
    fputs(table->name_columns ? "\n\n| model |" : "\n\n|", stdout);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        printf(" %s |", columns[i]);
    }
    fputs(table->name_columns ? "\n|---|" : "\n|", stdout);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        fputs("---:|", stdout);
    }
    putchar('\n');
}

static void print_name(const bench_table *table, bool is_markdown) {
    if (table->name_columns) {
        int length = (int)strlen(table->what.model);
        fputs(is_markdown ? "| " : "", stdout);
        put_plain(stdout, table->what.model);
        printf("%*s", is_markdown ? 1 : table->name_columns - length + 1, "");
    }
}

static void print_row(const bench_table *table, const bench_point *p,
                      bool is_markdown) {
    const char *reasons[MAX_REASONS];
    size_t count = list_warnings(p, reasons);
    if (table->rows == 0) {
        print_head(table, is_markdown);
    }
    print_name(table, is_markdown);
    printf(is_markdown
               ? "| %lld | %d | %zu | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f |\n"
               : "%8lld %7d %8zu %9.2f %9.2f %9.2f %9.2f %12.0f %14.0f\n",
           (long long)p->batch, p->threads, p->sessions, p->took.p50 * 1e6,
           p->took.p90 * 1e6, p->took.p99 * 1e6, p->took.min * 1e6, p->took.per_second,
           p->took.per_second * (double)p->batch * (double)ranks_of(p));
    /* Beside the table: a sentence between rows would end one of Markdown. */
    for (size_t i = 0; i < count; i++) {
        fflush(stdout);
        fprintf(is_markdown ? stderr : stdout, "%8s not to be trusted: %s\n", "",
                reasons[i]);
    }
    fflush(stdout);
}

void bench_table_add(bench_table *table, const bench_point *point) {
    const char *format = table->given->format;
    if (table->given->json) {
        put_json_point(table, point);
    } else {
        print_row(table, point, format && strcmp(format, "markdown") == 0);
    }
    table->rows++;
}

void bench_table_end(const bench_table *table) {
    fputs(table->given->json && table->rows ? "]\n" : "", stdout);
}
