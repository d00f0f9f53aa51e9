/* Keys of the caches: whatever decides about code or an artifact is in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/cache/key.h"
#include "driver/host.h"
#include "ir/text/text.h"
#include "tests/unit/unit.h"

typedef struct key_case {
    ig_context *context;
    ig_arena arena;
} key_case;

static void open_case(key_case *c) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    c->context = ig_context_create(&options);
    ig_arena_init(&c->arena, NULL);
}

static void close_case(key_case *c) {
    ig_arena_fini(&c->arena);
    ig_context_destroy(c->context);
}

static ig_module *read(key_case *c, const char *text) {
    ig_module *module = NULL;
    ig_status status = ig_import_memory(c->context, text, strlen(text), NULL, NULL,
                                        &module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(c->context));
    return module;
}

/* The key of a module for a target; the other options may be NULL. */
static ig_str key_of(key_case *c, const char *text, const ig_compile_options *options) {
    ig_compile_options plain = { .size = sizeof plain, .target = "cpu:v3" };
    ig_module *module = read(c, text);
    ig_payloads payloads = { .module = module, .arena = &c->arena };
    ig_status status;
    ig_str key = ig_key_of_model(module, options ? options : &plain, &payloads, NULL,
                                 &status);
    CHECK_OK(status);
    ig_str copy = { ig_arena_copy(&c->arena, key.data, key.size), key.size };
    ig_module_close(module);
    return copy;
}

static bool is_same(ig_str a, ig_str b) {
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

#define MODEL(name, in, op, out, weight)                                 \
    "module @" name " {\n  weight @w : f32[32] = " weight "\n"           \
    "  graph @main(%" in ": f32[B, 32]) -> (f32[B, 32] \"" out "\") {\n" \
    "    %0 = " op " %" in ", @w : f32[B, 32]\n    ret %0\n  }\n}\n"

static const char model[] = MODEL("m", "x", "add", "y", "splat(0.5)");

TEST(what_a_model_is_decides) {
    static const char *const others[] = {
        MODEL("n", "x", "add", "y", "splat(0.5)"),
        MODEL("m", "z", "add", "y", "splat(0.5)"),
        MODEL("m", "x", "mul", "y", "splat(0.5)"),
        MODEL("m", "x", "add", "z", "splat(0.5)"),
        MODEL("m", "x", "add", "y", "splat(0.25)"),
    };
    key_case c;
    open_case(&c);
    ig_str key = key_of(&c, model, NULL);
    CHECK_MSG(is_same(key, key_of(&c, model, NULL)), "equal models, another key");
    for (size_t i = 0; i < IG_COUNT_OF(others); i++) {
        CHECK_MSG(!is_same(key, key_of(&c, others[i], NULL)), "model %zu", i);
    }
    close_case(&c);
}
END_TEST

TEST(every_option_decides) {
    const ig_compile_options others[] = {
        { .target = "cpu:v4" },
        { .target = "cpu:v3,v4" },
        { .target = "cpu:v3", .passes = "dce" },
        { .target = "cpu:v3", .weights = IG_WEIGHTS_REFERENCE },
        { .target = "cpu:v3", .torch_empty = 1 },
        { .target = "cpu:v3", .clamp_ids = 1 },
        { .target = "cpu:v3", .sanitize = 1 },
        { .target = "cpu:v3", .tf32 = 1 },
        { .target = "cpu:v3", .winograd = 1 },
    };
    key_case c;
    open_case(&c);
    ig_str keys[IG_COUNT_OF(others) + 1] = { key_of(&c, model, NULL) };
    for (size_t i = 0; i < IG_COUNT_OF(others); i++) {
        ig_compile_options options = others[i];
        options.size = sizeof options;
        keys[i + 1] = key_of(&c, model, &options);
        for (size_t k = 0; k <= i; k++) {
            CHECK_MSG(!is_same(keys[i + 1], keys[k]), "options %zu and %zu", i, k);
        }
    }
    close_case(&c);
}
END_TEST

/* Names that only the graph has: an entry graph's own, as a frontend sets them. */
TEST(names_of_inputs_and_results_decide) {
    key_case c;
    open_case(&c);
    ig_compile_options options = { .size = sizeof options, .target = "cpu:v3" };
    static const char *const names[][2] = { { "x", "y" }, { "u", "y" }, { "x", "v" } };
    ig_str keys[3];
    for (size_t i = 0; i < 3; i++) {
        ig_module *module = read(&c, model);
        ig_graph *graph = ig_module_graph(module, "main");
        graph->arg_names = &names[i][0];
        graph->result_names = &names[i][1];
        ig_payloads payloads = { .module = module, .arena = &c.arena };
        ig_status status;
        ig_str key = ig_key_of_model(module, &options, &payloads, NULL, &status);
        CHECK_OK(status);
        keys[i] = (ig_str){ ig_arena_copy(&c.arena, key.data, key.size), key.size };
        ig_module_close(module);
        for (size_t k = 0; k < i; k++) {
            CHECK_MSG(!is_same(keys[i], keys[k]), "names %zu and %zu", i, k);
        }
    }
    close_case(&c);
}
END_TEST

/* Code for one level is never taken for another, though the kernel's text be the
 * same. */
TEST(the_target_of_a_kernel_decides) {
    static const char text[] =
        "module @m {\n  kernel @%s(%%0: &f32, %%1: &f32) {\n"
        "    %%2 = const {value = 0} : i64\n    %%3 = load %%0, %%2 : f32\n"
        "    %s %%3, %%1, %%2\n    ret\n  }\n}\n";
    key_case c;
    open_case(&c);
    char first[512], second[512];
    snprintf(first, sizeof first, text, "copy", "store");
    snprintf(second, sizeof second, text, "other", "store");
    ig_module *module = read(&c, first), *named = read(&c, second);
    const ig_graph *kernel = ig_module_graph(module, "copy");
    size_t count = 0;
    ig_str keys[64];
    for (const ig_target *const *target = ig_targets; *target && count < 64; target++) {
        keys[count] = ig_key_of_kernel(*target, kernel, &c.arena);
        for (size_t k = 0; k < count; k++) {
            CHECK_MSG(!is_same(keys[count], keys[k]), "%s", (*target)->name);
        }
        count++;
    }
    CHECK(count > 3);
    CHECK_MSG(
        is_same(keys[0], ig_key_of_kernel(ig_targets[0],
                                          ig_module_graph(named, "other"), &c.arena)),
        "a kernel's name decides");
    ig_module_close(module);
    ig_module_close(named);
    close_case(&c);
}
END_TEST

UNIT_SUITE(cache_key, what_a_model_is_decides, every_option_decides,
           names_of_inputs_and_results_decide, the_target_of_a_kernel_decides)
