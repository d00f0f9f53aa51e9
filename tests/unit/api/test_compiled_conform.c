/* Compiled code against the conformance cases, as a host program runs it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/runtime.h"

#include "tests/conform/conform.h"
#include "tests/unit/unit.h"

UNIT_WITH_LLVM

enum { SAMPLE = 8 };

/* One case's way through the compiler. */
typedef struct compiled {
    ig_context *context;
    ig_module *module;
    ig_program *program;
    ig_session *session;
} compiled;

/* `target` may be NULL: this machine's. */
static ig_status open_case(compiled *c, const char *text, const char *target) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    c->context = ig_context_create(&options);
    IG_TRY(ig_import_memory(c->context, text, strlen(text), NULL, NULL, &c->module));
    ig_compile_options compile = { .size = sizeof compile, .target = target };
    IG_TRY(ig_compile(c->module, &compile, &c->program));
    return ig_session_create(c->program, NULL, &c->session);
}

static void close_case(compiled *c) {
    ig_session_destroy(c->session);
    ig_program_close(c->program);
    ig_module_close(c->module);
    ig_context_destroy(c->context);
}

static void view_of(const ig_tensor *tensor, ig_view *out) {
    *out = (ig_view){ .data = tensor->data, .rank = tensor->rank };
    out->dtype = ig_dtype_number(ig_dtypes[tensor->dtype].name);
    memcpy(out->dims, tensor->dims, tensor->rank * sizeof *out->dims);
}

/* A copy, since the session's memory goes with it. */
static void copy_output(const ig_view *view, ig_arena *arena, ig_tensor *out) {
    const char *name = ig_dtype_text(view->dtype);
    *out = (ig_tensor){ .kind = IG_TENSOR, .rank = view->rank, .count = 1 };
    for (int dtype = 0; dtype < IG_DT_COUNT; dtype++) {
        out->dtype = strcmp(ig_dtypes[dtype].name, name) ? out->dtype : (ig_dtype)dtype;
    }
    for (uint32_t d = 0; d < view->rank; d++) {
        out->dims[d] = view->dims[d];
        out->count *= view->dims[d];
    }
    size_t size = ((size_t)out->count * ig_dtypes[out->dtype].bits + 7) / 8;
    out->data = ig_arena_alloc(arena, size + 1);
    if (size) {
        memcpy(out->data, view->data, size);
    }
}

static ig_status run_opened(conform *self, compiled *c, const ig_tensor *inputs,
                            ig_arena *arena, ig_tensor *out_outputs) {
    ig_view in[CONFORM_VALUES], out[CONFORM_VALUES] = { { .data = NULL } };
    size_t ins = ig_program_input_count(c->program);
    size_t outs = ig_program_output_count(c->program);
    for (size_t i = 0; i < ins; i++) {
        view_of(&inputs[i], &in[i]);
    }
    ig_status status = ig_session_run(c->session, in, ins, out, outs);
    if (status != IG_OK) {
        snprintf(self->message, sizeof self->message, "%s",
                 ig_session_error(c->session));
        return status;
    }
    for (size_t i = 0; i < outs; i++) {
        copy_output(&out[i], arena, &out_outputs[i]);
    }
    return IG_OK;
}

static ig_status compile_and_run(conform *self, const char *text,
                                 const ig_tensor *inputs, ig_arena *arena,
                                 ig_tensor *out_outputs) {
    compiled c = { .context = NULL };
    ig_status status = open_case(&c, text, self->user);
    if (status == IG_OK) {
        status = run_opened(self, &c, inputs, arena, out_outputs);
    } else {
        snprintf(self->message, sizeof self->message, "%s",
                 ig_context_messages(c.context));
    }
    close_case(&c);
    return status;
}

/* Each case with its extents as numbers or with symbols, by turns; with INGOT_FULL=1
 * both; with sanitizers one case in SAMPLE. */
static void run(const char *file, int min) {
    conform self = { .run = compile_and_run,
                     .takes_turns = !unit_is_full(),
                     .every = unit_is_sampled() ? SAMPLE : 1 };
    char path[512];
    snprintf(path, sizeof path, "%s/tests/conform/cases/%s", INGOT_SOURCE_DIR, file);
    conform_file(&self, path);
    CHECK_INT(self.totals.failed, 0);
    min /= self.takes_turns ? 2 * self.every : 1;
    CHECK_MSG(self.totals.passed >= min, "%d of %s passed, %d skipped",
              self.totals.passed, file, self.totals.skipped);
}

TEST(compiled_indexing_and_order_conform) {
    run("index.txt", 1450);
    run("unique.txt", 156);
    run("jagged.txt", 168);
    run("boxes.txt", 44);
}

TEST(compiled_special_functions_conform) {
    run("special.txt", 250);
}

TEST(compiled_networks_conform) {
    run("network.txt", 200);
}

TEST(compiled_quantisation_conforms) {
    run("quantise.txt", 500);
}
END_TEST

TEST(compiled_small_floats_conform) {
    run("small.txt", 14);
}
END_TEST

TEST(compiled_sequences_conform) {
    run("sequences.txt", 170);
}
END_TEST

TEST(compiled_values_that_break_things_conform) {
    run("values.txt", 1250);
}
END_TEST

static char *const levels[] = { "cpu:v2", "cpu:v3", "cpu:v4", "cpu:v4-vnni" };

/* NaN, infinities and their like, through every family at every level; each case at one
 * of them, with INGOT_FULL=1 at all. */
START_TEST(each_level_conforms_on_values_that_break_things) {
    conform self = { .run = compile_and_run, .user = levels[_i], .is_short = true };
    if (!unit_is_full()) {
        self.every = (int)IG_COUNT_OF(levels) * (unit_is_sampled() ? SAMPLE : 1);
        self.first = _i;
    }
    conform_file(&self, INGOT_SOURCE_DIR "/tests/conform/cases/values.txt");
    CHECK_INT(self.totals.failed, 0);
    if (self.totals.passed == 0) {
        unit_skip("this machine does not run %s", levels[_i]);
        return;
    }
    CHECK_MSG(self.totals.passed >= (unit_is_sampled() ? 20 : 190),
              "%d passed, %d skipped", self.totals.passed, self.totals.skipped);
}
END_TEST

static void add_levels(TCase *tcase) {
    tcase_add_loop_test(tcase, each_level_conforms_on_values_that_break_things, 0,
                        IG_COUNT_OF(levels));
}

UNIT_SUITE_WITH(compiled_conform, add_levels, compiled_values_that_break_things_conform,
                compiled_indexing_and_order_conform, compiled_special_functions_conform,
                compiled_networks_conform, compiled_quantisation_conforms,
                compiled_small_floats_conform, compiled_sequences_conform)
