/* Limits of a profile's steps, and the profile as text, JSON and trace.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/measure/profile_table.h"

#include "tools/ingot/cli/streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- limits ---- */

static double divide_by_rate(double amount, double rate) {
    return rate > 0 ? amount / rate : 0;
}

void profile_set_limits(profile_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        profile_row *row = &table->rows[i];
        double fma = divide_by_rate(row->flops, table->limits.fma);
        double stream = divide_by_rate(row->bytes, table->limits.stream);
        double line = divide_by_rate(row->lines, table->limits.line);
        row->limit = fmax(fma, stream) + line;
        row->bound = row->limit <= 0             ? ""
                     : line >= fmax(fma, stream) ? "line"
                     : fma >= stream             ? "fma"
                                                 : "stream";
    }
}

static double percent_of_limit(const profile_row *row) {
    return row->seconds > 0 ? 100 * row->limit / row->seconds : 0;
}

static double share_of(const profile_table *table, double seconds) {
    return table->whole > 0 ? 100 * seconds / table->whole : 0;
}

/* Steps that do nothing of their own stay out of the table. */
static bool is_shown(const profile_row *row) {
    return row->step.calls > 0 || row->seconds > 0;
}

/* ---- text ---- */

static void print_rate(double amount, double seconds) {
    if (amount > 0 && seconds > 0) {
        printf(" %8.2f", amount / seconds * 1e-9);
    } else {
        printf(" %8s", "-");
    }
}

static void print_row(const profile_table *table, const profile_row *row) {
    int indent = 2 * (int)row->step.depth;
    printf("%5zu  %*s%-*.*s %9.2f %9.2f %5.1f %4d %7lld", row->index, indent, "",
           32 - indent, 32 - indent, row->step.name, row->seconds * 1e6, row->p95 * 1e6,
           share_of(table, row->seconds), row->step.threads,
           (long long)row->step.tiles);
    print_rate(row->flops, row->seconds);
    print_rate(row->bytes, row->seconds);
    if (row->lines > 0) {
        printf(" %8.2f", row->seconds / row->lines * 1e9);
    } else {
        printf(" %8s", "-");
    }
    if (row->limit > 0) {
        printf(" %6.0f%% %-6s", percent_of_limit(row), row->bound);
    } else {
        printf(" %7s %-6s", "-", "");
    }
    char *sources = sources_text(table->sources, row->index);
    fputs(sources[0] ? " " : "", stdout);
    put_plain(stdout, sources);
    free(sources);
    putchar('\n');
}

static void print_sum(const profile_table *table, const char *name, double seconds) {
    printf("%5s  %-32s %9.2f %9s %5.1f\n", "", name, seconds * 1e6, "",
           share_of(table, seconds));
}

static double all_limits(const profile_table *table) {
    double sum = 0;
    for (size_t i = 0; i < table->count; i++) {
        sum += table->rows[i].limit;
    }
    return sum;
}

static void print_limits(const profile_table *table) {
    printf(
        "limits on %d thread%s: fma %.1f GFLOP/s, stream %.1f GB/s (%.1f MB again and again)",
        table->threads, table->threads == 1 ? "" : "s", table->limits.fma * 1e-9,
        table->limits.stream * 1e-9, (double)table->limits.stream_bytes * 1e-6);
    if (table->limits.line > 0) {
        printf(", a line at random %.2f ns (of %.0f MB)", 1e9 / table->limits.line,
               (double)table->limits.line_bytes * 1e-6);
    }
    printf("\nall steps at their limits: %.2f µs, %.0f%% of an ordinary run\n",
           all_limits(table) * 1e6,
           table->ordinary > 0 ? 100 * all_limits(table) / table->ordinary : 0);
}

void profile_print(const profile_table *table) {
    printf("%5s  %-32s %9s %9s %5s %4s %7s %8s %8s %8s %7s %6s %s\n", "step", "name",
           "µs", "p95", "%", "thr", "tiles", "GFLOP/s", "GB/s", "ns/line", "limit",
           "by", table->sources ? "from" : "");
    for (size_t i = 0; i < table->count; i++) {
        if (is_shown(&table->rows[i])) {
            print_row(table, &table->rows[i]);
        }
    }
    print_sum(table, "the runtime and the clocks", table->whole - table->inside);
    print_sum(table, "a profiled run", table->whole);
    print_sum(table, "an ordinary run", table->ordinary);
    if (table->limits.fma > 0) {
        print_limits(table);
    }
    printf(
        "medians of %zu runs; arena %lld bytes, of which %lld live at once; session %zu bytes\n",
        table->runs, (long long)table->arena_bytes, (long long)table->arena_min,
        table->memory);
}

/* ---- JSON ---- */

void profile_put_sources(FILE *file, const json_t *sources, size_t step) {
    size_t count = sources_count(sources, step);
    fputs("\"sources\": [", file);
    for (size_t i = 0; i < count; i++) {
        char *name = sources_name(sources, step, i);
        fputs(i ? ", " : "", file);
        put_json_text(file, name);
        free(name);
    }
    fputc(']', file);
}

static void put_row(FILE *file, const profile_table *table, const profile_row *row,
                    bool is_first) {
    const ig_step_profile *step = &row->step;
    fprintf(file, "%s\n  {\"step\": %zu, \"name\": ", is_first ? "" : ",", row->index);
    put_json_text(file, step->name);
    fprintf(
        file,
        ", \"kind\": \"%s\", \"depth\": %u, \"threads\": %d, \"calls\": %lld, "
        "\"tiles\": %lld, \"seconds\": %.9g, \"p95_seconds\": %.9g, \"flops\": %.17g, \"bytes\": %.17g, "
        "\"lines\": %.17g, \"limit_seconds\": %.9g, \"bound\": \"%s\", ",
        step->kind, step->depth, step->threads, (long long)step->calls,
        (long long)step->tiles, row->seconds, row->p95, row->flops, row->bytes,
        row->lines, row->limit, row->bound);
    profile_put_sources(file, table->sources, row->index);
    fputc('}', file);
}

void profile_put_json(FILE *file, const profile_table *table) {
    fputs("{\"steps\": [", file);
    for (size_t i = 0; i < table->count; i++) {
        put_row(file, table, &table->rows[i], i == 0);
    }
    fprintf(
        file,
        "],\n \"threads\": %d, \"runs\": %zu, \"seconds\": %.9g, "
        "\"profiled_seconds\": %.9g, \"overhead_seconds\": %.9g,\n "
        "\"arena_bytes\": %lld, \"arena_min\": %lld, \"session_bytes\": %zu,\n "
        "\"limits\": {\"flops_per_second\": %.6g, \"bytes_per_second\": %.6g, "
        "\"stream_bytes\": %zu, \"lines_per_second\": %.6g, \"line_bytes\": %zu}}\n",
        table->threads, table->runs, table->ordinary, table->whole,
        table->whole - table->inside, (long long)table->arena_bytes,
        (long long)table->arena_min, table->memory, table->limits.fma,
        table->limits.stream, table->limits.stream_bytes, table->limits.line,
        table->limits.line_bytes);
}

/* ---- folded stacks ---- */

/* A name as frames: "/top/top.0/Gemm" is ";top;top.0;Gemm". */
static void put_frames(FILE *file, const char *name) {
    bool is_open = false;
    for (; *name; name++) {
        bool is_edge = *name == '/' || *name == ';';
        if (!is_edge) {
            fputs(is_open ? "" : ";", file);
            fputc(*name == ' ' || (unsigned char)*name < ' ' ? '_' : *name, file);
        }
        is_open = !is_edge;
    }
}

ig_status profile_write_folded(const char *path, const profile_table *table) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = need(open_memstream(&text, &size));
    for (size_t i = 0; i < table->count; i++) {
        const profile_row *row = &table->rows[i];
        if (!is_shown(row)) {
            continue;
        }
        fputs("model", file);
        if (sources_count(table->sources, row->index)) {
            char *name = sources_path(table->sources, row->index, 0);
            put_frames(file, name);
            free(name);
        }
        put_frames(file, row->step.name);
        fprintf(file, " %.0f\n", row->seconds * 1e9);
    }
    bool is_whole = fclose(file) == 0;
    ig_status status = write_output(path, need(is_whole ? text : NULL), size);
    free(text);
    return status;
}
