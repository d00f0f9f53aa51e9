/* Evaluates the record of a step: offsets, params, tiles.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Called for every step when a shape is planned, and for a late step each time it runs;
 * results go to the session's current shape.  An expression that overflows makes the
 * call INVALID: the given extents are beyond the model's range.
 */
#include "base/checked.h"
#include "runtime/session/session.h"

#include <assert.h>
#include <math.h>

static ig_status evaluate_expr(ig_session *session, uint32_t index, uint32_t expr,
                               int64_t absent, int64_t *out_value) {
    if (ig_plan_evaluate_or(session->plan, expr, session->symbols, absent, out_value)) {
        return IG_OK;
    }
    char where[IG_WHERE_BYTES];
    return ig_message_set(
        &session->message, IG_INVALID,
        "%s: a size is too large, or a quotient has a remainder, for these shapes",
        ig_session_where(session, index, where));
}

static ig_status reaches_outside(ig_session *session, uint32_t index) {
    char where[IG_WHERE_BYTES];
    return ig_message_set(&session->message, IG_INVALID,
                          "%s: it reaches outside of a buffer for these shapes",
                          ig_session_where(session, index, where));
}

/* ---- operands ---- */

enum { LATE_FACTOR = 64 };

/* How many bytes more buffers of late size may hold.  A loop that doubles its value
 * would otherwise fill the machine, whatever the model's own size. */
static double late_room(const ig_session *session) {
    const ig_plan *plan = session->plan;
    double known = 0;
    if (session->late_limit == 0) {
        return INFINITY;
    }
    for (uint32_t i = 0; i < plan->buffers_count; i++) {
        bool is_late = ig_plan_expr_depends(plan, plan->buffers[i].bytes,
                                            IG_DEPENDS_LATE);
        known += is_late ? 0 : (double)session->bytes[i];
    }
    return (double)session->late_limit + LATE_FACTOR * known -
           (double)session->late_held;
}

static ig_status refuse_late(ig_session *session, uint32_t index, const char *why,
                             int64_t bytes) {
    char where[IG_WHERE_BYTES];
    return ig_message_set(
        &session->message, IG_LIMIT, "%s: %s for a buffer of %lld bytes",
        ig_session_where(session, index, where), why, (long long)bytes);
}

/* What grows once may grow in every trip of a loop: half as much again, or all that may
 * be held, so that copies are a part of the writes. */
static bool reserve_ahead(ig_session *session, const ig_region *region, int64_t bytes,
                          double room, ig_region *larger) {
    const ig_memory *memory = &session->memory;
    size_t half = region->size / 2;
    size_t size = region->size + ((double)half < room ? half : (size_t)room);
    if (memory->limit && memory->held < memory->limit &&
        size > memory->limit - memory->held) {
        size = memory->limit - memory->held;
    }
    return size > (size_t)bytes && ig_region_reserve(&session->memory, larger, size);
}

/* Work in the queue may still use the old memory, whose content moves along. */
static ig_status grow_late(ig_session *session, uint32_t index, ig_region *region,
                           int64_t bytes) {
    assert((!region->data || (size_t)bytes > region->size) && "a region only grows");
    ig_region larger = { NULL, 0 };
    double room = late_room(session);
    if ((double)bytes - (double)region->size > room) {
        return refuse_late(session, index,
                           "more bytes than a run may allocate (--limit late_bytes=N)",
                           bytes);
    }
    if (!reserve_ahead(session, region, bytes, room, &larger) &&
        !ig_region_reserve(&session->memory, &larger, (size_t)bytes)) {
        return refuse_late(session, index,
                           ig_memory_refusal(&session->memory, (size_t)bytes), bytes);
    }
    ig_region old = *region;
    session->late_held += larger.size - old.size;
    *region = larger;
    ig_status status = ig_queue_copy(session->queue, IG_COPY_WITHIN, larger.data,
                                     old.data, (int64_t)old.size);
    status = status == IG_OK ? ig_queue_finish(session->queue) : status;
    ig_region_free(&session->memory, &old);
    return status;
}

/* The caller's memory for the output of late extents that the buffer is, where it has
 * room and nothing else is read there; else NULL, and the output is copied there. */
static char *find_target(const ig_session *session, uint32_t buffer, int64_t bytes) {
    const uint32_t *outputs = session->program->late_outputs;
    bool is_apart = session->staging || session->program->is_sanitized;
    if (!outputs || outputs[buffer] == IG_NONE || is_apart) {
        return NULL;
    }
    const ig_output *output = &session->outputs[outputs[buffer]];
    bool fits = (uint64_t)bytes <= output->capacity; /* 0: the session's own memory */
    return fits && output->capacity > 0 &&
                   !ig_session_overlaps_input(session, output->target, bytes)
               ? output->target
               : NULL;
}

/* A buffer of late size has memory of its own, which only grows. */
static ig_status reserve_late(ig_session *session, uint32_t index, uint32_t buffer) {
    int64_t bytes;
    IG_TRY(
        evaluate_expr(session, index, session->plan->buffers[buffer].bytes, 0, &bytes));
    if (bytes < 0) {
        return reaches_outside(session, index);
    }
    char *target = find_target(session, buffer, bytes);
    if (!target &&
        ((size_t)bytes > session->late[buffer].size || !session->late[buffer].data)) {
        IG_TRY(grow_late(session, index, &session->late[buffer], bytes));
    }
    session->bases[buffer] = target ? target : session->late[buffer].data;
    session->bytes[buffer] = bytes;
    return IG_OK;
}

static ig_status resolve_operand(ig_session *session, uint32_t index, uint32_t slot,
                                 const ig_plan_operand *operand) {
    ig_shape *shape = session->shape;
    int64_t offset, stride;
    assert(slot < session->program->slot_count && "a step has more slots than planned");
    shape->slot_offsets[slot] = shape->slot_strides[slot] = 0;
    if (operand->buffer == IG_NONE) {
        return IG_OK;
    }
    const ig_plan_buffer *buffer = &session->plan->buffers[operand->buffer];
    if (ig_plan_expr_depends(session->plan, buffer->bytes, IG_DEPENDS_LATE)) {
        IG_TRY(reserve_late(session, index, operand->buffer));
    } else if (shape->is_partial && buffer->space != IG_SPACE_INPUT) {
        int64_t size;
        IG_TRY(ig_session_size_buffer(session, operand->buffer, &size));
    }
    IG_TRY(evaluate_expr(session, index, operand->offset, 0, &offset));
    IG_TRY(evaluate_expr(session, index, operand->row_stride, 0, &stride));
    int64_t bytes = session->bytes[operand->buffer];
    if (stride < 0 || (offset < 0 && bytes > 0)) {
        return reaches_outside(session, index);
    }
    /* Of a view into no rows, whose other axes may begin after the end: nothing is
     * touched there. */
    offset = offset < 0 ? 0 : offset > bytes ? bytes : offset;
    shape->slot_offsets[slot] = offset;
    shape->slot_strides[slot] = buffer->space == IG_SPACE_WORKER ? IG_WORKER_STRIDE
                                                                 : stride;
    return IG_OK;
}

static ig_status resolve_operands(ig_session *session, uint32_t index) {
    const ig_plan_range range = session->plan->steps[index].operands;
    uint32_t slot = session->program->execs[index].slot;
    for (uint32_t i = 0; i < range.count; i++) {
        IG_TRY(resolve_operand(session, index, slot + i,
                               &session->plan->operands[range.first + i]));
    }
    return IG_OK;
}

void ig_session_patch_step(ig_session *session, uint32_t index) {
    const ig_plan_range range = session->plan->steps[index].operands;
    uint32_t slot = session->program->execs[index].slot;
    ig_shape *shape = session->shape;
    for (uint32_t i = 0; i < range.count; i++, slot++) {
        uint32_t buffer = session->plan->operands[range.first + i].buffer;
        if (buffer == IG_NONE) {
            shape->slots[slot] = NULL;
        } else if (shape->slot_strides[slot] == IG_WORKER_STRIDE) {
            int64_t offset = shape->buffer_offsets[buffer] + shape->slot_offsets[slot];
            assert(offset >= 0 && offset <= shape->worker_bytes &&
                   "a buffer reaches past its worker's memory");
            shape->slots[slot] = (void *)(uintptr_t)offset;
        } else {
            assert(session->bases[buffer] && "a buffer has no address yet");
            shape->slots[slot] = session->bases[buffer] + shape->slot_offsets[slot];
        }
    }
}

void ig_session_patch(ig_session *session) {
    for (uint32_t i = 0; i < session->plan->steps_count; i++) {
        if (!session->program->execs[i].is_late) {
            ig_session_patch_step(session, i);
        }
    }
}

void ig_session_patch_ports(ig_session *session) {
    const ig_shape *shape = session->shape;
    const ig_port_slot *ports = session->program->port_slots;
    char *const *bases = session->bases;
    uint32_t count = session->program->port_slot_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = ports[i].slot;
        assert(shape->slot_strides[slot] != IG_WORKER_STRIDE &&
               "a port is in the caller's memory");
        shape->slots[slot] = bases[ports[i].buffer] + shape->slot_offsets[slot];
    }
}

/* ---- launches ---- */

static ig_status resolve_list(ig_session *session, uint32_t index, ig_plan_range range,
                              int64_t *out_values) {
    for (uint32_t i = 0; i < range.count; i++) {
        IG_TRY(evaluate_expr(session, index, session->plan->lists[range.first + i], 0,
                             &out_values[i]));
    }
    return IG_OK;
}

/* Params, tiles and cost for the current values of the symbols. */
static ig_status resolve_tiles(ig_session *session, uint32_t index, int64_t *params,
                               int64_t *out_grid, double *out_cost) {
    const ig_plan_variant *variant = session->program->execs[index].variant;
    int64_t cost;
    IG_TRY(resolve_list(session, index, variant->params, params));
    IG_TRY(evaluate_expr(session, index, variant->grid, 1, out_grid));
    IG_TRY(evaluate_expr(session, index, variant->cost, -1, &cost));
    *out_cost = (double)cost;
    return IG_OK;
}

/* In rows: once for a full block, once for the last one when it is shorter. */
static ig_status resolve_block(ig_session *session, uint32_t index, uint32_t rows) {
    const ig_exec *exec = &session->program->execs[index];
    const ig_phase *phase =
        &session->shape->phases[session->program->execs[rows].launch];
    ig_launch *launch = &session->shape->launches[exec->launch];
    int64_t *params = session->shape->params + exec->param;
    int64_t *tail_params = params + exec->variant->params.count;
    int64_t *symbol = &session->symbols[session->plan->steps[rows].symbol];
    double tail_cost;
    assert(phase->block > 0 && "rows are resolved before their body");
    launch->tail_params = tail_params;
    *symbol = phase->block;
    IG_TRY(resolve_tiles(session, index, params, &launch->grid, &launch->cost));
    *symbol = phase->rows % phase->block;
    if (*symbol == 0) {
        return IG_OK;
    }
    return resolve_tiles(session, index, tail_params, &launch->tail_grid, &tail_cost);
}

ig_status ig_session_resolve_params(ig_session *session, uint32_t index) {
    const ig_exec *exec = &session->program->execs[index];
    ig_launch *launch = &session->shape->launches[exec->launch];
    if (exec->rows != IG_NONE) {
        return resolve_block(session, index, exec->rows);
    }
    return resolve_tiles(session, index, session->shape->params + exec->param,
                         &launch->grid, &launch->cost);
}

static void begin_launch(ig_session *session, uint32_t index) {
    const ig_exec *exec = &session->program->execs[index];
    const ig_plan_step *step = &session->plan->steps[index];
    ig_shape *shape = session->shape;
    assert(exec->launch < session->program->launch_count && "a launch was not counted");
    size_t splits = (size_t)session->queue->worker_count + 1;
    shape->launches[exec->launch] = (ig_launch){
        .kernel = exec->kernel,
        .buffers = shape->slots + exec->slot,
        .params = shape->params + exec->param,
        .bounds = shape->bounds + exec->launch * splits,
        .strides = shape->slot_strides + exec->slot,
        .buffer_count = step->operands.count,
        .param_count = exec->variant->params.count,
        .step = index,
        .threads = exec->variant->threads,
    };
}

static ig_status resolve_launch(ig_session *session, uint32_t index) {
    begin_launch(session, index);
    return ig_session_resolve_params(session, index);
}

/* Blocks that all workers have equally many of; bits do not depend on their size.  All
 * workers share the tiles of one block after the other where rows are few. */
static void share_rows(ig_phase *phase, int64_t workers) {
    bool has_parts = phase->block == 1 && phase->rows % workers == 0;
    phase->is_wide = workers > 1 && phase->rows < workers * IG_MIN_ROWS &&
                     (phase->rows <= phase->block || phase->block == 1) && !has_parts;
    if (workers > 1 && !phase->is_wide && phase->rows > 0) {
        int64_t blocks = (phase->rows - 1) / phase->block + 1;
        int64_t rounds = (blocks - 1) / workers + 1;
        phase->block = (phase->rows - 1) / (rounds * workers) + 1;
    }
}

static ig_status resolve_rows(ig_session *session, uint32_t index) {
    const ig_plan_step *step = &session->plan->steps[index];
    ig_phase *phase = &session->shape->phases[session->program->execs[index].launch];
    IG_TRY(evaluate_expr(session, index, step->value, 0, &phase->rows));
    IG_TRY(evaluate_expr(session, index, step->block, 0, &phase->block));
    if (phase->rows < 0 || phase->block < 1) {
        return reaches_outside(session, index);
    }
    share_rows(phase, session->queue->worker_count);
    return IG_OK;
}

ig_status ig_session_resolve(ig_session *session, uint32_t index) {
    IG_TRY(resolve_operands(session, index));
    if (session->plan->steps[index].kind == IG_STEP_rows) {
        return resolve_rows(session, index);
    }
    return session->program->execs[index].variant ? resolve_launch(session, index)
                                                  : IG_OK;
}

void ig_session_clear_step(ig_session *session, uint32_t index) {
    const ig_exec *exec = &session->program->execs[index];
    const ig_plan_step *step = &session->plan->steps[index];
    ig_shape *shape = session->shape;
    for (uint32_t i = 0; i < step->operands.count; i++) {
        shape->slot_offsets[exec->slot + i] = shape->slot_strides[exec->slot + i] = 0;
    }
    if (step->kind == IG_STEP_rows) {
        shape->phases[exec->launch].rows = 0;
        shape->phases[exec->launch].block = 1;
    } else if (exec->variant) {
        begin_launch(session, index);
    }
}

/* ---- dividing a phase among workers ---- */

static double tiles_cost(const ig_launch *launch) {
    double grid = launch->grid > 0 ? (double)launch->grid : 0;
    return launch->cost > 0 && grid > 0 ? launch->cost : grid * IG_UNKNOWN_TILE_NS;
}

/* Tiles form a line, each as long as it costs; the line is cut into equal parts, and
 * a tile belongs to the part in which it begins. */
static void split_tiles(const ig_phase *phase, int workers, double total) {
    double begin = 0;
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        const ig_launch *launch = &phase->launches[i];
        double cost = tiles_cost(launch);
        double tile = launch->grid > 0 ? cost / (double)launch->grid : 0;
        launch->bounds[0] = 0;
        for (int w = 1; w < workers; w++) {
            double at = tile > 0 ? ceil((total * w / workers - begin) / tile) : 0;
            int64_t bound = at <= 0                      ? 0
                            : at >= (double)launch->grid ? launch->grid
                                                         : (int64_t)at;
            launch->bounds[w] = bound > launch->bounds[w - 1] ? bound
                                                              : launch->bounds[w - 1];
        }
        launch->bounds[workers] = launch->grid > 0 ? launch->grid : 0;
        assert(launch->bounds[workers - 1] <= launch->bounds[workers] &&
               "bounds of workers must not decrease");
        begin += cost;
    }
}

void ig_session_split(ig_session *session, uint32_t index) {
    const ig_exec *exec = &session->program->execs[index];
    const ig_plan_step *step = &session->plan->steps[index];
    ig_shape *shape = session->shape;
    ig_phase *phase = &shape->phases[exec->launch];
    bool is_rows = step->kind == IG_STEP_rows;
    double total = 0, parts = 0;
    phase->launches = shape->launches + exec->launch + is_rows;
    phase->launch_count = exec->phase_count;
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        total += tiles_cost(&phase->launches[i]);
        parts += (double)phase->launches[i].grid;
    }
    if (is_rows) {
        parts = ceil((double)phase->rows / (double)phase->block);
        total *= parts;
    } else {
        split_tiles(phase, session->queue->worker_count, total);
    }
    phase->is_parallel = session->queue->worker_count > 1 && total >= IG_PARALLEL_NS &&
                         (parts > 1 || phase->is_wide);
    shape->pool_ns += phase->is_parallel ? total : 0;
}
