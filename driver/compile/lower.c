/* Targets, and the pipeline as far as a stage.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile/compile.h"

#include "ingot/runtime.h"
#include "ir/text/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options_check {
    ig_context *context;
    ig_compile_options options; /* whole, whatever the caller's version */
} options_check;

/* ---- targets ---- */

static ig_status add_target(ig_context *context, ig_str name, ig_target_list *out) {
    assert(out->count <= IG_LEVELS && "there is room for the targets listed");
    const ig_target *target = ig_target_find(name);
    if (ig_str_is(name, "interpret")) {
        return ig_error_hint(&context->diag, IG_INVALID, NULL,
                             "run the model as it is: ingot run --target interpret, or "
                             "ig_interpret_run",
                             "the interpreter runs models, and no program is made for "
                             "it");
    }
    if (!target) {
        return ig_error_hint(&context->diag, IG_INVALID, NULL,
                             "targets are listed by `ingot info`",
                             "there is no target '%.*s'", IG_STR_ARG(name));
    }
    for (uint32_t i = 0; i < out->count; i++) {
        if (out->targets[i] == target) {
            return IG_OK;
        }
    }
    if (out->count == IG_LEVELS) {
        return ig_error(&context->diag, IG_LIMIT, NULL, "more than %d levels",
                        IG_LEVELS);
    }
    if (out->count && target->family != out->targets[0]->family) {
        return ig_error(&context->diag, IG_UNSUPPORTED, NULL,
                        "an artifact for both %s and %s", out->targets[0]->name,
                        target->name);
    }
    out->targets[out->count++] = target;
    return IG_OK;
}

static ig_status add_host(ig_context *context, ig_target_list *out) {
    const char *level = ig_runtime_level();
    if (!level[0]) {
        return ig_error_hint(&context->diag, IG_UNSUPPORTED, NULL,
                             "name a target, for example cpu:v3",
                             "this machine has no level that programs can use");
    }
    return add_target(context, ig_str_of(level), out);
}

static ig_status add_all_of(ig_context *context, ig_family family,
                            ig_target_list *out) {
    for (const ig_target *const *target = ig_targets; *target; target++) {
        if ((*target)->family == family) {
            IG_TRY(add_target(context, ig_str_of((*target)->name), out));
        }
    }
    return IG_OK;
}

/* "sm_90a", of "cuda:sm_80,sm_90a" or with its family again. */
static ig_status add_cuda(ig_context *context, ig_str level, ig_target_list *out) {
    char name[64];
    if (ig_str_starts(level, "cuda:")) {
        return add_target(context, level, out);
    }
    snprintf(name, sizeof name, "cuda:%.*s", IG_STR_ARG(level));
    return add_target(context, ig_str_of(name), out);
}

ig_status ig_targets_parse(ig_context *context, const char *text, ig_target_list *out) {
    *out = (ig_target_list){ 0 };
    ig_str rest = ig_str_of(text);
    if (rest.size == 0 || ig_str_is(rest, "cpu")) {
        return add_host(context, out);
    }
    if (ig_str_is(rest, "cuda")) {
        return add_all_of(context, IG_FAMILY_GPU, out);
    }
    bool is_cuda = ig_str_starts(rest, "cuda:");
    if (is_cuda || ig_str_starts(rest, "cpu:")) {
        size_t prefix = is_cuda ? 5 : 4;
        rest = (ig_str){ rest.data + prefix, rest.size - prefix };
    }
    while (rest.size) {
        const char *comma = memchr(rest.data, ',', rest.size);
        size_t size = comma ? (size_t)(comma - rest.data) : rest.size;
        ig_str name = { rest.data, size };
        IG_TRY(is_cuda ? add_cuda(context, name, out) : add_target(context, name, out));
        size_t skipped = comma ? size + 1 : size;
        rest = (ig_str){ rest.data + skipped, rest.size - skipped };
    }
    return out->count ? IG_OK : add_target(context, ig_str_of(text), out);
}

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
    ig_options_take(&call.options, sizeof call.options, options);
    return ig_host_settle(context, ig_host_guard(context, check_options, &call));
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

static void after_pass(void *user, const char *pass, uint32_t number,
                       const ig_module *module) {
    pipeline *p = user;
    if (p->lowered->watch) {
        p->lowered->watch(p->lowered->watch_user, pass, number, module);
    }
    if (p->stop_after && strcmp(p->stop_after, pass) == 0) {
        p->is_stopped = true;
    }
    if (p->options->after_pass) {
        ig_writer out;
        ig_arena_init(&p->text, &module->context->budget);
        ig_writer_init(&out, &p->text);
        ig_print_module(module, &out);
        p->options->after_pass(p->options->after_pass_user, pass, number,
                               ig_writer_str(&out).data);
        ig_arena_fini(&p->text);
    }
}

static ig_status run_phrase(pipeline *p, const char *passes) {
    if (p->is_stopped) {
        return IG_OK;
    }
    return ig_run_passes_observed(p->module, &p->passes, passes, &p->observer);
}

static ig_status run_until(pipeline *p, const char *stage) {
    assert((strcmp(stage, "tensor") == 0 || strcmp(stage, "kernel") == 0) &&
           "the stages that a pipeline ends at");
    bool is_checked = p->options->sanitize && strcmp(stage, "kernel") == 0;
    if (p->options->passes) {
        IG_TRY(run_phrase(p, p->options->passes));
        return is_checked ? run_phrase(p, ig_pipeline_sanitize) : IG_OK;
    }
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

/* Levels share their weights, so all of them must read those well. */
static bool lacks_f16c(const ig_target_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (!list->targets[i]->has_f16c) {
            return true;
        }
    }
    return false;
}

static bool has_vnni(const ig_target_list *list) {
    bool has = false;
    for (uint32_t i = 0; i < list->count; i++) {
        has |= list->targets[i]->has_vnni;
    }
    return has;
}

ig_status ig_lower_module(const ig_module *module, const ig_compile_options *options,
                          const char *stage, ig_lowered *out) {
    assert(out->count == 0 && "what was lowered before was destroyed");
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
                                   .lacks_f16c = lacks_f16c(&out->targets),
                                   .has_vnni = has_vnni(&out->targets),
                                   .torch_empty = options->torch_empty,
                                   .clamp_ids = options->clamp_ids } };
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
