/* Models, however they come: artifacts are opened, all else is compiled on the way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/streams.h"
#include "tools/ingot/model/ahead.h"
#include "tools/ingot/model/model.h"
#include "tools/ingot/model/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool is_artifact(const char *path) {
    return strcmp(ig_model_format(path), "artifact") == 0;
}

ig_status model_format(const char *path, const char **out_format) {
    *out_format = ig_model_format(path);
    if (errno != EIO && errno != ENOMEM) { /* all else is said by who reads it */
        return IG_OK;
    }
    ig_status status = errno == EIO ? IG_IO : IG_LIMIT;
    complain(0, "%s: cannot read: %s", path, strerror(errno));
    return status;
}

/* Machine code runs only from files that the user called *.ingot, or said to trust: a
 * file's content never decides it. */
static bool has_artifact_name(const char *path) {
    static const char ending[] = ".ingot";
    size_t length = strlen(path), tail = sizeof ending - 1;
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static bool may_run_code(const settings *given, const char *path) {
    return given->trust_code || has_artifact_name(path);
}

int artifact_name_check(const settings *given) {
    struct stat facts;
    const char *path = given->output;
    bool is_device = path && stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
    return !path || is_stream(path) || is_device || has_artifact_name(path)
               ? 0
               : complain(EXIT_USAGE,
                          "-o %s: the name of an artifact ends in .ingot: its machine "
                          "code is run under no other",
                          path);
}

/* Functions in IR text are part of the compiled program; an artifact calls
 * libraries alone. */
static bool has_op_texts(const settings *given) {
    bool has_text = false;
    for (size_t i = 0; i < given->ops.count; i++) {
        has_text |= strcmp(ig_model_format(given->ops.items[i]), "ir") == 0;
    }
    return has_text;
}

/* An option that would change the compiled program, or NULL. */
static const char *useless_option(const settings *given) {
    return given->clamp_ids      ? "clamp-ids"
           : given->torch_empty  ? "torch-empty"
           : given->sanitize     ? "sanitize"
           : given->entry        ? "entry"
           : given->resource     ? "resource"
           : given->open_weights ? "open-weights"
           : has_op_texts(given) ? "ops"
           : given->fix          ? "fix"
                                 : NULL;
}

/* "cpu:v3" is that level of an artifact, "cpu" the best one of the CPU, nothing the
 * artifact's own preference. */
static bool take_target(const char *target, ig_program_options *how) {
    static const char *const families[] = { "cpu", "cuda" };
    for (size_t i = 0; target && i < sizeof families / sizeof *families; i++) {
        size_t size = strlen(families[i]);
        if (strncmp(target, families[i], size) == 0) {
            bool is_level = target[size] == ':' && target[size + 1] &&
                            !strchr(target, ',');
            how->device = families[i];
            how->level = is_level ? target + size + 1 : NULL;
            return is_level || !target[size];
        }
    }
    return !target;
}

/* A program whose tables are in stores is a look-ahead's. */
static ig_status open_stores(const settings *given, const char *path, model *out,
                             message *why) {
    size_t size;
    if (!ig_program_stored(out->program, &size)) {
        return IG_OK;
    }
    ig_status status = ahead_open(given, out, path, (int)given->threads, &out->ahead,
                                  why);
    ig_program_close(out->program);
    out->program = status == IG_OK
                       ? (ig_program *)(uintptr_t)ig_lookahead_program(out->ahead)
                       : NULL;
    return status;
}

static ig_status open_artifact(const settings *given, const char *path, model *out,
                               message *why) {
    if (is_interpret(given->target)) {
        snprintf(why->text, sizeof why->text,
                 "%s: this is a compiled artifact; --target interpret takes models",
                 path);
        return wrong_usage();
    }
    if (!may_run_code(given, path)) {
        snprintf(
            why->text, sizeof why->text,
            "%s: this is a compiled artifact, and its name does not end in .ingot: "
            "its machine code is not run\n  if you trust where it came from, give "
            "it that name, or give --trust-code",
            path);
        return IG_INVALID;
    }
    ig_program_options how = { .check_weights = 1,
                               .op_files = given->ops.items,
                               .op_file_count = given->ops.count,
                               .observe = given->debug ? IG_OBSERVE_GDB : 0,
                               .device_memory = (size_t)given->device_memory << 20 };
    const char *useless = useless_option(given);
    if (useless || !take_target(given->target, &how)) {
        snprintf(why->text, sizeof why->text,
                 "%s: this is compiled already: --%s has no effect on it%s", path,
                 useless ? useless : "target",
                 useless ? "; give it to ingot compile"
                         : ", unless it is cpu:LEVEL or cuda:LEVEL");
        return wrong_usage();
    }
    ig_status status = program_open(path, &how, &out->program, why);
    return status == IG_OK ? open_stores(given, path, out, why) : status;
}

bool is_interpret(const char *target) {
    return target && strcmp(target, "interpret") == 0;
}

ig_compile_options compile_options(const settings *given) {
    bool refers = given->weights && strcmp(given->weights, "reference") == 0;
    return (ig_compile_options){
        .size = sizeof(ig_compile_options),
        .target = given->target,
        .passes = given->passes,
        .weights = refers ? IG_WEIGHTS_REFERENCE : IG_WEIGHTS_EMBED,
        .torch_empty = given->torch_empty,
        .clamp_ids = given->clamp_ids,
        .sanitize = given->sanitize,
        .debug = given->debug,
        .isolate = given->isolate,
        .no_cache = given->no_cache,
        .device_memory = (size_t)given->device_memory << 20,
        .tf32 = given->precision && strcmp(given->precision, "tf32") == 0,
        .winograd = given->winograd,
    };
}

bool fixes_rowwise_mean(const settings *given) {
    return given->fix && strcmp(given->fix, "rowwise-mean") == 0;
}

ig_import_options import_options(const settings *given) {
    return (ig_import_options){
        .size = sizeof(ig_import_options),
        .inputs = given->inputs.items,
        .input_count = given->inputs.count,
        .entry = given->entry,
        .resource = given->resource,
        .rowwise_mean = fixes_rowwise_mean(given),
        .checkpoint = given->checkpoint,
        .open_weights = given->open_weights,
        .op_files = given->ops.items,
        .op_file_count = given->ops.count,
        .keeps_weights = given->grad || given->loss,
    };
}

ig_status program_open(const char *path, const ig_program_options *how,
                       ig_program **out_program, message *why) {
    message said = { "" };
    ig_program_options options = how ? *how : (ig_program_options){ 0 };
    options.size = sizeof options;
    options.message = said.text;
    options.message_size = sizeof said.text;
    ig_status status = ig_program_open(path, &options, out_program);
    *why = (message){ "" };
    if (status != IG_OK) {
        const char *text = said.text[0] ? said.text : ig_status_text(status);
        bool is_named = strstr(text, path) != NULL;
        snprintf(why->text, sizeof why->text, "%s%s%.900s", is_named ? "" : path,
                 is_named ? "" : ": ", text);
    }
    return status;
}

ig_status module_open(const settings *given, const char *path,
                      const ig_import_options *how, model *out) {
    out->path = path;
    ig_compile_options options = compile_options(given);
    if (given->isolate && is_interpret(given->target)) {
        complain(0, "--isolate compiles, and --target interpret does not");
        return IG_UNSUPPORTED;
    }
    if (given->isolate) {
        return ig_compile_model(out->context, path, how, &options, &out->program);
    }
    ig_status status = ig_import(out->context, path, how, &out->module);
    if (status == IG_OK) {
        status = ranks_shard(given, out->context, out->module);
    }
    return status == IG_OK && !is_interpret(given->target)
               ? ig_compile(out->module, &options, &out->program)
               : status;
}

ig_status model_open(const settings *given, ig_context *context, const char *path,
                     model *out, message *why) {
    *out = (model){ .context = context, .path = path };
    *why = (message){ "" };
    const char *format = NULL;
    ig_status status = model_format(path, &format);
    if (status != IG_OK) {
        return status;
    }
    if (strcmp(format, "artifact") == 0 && given->checkpoint) {
        complain(0, "%s has weights of its own: --checkpoint is for models", path);
        return IG_UNSUPPORTED;
    }
    if (strcmp(format, "artifact") == 0) {
        return open_artifact(given, path, out, why);
    }
    ig_import_options how = import_options(given);
    how.inputs = NULL; /* of these verbs they are values */
    how.input_count = 0;
    status = module_open(given, path, &how, out);
    if (status != IG_OK) {
        model_close(out);
    }
    return status;
}

int isolation_check(const settings *given) {
    return given->isolate && given->dims.count
               ? complain(EXIT_USAGE,
                          "--dim looks at the model here, and --isolate keeps it "
                          "apart: give --input NAME=TYPE")
               : 0;
}

int output_check(const settings *given) {
    struct stat from, to;
    const char *path = given->arguments.items[0];
    bool is_same = given->output && stat(path, &from) == 0 &&
                   stat(given->output, &to) == 0 && from.st_ino == to.st_ino &&
                   from.st_dev == to.st_dev && S_ISREG(from.st_mode);
    return is_same ? complain(EXIT_USAGE,
                              "--output %s is the model itself, which would be "
                              "replaced: give the result another name",
                              given->output)
                   : 0;
}

void model_close(model *which) {
    if (which->ahead) {
        ig_lookahead_close(which->ahead);
    } else {
        ig_program_close(which->program);
    }
    which->ahead = NULL;
    ig_module_close(which->module);
    which->program = NULL;
    which->module = NULL;
}

/* ---- signature ---- */

/* Rows and positions are the last inputs of such a program. */
static size_t hidden_inputs(const model *m) {
    return m->ahead
               ? ig_program_input_count(m->program) - ig_lookahead_input_count(m->ahead)
               : 0;
}

bool model_has_lists(const model *m) {
    return m->program && m->module && !m->ahead &&
           (ig_program_input_count(m->program) > ig_module_input_count(m->module) ||
            ig_program_output_count(m->program) > ig_module_output_count(m->module));
}

/* Are inputs and outputs those of the program? */
static bool is_of_program(const model *m) {
    return m->program && !model_has_lists(m);
}

size_t model_input_count(const model *m) {
    return m->ahead           ? ig_lookahead_input_count(m->ahead)
           : is_of_program(m) ? ig_program_input_count(m->program)
                              : ig_module_input_count(m->module);
}

size_t model_output_count(const model *m) {
    return is_of_program(m) ? ig_program_output_count(m->program)
                            : ig_module_output_count(m->module);
}

const char *model_input_name(const model *m, size_t index) {
    return is_of_program(m) ? ig_program_input(m->program, index).name
                            : ig_module_input_name(m->module, index);
}

const char *model_input_type(const model *m, size_t index) {
    return is_of_program(m) ? ig_program_input(m->program, index).type
                            : ig_module_input_type(m->module, index);
}

const char *model_output_name(const model *m, size_t index) {
    return is_of_program(m) ? ig_program_output(m->program, index).name
                            : ig_module_output_name(m->module, index);
}

const char *model_output_type(const model *m, size_t index) {
    return is_of_program(m) ? ig_program_output(m->program, index).type
                            : ig_module_output_type(m->module, index);
}

size_t model_state_count(const model *m) {
    return m->program ? ig_program_state_count(m->program)
                      : ig_module_state_count(m->module);
}

size_t model_node_count(const model *m) {
    return m->program ? ig_program_node_count(m->program) - hidden_inputs(m)
                      : ig_module_node_count(m->module);
}

ig_tree_node model_node(const model *m, size_t index) {
    if (!m->program) {
        return ig_module_node(m->module, index);
    }
    size_t hidden = hidden_inputs(m);
    if (index > model_input_count(m)) { /* the flat tree: call, inputs, results */
        return ig_program_node(m->program, index + hidden);
    }
    ig_tree_node node = ig_program_node(m->program, index);
    if (index == 0 && hidden > 0) {
        node.child_count -= (uint32_t)hidden;
        node.size -= (uint32_t)hidden;
        node.integer -= (int64_t)hidden;
    }
    return node;
}

static size_t session_limit(const ig_context *context, const char *name) {
    int64_t limit = ig_context_limit(context, name);
    return limit > 0 ? (size_t)limit : 0;
}

ig_status session_open(const settings *given, const model *m, ig_session **out,
                       message *why) {
    *out = NULL;
    *why = (message){ "" };
    if (!m->program || m->ahead) {
        return IG_OK;
    }
    ig_session_options options = {
        .size = sizeof options,
        .message = why->text,
        .message_size = sizeof why->text,
        .threads = (int)given->threads,
        .memory_limit = session_limit(m->context, "session_bytes"),
        .late_limit = session_limit(m->context, "late_bytes")
    };
    ig_status status = ranks_meet(given, &options.ranks, why);
    if (status == IG_OK) {
        status = ig_session_create(m->program, &options, out);
    }
    if (status != IG_OK && !why->text[0]) {
        snprintf(why->text, sizeof why->text, "%s", ig_status_text(status));
    }
    return status;
}
