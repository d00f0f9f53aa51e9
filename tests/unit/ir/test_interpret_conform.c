/* The tensor interpreter against the conformance cases.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/interpret/interpret.h"
#include "ir/parse/read.h"

#include "tests/conform/conform.h"
#include "tests/unit/unit.h"

static ig_status interpret(conform *self, const char *text, const ig_tensor *inputs,
                           ig_arena *arena, ig_tensor *out_outputs) {
    ig_context context = { .limits = ig_limits_default };
    ig_module *module;
    context.diag = (ig_diag){ .sink = conform_keep_error, .user = self };
    IG_TRY(ig_parse_module(&context, "case", ig_str_of(text), &module));
    const ig_graph *graph = ig_module_graph(module, "main");
    ig_status status = ig_interpret(graph, inputs, arena, out_outputs);
    ig_module_destroy(module);
    return status;
}

static void run(const char *file, int min) {
    conform self = { .run = interpret };
    char path[512];
    snprintf(path, sizeof path, "%s/tests/conform/cases/%s", INGOT_SOURCE_DIR, file);
    conform_file(&self, path);
    CHECK_INT(self.totals.failed, 0);
    CHECK_INT(self.totals.skipped, 0);
    CHECK(self.totals.passed >= min);
}

TEST(elementwise_ops_conform) {
    run("unary.txt", 400);
    run("binary.txt", 600);
}

TEST(casts_conform) {
    run("cast.txt", 290);
}

TEST(values_that_break_things_conform) {
    run("values.txt", 1300);
}

TEST(small_floats_conform) {
    run("small.txt", 14);
}

TEST(sequences_conform) {
    run("sequences.txt", 170);
}

TEST(movement_conforms) {
    run("move.txt", 60);
}

TEST(contractions_conform) {
    run("contract.txt", 200);
}

TEST(bags_conform) {
    run("recommend.txt", 25);
    run("fbgemm.txt", 36);
}

TEST(checks_of_bounds_conform) {
    run("bounds.txt", 28);
}

TEST(indexing_and_order_conform) {
    run("index.txt", 700);
    run("unique.txt", 156);
    run("jagged.txt", 84);
    run("boxes.txt", 22);
}

TEST(special_functions_conform) {
    run("special.txt", 250);
}

TEST(networks_conform) {
    run("network.txt", 200);
}

TEST(quantisation_conforms) {
    run("quantise.txt", 500);
}
END_TEST

UNIT_SUITE(interpret_conform, elementwise_ops_conform, casts_conform,
           values_that_break_things_conform, small_floats_conform, sequences_conform,
           movement_conforms, contractions_conform, bags_conform,
           checks_of_bounds_conform, indexing_and_order_conform,
           special_functions_conform, networks_conform, quantisation_conforms)
