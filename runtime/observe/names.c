/* What profilers call a kernel.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/observe/observe.h"

#include <stdio.h>
#include <string.h>

/* "/bot/Relu" of "node 3 '/bot/Relu' (Relu)", else all of it. */
static ig_str short_source(const char *source) {
    const char *open = strchr(source, '\''), *close = strrchr(source, '\'');
    if (open && close > open + 1) {
        return (ig_str){ open + 1, (size_t)(close - open) - 1 };
    }
    return ig_str_of(source);
}

/* Readers split at lines and at separators of stacks, so a name contains neither. */
static void clean_label(char *label) {
    for (char *c = label; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 127 || *c == ';') {
            *c = '_';
        }
    }
}

static bool runs_kernel(const ig_program *program, uint32_t step, uint32_t index) {
    return program->plan.steps[step].kind == IG_STEP_launch &&
           program->execs[step].variant->kernel == index;
}

void ig_observe_label(const ig_program *program, uint32_t index,
                      char label[IG_OBSERVE_LABEL_BYTES]) {
    const ig_plan *plan = &program->plan;
    const char *name = ig_plan_string(plan, plan->kernels[index]);
    ig_str source = { NULL, 0 };
    unsigned others = 0;
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        if (runs_kernel(program, i, index) && plan->steps[i].source.size) {
            others += source.size > 0;
            source = source.size
                         ? source
                         : short_source(ig_plan_string(plan, plan->steps[i].source));
        }
    }
    enum { SOURCE_MAX = 160 };
    int size = (int)(source.size < SOURCE_MAX ? source.size : SOURCE_MAX);
    char more[32] = "";
    if (others) {
        (void)snprintf(more, sizeof more, " + %u more", others);
    }
    if (size) {
        (void)snprintf(label, IG_OBSERVE_LABEL_BYTES, "%.60s [%.*s%s]", name, size,
                       source.data, more);
    } else {
        (void)snprintf(label, IG_OBSERVE_LABEL_BYTES, "%.200s", name);
    }
    clean_label(label);
}
