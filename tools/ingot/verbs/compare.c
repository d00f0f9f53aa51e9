/* ingot compare: two ways to run a model, value by value; which pass changed it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/compare/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const option_row options[] = {
    TEXT("against", 0, against, "interpret|onnxruntime|MODEL|DIR|x.npz",
         "what to compare with (interpret): the interpreter, ONNX Runtime "
         "(onnxruntime:LIBRARY where the loader does not find it), another model or "
         "artifact, values by their names"),
    FLAG("only-outputs", only_outputs,
         "outputs only, without the values between them (faster)"),
    FLAG("bisect", bisect, "name the pass that changed the answer"),
    TEXT("output", 'o', output, "DIR", "the module before and after that pass"),
    TEXT("passes", 0, passes, "PIPELINE", "in place of the default"),
    REAL("rtol", rtol, has_rtol, "R", "relative tolerance (1e-3)"),
    REAL("atol", atol, has_atol, "A",
         "absolute tolerance (1e-5 of the largest element of each value)"),
    COUNT("batch", 'b', batch_size, 1, INT32_MAX, "batch size (1)"),
    COUNT("threads", 0, threads, 0, MAX_THREADS, "threads of the session (1)"),
    LIST("dim", dims, "NAME=N", "an extent other than the batch, as for ingot bench"),
    LIST("input", inputs, "NAME=VALUE", "values, as for ingot bench"),
    TEXT("inputs", 'i', inputs_from, "DIR|x.npz", "inputs from files"),
    ROW_ENTRY,
    ROWS_STORED,
    ROW_TRUST_CODE,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    ROWS_COMPILE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

enum { MAX_SHOWN = 10 };

/* ---- findings ---- */

static const char *text_at(const json_t *facts, const char *key) {
    const char *text = json_string_value(json_object_get(facts, key));
    return text ? text : "";
}

static void print_difference(const json_t *facts, bool is_first) {
    bool is_value = json_object_get(facts, "value") != NULL;
    fputs(is_first ? "first difference: " : "also: ", stdout);
    fputs(is_value ? "value '" : "output '", stdout);
    put_plain(stdout, text_at(facts, is_value ? "value" : "output"));
    fputs("'", stdout);
    if (is_value) {
        printf(" (%s, %s)%s", text_at(facts, "op"), text_at(facts, "type"),
               text_at(facts, "source")[0] ? " of " : "");
        put_plain(stdout, text_at(facts, "source"));
    }
    fputs("\n", stdout);
    if (json_is_true(json_object_get(facts, "alone"))) {
        fputs("  it differs where no other value is an output too\n", stdout);
    }
    if (is_first) {
        difference_print(facts);
    }
}

static void print_text(const comparison *c, const ig_guilty_pass *guilty) {
    size_t count = json_array_size(c->found);
    for (size_t i = 0; i < count && i < MAX_SHOWN; i++) {
        print_difference(json_array_get(c->found, i), i == 0);
    }
    if (count > MAX_SHOWN) {
        printf("also: %zu more\n", count - MAX_SHOWN);
    }
    if (guilty && guilty->pass[0]) {
        printf("pass: %s changed the answer", guilty->pass);
        printf(guilty->index ? " (number %u)\n" : "\n", guilty->index);
        if (guilty->others[0]) {
            printf("  or: %s\n", guilty->others);
        }
    } else if (guilty) {
        printf("pass: none changed the answer\n");
    }
    printf("%zu of %zu outputs differ", c->outputs_different, c->own);
    if (c->value_count) {
        printf("; %zu of %zu values compared differ, of %zu", c->different, c->compared,
               c->value_count);
    }
    printf(c->missing + c->outputs_missing ? "; %zu were not there to compare\n" : "\n",
           c->missing + c->outputs_missing);
}

static void print_json(comparison *c, const ig_guilty_pass *guilty) {
    json_t *all = need(json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:O}", "outputs", (json_int_t)c->own,
        "outputs_differ", (json_int_t)c->outputs_different, "values",
        (json_int_t)c->value_count, "values_compared", (json_int_t)c->compared,
        "values_differ", (json_int_t)c->different, "missing",
        (json_int_t)(c->missing + c->outputs_missing), "differences", c->found));
    if (guilty) {
        json_object_set_new(all, "pass", json_string(guilty->pass));
        json_object_set_new(all, "pass_number", json_integer(guilty->index));
        json_object_set_new(all, "or", json_string(guilty->others));
    }
    (void)json_dumpf(all, stdout, JSON_INDENT(1));
    fputs("\n", stdout);
    json_decref(all);
}

/* ---- which pass ---- */

static int judge_outputs(void *user, const ig_argument *outputs, size_t count) {
    return compare_outputs(user, outputs, count);
}

static int judge_program(void *user, ig_program *program) {
    const comparison *c = user;
    model m = { .context = c->m->context, .program = program, .path = c->m->path };
    ig_session *session = NULL;
    results got = { 0 };
    message why = { "" };
    ig_status status = session_open(c->given, &m, &session, &why);
    if (status == IG_OK) {
        status = call_run(&m, session, c->with, &got, &why);
    }
    int answer = status == IG_CANCELLED || status == IG_LIMIT ? -1
                 : status != IG_OK                            ? 0
                                   : compare_outputs(c, got.items, got.count);
    results_fini(&got);
    ig_session_destroy(session);
    return answer;
}

static ig_status write_text(const char *folder, const char *name, const char *text) {
    char *path = text_of("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    bool is_good = file && fputs(text, file) >= 0;
    is_good = (!file || fclose(file) == 0) && is_good;
    if (!is_good) {
        complain(0, "%s: cannot write: %s", path, strerror(errno));
    }
    free(path);
    return is_good ? IG_OK : IG_IO;
}

static ig_status write_states(const settings *given, const ig_guilty_pass *guilty) {
    if (!given->output || !guilty->before) {
        return IG_OK;
    }
    if (mkdir(given->output, 0777) != 0 && errno != EEXIST) {
        complain(0, "%s: cannot create: %s", given->output, strerror(errno));
        return IG_IO;
    }
    ig_status status = write_text(given->output, "before.ig", guilty->before);
    return status == IG_OK ? write_text(given->output, "after.ig", guilty->after)
                           : status;
}

static ig_status find_pass(comparison *c, ig_guilty_pass *out) {
    bool is_program = !is_interpret(c->given->target);
    ig_compile_options how = compile_options(c->given);
    ig_answer_judge judge = { .size = sizeof judge,
                              .outputs = judge_outputs,
                              .program = is_program ? judge_program : NULL,
                              .user = c };
    how.target = is_program ? how.target : NULL;
    c->values = NULL; /* the next call takes them */
    ig_status status = ig_module_bisect(c->m->module, &how, c->with->inputs,
                                        c->with->count, &judge, out);
    return status == IG_OK ? write_states(c->given, out) : status;
}

/* ---- the verb ---- */

static ig_status tell(comparison *c, bound_inputs *values, message *why) {
    ig_guilty_pass guilty = { .size = sizeof guilty };
    ig_status status = compare_values(c, why);
    bool is_wrong = c->outputs_different || c->different;
    bool is_bisected = c->given->bisect && c->outputs_different && c->m->module;
    if (status == IG_OK && is_bisected) {
        status = find_pass(c, &guilty);
    }
    progress_clear();
    if (status == IG_OK && c->given->json) {
        print_json(c, is_bisected ? &guilty : NULL);
    } else if (status == IG_OK) {
        print_text(c, is_bisected ? &guilty : NULL);
    }
    values->has_failed = is_wrong;
    return status;
}

static ig_status compare_bound(const settings *given, const model *m,
                               bound_inputs *values, message *why) {
    comparison c = { .given = given, .m = m, .with = &values->with, .lone = SIZE_MAX };
    ig_status status = IG_OK;
    c.own = model_output_count(m);
    if (m->module && !given->only_outputs) {
        status = ig_module_values(m->module, &c.values, &c.value_count);
    }
    if (status != IG_OK) {
        return status;
    }
    c.against = reference_open(given, m, &values->with, &status);
    if (c.against) {
        c.found = need(json_array());
        status = tell(&c, values, why);
        json_decref(c.found);
    }
    reference_close(c.against);
    return status;
}

static ig_status compare_model(const settings *given, const model *m,
                               bound_inputs *values, message *why) {
    extents sizes;
    int64_t batch = given->batch_size ? given->batch_size : -1;
    ig_status status = extents_init(&sizes, m, batch, given->dims) ? IG_OK : IG_INVALID;
    if (status == IG_OK) {
        status = bind_inputs(given, m, &sizes, values);
    }
    if (status == IG_OK) {
        status = compare_bound(given, m, values, why);
    }
    extents_fini(&sizes);
    return status;
}

static int run_compare(const settings *given) {
    return work_on_model(given, compare_model);
}

const verb verb_compare = {
    .name = "compare",
    .arguments = "MODEL [--against interpret|onnxruntime|MODEL|DIR|x.npz] [--bisect]",
    .help = "compares two ways to run a model, value by value",
    .details =
        "The first value that differs is told in full: op, nodes of the model, error, elements. Inputs are those of ingot bench: reals that are not given are random, whole numbers zero. With --target interpret the model is interpreted after --passes. Exit status 1: something differs.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_compare,
};
