/* ingot compile: a model into an artifact.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/measure/clock.h"
#include "tools/ingot/model/ahead.h"
#include "tools/ingot/model/model.h"
#include "tools/ingot/model/ranks.h"
#include "tools/ingot/cli/streams.h"
#include "tools/ingot/quantize/report.h"
#include "tools/ingot/values/declare.h"

#include <ingot/quantize.h>
#include <ingot/stored.h>

#include <stdlib.h>
#include <string.h>

static const option_row options[] = {
    TEXT("output", 'o', output, "FILE", "where the result goes (needed)"),
    LIST(
        "input", inputs, "NAME=TYPE",
        "fix an input's type: x=f32[8,13], or f32[B,13] with B left open; may be repeated"),
    LIST("dim", dims, "NAME=N",
         "fix an extent by its name, in every input that has it: S=64 (ONNX)"),
    TEXT("emit", 'e', emit, "ingot|object|header|shared|llvm|asm|cuda|ptx|cubin",
         "what to write (ingot: an artifact)"),
    TEXT("weights", 'w', weights, "embed|reference",
         "copy weights into the artifact (embed), or leave them in the model's file"),
    TEXT("passes", 0, passes, "PIPELINE", "run these passes in place of the default"),
    TEXT("plan", 0, plan, "PLAN.json",
         "the program of one rank, with its part of the tables (ingot shard)"),
    COUNT("rank", 0, rank, 0, 0, "which rank's (0)"),
    COUNT("chunks", 0, chunks, 1, 16, CHUNKS_HELP),
    LIST(
        "store", stores, "TABLE=URL",
        "leave a table's rows in a store (ingot store load puts them there); TABLE may be a pattern such as '*'; may be repeated"),
    LIST("quantize-tables", table_formats, "[TABLE=]int8|int4|int2|f16|ERROR",
         "rows of tables in fewer bits; TABLE may be a pattern, 'big_*'; ERROR, 0.01: "
         "the fewest whose rms error is at most that; may be repeated"),
    TEXT(
        "precision", 0, precision, "f32|tf32|bf16",
        "bf16: products and convolutions of constant weights round these and the values that they meet (ingot quantize says what that costs); tf32: GPUs multiply f32 with 10 bits after the point"),
    ROW_ENTRY,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    ROW_CHECKPOINT,
    ROW_OPEN_WEIGHTS,
    ROWS_COMPILE,
    ROW_ISOLATE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static ig_status write_text(const settings *given, ig_module *module) {
    ig_compile_options how = compile_options(given);
    const char *text = NULL;
    size_t size = 0;
    ig_status status = ig_dump(module, given->emit, &how, IG_FORMAT_TEXT, &text, &size);
    if (status != IG_OK) {
        return status;
    }
    return write_output(given->output, text, size);
}

/* One line about the result; nothing where this machine cannot open it. */
static void print_artifact(const settings *given, double seconds) {
    ig_program *program = NULL;
    message why = { "" };
    if (!is_artifact(given->output) ||
        program_open(given->output, NULL, &program, &why) != IG_OK) {
        return;
    }
    ig_program_facts facts = { .size = sizeof facts };
    ig_program_get_facts(program, &facts);
    progress_clear();
    if (given->json) {
        fputs("{\"artifact\": ", stdout);
        put_json_text(stdout, given->output);
        printf(
            ", \"levels\": \"%s\", \"launches\": %zu, \"code_bytes\": %llu, \"weight_bytes\": %llu, \"seconds\": %.3f}\n",
            facts.levels, facts.launch_count, (unsigned long long)facts.code_bytes,
            (unsigned long long)facts.weight_bytes, seconds);
    } else if (!given->quiet) {
        printf("%s: %s, %zu launches, %.1f KB of code, %.2f MB of constants, %.2f s\n",
               given->output, facts.levels, facts.launch_count,
               (double)facts.code_bytes / 1e3, (double)facts.weight_bytes / 1e6,
               seconds);
    }
    ig_program_close(program);
}

/* Compiles into a file: the module, or the model that nobody trusts in isolation. */
static ig_status compile_to(const settings *given, ig_context *context,
                            ig_module *module, const char *path) {
    ig_compile_options how = compile_options(given);
    how.emit = given->emit;
    ig_import_options import = import_options(given);
    return module ? ig_compile_file(module, path, &how)
                  : ig_compile_model_file(context, given->arguments.items[0], &import,
                                          path, &how);
}

static ig_status write_file(const settings *given, ig_context *context,
                            ig_module *module) {
    if (!is_stream(given->output)) {
        return compile_to(given, context, module, given->output);
    }
    char *path = stream_begin(".ingot");
    ig_status status = path ? compile_to(given, context, module, path) : IG_IO;
    return path && stream_send(path, status == IG_OK) != 0 ? IG_IO : status;
}

static ig_status write_stored(const settings *given, ig_module *module) {
    if (!is_stream(given->output)) {
        return ahead_compile(given, module, given->output);
    }
    char *path = stream_begin(".ingot");
    ig_status status = path ? ahead_compile(given, module, path) : IG_IO;
    return path && stream_send(path, status == IG_OK) != 0 ? IG_IO : status;
}

/* Before all else, so that --plan divides what will be there. */
static ig_status quantize_tables(const settings *given, ig_module *module) {
    const ig_quantize_table *tables = NULL;
    size_t count = 0;
    if (!given->table_formats.count) {
        return IG_OK;
    }
    ig_compile_options how = compile_options(given);
    ig_status status = ig_module_quantize_tables(module, given->table_formats.items,
                                                 given->table_formats.count, &how,
                                                 &tables, &count);
    if (status != IG_OK || given->quiet) {
        return status;
    }
    progress_clear();
    if (given->json) {
        fputs("{\"tables\": ", stdout);
        quantize_tables_json(tables, count);
        fputs("}\n", stdout);
    } else {
        quantize_tables_text(tables, count);
    }
    return IG_OK;
}

static bool rounds_layers(const settings *given) {
    return given->precision && strcmp(given->precision, "bf16") == 0;
}

/* *out_module is the model to compile: another one where layers are rounded. */
static ig_status round_layers(const settings *given, ig_module *module,
                              ig_quantized **out_made, ig_module **out_module) {
    ig_compile_options compile = compile_options(given);
    ig_quantize_options how = { .size = sizeof how, .compile = &compile, .to_bf16 = 1 };
    double begin = clock_seconds();
    ig_status status = ig_quantize(module, NULL, 0, &how, out_made);
    if (status == IG_OK) {
        status = ig_quantized_module(*out_made, out_module);
    }
    if (status == IG_OK) {
        quantize_report_print(given, *out_made, clock_seconds() - begin);
    }
    return status;
}

static ig_status write_compiled(const settings *given, ig_context *context,
                                ig_module *module, bool is_text) {
    ig_status status = given->plan ? ranks_shard_by_plan(given, module) : IG_OK;
    if (status != IG_OK) {
        return status;
    }
    return given->stores.count ? write_stored(given, module)
           : is_text           ? write_text(given, module)
                               : write_file(given, context, module);
}

static ig_status compile_here(const settings *given, ig_context *context,
                              bool is_text) {
    ig_module *module = NULL, *rounded = NULL;
    ig_quantized *made = NULL;
    ig_status status = declared_import(given, context, given->arguments.items[0],
                                       &module);
    if (status != IG_OK) {
        return status;
    }
    status = quantize_tables(given, module);
    if (status == IG_OK && rounds_layers(given)) {
        status = round_layers(given, module, &made, &rounded);
    }
    if (status == IG_OK) {
        status = write_compiled(given, context, rounded ? rounded : module, is_text);
    }
    ig_module_close(rounded);
    ig_quantized_close(made);
    ig_module_close(module);
    return status;
}

static ig_status compile_model(const settings *given, ig_context *context) {
    static const char *const texts[] = { "llvm", "asm", "cuda", "ptx", "cubin" };
    bool is_text = false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        is_text |= given->emit && strcmp(given->emit, texts[i]) == 0;
    }
    if (given->isolate && is_text) {
        complain(0, "--isolate does not write --emit %s", given->emit);
        return IG_UNSUPPORTED;
    }
    return is_text || !given->isolate ? compile_here(given, context, is_text)
                                      : write_file(given, context, NULL);
}

static int run_compile(const settings *given) {
    if (is_interpret(given->target)) {
        return complain(EXIT_USAGE,
                        "compile makes machine code, and the interpreter takes models "
                        "as they are\n  try: ingot run MODEL --target interpret");
    }
    if (!given->output) {
        return complain(EXIT_USAGE, "compile needs -o FILE, where the artifact goes");
    }
    int status = isolation_check(given);
    if (!status && given->chunks && !given->plan) {
        status = complain(EXIT_USAGE, "--chunks goes with --plan");
    }
    if (!status && given->isolate && given->plan) {
        status = complain(EXIT_USAGE, "leave out --isolate or --plan");
    }
    if (!status && given->stores.count && (given->isolate || given->plan)) {
        status = complain(EXIT_USAGE, "leave out --store, or --isolate and --plan");
    }
    status = status ? status : ahead_check(given);
    if (!status && given->isolate && given->table_formats.count) {
        status = complain(EXIT_USAGE, "leave out --isolate or --quantize-tables");
    }
    if (!status && given->isolate && rounds_layers(given)) {
        status = complain(EXIT_USAGE, "leave out --isolate or --precision");
    }
    status = status ? status : output_check(given);
    if (!status && (!given->emit || strcmp(given->emit, "ingot") == 0)) {
        status = artifact_name_check(given);
    }
    ig_context *context = status ? NULL : context_open(given, NULL, &status);
    if (!context) {
        return status;
    }
    double begin = clock_seconds();
    status = exit_of(compile_model(given, context));
    if (status == 0 && !is_stream(given->output)) {
        print_artifact(given, clock_seconds() - begin);
    }
    context_close(context);
    return status;
}

const verb verb_compile = {
    .name = "compile",
    .arguments = "MODEL -o OUT.ingot",
    .help = "compiles a model into an artifact",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_compile,
};
