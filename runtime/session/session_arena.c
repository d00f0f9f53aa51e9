/* Which memory the values between steps share, and how near that is to the min.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/session/session.h"

#include <assert.h>
#include <string.h>

/* Launches of one phase run at the same time, so a life that begins in a phase begins
 * with it: then it overlaps with every other that touches the phase. */
static ig_life widen_life(const ig_session *session, ig_life life) {
    const ig_exec *execs = session->program->execs;
    const ig_plan_step *steps = session->plan->steps;
    if (execs[life.first].rows != IG_NONE) {
        return life; /* one worker runs a block's launches in order */
    }
    assert(life.first <= life.last && life.last < session->plan->steps_count &&
           "a life of no steps");
    while (steps[life.first].flags & IG_STEP_JOINS) {
        assert(life.first > 0 && "the first step joins no phase");
        life.first--;
    }
    return life;
}

/* Into session->lives: the buffers of a space that have a size; in the arena also the
 * workers' own memory, as one that lives from the first body of rows to the last. */
static size_t collect_lives(const ig_session *session, ig_space space) {
    const ig_plan *plan = session->plan;
    ig_life workers = { .first = UINT32_MAX, .id = plan->buffers_count };
    size_t count = 0;
    if (space == IG_SPACE_ARENA) {
        workers.bytes = session->shape->worker_bytes * session->queue->worker_count;
    }
    for (uint32_t i = 0; i < plan->buffers_count; i++) {
        const ig_plan_buffer *buffer = &plan->buffers[i];
        int64_t bytes = session->shape->buffer_bytes[i];
        if (buffer->space == space && bytes > 0) {
            ig_life life = {
                .bytes = bytes, .first = buffer->first, .last = buffer->last, .id = i
            };
            session->lives[count++] = widen_life(session, life);
        }
        if (buffer->space == IG_SPACE_WORKER) {
            workers.first = buffer->first < workers.first ? buffer->first
                                                          : workers.first;
            workers.last = buffer->last > workers.last ? buffer->last : workers.last;
        }
    }
    if (workers.bytes > 0) {
        session->lives[count++] = workers;
    }
    return count;
}

bool ig_session_plan_space(ig_session *session, ig_space space, int64_t *out_bytes) {
    size_t count = collect_lives(session, space);
    if (!ig_memory_plan(session->lives, count, out_bytes)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        assert(session->lives[i].offset + session->lives[i].bytes <= *out_bytes &&
               "a buffer reaches past its space");
        session->shape->buffer_offsets[session->lives[i].id] = session->lives[i].offset;
    }
    return true;
}

void ig_session_get_facts(const ig_session *session, ig_session_facts *facts) {
    ig_session_facts all = {
        .size = facts->size,
        .memory = ig_session_memory(session),
        .threads = session->queue->worker_count,
        .stream = session->stream,
    };
    if (session->shape) {
        size_t count = collect_lives(session, IG_SPACE_ARENA);
        all.arena_bytes = session->shape->arena_bytes;
        all.arena_min = ig_memory_min(session->lives, count);
    }
    memcpy(facts, &all, facts->size < sizeof all ? facts->size : sizeof all);
}
