/* The two sides of a comparison.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/compare/side.h"

#include "tools/ingot/compare/onnxruntime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- runs ---- */

ig_status run_module(const settings *given, ig_context *context, const run_order *what,
                     finished_run *out, message *why) {
    ig_module *module = what->module;
    *out = (finished_run){ .m = { .context = context, .module = module } };
    out->m.path = given->arguments.items[0];
    ig_compile_options options = compile_options(given);
    ig_status status = IG_OK;
    if (!what->is_interpreted && is_interpret(given->target)) {
        status = given->passes ? ig_module_run(module, given->passes, NULL) : IG_OK;
    } else if (!what->is_interpreted) {
        status = ig_compile(module, &options, &out->m.program);
    }
    if (status == IG_OK) {
        status = session_open(given, &out->m, &out->session, why);
    }
    return status == IG_OK ? call_run(&out->m, out->session, what->with, &out->got, why)
                           : status;
}

void finished_run_close(finished_run *which) {
    results_fini(&which->got);
    ig_session_destroy(which->session);
    model_close(&which->m);
    *which = (finished_run){ 0 };
}

/* ---- kinds of references ---- */

typedef ig_status (*values_fn)(reference *r, const request *what,
                               const ig_argument **out_values, message *why);

struct reference {
    const settings *given;
    const model *m;
    const call *with;
    values_fn values;
    finished_run run;
    /* Another model: */
    model other;
    bound_inputs inputs;
    /* Files: */
    ig_arguments *archive;
    ig_arguments **files; /* of the last request */
    size_t file_count;
    onnxruntime *runtime;
};

static ig_status interpret_values(reference *r, const request *what,
                                  const ig_argument **out_values, message *why) {
    size_t *none = NULL;
    ig_module *copy = NULL;
    finished_run_close(&r->run);
    ig_status status = ig_module_expose(what->exposed, none, 0, &copy);
    if (status == IG_OK) {
        run_order order = { copy, r->with, true };
        status = run_module(r->given, r->m->context, &order, &r->run, why);
    }
    for (size_t i = 0; i < what->count && status == IG_OK; i++) {
        out_values[i] = i < r->run.got.count ? &r->run.got.items[i] : NULL;
    }
    return status;
}

/* ---- another model ---- */

static size_t find_value(const ig_inner_value *values, size_t count, const char *name) {
    size_t i = 0;
    while (i < count && strcmp(values[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* Exposes those of the wanted values that the other model has too; `place` gets for
 * each wanted name its output of the copy, or SIZE_MAX. */
static ig_status expose_same(reference *r, const request *what, size_t *position,
                             ig_module **out_exposed) {
    const ig_inner_value *values = NULL;
    size_t count = 0, used = 0, own = model_output_count(&r->other);
    ig_status status = ig_module_values(r->other.module, &values, &count);
    size_t *indices = need(calloc(what->count + 1, sizeof *indices));
    for (size_t i = 0; i < what->count; i++) {
        size_t found = i < what->own ? count
                                     : find_value(values, count, what->names[i]);
        position[i] = i < what->own ? (i < own ? i : SIZE_MAX) : SIZE_MAX;
        if (found < count) {
            indices[used] = found;
            position[i] = own + used++;
        }
    }
    if (status == IG_OK) {
        status = ig_module_expose(r->other.module, indices, used, out_exposed);
    }
    free(indices);
    return status;
}

static ig_status run_other_program(reference *r, message *why) {
    finished_run *run = &r->run;
    ig_status status = session_open(r->given, &r->other, &run->session, why);
    return status == IG_OK
               ? call_run(&r->other, run->session, &r->inputs.with, &run->got, why)
               : status;
}

static ig_status other_values(reference *r, const request *what,
                              const ig_argument **out_values, message *why) {
    ig_module *exposed = NULL;
    ig_status status = IG_OK;
    size_t *position = need(calloc(what->count + 1, sizeof *position));
    finished_run_close(&r->run);
    if (r->other.module) {
        status = expose_same(r, what, position, &exposed);
        run_order order = { exposed, &r->inputs.with, false };
        status = status == IG_OK
                     ? run_module(r->given, r->m->context, &order, &r->run, why)
                     : status;
    } else {
        status = run_other_program(r, why);
        for (size_t i = 0; i < what->count; i++) {
            position[i] = i < what->own ? i : SIZE_MAX;
        }
    }
    for (size_t i = 0; i < what->count && status == IG_OK; i++) {
        out_values[i] = position[i] < r->run.got.count ? &r->run.got.items[position[i]]
                                                       : NULL;
    }
    free(position);
    return status;
}

static ig_status open_other(reference *r) {
    message why = { "" };
    ig_status status = model_open_for(r->given, r->m->context, r->given->against,
                                      &r->other, &r->inputs, &why);
    if (status == IG_OK && !r->inputs.is_bound) {
        size_t count = model_input_count(&r->other);
        call_init(&r->inputs.with, count);
        if (count != r->with->count) {
            complain(0, "%s takes %zu inputs, and %s takes %zu", r->given->against,
                     count, r->m->path, r->with->count);
            return IG_INVALID;
        }
        for (size_t i = 0; i < count; i++) {
            r->inputs.with.inputs[i] = r->with->inputs[i];
        }
    }
    report(status, &why);
    return status;
}

/* ---- files ---- */

static const ig_argument *find_array(const ig_arguments *archive, const char *name) {
    for (size_t i = 0; i < ig_arguments_count(archive); i++) {
        if (strcmp(ig_arguments_name(archive, i), name) == 0) {
            return ig_arguments_at(archive, i);
        }
    }
    return NULL;
}

/* NAME.npy or NAME.pb, as `ingot run --outputs` writes them: `/` is `_` there. */
static ig_status read_named(reference *r, const char *name, ig_arguments **out) {
    static const char *const endings[] = { "npy", "pb" };
    ig_status status = IG_OK;
    for (size_t e = 0; e < 2 && !*out && status == IG_OK; e++) {
        size_t skip = strlen(r->given->against) + 2;
        char *text = text_of("@%s/%s.%s", r->given->against, name, endings[e]);
        for (char *at = text + skip; *at; at++) {
            *at = *at == '/' ? '_' : *at;
        }
        if (access(text + 1, F_OK) == 0) {
            status = ig_arguments_parse(r->m->context, text, NULL, out);
        }
        free(text);
    }
    return status;
}

static void close_files(reference *r) {
    for (size_t i = 0; i < r->file_count; i++) {
        ig_arguments_close(r->files[i]);
    }
    free(r->files);
    r->files = NULL;
    r->file_count = 0;
}

/* By its name, else an output by its number. */
static ig_status find_value_in_files(reference *r, const request *what, size_t index,
                                     const ig_argument **out) {
    char *number = index < what->own ? text_of("output_%zu", index) : NULL;
    const char *const names[] = { what->names[index], number };
    ig_status status = IG_OK;
    for (size_t n = 0; n < 2 && names[n] && !*out && status == IG_OK; n++) {
        if (r->archive) {
            *out = find_array(r->archive, names[n]);
            continue;
        }
        status = read_named(r, names[n], &r->files[index]);
        *out = r->files[index] ? ig_arguments_at(r->files[index], 0) : NULL;
    }
    free(number);
    return status;
}

static ig_status file_values(reference *r, const request *what,
                             const ig_argument **out_values, message *why) {
    ig_status status = IG_OK;
    (void)why;
    close_files(r);
    r->files = need(calloc(what->count + 1, sizeof(ig_arguments *)));
    r->file_count = what->count;
    for (size_t i = 0; i < what->count && status == IG_OK; i++) {
        out_values[i] = NULL;
        status = find_value_in_files(r, what, i, &out_values[i]);
    }
    return status;
}

/* ---- ONNX Runtime ---- */

/* The requested values that the file's main graph gives; the bytes are the module's. */
static ig_status run_file(reference *r, const request *what, const bool *has,
                          const void *bytes, size_t size,
                          const ig_argument **out_values) {
    size_t input_count = r->with->count, used = 0;
    const char **inputs = need(calloc(input_count + 1, sizeof *inputs));
    const char **wanted = need(calloc(what->count + 1, sizeof *wanted));
    const ig_argument **got = need(calloc(what->count + 1, sizeof(ig_argument *)));
    for (size_t i = 0; i < input_count; i++) {
        inputs[i] = model_input_name(r->m, i);
    }
    for (size_t i = 0; i < what->count; i++) {
        wanted[used] = what->names[i];
        used += has[i];
    }
    onnxruntime_call order = { .model = bytes,
                               .model_size = size,
                               .path = r->m->path,
                               .input_names = inputs,
                               .with = r->with,
                               .output_names = wanted,
                               .output_count = used,
                               .threads = 1 };
    ig_status status = onnxruntime_run(r->runtime, &order, got);
    used = 0;
    for (size_t i = 0; i < what->count && status == IG_OK; i++) {
        out_values[i] = has[i] ? got[used++] : NULL;
    }
    free(inputs);
    free(wanted);
    free(got);
    return status;
}

static ig_status runtime_values(reference *r, const request *what,
                                const ig_argument **out_values, message *why) {
    ig_wanted_values wanted = { .size = sizeof wanted,
                                .names = what->names,
                                .count = what->count,
                                .has = need(calloc(what->count + 1, sizeof(bool))) };
    const void *bytes = NULL;
    size_t size = 0;
    (void)why;
    ig_status status = ig_module_expose_file(what->exposed, r->m->path, &wanted, &bytes,
                                             &size);
    if (status == IG_OK) {
        status = run_file(r, what, wanted.has, bytes, size, out_values);
    }
    free(wanted.has);
    return status;
}

/* "onnxruntime", or "onnxruntime:LIBRARY". */
static ig_status open_runtime(reference *r, const char *against) {
    const char *library = strchr(against, ':');
    r->values = runtime_values;
    if (!r->m->module) {
        complain(0, "%s: ONNX Runtime runs ONNX models, not artifacts", r->m->path);
        return IG_INVALID;
    }
    r->runtime = onnxruntime_open(library ? library + 1 : NULL);
    return r->runtime ? IG_OK : IG_UNSUPPORTED;
}

/* ---- opening ---- */

static bool is_folder(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static ig_status open_kind(reference *r, const char *against) {
    if (strcmp(against, "interpret") == 0) {
        r->values = interpret_values;
        if (r->m->module) {
            return IG_OK;
        }
        complain(0,
                 "%s: an artifact is not interpreted; compare it with a model, a "
                 "folder of values or an .npz",
                 r->m->path);
        return IG_INVALID;
    }
    if (strcmp(against, "onnxruntime") == 0 ||
        strncmp(against, "onnxruntime:", strlen("onnxruntime:")) == 0) {
        return open_runtime(r, against);
    }
    if (is_folder(against) || text_ends(against, ".npz")) {
        r->values = file_values;
        return is_folder(against)
                   ? IG_OK
                   : ig_arguments_open(r->m->context, against, &r->archive);
    }
    r->values = other_values;
    return open_other(r);
}

reference *reference_open(const settings *given, const model *m, const call *with,
                          ig_status *out_status) {
    reference *r = need(calloc(1, sizeof *r));
    *r = (reference){ .given = given, .m = m, .with = with };
    *out_status = open_kind(r, given->against ? given->against : "interpret");
    if (*out_status != IG_OK) {
        reference_close(r);
        return NULL;
    }
    return r;
}

void reference_close(reference *which) {
    if (!which) {
        return;
    }
    finished_run_close(&which->run);
    model_close(&which->other);
    bound_inputs_free(&which->inputs);
    ig_arguments_close(which->archive);
    close_files(which);
    onnxruntime_close(which->runtime);
    free(which);
}

ig_status reference_values(reference *which, const request *what,
                           const ig_argument **out_values, message *why) {
    return which->values(which, what, out_values, why);
}
