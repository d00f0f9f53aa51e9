/* Programs written as source: imported, interpreted, their values checked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_TORCH_SCRIPT_CASE_H
#define IG_TESTS_UNIT_TORCH_SCRIPT_CASE_H

#include "tests/unit/torch/torch_case.h"
#include "tests/unit/unit.h"

#include "frontend/torch/entry/torchscript.h"
#include "passes/grad/grad.h"
#include "ir/interpret/interpret.h"
#include "ir/verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PICKLE \
    "\200\002c__torch__\nM\nq\000)\201}(X\010\000\000\000trainingq\001\210ub."

typedef struct program {
    torch_case c;
    ig_module *module;
    ig_tensor inputs[4], outputs[8];
} program;

static inline ig_status import_pickled(program *p, const char *source, ig_str pickle,
                                       const char *x, const char *n) {
    torch_entry entries[] = {
        { "m/data.pkl", pickle },
        { "m/constants.pkl", { "\200\002).", 4 } },
        { "m/code/__torch__.py", { source, strlen(source) } },
        { "m/version", { "3\n", 2 } },
    };
    ig_torchscript_argument arguments[] = { { "x", x }, { "n", n } };
    ig_torchscript_options options = { .gradients = ig_gradients_at,
                                       .arguments = arguments,
                                       .argument_count = n ? 2 : 1 };
    memset(p, 0, sizeof(*p));
    torch_case_init(&p->c);
    ig_str zip = torch_zip(&p->c.arena, entries, IG_COUNT_OF(entries));
    return ig_import_torchscript_memory(&p->c.context, zip, "m.pt", &options,
                                        &p->module);
}

static inline ig_status import_shaped(program *p, const char *source, const char *x,
                                      const char *n) {
    ig_str pickle = { PICKLE, sizeof PICKLE - 1 };
    return import_pickled(p, source, pickle, x, n);
}

static inline ig_status import_source(program *p, const char *source, const char *n) {
    return import_shaped(p, source, "f32[R, C]", n);
}

static inline void run(program *p, const float *x) {
    int64_t dims[] = { 2, 2 };
    const ig_graph *graph = ig_module_graph(p->module, "main");
    CHECK_OK(ig_verify_module(p->module));
    CHECK_OK(
        ig_tensor_alloc(&p->c.arena, &p->c.context, IG_DT_f32, 2, dims, &p->inputs[0]));
    memcpy(p->inputs[0].data, x, 4 * sizeof(*x));
    CHECK_MSG(ig_interpret(graph, p->inputs, &p->c.arena, p->outputs) == IG_OK, "%s",
              p->c.why);
}

static inline void check(const ig_tensor *got, const double *expected, int64_t count) {
    CHECK_INT(got->count, count);
    for (int64_t i = 0; i < count; i++) {
        double value = ig_tensor_get_f64(got, i);
        CHECK_MSG(fabs(value - expected[i]) < 1e-5, "element %lld is %g, not %g",
                  (long long)i, value, expected[i]);
    }
}

static inline void close(program *p) {
    if (p->module) {
        ig_module_destroy(p->module);
    }
    torch_case_fini(&p->c);
}

#define HEAD                  \
    "class M(Module):\n"      \
    "  __parameters__ = []\n" \
    "  __buffers__ = []\n"    \
    "  training : bool\n"

#endif
