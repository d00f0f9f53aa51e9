/* The template of a target works as a target.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/null/null.h"
#include "ir/build/build.h"
#include "tests/unit/unit.h"

TEST(null_emits_nothing) {
    ig_context context = { .limits = ig_limits_default };
    ig_module *module = ig_module_create(&context, "m");
    ig_graph *kernel = ig_graph_create(module, "k", IG_STAGE_KERNEL);
    ig_builder b = ig_builder_at_end(&kernel->body);
    ig_make_ret(&b, NULL, 0);
    const ig_target *target = ig_target_find(IG_STR("cpu:v2"));
    CHECK(target != NULL);
    void *state = NULL;
    CHECK_OK(ig_backend_null.open(&context, target, &state));
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    CHECK_OK(ig_backend_null.emit(state, kernel, IG_EMIT_TEXT, &text));
    CHECK_INT(text.size, 0);
    ig_compiled_kernel compiled = { .size = 1 };
    CHECK_OK(ig_backend_null.compile(state, kernel, false, &arena, &compiled));
    CHECK_INT(compiled.size, 0);
    CHECK_TEXT(compiled.name, "k");
    atomic_store(&context.cancelled, true);
    CHECK_STATUS(ig_backend_null.compile(state, kernel, false, &arena, &compiled),
                 IG_CANCELLED);
    ig_backend_null.close(state);
    ig_arena_fini(&arena);
    ig_module_destroy(module);
}

UNIT_SUITE(codegen_null, null_emits_nothing)
