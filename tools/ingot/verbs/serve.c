/* ingot serve, worker and load: a program of its own (tools/serve).
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/options.h"

static const option_row options[] = { ROW_HELP, OPTIONS_END };

const verb verb_serve = {
    .name = "serve",
    .arguments = "FOLDER|MODEL…",
    .help = "serves models by the Open Inference Protocol, over HTTP and gRPC",
    .details = "ingot-serve runs it, whose --help lists its options.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .program = "ingot-serve",
};

const verb verb_worker = {
    .name = "worker",
    .arguments = "[FOLDER|MODEL…]",
    .help = "runs and times models that clients elsewhere send",
    .details = "ingot-serve runs it, whose --help lists its options.",
    .options = options,
    .max_arguments = 1,
    .program = "ingot-serve",
};

const verb verb_load = {
    .name = "load",
    .arguments = "HOST:PORT MODEL",
    .help = "sends requests to a server of models, and times them",
    .details = "ingot-serve runs it, whose --help lists its options.",
    .options = options,
    .min_arguments = 2,
    .max_arguments = 2,
    .program = "ingot-serve",
};
