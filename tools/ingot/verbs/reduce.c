/* ingot reduce: the smallest model that a command still fails on.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The command is run by sh, with the model's path for {} (or appended), and for
 * {inputs} that of an .npz file with its inputs' values.  A model fails as the first
 * one did where the command ends with the same status. */
#include "tools/ingot/measure/clock.h"
#include "tools/ingot/reduce/command.h"
#include "tools/ingot/values/bound_inputs.h"

#include <errno.h>
#include <ingot/defect.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const option_row options[] = {
    TEXT("check", 0, check_command, "COMMAND",
         "a command that fails on the model, whose path is {} in it (or comes last), "
         "{inputs} an .npz file with its inputs"),
    TEXT("output", 'o', output, "FILE", "the smaller model (MODEL.reduced.onnx)"),
    REAL("seconds", seconds, has_seconds, "S", "at most as long as this (60)"),
    COUNT("batch", 'b', batch_size, 1, INT32_MAX, "batch size (1)"),
    LIST("dim", dims, "NAME=N", "an extent other than the batch, as for ingot bench"),
    LIST("input", inputs, "NAME=VALUE", "values, as for ingot bench"),
    TEXT("inputs", 'i', inputs_from, "DIR|x.npz", "inputs from files"),
    ROW_LIMIT,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

enum { FOLDER_BYTES = 4096 };

typedef struct reducing {
    const settings *given;
    ig_context *context;
    char folder[FOLDER_BYTES];
    char *trial, *trial_inputs, *output, *output_inputs; /* paths */
    int status;          /* of the command on the whole model */
    double end, slowest; /* by the clock; seconds of the slowest check so far */
    size_t checks, nodes, all_nodes;
    bool has_inputs, has_ended, has_smaller;
    bool has_failed; /* the output was not written */
} reducing;

/* ---- trials ---- */

static int run_check(const reducing *r, const char *path, double end) {
    char *command = command_for(r->given->check_command, path, r->trial_inputs);
    int status = command_run(command, end);
    free(command);
    return status;
}

static bool write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    bool is_good = file && fwrite(bytes, 1, size, file) == size;
    return (!file || fclose(file) == 0) && is_good;
}

static bool write_inputs(const reducing *r, const char *path, const ig_trial *trial) {
    return !r->has_inputs ||
           ig_arguments_write(r->context, path, trial->inputs, trial->names,
                              trial->input_count) == IG_OK;
}

static bool write_trial(reducing *r, const ig_trial *trial) {
    bool is_written = write_file(r->trial, trial->bytes, trial->byte_count);
    if (!is_written) {
        complain(0, "%s: cannot write: %s", r->trial, strerror(errno));
    }
    is_written = is_written && write_inputs(r, r->trial_inputs, trial);
    r->has_failed = !is_written;
    return is_written;
}

/* Files beside the output that get its name when they are whole. */
static void keep_smaller(reducing *r, const ig_trial *trial) {
    char *part = text_of("%s.part", r->output);
    char *part_inputs = text_of("%s.part.npz", r->output);
    bool is_kept = write_inputs(r, part_inputs, trial);
    if (is_kept && (!write_file(part, trial->bytes, trial->byte_count) ||
                    (r->has_inputs && rename(part_inputs, r->output_inputs) != 0) ||
                    rename(part, r->output) != 0)) {
        complain(0, "%s: cannot write: %s", r->output, strerror(errno));
        is_kept = false;
    }
    if (!is_kept) {
        (void)unlink(part);
        (void)unlink(part_inputs);
    }
    free(part);
    free(part_inputs);
    r->has_failed = !is_kept;
    r->has_smaller = is_kept;
}

/* One that hangs has not failed as the first one did. */
static int check_model(void *user, const ig_trial *trial) {
    reducing *r = user;
    double begin = clock_seconds(), limit = begin + 1 + 10 * r->slowest;
    if (was_interrupted() || begin > r->end || r->has_failed) {
        r->has_ended = true;
        return -1;
    }
    if (!write_trial(r, trial)) {
        return -1;
    }
    r->checks++;
    int status = run_check(r, r->trial, limit < r->end ? limit : r->end);
    if (status != r->status) {
        return 0;
    }
    double taken = clock_seconds() - begin;
    r->slowest = taken > r->slowest ? taken : r->slowest;
    keep_smaller(r, trial);
    return r->has_failed ? -1 : 1;
}

static void note_smaller(void *user, size_t nodes, size_t all_nodes) {
    reducing *r = user;
    r->nodes = nodes;
    r->all_nodes = all_nodes;
    if (!r->given->quiet && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%zu of %zu nodes, %zu checks \033[K", nodes, all_nodes,
                r->checks);
    }
}

/* ---- the whole ---- */

static void print_result(const reducing *r) {
    progress_clear();
    if (r->given->json) {
        printf("{\"nodes\": %zu, \"of\": %zu, \"checks\": %zu, \"status\": %d, "
               "\"ended_early\": %s, \"output\": ",
               r->nodes, r->all_nodes, r->checks, r->status,
               r->has_ended ? "true" : "false");
        put_json_text(stdout, r->output);
        puts("}");
        return;
    }
    printf("%zu of %zu nodes, %zu checks%s: ", r->nodes, r->all_nodes, r->checks,
           r->has_ended ? ", not done" : "");
    put_plain(stdout, r->output);
    puts("");
}

/* The command on the model as it is, with the inputs given. */
static ig_status check_whole(reducing *r, const model *m, const call *with) {
    const char **names = need(calloc(with->count + 1, sizeof *names));
    for (size_t i = 0; i < with->count; i++) {
        names[i] = model_input_name(m, i);
    }
    ig_trial whole = { .names = names,
                       .inputs = with->inputs,
                       .input_count = with->count };
    bool is_written = write_inputs(r, r->trial_inputs, &whole);
    free(names);
    if (!is_written) {
        r->has_failed = true;
        return IG_IO;
    }
    double begin = clock_seconds();
    r->status = run_check(r, m->path, begin + 3600);
    r->slowest = clock_seconds() - begin;
    r->end = begin + (r->given->has_seconds ? r->given->seconds : 60);
    if (r->status == 0) {
        complain(0, "the command does not fail on %s: there is nothing to look for",
                 m->path);
        return IG_INVALID;
    }
    return r->status == COMMAND_LOST ? IG_CANCELLED : IG_OK;
}

static ig_status reduce_to(reducing *r, const model *m, const call *with) {
    ig_reduction how = { .size = sizeof how,
                         .has_inputs = r->has_inputs,
                         .check = check_model,
                         .smaller = note_smaller,
                         .user = r };
    ig_status status = check_whole(r, m, with);
    if (status != IG_OK) {
        return status;
    }
    status = ig_module_reduce(m->module, m->path, with->inputs, with->count, &how);
    bool is_done = status == IG_OK || (status == IG_CANCELLED && r->has_smaller);
    if (is_done && r->has_smaller) {
        print_result(r);
    }
    return r->has_failed                          ? IG_IO
           : status == IG_OK && was_interrupted() ? IG_CANCELLED
                                                  : status;
}

static void name_files(reducing *r, const model *m) {
    r->trial = text_of("%s/model.onnx", r->folder);
    r->trial_inputs = text_of("%s/inputs.npz", r->folder);
    r->output = r->given->output ? text_of("%s", r->given->output)
                                 : text_of("%s.reduced.onnx", m->path);
    r->output_inputs = text_of("%s.npz", r->output);
}

static void clear_files(reducing *r) {
    (void)unlink(r->trial);
    (void)unlink(r->trial_inputs);
    (void)rmdir(r->folder);
    free(r->trial);
    free(r->trial_inputs);
    free(r->output);
    free(r->output_inputs);
}

static ig_status reduce_in_folder(const settings *given, const model *m,
                                  const call *with) {
    reducing r = { .given = given,
                   .context = m->context,
                   .has_inputs = command_has_inputs(given->check_command) };
    const char *root = getenv("TMPDIR");
    snprintf(r.folder, sizeof r.folder, "%s/ingot-reduce-XXXXXX",
             root && root[0] ? root : "/tmp");
    if (!mkdtemp(r.folder)) {
        complain(0, "%s: cannot create: %s", r.folder, strerror(errno));
        return IG_IO;
    }
    name_files(&r, m);
    ig_status status = reduce_to(&r, m, with);
    clear_files(&r);
    return status;
}

static ig_status reduce_model(const settings *given, const model *m,
                              bound_inputs *values, message *why) {
    extents sizes;
    (void)why;
    int64_t batch = given->batch_size ? given->batch_size : -1;
    if (!m->module) {
        complain(0, "%s: only ONNX models can be reduced", m->path);
        return IG_UNSUPPORTED;
    }
    ig_status status = extents_init(&sizes, m, batch, given->dims) ? IG_OK : IG_INVALID;
    if (status == IG_OK) {
        status = bind_inputs(given, m, &sizes, values);
    }
    if (status == IG_OK) {
        status = reduce_in_folder(given, m, &values->with);
    }
    extents_fini(&sizes);
    return status;
}

static int run_reduce(const settings *given) {
    settings how = *given;
    how.target = "interpret"; /* whatever fails is the command's */
    int wrong = output_check(given);
    return !given->check_command
               ? complain(EXIT_USAGE, "--check COMMAND says what fails")
           : wrong ? wrong
                   : work_on_model(&how, reduce_model);
}

const verb verb_reduce = {
    .name = "reduce",
    .arguments = "MODEL.onnx --check COMMAND [-o FILE]",
    .help = "finds the smallest model that a command still fails on",
    .details =
        "The command is run by sh; a model fails where it ends with the status that it ends with on MODEL. Values that the nodes left need of others become inputs, whole numbers constants, as they are for the inputs given (those of ingot bench). Where {inputs} is in the command, whole numbers become inputs too, and all inputs read from that file what they read in the whole model; those of the smaller model are in FILE.npz: --check 'ingot compare -q --only-outputs {} -i {inputs}'. Ctrl-C keeps the smallest so far.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_reduce,
};
