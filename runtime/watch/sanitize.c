/* Runs of programs whose kernels check their accesses (ingot compile --sanitize).
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernels see to the ends of buffers.  Their contents are checked here: memory
 * that holds no value is filled with bits that are NaN in every float and no id, offset
 * or extent, so whoever reads it shows it in the outputs or is reported.
 *
 *     a run begins      the arena, workers' memory and outputs
 *     a step begins     buffers that first live in it
 *     a step has ended  buffers that lived last in it
 *
 * And no two buffers that live at once may overlap.  Other programs know nothing of
 * this: their sessions have other functions of steps.
 */
#include "runtime/watch/watch.h"

#include <assert.h>
#include <string.h>

/* ---- filling ---- */

/* NaN as f16, bf16, f32 and f64 (a signalling one), large as an integer, true. */
static void fill_bytes(char *data, int64_t bytes) {
    static const unsigned char pattern[] = { 0xf7, 0x7f };
    for (int64_t i = 0; data && i < bytes; i++) {
        data[i] = (char)pattern[i % 2];
    }
}

static void fill_region(const ig_region *region) {
    fill_bytes(region->data, (int64_t)region->size);
}

/* Late ones have memory of their own, which may be larger than their content. */
static void fill_buffer(ig_session *session, uint32_t index) {
    if (session->late[index].data) {
        fill_region(&session->late[index]);
    } else if (session->shape->buffer_bytes[index] > 0) {
        fill_bytes(session->bases[index], session->shape->buffer_bytes[index]);
    }
}

/* Memory that an input has too holds a value: there the output has a shadow, or is in
 * the input's place. */
static void fill_outputs(ig_session *session) {
    for (uint32_t i = 0; i < session->plan->outputs_count; i++) {
        const ig_output *output = &session->outputs[i];
        if (ig_plan_is_in_place(session->plan, i)) {
            continue;
        }
        char *data = output->is_shadowed ? output->shadow.data : output->target;
        fill_bytes(data, session->shape->output_bytes[i]);
    }
}

static void fill_workers(ig_session *session) {
    const ig_queue *queue = session->queue;
    fill_bytes(queue->worker_memory, queue->worker_bytes * queue->worker_count);
}

/* ---- what lives when ---- */

/* The step after the phase, or the step and its bodies. */
static uint32_t end_of(const ig_session *session, uint32_t index) {
    const ig_exec *exec = &session->program->execs[index];
    bool is_launch = session->plan->steps[index].kind == IG_STEP_launch;
    return is_launch ? index + exec->phase_count : exec->end;
}

/* The loop around step `number`, or IG_NONE. */
static uint32_t loop_around(const ig_session *session, uint32_t index) {
    for (uint32_t i = index; i-- > 0;) {
        if (session->plan->steps[i].kind == IG_STEP_loop &&
            session->program->execs[i].end > index) {
            return i;
        }
    }
    return IG_NONE;
}

/* The outputs are copied from it at the end. */
static bool is_returned(const ig_plan *plan, uint32_t buffer) {
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        if (plan->outputs[i].buffer == buffer) {
            return true;
        }
    }
    return false;
}

/* Are its bodies steps of their own? */
static bool has_parts(const ig_plan *plan, uint32_t index) {
    uint32_t kind = plan->steps[index].kind;
    return kind == IG_STEP_if || kind == IG_STEP_loop || kind == IG_STEP_prepare;
}

/* Buffers that begin to live with step `number`; those of a body begin with a step of
 * it. */
static void fill_unborn(ig_session *session, uint32_t index) {
    const ig_plan *plan = session->plan;
    uint32_t end = has_parts(plan, index) ? index + 1 : end_of(session, index);
    for (uint32_t i = 0; i < plan->buffers_count; i++) {
        const ig_plan_buffer *buffer = &plan->buffers[i];
        if (buffer->space == IG_SPACE_ARENA && buffer->first >= index &&
            buffer->first < end) {
            fill_buffer(session, i);
        }
    }
    if (plan->steps[index].kind == IG_STEP_rows) {
        fill_workers(session);
    }
}

/* Buffers that nothing reads after step `number`.  One that was there before the loop
 * around it is read by the next trip.  Behind a branch or loop only those that lived to
 * its very end are filled: what died earlier may have left its memory to another. */
static void fill_dead(ig_session *session, uint32_t index) {
    const ig_plan *plan = session->plan;
    uint32_t end = end_of(session, index), loop = loop_around(session, index);
    uint32_t first = has_parts(plan, index) ? end - 1 : index;
    for (uint32_t i = 0; i < plan->buffers_count; i++) {
        const ig_plan_buffer *buffer = &plan->buffers[i];
        bool is_last = buffer->last >= first && buffer->last < end;
        if (buffer->space == IG_SPACE_ARENA && is_last &&
            (loop == IG_NONE || buffer->first > loop) && !is_returned(plan, i)) {
            fill_buffer(session, i);
        }
    }
}

/* ---- overlaps ---- */

/* Launches of a phase run at the same time. */
static uint32_t phase_of(const ig_session *session, uint32_t step, bool is_end) {
    const ig_exec *execs = session->program->execs;
    if (execs[step].rows != IG_NONE) {
        return step;
    }
    for (uint32_t first = step + 1; first-- > 0;) {
        if (execs[first].phase_count > 0 && step < first + execs[first].phase_count) {
            return is_end ? first + execs[first].phase_count - 1 : first;
        }
        if (session->plan->steps[first].kind != IG_STEP_launch) {
            break;
        }
    }
    return step;
}

/* The buffers of the arena that have bytes and a place, into session->lives. */
static size_t collect_lives(const ig_session *session) {
    const ig_plan *plan = session->plan;
    size_t count = 0;
    for (uint32_t i = 0; i < plan->buffers_count; i++) {
        const ig_plan_buffer *buffer = &plan->buffers[i];
        int64_t bytes = session->shape->buffer_bytes[i];
        if (buffer->space == IG_SPACE_ARENA && bytes > 0) {
            session->lives[count++] = (ig_life){
                .bytes = bytes,
                .offset = session->shape->buffer_offsets[i],
                .first = phase_of(session, buffer->first, false),
                .last = phase_of(session, buffer->last, true),
                .id = i,
            };
        }
    }
    return count;
}

static bool lives_meet(const ig_life *a, const ig_life *b) {
    return a->first <= b->last && b->first <= a->last &&
           a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static ig_status refuse_overlap(ig_session *session, const ig_life *a,
                                const ig_life *b) {
    const ig_plan *plan = session->plan;
    return ig_message_set(
        &session->message, IG_INTERNAL,
        "a defect of Ingot: values %u '%s' (steps %u to %u) and %u '%s' (steps %u to %u) "
        "share memory",
        (unsigned)a->id, ig_plan_string(plan, plan->buffers[a->id].name),
        (unsigned)a->first, (unsigned)a->last, (unsigned)b->id,
        ig_plan_string(plan, plan->buffers[b->id].name), (unsigned)b->first,
        (unsigned)b->last);
}

static ig_status check_overlaps(ig_session *session) {
    size_t count = collect_lives(session);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (lives_meet(&session->lives[i], &session->lives[k])) {
                return refuse_overlap(session, &session->lives[k], &session->lives[i]);
            }
        }
    }
    return IG_OK;
}

/* ---- steps ---- */

static ig_status begin_run(ig_session *session) {
    IG_TRY(check_overlaps(session));
    fill_bytes(session->arena.data, session->shape->arena_bytes);
    fill_workers(session);
    fill_outputs(session);
    return IG_OK;
}

/* The host fills memory, so nothing may be left in the queue. */
static ig_status sanitize_step(ig_session *session, uint32_t index) {
    uint32_t kind = session->plan->steps[index].kind;
    IG_TRY(ig_queue_finish(session->queue));
    IG_TRY(index == 0 ? begin_run(session) : IG_OK);
    fill_unborn(session, index);
    IG_TRY(session->watched->steps[kind](session, index));
    IG_TRY(ig_queue_finish(session->queue));
    IG_TRY(session->queue->has_report ? session->watched->take_report(session) : IG_OK);
    fill_dead(session, index);
    return IG_OK;
}

ig_step_fn *const ig_watch_sanitized_steps[IG_STEP_COUNT] = {
#define SANITIZE_STEP(name, meaning) [IG_STEP_##name] = sanitize_step,
    IG_PLAN_STEPS(SANITIZE_STEP)
#undef SANITIZE_STEP
};
