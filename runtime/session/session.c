/* Creating and destroying sessions.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/session/session.h"

#include "base/checked.h"
#include "base/sized.h"

#include <string.h>

static ig_session *cut_session(ig_cutter *c, const ig_plan *plan) {
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
        .lives = ig_cut(c, plan->buffers_count + (size_t)1, sizeof *parts.lives),
    };
    if (session) {
        *session = parts;
    }
    return session;
}

/* ---- create ---- */

static ig_status complete_options(const ig_session_options *options,
                                  ig_session_options *all) {
    *all = (ig_session_options){ .size = sizeof *all };
    if (ig_sized_take(all, sizeof *all, options)) {
        return IG_OK;
    }
    ig_message message = { options->message, options->message_size, NULL };
    return ig_message_set(&message, IG_INVALID, IG_UNSIZED_WORDS, "ig_session_options");
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

static ig_status take_ranks(ig_session *session, ig_ranks *ranks,
                            const ig_message *message) {
    session->ranks = ranks;
    if (ranks && ranks->version != IG_RANKS_VERSION) {
        return ig_message_set(message, IG_UNSUPPORTED,
                              "libingot-group is of another version than this runtime");
    }
    return ranks || !session->program->needs_ranks
               ? IG_OK
               : ig_message_set(
                     message, IG_INVALID,
                     "this is the program of one rank: give its session the "
                     "group in which the ranks meet (ig_session_options.ranks)");
}

static void take_arena(ig_session *session, const ig_session_options *options) {
    session->owns_arena = options->arena == NULL;
    if (options->arena) {
        size_t skip = (size_t) - (uintptr_t)options->arena % IG_LIFE_ALIGN;
        size_t size = options->arena_size > skip ? options->arena_size - skip : 0;
        session->arena = (ig_region){ (char *)options->arena + skip, size };
    }
}

static ig_session *allocate_session(ig_program *program, ig_memory memory,
                                    const ig_log *log) {
    ig_cutter c = { NULL, 0 };
    (void)cut_session(&c, &program->plan);
    size_t bytes = c.used;
    c = (ig_cutter){ ig_memory_take(&memory, bytes), 0 };
    if (!c.memory) {
        return NULL;
    }
    memset(c.memory, 0, bytes);
    ig_session *session = cut_session(&c, &program->plan);
    assert(c.used == bytes && "counting and cutting disagree");
    session->self_bytes = bytes;
    session->host = memory;
    session->texts.memory = &session->host;
    session->program = program;
    session->plan = &program->plan;
    session->run_steps = ig_session_steps;
    session->message = (ig_message){ session->error, sizeof session->error, log };
    ig_program_retain(program);
    return session;
}

static ig_status open_queue(ig_session *session, const ig_session_options *options,
                            const ig_message *message) {
    const ig_program *program = session->program;
    const ig_device *device = program->device;
    ig_queue_options with = { .memory = &session->host,
                              .message = *message,
                              .pool = options->pool,
                              .threads = options->threads,
                              .scratch = program->scratch,
                              .table_size = program->table_size,
                              .state = &session->state };
    IG_TRY(device->verbs->open_queue(device, &with, &session->queue));
    session->queue->message = session->message; /* the options' lives no longer */
    return IG_OK;
}

ig_status ig_session_create(ig_program *program, const ig_session_options *options,
                            ig_session **out_session) {
    ig_session_options all;
    *out_session = NULL;
    IG_TRY(complete_options(options, &all));
    ig_message message = { all.message, all.message_size, all.log };
    IG_TRY(check_options(&all, &message));
    ig_memory own = { all.allocate, all.release, all.memory_user, 0, 0 };
    ig_session *session =
        allocate_session(program, all.allocate ? own : ig_memory_host(), all.log);
    if (!session) {
        return ig_message_set(&message, IG_LIMIT, "out of memory for a session");
    }
    session->staging = program->device->verbs->staging;
    session->memory = all.allocate && !session->staging
                          ? own
                          : ig_device_memory(program->device);
    session->memory.limit = all.memory_limit;
    session->late_limit = all.late_limit;
    take_arena(session, &all);
    ig_session_reset(session);
    ig_status status = take_ranks(session, all.ranks, &message);
    status = status == IG_OK ? open_queue(session, &all, &message) : status;
    status = status == IG_OK ? ig_session_begin_watch(session, &message) : status;
    status = status == IG_OK && session->staging
                 ? session->staging->open(session, &all, &message)
                 : status;
    status = status == IG_OK ? ig_session_begin_capture(session, &message) : status;
    if (status != IG_OK) {
        ig_session_destroy(session);
        return status;
    }
    *out_session = session;
    return IG_OK;
}

/* ---- destroy ---- */

static void free_regions(ig_session *session) {
    ig_memory *memory = &session->memory;
    uint32_t callers = ig_session_callers(session, session->plan->outputs_count);
    for (uint32_t i = 0; i < session->plan->outputs_count; i++) {
        bool is_host = session->staging && i < callers;
        ig_region_free(is_host ? &session->host : memory, &session->outputs[i].own);
        ig_region_free(memory, &session->outputs[i].shadow);
    }
    for (uint32_t i = 0; i < session->plan->buffers_count; i++) {
        ig_region_free(memory, &session->late[i]);
    }
    if (session->owns_arena) {
        ig_region_free(memory, &session->arena);
    }
    ig_region_free(memory, &session->kept);
}

void ig_session_destroy(ig_session *session) {
    if (!session) {
        return;
    }
    ig_session_close_starter(session);
    if (session->capture) {
        session->capture->close(session->capture);
    }
    ig_texts_free(&session->texts);
    free_regions(session);
    if (session->staged) {
        session->staging->close(session);
    }
    assert(session->memory.held == 0 && "a region was not given back");
    for (size_t i = 0; i < IG_SHAPES; i++) {
        ig_memory_give(&session->host, session->shapes[i].block, session->shape_bytes);
    }
    if (session->queue) {
        session->program->device->verbs->close_queue(session->queue);
    }
    ig_program_close(session->program);
    ig_memory host = session->host;
    assert(host.held == session->self_bytes && "a block was not given back");
    ig_memory_give(&host, session, session->self_bytes);
}

/* ---- small ones ---- */

const char *ig_session_error(const ig_session *session) {
    return session->is_started ? "a run was started, and not waited for"
                               : session->error;
}

void ig_session_cancel(ig_session *session) {
    int expected = IG_RUN_ACTIVE;
    (void)atomic_compare_exchange_strong(&session->state, &expected, IG_RUN_CANCELLED);
}

void ig_session_set_deadline(ig_session *session, int64_t ns) {
    session->deadline_ns = ns;
}

void ig_session_weights_changed(ig_session *session) {
    session->is_prepared = false;
}

size_t ig_session_memory(const ig_session *session) {
    return session->host.held + session->memory.held;
}
