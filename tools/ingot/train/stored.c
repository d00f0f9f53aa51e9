/* Training over tables in stores: see stored.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/train/stored.h"

#include "tools/ingot/cli/json_file.h"
#include "tools/ingot/model/ahead.h"

#include <ingot/lookahead.h>

#include <stdlib.h>
#include <string.h>

enum { MEMORY_MB = 256, PADDING_ROW = 0, SPARE_ROWS = 1 };

static const char *const kinds[STORED_STATES] = { "", ".momentum1", ".momentum2" };

/* ---- optimizers ---- */

static void add_optimizer(stored_rows *s, char *text) {
    size_t count = s->optimizers.count++;
    s->texts = need(realloc(s->texts, (count + 1) * sizeof *s->texts));
    s->texts[count] = text;
    s->optimizers.items = (const char **)s->texts;
}

static const ig_stored_table *find_table(const stored_rows *s, const char *name) {
    for (size_t i = 0; i < s->stored->table_count; i++) {
        if (strcmp(s->stored->tables[i].name, name) == 0) {
            return &s->stored->tables[i];
        }
    }
    return NULL;
}

/* The rows of a table are an input of the step, which a pattern does not fit: each gets
 * the table's optimizer.  A pattern that fitted tables alone goes. */
static void split_optimizer(stored_rows *s, const json_t *about, size_t index,
                            const char *text) {
    size_t i;
    json_t *trained;
    bool has_others = false;
    json_array_foreach(json_object_get(about, "trained"), i, trained) {
        const char *name = json_string_value(json_object_get(trained, "name"));
        json_t *own = json_object_get(trained, "optimizer");
        bool is_its = json_integer_value(own) == (json_int_t)index;
        if (is_its && find_table(s, name)) {
            add_optimizer(s, text_of("%s.rows%s", name, strchr(text, '=')));
        }
        has_others |= is_its && !find_table(s, name);
    }
    if (has_others) {
        add_optimizer(s, text_of("%s", text));
    }
}

static bool has_optimizer(const json_t *about, const char *table) {
    size_t i;
    json_t *trained;
    json_array_foreach(json_object_get(about, "trained"), i, trained) {
        if (strcmp(json_string_value(json_object_get(trained, "name")), table) == 0) {
            return true;
        }
    }
    return false;
}

/* The states of optimizers are known before the tables are taken out. */
static bool split_optimizers(stored_rows *s, const json_t *about,
                             ig_train_options *how) {
    for (size_t i = 0; i < s->stored->table_count; i++) {
        const char *name = s->stored->tables[i].name;
        if (!has_optimizer(about, name)) {
            complain(0,
                     "table '%s' is trained by no optimizer, so that its rows are to "
                     "stay in the model: leave it out of --store",
                     name);
            return false;
        }
    }
    for (size_t i = 0; i < how->optimizer_count; i++) {
        split_optimizer(s, about, i, how->optimizers[i]);
    }
    how->optimizers = s->optimizers.items;
    how->optimizer_count = s->optimizers.count;
    return true;
}

static json_t *describe(stored_rows *s, ig_module *module,
                        const ig_train_options *how) {
    const char *text = NULL;
    ig_compile_options compile = compile_options(s->given);
    return ig_train_describe(module, how, &compile, &text) == IG_OK
               ? need(json_loads(text, 0, NULL))
               : NULL;
}

/* ---- taking tables out ---- */

static bool take_tables(stored_rows *s, ig_module *module) {
    const text_list *all = &s->given->stores;
    char **names = need(calloc(all->count, sizeof *names));
    ig_compile_options compile = compile_options(s->given);
    for (size_t i = 0; i < all->count; i++) {
        names[i] = ahead_name(all->items[i]);
    }
    ig_status status = ig_module_store(module, (const char *const *)names, all->count,
                                       &compile, &s->ids_of, &s->stored);
    for (size_t i = 0; i < all->count; i++) {
        free(names[i]);
    }
    free(names);
    return status == IG_OK;
}

static bool compile_ids(stored_rows *s) {
    ig_compile_options compile = compile_options(s->given);
    message why = { "" };
    ig_session_options options = { .size = sizeof options,
                                   .message = why.text,
                                   .message_size = sizeof why.text };
    if (ig_compile(s->ids_of, &compile, &s->program) != IG_OK) {
        return false;
    }
    if (ig_session_create(s->program, &options, &s->session) != IG_OK) {
        complain(0, "%s", why.text);
        return false;
    }
    return true;
}

static bool find_initial(stored_rows *s) {
    for (size_t i = 0; i < s->stored->table_count; i++) {
        stored_table *table = &s->tables[i];
        const ig_argument *weight = NULL;
        table->of = &s->stored->tables[i];
        table->url = strchr(s->given->stores.items[table->of->named_by], '=') + 1;
        if (ig_module_weight_value(s->model, table->of->name, &weight, NULL) != IG_OK) {
            return false;
        }
        table->initial = weight->data;
        table->row_bytes = weight->size / (size_t)table->of->rows;
    }
    return true;
}

/* ---- rows in memory: once the step says which states there are ---- */

static void fill_row(void *user, int64_t id, void *weight) {
    const stored_table *table = user;
    memcpy(weight, table->initial + (size_t)id * table->row_bytes, table->row_bytes);
}

/* Bytes of a row of each state that the step has of the table; their number. */
static uint32_t list_states(stored_table *table, const ig_program *step,
                            size_t bytes[STORED_STATES]) {
    uint32_t count = 0;
    for (size_t k = 0; k < STORED_STATES; k++) {
        char *name = text_of("%s.rows%s", table->of->name, kinds[k]);
        ig_port port = { 0 };
        for (size_t i = 0; i < ig_program_input_count(step) && !port.name; i++) {
            ig_port one = ig_program_input(step, i);
            port = strcmp(one.name, name) == 0 ? one : port;
        }
        if (!port.name) {
            free(name);
            continue;
        }
        table->names[count] = name;
        bytes[count++] = (size_t)port.dims[1] * (port.dtype == IG_F64 ? 8 : 4);
    }
    return count;
}

static bool open_store(stored_rows *s, size_t index, message *why) {
    stored_table *table = &s->tables[index];
    for (size_t i = 0; i < index; i++) {
        if (strcmp(s->tables[i].url, table->url) == 0) {
            table->store = s->tables[i].store;
            return true;
        }
    }
    ig_store_call how = call_telling(why);
    table->owns_store = ig_store_open(table->url, &how, &table->store) == IG_OK;
    return table->owns_store;
}

/* Each table gets as much memory as the others, or room for all of its rows. */
static bool open_rows(stored_rows *s, stored_table *table, uint32_t states,
                      const size_t *bytes, message *why) {
    int64_t mb = s->given->store_memory ? s->given->store_memory : MEMORY_MB;
    int64_t each = (mb << 20) / (int64_t)s->stored->table_count, row = 0;
    for (uint32_t k = 0; k < states; k++) {
        row += (int64_t)bytes[k];
    }
    int64_t room = each / row > 0 ? each / row : 1;
    ig_dynamic_options options = { .size = sizeof options,
                                   .name = table->of->name,
                                   .row_count =
                                       room < table->of->rows ? room : table->of->rows,
                                   .row_bytes = table->row_bytes,
                                   .state_count = states,
                                   .state_bytes = bytes,
                                   .fill = fill_row,
                                   .fill_user = table,
                                   .spare_rows = SPARE_ROWS };
    ig_store_call how = call_telling(why);
    if (ig_dynamic_create(table->store, &options, &how, &table->rows) != IG_OK) {
        return false;
    }
    for (uint32_t k = 0; k < states; k++) {
        bool is_wide = table->row_bytes == 8 * (size_t)table->of->dim;
        ig_view view = { .data = ig_dynamic_data(table->rows, k),
                         .dtype = is_wide ? IG_F64 : IG_F32,
                         .rank = 2,
                         .dims = { SPARE_ROWS + options.row_count,
                                   (int64_t)bytes[k] / (is_wide ? 8 : 4) } };
        s->places[s->place_count++] = (ig_trainer_place){ table->names[k], view };
    }
    return true;
}

/* Of the states that step changes. */
static void log_table(stored_rows *s, size_t index, uint32_t states,
                      const size_t *bytes) {
    const stored_table *table = &s->tables[index];
    journal_table *to = &s->log.tables[index];
    *to = (journal_table){ .name = table->of->name,
                           .store = table->store,
                           .rows = table->of->rows,
                           .state_count = states,
                           .written = need(malloc((size_t)table->of->rows / 8 + 1)) };
    for (uint32_t k = 0; k < states; k++) {
        to->state_bytes[k] = bytes[k];
        to->states[k] = ig_dynamic_data(table->rows, k);
    }
}

static bool place_rows(void *user, const ig_program *step, message *why) {
    stored_rows *s = user;
    size_t count = s->stored->table_count;
    s->places = need(calloc(STORED_STATES * count, sizeof *s->places));
    s->log = (journal){ .folder = s->given->checkpoints,
                        .tables = need(calloc(count, sizeof(journal_table))),
                        .table_count = count };
    for (size_t i = 0; i < count; i++) {
        size_t bytes[STORED_STATES];
        uint32_t states = list_states(&s->tables[i], step, bytes);
        if (!open_store(s, i, why) ||
            !open_rows(s, &s->tables[i], states, bytes, why)) {
            return false;
        }
        log_table(s, i, states, bytes);
    }
    s->keeper.places = s->places;
    s->keeper.place_count = s->place_count;
    return true;
}

bool stored_open(stored_rows *s, const settings *given, ig_context *context,
                 ig_module *module, ig_train_options *how) {
    *s = (stored_rows){ .given = given, .context = context, .model = module };
    json_t *about = describe(s, module, how);
    bool is_good = about && take_tables(s, module);
    if (is_good) {
        s->tables = need(calloc(s->stored->table_count, sizeof *s->tables));
        s->ids = need(calloc(s->stored->lookup_count, sizeof *s->ids));
        s->positions = need(calloc(s->stored->lookup_count, sizeof *s->positions));
        is_good = split_optimizers(s, about, how) && find_initial(s) && compile_ids(s);
        s->keeper = (trainer_values){ .user = s,
                                      .open = place_rows,
                                      .computed_at = s->stored->input_count +
                                                     s->stored->table_count,
                                      .computed_count = s->stored->lookup_count };
    }
    json_decref(about);
    return is_good;
}

/* ---- a batch ---- */

static size_t count_of(const ig_view *ids) {
    size_t count = 1;
    for (uint32_t d = 0; d < ids->rank; d++) {
        count *= (size_t)ids->dims[d];
    }
    return count;
}

static int64_t id_at(const ig_view *ids, size_t i) {
    return ids->dtype == IG_I32 ? ((const int32_t *)ids->data)[i]
                                : ((const int64_t *)ids->data)[i];
}

static int64_t row_at(const stored_rows *s, size_t lookup, size_t i) {
    const ig_stored_lookup *how = &s->stored->lookups[lookup];
    return ig_lookahead_row((int)how->negative, (int)how->range, how->padding,
                            s->stored->tables[how->table].rows,
                            id_at(&s->ids[lookup], i));
}

/* Of the batch whose inputs the trainer has. */
static bool try_ids(stored_rows *s, trainer *t) {
    size_t count = ig_program_input_count(s->program);
    ig_view *inputs = need(calloc(count + 1, sizeof *inputs));
    bool is_good = true;
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = view_of(&t->with.inputs[i], &inputs[i]);
    }
    memset(s->ids, 0, s->stored->lookup_count * sizeof *s->ids);
    is_good = is_good && ig_session_run(s->session, inputs, count, s->ids,
                                        s->stored->lookup_count) == IG_OK;
    free(inputs);
    return is_good;
}

static void add_id(stored_table *table, int64_t row) {
    if (table->id_count == table->id_room) {
        table->id_room = table->id_room ? 2 * table->id_room : 1024;
        table->ids = need(realloc(table->ids, table->id_room * sizeof(int64_t)));
        table->found = need(realloc(table->found, table->id_room * sizeof(int64_t)));
    }
    table->ids[table->id_count++] = row;
}

/* The rows of all ids, by table; false: id `*out_bad` of the look-up is out of
 * range. */
static bool list_lookup(stored_rows *s, size_t lookup, size_t *out_bad) {
    stored_table *table = &s->tables[s->stored->lookups[lookup].table];
    for (size_t i = 0, count = count_of(&s->ids[lookup]); i < count; i++) {
        int64_t row = row_at(s, lookup, i);
        if (row >= 0) {
            add_id(table, row);
        } else if (row <= IG_ROW_BELOW) {
            *out_bad = i;
            return false;
        }
    }
    return true;
}

/* False: id `at[1]` of look-up at[0] is out of range. */
static bool list_ids(stored_rows *s, size_t at[2]) {
    for (size_t i = 0; i < s->stored->table_count; i++) {
        s->tables[i].id_count = 0;
    }
    for (at[0] = 0; at[0] < s->stored->lookup_count; at[0]++) {
        if (!list_lookup(s, at[0], &at[1])) {
            return false;
        }
    }
    return true;
}

static void refuse_id(const stored_rows *s, trainer *t, const size_t at[2]) {
    const ig_stored_table *table = &s->stored->tables[s->stored->lookups[at[0]].table];
    complain(0,
             "step %lld: table '%s': position %zu of its ids: %lld is out of range: it "
             "has rows 0 to %lld",
             (long long)t->step + 1, table->name, at[1],
             (long long)id_at(&s->ids[at[0]], at[1]), (long long)table->rows - 1);
    t->status = IG_INVALID; /* as a step's that finds it itself */
}

/* The listed rows of all tables, at `time`; `why` tells what failed of *out_table. */
static ig_status fetch_tables(stored_rows *s, uint32_t time, size_t *out_table,
                              message *why) {
    ig_store_call how = call_telling(why);
    ig_status status = IG_OK;
    for (size_t i = 0; i < s->stored->table_count && status == IG_OK; i++) {
        stored_table *table = &s->tables[i];
        *out_table = i;
        if (table->id_count > 0) {
            status = ig_dynamic_fetch(table->rows, &how, time, table->ids,
                                      table->id_count, table->found);
        }
    }
    return status;
}

static bool write_down(stored_rows *s) {
    for (size_t i = 0; i < s->stored->table_count; i++) {
        stored_table *table = &s->tables[i];
        if (!journal_add(&s->log, i, table->ids, table->found, table->id_count)) {
            return false;
        }
        table->id_count = 0; /* counts those that have got their position */
    }
    return journal_sync(&s->log);
}

/* Positions are of the ids' type and extents. */
static void place_lookup(stored_rows *s, trainer *t, size_t lookup) {
    stored_table *table = &s->tables[s->stored->lookups[lookup].table];
    const ig_view *ids = &s->ids[lookup];
    size_t count = count_of(ids), index = s->keeper.computed_at + lookup;
    int64_t *out = need(realloc(s->positions[lookup], (count + 1) * sizeof *out));
    s->positions[lookup] = out;
    for (size_t i = 0; i < count; i++) {
        int64_t row = row_at(s, lookup, i);
        int64_t at = row >= 0                ? table->found[table->id_count++]
                     : row == IG_ROW_PADDING ? PADDING_ROW
                                             : -1;
        if (ids->dtype == IG_I32) {
            ((int32_t *)(void *)out)[i] = (int32_t)at;
        } else {
            out[i] = at;
        }
    }
    ig_view view = *ids;
    view.data = out;
    memcpy(t->dims[index], view.dims, sizeof view.dims);
    argument_of(&view, &t->with.inputs[index]);
    t->with.inputs[index].dims = t->dims[index];
}

/* Numbers of batches end: they go on at half. */
static void next_time(stored_rows *s) {
    for (size_t i = 0; s->time == IG_ID_MAP_TIME && i < s->stored->table_count; i++) {
        ig_dynamic_halve_times(s->tables[i].rows);
    }
    s->time = (s->time == IG_ID_MAP_TIME ? s->time / 2 : s->time) + 1;
}

static bool fetch_batch(stored_rows *s, trainer *t) {
    size_t at[2], table = 0;
    message why = { "" };
    if (!try_ids(s, t)) {
        complain(0, "%s", ig_session_error(s->session));
        return false;
    }
    if (!list_ids(s, at)) {
        refuse_id(s, t, at);
        return false;
    }
    if (fetch_tables(s, s->time, &table, &why) != IG_OK) {
        complain(0, "table '%s': %s", s->stored->tables[table].name, why.text);
        return false;
    }
    return true;
}

bool stored_fetch(stored_rows *s, trainer *t) {
    if (!s->stored) {
        return true;
    }
    next_time(s);
    bool is_good = (s->ahead.is_fetched || fetch_batch(s, t)) && write_down(s);
    s->ahead.count += s->ahead.is_fetched;
    s->ahead.is_fetched = false;
    for (size_t i = 0; i < s->stored->lookup_count && is_good; i++) {
        place_lookup(s, t, i);
    }
    return is_good;
}

/* ---- the next batch ---- */

static bool is_plain(const ig_argument *x) {
    return x->kind == IG_ARGUMENT_TENSOR && x->rank <= IG_MAX_RANK &&
           !holds_texts(x->dtype);
}

static void keep_input(stored_ahead *a, size_t index, const ig_argument *from) {
    if (!a->memory[index] || a->rooms[index] < from->size) {
        free(a->memory[index]);
        a->memory[index] = need(malloc(from->size + 1));
        a->rooms[index] = from->size;
    }
    memcpy(a->memory[index], from->data, from->size);
    memcpy(a->dims[index], from->dims, from->rank * sizeof *from->dims);
    a->inputs[index] = *from;
    a->inputs[index].data = a->memory[index];
    a->inputs[index].dims = a->dims[index];
}

static void open_ahead(stored_ahead *a, size_t input_count) {
    a->input_count = input_count;
    a->memory = need(calloc(input_count + 1, sizeof *a->memory));
    a->rooms = need(calloc(input_count + 1, sizeof *a->rooms));
    a->dims = need(calloc(input_count + 1, sizeof *a->dims));
    a->inputs = need(calloc(input_count + 1, sizeof *a->inputs));
}

static void close_ahead(stored_ahead *a) {
    for (size_t i = 0; i < a->input_count; i++) {
        free(a->memory[i]);
    }
    free(a->memory);
    free(a->rooms);
    free(a->dims);
    free(a->inputs);
}

/* Times that end are halved, for which no batch may have rows. */
bool stored_keep(stored_rows *s, trainer *t) {
    stored_ahead *a = &s->ahead;
    bool is_good = s->stored && !a->has_no_room && s->time < IG_ID_MAP_TIME;
    if (is_good && !a->memory) {
        open_ahead(a, t->data_count);
    }
    for (size_t i = 0; i < t->data_count && is_good; i++) {
        is_good = trainer_has(t, i) || is_plain(&t->with.inputs[i]);
    }
    for (size_t i = 0; i < t->data_count && is_good; i++) {
        if (!trainer_has(t, i)) {
            keep_input(a, i, &t->with.inputs[i]);
        }
    }
    a->is_kept = is_good;
    return is_good;
}

static void swap_inputs(stored_ahead *a, trainer *t) {
    for (size_t i = 0; i < t->data_count; i++) {
        if (!trainer_has(t, i)) {
            ig_argument own = t->with.inputs[i];
            t->with.inputs[i] = a->inputs[i];
            a->inputs[i] = own;
        }
    }
}

/* Rows that a step changes meanwhile are in memory, and stay. */
static void *fetch_ahead(void *user) {
    stored_rows *s = user;
    size_t table;
    message why;
    ig_status status = fetch_tables(s, s->time + 1, &table, &why);
    s->ahead.is_fetched = status == IG_OK;
    s->ahead.has_no_room = status == IG_LIMIT;
    return NULL;
}

void stored_begin_ahead(stored_rows *s, trainer *t, bool has_next) {
    stored_ahead *a = &s->ahead;
    size_t at[2];
    bool is_good = has_next && try_ids(s, t) && list_ids(s, at);
    swap_inputs(a, t);
    a->is_kept = has_next;
    a->is_running = is_good && pthread_create(&a->thread, NULL, fetch_ahead, s) == 0;
}

static void end_ahead(stored_ahead *a, trainer *t) {
    if (a->is_running) {
        (void)pthread_join(a->thread, NULL);
        a->is_running = false;
    }
    if (a->is_kept) {
        swap_inputs(a, t);
        a->is_kept = false;
    }
}

void stored_release(stored_rows *s, trainer *t) {
    if (!s->stored) {
        return;
    }
    end_ahead(&s->ahead, t);
    for (size_t i = 0; i < s->stored->table_count; i++) {
        ig_dynamic_release(s->tables[i].rows, s->time);
    }
}

/* ---- the end ---- */

void stored_close(stored_rows *s) {
    size_t count = s->tables ? s->stored->table_count : 0;
    journal_close(&s->log);
    for (size_t i = 0; i < count; i++) {
        stored_table *table = &s->tables[i];
        ig_dynamic_destroy(table->rows);
        for (size_t k = 0; k < STORED_STATES; k++) {
            free(table->names[k]);
        }
        free(table->ids);
        free(table->found);
    }
    for (size_t i = 0; i < count; i++) {
        if (s->tables[i].owns_store) {
            ig_store_close(s->tables[i].store);
        }
    }
    for (size_t i = 0; s->positions && i < s->stored->lookup_count; i++) {
        free(s->positions[i]);
    }
    for (size_t i = 0; i < s->optimizers.count; i++) {
        free(s->texts[i]);
    }
    close_ahead(&s->ahead);
    ig_session_destroy(s->session);
    ig_program_close(s->program);
    ig_module_close(s->ids_of);
    free(s->texts);
    free(s->tables);
    free(s->ids);
    free(s->positions);
    free(s->places);
    *s = (stored_rows){ 0 };
}

/* ---- between checkpoints ---- */

static bool save_rows(stored_rows *s) {
    message why = { "" };
    ig_store_call how = call_telling(&why);
    for (size_t i = 0; s->stored && i < s->stored->table_count; i++) {
        if (ig_dynamic_save(s->tables[i].rows, &how) != IG_OK) {
            complain(0, "table '%s': %s", s->stored->tables[i].name, why.text);
            return false;
        }
    }
    return true;
}

bool stored_has_begun(const stored_rows *s, int64_t step) {
    return s->log.folder && journal_exists(&s->log, step);
}

bool stored_resume(stored_rows *s, int64_t step) {
    if (s->log.folder &&
        (!journal_undo(&s->log, step) || !journal_begin(&s->log, step))) {
        return false; /* the file stays, for another try */
    }
    stored_settle(s);
    return true;
}

bool stored_save(stored_rows *s, int64_t step) {
    return save_rows(s) && (!s->log.folder || journal_begin(&s->log, step));
}

void stored_settle(const stored_rows *s) {
    if (s->log.folder) {
        journal_settle(&s->log);
    }
}

bool stored_end(stored_rows *s) {
    bool is_good = save_rows(s);
    journal_close(&s->log);
    return is_good;
}
