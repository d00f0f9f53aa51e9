/* Programs whose code others are told of.  SPDX-License-Identifier: Apache-2.0 */
#include "ingot/runtime.h"
#include "runtime/plugin/plugin.h"
#include "runtime/program/program.h"

#include <stdlib.h>
#include <string.h>

ig_status ig_program_begin_observing(ig_program *program,
                                     const ig_program_options *options,
                                     const ig_message *message) {
    const char *debug = secure_getenv("INGOT_DEBUG");
    if (!options->observe && !secure_getenv("INGOT_PERF") &&
        !(debug && strstr(debug, "gdb"))) {
        return IG_OK;
    }
    void *symbol;
    IG_TRY(ig_plugin_find("debuggers and profilers cannot be told",
                          "libingot-observe.so", "ig_observe_start", &symbol, message));
    ig_observe_start_fn *start;
    memcpy(&start, &symbol, sizeof start);
    ig_observe_request request = { program,
                                   sizeof *program,
                                   ig_runtime_version(),
                                   options->observe_folder,
                                   options->observe,
                                   "" };
    ig_status status = start(&request, &program->observer);
    return status == IG_OK ? IG_OK : ig_message_set(message, status, "%s", request.why);
}
