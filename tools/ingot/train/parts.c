/* Parts of tables, joined and cut: see parts.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/train/parts.h"

#include "tools/ingot/model/ranks.h"

#include <ingot/group.h>

#include <stdlib.h>
#include <string.h>

/* A weight, two states at most, and the gradients of calls so far. */
enum { KINDS = 4 };

static const char *const kinds[KINDS] = { "", ".momentum1", ".momentum2",
                                          ".momentum3" };

/* A part of a table, of one kind, as the description has it. */
typedef struct part {
    const char *table;
    int kind;
    int64_t rows, dim;       /* of the table */
    int64_t index, count;    /* among the parts of its columns */
    int64_t column, columns; /* of each row */
    int64_t own;             /* rows of the rank */
    bool is_row;             /* the kind has one number a row */
    const json_t *shards;
} part;

static int64_t number_in(const json_t *object, const char *key) {
    return (int64_t)json_integer_value(json_object_get(object, key));
}

static const char *text_in(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int64_t rank_of(const json_t *about) {
    return number_in(about, "rank");
}

/* Rank, first row, rows and base of a shard. */
static int64_t shard_index(const part *p, size_t shard, size_t field) {
    return (int64_t)json_integer_value(
        json_array_get(json_array_get(p->shards, shard), field));
}

/* ---- optimizers ---- */

static const char *optimizer_at(const json_t *about, const json_t *entry) {
    const json_t *all = json_object_get(about, "optimizers");
    const char *text =
        json_string_value(json_array_get(all, (size_t)number_in(entry, "optimizer")));
    return text ? text : "";
}

const char *optimizer_of(const json_t *about, const char *weight) {
    static const char *const lists[] = { "trained", "tables" };
    size_t i;
    json_t *entry;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        json_array_foreach(json_object_get(about, lists[k]), i, entry) {
            if (strcmp(text_in(entry, "name"), weight) == 0) {
                return optimizer_at(about, entry);
            }
        }
    }
    return "";
}

/* Has the state one number for each row? */
static bool is_of_rows(const char *optimizer, int kind) {
    const char *rule = strchr(optimizer, '=');
    return rule && ((kind == 1 && strncmp(rule, "=rowwise", 8) == 0) ||
                    (kind == 2 && strncmp(rule, "=partial_rowwise", 16) == 0));
}

/* ---- the parts of a table ---- */

static part part_of(const json_t *about, const json_t *table, size_t index, int kind) {
    const json_t *parts = json_object_get(table, "parts");
    const json_t *own = json_array_get(parts, index);
    part p = { .table = text_in(table, "name"),
               .kind = kind,
               .rows = number_in(table, "rows"),
               .dim = number_in(table, "dim"),
               .index = (int64_t)index,
               .count = (int64_t)json_array_size(parts),
               .column = number_in(own, "column"),
               .columns = number_in(own, "columns"),
               .is_row = is_of_rows(optimizer_at(about, table), kind),
               .shards = json_object_get(own, "shards") };
    for (size_t i = 0; i < json_array_size(p.shards); i++) {
        bool is_own = shard_index(&p, i, 0) == rank_of(about);
        p.own += is_own ? shard_index(&p, i, 2) : 0;
    }
    return p;
}

/* The rank's name of it: allocated. */
static char *own_name(const part *p) {
    bool is_all = p->own == p->rows && p->columns == p->dim;
    return is_all ? text_of("%s%s", p->table, kinds[p->kind])
                  : text_of("%s.%lld%s", p->table, (long long)p->index, kinds[p->kind]);
}

static size_t row_elements(const part *p) {
    return p->is_row ? 1 : (size_t)p->columns;
}

/* Copies shard `shard` between the whole and the rank's part of it. */
static void copy_shard(const part *p, size_t shard, size_t element, char *whole,
                       char *own, bool is_to_whole) {
    size_t bytes = row_elements(p) * element;
    size_t stride = (p->is_row ? 1 : (size_t)p->dim) * element;
    int64_t first = shard_index(p, shard, 1) + (p->is_row ? p->index * p->rows : 0);
    char *at = whole + (size_t)first * stride +
               (p->is_row ? 0 : (size_t)p->column * element);
    own += (size_t)shard_index(p, shard, 3) * bytes;
    for (int64_t i = 0; i < shard_index(p, shard, 2); i++) {
        memcpy(is_to_whole ? at : own, is_to_whole ? own : at, bytes);
        at += stride;
        own += bytes;
    }
}

/* The part that input `name` of the step holds; false: it is no part. */
static bool find_part(const json_t *about, const char *name, part *out) {
    size_t i;
    json_t *table;
    json_array_foreach(json_object_get(about, "tables"), i, table) {
        size_t count = json_array_size(json_object_get(table, "parts"));
        for (size_t k = 0; k < count * KINDS; k++) {
            *out = part_of(about, table, k / KINDS, (int)(k % KINDS));
            char *own = own_name(out);
            bool is_it = out->own > 0 && strcmp(own, name) == 0;
            free(own);
            if (is_it) {
                return true;
            }
        }
    }
    return false;
}

/* ---- joining ---- */

static whole_value *add_whole(whole_values *to, char *name) {
    enum { STEP = 64 };
    if (to->count % STEP == 0) {
        to->items = need(realloc(to->items, (to->count + STEP) * sizeof *to->items));
    }
    whole_value *value = &to->items[to->count++];
    *value = (whole_value){ .name = name };
    return value;
}

static size_t element_of(const char *dtype) {
    return strcmp(dtype, "f64") == 0 ? 8 : 4;
}

/* Bytes of an element: of whichever rank has some of it; 0: nobody has. */
static bool agree_element(const ig_argument *own, int64_t *out) {
    int64_t mine = own ? (int64_t)element_of(own->dtype) : 0, all[MAX_RANKS] = { 0 };
    *out = 0;
    if (ig_group_all_gather(ranks_group(), &mine, sizeof mine, all) != IG_OK) {
        return false;
    }
    for (size_t i = 0; i < MAX_RANKS; i++) {
        *out = all[i] > *out ? all[i] : *out;
    }
    return true;
}

/* Rows of the part on each rank, and in all. */
static int64_t count_rows(const part *p, int64_t rows[MAX_RANKS]) {
    int64_t all = 0;
    for (size_t i = 0; i < json_array_size(p->shards); i++) {
        rows[shard_index(p, i, 0)] += shard_index(p, i, 2);
        all += shard_index(p, i, 2);
    }
    return all;
}

/* Every rank's share of the part to rank 0, one after the other in `room`. */
static bool send_part(const part *p, const ig_argument *own, size_t row_bytes,
                      int64_t rank, char *room) {
    int64_t rows[MAX_RANKS] = { 0 };
    ig_group_part send[MAX_RANKS] = { { 0 } }, receive[MAX_RANKS] = { { 0 } };
    (void)count_rows(p, rows);
    if (own) {
        send[0] = (ig_group_part){ (void *)(uintptr_t)own->data, own->size };
    }
    for (size_t i = 0; rank == 0 && i < MAX_RANKS; i++) {
        receive[i] = (ig_group_part){ room, (size_t)rows[i] * row_bytes };
        room += (size_t)rows[i] * row_bytes;
    }
    return ig_group_all_to_all(ranks_group(), send, receive) == IG_OK;
}

static void place_part(const part *p, size_t element, const char *room, char *whole) {
    int64_t rows[MAX_RANKS] = { 0 };
    (void)count_rows(p, rows);
    for (size_t i = 0; i < json_array_size(p->shards); i++) {
        const char *own = room;
        for (int64_t r = 0; r < shard_index(p, i, 0); r++) {
            own += (size_t)rows[r] * row_elements(p) * element;
        }
        copy_shard(p, i, element, whole, (char *)(uintptr_t)own, true);
    }
}

static bool join_part(const trainer *t, const json_t *about, const part *p,
                      int64_t element, char *whole) {
    int64_t rows[MAX_RANKS] = { 0 }, rank = rank_of(about);
    size_t row_bytes = row_elements(p) * (size_t)element;
    char *name = own_name(p);
    const ig_argument *own = p->own > 0 ? trainer_find(t, name) : NULL;
    char *room = rank == 0 ? need(malloc((size_t)count_rows(p, rows) * row_bytes + 1))
                           : NULL;
    bool is_good = send_part(p, own, row_bytes, rank, room);
    if (is_good && rank == 0) {
        place_part(p, (size_t)element, room, whole);
    }
    free(room);
    free(name);
    return is_good;
}

/* A kind of a table that nobody has is passed by. */
static bool join_table(const trainer *t, const json_t *about, const json_t *table,
                       int kind, whole_values *out) {
    size_t count = json_array_size(json_object_get(table, "parts"));
    const ig_argument *own = NULL;
    part p = part_of(about, table, 0, kind);
    int64_t element;
    for (size_t k = 0; k < count && !own; k++) {
        part one = part_of(about, table, k, kind);
        char *name = own_name(&one);
        own = one.own > 0 ? trainer_find(t, name) : NULL;
        free(name);
    }
    if (!agree_element(own, &element) || element == 0) {
        return element == 0;
    }
    whole_value whole = { .dims = { p.is_row ? p.rows * p.count : p.rows,
                                    p.is_row ? 1 : p.dim } };
    size_t size = (size_t)(whole.dims[0] * whole.dims[1] * element);
    whole.memory = rank_of(about) == 0 ? need(malloc(size + 1)) : NULL;
    bool is_good = true;
    for (size_t k = 0; k < count && is_good; k++) {
        p = part_of(about, table, k, kind);
        is_good = join_part(t, about, &p, element, whole.memory);
    }
    if (rank_of(about) > 0 || !is_good) {
        free(whole.memory);
        return is_good;
    }
    whole.name = text_of("%s%s", p.table, kinds[kind]);
    whole.value = (ig_argument){ .dtype = element == 8 ? "f64" : "f32",
                                 .rank = 2,
                                 .data = whole.memory,
                                 .size = size };
    *add_whole(out, NULL) = whole;
    return true;
}

static bool join_tables(const trainer *t, const json_t *about, whole_values *out) {
    size_t i;
    json_t *table;
    json_array_foreach(json_object_get(about, "tables"), i, table) {
        for (int kind = 0; kind < KINDS; kind++) {
            if (!join_table(t, about, table, kind, out)) {
                complain(0, "ranks cannot join '%s'", text_in(table, "name"));
                return false;
            }
        }
    }
    return true;
}

/* The order is that of any number of ranks. */
static int compare_names(const void *a, const void *b) {
    return strcmp(((const whole_value *)a)->name, ((const whole_value *)b)->name);
}

bool wholes_gather(const trainer *t, const json_t *about, whole_values *out) {
    part p;
    *out = (whole_values){ 0 };
    for (size_t i = 0; rank_of(about) == 0 && i < t->with.count; i++) {
        const char *name = model_input_name(&t->m, i);
        if (t->memory[i] && !find_part(about, name, &p)) {
            add_whole(out, text_of("%s", name))->value = t->with.inputs[i];
        }
    }
    bool is_good = join_tables(t, about, out);
    if (out->count > 0) {
        qsort(out->items, out->count, sizeof *out->items, compare_names);
    }
    for (size_t i = 0; i < out->count; i++) { /* they do not move any more */
        whole_value *value = &out->items[i];
        value->value.dims = value->memory ? value->dims : value->value.dims;
    }
    return is_good;
}

void wholes_free(whole_values *all) {
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i].name);
        free(all->items[i].memory);
    }
    free(all->items);
}

/* ---- cutting ---- */

char *whole_name(const trainer *t, const json_t *about, size_t index) {
    part p;
    const char *name = model_input_name(&t->m, index);
    return find_part(about, name, &p) ? text_of("%s%s", p.table, kinds[p.kind])
                                      : text_of("%s", name);
}

/* One number a row of `from` parts, for a rank whose columns are cut otherwise: their
 * mean, as the mean over all columns is that of parts as wide. */
static void cut_means(const part *p, int64_t rank, int64_t from,
                      const ig_argument *whole, char *out) {
    bool is_wide = strcmp(whole->dtype, "f64") == 0;
    for (size_t i = 0; i < json_array_size(p->shards); i++) {
        int64_t base = shard_index(p, i, 3), first = shard_index(p, i, 1);
        bool is_own = shard_index(p, i, 0) == rank;
        for (int64_t row = 0; is_own && row < shard_index(p, i, 2); row++) {
            double sum = 0;
            for (int64_t k = 0; k < from; k++) {
                size_t at = (size_t)(k * p->rows + first + row);
                sum += ig_argument_number(whole, at) / (double)from;
            }
            float single = (float)sum;
            memcpy(out + (size_t)(base + row) * (is_wide ? 8 : 4),
                   is_wide ? (const void *)&sum : (const void *)&single,
                   is_wide ? 8 : 4);
        }
    }
}

/* False: the whole is of another size. */
static bool cut_part(const part *p, int64_t rank, const ig_argument *whole, char *out) {
    size_t element = element_of(whole->dtype);
    int64_t count = (int64_t)(whole->size / element), from = count / p->rows;
    bool is_alike = p->is_row ? from == p->count : from == p->dim;
    if (count % p->rows != 0 || from == 0 || (!is_alike && !p->is_row)) {
        return false;
    }
    if (!is_alike) {
        cut_means(p, rank, from, whole, out);
        return true;
    }
    for (size_t i = 0; i < json_array_size(p->shards); i++) {
        if (shard_index(p, i, 0) == rank) {
            copy_shard(p, i, element, (char *)(uintptr_t)whole->data, out, false);
        }
    }
    return true;
}

bool whole_give(trainer *t, const json_t *about, size_t index,
                const ig_argument *whole) {
    part p;
    const char *name = model_input_name(&t->m, index);
    ig_argument own =
        t->with.inputs[index]; /* its extents: rows may have one axis less */
    if (strcmp(whole->dtype, own.dtype) != 0) {
        return false;
    }
    if (!find_part(about, name, &p)) {
        own.data = whole->data;
        return whole->size == own.size && trainer_set(t, name, &own);
    }
    char *bytes = need(malloc(own.size + 1));
    own.data = bytes;
    bool is_good = cut_part(&p, rank_of(about), whole, bytes) &&
                   trainer_set(t, name, &own);
    free(bytes);
    return is_good;
}
