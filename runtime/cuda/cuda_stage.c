/* Inputs and outputs of sessions on a GPU.  SPDX-License-Identifier: Apache-2.0
 *
 * A run copies one block (cuda_stage.h).  Ports in the GPU's own
 * memory are used where they are.
 */
#include "runtime/cuda/cuda_stage.h"

#include "base/checked.h"
#include "base/platform/clock.h"

#include <string.h>

/* ---- sessions ---- */

static ig_staged *cut_staged(ig_cutter *c, const ig_session *session) {
    const ig_plan *plan = session->plan;
    ig_staged *staged = ig_cut(c, 1, sizeof *staged);
    ig_staged parts = {
        .input_at = ig_cut(c, plan->inputs_count, sizeof *parts.input_at),
        .output_at = ig_cut(c, plan->outputs_count, sizeof *parts.output_at),
        .steps = ig_cut(c, session->program->launch_count, sizeof *parts.steps),
    };
    if (c->memory) {
        *staged = parts;
    }
    return staged;
}

static bool is_straight(const ig_session *session) {
    const ig_plan *plan = session->plan;
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        if (plan->steps[i].kind != IG_STEP_launch ||
            session->program->execs[i].is_late) {
            return false;
        }
    }
    return true;
}

static void list_launches(ig_session *session) {
    const ig_plan *plan = session->plan;
    ig_staged *staged = session->staged;
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        if (plan->steps[i].kind == IG_STEP_launch) {
            staged->steps[staged->launch_count++] = i;
        }
    }
}

/* In place of the queue's own. */
static ig_status take_stream(ig_session *session, void *stream,
                             const ig_message *message) {
    ig_cuda_queue *queue = ig_cuda_session_queue(session);
    if (stream) {
        IG_TRY(ig_cuda_queue_take_stream(queue, stream, message));
    }
    session->stream = queue->stream;
    return IG_OK;
}

static ig_status open_stage(ig_session *session, const ig_session_options *options,
                            const ig_message *message) {
    ig_cutter c = { NULL, 0 };
    if (session->watched->session_size != sizeof *session) {
        return ig_message_set(message, IG_INVALID, IG_CUDA_OTHER_BUILD);
    }
    if (options->arena) {
        return ig_message_set(message, IG_UNSUPPORTED,
                              "an arena in the host's memory is of no use to a GPU");
    }
    (void)cut_staged(&c, session);
    size_t size = c.used;
    c = (ig_cutter){ ig_memory_take(&session->host, size), 0 };
    if (!c.memory) {
        return ig_message_set(message, IG_LIMIT, "out of memory for a session");
    }
    session->staged = cut_staged(&c, session);
    session->staged->self_bytes = size;
    session->staged->is_straight = is_straight(session);
    list_launches(session);
    return take_stream(session, options->stream, message);
}

static void free_blocks(ig_session *session) {
    ig_staged *staged = session->staged;
    const ig_cuda_device *gpu = ig_cuda_of(session->program->device);
    ig_memory_give(&session->memory, staged->block, staged->size);
    if (staged->pinned && ig_cuda_enter_to_give(gpu)) {
        int error = gpu->driver.pinned_free(staged->pinned);
        ig_cuda_leave_quietly(gpu, error);
    }
    staged->block = staged->pinned = NULL;
    staged->size = 0;
}

static void close_stage(ig_session *session) {
    ig_staged *staged = session->staged;
    const ig_cuda_device *gpu = ig_cuda_of(session->program->device);
    if (session->queue && ig_cuda_enter_to_give(gpu)) {
        ig_cuda_drop_graphs(session);
        ig_cuda_leave_quietly(gpu, 0);
    }
    free_blocks(session);
    ig_region_free(&session->host, &staged->host);
    ig_memory_give(&session->host, staged, staged->self_bytes);
}

/* ---- the block ---- */

static size_t take_room(size_t *end, size_t bytes) {
    size_t at = *end;
    *end = ig_align_up(at + bytes, IG_CUDA_ALIGN);
    return at;
}

static bool is_weight(const ig_session *session, uint32_t input) {
    return (session->plan->inputs[input].flags & IG_PORT_WEIGHT) != 0;
}

/* State is in the GPU's memory, whatever its view says. */
static bool is_staged_input(const ig_session *session, uint32_t input) {
    uint32_t callers = ig_session_callers(session, session->plan->inputs_count);
    return input < callers && session->inputs[input].memory == IG_MEMORY_HOST;
}

static void place_inputs(ig_session *session, bool are_weights, size_t *end) {
    const ig_plan *plan = session->plan;
    for (uint32_t i = 0; i < plan->inputs_count; i++) {
        if (is_weight(session, i) == are_weights) {
            size_t bytes = (size_t)session->bytes[plan->inputs[i].buffer];
            session->staged->input_at[i] = is_staged_input(session, i)
                                               ? take_room(end, bytes)
                                               : IG_CUDA_NOWHERE;
        }
    }
}

/* Outputs of a known size that kernels write to a buffer of their own. */
static bool is_staged_output(const ig_session *session, uint32_t output) {
    return session->shape->output_bytes[output] >= 0 &&
           ig_plan_has_own_buffer(session->plan, output) &&
           !ig_plan_is_in_place(session->plan, output) &&
           !ig_session_is_far(session, output);
}

static void lay_out(ig_session *session) {
    const ig_plan *plan = session->plan;
    const ig_program *program = session->program;
    ig_staged *staged = session->staged;
    size_t end = 0;
    place_inputs(session, true, &end);
    staged->outputs = end;
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        staged->output_at[i] = is_staged_output(session, i)
                                   ? take_room(&end,
                                               (size_t)session->shape->output_bytes[i])
                                   : IG_CUDA_NOWHERE;
    }
    staged->reports = take_room(&end, staged->launch_count * sizeof(ig_cuda_report));
    staged->tables = take_room(
        &end, ((size_t)program->slot_count + program->param_count) * sizeof(int64_t));
    staged->inputs = end;
    place_inputs(session, false, &end);
    staged->end = end;
}

static ig_status pin_block(ig_session *session, size_t size) {
    const ig_cuda_device *gpu = ig_cuda_of(session->program->device);
    const char *subject = "pinned memory for a session";
    void *pinned = NULL;
    IG_TRY(ig_cuda_enter(gpu, subject, &session->message));
    int error = gpu->driver.pinned_alloc(&pinned, size);
    session->staged->pinned = error ? NULL : pinned;
    return ig_cuda_leave(gpu, error, subject, &session->message);
}

static ig_status reserve_blocks(ig_session *session) {
    ig_staged *staged = session->staged;
    if (staged->end <= staged->size) {
        return IG_OK;
    }
    size_t size = staged->end + staged->end / 4;
    free_blocks(session);
    session->is_prepared = false; /* weights go with the block */
    staged->is_stale = true;
    staged->block = ig_memory_take(&session->memory, size);
    if (!staged->block) {
        return ig_message_set(&session->message, IG_LIMIT,
                              "%s for %zu bytes of inputs and outputs",
                              ig_memory_refusal(&session->memory, size), size);
    }
    staged->size = size;
    ig_status status = pin_block(session, size);
    if (status != IG_OK) {
        free_blocks(session);
    }
    return status;
}

/* ---- bind ---- */

/* An output in an input's memory is written there by kernels. */
static ig_status check_in_place(ig_session *session) {
    const ig_plan *plan = session->plan;
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        uint32_t input = plan->outputs[i].in_place_of;
        if (input != IG_NONE && is_staged_input(session, input)) {
            return ig_message_set(&session->message, IG_UNSUPPORTED,
                                  "input '%s' is written in place: on a GPU its memory "
                                  "must be the GPU's",
                                  ig_plan_string(plan, plan->inputs[input].name));
        }
    }
    return IG_OK;
}

/* Kernels read and write 16 bytes at once. */
static ig_status check_alignment(ig_session *session, const char *kind,
                                 const char *name, const void *data) {
    enum { ACCESS_BYTES = 16 };
    return (uintptr_t)data % ACCESS_BYTES == 0
               ? IG_OK
               : ig_message_set(
                     &session->message, IG_INVALID,
                     "%s '%s' in the GPU's memory is not aligned to %d bytes", kind,
                     name, ACCESS_BYTES);
}

static ig_status check_alignments(ig_session *session) {
    const ig_plan *plan = session->plan;
    for (uint32_t i = 0; i < plan->inputs_count; i++) {
        if (!is_staged_input(session, i)) {
            IG_TRY(check_alignment(session, "input",
                                   ig_plan_string(plan, plan->inputs[i].name),
                                   session->inputs[i].data));
        }
    }
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        if (ig_session_is_far(session, i)) {
            IG_TRY(check_alignment(session, "output",
                                   ig_plan_string(plan, plan->outputs[i].name),
                                   session->outputs[i].target));
        }
    }
    return IG_OK;
}

static void set_bases(ig_session *session) {
    const ig_plan *plan = session->plan;
    const ig_staged *staged = session->staged;
    for (uint32_t i = 0; i < plan->inputs_count; i++) {
        if (staged->input_at[i] != IG_CUDA_NOWHERE) {
            session->bases[plan->inputs[i].buffer] = staged->block +
                                                     staged->input_at[i];
        }
    }
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        if (staged->output_at[i] != IG_CUDA_NOWHERE) {
            session->bases[plan->outputs[i].buffer] = staged->block +
                                                      staged->output_at[i];
        }
    }
}

static ig_status place_ports(ig_session *session, bool is_new) {
    IG_TRY(check_in_place(session));
    IG_TRY(check_alignments(session));
    lay_out(session);
    IG_TRY(reserve_blocks(session));
    set_bases(session);
    session->staged->is_stale |= is_new;
    return IG_OK;
}

/* ---- runs ---- */

/* The tables as the shape has them, and where launches find them. */
static void write_tables(ig_session *session) {
    ig_staged *staged = session->staged;
    const ig_program *program = session->program;
    const ig_shape *shape = session->shape;
    size_t slots = program->slot_count * sizeof *shape->slots;
    size_t params = program->param_count * sizeof *shape->params;
    char *to = staged->pinned + staged->tables;
    memcpy(to, shape->slots, slots);
    memcpy(to + slots, shape->params, params);
    ig_cuda_address at = ig_cuda_address_of(staged->block + staged->tables);
    ig_cuda_session_queue(session)->tables = (ig_cuda_tables){
        .slots = at,
        .params = at + slots,
        .host_slots = (const char *)shape->slots,
        .host_params = (const char *)shape->params,
        .execs = program->execs,
    };
    staged->is_stale = false;
}

static void write_inputs(ig_session *session, bool are_weights) {
    const ig_plan *plan = session->plan;
    const ig_staged *staged = session->staged;
    for (uint32_t i = 0; i < plan->inputs_count; i++) {
        if (staged->input_at[i] != IG_CUDA_NOWHERE &&
            is_weight(session, i) == are_weights) {
            size_t bytes = (size_t)session->bytes[plan->inputs[i].buffer];
            if (bytes) {
                memcpy(staged->pinned + staged->input_at[i], session->inputs[i].data,
                       bytes);
            }
        }
    }
}

static void clear_reports(const ig_staged *staged) {
    ig_cuda_report *reports = (void *)(staged->pinned + staged->reports);
    for (uint32_t i = 0; i < staged->launch_count; i++) {
        reports[i] = (ig_cuda_report){ .operand = -1 };
    }
}

/* One range of the block, to the GPU or from it. */
static ig_status copy_range(ig_session *session, ig_copy_kind kind, size_t begin,
                            size_t end) {
    const ig_staged *staged = session->staged;
    char *near = staged->pinned + begin, *far = staged->block + begin;
    bool is_in = kind == IG_COPY_IN;
    return ig_queue_copy(session->queue, kind, is_in ? far : near, is_in ? near : far,
                         (int64_t)(end - begin));
}

static ig_status copy_in(ig_session *session) {
    const ig_staged *staged = session->staged;
    if (staged->is_stale) {
        write_tables(session);
    }
    if (!session->is_prepared && staged->outputs > 0) {
        write_inputs(session, true);
        IG_TRY(copy_range(session, IG_COPY_IN, 0, staged->outputs));
    }
    write_inputs(session, false);
    clear_reports(staged);
    return copy_range(session, IG_COPY_IN, staged->reports, staged->end);
}

static ig_status launch_straight(ig_session *session) {
    const ig_staged *staged = session->staged;
    ig_cuda_queue *queue = ig_cuda_session_queue(session);
    const ig_cuda_device *gpu = ig_cuda_gpu_of(queue);
    for (uint32_t i = 0; i < staged->launch_count; i++) {
        IG_TRY(ig_cuda_check_grid(queue, &session->shape->launches[i]));
    }
    IG_TRY(ig_cuda_enter(gpu, "launches on the GPU", &session->message));
    session->queue->last++;
    int error = ig_cuda_launch_all(session);
    IG_TRY(ig_cuda_leave(gpu, error, "launches on the GPU", &session->message));
    queue->staged_reports = (const void *)(staged->pinned + staged->reports);
    queue->staged_steps = staged->steps;
    queue->staged_count = staged->launch_count;
    return copy_range(session, IG_COPY_OUT, staged->outputs, staged->tables);
}

/* Between launches of a graph nobody looks. */
static ig_status check_stop(ig_session *session) {
    bool is_late = session->stop_at_ns > 0 && ig_clock_ns() >= session->stop_at_ns;
    if (atomic_load(&session->state) == IG_RUN_CANCELLED || is_late) {
        return ig_message_set(&session->message, IG_CANCELLED,
                              is_late ? "the run passed its deadline"
                                      : "the run was cancelled");
    }
    return IG_OK;
}

static ig_status run_stage(ig_session *session) {
    const ig_staged *staged = session->staged;
    IG_TRY(copy_in(session));
    if (staged->is_straight) {
        IG_TRY(check_stop(session));
        return launch_straight(session);
    }
    IG_TRY(session->watched->walk(session));
    return copy_range(session, IG_COPY_OUT, staged->outputs, staged->reports);
}

static void finish_stage(ig_session *session) {
    const ig_staged *staged = session->staged;
    for (uint32_t i = 0; i < session->plan->outputs_count; i++) {
        size_t bytes = (size_t)session->shape->output_bytes[i];
        if (staged->output_at[i] != IG_CUDA_NOWHERE && bytes) {
            memcpy(session->outputs[i].target, staged->pinned + staged->output_at[i],
                   bytes);
        }
    }
}

static ig_status profile_stage(ig_session *session, ig_staging_notify *notify,
                               void *user) {
    return ig_cuda_queue_profile(ig_cuda_session_queue(session), notify, user);
}

const ig_staging ig_cuda_staging = {
    .load = ig_cuda_load_constants,
    .unload = ig_cuda_unload_constants,
    .open = open_stage,
    .close = close_stage,
    .place_ports = place_ports,
    .run = run_stage,
    .finish = finish_stage,
    .fetch = ig_cuda_fetch,
    .store = ig_cuda_store,
    .profile = profile_stage,
};
