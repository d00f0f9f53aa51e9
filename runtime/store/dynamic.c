/* Dynamic tables: an id map over rows in memory, and a store below them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row is written before its slot is given away, and read before anybody learns of the
 * slot: a store that fails at any moment costs nothing but the call.  Rows move in
 * chunks, so that the buffer stays small.
 */
#include "ingot/dynamic.h"

#include "base/checked.h"
#include "base/sized.h"
#include "runtime/store/call.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 8 << 20, DEFAULT_FREQUENCY = 5 };

struct ig_dynamic {
    ig_store *store;
    ig_dynamic_options options;
    char *name;
    ig_id_map *map;
    char **data;            /* a pointer a state */
    size_t *state_bytes;    /* of a row */
    size_t *state_offsets;  /* in a row of the chunk */
    size_t chunk_row_bytes; /* all states of a row */
    ig_id_row *filled;      /* row_count */
    size_t filled_count;
    _Atomic(int64_t) released; /* by any thread; -1: nothing */
    int64_t saved;             /* uses after this time are not in the store */
    ig_id_row *fresh, *min;    /* row_count; evict_rows */
    size_t fresh_count;
    int64_t *ids;      /* of a chunk */
    uint32_t *states;  /* 0, 1 … */
    uint64_t *offsets; /* of a chunk */
    char *chunk;
    bool *is_there;   /* states of a chunk's rows that the store has */
    struct age *ages; /* of the rows; NULL: none is ever due */
    int64_t retry_ns; /* after a failure: nothing is read again before */
    size_t chunk_rows;
    ig_dynamic_counts counts;
};

/* Since when a row is as it is. */
typedef struct age {
    int64_t read_ns, tried_ns;
    uint32_t used; /* time of the last batch that has it */
} age;

/* ---- life cycle ---- */

static bool are_states_small(const ig_dynamic_options *options) {
    for (uint32_t s = 0; options->state_bytes && s < options->state_count; s++) {
        if (options->state_bytes[s] < 1 || options->state_bytes[s] > CHUNK_BYTES) {
            return false;
        }
    }
    return true;
}

static bool is_shard(const ig_dynamic_options *options) {
    return options->shard_begin >= 0 && options->shard_rows >= 0 &&
           options->shard_begin <= options->row_count &&
           options->shard_rows <= options->row_count - options->shard_begin;
}

static ig_status check_options(const ig_store_call *call,
                               const ig_dynamic_options *options) {
    size_t bytes;
    bool fits = options->row_count >= 1 && options->row_count <= IG_ID_MAP_ROWS &&
                options->row_bytes >= 1 && options->row_bytes <= CHUNK_BYTES &&
                options->state_count <= 64 && is_shard(options) &&
                are_states_small(options) && options->spare_rows >= 0 &&
                options->spare_rows <= IG_ID_MAP_ROWS &&
                ig_mul_size((size_t)(options->row_count + options->spare_rows),
                            options->row_bytes, &bytes) &&
                bytes <= SIZE_MAX / 2;
    if (!options->name || !fits || options->evict_rows < 0 ||
        options->evict_rows > options->row_count) {
        return ig_store_fail(
            call, IG_INVALID,
            "a dynamic table has a name, 1 to %d rows of 1 to %d bytes, "
            "at most 64 states, and evicts no more rows than it has",
            IG_ID_MAP_ROWS, CHUNK_BYTES);
    }
    return IG_OK;
}

/* The offset of each state in a row of the chunk. */
static bool lay_out_states(ig_dynamic *table) {
    const ig_dynamic_options *o = &table->options;
    table->state_bytes = calloc(o->state_count, sizeof *table->state_bytes);
    table->state_offsets = calloc(o->state_count, sizeof *table->state_offsets);
    for (uint32_t s = 0;
         table->state_bytes && table->state_offsets && s < o->state_count; s++) {
        table->state_bytes[s] = o->state_bytes ? o->state_bytes[s] : o->row_bytes;
        table->state_offsets[s] = table->chunk_row_bytes;
        table->chunk_row_bytes += table->state_bytes[s];
    }
    return table->state_bytes && table->state_offsets;
}

static bool allocate_rows(ig_dynamic *table) {
    const ig_dynamic_options *o = &table->options;
    size_t rows = (size_t)(o->shard_rows + o->spare_rows);
    table->data = calloc(o->state_count, sizeof *table->data);
    for (uint32_t s = 0; table->data && s < o->state_count; s++) {
        size_t bytes = ig_align_up(rows * table->state_bytes[s], 64);
        table->data[s] = o->memory ? o->memory[s] : aligned_alloc(64, bytes);
        if (!table->data[s]) {
            return false;
        }
        if (!o->memory) {
            memset(table->data[s], 0, bytes);
        }
    }
    return table->data != NULL;
}

static bool allocate_chunk(ig_dynamic *table) {
    const ig_dynamic_options *o = &table->options;
    size_t row = table->chunk_row_bytes, states = o->state_count;
    size_t rows = CHUNK_BYTES / row > 0 ? CHUNK_BYTES / row : 1;
    rows = rows < (size_t)o->row_count ? rows : (size_t)o->row_count;
    table->chunk_rows = rows;
    table->fresh = calloc((size_t)o->row_count, sizeof *table->fresh);
    table->filled = calloc((size_t)o->row_count, sizeof *table->filled);
    table->min = calloc((size_t)o->evict_rows, sizeof *table->min);
    table->ids = calloc(rows, sizeof *table->ids);
    table->states = calloc(states, sizeof *table->states);
    table->offsets = calloc(rows * states + 1, sizeof *table->offsets);
    table->is_there = calloc(rows * states, sizeof *table->is_there);
    table->chunk = malloc(rows * row);
    if (o->refresh_ns > 0) {
        table->ages = calloc((size_t)o->row_count, sizeof *table->ages);
    }
    for (uint32_t s = 0; table->states && s < states; s++) {
        table->states[s] = s;
    }
    for (size_t i = 0; table->offsets && i <= rows * states; i++) {
        table->offsets[i] = i / states * row + table->state_offsets[i % states];
    }
    return table->fresh && table->filled && table->min && table->ids && table->states &&
           table->offsets && table->is_there && table->chunk &&
           (table->ages || o->refresh_ns <= 0);
}

ig_status ig_dynamic_create(ig_store *store, const ig_dynamic_options *given,
                            const ig_store_call *given_call, ig_dynamic **out_table) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given_call, &call));
    ig_dynamic_options options = { .size = sizeof options };
    if (!ig_sized_take(&options, sizeof options, given)) {
        return ig_store_refuse_unsized(&call, "ig_dynamic_options");
    }
    options.state_count = options.state_count > 0 ? options.state_count : 1;
    IG_TRY(check_options(&call, &options));
    if (options.shard_rows == 0) {
        options.shard_begin = 0;
        options.shard_rows = options.row_count;
    }
    options.frequency = options.frequency > 0 ? options.frequency : DEFAULT_FREQUENCY;
    if (options.evict_rows == 0) {
        options.evict_rows = (options.row_count + 1) / 2;
    }
    ig_dynamic *table = calloc(1, sizeof *table);
    if (!table) {
        return ig_store_fail(&call, IG_LIMIT, "out of memory for a dynamic table");
    }
    table->store = store;
    table->options = options;
    table->released = -1;
    table->saved = -1;
    table->name = strdup(options.name);
    ig_status status = ig_id_map_create(options.kind, options.row_count,
                                        options.frequency, &call, &table->map);
    if (status == IG_OK && !(table->name && lay_out_states(table) &&
                             allocate_rows(table) && allocate_chunk(table))) {
        status = ig_store_fail(&call, IG_LIMIT,
                               "table '%s': out of memory for %lld rows", options.name,
                               (long long)options.row_count);
    }
    if (status != IG_OK) {
        ig_dynamic_destroy(table);
        return status;
    }
    *out_table = table;
    return IG_OK;
}

void ig_dynamic_destroy(ig_dynamic *table) {
    if (!table) {
        return;
    }
    bool owns_rows = table->data && !table->options.memory;
    for (uint32_t s = 0; owns_rows && s < table->options.state_count; s++) {
        free(table->data[s]);
    }
    ig_id_map_destroy(table->map);
    free(table->data);
    free(table->name);
    free(table->state_bytes);
    free(table->state_offsets);
    free(table->fresh);
    free(table->filled);
    free(table->min);
    free(table->ids);
    free(table->states);
    free(table->offsets);
    free(table->is_there);
    free(table->chunk);
    free(table->ages);
    free(table);
}

void *ig_dynamic_data(ig_dynamic *table, uint32_t state) {
    return state < table->options.state_count ? table->data[state] : NULL;
}

ig_dynamic_counts ig_dynamic_describe(const ig_dynamic *table) {
    return table->counts;
}

/* ---- rows to and from the store ---- */

/* `row` is one of the map's. */
static char *row_at(const ig_dynamic *table, uint32_t state, int64_t row) {
    const ig_dynamic_options *o = &table->options;
    size_t position = (size_t)(row - o->shard_begin + o->spare_rows);
    return table->data[state] + position * table->state_bytes[state];
}

static ig_store_cells cells_of(ig_dynamic *table, const ig_id_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        table->ids[i] = rows[i].id;
    }
    return (ig_store_cells){ .size = sizeof(ig_store_cells),
                             .table = table->name,
                             .ids = table->ids,
                             .id_count = count,
                             .states = table->states,
                             .state_count = table->options.state_count };
}

static ig_status write_chunk(ig_dynamic *table, const ig_store_call *call,
                             const ig_id_row *rows, size_t count) {
    char *to = table->chunk;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t s = 0; s < table->options.state_count; s++) {
            memcpy(to, row_at(table, s, rows[i].row), table->state_bytes[s]);
            to += table->state_bytes[s];
        }
    }
    ig_store_cells cells = cells_of(table, rows, count);
    IG_TRY(ig_store_push(table->store, call, &cells, table->chunk, table->offsets));
    table->counts.written += count;
    return IG_OK;
}

typedef struct reading {
    ig_dynamic *table;
    _Atomic(size_t) odd_bytes; /* of a cell that is not as long as a row; 0: none */
    _Atomic(size_t) odd_wanted;
} reading;

/* Cells may come from several threads, each to a place of its own. */
static void take_cell(void *user, size_t cell, const void *data, size_t bytes) {
    reading *r = user;
    ig_dynamic *table = r->table;
    size_t wanted = table->state_bytes[cell % table->options.state_count];
    table->is_there[cell] = data && bytes == wanted;
    if (table->is_there[cell]) {
        memcpy(table->chunk + table->offsets[cell], data, bytes);
    } else if (data) {
        r->odd_wanted = wanted;
        r->odd_bytes = bytes > 0 ? bytes : SIZE_MAX;
    }
}

/* A row whose weight the store lacks is a new one, whatever states there are. */
static void place_row(ig_dynamic *table, const ig_id_row *row, size_t index) {
    const ig_dynamic_options *o = &table->options;
    size_t cell = index * o->state_count;
    bool is_known = table->is_there[cell];
    for (uint32_t s = 0; s < o->state_count; s++) {
        char *to = row_at(table, s, row->row);
        if (is_known && table->is_there[cell + s]) {
            memcpy(to, table->chunk + table->offsets[cell + s], table->state_bytes[s]);
        } else if (is_known || !o->keeps_absent) {
            memset(to, 0, table->state_bytes[s]);
        }
    }
    if (!is_known && o->fill && !o->keeps_absent) {
        o->fill(o->fill_user, row->id, row_at(table, 0, row->row));
    }
    table->counts.fetched += is_known;
    table->counts.filled += !is_known;
    if (!is_known) {
        table->filled[table->filled_count++] = *row;
    }
}

static ig_status read_chunk(ig_dynamic *table, const ig_store_call *call,
                            const ig_id_row *rows, size_t count) {
    reading r = { .table = table };
    ig_store_cells cells = cells_of(table, rows, count);
    IG_TRY(ig_store_pull(table->store, call, &cells, take_cell, &r));
    size_t odd = atomic_load(&r.odd_bytes);
    if (odd > 0) {
        return ig_store_fail(
            call, IG_INVALID,
            "table '%s': the store has a row of %zu bytes, expected %zu", table->name,
            odd == SIZE_MAX ? 0 : odd, atomic_load(&r.odd_wanted));
    }
    int64_t now = table->ages ? ig_store_now_ns() : 0;
    for (size_t i = 0; i < count; i++) {
        place_row(table, &rows[i], i);
        if (table->ages) {
            table->ages[rows[i].row].read_ns = table->ages[rows[i].row].tried_ns = now;
        }
    }
    return IG_OK;
}

typedef ig_status move_chunk(ig_dynamic *table, const ig_store_call *call,
                             const ig_id_row *rows, size_t count);

/* Moves this rank's rows to the front, the others after them; returns how many are
 * its. */
static size_t keep_own(const ig_dynamic_options *o, ig_id_row *rows, size_t count) {
    size_t own = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t position = rows[i].row - o->shard_begin;
        if (position >= 0 && position < o->shard_rows) {
            ig_id_row row = rows[i];
            rows[i] = rows[own];
            rows[own++] = row;
        }
    }
    return own;
}

/* Rows of other ranks are theirs to move. */
static ig_status move_rows(ig_dynamic *table, const ig_store_call *call,
                           move_chunk *move, ig_id_row *rows, size_t count) {
    const ig_dynamic_options *o = &table->options;
    if (o->shard_rows < o->row_count) {
        count = keep_own(o, rows, count);
    }
    for (size_t at = 0; at < count; at += table->chunk_rows) {
        size_t left = count - at;
        IG_TRY(move(table, call, rows + at,
                    left < table->chunk_rows ? left : table->chunk_rows));
    }
    return IG_OK;
}

/* ---- fetching ---- */

static ig_status evict_rows(ig_dynamic *table, const ig_store_call *call) {
    int64_t released = atomic_load(&table->released);
    if (released >= 0) {
        ig_id_map_release(table->map, (uint32_t)released);
    }
    size_t count = ig_id_map_choose(table->map, (size_t)table->options.evict_rows,
                                    table->min);
    if (count == 0) {
        return ig_store_fail(call, IG_LIMIT,
                             "table '%s': batches that are not released use all of its "
                             "%lld rows: give it more, or look ahead less",
                             table->name, (long long)table->options.row_count);
    }
    if (!table->options.is_read_only) {
        IG_TRY(move_rows(table, call, write_chunk, table->min, count));
    }
    ig_id_map_forget(table->map, table->min, count);
    return IG_OK;
}

static ig_status refuse_batch(const ig_dynamic *table, const ig_store_call *call) {
    return ig_store_fail(call, IG_INVALID,
                         "table '%s': ids must be 0 or more, and times must not fall",
                         table->name);
}

/* Before rows are evicted, those that the rest of the batch needs are in use.  One that
 * was written and read again in one call might be in another rank's part by then,
 * which would read it before it is written. */
static void pin_rest(ig_dynamic *table, const ig_id_batch *batch) {
    ig_id_batch rest = *batch;
    ig_status status = ig_id_map_find(table->map, &rest);
    assert(status == IG_OK && "the ids were checked with the batch");
    (void)status;
}

static ig_status find_rows(ig_dynamic *table, const ig_store_call *call,
                           ig_id_batch *batch) {
    for (bool is_pinned = false;; is_pinned = true) {
        batch->fresh = table->fresh + table->fresh_count;
        ig_status status = ig_id_map_transform(table->map, batch);
        table->fresh_count += batch->fresh_count;
        if (status == IG_INVALID) {
            return refuse_batch(table, call);
        }
        if (status != IG_LIMIT) {
            return status;
        }
        batch->ids += batch->done;
        batch->rows += batch->done;
        batch->count -= batch->done;
        if (!is_pinned) {
            pin_rest(table, batch);
        }
        IG_TRY(evict_rows(table, call));
    }
}

/* Rows of the map become those of the table, which begin with the spare ones. */
static void skip_spare_rows(const ig_dynamic *table, int64_t *rows, size_t count) {
    int64_t spare = table->options.spare_rows;
    for (size_t i = 0; spare > 0 && i < count; i++) {
        rows[i] += rows[i] < 0 ? 0 : spare;
    }
}

static ig_status check_time(const ig_dynamic *table, const ig_store_call *call,
                            uint32_t time) {
    return time > atomic_load(&table->released)
               ? IG_OK
               : ig_store_fail(call, IG_INVALID, "table '%s': time %u was released",
                               table->name, time);
}

ig_status ig_dynamic_find(ig_dynamic *table, const ig_store_call *given, uint32_t time,
                          const int64_t *ids, size_t count, int64_t *rows) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    ig_id_batch batch = {
        .size = sizeof batch, .ids = ids, .count = count, .time = time, .rows = rows
    };
    IG_TRY(check_time(table, &call, time));
    if (ig_id_map_find(table->map, &batch) != IG_OK) {
        return refuse_batch(table, &call);
    }
    skip_spare_rows(table, rows, count);
    return IG_OK;
}

ig_status ig_dynamic_fetch(ig_dynamic *table, const ig_store_call *given, uint32_t time,
                           const int64_t *ids, size_t count, int64_t *rows) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    ig_id_batch batch = {
        .size = sizeof batch, .ids = ids, .count = count, .time = time, .rows = rows
    };
    IG_TRY(check_time(table, &call, time));
    table->fresh_count = 0;
    table->filled_count = 0;
    ig_status status = find_rows(table, &call, &batch);
    if (status == IG_OK) {
        status = move_rows(table, &call, read_chunk, table->fresh, table->fresh_count);
    }
    if (status != IG_OK) { /* nobody learns of rows that were not read */
        ig_id_map_forget(table->map, table->fresh, table->fresh_count);
        return status;
    }
    skip_spare_rows(table, rows, count);
    table->counts.ids += count;
    table->counts.hits += count - table->fresh_count;
    return IG_OK;
}

/* ---- reading again ---- */

/* Lists rows that are due and free, each once, as `fresh`. */
static void list_due(ig_dynamic *table, uint32_t time, int64_t now, const int64_t *ids,
                     size_t count, const int64_t *rows) {
    int64_t spare = table->options.spare_rows, released = atomic_load(&table->released);
    table->fresh_count = 0;
    for (size_t i = 0; i < count; i++) {
        age *of = rows[i] < spare ? NULL : &table->ages[rows[i] - spare];
        if (!of || of->used == time) {
            continue; /* it did not come, or is listed */
        }
        bool is_free = of->used == 0 || of->used <= released;
        of->used = time;
        if (is_free && now - of->tried_ns >= table->options.refresh_ns) {
            of->tried_ns = now;
            table->fresh[table->fresh_count++] = (ig_id_row){ ids[i], rows[i] - spare };
        }
    }
}

static size_t count_stale(const ig_dynamic *table, int64_t now, const int64_t *rows,
                          size_t count) {
    int64_t spare = table->options.spare_rows;
    size_t stale = 0;
    for (size_t i = 0; i < count; i++) {
        stale += rows[i] >= spare && now - table->ages[rows[i] - spare].read_ns >=
                                         table->options.refresh_ns;
    }
    return stale;
}

size_t ig_dynamic_refresh(ig_dynamic *table, const ig_store_call *given, uint32_t time,
                          const int64_t *ids, size_t count, const int64_t *rows) {
    ig_store_call call;
    if (!table->ages || ig_store_call_take(given, &call) != IG_OK) {
        return 0;
    }
    int64_t now = ig_store_now_ns();
    list_due(table, time, now, ids, count, rows);
    if (table->fresh_count && now >= table->retry_ns &&
        move_rows(table, &call, read_chunk, table->fresh, table->fresh_count) !=
            IG_OK) {
        table->retry_ns = ig_store_now_ns() + table->options.refresh_ns;
    }
    return count_stale(table, now, rows, count);
}

const ig_id_row *ig_dynamic_filled(const ig_dynamic *table, size_t *out_count) {
    *out_count = table->filled_count;
    return table->filled;
}

void ig_dynamic_release(ig_dynamic *table, uint32_t time) {
    int64_t before = atomic_load(&table->released);
    while (before < time &&
           !atomic_compare_exchange_weak(&table->released, &before, time)) {
    }
}

void ig_dynamic_halve_times(ig_dynamic *table) {
    int64_t released = atomic_load(&table->released);
    if (released < 0) {
        return;
    }
    ig_id_map_release(table->map, (uint32_t)released);
    ig_id_map_halve_times(table->map);
    atomic_store(&table->released, released / 2);
    for (int64_t i = 0; table->ages && i < table->options.row_count; i++) {
        table->ages[i].used = 0; /* every batch is released */
    }
    /* Rounded so that each use after the save stays after it. */
    table->saved = table->saved < 0 ? -1 : table->saved / 2 - 1;
}

ig_status ig_dynamic_save(ig_dynamic *table, const ig_store_call *given) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    size_t room = ig_id_map_count(table->map);
    int64_t done = atomic_load(&table->released); /* what runs is listed again later */
    if (table->options.is_read_only || room == 0) {
        return IG_OK;
    }
    ig_id_row *used = calloc(room, sizeof *used);
    if (!used) {
        return ig_store_fail(&call, IG_LIMIT, "table '%s': out of memory", table->name);
    }
    size_t count = ig_id_map_list(table->map, table->saved, used, room);
    ig_status status = move_rows(table, &call, write_chunk, used, count);
    free(used);
    IG_TRY(status);
    IG_TRY(ig_store_flush(table->store, &call));
    table->saved = done;
    return IG_OK;
}
