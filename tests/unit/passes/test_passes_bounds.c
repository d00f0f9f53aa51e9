/* Checks of bounds as arithmetic, against FBGEMM's results.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/interpret/interpret.h"
#include "ir/parse/read.h"
#include "passes/engine/pass.h"

#include "tests/conform/conform.h"
#include "tests/unit/unit.h"

static ig_status interpret_after_bounds(conform *self, const char *text,
                                        const ig_tensor *inputs, ig_arena *arena,
                                        ig_tensor *out_outputs) {
    ig_context context = { .limits = ig_limits_default };
    ig_pass_options options = { 0 };
    ig_module *module;
    context.diag = (ig_diag){ .sink = conform_keep_error, .user = self };
    IG_TRY(ig_parse_module(&context, "case", ig_str_of(text), &module));
    ig_status status = ig_passes_run(module, &options, "bounds,dce");
    const ig_graph *graph = ig_module_graph(module, "main");
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        CHECK(op->code != IG_OP_bounds);
    }
    status = status == IG_OK ? ig_interpret(graph, inputs, arena, out_outputs) : status;
    ig_module_destroy(module);
    return status;
}

TEST(checks_become_arithmetic_that_conforms) {
    conform self = { .run = interpret_after_bounds };
    conform_file(&self, INGOT_SOURCE_DIR "/tests/conform/cases/bounds.txt");
    CHECK_INT(self.totals.failed, 0);
    CHECK(self.totals.passed >= 28);
}

UNIT_SUITE(passes_bounds, checks_become_arithmetic_that_conforms)
