/* From the caller's views to a bound session: extents, then addresses.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Extents that were bound before are only compared.  New ones give the symbols their
 * values, are held against every extent's expression and every guard, and choose a
 * shape.
 */
#include "runtime/session/session.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    TYPE_BYTES = 160,
    LINE_BYTES = 64,
    PREFETCH_BYTES = 256, /* of each input */
};

/* ---- messages ---- */

/* "f32[2, 13]" */
static const char *type_of(const ig_view *view, char text[TYPE_BYTES]) {
    size_t at = (size_t)snprintf(text, TYPE_BYTES, "%s[",
                                 ig_dtype_code_name((uint32_t)view->dtype));
    for (uint32_t i = 0; i < view->rank && i < IG_MAX_RANK && at < TYPE_BYTES; i++) {
        at += (size_t)snprintf(text + at, TYPE_BYTES - at, "%s%lld", i ? ", " : "",
                               (long long)view->dims[i]);
    }
    if (at < TYPE_BYTES) {
        (void)snprintf(text + at, TYPE_BYTES - at, "]");
    }
    return text;
}

static ig_status wrong_type(ig_session *session, uint32_t index, const ig_view *view,
                            const char *what) {
    const ig_plan_port *port = &session->plan->inputs[index];
    char text[TYPE_BYTES];
    return ig_message_set(
        &session->message, IG_INVALID, "input '%s' must be %s, but was given %s%s",
        ig_plan_string(session->plan, port->name),
        ig_plan_string(session->plan, port->type), type_of(view, text), what);
}

/* ---- extents ---- */

static ig_status bind_symbol(ig_session *session, uint32_t index,
                             const ig_view *inputs) {
    const ig_plan_symbol *symbol = &session->plan->symbols[index];
    assert(symbol->input < session->plan->inputs_count && "the plan has no such input");
    int64_t value = inputs[symbol->input].dims[symbol->axis];
    const char *origin = ig_plan_string(session->plan, symbol->origin);
    if (value < symbol->min || value > symbol->max) {
        return ig_message_set(
            &session->message, IG_INVALID, "%s is %lld; it must be from %lld to %lld",
            origin, (long long)value, (long long)symbol->min, (long long)symbol->max);
    }
    if (value % symbol->multiple != 0) {
        return ig_message_set(&session->message, IG_INVALID,
                              "%s is %lld; it must be a multiple of %lld", origin,
                              (long long)value, (long long)symbol->multiple);
    }
    session->symbols[index] = value;
    return IG_OK;
}

/* Where the extent that is expected comes from, when it is that of another input. */
static const char *origin_of(const ig_plan *plan, uint32_t index, uint32_t expr,
                             char text[TYPE_BYTES]) {
    const ig_plan_range range = plan->exprs[expr];
    const ig_plan_code *code = &plan->codes[range.first];
    text[0] = '\0';
    if (range.count == 1 && code->opcode == IG_CODE_SYMBOL) {
        const ig_plan_symbol *symbol = &plan->symbols[code->value];
        if (symbol->kind == IG_SYMBOL_INPUT && symbol->input != index) {
            const ig_plan_port *port = &plan->inputs[symbol->input];
            (void)snprintf(text, TYPE_BYTES, " as dim %u of input '%s'",
                           (unsigned)symbol->axis, ig_plan_string(plan, port->name));
        }
    }
    return text;
}

static ig_status check_extents(ig_session *session, uint32_t index,
                               const ig_view *view) {
    const ig_plan *plan = session->plan;
    const ig_plan_port *port = &plan->inputs[index];
    for (uint32_t i = 0; i < port->rank; i++) {
        int64_t expected;
        if (!ig_plan_evaluate(plan, plan->lists[port->dims + i], session->symbols,
                              &expected)) {
            return wrong_type(session, index, view, ": a size is too large");
        }
        if (view->dims[i] != expected) {
            char what[64 + TYPE_BYTES], origin[TYPE_BYTES];
            (void)snprintf(what, sizeof what, ": dim %u is %lld, expected %lld%s",
                           (unsigned)i, (long long)view->dims[i], (long long)expected,
                           origin_of(plan, index, plan->lists[port->dims + i], origin));
            return wrong_type(session, index, view, what);
        }
    }
    int64_t *bytes = &session->bytes[port->buffer];
    if (!ig_dtype_code_bytes(port->dtype, port->rank, view->dims, bytes)) {
        return wrong_type(session, index, view, ": its size is too large");
    }
    return IG_OK;
}

static ig_status bind_symbols(ig_session *session, const ig_view *inputs) {
    const ig_plan *plan = session->plan;
    for (uint32_t i = 0; i < plan->inputs_count; i++) {
        const ig_plan_port *port = &plan->inputs[i];
        if ((uint32_t)inputs[i].dtype != port->dtype || inputs[i].rank != port->rank) {
            return wrong_type(session, i, &inputs[i], "");
        }
        for (uint32_t axis = 0; axis < port->rank; axis++) {
            if (inputs[i].dims[axis] < 0) {
                return wrong_type(session, i, &inputs[i], ": an extent is negative");
            }
        }
    }
    for (uint32_t i = 0; i < plan->symbols_count; i++) {
        if (plan->symbols[i].kind == IG_SYMBOL_INPUT) {
            IG_TRY(bind_symbol(session, i, inputs));
        }
    }
    return ig_session_define(session, false);
}

static ig_status bind_extents(ig_session *session, const ig_view *inputs) {
    const ig_plan *plan = session->plan;
    session->has_shapes = false;
    IG_TRY(bind_symbols(session, inputs));
    for (uint32_t i = 0; i < plan->inputs_count; i++) {
        IG_TRY(check_extents(session, i, &inputs[i]));
    }
    for (uint32_t i = 0; i < plan->guards_count; i++) {
        if (plan->guards[i].at_bind) {
            IG_TRY(ig_session_check_guard(session, i));
        }
    }
    IG_TRY(ig_session_choose_shape(session));
    for (uint32_t i = 0; i < plan->inputs_count; i++) {
        void *data = session->inputs[i].data; /* until its address is bound, too */
        session->inputs[i] = inputs[i];
        session->inputs[i].data = data;
    }
    session->has_shapes = true;
    return IG_OK;
}

static bool is_like(const ig_view *old, const ig_view *new) {
    uint32_t rank = old->rank;
    if (old->dtype != new->dtype || rank != new->rank) {
        return false;
    }
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (old->dims[axis] != new->dims[axis]) {
            return false;
        }
    }
    return true;
}

static bool has_extents(const ig_session *session, const ig_view *inputs) {
    for (uint32_t i = 0; i < session->plan->inputs_count && session->has_shapes; i++) {
        if (!is_like(&session->inputs[i], &inputs[i])) {
            return false;
        }
    }
    return session->has_shapes;
}

/* ---- addresses of inputs ---- */

static ig_status check_memory(ig_session *session, const ig_view *view,
                              const char *kind, const char *name) {
    bool is_device = session->staging && view->memory == IG_MEMORY_CUDA &&
                     view->device == session->program->device->ordinal;
    return view->memory == IG_MEMORY_HOST || is_device
               ? IG_OK
               : ig_message_set(&session->message, IG_INVALID,
                                "%s '%s' is not in the memory of the host%s", kind,
                                name,
                                session->staging ? ", nor in that of the GPU that runs "
                                                   "this program"
                                                 : ", where this program runs");
}

/* Weights in other memory are others. */
static bool is_other_weight(const ig_plan_port *port, const ig_view *view,
                            const ig_view *bound) {
    return (port->flags & IG_PORT_WEIGHT) && view->data != bound->data;
}

static ig_status bind_input(ig_session *session, uint32_t index, const ig_view *view) {
    const ig_plan_port *port = &session->plan->inputs[index];
    const char *name = ig_plan_string(session->plan, port->name);
    int64_t bytes = session->bytes[port->buffer];
    uint32_t unit = (ig_dtype_code_bits(port->dtype) + 7) / 8;
    if (!view->data && bytes > 0) {
        return ig_message_set(&session->message, IG_INVALID, "input '%s' has no data",
                              name);
    }
    if (view->capacity > 0 && (uint64_t)bytes > view->capacity) {
        return ig_message_set(&session->message, IG_INVALID,
                              "input '%s' needs %lld bytes, its memory has %zu", name,
                              (long long)bytes, view->capacity);
    }
    if (((uintptr_t)view->data & (unit - 1)) != 0) { /* a power of two */
        return ig_message_set(&session->message, IG_INVALID,
                              "input '%s' is not aligned to its elements of %u bytes",
                              name, unit);
    }
    IG_TRY(check_memory(session, view, "input", name));
    session->is_prepared &= !is_other_weight(port, view, &session->inputs[index]);
    session->inputs[index].data = view->data;
    session->inputs[index].memory = view->memory;
    session->bases[port->buffer] = view->data ? view->data : (char *)session;
    return IG_OK;
}

static ig_status bind_inputs(ig_session *session, const ig_view *inputs) {
    for (uint32_t i = 0; i < session->plan->inputs_count; i++) {
        IG_TRY(bind_input(session, i, &inputs[i]));
    }
    return IG_OK;
}

/* ---- inputs that only moved ---- */

/* The first bytes that kernels read come while the rest of the call is prepared. */
static void prefetch_start(const void *data, int64_t bytes) {
    int64_t fetched = bytes < PREFETCH_BYTES ? bytes : PREFETCH_BYTES;
    for (int64_t at = 0; at < fetched; at += LINE_BYTES) {
        __builtin_prefetch((const void *)((uintptr_t)data + (uintptr_t)at));
    }
}

/* Is there nothing to say against an address, whatever the element's size? */
static bool is_plain(const ig_view *view, int64_t bytes) {
    uintptr_t last_bits = sizeof(int64_t) - 1; /* the largest element's */
    bool has_room = view->capacity == 0 || (uint64_t)bytes <= view->capacity;
    return has_room && view->data && view->memory == IG_MEMORY_HOST &&
           ((uintptr_t)view->data & last_bits) == 0;
}

/* The same extents as before, at plain addresses, as in most calls.  False: not so,
 * and everything is to be bound again. */
static bool bind_again(ig_session *session, const ig_view *inputs, bool *out_moved) {
    const ig_plan_port *ports = session->plan->inputs;
    ig_view *bound = session->inputs;
    uint32_t count = session->plan->inputs_count;
    bool is_moved = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t buffer = ports[i].buffer;
        int64_t bytes = session->bytes[buffer];
        void *data = inputs[i].data;
        prefetch_start(data, bytes);
        if (!is_like(&bound[i], &inputs[i]) || !is_plain(&inputs[i], bytes)) {
            return false;
        }
        is_moved |= data != bound[i].data;
        session->is_prepared &= !is_other_weight(&ports[i], &inputs[i], &bound[i]);
        bound[i].data = data;
        session->bases[buffer] = data;
    }
    *out_moved = is_moved;
    return true;
}

/* ---- addresses of outputs ---- */

static bool ranges_overlap(const char *a, int64_t a_bytes, const char *b,
                           int64_t b_bytes) {
    uintptr_t left = (uintptr_t)a, right = (uintptr_t)b;
    return a_bytes > 0 && b_bytes > 0 && left < right + (uintptr_t)b_bytes &&
           right < left + (uintptr_t)a_bytes;
}

static const char *name_of(const ig_session *session, uint32_t output) {
    return ig_plan_string(session->plan, session->plan->outputs[output].name);
}

static ig_status no_memory(ig_session *session, uint32_t index, int64_t bytes) {
    return ig_message_set(&session->message, IG_LIMIT,
                          "%s for output '%s' of %lld bytes",
                          ig_memory_refusal(&session->memory, (size_t)bytes),
                          name_of(session, index), (long long)bytes);
}

bool ig_session_overlaps_input(const ig_session *session, const char *data,
                               int64_t bytes) {
    assert(bytes >= 0 && "a range of memory");
    const ig_plan_port *ports = session->plan->inputs;
    uint32_t count = session->plan->inputs_count;
    uintptr_t own = (uintptr_t)bytes;
    bool is_any = false; /* without a branch an input */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t buffer = ports[i].buffer;
        uintptr_t at = (uintptr_t)session->bases[buffer];
        uintptr_t size = (uintptr_t)session->bytes[buffer];
        is_any |= ((uintptr_t)data - at < size) |
                  ((at - (uintptr_t)data < own) & (size > 0));
    }
    return is_any && bytes > 0;
}

/* The session's memory for an output; an earlier output in it that is now an input
 * stays where it is, and the other region is used. */
static bool reserve_own(ig_session *session, uint32_t index, int64_t bytes) {
    ig_output *output = &session->outputs[index];
    bool is_host = session->staging && !ig_session_is_far(session, index);
    if (ig_session_overlaps_input(session, output->own.data,
                                  (int64_t)output->own.size)) {
        ig_region other = output->shadow;
        output->shadow = output->own;
        output->own = other;
    }
    return ig_region_reserve(is_host ? &session->host : &session->memory, &output->own,
                             (size_t)bytes);
}

/* The place of the output for the caller.  `bytes` is its size, known by now. */
ig_status ig_session_place_output(ig_session *session, uint32_t index, int64_t bytes) {
    ig_output *output = &session->outputs[index];
    assert(bytes >= 0 && "the output's size is not known yet");
    if (output->capacity == 0) {
        if (!reserve_own(session, index, bytes)) {
            return no_memory(session, index, bytes);
        }
        output->target = output->own.data;
        return IG_OK;
    }
    if ((uint64_t)bytes > output->capacity) {
        return ig_message_set(&session->message, IG_INVALID,
                              "output '%s' needs %lld bytes, its memory has %zu",
                              name_of(session, index), (long long)bytes,
                              output->capacity);
    }
    return IG_OK;
}

static ig_status check_outputs_apart(ig_session *session, uint32_t index,
                                     int64_t bytes) {
    const ig_output *output = &session->outputs[index];
    for (uint32_t i = 0; i < index; i++) {
        const ig_output *other = &session->outputs[i];
        if (ranges_overlap(output->target, bytes, other->target,
                           session->shape->output_bytes[i])) {
            return ig_message_set(&session->message, IG_INVALID,
                                  "outputs '%s' and '%s' overlap in memory",
                                  name_of(session, i), name_of(session, index));
        }
    }
    return IG_OK;
}

/* An output in place of an input is given the same memory, or none; and no other input
 * is there, which would change under its readers. */
static ig_status place_over_input(ig_session *session, uint32_t index, int64_t bytes) {
    const ig_plan *plan = session->plan;
    ig_output *output = &session->outputs[index];
    uint32_t own = plan->outputs[index].in_place_of;
    char *data = session->inputs[own].data;
    const char *name = ig_plan_string(plan, plan->inputs[own].name);
    if (output->capacity > 0 && output->target != data) {
        return ig_message_set(
            &session->message, IG_INVALID,
            "output '%s' shares the memory of input '%s': give both the same, or the output none",
            name_of(session, index), name);
    }
    output->target = data;
    for (uint32_t i = 0; i < plan->inputs_count; i++) {
        if (i != own && ranges_overlap(data, bytes, session->inputs[i].data,
                                       session->bytes[plan->inputs[i].buffer])) {
            return ig_message_set(&session->message, IG_INVALID,
                                  "inputs '%s' and '%s' overlap in memory, and output "
                                  "'%s' is written there",
                                  name, ig_plan_string(plan, plan->inputs[i].name),
                                  name_of(session, index));
        }
    }
    return check_outputs_apart(session, index, bytes);
}

/* Memory that an input or an earlier output has too gives way to a shadow. */
static ig_status place_shadow(ig_session *session, uint32_t index, int64_t bytes) {
    ig_output *output = &session->outputs[index];
    IG_TRY(check_outputs_apart(session, index, bytes));
    bool is_apart = session->staging && !ig_session_is_far(session, index);
    output->is_shadowed = output->capacity > 0 && !is_apart &&
                          ig_session_overlaps_input(session, output->target, bytes);
    if (!output->is_shadowed) {
        return IG_OK;
    }
    session->has_shadows = true;
    return ig_region_reserve(&session->memory, &output->shadow, (size_t)bytes)
               ? IG_OK
               : no_memory(session, index, bytes);
}

static ig_status move_output(ig_session *session, uint32_t index) {
    const ig_plan_port *port = &session->plan->outputs[index];
    ig_output *output = &session->outputs[index];
    int64_t bytes = session->shape->output_bytes[index];
    output->is_shadowed = false;
    if (bytes < 0) {
        return IG_OK; /* the run knows */
    }
    if (ig_plan_is_in_place(session->plan, index)) {
        return place_over_input(session, index, bytes);
    }
    IG_TRY(ig_session_place_output(session, index, bytes));
    IG_TRY(place_shadow(session, index, bytes));
    if (ig_plan_has_own_buffer(session->plan, index)) {
        session->bases[port->buffer] = output->is_shadowed ? output->shadow.data
                                                           : output->target;
    }
    return IG_OK;
}

void ig_session_describe_output(ig_session *session, uint32_t index) {
    const ig_plan_port *port = &session->plan->outputs[index];
    const int64_t *dims = session->shape->output_dims + (size_t)index * IG_MAX_RANK;
    ig_view *view = session->outputs[index].view;
    assert(view && "no view was bound");
    view->data = session->outputs[index].target;
    view->dtype = (int32_t)port->dtype;
    view->rank = port->rank;
    for (uint32_t i = 0; i < port->rank; i++) {
        view->dims[i] = dims[i];
    }
}

/* Takes the caller's view; true in `moved` when it tells of other memory. */
static ig_status take_output(ig_session *session, uint32_t index, ig_view *view,
                             bool *moved) {
    ig_output *output = &session->outputs[index];
    output->view = view;
    *moved |= view->capacity != output->capacity;
    IG_TRY(check_memory(session, view, "output", name_of(session, index)));
    output->capacity = view->capacity;
    if (view->capacity == 0) {
        return IG_OK;
    }
    if (!view->data) {
        return ig_message_set(&session->message, IG_INVALID,
                              "output '%s' has a capacity but no memory",
                              name_of(session, index));
    }
    *moved |= view->data != output->target;
    output->target = view->data;
    return IG_OK;
}

/* Outputs after one that moved are placed anew too: none may overlap an earlier
 * one. */
static ig_status bind_outputs(ig_session *session, ig_view *outputs, bool *moved) {
    uint32_t count = session->plan->outputs_count;
    uint32_t callers = ig_session_callers(session, count);
    session->has_shadows &= !*moved;
    for (uint32_t i = 0; i < count; i++) {
        ig_view *view = i < callers ? &outputs[i]
                                    : &session->state_outputs[i - callers];
        IG_TRY(take_output(session, i, view, moved));
        if (*moved) {
            IG_TRY(move_output(session, i));
        }
        if (session->shape->output_bytes[i] >= 0) {
            ig_session_describe_output(session, i);
        }
    }
    return IG_OK;
}

/* ---- all of it ---- */

static ig_status check_counts(ig_session *session, size_t input_count,
                              size_t output_count) {
    uint32_t inputs = ig_session_callers(session, session->plan->inputs_count);
    uint32_t outputs = ig_session_callers(session, session->plan->outputs_count);
    if (input_count == inputs && output_count == outputs) {
        return IG_OK;
    }
    return ig_message_set(
        &session->message, IG_INVALID,
        "the program has %u inputs and %u outputs, but was given %zu and %zu",
        (unsigned)inputs, (unsigned)outputs, input_count, output_count);
}

static ig_status bind_all(ig_session *session, const ig_view *inputs,
                          ig_view *outputs) {
    bool is_new = !session->is_bound, moved = true;
    session->is_bound = false;
    if (is_new || !bind_again(session, inputs, &moved)) {
        if (!has_extents(session, inputs)) {
            IG_TRY(bind_extents(session, inputs));
            is_new = true;
        }
        IG_TRY(bind_inputs(session, inputs));
    }
    IG_TRY(bind_outputs(session, outputs, &moved));
    if (session->staging) {
        IG_TRY(session->staging->place_ports(session, is_new | moved));
    }
    if (is_new) {
        ig_session_patch(session);
    } else if (moved) {
        ig_session_patch_ports(session);
    }
    assert(session->shape && session->has_shapes && "bound without a shape");
    session->is_bound = true;
    return IG_OK;
}

ig_status ig_session_bind(ig_session *session, const ig_view *inputs,
                          size_t input_count, ig_view *outputs, size_t output_count) {
    IG_TRY(ig_session_check_waited(session));
    ig_status status = check_counts(session, input_count, output_count);
    if (status != IG_OK) {
        session->is_bound = false;
        return status;
    }
    if (session->plan->states_count > 0) {
        for (size_t i = 0; i < input_count; i++) {
            session->given[i] = inputs[i];
        }
        session->caller_outputs = outputs;
        return ig_session_rebind(session);
    }
    return bind_all(session, inputs, outputs);
}

ig_status ig_session_rebind(ig_session *session) {
    ig_session_give_state(session);
    return bind_all(session, session->given, session->caller_outputs);
}
