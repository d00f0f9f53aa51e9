/* ingot dump and ingot opt: modules as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/model.h"
#include "tools/ingot/cli/json_file.h"
#include "tools/ingot/cli/streams.h"
#include "tools/ingot/values/declare.h"

#include <ingot/grad.h>
#include <ingot/page.h>
#include <ingot/shard.h>

#include <stdlib.h>
#include <string.h>

static const option_row dump_options[] = {
    TEXT("stage", 's', stage, "import|tensor|plan|kernel|llvm|asm|cuda|ptx",
         "how far the model is taken (tensor; html: asm, all there is)"),
    TEXT("after", 0, after, "PASS", "stop after this pass (ingot info lists them)"),
    TEXT("format", 'f', format, "text|dot|html|json|model-explorer|onnx",
         "how it is written (text)"),
    TEXT("output", 'o', output, "FILE", "where it goes; stdout when not given"),
    TEXT("profile", 0, profile, "p.json",
         "html: heat by what ingot profile MODEL --json measured"),
    LIST("input", inputs, "NAME=TYPE", "fix an input's type"),
    LIST("dim", dims, "NAME=N",
         "fix an extent by its name, in every input that has it: S=64 (ONNX)"),
    TEXT("shard", 0, shard, "PLAN.json",
         "the program of one rank, by a plan that ingot shard made"),
    COUNT("rank", 0, rank, 0, 0, "which rank's (0)"),
    TEXT("grad", 0, grad, "OUTPUT[:NAME,NAME]",
         "its gradients by these weights and inputs (patterns; all weights)"),
    ROW_ENTRY,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    ROW_CHECKPOINT,
    ROW_OPEN_WEIGHTS,
    ROWS_COMPILE,
    ROW_ISOLATE,
    ROW_QUIET,
    FLAG("json", json, "the same as --format json; errors too"),
    ROW_HELP,
    OPTIONS_END,
};

static const option_row opt_options[] = {
    TEXT("passes", 'p', passes, "PIPELINE",
         "such as \"fold,cse,dce\" (ingot info lists the passes)"),
    TEXT("format", 'f', format, "text|dot|html|json|model-explorer|onnx",
         "how it is written (text)"),
    TEXT("output", 'o', output, "FILE", "where it goes; stdout when not given"),
    ROW_TARGET,
    ROW_LIMIT,
    ROW_QUIET,
    FLAG("json", json, "the same as --format json; errors too"),
    ROW_HELP,
    OPTIONS_END,
};

static ig_format format_of(const settings *given) {
    static const struct {
        const char *name;
        ig_format format;
    } rows[] = { { "dot", IG_FORMAT_DOT },
                 { "json", IG_FORMAT_JSON },
                 { "html", IG_FORMAT_HTML },
                 { "model-explorer", IG_FORMAT_MODEL_EXPLORER },
                 { "onnx", IG_FORMAT_ONNX } };
    const char *format = given->format ? given->format : given->json ? "json" : "text";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(format, rows[i].name) == 0) {
            return rows[i].format;
        }
    }
    return IG_FORMAT_TEXT;
}

static ig_status write_out(const settings *given, const char *text, size_t size) {
    return write_output(given->output ? given->output : "-", text, size);
}

static const char *stage_of(const settings *given) {
    bool is_page = format_of(given) == IG_FORMAT_HTML;
    return given->stage ? given->stage : is_page ? "asm" : "tensor";
}

static ig_compile_options dump_how(const settings *given) {
    ig_compile_options how = compile_options(given);
    how.stop_after = given->after;
    return how;
}

/* A file of the user's, whole; NULL where none is named, or after a message. */
static char *text_named(const char *path, int *exit_status) {
    return path && !*exit_status ? read_json_text(path, exit_status) : NULL;
}

/* --grad OUTPUT[:NAME,NAME]: gradients in place of the outputs. */
static ig_status take_gradients(const settings *given, ig_module *module) {
    if (!given->grad) {
        return IG_OK;
    }
    char *output = text_of("%s", given->grad);
    char *wanted = strchr(output, ':');
    if (wanted) {
        *wanted++ = '\0';
    }
    ig_compile_options how = dump_how(given);
    ig_grad_options options = { .size = sizeof options,
                                .output = *output ? output : NULL,
                                .wanted = wanted };
    ig_status status = ig_module_grad(module, &options, &how);
    free(output);
    return status;
}

static ig_status print_dump(const settings *given, ig_module *module,
                            const char *profile, const char **text, size_t *size) {
    ig_compile_options how = dump_how(given);
    ig_format format = format_of(given);
    ig_page_options page = { sizeof page, stage_of(given), &how, profile };
    return format == IG_FORMAT_HTML
               ? ig_module_page(module, &page, text, size)
               : ig_dump(module, stage_of(given), &how, format, text, size);
}

static int dump_module(const settings *given, ig_module *module) {
    ig_compile_options how = dump_how(given);
    const char *text = NULL;
    size_t size = 0;
    int exit_status = 0;
    char *plan = text_named(given->shard, &exit_status);
    char *profile = text_named(given->profile, &exit_status);
    ig_status status = IG_OK;
    if (!exit_status && plan) {
        status = ig_module_shard(module, given->shard, plan, (size_t)given->rank, &how);
    }
    if (!exit_status && status == IG_OK) {
        status = take_gradients(given, module);
    }
    if (!exit_status && status == IG_OK) {
        status = print_dump(given, module, profile, &text, &size);
    }
    free(plan);
    free(profile);
    if (exit_status) {
        return exit_status;
    }
    return exit_of(status == IG_OK ? write_out(given, text, size) : status);
}

static int dump_apart(const settings *given) {
    int exit_status = isolation_check(given);
    exit_status = exit_status ? exit_status : output_check(given);
    ig_context *context = exit_status ? NULL : context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    ig_import_options import = import_options(given);
    ig_compile_options compile = dump_how(given);
    ig_isolated_dump what = { .size = sizeof what,
                              .import = &import,
                              .compile = &compile,
                              .stage = stage_of(given),
                              .format = format_of(given) };
    const char *text = NULL;
    size_t size = 0;
    ig_status status = ig_dump_isolated(context, given->arguments.items[0], &what,
                                        &text, &size);
    status = status == IG_OK ? write_out(given, text, size) : status;
    context_close(context);
    return exit_of(status);
}

static int optimise_module(const settings *given, ig_module *module) {
    const char *text = NULL;
    size_t size = 0;
    ig_status status = IG_OK;
    if (given->passes) {
        status = ig_module_run(module, given->passes, given->target);
    }
    if (status == IG_OK) {
        status = ig_module_print(module, format_of(given), &text, &size);
    }
    return exit_of(status == IG_OK ? write_out(given, text, size) : status);
}

static int with_module(const settings *given,
                       int (*work)(const settings *given, ig_module *module)) {
    int exit_status = output_check(given);
    ig_context *context = exit_status ? NULL : context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    ig_module *module = NULL;
    ig_status status = declared_import(given, context, given->arguments.items[0],
                                       &module);
    exit_status = status == IG_OK ? work(given, module) : exit_of(status);
    ig_module_close(module);
    context_close(context);
    return exit_status;
}

/* Options that do not go together. */
static int check_dump(const settings *given) {
    static const char code_stages[] = "|llvm|asm|cuda|ptx|";
    ig_format format = format_of(given);
    char *stage = text_of("|%s|", stage_of(given));
    bool is_code = strstr(code_stages, stage) != NULL;
    free(stage);
    if (is_code && format != IG_FORMAT_TEXT && format != IG_FORMAT_HTML) {
        return complain(EXIT_USAGE,
                        "--format %s is for modules: --stage import, tensor, plan or "
                        "kernel; %s is text",
                        given->format ? given->format : "json", given->stage);
    }
    if (given->profile && (format != IG_FORMAT_HTML || given->isolate)) {
        return complain(EXIT_USAGE,
                        "--profile is for --format html, without --isolate");
    }
    if (given->isolate && (given->shard || given->grad)) {
        return complain(
            EXIT_USAGE, "--%s is not for untrusted models; leave out --isolate or --%s",
            given->shard ? "shard" : "grad", given->shard ? "shard" : "grad");
    }
    return 0;
}

static int run_dump(const settings *given) {
    int exit_status = check_dump(given);
    return exit_status      ? exit_status
           : given->isolate ? dump_apart(given)
                            : with_module(given, dump_module);
}

static int run_opt(const settings *given) {
    return with_module(given, optimise_module);
}

const verb verb_dump = {
    .name = "dump",
    .arguments = "MODEL [--stage STAGE]",
    .help = "prints a model at a stage of compilation",
    .options = dump_options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_dump,
};

const verb verb_opt = {
    .name = "opt",
    .arguments = "FILE.ig --passes PIPELINE",
    .help = "runs passes on a module and prints it",
    .options = opt_options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_opt,
};
