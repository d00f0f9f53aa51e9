/* Targets as users name them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/targets.h"

#include "ingot/runtime.h"
#include "runtime/format.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Targets of one family are neighbours, families in the order in which they
 * were named. */
static void insert_target(const ig_target *target, ig_target_list *out) {
    uint32_t at = out->count;
    while (at > 0 && out->targets[at - 1]->family != target->family) {
        at--;
    }
    at = at > 0 ? at : out->count;
    for (uint32_t i = out->count; i > at; i--) {
        out->targets[i] = out->targets[i - 1];
    }
    out->targets[at] = target;
    out->count++;
}

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
    insert_target(target, out);
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
        if ((*target)->family == family && !(*target)->is_tail) {
            IG_TRY(add_target(context, ig_str_of((*target)->name), out));
        }
    }
    return IG_OK;
}

/* "cuda:sm_80" of the level "sm_80" after "cuda:…"; a level that has a family's name in
 * front, or comes after a CPU's, is the whole name. */
static ig_str whole_name(ig_str level, bool is_cuda, char *room, size_t size) {
    bool is_whole = memchr(level.data, ':', level.size) != NULL;
    if (is_whole || !is_cuda) {
        return level;
    }
    (void)snprintf(room, size, "cuda:%.*s", IG_STR_ARG(level));
    return ig_str_of(room);
}

/* "sm_80+ptx": the level, and what newer machines make their own code of. */
static ig_status add_level(ig_context *context, ig_str name, ig_target_list *out) {
    bool has_tail = ig_str_ends(name, "+ptx");
    name.size -= has_tail ? strlen("+ptx") : 0;
    IG_TRY(add_target(context, name, out));
    const ig_target *target = ig_target_find(name);
    if (!has_tail) {
        return IG_OK;
    }
    if (!target->tail) {
        return ig_error_hint(
            &context->diag, IG_INVALID, NULL, "+ptx goes with levels of cuda",
            "'%s' has no form that newer machines compile", target->name);
    }
    return add_target(context, ig_str_of(target->tail), out);
}

static ig_status add_item(ig_context *context, ig_str item, bool *is_cuda,
                          ig_target_list *out) {
    char room[64];
    if (ig_str_is(item, IG_FAMILY_NAME_ARM64)) {
        *is_cuda = false;
        return add_all_of(context, IG_FAMILY_ARM64, out);
    }
    bool is_family = ig_str_is(item, "cpu") || ig_str_is(item, "cuda");
    if (is_family || memchr(item.data, ':', item.size)) {
        *is_cuda = ig_str_starts(item, "cuda");
    }
    if (is_family) {
        return *is_cuda ? add_all_of(context, IG_FAMILY_GPU, out)
                        : add_host(context, out);
    }
    return add_level(context, whole_name(item, *is_cuda, room, sizeof room), out);
}

ig_status ig_targets_parse(ig_context *context, const char *text, ig_target_list *out) {
    bool is_cuda = false;
    *out = (ig_target_list){ 0 };
    ig_str rest = ig_str_of(text);
    if (rest.size == 0) {
        return add_host(context, out);
    }
    while (rest.size) {
        const char *comma = memchr(rest.data, ',', rest.size);
        size_t size = comma ? (size_t)(comma - rest.data) : rest.size;
        ig_str item = { rest.data, size };
        IG_TRY(add_item(context, item, &is_cuda, out));
        size_t skipped = comma ? size + 1 : size;
        rest = (ig_str){ rest.data + skipped, rest.size - skipped };
    }
    return IG_OK;
}

uint32_t ig_targets_family_end(const ig_target_list *list, uint32_t first) {
    uint32_t end = first;
    while (end < list->count &&
           list->targets[end]->family == list->targets[first]->family) {
        end++;
    }
    return end;
}
