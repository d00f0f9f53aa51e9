/* ingot strip: an artifact without the entries that only people read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/model.h"

static const option_row options[] = {
    TEXT("output", 'o', output, "OUT.ingot", "where to write it (ARTIFACT itself)"),
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static int run_strip(const settings *given) {
    int exit_status = artifact_name_check(given);
    if (exit_status) {
        return exit_status;
    }
    ig_context *context = context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    const char *path = given->arguments.items[0];
    ig_status status = ig_artifact_strip(context, path,
                                         given->output ? given->output : path);
    context_close(context);
    return exit_of(status);
}

const verb verb_strip = {
    .name = "strip",
    .arguments = "ARTIFACT [-o OUT.ingot]",
    .help = "removes from an artifact what became of the model's nodes",
    .details =
        "The stripped artifact runs alike; ingot inspect and ingot profile can no "
        "longer say which nodes of the model a step comes from.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_strip,
};
