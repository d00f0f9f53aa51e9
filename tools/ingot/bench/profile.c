/* ingot profile: the cost of each step of a program, beside this machine's limits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Profiled runs alternate with ordinary ones, so the table can give the clocks' cost.
 * A step's figure is the median of its times; its limit is the time that its
 * arithmetic, or the bytes it must move, would take at the rates that roofline.h found
 * before and after the runs, and every line at random comes on top:
 *
 *     limit = max(flops / fma, bytes / stream) + lines * line
 *
 * `stream` is the rate of reading as many bytes as a whole run moves, again and again,
 * and `line` is taken from as many bytes as the program has constants, so both are
 * those of the cache which holds a small model.
 */
#include "tools/ingot/bench/profile_remote.h"
#include "tools/ingot/cli/streams.h"
#include "tools/ingot/measure/clock.h"
#include "tools/ingot/measure/profile_table.h"
#include "tools/ingot/measure/roofline.h"
#include "tools/ingot/measure/trace.h"
#include "tools/ingot/values/bound_inputs.h"

#include <ingot/page.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option_row options[] = {
    COUNT("batch", 'b', batch_size, 1, INT32_MAX, "batch size (1)"),
    COUNT("threads", 0, threads, 0, MAX_THREADS, "threads of the session (1)"),
    REAL("seconds", seconds, has_seconds, "S", "time of the runs (2)"),
    TEXT(
        "remote", 0, remote, "HOST:PORT",
        "time whole runs on the backends of an ingot worker instead; grpcs://HOST:PORT "
        "is reached by TLS"),
    TEXT("ca", 0, ca, "FILE", "with --remote: TLS, and whose certificates are trusted"),
    TEXT("token-file", 0, token_file, "FILE",
         "with --remote: whose first line is the token to send"),
    LIST("backend", backends, "HOST/SOFTWARE",
         "with --remote: one of them (the worker's default ones)"),
    TEXT("sort", 0, sort, "order|time", "as the steps run (order), or by their time"),
    TEXT("trace", 0, trace, "FILE", "also write one warm run for trace viewers (JSON)"),
    TEXT("folded", 0, folded, "FILE", "also write stacks for flame graphs"),
    TEXT("html", 0, html, "FILE",
         "also write a page of the graph, coloured by these times"),
    LIST("dim", dims, "NAME=N", "an extent other than the batch, as for ingot bench"),
    LIST("input", inputs, "NAME=VALUE", "values, as for ingot bench"),
    TEXT("inputs", 'i', inputs_from, "DIR|x.npz", "inputs from files"),
    ROW_ENTRY,
    ROW_TRUST_CODE,
    ROW_DEVICE_MEMORY,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    ROWS_COMPILE,
    ROW_ISOLATE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

enum {
    MIN_RUNS = 5,
    MAX_SAMPLES = 1 << 22, /* of all steps together */
    MIN_STREAM = 1 << 16,
    MAX_STREAM = 1 << 28,
    MIN_LINE = 1 << 20,
    MAX_LINE = 1 << 29, /* more than caches hold */
};

/* ---- measuring ---- */

typedef struct profiler {
    const model *m;
    ig_session *session;
    size_t steps, runs, capacity, constants;
    ig_step_profile *profile; /* of the run at hand: steps of them */
    double *times;            /* of step i in run k: times[i * capacity + k] */
    double *whole, *ordinary;
} profiler;

static void profiler_init(profiler *p, const model *m, ig_session *session) {
    ig_program_facts facts = { .size = sizeof facts };
    ig_program_get_facts(m->program, &facts);
    *p = (profiler){ .m = m, .session = session, .steps = facts.step_count };
    p->constants = facts.weight_bytes;
    p->capacity = MAX_SAMPLES / (p->steps + 2) + MIN_RUNS;
    p->capacity = p->capacity > 1 << 14 ? 1 << 14 : p->capacity;
    p->profile = need(calloc(p->steps + 1, sizeof *p->profile));
    p->times = need(calloc((p->steps + 1) * p->capacity, sizeof *p->times));
    p->whole = need(calloc(p->capacity, sizeof *p->whole));
    p->ordinary = need(calloc(p->capacity, sizeof *p->ordinary));
}

static void profiler_fini(profiler *p) {
    free(p->profile);
    free(p->times);
    free(p->whole);
    free(p->ordinary);
}

/* An ordinary run and a profiled one. */
static ig_status run_pair(profiler *p, bool is_kept) {
    double begin = clock_seconds();
    int64_t ns = 0;
    ig_status status = ig_session_run_bound(p->session);
    double ordinary = clock_seconds() - begin;
    if (status == IG_OK) {
        status = ig_session_profile(p->session, p->profile, p->steps, &ns);
    }
    if (status != IG_OK) {
        return status;
    }
    for (size_t i = 0; is_kept && i < p->steps; i++) {
        p->times[i * p->capacity + p->runs] = (double)p->profile[i].ns * 1e-9;
    }
    if (is_kept) {
        p->whole[p->runs] = (double)ns * 1e-9;
        p->ordinary[p->runs++] = ordinary;
    }
    return IG_OK;
}

/* Ctrl-C ends the runs; what there is by then is told. */
static ig_status run_for(profiler *p, double seconds) {
    ig_status status = IG_OK;
    double end = clock_seconds() + seconds / 10;
    for (int i = 0; status == IG_OK && !was_interrupted() &&
                    (i < MIN_RUNS || clock_seconds() < end);
         i++) {
        status = run_pair(p, false);
    }
    end = clock_seconds() + seconds;
    while (status == IG_OK && p->runs < p->capacity &&
           (p->runs < MIN_RUNS || clock_seconds() < end) &&
           !(was_interrupted() && p->runs)) {
        status = run_pair(p, true);
    }
    return status;
}

/* ---- roofline ---- */

static void measure_machine(const profile_table *table, const void *memory,
                            machine_limits *best) {
    double moved = 0, lines = 0;
    for (size_t i = 0; i < table->count; i++) {
        moved += table->rows[i].bytes;
        lines += table->rows[i].lines;
    }
    double size = fmin(fmax(moved, MIN_STREAM), MAX_STREAM);
    best->stream_bytes = (size_t)size / 256 * 256;
    best->fma = fmax(best->fma, probe_fma(table->threads, 0.05) * 1e9);
    best->stream = fmax(best->stream, 1e9 * probe_stream(memory, best->stream_bytes,
                                                         table->threads, 0.05));
    if (lines > 0) {
        double ns = probe_line(memory, best->line_bytes, table->threads, 0.1);
        best->line = fmax(best->line, ns > 0 ? 1e9 / ns : 0);
    }
}

/* ---- the samples' statistics ---- */

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Changes their order. */
static double median_of(double *seconds, size_t count) {
    qsort(seconds, count, sizeof *seconds, compare_seconds);
    return count ? seconds[(count - 1) / 2] : 0;
}

/* Of times in order. */
static double p95_of(const double *sorted, size_t count) {
    return count ? sorted[(count - 1) * 95 / 100] : 0;
}

static void summarise_runs(profiler *p, profile_table *out) {
    ig_session_facts facts = { .size = sizeof facts };
    ig_session_get_facts(p->session, &facts);
    out->threads = facts.threads;
    out->memory = facts.memory;
    out->arena_bytes = facts.arena_bytes;
    out->arena_min = facts.arena_min;
    out->runs = p->runs;
    out->ordinary = median_of(p->ordinary, p->runs);
    out->whole = median_of(p->whole, p->runs);
    out->count = p->steps;
    out->rows = need(calloc(p->steps + 1, sizeof *out->rows));
    for (size_t i = 0; i < p->steps; i++) {
        const ig_step_profile *step = &p->profile[i];
        out->rows[i] = (profile_row){
            .step = *step,
            .index = i,
            .seconds = median_of(p->times + i * p->capacity, p->runs),
            .flops = step->flops,
            .bytes = step->bytes,
            .lines = step->lines,
        };
        out->rows[i].p95 = p95_of(p->times + i * p->capacity, p->runs);
        out->inside += out->rows[i].seconds;
    }
}

/* The page of ingot dump --format html. */
static ig_status write_page(const settings *given, const model *m,
                            const profile_table *table) {
    char *profile = NULL;
    size_t profile_size = 0, size = 0;
    const char *text = NULL;
    ig_compile_options how = compile_options(given);
    FILE *file = need(open_memstream(&profile, &profile_size));
    profile_put_json(file, table);
    need(fclose(file) == 0 ? profile : NULL);
    ig_page_options page = { sizeof page, NULL, &how, profile };
    ig_status status = ig_module_page(m->module, &page, &text, &size);
    free(profile);
    return status == IG_OK ? write_output(given->html, text, size) : status;
}

static int by_time(const void *a, const void *b) {
    const profile_row *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static ig_status print_profile(const settings *given, profiler *p) {
    profile_table table = { .limits.line_bytes = p->constants };
    bool is_sorted = given->sort && strcmp(given->sort, "time") == 0;
    size_t *line_bytes = &table.limits.line_bytes;
    *line_bytes = *line_bytes < MIN_LINE   ? MIN_LINE
                  : *line_bytes > MAX_LINE ? MAX_LINE
                                           : *line_bytes;
    ig_program_facts facts = { .size = sizeof facts };
    ig_program_get_facts(p->m->program, &facts);
    bool is_host = strcmp(facts.device, "cpu") == 0; /* whose limits we can measure */
    void *memory = is_host ? probe_memory(MAX_LINE) : NULL;
    summarise_runs(p, &table);
    for (int i = 0; memory && i < 3; i++) {
        measure_machine(&table, memory, &table.limits);
    }
    profile_set_limits(&table);
    json_t *sources = sources_of(p->m->program);
    table.sources = sources;
    ig_status status = given->trace ? trace_write(given, p->session, &table) : IG_OK;
    if (status == IG_OK && given->folded) {
        status = profile_write_folded(given->folded, &table);
    }
    if (status == IG_OK && given->html) {
        status = write_page(given, p->m, &table);
    }
    if (is_sorted) {
        qsort(table.rows, table.count, sizeof *table.rows, by_time);
    }
    if (status == IG_OK && given->json) {
        profile_put_json(stdout, &table);
    } else if (status == IG_OK) {
        profile_print(&table);
    }
    free(table.rows);
    json_decref(sources);
    return status;
}

/* ---- the verb ---- */

static ig_status profile_call(const settings *given, const model *m, const call *with,
                              message *why) {
    ig_session *session = NULL;
    if (m->ahead) {
        snprintf(
            why->text, sizeof why->text,
            "%s: steps of an artifact whose tables are in stores are not profiled; "
            "ingot bench --trace FILE shows how its batches overlap",
            m->path);
        return IG_UNSUPPORTED;
    }
    if (given->html && !m->module) {
        snprintf(why->text, sizeof why->text,
                 "%s: an artifact holds no graph that --html could show: profile the "
                 "model",
                 m->path);
        return IG_UNSUPPORTED;
    }
    results outputs = { 0 };
    ig_status status = session_open(given, m, &session, why);
    if (status == IG_OK) {
        status = call_bind(m, session, with, &outputs, why);
    }
    if (status == IG_OK) {
        profiler p;
        profiler_init(&p, m, session);
        status = run_for(&p, given->has_seconds ? given->seconds : 2);
        message_of_session(m, session, status, why);
        status = status == IG_OK ? print_profile(given, &p) : status;
        profiler_fini(&p);
    }
    ig_session_destroy(session);
    results_fini(&outputs);
    return status;
}

static ig_status profile_model(const settings *given, const model *m,
                               bound_inputs *values, message *why) {
    extents sizes;
    progress_clear();
    int64_t batch = given->batch_size ? given->batch_size : -1;
    ig_status status = extents_init(&sizes, m, batch, given->dims) ? IG_OK : IG_INVALID;
    if (status == IG_OK) {
        status = bind_inputs(given, m, &sizes, values);
    }
    if (status == IG_OK) {
        status = given->remote ? profile_remotely(given, m, &values->with, why)
                               : profile_call(given, m, &values->with, why);
    }
    extents_fini(&sizes);
    return status == IG_OK && was_interrupted() ? IG_CANCELLED : status;
}

static int run_profile(const settings *given) {
    return is_interpret(given->target)
               ? complain(EXIT_USAGE, "profile measures programs, not the interpreter")
               : work_on_model(given, profile_model);
}

const verb verb_profile = {
    .name = "profile",
    .arguments = "MODEL [--batch 64] [--threads 2]",
    .help = "measures each step of a program",
    .details =
        "The times of a step are medians; its limit is what its arithmetic and the bytes it must move would take at the rates that this machine shows in the same run. Inputs are those of ingot bench.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_profile,
};
