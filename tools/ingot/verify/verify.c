/* ingot verify: models against stored results.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A case is imported as its form asks, compiled once for each distinct signature, and
 * run on each of its data sets.  Forms:
 *
 *     static     shapes as in the data
 *     dynamic    every extent of every input is a symbol, but lengths of vectors that
 *                are shapes
 *     constant   every input is folded into the graph
 *
 * The judge is always the stored result.
 */
#include "tools/ingot/values/declare.h"
#include "tools/ingot/verify/verify.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const option_row verify_options[] = {
    TEXT("suite", 0, suite, "DIR", "verify every case in this folder"),
    TEXT(
        "form", 0, form, "static|dynamic|constant",
        "how inputs are given to the compiler: with the data's shapes (static), with open extents (dynamic), or as constants"),
    TEXT("inputs", 'i', inputs_from, "DIR|x.npz",
         "verify MODEL on these inputs, as ingot run takes them"),
    TEXT("expected", 0, expected, "DIR|y.npz",
         "the expected outputs: NAME.npy, output_0.npy …, or arrays of an archive"),
    TEXT("model", 'm', output, "FILE", "run this in place of the cases' models"),
    REAL("rtol", rtol, has_rtol, "R", "relative tolerance, in place of the case's"),
    REAL("atol", atol, has_atol, "A", "absolute tolerance, in place of the case's"),
    COUNT("threads", 0, threads, 0, MAX_THREADS, "threads of the sessions (1)"),
    TEXT("interpreter", 0, interpreter, "cpython|process",
         "run the Python that packages hold, in an embedded interpreter: in this "
         "process, or in one of its own"),
    LIST("modules", modules, "DIR", "a folder where that Python finds modules"),
    REAL(
        "arena", arena, has_arena, "R",
        "also fail where a run's arena is more than R times the bytes that live at once"),
    ROW_FIX,
    ROWS_STORED,
    ROW_TRUST_CODE,
    ROW_DEVICE_MEMORY,
    ROWS_COMPILE,
    ROW_ISOLATE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

/* Puts the words of a failed call into v->why: `what`, or the context's errors. */
bool verify_fail(verification *v, const char *about, const char *what) {
    message text;
    const char *reason = what && what[0] ? what : v->errors->text;
    snprintf(text.text, sizeof text.text, "%s%s%.*s", about, about[0] ? ": " : "",
             (int)(sizeof text.text - 300), reason);
    v->why = text;
    v->errors->text[0] = '\0';
    return false;
}

/* ---- one data set ---- */

typedef struct data_set {
    const char *folder, *name;
    call inputs;
    names files; /* of the inputs, in order */
} data_set;

static void data_set_close(data_set *set) {
    call_fini(&set->inputs);
    names_free(&set->files);
}

bool verify_read(verification *v, const char *path, const char *type,
                 ig_arguments **out) {
    char *text = text_of("@%s", path);
    ig_status status = ig_arguments_parse(v->context, text, type, out);
    free(text);
    return status == IG_OK ? true : verify_fail(v, "", NULL);
}

/* IR text gives types itself: there is one signature. */
static bool is_text(const verification *v) {
    size_t length = strlen(v->test.model);
    return length > 3 && strcmp(v->test.model + length - 3, ".ig") == 0;
}

/* A set of more inputs than those without a default may hold them all. */
static size_t count_inputs(verification *v, size_t there) {
    size_t count = model_input_count(&v->declared);
    model other = { .context = v->context };
    if (there == count || verify_is_program(v) || is_text(v)) {
        return count;
    }
    if (declared_open_all(v->given, v->context, v->test.model, &other) == IG_OK &&
        model_input_count(&other) == there) {
        model_close(&v->declared);
        v->declared = other;
        return there;
    }
    model_close(&other);
    return count;
}

static bool data_set_open(verification *v, const char *folder, data_set *out) {
    const char *slash = strrchr(folder, '/');
    *out = (data_set){ .folder = folder, .name = slash ? slash + 1 : folder };
    size_t there = data_count(folder, "input");
    size_t count = count_inputs(v, there);
    call_init(&out->inputs, count);
    if (there != count) {
        char text[128];
        snprintf(text, sizeof text, "has %zu inputs, the model takes %zu", there,
                 count);
        return verify_fail(v, out->name, text);
    }
    for (size_t i = 0; i < count; i++) {
        char *path = data_file(folder, "input", i);
        names_add(&out->files, path);
        if (!verify_read(v, path, model_input_type(&v->declared, i),
                         &out->inputs.owners[i])) {
            return false;
        }
        out->inputs.inputs[i] = *ig_arguments_at(out->inputs.owners[i], 0);
    }
    return true;
}

/* ---- signatures ---- */

bool verify_is_form(const verification *v, const char *form) {
    return strcmp(v->given->form ? v->given->form : "static", form) == 0;
}

/* A vector of whole numbers whose length the file fixes, at no more than a rank can be:
 * inputs read as a shape, axes or pads.  Its length is a rank, and no extent. */
static bool is_shape_like(const char *type) {
    const char *bracket = strchr(type, '[');
    char *end = NULL;
    long long length = bracket && !is_real(type) ? strtoll(bracket + 1, &end, 10) : -1;
    return end && end != bracket + 1 && strcmp(end, "]") == 0 &&
           length <= IG_MAX_RANK * 2;
}

/* The compiler's facts about an input; NULL: the file's facts. */
static char *statement_of(const verification *v, const data_set *set, size_t index) {
    const ig_argument *value = &set->inputs.inputs[index];
    const char *type = model_input_type(&v->declared, index);
    if (value->kind != IG_ARGUMENT_TENSOR && !is_unranked(type)) {
        return NULL;
    }
    bool is_open = verify_is_form(v, "dynamic") && !is_shape_like(type);
    return declare_input(model_input_name(&v->declared, index), value, index, is_open);
}

static void signature_close(signature *which) {
    names_free(&which->inputs);
    names_free(&which->constants);
    free(which->files.items); /* borrowed from the set */
    free(which->key);
}

static void signature_of(const verification *v, const data_set *set, signature *out) {
    *out = (signature){ .key = text_of("%s", verify_is_form(v, "constant") ? set->folder
                                                                           : "") };
    for (size_t i = 0; i < set->inputs.count && !is_text(v); i++) {
        char *statement = statement_of(v, set, i);
        if (!statement) {
            continue;
        }
        bool is_tensor = set->inputs.inputs[i].kind == IG_ARGUMENT_TENSOR;
        if (verify_is_form(v, "constant") && is_tensor) {
            names_add(&out->constants,
                      text_of("%s", model_input_name(&v->declared, i)));
            names_add(&out->files, set->files.items[i]);
            free(statement);
            continue;
        }
        char *key = text_of("%s%s\n", out->key, statement);
        free(out->key);
        out->key = key;
        names_add(&out->inputs, statement);
    }
}

/* ---- variants ---- */

bool verify_is_program(const verification *v) {
    return v->declared.program && !v->given->isolate; /* isolated, all are programs */
}

/* Imports and compiles, or does both in isolation. */
static ig_status open_variant(verification *v, const signature *s, model *out,
                              const char **out_failed) {
    ig_import_options how = {
        .size = sizeof how,
        .inputs = (const char *const *)s->inputs.items,
        .input_count = s->inputs.count,
        .constant_names = (const char *const *)s->constants.items,
        .constant_files = (const char *const *)s->files.items,
        .constant_count = s->constants.count,
        .entry = s->entry,
        .resource = v->test.resource,
        .rowwise_mean = fixes_rowwise_mean(v->given),
    };
    ig_compile_options to = compile_options(v->given);
    *out_failed = v->given->isolate ? "compile" : "import";
    if (v->given->isolate) {
        return ig_compile_model(v->context, v->test.model, &how, &to, &out->program);
    }
    ig_status status = ig_import(v->context, v->test.model, &how, &out->module);
    if (status != IG_OK || is_interpret(v->given->target)) {
        return status;
    }
    *out_failed = "compile";
    return ig_compile(out->module, &to, &out->program);
}

static bool make_variant(verification *v, const signature *s, variant *out) {
    const char *failed = "";
    if (verify_is_program(v)) {
        out->m.program = v->declared.program; /* an artifact: as it is */
        return true;
    }
    if (open_variant(v, s, &out->m, &failed) != IG_OK) {
        return verify_fail(v, failed, NULL);
    }
    v->compiled += out->m.program != NULL;
    return true;
}

variant *verify_variant(verification *v, signature *s) {
    variant *found = v->variants;
    while (found && strcmp(found->key, s->key) != 0) {
        found = found->next;
    }
    if (!found) {
        found = need(calloc(1, sizeof *found));
        found->m.context = v->context;
        if (make_variant(v, s, found)) {
            found->key = s->key;
            s->key = NULL;
            found->next = v->variants;
            v->variants = found;
        } else {
            ig_module_close(found->m.module);
            free(found);
            found = NULL;
        }
    }
    return found;
}

static variant *variant_for(verification *v, const data_set *set) {
    signature s;
    signature_of(v, set, &s);
    variant *found = verify_variant(v, &s);
    signature_close(&s);
    return found;
}

void verify_close_variants(verification *v) {
    while (v->variants) {
        variant *gone = v->variants;
        v->variants = gone->next;
        ig_session_destroy(gone->session);
        if (gone->m.program == v->declared.program) {
            gone->m.program = NULL;
        }
        model_close(&gone->m);
        free(gone->key);
        free(gone);
    }
}

/* ---- running and comparing ---- */

tolerance verify_tolerance(const verification *v, const char *output) {
    tolerance within = default_tolerance(v->given);
    within.is_exact = output && names_have(&v->test.exact, output);
    if (v->test.has_tolerance) {
        within.rtol = v->given->has_rtol ? within.rtol : v->test.rtol;
        within.atol = v->given->has_atol ? within.atol : v->test.atol;
        within.bf16_rtol = 0;
    }
    return within;
}

/* A value against the file that holds the expected one. */
static bool check_value(verification *v, const ig_argument *got, char *path,
                        const char *what, const char *output) {
    ig_arguments *want = NULL;
    bool is_list = got->kind == IG_ARGUMENT_LIST;
    const char *type = is_list                             ? "seq<f32[]>"
                       : got->kind == IG_ARGUMENT_OPTIONAL ? "opt<f32[]>"
                                                           : got->dtype;
    if (!verify_read(v, path, type, &want)) {
        return false;
    }
    message why = { "" };
    tolerance within = verify_tolerance(v, output);
    bool is_good = values_agree(got, ig_arguments_at(want, 0), &within, &why);
    ig_arguments_close(want);
    return is_good ? true : verify_fail(v, what, why.text);
}

static bool check_outputs(verification *v, const data_set *set, const variant *with,
                          const results *got) {
    size_t wanted = data_count(set->folder, "output");
    if (wanted != got->count) {
        char text[128];
        snprintf(text, sizeof text, "the model gave %zu outputs, want %zu", got->count,
                 wanted);
        return verify_fail(v, set->name, text);
    }
    for (size_t i = 0; i < got->count; i++) {
        const char *name = model_output_name(&with->m, i);
        char *path = data_file(set->folder, "output", i);
        char *what = text_of("%s: output '%s'", set->name, name);
        bool is_good = check_value(v, &got->items[i], path, what, name);
        free(what);
        free(path);
        if (!is_good) {
            return false;
        }
    }
    return true;
}

/* Inputs that the call should have changed. */
static bool check_inputs_after(verification *v, const data_set *set) {
    for (size_t i = 0; i < set->inputs.count; i++) {
        char *path = data_file(set->folder, "after_input", i);
        if (!path) {
            continue;
        }
        char *what = text_of("%s: input '%s' after the call", set->name,
                             model_input_name(&v->declared, i));
        bool is_good = check_value(v, &set->inputs.inputs[i], path, what, NULL);
        free(what);
        free(path);
        if (!is_good) {
            return false;
        }
    }
    return true;
}

/* The inputs that a variant still takes: all, or the lists when tensors are folded. */
static void call_for(const verification *v, const data_set *set, call *out) {
    call_init(out, 0);
    free(out->inputs);
    out->inputs = need(calloc(set->inputs.count + 1, sizeof *out->inputs));
    for (size_t i = 0; i < set->inputs.count; i++) {
        bool is_tensor = set->inputs.inputs[i].kind == IG_ARGUMENT_TENSOR;
        if (!verify_is_form(v, "constant") || !is_tensor || verify_is_program(v) ||
            is_text(v)) {
            out->inputs[out->count++] = set->inputs.inputs[i];
        }
    }
}

bool verify_arena(verification *v, const char *set, const ig_session *session) {
    ig_session_facts facts = { .size = sizeof facts };
    if (!session) {
        return true;
    }
    ig_session_get_facts(session, &facts);
    double min = facts.arena_min > 0 ? (double)facts.arena_min : 1;
    double ratio = fmax(1, (double)facts.arena_bytes / min);
    v->arena = fmax(v->arena, ratio);
    if (!v->given->has_arena || ratio <= v->given->arena) {
        return true;
    }
    char text[160];
    snprintf(text, sizeof text,
             "the arena has %lld bytes, %.3f times the %lld that live at once",
             (long long)facts.arena_bytes, ratio, (long long)facts.arena_min);
    return verify_fail(v, set, text);
}

static bool run_variant(verification *v, const data_set *set, variant *with) {
    ig_session *session = with->session;
    message why = { "" };
    if (!session && session_open(v->given, &with->m, &session, &why) != IG_OK) {
        return verify_fail(v, "session", why.text);
    }
    call inputs;
    results got = { 0 };
    call_for(v, set, &inputs);
    ig_status status = call_run(&with->m, session, &inputs, &got, &why);
    bool is_good = status == IG_OK ? check_outputs(v, set, with, &got)
                                   : verify_fail(v, set->name, why.text);
    is_good = is_good && check_inputs_after(v, set) &&
              verify_arena(v, set->name, session);
    results_fini(&got);
    free(inputs.inputs);
    free(inputs.owners);
    with->session = v->test.is_stateful ? session : NULL;
    if (!v->test.is_stateful) {
        ig_session_destroy(session);
    }
    return is_good;
}

static bool run_set(verification *v, const char *folder) {
    data_set set;
    variant *with = NULL;
    bool is_good = data_set_open(v, folder, &set);
    if (is_good) {
        with = variant_for(v, &set);
        is_good = with && run_variant(v, &set, with);
    }
    data_set_close(&set);
    if (verify_is_form(v, "constant")) {
        verify_close_variants(v); /* no other set can use it */
    }
    return is_good;
}

/* ---- cases ---- */

/* A case that checks nothing has not passed. */
static outcome refuse_case(verification *v, const char *reason) {
    verify_fail(v, "", reason);
    return FAILED;
}

/* A case's own model never brings machine code: only a path that the user names
 * does. */
static bool is_foreign_code(const verification *v) {
    return !v->given->output && !v->given->trust_code && is_artifact(v->test.model);
}

static outcome verify_sets(verification *v) {
    const char *path = v->given->output ? v->given->output : v->test.model;
    if (is_foreign_code(v)) {
        verify_fail(v, path,
                    "the case's model is a compiled artifact: its machine code is not "
                    "run; name it by --model, or give --trust-code");
        return FAILED;
    }
    bool is_structured = verify_is_structured(v, path);
    if (v->given->interpreter) {
        return is_structured ? verify_interpreted_sets(v)
                             : refuse_case(v, "no case of a package: it has no "
                                              "values.json");
    }
    if (is_structured) {
        return verify_structured_sets(v);
    }
    message why = { "" };
    v->declared = (model){ .context = v->context };
    ig_status status = is_artifact(path)
                           ? model_open(v->given, v->context, path, &v->declared, &why)
                       : v->given->isolate
                           ? module_open(v->given, path, NULL, &v->declared)
                           : declared_open(v->given, v->context, path, &v->declared);
    if (status != IG_OK) {
        verify_fail(v, why.text[0] ? "" : "import", why.text);
        return FAILED;
    }
    bool is_good = true;
    for (size_t i = 0; i < v->test.sets.count && is_good; i++) {
        is_good = run_set(v, v->test.sets.items[i]);
    }
    verify_close_variants(v);
    model_close(&v->declared);
    return is_good ? PASSED : FAILED;
}

static outcome verify_case(verification *v, const char *folder) {
    const case_kind *kind = case_kind_of(v->kinds, folder);
    if (kind) {
        return kind->check(v, folder);
    }
    if (!test_case_open(&v->test, folder, &v->why)) {
        return FAILED;
    }
    if (v->given->output) {
        free(v->test.model);
        v->test.model = text_of("%s", v->given->output);
    }
    if (!v->test.model) {
        return refuse_case(
            v, "the folder has no model (model.onnx, .ig, .pt or package.pt)");
    }
    return v->test.sets.count ? verify_sets(v)
                              : refuse_case(v, "the folder has no test_data_set_K");
}

/* ---- telling ---- */

static void print_outcome(const verification *v, outcome result, size_t index) {
    static const char *const names_of[] = { "pass", "FAIL", "skip" };
    if (!v->given->json) {
        printf("%s %s", names_of[result], v->test.name);
        if (result == PASSED && v->did[0]) {
            printf(" (%s)\n", v->did);
        } else if (result == PASSED) {
            printf(" (%zu data sets, %zu compiled)\n", v->test.sets.count, v->compiled);
        } else {
            printf(": %s\n", v->why.text);
        }
        fflush(stdout);
        return;
    }
    static const char *const words_of[] = { "passed", "failed", "skipped" };
    fputs(index ? ",\n  {\"case\": " : "\n  {\"case\": ", stdout);
    put_json_text(stdout, v->test.name);
    printf(", \"result\": \"%s\", \"data_sets\": %zu, \"compiled\": %zu",
           words_of[result], v->test.sets.count, v->compiled);
    if (result != PASSED) {
        fputs(", \"why\": ", stdout);
        put_json_text(stdout, v->why.text);
    }
    if (v->did[0]) {
        fputs(", \"did\": ", stdout);
        put_json_text(stdout, v->did);
    }
    if (result == PASSED && v->arena > 0) {
        printf(", \"arena_ratio\": %.4f", v->arena);
    }
    putchar('}');
}

static outcome run_case(const settings *given, const case_kind *kinds,
                        const char *folder, size_t index, int *out_exit) {
    message errors = { "" };
    ig_context *context = context_open(given, &errors, out_exit);
    if (!context) {
        return INTERRUPTED;
    }
    verification v = {
        .given = given, .kinds = kinds, .context = context, .errors = &errors
    };
    outcome result = verify_case(&v, folder);
    context_close(context);
    if (was_interrupted()) {
        *out_exit = 130;
        result = INTERRUPTED;
    } else {
        print_outcome(&v, result, index);
    }
    test_case_close(&v.test);
    return result;
}

static int run_cases(const settings *given, const case_kind *kinds,
                     const names *folders) {
    size_t counts[3] = { 0 };
    int exit_status = 0;
    if (given->json) {
        fputs("{\"cases\": [", stdout);
    }
    for (size_t i = 0; i < folders->count; i++) {
        outcome result = run_case(given, kinds, folders->items[i], i, &exit_status);
        if (result == INTERRUPTED) {
            break;
        }
        counts[result]++;
    }
    if (given->json) {
        printf("],\n \"passed\": %zu, \"failed\": %zu, \"skipped\": %zu}\n",
               counts[PASSED], counts[FAILED], counts[SKIPPED]);
    } else {
        printf("%zu passed, %zu failed, %zu skipped\n", counts[PASSED], counts[FAILED],
               counts[SKIPPED]);
    }
    return exit_status ? exit_status : counts[FAILED] ? EXIT_FAILED : 0;
}

/* A model, inputs and expected outputs, in place of a folder with all three. */
static int run_call(const settings *given) {
    bool are_both = given->inputs_from && given->expected;
    return !are_both || given->arguments.count != 1 || given->suite
               ? complain(
                     EXIT_USAGE,
                     "verify one MODEL with both --inputs and --expected, or cases")
               : verify_call(given);
}

int verify_run(const settings *given, const case_kind *kinds) {
    if (given->isolate && is_interpret(given->target)) {
        return complain(EXIT_USAGE,
                        "--isolate compiles, and --target interpret does not");
    }
    if (given->inputs_from || given->expected) {
        return run_call(given);
    }
    names folders = { 0 };
    for (size_t i = 0; i < given->arguments.count; i++) {
        names_add(&folders, text_of("%s", given->arguments.items[i]));
    }
    int status = 0;
    if (given->suite && !suite_list(given->suite, kinds, &folders)) {
        status = complain(exit_of(IG_IO), "%s: cannot read: %s", given->suite,
                          strerror(errno));
    } else if (!folders.count) {
        status = given->suite
                     ? complain(EXIT_USAGE,
                                "%s holds no cases: folders with a test_data_set_K",
                                given->suite)
                     : complain(EXIT_USAGE, "verify needs CASE_DIR… or --suite DIR");
    }
    if (status == 0) {
        status = run_cases(given, kinds, &folders);
    }
    names_free(&folders);
    return status;
}

static int run_verify(const settings *given) {
    static const case_kind none[] = { { 0 } };
    return verify_run(given, none);
}

const verb verb_verify = {
    .name = "verify",
    .arguments = "CASE_DIR… | --suite DIR | MODEL --inputs X --expected Y",
    .help = "checks models against stored inputs and outputs",
    .details =
        "A case is a folder with a model, test_data_set_K/{input,output}_I.{pb,npy} and perhaps case.json with a tolerance (else rtol 1e-3, atol 1e-7; bf16: rtol 2^-6; whole numbers: exact). Shapes and element types must be exact.",
    .options = verify_options,
    .min_arguments = 0,
    .max_arguments = 100000,
    .run = run_verify,
};
