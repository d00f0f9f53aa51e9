/* A lowered module becomes the parts of an artifact.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   clone ─ clean, understand, place ─┬─ lower for v3 ─ kernels ─ images ─┐
 *                                     └─ lower for v4 ─ kernels ─ images ─┴─ container
 *
 * The levels of a family share one plan, families share one copy of the weights.
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
    assert(graph->body.arg_count == 0 && "recipes are computed from constants only");
    uint32_t count = graph->body.last->operand_count;
    ig_tensor *values = IG_NEW_ARRAY(arena, ig_tensor, count);
    *out_values = values;
    return ig_interpret(graph, NULL, arena, values);
}

/* ---- families ---- */

/* The plan of one family, of the targets from number `first` on. */
typedef struct family_plan {
    ig_artifact_writer w;
    uint32_t first, count;
    ig_plan_level levels[IG_LEVELS];
    ig_artifact_level code[IG_LEVELS];
    const ig_tensor *recipes; /* results of @weights, or NULL */
    ig_origins_vec origins;
} family_plan;

typedef IG_VEC(family_plan *) family_list;

static ig_hash128 hash_payload(void *user, const void *bytes, size_t size) {
    return ig_payload_hash_of(user, bytes, size);
}

static ig_status write_plan(ig_compilation *build, family_plan *plan) {
    const ig_lowered *lowered = &build->lowered;
    for (uint32_t i = 0; i < plan->count; i++) {
        plan->levels[i] = (ig_plan_level){
            .name = lowered->targets.targets[plan->first + i]->level,
            .graph = ig_entry_of(lowered->modules[plan->first + i]),
        };
    }
    ig_plan_input input = { .levels = plan->levels,
                            .level_count = plan->count,
                            .refers = build->options.weights == IG_WEIGHTS_REFERENCE,
                            .artifact_path = build->path,
                            .hash_of = hash_payload,
                            .hash_user = &build->payloads,
                            .recipes = plan->recipes,
                            .step_origins = &plan->origins };
    IG_TRY(ig_plan_write(&plan->w, &input));
    build->refers |= plan->w.files.count > 0;
    return IG_OK;
}

/* One plan a family, in the order in which the families were named: its recipes. */
static ig_status begin_plans(ig_compilation *build, family_list *out_plans) {
    static const char *const names[] = {
        [IG_FAMILY_CPU] = IG_FAMILY_NAME_CPU,
        [IG_FAMILY_ARM64] = IG_FAMILY_NAME_ARM64,
        [IG_FAMILY_GPU] = IG_FAMILY_NAME_CUDA,
    };
    const ig_target_list *targets = &build->lowered.targets;
    uint32_t end = 0;
    for (uint32_t first = 0; first < build->lowered.count; first = end) {
        family_plan *plan = IG_NEW(&build->arena, family_plan);
        end = ig_targets_family_end(targets, first);
        *plan = (family_plan){ .first = first, .count = end - first };
        ig_artifact_init(&plan->w, &build->arena, INGOT_BUILD_ID, build->module->name);
        plan->w.family = names[targets->targets[first]->family];
        if (out_plans->count) {
            plan->w.weights = out_plans->items[0]->w.weights;
        }
        IG_TRY(compute_recipes(build->lowered.modules[first], &build->arena,
                               &plan->recipes));
        IG_PUSH(&build->arena, out_plans, plan);
    }
    return IG_OK;
}

/* ---- kernels ---- */

typedef IG_VEC(ig_kernel_job) job_list;

/* A job for each kernel of a target, or one for all of them.  `code_of`: where the code
 * of a kernel will be. */
static void add_jobs(ig_compilation *build, uint32_t index, ig_map *code_of,
                     job_list *jobs) {
    ig_arena *arena = &build->arena;
    const ig_target *target = build->lowered.targets.targets[index];
    const ig_module *module = build->lowered.modules[index];
    size_t room = module->graphs.count, count = 0;
    ig_artifact_kernel *code = IG_NEW_ARRAY(arena, ig_artifact_kernel, room);
    const ig_graph **kernels = IG_NEW_ARRAY(arena, const ig_graph *, room);
    ig_kernel_job job = { .target = target, .kernels = kernels, .out = code };
    for (size_t i = 0; i < room; i++) {
        if (module->graphs.items[i]->stage != IG_STAGE_KERNEL) {
            continue;
        }
        kernels[count] = module->graphs.items[i];
        if (!target->has_modules) {
            job = (ig_kernel_job){ target, &kernels[count], 1, &code[count], { 0 } };
            IG_PUSH(arena, jobs, job);
        }
        ig_map_set_id(code_of, IG_MAP_PTR(kernels[count]), job.out);
        count++;
    }
    if (target->has_modules && count) {
        job.count = count;
        IG_PUSH(arena, jobs, job);
    }
}

/* Threads compile kernels; this one computes the recipes first. */
static ig_status compile_kernels(ig_compilation *build, ig_map *code_of,
                                 family_list *out_plans) {
    ig_context *context = build->module->context;
    job_list jobs = { 0 };
    for (uint32_t i = 0; i < build->lowered.count; i++) {
        add_jobs(build, i, code_of, &jobs);
    }
    build->team = ig_compile_team_create(context, build->folder,
                                         build->options.debug != 0);
    if (!build->team) {
        return ig_error(&context->diag, IG_LIMIT, NULL, "no memory for threads");
    }
    ig_compile_team_start(build->team, jobs.items, jobs.count);
    IG_TRY(begin_plans(build, out_plans));
    return ig_compile_team_finish(build->team);
}

/* Kernels of a module have the same code, and are found in it by their names. */
static void take_code(ig_compilation *build, family_plan *plan, const ig_map *code_of) {
    for (uint32_t level = 0; level < plan->count; level++) {
        const ig_module *module = plan->levels[level].graph->module;
        size_t count = plan->w.kernels.count;
        ig_artifact_kernel *kernels = IG_NEW_ARRAY(&build->arena, ig_artifact_kernel,
                                                   count);
        for (uint32_t i = 0; i < count; i++) {
            const char *name = ig_plan_kernel_name(&plan->w, &plan->levels[level], i);
            const ig_graph *kernel = name ? ig_module_graph(module, name) : NULL;
            const ig_artifact_kernel *code = ig_map_get_id(code_of, IG_MAP_PTR(kernel));
            assert((code || !name) && "every kernel was compiled");
            kernels[i] = code ? *code : kernels[i];
        }
        plan->code[level].kernels = kernels;
    }
}

static ig_status write_plans(ig_compilation *build, const family_list *plans,
                             const ig_map *code_of) {
    for (size_t i = 0; i < plans->count; i++) {
        IG_TRY(write_plan(build, plans->items[i]));
        take_code(build, plans->items[i], code_of);
    }
    return IG_OK;
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

/* Levels of a CPU are named without their family. */
static const char *level_name(const ig_target *target) {
    return target->family == IG_FAMILY_CPU ? target->level : target->name;
}

/* The manifest of the first plan, except levels and weights, which are those of all
 * plans. */
static ig_str make_manifest(const ig_compilation *build, const ig_artifact_writer *w) {
    ig_writer out;
    ig_writer_init(&out, w->arena);
    ig_put(&out, "{\n  \"model\": ");
    ig_put_json_string(&out, ig_str_of(build->module->name));
    ig_put(&out, ",\n  \"compiler\": \"%s\",\n  \"levels\": [", INGOT_BUILD_ID);
    for (uint32_t i = 0; i < build->lowered.count; i++) {
        ig_put(&out, "%s\"%s\"", i ? ", " : "",
               level_name(build->lowered.targets.targets[i]));
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

/* Whose steps `sources.json` tells of: those that the runtime's own device runs. */
static const family_plan *given_plan(const ig_compilation *build,
                                     const family_list *plans) {
    for (size_t i = 0; i < plans->count; i++) {
        uint32_t first = plans->items[i]->first;
        if (build->lowered.targets.targets[first]->family == IG_FAMILY_CPU) {
            return plans->items[i];
        }
    }
    return plans->items[0];
}

static const ig_artifact_entry *gather_extra(const ig_compilation *build,
                                             const ig_artifact_writer *w,
                                             size_t *out_count) {
    ig_artifact_entry *extra = IG_NEW_ARRAY(w->arena, ig_artifact_entry,
                                            build->extra_count + SHARD_ENTRIES);
    *out_count = build->extra_count;
    if (build->extra_count) {
        memcpy(extra, build->extra, build->extra_count * sizeof *extra);
    }
    const shard_record *record = shard_record_of(build->module);
    if (record && build->path) {
        *out_count += shard_record_entries(record, w, extra + *out_count);
    }
    return extra;
}

static ig_status make_container(ig_compilation *build) {
    assert(build->lowered.count > 0 && build->lowered.count <= IG_LEVELS &&
           "every target was lowered for");
    ig_arena *arena = &build->arena;
    family_list plans = { 0 };
    ig_map code_of; /* of a kernel graph */
    ig_map_init(&code_of, arena);
    IG_TRY(compile_kernels(build, &code_of, &plans));
    IG_TRY(write_plans(build, &plans, &code_of));
    const family_plan *given = given_plan(build, &plans);
    size_t other_count = plans.count - 1;
    ig_artifact_plan_of *others = IG_NEW_ARRAY(arena, ig_artifact_plan_of, other_count);
    for (size_t i = 0; i < other_count; i++) {
        family_plan *other = plans.items[i + 1];
        others[i] = (ig_artifact_plan_of){ &other->w, other->code };
    }
    ig_artifact_contents contents = { .manifest = make_manifest(build, &given->w),
                                      .sources = ig_sources_write(
                                          build->lowered.modules[given->first],
                                          given->origins.items,
                                          (uint32_t)given->origins.count, arena),
                                      .levels = plans.items[0]->code,
                                      .others = others,
                                      .other_count = other_count };
    contents.extra = gather_extra(build, &given->w, &contents.extra_count);
    ig_artifact_pack(&plans.items[0]->w, &contents, &build->parts, &build->part_count);
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

/* Kernels that check their accesses have some ten ops an access more. */
static void allow_checks(ig_compilation *build) {
    enum { GROWTH = 8 };
    int64_t *limit = &build->module->context->limits.kernel_ops;
    build->kernel_ops = *limit;
    if (build->options.sanitize && *limit <= INT64_MAX / GROWTH) {
        *limit *= GROWTH;
    }
}

static ig_status check_plan(const ig_compilation *build, const ig_module *lowered) {
    ig_diag *diag = &build->module->context->diag;
    const char *hint = "a custom pipeline must end with 'lower'";
    const ig_graph *entry = ig_entry_of(lowered);
    if (!entry || entry->stage != IG_STAGE_PLAN) {
        return ig_error_hint(diag, IG_INVALID, NULL, hint,
                             "the passes did not make a plan of the module");
    }
    const ig_op *compute = ig_contained_op(&entry->body, IG_OP_compute);
    if (compute) { /* nothing would compute it */
        return ig_error_hint(diag, IG_INVALID, ig_op_location(compute), hint,
                             "the passes made no launch of a compute of the plan");
    }
    return IG_OK;
}

ig_status ig_compilation_run(ig_compilation *build) {
    ig_context *context = build->module->context;
    allow_checks(build);
    IG_TRY(ig_module_lower(build->module, &build->options, "kernel", &build->lowered));
    if (build->lowered.is_stopped) {
        return ig_error(&context->diag, IG_INVALID, NULL,
                        "the passes were stopped: there is nothing to compile yet");
    }
    for (uint32_t i = 0; i < build->lowered.count; i++) {
        IG_TRY(check_plan(build, build->lowered.modules[i]));
    }
    return make_container(build);
}

void ig_compilation_fini(ig_compilation *build) {
    if (build->kernel_ops) {
        build->module->context->limits.kernel_ops = build->kernel_ops;
    }
    ig_compile_team_destroy(build->team);
    ig_lowered_fini(&build->lowered);
    ig_arena_fini(&build->arena);
}
