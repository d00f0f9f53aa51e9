/* From a module to a program: pipeline, kernels, artifact.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   clone ─ clean, understand, place ─┬─ lower for v3 ── kernels ── images ─┐
 *                                     └─ lower for v4 ── kernels ── images ─┴─ container
 *
 * A program for this process is the same container in anonymous memory: there is one
 * way to load code, and what was tested ahead of time is what runs just in time.
 */
#include "driver/compile.h"

#include "ingot/runtime.h"
#include "ingot_build_id.h"
#include "ir/verify.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- targets ---- */

static ig_status add_target(ig_context *context, ig_str name, ig_target_list *out) {
    const ig_target *target = ig_target_find(name);
    if (!target) {
        return ig_error_hint(&context->diag, IG_INVALID, NULL,
                             "targets are listed by `ingot info`",
                             "there is no target '%.*s'", IG_STR_ARG(name));
    }
    if (out->count == IG_LEVELS) {
        return ig_error(&context->diag, IG_LIMIT, NULL, "more than %d levels",
                        IG_LEVELS);
    }
    out->targets[out->count++] = target;
    return IG_OK;
}

ig_status ig_targets_parse(ig_context *context, const char *text, ig_target_list *out) {
    *out = (ig_target_list){ 0 };
    ig_str rest = ig_str_of(text);
    if (rest.size == 0 || ig_str_is(rest, "cpu")) {
        return add_target(context, ig_str_of(ig_runtime_level()), out);
    }
    if (ig_str_starts(rest, "cpu:")) {
        rest = (ig_str){ rest.data + 4, rest.size - 4 };
    }
    while (rest.size) {
        const char *comma = memchr(rest.data, ',', rest.size);
        size_t      size = comma ? (size_t)(comma - rest.data) : rest.size;
        IG_TRY(add_target(context, (ig_str){ rest.data, size }, out));
        size_t skipped = comma ? size + 1 : size;
        rest = (ig_str){ rest.data + skipped, rest.size - skipped };
    }
    return IG_OK;
}

/* ---- the pipeline ---- */

static ig_pass_options pass_options(const ig_compile_options *options,
                                    const ig_target          *target) {
    return (ig_pass_options){ .target = target,
                              .torch_empty = options && options->torch_empty,
                              .clamp_ids = options && options->clamp_ids };
}

/* A stage of the pipeline, and whether `stage` goes on behind it. */
static ig_status run_until(ig_module *module, const ig_pass_options *options,
                           const char *stage) {
    IG_TRY(ig_run_passes(module, options, ig_pipeline_clean));
    IG_TRY(ig_run_passes(module, options, ig_pipeline_understand));
    if (strcmp(stage, "tensor") == 0) {
        return IG_OK;
    }
    IG_TRY(ig_run_passes(module, options, ig_pipeline_place));
    return ig_run_passes(module, options, ig_pipeline_lower);
}

ig_status ig_lower_module(const ig_module *module, const ig_compile_options *options,
                          const char *stage, ig_lowered *out) {
    *out = (ig_lowered){ 0 };
    const char *target = options ? options->target : NULL;
    IG_TRY(ig_targets_parse(module->context, target, &out->targets));
    for (uint32_t i = 0; i < out->targets.count; i++) {
        ig_context_progress(module->context, "lowering", i, out->targets.count);
        out->modules[out->count++] = ig_module_clone(module);
        ig_pass_options passes = pass_options(options, out->targets.targets[i]);
        IG_TRY(run_until(out->modules[i], &passes, stage));
    }
    return IG_OK;
}

void ig_lowered_fini(ig_lowered *lowered) {
    for (uint32_t i = 0; i < lowered->count; i++) {
        ig_module_destroy(lowered->modules[i]);
    }
    lowered->count = 0;
}

/* ---- recipes ---- */

/* The values of graph @weights, which has no inputs. */
static ig_status compute_recipes(ig_module *module, ig_arena *arena,
                                 const ig_tensor **out_values) {
    const ig_graph *graph = ig_module_graph(module, "weights");
    *out_values = NULL;
    if (!graph) {
        return IG_OK;
    }
    uint32_t   count = graph->body.last->operand_count;
    ig_tensor *values = IG_NEW_ARRAY(arena, ig_tensor, count);
    *out_values = values;
    return ig_interpret(graph, NULL, arena, values);
}

/* ---- kernels ---- */

typedef struct level_code {
    const ig_module    *module;
    ig_artifact_kernel *kernels;
} level_code;

static ig_status compile_level(ig_context *context, const ig_artifact_writer *w,
                               const ig_plan_level *level, const ig_target *target,
                               ig_artifact_kernel *out_kernels) {
    const ig_backend *backend = NULL;
    void             *state = NULL;
    IG_TRY(ig_host_backend(context, target, &backend));
    IG_TRY(backend->open(context, target, &state));
    ig_status status = IG_OK;
    for (uint32_t i = 0; i < w->kernels.count && status == IG_OK; i++) {
        const char *name = ig_plan_kernel_name(w, level, i);
        if (!name) {
            continue;
        }
        ig_context_progress(context, "kernels", i, w->kernels.count);
        const ig_graph    *kernel = ig_module_graph(level->graph->module, name);
        ig_compiled_kernel compiled;
        status = ig_context_poll(context);
        if (status == IG_OK) {
            status = backend->compile(state, kernel, w->arena, &compiled);
        }
        if (status == IG_OK) {
            out_kernels[i] = (ig_artifact_kernel){ compiled.bytes, compiled.size,
                                                   (uint64_t)compiled.entry };
        }
    }
    backend->close(state);
    return status;
}

/* ---- the container ---- */

static ig_str manifest(const ig_lowered *lowered, const ig_artifact_writer *w) {
    ig_writer out;
    ig_writer_init(&out, w->arena);
    ig_put(&out, "{\n  \"model\": ");
    ig_put_quoted(&out, ig_str_of(lowered->modules[0]->name));
    ig_put(&out, ",\n  \"compiler\": \"%s\",\n  \"levels\": [", INGOT_BUILD_ID);
    for (uint32_t i = 0; i < lowered->count; i++) {
        ig_put(&out, "%s\"%s\"", i ? ", " : "", lowered->targets.targets[i]->level);
    }
    ig_put(
        &out,
        "],\n  \"kernels\": %zu,\n  \"launches\": %zu,\n  \"weight_bytes\": %llu\n}\n",
        w->kernels.count, w->steps.count, (unsigned long long)w->weights_bytes);
    return ig_writer_str(&out);
}

static ig_status build_parts(ig_lowered *lowered, const ig_compile_options *options,
                             ig_arena *arena, ig_file_part **out_parts,
                             size_t *out_count) {
    ig_context        *context = lowered->modules[0]->context;
    ig_artifact_writer w;
    ig_artifact_init(&w, arena, INGOT_BUILD_ID, lowered->modules[0]->name);
    ig_plan_level levels[IG_LEVELS];
    for (uint32_t i = 0; i < lowered->count; i++) {
        levels[i].name = lowered->targets.targets[i]->level;
        levels[i].graph = ig_entry_of(lowered->modules[i]);
    }
    ig_plan_input input = { .levels = levels,
                            .level_count = lowered->count,
                            .refers = options &&
                                      options->weights == IG_WEIGHTS_REFERENCE };
    IG_TRY(compute_recipes(lowered->modules[0], arena, &input.recipes));
    IG_TRY(ig_plan_write(&w, &input));
    ig_artifact_level code[IG_LEVELS];
    for (uint32_t i = 0; i < lowered->count; i++) {
        ig_artifact_kernel *kernels = IG_NEW_ARRAY(arena, ig_artifact_kernel,
                                                   w.kernels.count);
        code[i].kernels = kernels;
        IG_TRY(compile_level(context, &w, &levels[i], lowered->targets.targets[i],
                             kernels));
    }
    ig_artifact_contents contents = { .manifest = manifest(lowered, &w),
                                      .levels = code };
    ig_artifact_pack(&w, &contents, out_parts, out_count);
    return IG_OK;
}

ig_status ig_compile_parts(const ig_module *module, const ig_compile_options *options,
                           ig_arena *arena, ig_file_part **out_parts,
                           size_t *out_count) {
    ig_lowered lowered;
    ig_status  status = ig_lower_module(module, options, "kernel", &lowered);
    if (status == IG_OK) {
        status = build_parts(&lowered, options, arena, out_parts, out_count);
    }
    ig_lowered_fini(&lowered);
    return status;
}

/* ---- public: files ---- */

typedef struct compile_call {
    ig_module                *module;
    const char               *path;
    const ig_compile_options *options;
    ig_program              **out_program;
    ig_arena                  arena;
} compile_call;

static ig_status compile_to_file(void *arguments) {
    compile_call *call = arguments;
    ig_context   *context = call->module->context;
    ig_file_part *parts = NULL;
    size_t        count = 0;
    ig_file_remove_stale(call->path);
    IG_TRY(ig_compile_parts(call->module, call->options, &call->arena, &parts, &count));
    char      why[128];
    ig_status status = ig_file_publish(call->path, parts, count, why);
    if (status != IG_OK) {
        ig_location where = { .file = call->path };
        ig_error(&context->diag, status, &where, "cannot write: %s", why);
    }
    return status;
}

static ig_status run_call(compile_call *call, ig_status (*work)(void *)) {
    ig_arena_init(&call->arena, &call->module->context->budget);
    ig_status status = ig_host_guard(call->module->context, work, call);
    ig_arena_fini(&call->arena);
    return status;
}

ig_status ig_compile_file(ig_module *module, const char *path,
                          const ig_compile_options *options) {
    compile_call call = { .module = module, .path = path, .options = options };
    return run_call(&call, compile_to_file);
}

/* ---- public: this process ---- */

static bool write_all(int file, const ig_file_part *parts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *data = parts[i].data;
        size_t      left = parts[i].size;
        while (left) {
            ssize_t written = write(file, data, left);
            if (written < 0 && errno == EINTR) {
                continue;
            }
            if (written <= 0) {
                return false;
            }
            data += written;
            left -= (size_t)written;
        }
    }
    return true;
}

static ig_status open_in_memory(ig_context *context, const ig_file_part *parts,
                                size_t count, ig_program **out_program) {
    int file = memfd_create("ingot-program", MFD_CLOEXEC);
    if (file < 0 || !write_all(file, parts, count)) {
        ig_status status = ig_error(&context->diag, IG_LIMIT, NULL,
                                    "no memory for the program: %s", strerror(errno));
        if (file >= 0) {
            close(file);
        }
        return status;
    }
    char path[64], message[512] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ig_program_options options = { .size = sizeof options,
                                   .message = message,
                                   .message_size = sizeof message };
    ig_status          status = ig_program_open(path, &options, out_program);
    close(file);
    if (status != IG_OK) {
        ig_error(&context->diag, status, NULL, "the compiled program: %s", message);
    }
    return status;
}

static ig_status compile_to_program(void *arguments) {
    compile_call *call = arguments;
    ig_file_part *parts = NULL;
    size_t        count = 0;
    IG_TRY(ig_compile_parts(call->module, call->options, &call->arena, &parts, &count));
    return open_in_memory(call->module->context, parts, count, call->out_program);
}

ig_status ig_compile(ig_module *module, const ig_compile_options *options,
                     ig_program **out_program) {
    *out_program = NULL;
    compile_call call = { .module = module,
                          .options = options,
                          .out_program = out_program };
    return run_call(&call, compile_to_program);
}
