/* ingot bench: how long calls take, and whether the times can be trusted.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A point is one batch size and thread count.  Inputs are bound once; each call is
 * timed alone, after a warm-up of a tenth of the time.  With N sessions, N threads call
 * at once, each its own session of the one program.
 */
#include "tools/ingot/bench/bench_interpreters.h"
#include "tools/ingot/bench/bench_ranks.h"
#include "tools/ingot/measure/ahead_runner.h"
#include "tools/ingot/measure/bench_table.h"
#include "tools/ingot/measure/clock.h"
#include "tools/ingot/model/extent.h"
#include "tools/ingot/model/ranks.h"
#include "tools/ingot/values/bound_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const option_row options[] = {
    COUNTS("batch", 'b', batch, 0, INT32_MAX, "batch sizes (1)"),
    COUNTS("threads", 0, thread_counts, 1, MAX_THREADS, "threads of a session (1)"),
    COUNT("sessions", 0, sessions, 0, MAX_SESSIONS, "sessions that run at once (1)"),
    REAL("seconds", seconds, has_seconds, "S", "time of a point (2)"),
    LIST(
        "dim", dims, "NAME=N",
        "an extent other than the batch: NAME may be a pattern, N an expression such as 10*batch"),
    LIST("input", inputs, "NAME=VALUE",
         "values, also for patterns of names and without a type: 'ids_*=random:0:100'"),
    TEXT("inputs", 'i', inputs_from, "DIR|x.npz",
         "inputs from files, in place of --batch"),
    TEXT("format", 'f', format, "text|markdown", "how the table is written (text)"),
    COUNT("interpreters", 0, interpreters, 1, MAX_INTERPRETERS,
          "threads that call a package's Python in one interpreter, in N, and the "
          "compiled model"),
    LIST("modules", modules, "DIR", "a folder where that Python finds modules"),
    ROWS_STORED,
    COUNT("ahead", 0, ahead, 1, 1024, "batches whose rows are fetched ahead (2)"),
    TEXT(
        "trace", 0, trace, "FILE",
        "also write when the last batches were fetched and computed, for trace viewers (JSON)"),
    ROWS_RANKS,
    ROW_ENTRY,
    ROW_TRUST_CODE,
    ROW_DEVICE_MEMORY,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    ROW_CHECKPOINT,
    ROWS_COMPILE,
    ROW_ISOLATE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

/* ---- one point ---- */

typedef struct runner {
    ig_session *session;
    results outputs;
    ahead_runner ahead; /* in place of the session */
    ig_status status;
} runner;

/* Until the time is over, or Ctrl-C. */
static int call_session(void *user, size_t index) {
    runner *r = user;
    (void)index;
    r->status = r->session ? ig_session_run_bound(r->session)
                           : ahead_runner_call(&r->ahead);
    if (r->status != IG_OK) {
        return LOAD_FAILED;
    }
    return was_interrupted() ? LOAD_ENOUGH : LOAD_GOOD;
}

static double cpu_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static ig_status open_runner(const settings *given, const model *m, const call *with,
                             runner *out, message *why) {
    if (m->ahead) {
        return ahead_runner_open(given, m, with, &out->ahead, why);
    }
    ig_status status = session_open(given, m, &out->session, why);
    if (status != IG_OK) {
        return status;
    }
    return call_bind(m, out->session, with, &out->outputs, why);
}

static void message_of_runner(const model *m, const runner *r, message *why) {
    if (r->session) {
        message_of_session(m, r->session, r->status, why);
    } else if (r->status != IG_OK) {
        snprintf(why->text, sizeof why->text, "%s: %.900s", m->path ? m->path : "",
                 ig_lookahead_error(r->ahead.ahead));
    }
}

static ig_status run_all(const model *m, const runner *runners, load_caller *callers,
                         size_t count, double seconds, message *why) {
    bool is_started = load_generate(callers, count, seconds);
    ig_status status = is_started ? IG_OK : IG_LIMIT;
    snprintf(why->text, sizeof why->text, "%s",
             is_started ? "" : "cannot start a thread for each session");
    for (size_t i = 0; i < count && status == IG_OK; i++) {
        if (callers[i].answer == LOAD_FAILED) {
            status = runners[i].status;
            message_of_runner(m, &runners[i], why);
            if (status == IG_OK) {
                status = IG_LIMIT;
                snprintf(why->text, sizeof why->text,
                         "no memory for the times of calls");
            }
        }
    }
    return status;
}

ig_status bench_measure(const settings *given, const model *m, const call *with,
                        bench_point *out, message *why) {
    runner *runners = need(calloc(out->sessions, sizeof *runners));
    load_caller *callers = need(calloc(out->sessions, sizeof *callers));
    settings own = *given;
    ig_status status = IG_OK;
    own.threads = out->threads;
    for (size_t i = 0; i < out->sessions && status == IG_OK; i++) {
        callers[i] =
            (load_caller){ .call = call_session, .user = &runners[i], .cpu = -1 };
        status = open_runner(&own, m, with, &runners[i], why);
    }
    double begin = clock_seconds(), cpu = cpu_seconds();
    if (status == IG_OK) {
        status = run_all(m, runners, callers, out->sessions,
                         given->has_seconds ? given->seconds : 2, why);
    }
    if (status == IG_OK && given->trace) {
        status = ahead_runner_trace(&runners[0].ahead, given->trace);
    }
    out->cpu_share = (cpu_seconds() - cpu) / (clock_seconds() - begin);
    if (status == IG_OK && !load_summarise(callers, out->sessions, &out->took)) {
        need(NULL);
    }
    for (size_t i = 0; i < out->sessions; i++) {
        ig_session_destroy(runners[i].session);
        ahead_runner_close(&runners[i].ahead);
        results_fini(&runners[i].outputs);
        free(callers[i].seconds);
    }
    free(runners);
    free(callers);
    return status;
}

/* ---- the verb ---- */

/* A point for each number of threads. */
static ig_status run_threads(const settings *given, const model *m, const call *with,
                             int64_t batch, bench_table *table, message *why) {
    const char *list = given->thread_counts ? given->thread_counts : "1";
    while (*list) {
        int64_t threads = options_next_count(&list);
        bench_point p = { .batch = batch,
                          .threads = (int)threads,
                          .sessions = given->sessions ? (size_t)given->sessions : 1 };
        ig_status status = given->world ? bench_ranks(given, m, with, &p, why)
                                        : bench_measure(given, m, with, &p, why);
        if (status != IG_OK) {
            return status;
        }
        if (p.took.calls > 0 && !ranks_are_silent(given)) {
            bench_table_add(table, &p);
        }
        if (was_interrupted()) {
            return IG_CANCELLED;
        }
    }
    return IG_OK;
}

static ig_status run_batch(const settings *given, const model *m, int64_t batch,
                           bench_table *table, message *why) {
    extents sizes;
    bound_inputs values = { 0 };
    ig_status status = extents_init(&sizes, m, batch, given->dims) ? IG_OK : IG_INVALID;
    if (status == IG_OK) {
        status = bind_inputs(given, m, &sizes, &values);
    }
    if (status == IG_OK) {
        int64_t of = batch_of_call(m, &values.with);
        status = run_threads(given, m, &values.with, of, table, why);
    }
    bound_inputs_free(&values);
    extents_fini(&sizes);
    return status;
}

static ig_status run_batches(const settings *given, const model *m, bench_table *table,
                             message *why) {
    if (!given->batch) {
        return run_batch(given, m, -1, table, why);
    }
    const char *list = given->batch;
    ig_status status = IG_OK;
    while (*list && status == IG_OK) {
        status = run_batch(given, m, options_next_count(&list), table, why);
    }
    return status;
}

/* Arguments that are given whole have one batch size, which they say. */
static ig_status bench_model(const settings *given, const model *m,
                             bound_inputs *values, message *why) {
    bench_table *table = given->table;
    if (given->trace && !m->ahead) {
        snprintf(
            why->text, sizeof why->text,
            "--trace is for artifacts whose tables are in stores; ingot profile traces others");
        return wrong_usage();
    }
    progress_clear();
    subject_read(given->arguments.items[0], m->program, &table->what);
    if (table->name_columns) {
        table->what.model = given->arguments.items[0];
    }
    return values->is_bound ? run_threads(given, m, &values->with,
                                          batch_of_call(m, &values->with), table, why)
                            : run_batches(given, m, table, why);
}

/* One after the other; the first that fails ends the table. */
static int bench_named_models(const settings *given) {
    bench_table table = { .given = given };
    settings own = *given;
    own.table = &table;
    for (size_t i = 0; i < given->arguments.count && given->arguments.count > 1; i++) {
        int columns = (int)strlen(given->arguments.items[i]);
        table.name_columns = columns > table.name_columns ? columns
                                                          : table.name_columns;
    }
    int exit_status = 0;
    for (size_t i = 0; i < given->arguments.count && exit_status == 0; i++) {
        own.arguments.items = given->arguments.items + i;
        own.arguments.count = 1;
        exit_status = work_on_model(&own, bench_model);
    }
    bench_table_end(&table);
    return exit_status;
}

static int run_bench(const settings *given) {
    if (is_interpret(given->target)) {
        return complain(EXIT_USAGE, "bench measures programs, not the interpreter");
    }
    bool has_ranks = given->ranks || given->plan;
    if (has_ranks && (given->sessions || given->interpreters)) {
        return complain(EXIT_USAGE,
                        "--ranks goes without --sessions and --interpreters");
    }
    if (given->arguments.count > 1 && (has_ranks || given->interpreters)) {
        return complain(EXIT_USAGE, "--ranks and --interpreters measure one model");
    }
    return given->interpreters ? bench_interpreters(given)
                               : ranks_work(given, bench_named_models);
}

const verb verb_bench = {
    .name = "bench",
    .arguments = "MODEL… [--batch 1,64,1024] [--threads 1,2]",
    .help = "measures how long calls take",
    .details =
        "Reals are random and whole numbers zero unless --input says otherwise; offsets "
        "and lengths of bags are drawn. The first extent of the first input is the batch "
        "(of bags, their rows); other open extents are as large unless --dim says "
        "otherwise. TorchScript models take --input and "
        "--inputs as ingot run does. With --ranks, or started by mpirun, all ranks call "
        "in step, each with a batch of its own; times are rank 0's, samples those of all.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 64,
    .run = run_bench,
};
