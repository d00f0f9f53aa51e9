/* ingot bench --interpreters: a package's Python against the compiled model.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The modes of torch::deploy's benchmark: so many threads call one interpreter
 * (one_python), an interpreter each (multi_python), or a session each of the compiled
 * model (compiled).
 */
#include "tools/ingot/bench/bench_interpreters.h"

#include "tools/ingot/values/bound_inputs.h"

#include <ingot/interp.h>

#include <stdlib.h>
#include <string.h>

/* One run of the verb. */
typedef struct mode_table {
    const settings *given;
    ig_arguments **inputs;
    ig_interp_value *values;
    ig_interp_arguments arguments;
    size_t rows;
} mode_table;

/* ---- the table ---- */

static void add_row(mode_table *table, const char *mode, size_t threads,
                    const load_facts *took) {
    if (table->given->json) {
        printf("%s{\"strategy\": \"%s\", \"threads\": %zu, \"items\": %zu, "
               "\"items_per_second\": %.6g, \"p25\": %.9g, \"p50\": %.9g, "
               "\"p95\": %.9g}",
               table->rows ? ",\n  " : "[\n  ", mode, threads, took->calls,
               took->per_second, took->p25, took->p50, took->p95);
    } else {
        if (table->rows == 0) {
            printf("%12s %7s %9s %10s %10s %10s %10s\n", "strategy", "threads", "items",
                   "items/s", "p25 µs", "p50 µs", "p95 µs");
        }
        printf("%12s %7zu %9zu %10.0f %9.1f %9.1f %9.1f\n", mode, threads, took->calls,
               took->per_second, took->p25 * 1e6, took->p50 * 1e6, took->p95 * 1e6);
        fflush(stdout);
    }
    table->rows++;
}

/* ---- Python ---- */

typedef struct python_caller {
    ig_interp_replica *object;
    const ig_interp_arguments *arguments;
    message why;
} python_caller;

static int call_python(void *user, size_t index) {
    python_caller *c = user;
    ig_interp_call how = { .size = sizeof how,
                           .message = c->why.text,
                           .message_size = sizeof c->why.text };
    ig_interp_result *result = NULL;
    (void)index;
    ig_status status = ig_interp_replica_invoke(c->object, &how, NULL, c->arguments,
                                                &result);
    ig_interp_result_free(result);
    return status != IG_OK ? LOAD_FAILED : was_interrupted() ? LOAD_ENOUGH : LOAD_GOOD;
}

static ig_status call_from_threads(mode_table *table, const char *mode,
                                   ig_interp_replica *object, size_t threads,
                                   message *why) {
    python_caller *users = need(calloc(threads, sizeof *users));
    load_caller *callers = need(calloc(threads, sizeof *callers));
    for (size_t i = 0; i < threads; i++) {
        users[i] = (python_caller){ .object = object, .arguments = &table->arguments };
        callers[i] = (load_caller){ .call = call_python, .user = &users[i], .cpu = -1 };
    }
    double seconds = table->given->has_seconds ? table->given->seconds : 2;
    load_facts took;
    ig_status status = load_generate(callers, threads, seconds) ? IG_OK : IG_LIMIT;
    for (size_t i = 0; i < threads && status == IG_OK; i++) {
        if (callers[i].answer == LOAD_FAILED) {
            status = IG_INVALID;
            *why = users[i].why;
        }
    }
    if (status == IG_OK && load_summarise(callers, threads, &took)) {
        add_row(table, mode, threads, &took);
    }
    for (size_t i = 0; i < threads; i++) {
        free(callers[i].seconds);
    }
    free(callers);
    free(users);
    return status;
}

static ig_status load_object(const settings *given, ig_interp_manager *manager,
                             const ig_interp_call *how, ig_interp_replica **out_package,
                             ig_interp_replica **out_object) {
    const char *slash = strrchr(given->resource, '/');
    char *module = text_of("%.*s", (int)(slash - given->resource), given->resource);
    ig_status status = ig_interp_load_package(manager, how, given->arguments.items[0],
                                              out_package);
    if (status == IG_OK) {
        status = ig_interp_load_pickle(*out_package, how, module, slash + 1,
                                       out_object);
    }
    free(module);
    return status;
}

static ig_status run_python(mode_table *table, const char *mode, size_t interpreters,
                            message *why) {
    const settings *given = table->given;
    ig_interp_call how = { .size = sizeof how,
                           .message = why->text,
                           .message_size = sizeof why->text };
    ig_interp_options options = { .size = sizeof options,
                                  .count = (uint32_t)interpreters,
                                  .paths = given->modules.items,
                                  .path_count = given->modules.count,
                                  .use_torch = 1 };
    ig_interp_manager *manager = NULL;
    ig_interp_replica *package = NULL, *object = NULL;
    ig_status status = ig_interp_create(&options, &how, &manager);
    if (status == IG_OK) {
        status = load_object(given, manager, &how, &package, &object);
    }
    if (status == IG_OK) {
        status = call_from_threads(table, mode, object, (size_t)given->interpreters,
                                   why);
    }
    ig_interp_replica_free(object);
    ig_interp_replica_free(package);
    ig_interp_destroy(manager);
    return status;
}

/* ---- compiled ---- */

static ig_status measure_compiled(mode_table *table, const model *m,
                                  bound_inputs *values, message *why) {
    const settings *given = table->given;
    extents sizes;
    bench_point point = { .threads = 1, .sessions = (size_t)given->interpreters };
    ig_status status = extents_init(&sizes, m, -1, given->dims) ? IG_OK : IG_INVALID;
    if (status == IG_OK) {
        status = bind_inputs(given, m, &sizes, values);
    }
    if (status == IG_OK) {
        status = bench_measure(given, m, &values->with, &point, why);
    }
    if (status == IG_OK) {
        add_row(table, "compiled", point.sessions, &point.took);
    }
    extents_fini(&sizes);
    return status;
}

/* A package that is not compiled has no such row; the context says why. */
static ig_status run_compiled(mode_table *table, ig_context *context, message *why) {
    const settings *given = table->given;
    model m = { 0 };
    bound_inputs values = { 0 };
    ig_status status = model_open_for(given, context, given->arguments.items[0], &m,
                                      &values, why);
    bool is_python = status == IG_UNSUPPORTED;
    if (status == IG_OK) {
        status = measure_compiled(table, &m, &values, why);
    }
    bound_inputs_free(&values);
    model_close(&m);
    progress_clear();
    return is_python ? IG_OK : status;
}

/* ---- the verb ---- */

/* The values of --input, in their order; their names are the compiled model's. */
static ig_status read_inputs(mode_table *table, ig_context *context) {
    const text_list *texts = &table->given->inputs;
    for (size_t i = 0; i < texts->count; i++) {
        const char *equals = strchr(texts->items[i], '=');
        if (!equals) {
            complain(0, "--input takes NAME=VALUE, not '%s'", texts->items[i]);
            return wrong_usage();
        }
        ig_status status = ig_arguments_parse(context, equals + 1, NULL,
                                              &table->inputs[i]);
        if (status != IG_OK) {
            return status;
        }
        table->values[i].kind = IG_INTERP_TENSOR;
        if (!view_of(ig_arguments_at(table->inputs[i], 0),
                     &table->values[i].as.tensor)) {
            complain(0, "--input %s is not a tensor", texts->items[i]);
            return wrong_usage();
        }
    }
    table->arguments = (ig_interp_arguments){ .values = table->values,
                                              .count = texts->count };
    return IG_OK;
}

static ig_status run_modes(mode_table *table, ig_context *context, message *why) {
    ig_status status = read_inputs(table, context);
    if (status == IG_OK) {
        status = run_python(table, "one_python", 1, why);
    }
    if (status == IG_OK) {
        status = run_python(table, "multi_python", (size_t)table->given->interpreters,
                            why);
    }
    return status == IG_OK ? run_compiled(table, context, why) : status;
}

int bench_interpreters(const settings *given) {
    int exit_status;
    message why = { "" };
    if (!given->resource || !strchr(given->resource, '/') || given->inputs_from) {
        return complain(EXIT_USAGE, "--interpreters needs --resource PACKAGE/NAME.pkl, "
                                    "and takes --input, not --inputs");
    }
    ig_context *context = context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    size_t count = given->inputs.count + 1;
    mode_table table = { .given = given,
                         .inputs = need(calloc(count, sizeof *table.inputs)),
                         .values = need(calloc(count, sizeof *table.values)) };
    ig_status status = run_modes(&table, context, &why);
    if (given->json && table.rows > 0) {
        puts("]");
    }
    for (size_t i = 0; i < given->inputs.count; i++) {
        ig_arguments_close(table.inputs[i]);
    }
    free(table.inputs);
    free(table.values);
    exit_status = report(status, &why);
    context_close(context);
    return exit_status;
}
