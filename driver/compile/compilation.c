/* A lowered module becomes the parts of an artifact.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   clone ─ clean, understand, place ─┬─ lower for v3 ─ kernels ─ images ─┐
 *                                     └─ lower for v4 ─ kernels ─ images ─┴─ container
 *
 * Levels share one plan and one copy of the weights.
 */
#include "driver/compile/compile.h"

#include "driver/artifact/record.h"
#include "driver/artifact/sources.h"

#include "ingot_build_id.h"
#include "ir/text/text.h"
#include "passes/engine/manager.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- recipes ---- */

/* The values of graph @weights, which has no inputs. */
static ig_status compute_recipes(ig_module *module, ig_arena *arena,
                                 const ig_tensor **out_values) {
    const ig_graph *graph = ig_module_graph(module, "weights");
    *out_values = NULL;
    if (!graph) {
        return IG_OK;
    }
    ig_context_progress(module->context, "weights", 0, 0);
    assert(graph->body.arg_count == 0 && "recipes are computed from constants alone");
    uint32_t count = graph->body.last->operand_count;
    ig_tensor *values = IG_NEW_ARRAY(arena, ig_tensor, count);
    *out_values = values;
    return ig_interpret(graph, NULL, arena, values);
}

/* ---- kernels ---- */

/* A job for each kernel of each level that has it. */
static ig_status compile_kernels(ig_compilation *build, const ig_artifact_writer *w,
                                 const ig_plan_level *levels,
                                 ig_artifact_level *out_code) {
    ig_context *context = build->module->context;
    IG_VEC(ig_kernel_job) jobs = { 0 };
    for (uint32_t l = 0; l < build->lowered.count; l++) {
        ig_artifact_kernel *kernels = IG_NEW_ARRAY(&build->arena, ig_artifact_kernel,
                                                   w->kernels.count);
        out_code[l].kernels = kernels;
        for (uint32_t i = 0; i < w->kernels.count; i++) {
            const char *name = ig_plan_kernel_name(w, &levels[l], i);
            if (name) {
                IG_PUSH(&build->arena, &jobs,
                        (ig_kernel_job){
                            .target = build->lowered.targets.targets[l],
                            .kernel = ig_module_graph(levels[l].graph->module, name),
                            .out = &kernels[i] });
            }
        }
    }
    build->team = ig_kernel_team_create(context, build->folder,
                                        build->options.debug != 0);
    if (!build->team) {
        return ig_error(&context->diag, IG_LIMIT, NULL, "no memory for threads");
    }
    return ig_kernel_team_run(build->team, jobs.items, jobs.count);
}

/* ---- the manifest: for people ---- */

static void put_ports(ig_writer *out, const ig_artifact_writer *w,
                      const ig_plan_port *ports, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ig_put(out, "%s\n    {\"name\": ", i ? "," : "");
        ig_put_json_string(out, ig_str_of(w->strings.data + ports[i].name.offset));
        ig_put(out, ", \"type\": ");
        ig_put_json_string(out, ig_str_of(w->strings.data + ports[i].type.offset));
        ig_put_char(out, '}');
    }
    ig_put_char(out, ']');
}

static void put_launches(ig_writer *out, const ig_artifact_writer *w) {
    ig_put(out, ",\n  \"launches\": [");
    const char *comma = "";
    for (size_t i = 0; i < w->steps.count; i++) {
        if (w->steps.items[i].kind == IG_STEP_launch) {
            ig_put(out, "%s", comma);
            ig_put_json_string(
                out, ig_str_of(w->strings.data + w->steps.items[i].name.offset));
            comma = ", ";
        }
    }
    ig_put(out, "]");
}

static bool is_sanitized(const ig_artifact_writer *w) {
    for (size_t i = 0; i < w->steps.count; i++) {
        if (w->steps.items[i].flags & IG_STEP_CHECKS) {
            return true;
        }
    }
    return false;
}

static ig_str make_manifest(const ig_compilation *build, const ig_artifact_writer *w) {
    ig_writer out;
    ig_writer_init(&out, w->arena);
    ig_put(&out, "{\n  \"model\": ");
    ig_put_json_string(&out, ig_str_of(build->module->name));
    ig_put(&out, ",\n  \"compiler\": \"%s\",\n  \"levels\": [", INGOT_BUILD_ID);
    for (uint32_t i = 0; i < build->lowered.count; i++) {
        ig_put(&out, "%s\"%s\"", i ? ", " : "",
               build->lowered.targets.targets[i]->level);
    }
    size_t states = w->states.count;
    size_t inputs = w->inputs.count - states;
    ig_put(&out, "],\n  \"sanitized\": %s", is_sanitized(w) ? "true" : "false");
    ig_put(&out, ",\n  \"signature\": ");
    ig_put_json_string(
        &out, ig_str_of(ig_module_signature((ig_module *)(uintptr_t)build->module)));
    ig_put(&out, ",\n  \"inputs\": [");
    put_ports(&out, w, w->inputs.items, inputs);
    ig_put(&out, ",\n  \"outputs\": [");
    put_ports(&out, w, w->outputs.items, w->outputs.count - states);
    ig_put(&out, ",\n  \"states\": [");
    put_ports(&out, w, states ? w->inputs.items + inputs : NULL, states);
    put_launches(&out, w);
    ig_put(&out, ",\n  \"kernels\": %zu,\n  \"weight_bytes\": %llu\n}\n",
           w->kernels.count, (unsigned long long)w->weights->bytes);
    return ig_writer_str(&out);
}

/* ---- the container ---- */

static ig_hash128 hash_payload(void *user, const void *bytes, size_t size) {
    return ig_payload_hash_of(user, bytes, size);
}

static ig_status make_container(ig_compilation *build) {
    assert(build->lowered.count > 0 && build->lowered.count <= IG_LEVELS &&
           "every target was lowered for");
    ig_artifact_writer w;
    ig_plan_level levels[IG_LEVELS];
    ig_artifact_level code[IG_LEVELS];
    ig_origins_vec origins = { 0 };
    ig_artifact_init(&w, &build->arena, INGOT_BUILD_ID, build->module->name);
    for (uint32_t i = 0; i < build->lowered.count; i++) {
        levels[i].name = build->lowered.targets.targets[i]->level;
        levels[i].graph = ig_entry_of(build->lowered.modules[i]);
    }
    ig_plan_input input = { .levels = levels,
                            .level_count = build->lowered.count,
                            .refers = build->options.weights == IG_WEIGHTS_REFERENCE,
                            .artifact_path = build->path,
                            .hash_of = hash_payload,
                            .hash_user = &build->payloads,
                            .step_origins = &origins };
    IG_TRY(compute_recipes(build->lowered.modules[0], &build->arena, &input.recipes));
    IG_TRY(ig_plan_write(&w, &input));
    build->refers = w.files.count > 0;
    IG_TRY(compile_kernels(build, &w, levels, code));
    ig_artifact_entry *extra = IG_NEW_ARRAY(&build->arena, ig_artifact_entry,
                                            build->extra_count + SHARD_ENTRIES);
    size_t extra_count = build->extra_count;
    if (extra_count) {
        memcpy(extra, build->extra, extra_count * sizeof *extra);
    }
    const shard_record *record = shard_record_of(build->module);
    if (record && build->path) {
        extra_count += shard_record_entries(record, &w, extra + extra_count);
    }
    ig_artifact_contents contents = { .manifest = make_manifest(build, &w),
                                      .sources = ig_sources_write(
                                          build->lowered.modules[0], origins.items,
                                          (uint32_t)origins.count, &build->arena),
                                      .levels = code,
                                      .extra = extra,
                                      .extra_count = extra_count };
    ig_artifact_pack(&w, &contents, &build->parts, &build->part_count);
    return IG_OK;
}

void ig_compilation_init(ig_compilation *build, const ig_module *module,
                         const ig_compile_options *options) {
    *build = (ig_compilation){ .module = module };
    ig_options_take(module->context, &build->options, sizeof build->options, options);
    build->options.debug |= ig_word_is_in(secure_getenv("INGOT_DEBUG"), "gdb");
    ig_arena_init(&build->arena, &module->context->budget);
    build->payloads = (ig_payloads){ .module = module, .arena = &build->arena };
}

/* Kernels that check what they touch have some ten ops an access more. */
static void allow_checks(ig_compilation *build) {
    enum { GROWTH = 8 };
    int64_t *limit = &build->module->context->limits.kernel_ops;
    build->kernel_ops = *limit;
    if (build->options.sanitize && *limit <= INT64_MAX / GROWTH) {
        *limit *= GROWTH;
    }
}

/* A step that no pass made a launch of: nothing would compute it. */
static const ig_op *find_compute(const ig_block *block) {
    const ig_op *found = NULL;
    for (const ig_op *op = block->first; op && !found; op = op->next) {
        found = op->code == IG_OP_compute ? op : NULL;
        for (uint32_t i = 0; i < op->body_count && !found; i++) {
            found = find_compute(op->bodies[i]);
        }
    }
    return found;
}

static ig_status check_plan(const ig_compilation *build) {
    ig_diag *diag = &build->module->context->diag;
    const char *hint = "a pipeline of one's own ends with 'lower'";
    const ig_graph *entry = ig_entry_of(build->lowered.modules[0]);
    if (!entry || entry->stage != IG_STAGE_PLAN) {
        return ig_error_hint(diag, IG_INVALID, NULL, hint,
                             "the passes did not make a plan of the module");
    }
    const ig_op *compute = find_compute(&entry->body);
    if (compute) {
        return ig_error_hint(diag, IG_INVALID, ig_op_location(compute), hint,
                             "the passes made no launch of a compute of the plan");
    }
    return IG_OK;
}

ig_status ig_compilation_run(ig_compilation *build) {
    ig_context *context = build->module->context;
    allow_checks(build);
    IG_TRY(ig_lower_module(build->module, &build->options, "kernel", &build->lowered));
    if (build->lowered.is_stopped) {
        return ig_error(&context->diag, IG_INVALID, NULL,
                        "the passes were stopped: there is nothing to compile yet");
    }
    const ig_target *target = build->lowered.targets.targets[0];
    if (target->family != IG_FAMILY_CPU) {
        return ig_error_hint(&context->diag, IG_UNSUPPORTED, NULL,
                             "--emit cuda, ptx or cubin writes its kernels",
                             "artifacts hold no code for %s yet", target->name);
    }
    IG_TRY(check_plan(build));
    return make_container(build);
}

void ig_compilation_fini(ig_compilation *build) {
    if (build->kernel_ops) {
        build->module->context->limits.kernel_ops = build->kernel_ops;
    }
    ig_kernel_team_destroy(build->team);
    ig_lowered_fini(&build->lowered);
    ig_arena_fini(&build->arena);
}
