/* Choosing the device of a program.  SPDX-License-Identifier: Apache-2.0
 *
 * An artifact has its families in the order in which they were named when it was made.
 */
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/level.h"
#include "runtime/plugin/plugin.h"
#include "runtime/program/program.h"

#include <string.h>

static ig_status open_gpu(ig_program *program, int ordinal, const ig_message *message) {
    void *symbol;
    IG_TRY(ig_plugin_find("code for a GPU", "libingot-cuda.so", "ig_cuda_start",
                          &symbol, message));
    ig_staging_start_fn *open;
    memcpy(&open, &symbol, sizeof open);
    ig_staging_request request = { sizeof(ig_program), INGOT_VERSION, ordinal };
    const ig_device *gpu = NULL;
    ig_status status = open(&request, &gpu, message);
    program->device = status == IG_OK ? gpu : program->device;
    return status;
}

/* The family of a plan by its entry's name; size 0: the entry is no plan. */
static ig_str family_of(ig_str entry) {
    static const char other[] = IG_ENTRY_PLAN "-";
    if (ig_str_is(entry, IG_ENTRY_PLAN)) {
        return ig_str_of(IG_FAMILY_NAME_CPU);
    }
    size_t skipped = ig_str_starts(entry, other) ? sizeof other - 1 : entry.size;
    return (ig_str){ entry.data + skipped, entry.size - skipped };
}

ig_status ig_program_choose_device(ig_program *program,
                                   const ig_program_options *options,
                                   const ig_message *message) {
    const ig_container *container = &program->container;
    const char *wanted = options->device;
    ig_status status = IG_OK;
    for (uint32_t i = 0; i < container->count; i++) {
        ig_str family = family_of(container->entries[i].name);
        bool is_host = ig_str_is(family, ig_host_family);
        bool is_wanted = !wanted || ig_str_is(family, wanted) ||
                         (is_host && strcmp(wanted, IG_FAMILY_NAME_CPU) == 0);
        if (family.size == 0 || !is_wanted) {
            continue;
        }
        if (is_host) {
            return IG_OK;
        }
        if (ig_str_is(family, IG_FAMILY_NAME_CUDA)) {
            status = open_gpu(program, options->ordinal, message);
            if (status == IG_OK || wanted) {
                return status;
            }
        }
    }
    bool is_cpu = !wanted || strcmp(wanted, IG_FAMILY_NAME_CPU) == 0;
    return status != IG_OK || is_cpu
               ? status
               : ig_message_set(message, IG_UNSUPPORTED,
                                "the artifact has no plan for '%s'", wanted);
}
