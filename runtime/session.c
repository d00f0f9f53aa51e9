/* Creating and destroying sessions.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/session.h"

#include "base/checked.h"
#include "runtime/cpu/pool.h"

#include <string.h>

static ig_session *cut_session(ig_cutter *c, const ig_plan *plan, int workers) {
    ig_session *session = ig_cut(c, 1, sizeof *session);
    ig_session parts = {
        .symbols = ig_cut(c, plan->symbols_count, sizeof *parts.symbols),
        .inputs = ig_cut(c, plan->inputs_count, sizeof *parts.inputs),
        .given = ig_cut(c, plan->states_count ? plan->inputs_count : 0,
                        sizeof *parts.given),
        .state_outputs = ig_cut(c, plan->states_count, sizeof *parts.state_outputs),
        .outputs = ig_cut(c, plan->outputs_count, sizeof *parts.outputs),
        .bases = ig_cut(c, plan->buffers_count, sizeof *parts.bases),
        .bytes = ig_cut(c, plan->buffers_count, sizeof *parts.bytes),
        .late = ig_cut(c, plan->buffers_count, sizeof *parts.late),
        .lives = ig_cut(c, plan->buffers_count, sizeof *parts.lives),
        .team.workers = ig_cut(c, (size_t)workers, sizeof *parts.team.workers),
    };
    if (session) {
        *session = parts;
    }
    return session;
}

/* ---- create ---- */

static ig_session_options complete(const ig_session_options *options) {
    ig_session_options all = { .size = sizeof all };
    if (options) {
        memcpy(&all, options, options->size < sizeof all ? options->size : sizeof all);
    }
    return all;
}

static ig_status check_options(const ig_session_options *options,
                               const ig_message *message) {
    if (!options->allocate != !options->release) {
        return ig_message_set(message, IG_INVALID,
                              "give both allocate and release, or neither");
    }
    if (options->arena_size > 0 && !options->arena) {
        return ig_message_set(message, IG_INVALID, "arena_size without an arena");
    }
    return IG_OK;
}

static ig_status find_pool(const ig_session_options *options, ig_thread_pool **out_pool,
                           const ig_message *message) {
    *out_pool = options->pool;
    if (options->pool) {
        ig_thread_pool_retain(options->pool);
        return IG_OK;
    }
    if (options->threads == 0 || options->threads == 1) {
        return IG_OK;
    }
    return ig_thread_pool_create(
        &(ig_thread_pool_options){ .size = sizeof(ig_thread_pool_options),
                                   .threads = options->threads,
                                   .message = message->text,
                                   .message_size = message->size },
        out_pool);
}

static void take_arena(ig_session *session, const ig_session_options *options) {
    session->owns_arena = options->arena == NULL;
    if (options->arena) {
        size_t skip = (size_t) - (uintptr_t)options->arena % IG_LIFE_ALIGN;
        size_t size = options->arena_size > skip ? options->arena_size - skip : 0;
        session->arena = (ig_region){ (char *)options->arena + skip, size };
    }
}

/* What each worker keeps of the session's regions. */
static bool take_workers(ig_session *session) {
    const ig_program *program = session->program;
    ig_team *team = &session->team;
    size_t scratch = ig_align_up(program->scratch, IG_MEMORY_ALIGN);
    size_t table = ig_align_up(program->table_size * sizeof(void *), IG_MEMORY_ALIGN);
    size_t each = scratch + table;
    if (!ig_region_reserve(&session->memory, &session->scratch,
                           (size_t)team->size * each, false)) {
        return false;
    }
    for (int i = 0; i < team->size; i++) {
        char *memory = session->scratch.data + (size_t)i * each;
        team->workers[i].report.operand = -1;
        team->workers[i].scratch = memory;
        team->workers[i].table = (void **)(void *)(memory + scratch);
    }
    return true;
}

static ig_session *allocate_session(ig_program *program, ig_memory *memory,
                                    ig_thread_pool *pool) {
    int workers = pool ? ig_thread_pool_threads(pool) : 1;
    ig_cutter c = { NULL, 0 };
    (void)cut_session(&c, &program->plan, workers);
    size_t bytes = c.used;
    c = (ig_cutter){ ig_memory_take(memory, bytes), 0 };
    if (!c.memory) {
        return NULL;
    }
    memset(c.memory, 0, bytes);
    ig_session *session = cut_session(&c, &program->plan, workers);
    session->self_bytes = bytes;
    session->memory = *memory;
    session->program = program;
    session->plan = &program->plan;
    session->device = program->device;
    session->run_steps = ig_session_steps;
    session->message = (ig_message){ session->error, sizeof session->error };
    session->team.size = workers;
    session->team.pool = pool;
    session->team.state = &session->state;
    ig_program_retain(program);
    return session;
}

ig_status ig_session_create(ig_program *program, const ig_session_options *options,
                            ig_session **out_session) {
    ig_session_options all = complete(options);
    ig_message message = { all.message, all.message_size };
    ig_thread_pool *pool = NULL;
    *out_session = NULL;
    IG_TRY(check_options(&all, &message));
    IG_TRY(find_pool(&all, &pool, &message));
    ig_memory memory;
    ig_memory_init(&memory);
    if (all.allocate) {
        memory = (ig_memory){ all.allocate, all.release, all.memory_user, 0 };
    }
    ig_session *session = allocate_session(program, &memory, pool);
    if (!session) {
        ig_thread_pool_destroy(pool);
        return ig_message_set(&message, IG_LIMIT, "out of memory for a session");
    }
    take_arena(session, &all);
    ig_session_reset(session);
    if (!take_workers(session)) {
        ig_session_destroy(session);
        return ig_message_set(&message, IG_LIMIT, "out of memory for a session");
    }
    *out_session = session;
    return IG_OK;
}

/* ---- destroy ---- */

static void free_regions(ig_session *session) {
    ig_memory *memory = &session->memory;
    for (uint32_t i = 0; i < session->plan->outputs_count; i++) {
        ig_region_free(memory, &session->outputs[i].own);
        ig_region_free(memory, &session->outputs[i].shadow);
    }
    for (uint32_t i = 0; i < session->plan->buffers_count; i++) {
        ig_region_free(memory, &session->late[i]);
    }
    if (session->owns_arena) {
        ig_region_free(memory, &session->arena);
    }
    ig_region_free(memory, &session->workers_memory);
    ig_region_free(memory, &session->scratch);
}

void ig_session_destroy(ig_session *session) {
    if (!session) {
        return;
    }
    free_regions(session);
    for (size_t i = 0; i < IG_SHAPES; i++) {
        ig_memory_give(&session->memory, session->shapes[i].block,
                       session->shape_bytes);
    }
    ig_thread_pool_destroy(session->team.pool);
    ig_program_close(session->program);
    ig_memory memory = session->memory;
    ig_memory_give(&memory, session, session->self_bytes);
}

/* ---- small ones ---- */

const char *ig_session_error(const ig_session *session) {
    return session->error;
}

void ig_session_cancel(ig_session *session) {
    int expected = IG_RUN_ACTIVE;
    (void)atomic_compare_exchange_strong(&session->state, &expected, IG_RUN_CANCELLED);
}

void ig_session_set_deadline(ig_session *session, int64_t ns) {
    session->deadline_ns = ns;
}

size_t ig_session_memory(const ig_session *session) {
    return session->memory.held;
}
