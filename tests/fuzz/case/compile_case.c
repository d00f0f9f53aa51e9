/* The way of a module under libFuzzer.  SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/case/compile_case.h"
#include "driver/compile/compile.h"
#include "ir/verify/verify.h"
#include "tests/fuzz/report.h"

#include <setjmp.h>
#include <string.h>

enum { MEMORY = 256 << 20, NUMBERS = 64 << 20 };

static const char *const levels[] = { "cpu:v2", "cpu:v3", "cpu:v4", "cpu:v4-vnni" };

typedef struct fuzz_case {
    ig_context context;
    jmp_buf recovery;
    ig_module *module;
    ig_lowered lowered;
    ig_arena arena;
    ig_str bytes;
    bool is_whole;
} fuzz_case;

/* What a step answers: words with every refusal, and never a defect. */
static bool is_good(const fuzz_case *c, ig_status status, const char *step) {
    if (status == IG_INTERNAL || (status != IG_OK && !c->context.diag.error_count) ||
        (status == IG_OK && c->context.diag.error_count)) {
        fprintf(stderr, "%s: status %d, %zu errors\n", step, (int)status,
                c->context.diag.error_count);
        abort();
    }
    return status == IG_OK;
}

static ig_hash128 hash_payload(void *user, const void *bytes, size_t size) {
    return ig_payload_hash_of(user, bytes, size);
}

/* The values of graph @weights, and the plan with them. */
static void write_plan(fuzz_case *c, const char *level) {
    ig_artifact_writer w;
    ig_module *module = c->lowered.modules[0];
    ig_payloads payloads = { .module = c->module, .arena = &c->arena };
    ig_plan_level only = { level, ig_entry_of(module) };
    ig_origins_vec origins = { 0 };
    ig_plan_input input = { .levels = &only,
                            .level_count = 1,
                            .hash_of = hash_payload,
                            .hash_user = &payloads,
                            .step_origins = &origins };
    const ig_graph *weights = ig_module_graph(module, "weights");
    if (weights) {
        ig_tensor *values = IG_NEW_ARRAY(&c->arena, ig_tensor,
                                         weights->body.last->operand_count);
        input.recipes = values;
        if (!is_good(c, ig_interpret(weights, NULL, &c->arena, values), "weights")) {
            return;
        }
    }
    ig_artifact_init(&w, &c->arena, "fuzz", module->name);
    if (is_good(c, ig_plan_write(&w, &input), "plan")) {
        (void)ig_artifact_plan(&w);
        c->is_whole = true;
    }
}

static void compile(fuzz_case *c, ig_fuzz_read *read) {
    if (!is_good(c, read(&c->context, c->bytes, &c->module), "import")) {
        return;
    }
    if (ig_verify_module(c->module) != IG_OK) {
        abort();
    }
    size_t choice = c->bytes.size;
    const char *level = levels[choice % IG_COUNT_OF(levels)];
    ig_compile_options options = { .target = level,
                                   .winograd = choice / IG_COUNT_OF(levels) % 2 };
    ig_status status = ig_module_lower(c->module, &options, "kernel", &c->lowered);
    if (is_good(c, status, "passes")) {
        write_plan(c, level + strlen("cpu:"));
    }
}

bool ig_fuzz_compile(ig_str bytes, ig_fuzz_read *read) {
    static fuzz_case c;
    memset(&c, 0, sizeof c);
    c.bytes = bytes;
    c.context.limits = ig_limits_default;
    c.context.limits.node_count = 2000;
    c.context.limits.kernel_ops = 20000;
    c.context.limits.loop_trips = 100000;
    c.context.limits.interpret_bytes = NUMBERS;
    c.context.diag.sink = ig_fuzz_note_internal;
    c.context.budget.limit = MEMORY;
    c.context.budget.recovery = &c.recovery;
    uint64_t mark = c.context.budget.arenas;
    ig_arena_init(&c.arena, &c.context.budget);
    if (!setjmp(c.recovery)) {
        compile(&c, read);
    }
    ig_lowered_fini(&c.lowered);
    ig_module_destroy(c.module);
    ig_arena_fini(&c.arena);
    ig_budget_sweep(&c.context.budget, mark);
    return c.is_whole;
}
