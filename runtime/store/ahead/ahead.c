/* Look-ahead: batches pass through a ring of slots.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/store/ahead/ahead.h"

#include "base/sized.h"
#include "runtime/store/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_DEPTH = 2, MAX_DEPTH = 1024 };

/* ---- the look-ahead's thread ---- */

static void lock_queue(ig_lookahead *ahead) {
    (void)pthread_mutex_lock(&ahead->mutex);
}

static void unlock_queue(ig_lookahead *ahead) {
    (void)pthread_mutex_unlock(&ahead->mutex);
}

/* The next batch's slot, or NULL at the end. */
static ig_ahead_slot *await_batch(ig_lookahead *ahead) {
    lock_queue(ahead);
    while (!ahead->is_ending && ahead->fetch_count == ahead->submit_count) {
        (void)pthread_cond_wait(&ahead->submitted, &ahead->mutex);
    }
    ig_ahead_slot *slot = ahead->is_ending
                              ? NULL
                              : ig_ahead_slot_of(ahead, ahead->fetch_count);
    unlock_queue(ahead);
    return slot;
}

/* Numbers of batches end: once all earlier ones are computed, they begin at half. */
static bool await_time(ig_lookahead *ahead) {
    if (ahead->time < IG_ID_MAP_TIME) {
        return true;
    }
    lock_queue(ahead);
    while (!ahead->is_ending && ahead->wait_count < ahead->fetch_count) {
        (void)pthread_cond_wait(&ahead->computed, &ahead->mutex);
    }
    bool goes_on = !ahead->is_ending;
    unlock_queue(ahead);
    for (size_t t = 0; goes_on && t < ahead->tables.count; t++) {
        ig_dynamic_release(ahead->tables.items[t].rows_of, ahead->time);
        ig_dynamic_halve_times(ahead->tables.items[t].rows_of);
    }
    ahead->time /= 2;
    return goes_on;
}

static ig_lookahead_facts sum_facts(const ig_lookahead *ahead) {
    ig_lookahead_facts facts = { .table_count = ahead->tables.count };
    for (size_t t = 0; t < ahead->tables.count; t++) {
        const ig_ahead_table *table = &ahead->tables.items[t];
        ig_dynamic_counts counts = ig_dynamic_describe(table->rows_of);
        facts.ids += counts.ids;
        facts.hits += counts.hits;
        facts.fetched += counts.fetched;
        facts.absent += counts.filled;
        facts.row_bytes += (size_t)table->view.dims[0] * table->row_bytes;
    }
    return facts;
}

static void *fetch_batches(void *user) {
    ig_lookahead *ahead = user;
    for (ig_ahead_slot *slot; (slot = await_batch(ahead)) && await_time(ahead);) {
        slot->time = ++ahead->time;
        slot->answer.fetch_begin = ig_store_now_ns();
        ig_ahead_fetch(ahead, slot);
        slot->answer.fetch_end = ig_store_now_ns();
        ig_lookahead_facts facts = sum_facts(ahead);
        lock_queue(ahead);
        ahead->facts = facts;
        slot->is_fetched = true;
        ahead->fetch_count++;
        (void)pthread_cond_signal(&ahead->fetched);
        unlock_queue(ahead);
    }
    return NULL;
}

/* ---- life cycle ---- */

static ig_status fail_with(ig_lookahead *ahead, ig_status status, const char *message) {
    (void)snprintf(ahead->message, sizeof ahead->message, "%s", message);
    return status;
}

static ig_status fail_opening(const ig_lookahead_options *options, ig_status status,
                              const char *message) {
    if (options->message && options->message_size > 0 && message) {
        (void)snprintf(options->message, options->message_size, "%s", message);
    }
    return status;
}

static ig_status open_programs(ig_lookahead *ahead, const char *path,
                               const ig_lookahead_options *options) {
    ig_program_options how = { .size = sizeof how,
                               .message = options->message,
                               .message_size = options->message_size,
                               .level = options->level,
                               .check_weights = !options->skips_weights_check };
    size_t size;
    IG_TRY(ig_program_open(path, &how, &ahead->rows_program));
    if (!ig_program_stored(ahead->rows_program, &size)) {
        return fail_opening(options, IG_UNSUPPORTED,
                            "no table of this artifact is in a store");
    }
    how.part = IG_ENTRY_IDS;
    IG_TRY(ig_program_open(path, &how, &ahead->ids_program));
    const char *why = ig_stored_read(ahead->rows_program, ahead->ids_program,
                                     &ahead->record);
    return why ? fail_opening(options, IG_INVALID, why) : IG_OK;
}

static ig_status open_sessions(ig_lookahead *ahead,
                               const ig_lookahead_options *options) {
    ig_session_options how = { .size = sizeof how,
                               .message = options->message,
                               .message_size = options->message_size };
    IG_TRY(ig_session_create(ahead->ids_program, &how, &ahead->ids_session));
    how.pool = options->pool;
    how.threads = options->threads;
    return ig_session_create(ahead->rows_program, &how, &ahead->rows_session);
}

static bool allocate_slots(ig_lookahead *ahead) {
    const ig_stored_header *header = &ahead->record.header;
    size_t inputs = ig_program_input_count(ahead->rows_program);
    ahead->ids = calloc(header->lookup_count + 1, sizeof *ahead->ids);
    ahead->placings = calloc(header->lookup_count + 1, sizeof *ahead->placings);
    ahead->slots = calloc(ahead->slot_count, sizeof *ahead->slots);
    bool is_there = ahead->ids && ahead->placings && ahead->slots;
    for (size_t i = 0; is_there && i < ahead->slot_count; i++) {
        ig_ahead_slot *slot = &ahead->slots[i];
        slot->inputs = calloc(inputs + 1, sizeof *slot->inputs);
        slot->positions = calloc(header->lookup_count + 1, sizeof *slot->positions);
        is_there = slot->inputs && slot->positions;
        for (size_t t = 0; is_there && t < header->table_count; t++) {
            slot->inputs[header->input_count + t] = ahead->tables.items[t].view;
        }
    }
    return is_there;
}

static ig_status open_all(ig_lookahead *ahead, const char *path,
                          const ig_lookahead_options *options) {
    IG_TRY(open_programs(ahead, path, options));
    IG_TRY(open_sessions(ahead, options));
    IG_TRY(ig_ahead_tables_open(&ahead->record, options, &ahead->tables));
    if (!allocate_slots(ahead)) {
        return fail_opening(options, IG_LIMIT, "out of memory for a look-ahead");
    }
    ahead->has_thread = pthread_create(&ahead->thread, NULL, fetch_batches, ahead) == 0;
    return ahead->has_thread
               ? IG_OK
               : fail_opening(options, IG_LIMIT, "no thread for a look-ahead");
}

ig_status ig_lookahead_open(const char *path, const ig_lookahead_options *given,
                            ig_lookahead **out_ahead) {
    ig_lookahead_options options = { .size = sizeof options };
    *out_ahead = NULL;
    if (!ig_sized_take(&options, sizeof options, given)) {
        ig_store_call words = { .message = given->message,
                                .message_size = given->message_size };
        return ig_store_refuse_unsized(&words, "ig_lookahead_options");
    }
    (void)fail_opening(&options, IG_OK, "");
    ig_lookahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead) {
        return fail_opening(&options, IG_LIMIT, "out of memory for a look-ahead");
    }
    size_t depth = options.depth > 0 ? options.depth : DEFAULT_DEPTH;
    ahead->slot_count = (depth < MAX_DEPTH ? depth : MAX_DEPTH) + 1;
    (void)pthread_mutex_init(&ahead->mutex, NULL);
    (void)pthread_cond_init(&ahead->submitted, NULL);
    (void)pthread_cond_init(&ahead->fetched, NULL);
    (void)pthread_cond_init(&ahead->computed, NULL);
    ig_status status = open_all(ahead, path, &options);
    if (status != IG_OK) {
        ig_lookahead_close(ahead);
        return status;
    }
    *out_ahead = ahead;
    return IG_OK;
}

static void end_thread(ig_lookahead *ahead) {
    lock_queue(ahead);
    ahead->is_ending = true;
    (void)pthread_cond_broadcast(&ahead->submitted);
    (void)pthread_cond_broadcast(&ahead->computed);
    unlock_queue(ahead);
    if (ahead->has_thread) {
        (void)pthread_join(ahead->thread, NULL);
    }
}

static void free_slots(ig_lookahead *ahead) {
    for (size_t i = 0; ahead->slots && i < ahead->slot_count; i++) {
        ig_ahead_slot *slot = &ahead->slots[i];
        for (size_t k = 0; slot->positions && k < ahead->record.header.lookup_count;
             k++) {
            free(slot->positions[k].data);
        }
        free(slot->positions);
        free(slot->inputs);
    }
    free(ahead->slots);
}

void ig_lookahead_close(ig_lookahead *ahead) {
    if (!ahead) {
        return;
    }
    end_thread(ahead);
    free_slots(ahead);
    ig_ahead_tables_close(&ahead->tables);
    ig_session_destroy(ahead->ids_session);
    ig_session_destroy(ahead->rows_session);
    ig_program_close(ahead->ids_program);
    ig_program_close(ahead->rows_program);
    free(ahead->ids);
    free(ahead->placings);
    free(ahead->wanted.data);
    free(ahead->rows.data);
    free(ahead->slots_of.data);
    (void)pthread_mutex_destroy(&ahead->mutex);
    (void)pthread_cond_destroy(&ahead->submitted);
    (void)pthread_cond_destroy(&ahead->fetched);
    (void)pthread_cond_destroy(&ahead->computed);
    free(ahead);
}

/* ---- the caller's side ---- */

size_t ig_lookahead_input_count(const ig_lookahead *ahead) {
    return ahead->record.header.input_count;
}

const ig_program *ig_lookahead_program(const ig_lookahead *ahead) {
    return ahead->rows_program;
}

const char *ig_lookahead_error(const ig_lookahead *ahead) {
    return ahead->message;
}

void ig_lookahead_cancel(ig_lookahead *ahead) {
    ahead->is_cancelled = 1;
    ig_session_cancel(ahead->ids_session);
    ig_session_cancel(ahead->rows_session);
}

void ig_lookahead_get_facts(ig_lookahead *ahead, ig_lookahead_facts *facts) {
    lock_queue(ahead);
    ig_lookahead_facts all = ahead->facts;
    unlock_queue(ahead);
    all.size = facts->size;
    memcpy(facts, &all, facts->size < sizeof all ? facts->size : sizeof all);
}

ig_status ig_lookahead_submit(ig_lookahead *ahead, const ig_view *inputs,
                              size_t input_count, const ig_lookahead_call *call) {
    size_t count = ahead->record.header.input_count;
    lock_queue(ahead);
    bool has_room = ahead->submit_count - ahead->wait_count < ahead->slot_count;
    unlock_queue(ahead);
    if (input_count != count) {
        (void)snprintf(ahead->message, sizeof ahead->message,
                       "%zu inputs, expected %zu", input_count, count);
        return IG_INVALID;
    }
    if (!has_room) {
        return fail_with(ahead, IG_LIMIT, "the queue is full: wait for a batch first");
    }
    ig_ahead_slot *slot = ig_ahead_slot_of(ahead, ahead->submit_count);
    if (count > 0) {
        memcpy(slot->inputs, inputs, count * sizeof *inputs);
    }
    slot->call = (ig_lookahead_call){ .size = sizeof slot->call };
    if (!ig_sized_take(&slot->call, sizeof slot->call, call)) {
        (void)snprintf(ahead->message, sizeof ahead->message, IG_UNSIZED_WORDS,
                       "ig_lookahead_call");
        return IG_INVALID;
    }
    slot->answer = (ig_lookahead_answer){ .submitted = ig_store_now_ns() };
    slot->is_fetched = false;
    lock_queue(ahead);
    ahead->submit_count++;
    (void)pthread_cond_signal(&ahead->submitted);
    unlock_queue(ahead);
    return IG_OK;
}

static ig_ahead_slot *await_rows(ig_lookahead *ahead) {
    lock_queue(ahead);
    ig_ahead_slot *slot = NULL;
    if (ahead->wait_count < ahead->submit_count) {
        slot = ig_ahead_slot_of(ahead, ahead->wait_count);
        while (!slot->is_fetched) {
            (void)pthread_cond_wait(&ahead->fetched, &ahead->mutex);
        }
    }
    unlock_queue(ahead);
    return slot;
}

static void release_batch(ig_lookahead *ahead, const ig_ahead_slot *slot) {
    for (size_t t = 0; t < ahead->tables.count; t++) {
        ig_dynamic_release(ahead->tables.items[t].rows_of, slot->time);
    }
    lock_queue(ahead);
    ahead->wait_count++;
    (void)pthread_cond_signal(&ahead->computed);
    unlock_queue(ahead);
}

/* The program's message of a wrong id would name a position in memory. */
static ig_status compute_batch(ig_lookahead *ahead, const ig_ahead_slot *slot,
                               ig_view *outputs, size_t output_count) {
    if (slot->status != IG_OK) {
        return fail_with(ahead, slot->status, slot->message);
    }
    ig_status status = ig_session_run(ahead->rows_session, slot->inputs,
                                      ig_program_input_count(ahead->rows_program),
                                      outputs, output_count);
    if (status == IG_OK) {
        return IG_OK;
    }
    bool is_wrong = status == IG_INVALID && slot->wrong[0];
    return fail_with(ahead, status,
                     is_wrong ? slot->wrong : ig_session_error(ahead->rows_session));
}

ig_status ig_lookahead_wait(ig_lookahead *ahead, ig_view *outputs, size_t output_count,
                            ig_lookahead_answer *answer) {
    int64_t begin = ig_store_now_ns();
    ig_ahead_slot *slot = await_rows(ahead);
    if (!slot) {
        return fail_with(ahead, IG_INVALID, "no batch was submitted");
    }
    slot->answer.wait_begin = begin;
    slot->answer.run_begin = ig_store_now_ns();
    ig_status status = compute_batch(ahead, slot, outputs, output_count);
    slot->answer.run_end = ig_store_now_ns();
    if (answer) {
        slot->answer.size = answer->size;
        memcpy(answer, &slot->answer,
               answer->size < sizeof *answer ? answer->size : sizeof *answer);
    }
    release_batch(ahead, slot);
    return status;
}
