/* Targets as users name them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/targets.h"

#include "ingot/runtime.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

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
