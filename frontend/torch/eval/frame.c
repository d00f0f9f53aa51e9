/* Frames of functions: names, where evaluation is, errors there, steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/eval.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { POLL_EVERY = 1024 };

/* Where the archive holds the module whose method runs, or who called it. */
static const char *module_of(const ig_ts_frame *frame) {
    for (; frame; frame = frame->around ? frame->around : frame->caller) {
        const ig_ts_value *self = frame->count ? &frame->values[0] : NULL;
        if (self && self->kind == IG_TS_OBJECT && self->as.object->path) {
            return self->as.object->path[0] ? self->as.object->path : NULL;
        }
    }
    return NULL;
}

ig_location ig_ts_where(const ig_ts_eval *eval) {
    assert(eval->frame && "a place is in a function");
    const ig_ts_frame *frame = eval->frame;
    if (!frame) {
        return (ig_location){ .file = eval->file };
    }
    if (frame->node) {
        return (ig_location){ .file = eval->file,
                              .node = frame->node,
                              .scope = frame->module };
    }
    return (ig_location){ .file = frame->file,
                          .graph = frame->label,
                          .line = frame->line,
                          .scope = module_of(frame) };
}

ig_status ig_ts_error(ig_ts_eval *eval, ig_status status, const char *format, ...) {
    char text[512];
    va_list args;
    ig_location where = ig_ts_where(eval);
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    eval->has_failed = true;
    return ig_error(&eval->context->diag, status, &where, "%s", text);
}

ig_status ig_ts_error_limit(ig_ts_eval *eval, ig_limit_id id, const char *what) {
    ig_location where = ig_ts_where(eval);
    eval->has_failed = true;
    return ig_error_limit(&eval->context->diag, &where, &eval->context->limits, id,
                          "%s", what);
}

ig_status ig_ts_raise(ig_ts_eval *eval, const char *message) {
    eval->has_raised = true;
    eval->raised = message;
    eval->raised_at = ig_ts_where(eval);
    return IG_INVALID;
}

ig_status ig_ts_use(ig_ts_eval *eval, const ig_ts_value *value) {
    if (value->kind == IG_TS_POISON) {
        return ig_ts_refuse_poison(eval, "uses a value that", value->as.poison);
    }
    if (value->kind == IG_TS_UNSET) {
        return ig_ts_error(eval, IG_INVALID, "uses a value that is not set");
    }
    return IG_OK;
}

/* ---- names ---- */

ig_ts_value *ig_ts_name_get(ig_ts_frame *frame, const char *name) {
    for (; frame; frame = frame->around) {
        uintptr_t at = (uintptr_t)ig_map_get_id(&frame->slots, IG_MAP_PTR(name));
        if (at && frame->values[at - 1].kind != IG_TS_UNSET) {
            return &frame->values[at - 1];
        }
    }
    return NULL;
}

void ig_ts_name_set(ig_ts_eval *eval, ig_ts_frame *frame, const char *name,
                    ig_ts_value value) {
    assert(name && "a value has a name");
    ig_ts_touch(eval, IG_TS_HOLD_FRAME, frame);
    uintptr_t at = (uintptr_t)ig_map_get_id(&frame->slots, IG_MAP_PTR(name));
    if (!at) {
        size_t count = frame->count, capacity = frame->capacity;
        ig_vec_grow(eval->arena, (void **)&frame->names, &count, &capacity,
                    sizeof(char *));
        ig_vec_grow(eval->arena, (void **)&frame->values, &frame->count,
                    &frame->capacity, sizeof(value));
        frame->names[frame->count - 1] = name;
        at = frame->count;
        ig_map_set_id(&frame->slots, IG_MAP_PTR(name), (void *)at);
    }
    frame->values[at - 1] = value;
}

ig_status ig_ts_step(ig_ts_eval *eval) {
    if (++eval->steps % POLL_EVERY == 0) {
        IG_TRY(ig_context_poll(eval->context));
    }
    return eval->steps <= (uint64_t)eval->context->limits.script_steps
               ? IG_OK
               : ig_ts_error_limit(eval, IG_LIMIT_script_steps,
                                   "the number of steps at import");
}
