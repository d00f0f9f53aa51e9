/* One batch's ids and rows.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/store/ahead/ahead.h"
#include "runtime/store/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ig_status fail_fetch(ig_ahead_slot *slot, ig_status status,
                            const char *message) {
    (void)snprintf(slot->message, sizeof slot->message, "%s", message);
    return status;
}

/* Room for `count` elements; its old rows are gone. */
static void *grow_memory(ig_ahead_memory *memory, size_t count, size_t element) {
    size_t size = (count + 1) * element;
    if (size > memory->size) {
        free(memory->data);
        memory->size = size + size / 2;
        memory->data = aligned_alloc(64, (memory->size + 63) / 64 * 64);
        memory->size = memory->data ? memory->size : 0;
    }
    return memory->data;
}

static ig_status compute_ids(ig_lookahead *ahead, ig_ahead_slot *slot) {
    size_t lookups = ahead->record.header.lookup_count;
    memset(ahead->ids, 0, (lookups + 1) * sizeof *ahead->ids);
    ig_status status = ig_session_run(ahead->ids_session, slot->inputs,
                                      ahead->record.header.input_count, ahead->ids,
                                      lookups);
    if (status != IG_OK) {
        return fail_fetch(slot, status, ig_session_error(ahead->ids_session));
    }
    for (size_t i = 0; i < lookups; i++) {
        const ig_stored_lookup_record *how = &ahead->record.lookups[i];
        size_t count = 1;
        for (uint32_t d = 0; d < ahead->ids[i].rank; d++) {
            count *= (size_t)ahead->ids[i].dims[d];
        }
        ahead->placings[i] = (ig_placing){ .how = how,
                                           .rows = ahead->tables.items[how->table].rows,
                                           .ids = &ahead->ids[i],
                                           .count = count };
        slot->answer.ids += count;
    }
    return IG_OK;
}

/* ---- a table ---- */

static size_t count_ids(const ig_lookahead *ahead, size_t table) {
    size_t count = 0;
    for (size_t i = 0; i < ahead->record.header.lookup_count; i++) {
        bool is_its = ahead->record.lookups[i].table == table;
        count += is_its ? ahead->placings[i].count : 0;
    }
    return count;
}

static void note_wrong(const ig_ahead_table *table, const ig_placing *placing,
                       ig_ahead_slot *slot) {
    if (placing->is_wrong && !slot->wrong[0]) {
        (void)snprintf(slot->wrong, sizeof slot->wrong,
                       "id %" PRId64 " is out of range: table '%.60s' has %" PRId64
                       " rows",
                       placing->first_wrong, table->name, table->rows);
    }
}

/* May rows be missing because of this failure? */
static bool may_be_late(const ig_lookahead *ahead, const ig_ahead_slot *slot,
                        ig_status status) {
    int64_t deadline = slot->call.deadline_ns;
    bool is_late = status == IG_LIMIT && deadline != 0 && ig_store_now_ns() >= deadline;
    return slot->call.accepts_missing && !ahead->is_cancelled &&
           (is_late || status == IG_IO);
}

static ig_status find_rows(ig_lookahead *ahead, ig_ahead_slot *slot, size_t table,
                           size_t count) {
    ig_dynamic *rows_of = ahead->tables.items[table].rows_of;
    const int64_t *wanted = ahead->wanted.data;
    int64_t *rows = ahead->rows.data;
    ig_store_call call = { .size = sizeof call,
                           .message = slot->message,
                           .message_size = sizeof slot->message,
                           .deadline_ns = slot->call.deadline_ns,
                           .cancel = &ahead->is_cancelled };
    uint64_t absent = ig_dynamic_describe(rows_of).filled;
    ig_status status = ig_dynamic_fetch(rows_of, &call, slot->time, wanted, count,
                                        rows);
    slot->answer.absent += (size_t)(ig_dynamic_describe(rows_of).filled - absent);
    if (status == IG_OK) {
        status = ig_ahead_table_check(&ahead->tables.items[table], &call);
    }
    if (status != IG_OK && may_be_late(ahead, slot, status)) {
        status = ig_dynamic_find(rows_of, &call, slot->time, wanted, count, rows);
    }
    if (status == IG_OK) {
        slot->answer.stale += ig_dynamic_refresh(rows_of, &call, slot->time, wanted,
                                                 count, rows);
    }
    return status;
}

static ig_status place_lookup(ig_lookahead *ahead, ig_ahead_slot *slot, size_t lookup,
                              const int64_t *positions) {
    const ig_placing *placing = &ahead->placings[lookup];
    const ig_stored_header *header = &ahead->record.header;
    ig_view *at = &slot->inputs[header->input_count + header->table_count + lookup];
    void *out = grow_memory(&slot->positions[lookup], placing->count, sizeof(int64_t));
    if (!out) {
        return fail_fetch(slot, IG_LIMIT, "out of memory for positions of rows");
    }
    slot->answer.late += ig_placing_rows(placing, positions, ahead->rows.data, out);
    *at = *placing->ids;
    at->data = out;
    at->capacity = 0;
    return IG_OK;
}

/* All look-ups into the table, in one request. */
static ig_status fetch_table(ig_lookahead *ahead, ig_ahead_slot *slot, size_t table) {
    size_t all = count_ids(ahead, table), count = 0, at = 0;
    int64_t *wanted = grow_memory(&ahead->wanted, all, sizeof *wanted);
    int64_t *positions = grow_memory(&ahead->slots_of, all, sizeof *positions);
    if (!wanted || !positions || !grow_memory(&ahead->rows, all, sizeof(int64_t))) {
        return fail_fetch(slot, IG_LIMIT, "out of memory for the ids of a batch");
    }
    for (size_t i = 0; i < ahead->record.header.lookup_count; i++) {
        if (ahead->record.lookups[i].table == table) {
            count += ig_placing_ids(&ahead->placings[i], (int64_t)count, wanted + count,
                                    positions + at);
            at += ahead->placings[i].count;
            note_wrong(&ahead->tables.items[table], &ahead->placings[i], slot);
        }
    }
    if (count > 0) {
        IG_TRY(find_rows(ahead, slot, table, count));
    }
    at = 0;
    for (size_t i = 0; i < ahead->record.header.lookup_count; i++) {
        if (ahead->record.lookups[i].table == table) {
            IG_TRY(place_lookup(ahead, slot, i, positions + at));
            at += ahead->placings[i].count;
        }
    }
    return IG_OK;
}

void ig_ahead_fetch(ig_lookahead *ahead, ig_ahead_slot *slot) {
    slot->message[0] = 0;
    slot->wrong[0] = 0;
    slot->status = ahead->is_cancelled
                       ? fail_fetch(slot, IG_CANCELLED, "the look-ahead was cancelled")
                       : compute_ids(ahead, slot);
    for (size_t t = 0; t < ahead->tables.count && slot->status == IG_OK; t++) {
        slot->status = fetch_table(ahead, slot, t);
    }
}
