/* ingot compile: a model into an artifact.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/tool.h"

#include <string.h>

static const option_row options[] = {
    TEXT("output", 'o', output, "FILE", "where the result goes (needed)"),
    LIST("input", inputs, "NAME=TYPE",
         "fix an input's type: x=f32[8,13], or f32[B,13] "
         "with B left open; may be repeated"),
    TEXT("emit", 'e', emit, "ingot|llvm|asm", "what to write (ingot: an artifact)"),
    TEXT("weights", 'w', weights, "embed|reference",
         "copy weights into the artifact (embed), or leave them in the model's file"),
    TEXT("passes", 0, passes, "PIPELINE", "run these passes in place of the default"),
    ROWS_COMPILE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static ig_status write_text(const settings *given, ig_module *module) {
    ig_compile_options how = compile_options(given);
    const char        *text = NULL;
    size_t             size = 0;
    ig_status status = ig_dump(module, given->emit, &how, IG_FORMAT_TEXT, &text, &size);
    if (status != IG_OK) {
        return status;
    }
    FILE *file = fopen(given->output, "wb");
    bool  is_written = file && fwrite(text, 1, size, file) == size;
    if ((file && fclose(file) != 0) || !is_written) {
        complain(0, "%s: cannot write", given->output);
        return IG_IO;
    }
    return IG_OK;
}

static ig_status compile(const settings *given, ig_context *context) {
    ig_module        *module = NULL;
    ig_import_options import = { .size = sizeof import,
                                 .inputs = given->inputs.items,
                                 .input_count = given->inputs.count };
    ig_status status = ig_import(context, given->arguments.items[0], &import, &module);
    if (status != IG_OK) {
        return status;
    }
    ig_compile_options how = compile_options(given);
    bool is_artifact_wanted = !given->emit || strcmp(given->emit, "ingot") == 0;
    status = is_artifact_wanted ? ig_compile_file(module, given->output, &how)
                                : write_text(given, module);
    ig_module_close(module);
    return status;
}

static int run(const settings *given) {
    if (!given->output) {
        return complain(EXIT_USAGE, "-o FILE is needed: where the artifact goes");
    }
    int         status;
    ig_context *context = context_open(given, false, &status);
    if (!context) {
        return status;
    }
    status = exit_of(compile(given, context));
    context_close(context);
    return status;
}

const verb verb_compile = {
    .name = "compile",
    .arguments = "MODEL -o OUT.ingot",
    .help = "compiles a model into an artifact",
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
