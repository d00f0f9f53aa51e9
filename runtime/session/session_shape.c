/* Plans the values that follow from the extents of a call, and keeps them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A shape is looked up by the values of the symbols that reach a size or grid.  A miss
 * replaces the shape that was unused for longest: sizes, a shared arena,
 * then every step's offsets, params and tiles.  Symbols beyond the key ("loose") reach
 * only params and costs, which are evaluated again when they change.
 */
#include "runtime/session/session.h"

#include "base/checked.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static ig_status too_large(ig_session *session, const char *what) {
    return ig_message_set(
        &session->message, IG_INVALID,
        "%s: its size is too large, or cannot be computed, for these shapes", what);
}

/* A value without a name is known by its writer. */
static ig_status too_large_buffer(ig_session *session, uint32_t index) {
    const ig_plan_buffer *buffer = &session->plan->buffers[index];
    char where[IG_WHERE_BYTES];
    bool has_name = buffer->name.size > 0 ||
                    buffer->first >= session->plan->steps_count;
    return too_large(session, has_name
                                  ? ig_plan_string(session->plan, buffer->name)
                                  : ig_session_where(session, buffer->first, where));
}

/* ---- symbols and guards ---- */

ig_status ig_session_define(ig_session *session, bool is_late) {
    assert((session->symbols || !session->plan->symbols_count) &&
           "each symbol has room for its value");
    const ig_plan *plan = session->plan;
    for (uint32_t i = 0; i < plan->symbols_count; i++) {
        const ig_plan_symbol *symbol = &plan->symbols[i];
        if (symbol->kind != IG_SYMBOL_DEFINED ||
            is_late != ((plan->symbol_flags[i] & IG_DEPENDS_LATE) != 0)) {
            continue;
        }
        if (ig_plan_evaluate(plan, symbol->expr, session->symbols,
                             &session->symbols[i])) {
            continue;
        }
        if (!is_late) {
            return too_large(session, ig_plan_string(plan, symbol->name));
        }
        session->symbols[i] = IG_NO_VALUE; /* until all that it is made of is known */
    }
    return IG_OK;
}

ig_status ig_session_check_guard(ig_session *session, uint32_t index) {
    const ig_plan *plan = session->plan;
    assert(index < plan->guards_count && "the plan has no such guard");
    const ig_plan_guard *guard = &plan->guards[index];
    const char *message = ig_plan_string(plan, guard->message);
    int64_t left, right;
    if (!ig_plan_evaluate(plan, guard->left, session->symbols, &left) ||
        !ig_plan_evaluate(plan, guard->right, session->symbols, &right)) {
        return too_large(session, message);
    }
    if (guard->test == 0 ? left == right : left <= right) {
        return IG_OK;
    }
    return ig_message_set(&session->message, IG_INVALID, "%s (%lld is not %s %lld)",
                          message[0] ? message : "shapes disagree", (long long)left,
                          guard->test == 0 ? "equal to" : "at most", (long long)right);
}

/* ---- sizes ---- */

/* The rows of a block, for the buffers inside the rows step that holds step
 * `number`. */
static ig_status set_block_rows(ig_session *session, uint32_t index) {
    uint32_t rows = session->program->execs[index].rows;
    if (rows == IG_NONE) {
        return IG_OK;
    }
    const ig_plan_step *step = &session->plan->steps[rows];
    assert(step->kind == IG_STEP_rows && "only rows have blocks");
    return ig_plan_evaluate(session->plan, step->block, session->symbols,
                            &session->symbols[step->symbol])
               ? IG_OK
               : too_large(session, "a block of rows");
}

ig_status ig_session_size_buffer(ig_session *session, uint32_t index,
                                 int64_t *out_bytes) {
    const ig_plan_buffer *buffer = &session->plan->buffers[index];
    if (buffer->space == IG_SPACE_WORKER) {
        IG_TRY(set_block_rows(session, buffer->first));
    }
    bool has_size = ig_plan_evaluate(session->plan, buffer->bytes, session->symbols,
                                     out_bytes) &&
                    *out_bytes >= 0;
    return has_size ? IG_OK : too_large_buffer(session, index);
}

/* A conditional step is refused when it runs, which may never happen. */
static ig_status put_off(ig_session *session, uint32_t step, ig_status status) {
    if (status == IG_OK || step >= session->plan->steps_count ||
        !session->program->execs[step].is_conditional) {
        return status;
    }
    session->shape->is_partial = true;
    session->error[0] = 0;
    return IG_OK;
}

static ig_status size_buffer(ig_session *session, uint32_t index) {
    const ig_plan_buffer *buffer = &session->plan->buffers[index];
    ig_shape *shape = session->shape;
    shape->buffer_offsets[index] = shape->buffer_bytes[index] = 0;
    if (buffer->space == IG_SPACE_INPUT ||
        ig_plan_expr_depends(session->plan, buffer->bytes, IG_DEPENDS_LATE)) {
        return IG_OK; /* the binding's; the run's */
    }
    int64_t bytes;
    ig_status status = ig_session_size_buffer(session, index, &bytes);
    if (status != IG_OK) {
        return put_off(session, buffer->first, status);
    }
    if (buffer->space == IG_SPACE_CONSTANT &&
        (uint64_t)bytes > session->plan->constants[buffer->index].bytes) {
        return too_large_buffer(session, index);
    }
    shape->buffer_bytes[index] = bytes;
    return IG_OK;
}

ig_status ig_session_size_output(ig_session *session, uint32_t index) {
    const ig_plan *plan = session->plan;
    assert(index < plan->outputs_count && "the plan has no such output");
    const ig_plan_port *port = &plan->outputs[index];
    ig_shape *shape = session->shape;
    int64_t *dims = shape->output_dims + (size_t)index * IG_MAX_RANK;
    const char *name = ig_plan_string(plan, port->name);
    for (uint32_t i = 0; i < port->rank; i++) {
        uint32_t expr = plan->lists[port->dims + i];
        if (!ig_plan_evaluate(plan, expr, session->symbols, &dims[i])) {
            return too_large(session, name);
        }
    }
    if (!ig_dtype_code_bytes(port->dtype, port->rank, dims,
                             &shape->output_bytes[index])) {
        return too_large(session, name);
    }
    /* A buffer of its own is exactly as large; any other holds at least as much. */
    const ig_plan_buffer *buffer = &plan->buffers[port->buffer];
    int64_t held = buffer->space == IG_SPACE_OUTPUT ? shape->buffer_bytes[port->buffer]
                                                    : shape->output_bytes[index];
    return held == shape->output_bytes[index] ? IG_OK : too_large(session, name);
}

static ig_status size_outputs(ig_session *session) {
    for (uint32_t i = 0; i < session->plan->outputs_count; i++) {
        if (ig_plan_is_late_output(session->plan, i)) {
            session->shape->output_bytes[i] = -1;
        } else {
            IG_TRY(ig_session_size_output(session, i));
        }
    }
    return IG_OK;
}

/* ---- memory ---- */

/* Offsets that were fixed at compile time; after them the workers' memory. */
static ig_status take_fixed(ig_session *session, int64_t workers, int64_t *out_bytes) {
    const ig_plan *plan = session->plan;
    ig_shape *shape = session->shape;
    *out_bytes = plan->header->arena_bytes;
    for (uint32_t i = 0; i < plan->buffers_count; i++) {
        const ig_plan_buffer *buffer = &plan->buffers[i];
        if (buffer->space != IG_SPACE_ARENA || buffer->offset < 0) {
            continue;
        }
        if (buffer->offset > *out_bytes ||
            shape->buffer_bytes[i] > *out_bytes - buffer->offset) {
            return too_large_buffer(session, i);
        }
        shape->buffer_offsets[i] = buffer->offset;
    }
    int64_t end = (int64_t)ig_align_up((size_t)*out_bytes, IG_LIFE_ALIGN);
    shape->buffer_offsets[plan->buffers_count] = end;
    return ig_add_i64(end, workers, out_bytes)
               ? IG_OK
               : too_large(session, "the memory of a run");
}

static ig_status reserve_arena(ig_session *session, int64_t bytes) {
    if ((uint64_t)bytes <= session->arena.size) {
        return IG_OK;
    }
    if (!session->owns_arena) {
        return ig_message_set(
            &session->message, IG_LIMIT,
            "these shapes need an arena of %lld bytes; the one given has %zu",
            (long long)bytes, session->arena.size);
    }
    if (!ig_region_reserve(&session->memory, &session->arena, (size_t)bytes)) {
        return ig_message_set(
            &session->message, IG_LIMIT, "%s for %lld bytes of activations",
            ig_memory_refusal(&session->memory, (size_t)bytes), (long long)bytes);
    }
    return IG_OK;
}

/* All of it lives all the time, so the same buffers have the same places for every
 * shape. */
static ig_status reserve_kept(ig_session *session) {
    int64_t bytes;
    if (!ig_session_plan_space(session, IG_SPACE_KEPT, &bytes)) {
        return too_large(session, "the memory of prepared weights");
    }
    return ig_region_reserve(&session->memory, &session->kept, (size_t)bytes)
               ? IG_OK
               : ig_message_set(&session->message, IG_LIMIT,
                                "%s for %lld bytes of prepared weights",
                                ig_memory_refusal(&session->memory, (size_t)bytes),
                                (long long)bytes);
}

static ig_status plan_memory(ig_session *session) {
    ig_shape *shape = session->shape;
    for (uint32_t i = 0; i < session->plan->buffers_count; i++) {
        IG_TRY(size_buffer(session, i));
    }
    IG_TRY(size_outputs(session));
    int64_t workers;
    if (!ig_session_plan_space(session, IG_SPACE_WORKER, &shape->worker_bytes) ||
        !ig_mul_i64(shape->worker_bytes, session->queue->worker_count, &workers)) {
        return too_large(session, "the memory of a run");
    }
    shape->buffer_offsets[session->plan->buffers_count] = 0;
    if (session->plan->header->arena_bytes >= 0) {
        IG_TRY(take_fixed(session, workers, &shape->arena_bytes));
    } else if (!ig_session_plan_space(session, IG_SPACE_ARENA, &shape->arena_bytes)) {
        return too_large(session, "the memory of a run");
    }
    IG_TRY(reserve_arena(session, shape->arena_bytes));
    return reserve_kept(session);
}

/* ---- the current shape ---- */

/* Sizes and addresses of buffers that are not the caller's. */
static void enter_shape(ig_session *session) {
    const ig_plan *plan = session->plan;
    ig_shape *shape = session->shape;
    for (uint32_t i = 0; i < plan->buffers_count; i++) {
        const ig_plan_buffer *buffer = &plan->buffers[i];
        if (buffer->space == IG_SPACE_INPUT) {
            continue;
        }
        session->bytes[i] = shape->buffer_bytes[i];
        assert((buffer->space != IG_SPACE_ARENA || shape->buffer_bytes[i] == 0 ||
                (size_t)(shape->buffer_offsets[i] + shape->buffer_bytes[i]) <=
                    session->arena.size) &&
               "a buffer reaches past the arena");
        bool is_kept = buffer->space == IG_SPACE_KEPT;
        if (buffer->space == IG_SPACE_ARENA || is_kept) {
            char *data = is_kept ? session->kept.data : session->arena.data;
            session->bases[i] = data ? data + shape->buffer_offsets[i]
                                     : (char *)session; /* nothing in it has bytes */
        } else if (buffer->space == IG_SPACE_CONSTANT) {
            session->bases[i] =
                (char *)(uintptr_t)session->program->resident[buffer->index];
        }
    }
    char *arena = session->arena.data;
    session->queue->worker_memory =
        arena ? arena + shape->buffer_offsets[plan->buffers_count]
              : (char *)session; /* no worker has bytes */
    session->queue->worker_bytes = shape->worker_bytes;
}

static void split_phases(ig_session *session) {
    /* Late phases are split by the run, which cannot know before. */
    bool has_late = session->program->late_count > 0;
    session->shape->pool_ns = session->queue->worker_count > 1 && has_late ? INFINITY
                                                                           : 0;
    for (uint32_t i = 0; i < session->plan->steps_count; i++) {
        const ig_exec *exec = &session->program->execs[i];
        if (exec->phase_count > 0 && !exec->has_late) {
            ig_session_split(session, i);
        }
    }
}

static ig_status resolve_step(ig_session *session, uint32_t index) {
    ig_status status = ig_session_resolve(session, index);
    if (status == IG_OK) {
        return status;
    }
    ig_session_clear_step(session, index);
    return put_off(session, index, status);
}

static ig_status plan_shape(ig_session *session) {
    const ig_plan *plan = session->plan;
    session->shape->is_partial = false;
    IG_TRY(plan_memory(session));
    enter_shape(session);
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        if (!session->program->execs[i].is_late) {
            IG_TRY(resolve_step(session, i));
        }
    }
    split_phases(session);
    for (uint32_t i = 0; i < plan->key_count; i++) {
        session->shape->key[i] = session->symbols[plan->keys[i]];
    }
    return IG_OK;
}

/* Params and costs of loose symbols, which may have changed since. */
static ig_status resolve_loose(ig_session *session) {
    if (!session->program->has_loose) {
        return IG_OK;
    }
    for (uint32_t i = 0; i < session->plan->steps_count; i++) {
        const ig_exec *exec = &session->program->execs[i];
        if (exec->is_loose && !exec->is_late) {
            IG_TRY(put_off(session, i, ig_session_resolve_params(session, i)));
        }
    }
    split_phases(session);
    return IG_OK;
}

/* ---- the cache ---- */

static bool has_key(const ig_session *session, const ig_shape *shape) {
    for (uint32_t i = 0; i < session->plan->key_count; i++) {
        if (shape->key[i] != session->symbols[session->plan->keys[i]]) {
            return false;
        }
    }
    return shape->used > 0;
}

static void cut_shape(ig_shape *shape, const ig_session *session, ig_cutter *c) {
    const ig_program *program = session->program;
    const ig_plan *plan = session->plan;
    size_t splits = (size_t)session->queue->worker_count + 1;
    *shape = (ig_shape){
        .block = c->memory,
        .key = ig_cut(c, plan->key_count, sizeof *shape->key),
        .buffer_offsets = ig_cut(c, plan->buffers_count + (size_t)1,
                                 sizeof *shape->buffer_offsets),
        .buffer_bytes = ig_cut(c, plan->buffers_count, sizeof *shape->buffer_bytes),
        .slot_offsets = ig_cut(c, program->slot_count, sizeof *shape->slot_offsets),
        .slot_strides = ig_cut(c, program->slot_count, sizeof *shape->slot_strides),
        .slots = ig_cut(c, program->slot_count, sizeof *shape->slots),
        .params = ig_cut(c, program->param_count, sizeof *shape->params),
        .bounds = ig_cut(c, program->launch_count * splits, sizeof *shape->bounds),
        .launches = ig_cut(c, program->launch_count, sizeof *shape->launches),
        .phases = ig_cut(c, program->launch_count, sizeof *shape->phases),
        .output_dims = ig_cut(c, (size_t)plan->outputs_count * IG_MAX_RANK,
                              sizeof *shape->output_dims),
        .output_bytes = ig_cut(c, plan->outputs_count, sizeof *shape->output_bytes),
    };
}

static ig_status allocate_shape(ig_session *session, ig_shape *shape) {
    if (shape->block) {
        return IG_OK;
    }
    ig_cutter c = { NULL, 0 };
    cut_shape(shape, session, &c);
    session->shape_bytes = c.used;
    c = (ig_cutter){ ig_memory_take(&session->host, c.used), 0 };
    if (!c.memory) {
        return ig_message_set(&session->message, IG_LIMIT, "out of memory for a plan");
    }
    memset(c.memory, 0, session->shape_bytes);
    cut_shape(shape, session, &c);
    assert(c.used == session->shape_bytes && "counting and cutting disagree");
    return IG_OK;
}

ig_status ig_session_choose_shape(ig_session *session) {
    ig_shape *oldest = &session->shapes[0];
    session->shape = NULL;
    for (size_t i = 0; i < IG_SHAPES; i++) {
        ig_shape *shape = &session->shapes[i];
        if (shape->block && has_key(session, shape)) {
            session->shape = shape;
            shape->used = ++session->clock;
            enter_shape(session);
            return resolve_loose(session);
        }
        oldest = shape->used < oldest->used ? shape : oldest;
    }
    assert(oldest->used <= session->clock && "a shape was used in the future");
    oldest->used = 0;
    IG_TRY(allocate_shape(session, oldest));
    session->shape = oldest;
    IG_TRY(plan_shape(session));
    oldest->planned = oldest->used = ++session->clock;
    return IG_OK;
}
