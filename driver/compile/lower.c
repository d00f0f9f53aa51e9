/* The pipeline as far as a stage.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile/compile.h"

#include "ir/text/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct options_check {
    ig_context *context;
    ig_compile_options options; /* whole, whatever the caller's version */
} options_check;

/* ---- options ---- */

static ig_status check_options(void *arguments) {
    const options_check *call = arguments;
    const ig_compile_options *options = &call->options;
    ig_target_list targets;
    if (options->target && strcmp(options->target, "interpret") != 0) {
        IG_TRY(ig_targets_parse(call->context, options->target, &targets));
    }
    if (options->passes) {
        IG_TRY(ig_check_pipeline(&call->context->diag, options->passes));
    }
    return options->stop_after
               ? ig_check_pipeline(&call->context->diag, options->stop_after)
               : IG_OK;
}

ig_status ig_compile_options_check(ig_context *context,
                                   const ig_compile_options *options) {
    options_check call = { .context = context };
    ig_options_take(context, &call.options, sizeof call.options, options);
    return ig_driver_settle(context, ig_driver_guard(context, check_options, &call));
}

/* ---- the pipeline ---- */

typedef struct pipeline {
    ig_module *module;
    const ig_compile_options *options;
    ig_pass_options passes;
    ig_pass_observer observer;
    const ig_lowered *lowered; /* who watches */
    const char *stop_after;
    ig_arena text;
    bool is_stopped;
} pipeline;

static void after_pass(void *user, const char *pass, uint32_t index,
                       const ig_module *module) {
    pipeline *p = user;
    if (p->lowered->watch) {
        p->lowered->watch(p->lowered->watch_user, pass, index, module);
    }
    if (p->stop_after && strcmp(p->stop_after, pass) == 0) {
        p->is_stopped = true;
    }
    if (p->options->after_pass) {
        ig_writer out;
        ig_arena_init(&p->text, &module->context->budget);
        ig_writer_init(&out, &p->text);
        ig_print_module(module, &out);
        p->options->after_pass(p->options->after_pass_user, pass, index,
                               ig_writer_str(&out).data);
        ig_arena_fini(&p->text);
    }
}

static ig_status run_phrase(pipeline *p, const char *passes) {
    if (p->is_stopped) {
        return IG_OK;
    }
    return ig_passes_run_observed(p->module, &p->passes, passes, &p->observer);
}

const ig_op *ig_contained_op(const ig_block *block, ig_opcode code) {
    const ig_op *found = NULL;
    for (const ig_op *op = block->first; op && !found; op = op->next) {
        found = op->code == code ? op : NULL;
        for (uint32_t i = 0; i < op->body_count && !found; i++) {
            found = ig_contained_op(op->bodies[i], code);
        }
    }
    return found;
}

/* Regions are for the pass fuse to make: schedules take its forms for granted. */
static ig_status check_regions(const ig_module *module) {
    for (size_t i = 0; i < module->graphs.count; i++) {
        const ig_graph *graph = module->graphs.items[i];
        const ig_op *region = graph->stage == IG_STAGE_TENSOR
                                  ? ig_contained_op(&graph->body, IG_OP_fused)
                                  : NULL;
        if (region) {
            return ig_error_hint(&module->context->diag, IG_UNSUPPORTED,
                                 ig_op_location(region),
                                 "write the ops of its body without it",
                                 "'fused' is made by the compiler alone");
        }
    }
    return IG_OK;
}

static ig_status run_until(pipeline *p, const char *stage) {
    assert((strcmp(stage, "tensor") == 0 || strcmp(stage, "kernel") == 0) &&
           "the stages that a pipeline ends at");
    bool is_checked = p->options->sanitize && strcmp(stage, "kernel") == 0;
    if (p->options->passes) {
        IG_TRY(run_phrase(p, p->options->passes));
        return is_checked ? run_phrase(p, ig_pipeline_sanitize) : IG_OK;
    }
    IG_TRY(check_regions(p->module));
    IG_TRY(run_phrase(p, ig_pipeline_clean));
    IG_TRY(run_phrase(p, ig_pipeline_understand));
    if (strcmp(stage, "tensor") == 0) {
        return IG_OK;
    }
    IG_TRY(run_phrase(p, ig_pipeline_place));
    IG_TRY(run_phrase(p, ig_pipeline_lower));
    return is_checked ? run_phrase(p, ig_pipeline_sanitize) : IG_OK;
}

/* INGOT_STOP=after:PASS, where the caller says nothing. */
static const char *stop_of(const ig_compile_options *options) {
    const char *knob = secure_getenv("INGOT_STOP");
    if (options->stop_after || !knob || strncmp(knob, "after:", 6) != 0) {
        return options->stop_after;
    }
    return knob + 6;
}

/* Levels of one family share their weights, so all of them must read those well. */
static void note_family(const ig_target_list *list, const ig_target *target,
                        ig_pass_options *out) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->targets[i]->family == target->family) {
            out->lacks_f16c |= !list->targets[i]->has_f16c;
            out->has_vnni |= list->targets[i]->has_vnni;
        }
    }
}

ig_status ig_module_lower(const ig_module *module, const ig_compile_options *options,
                          const char *stage, ig_lowered *out) {
    assert(out->count == 0 && "the earlier lowering was destroyed");
    ig_context *context = module->context;
    IG_TRY(ig_targets_parse(context, options->target, &out->targets));
    for (uint32_t i = 0; i < out->targets.count && !out->is_stopped; i++) {
        ig_context_progress(context, "lowering", i, out->targets.count);
        out->modules[out->count++] = ig_module_clone(module);
        pipeline p = { .module = out->modules[i],
                       .options = options,
                       .lowered = out,
                       .stop_after = stop_of(options),
                       .passes = { .target = out->targets.targets[i],
                                   .torch_empty = options->torch_empty,
                                   .clamp_ids = options->clamp_ids,
                                   .tf32 = options->tf32,
                                   .winograd = options->winograd } };
        note_family(&out->targets, p.passes.target, &p.passes);
        p.observer = (ig_pass_observer){ .after = after_pass,
                                         .user = &p,
                                         .stop_after = p.stop_after };
        IG_TRY(run_until(&p, stage));
        out->is_stopped = p.is_stopped;
    }
    if (options->stop_after && !out->is_stopped) {
        return ig_error_hint(&context->diag, IG_INVALID, NULL,
                             "passes are listed by `ingot info`",
                             "pass '%s' did not run", options->stop_after);
    }
    return IG_OK;
}

void ig_lowered_fini(ig_lowered *lowered) {
    for (uint32_t i = 0; i < lowered->count; i++) {
        ig_module_destroy(lowered->modules[i]);
    }
    lowered->count = 0;
}
