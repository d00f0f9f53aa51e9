/* redis://[user:password@]host[:port][/database][?options]: cells in a Redis server.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A cell is a string under the key that TorchRec's dynamic embedding gives it,
 * PREFIX_table_TABLE_gid_ID_cid_COLUMN_osid_STATE, so that both see one another's rows.
 * One push may be read by others while half of it is written; each cell is whole.
 */
#include "runtime/store/redis/pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = IG_REDIS_TEXT_BYTES + IG_STORE_TABLE_BYTES + 128 };

/* ---- names ---- */

static char *add_text(char *to, const char *text) {
    size_t size = strlen(text);
    return (char *)memcpy(to, text, size) + size;
}

static char *add_number(char *to, int64_t number) {
    char digits[20], *at = digits + sizeof digits;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do {
        *--at = (char)('0' + left % 10);
    } while (left /= 10);
    *to = '-';
    to += number < 0;
    size_t size = (size_t)(digits + sizeof digits - at);
    return (char *)memcpy(to, at, size) + size;
}

/* By hand: one of these per cell and call is a good part of a call's time. */
static size_t write_key(const pool *p, ig_store_cell cell, char key[KEY_BYTES]) {
    char *to = add_text(add_text(key, p->url.prefix), "_table_");
    to = add_number(add_text(add_text(to, cell.table), "_gid_"), cell.id);
    to = add_number(add_text(to, "_cid_"), cell.column);
    to = add_number(add_text(to, "_osid_"), cell.state);
    *to = 0;
    return (size_t)(to - key);
}

/* Cuts "MARK NUMBER" off the end of a text. */
static bool cut_number(char *text, const char *mark, int64_t *out_number) {
    size_t end = strlen(text), mark_size = strlen(mark), at = end;
    while (at > 0 &&
           ((text[at - 1] >= '0' && text[at - 1] <= '9') || text[at - 1] == '-')) {
        at--;
    }
    if (at == end || at < mark_size ||
        memcmp(text + at - mark_size, mark, mark_size) != 0) {
        return false;
    }
    *out_number = strtoll(text + at, NULL, 10);
    text[at - mark_size] = 0;
    return true;
}

/* The cell of a key, whose table is kept in `text`; false: it is none of ours. */
static bool read_key(const pool *p, const char *key, char text[KEY_BYTES],
                     ig_store_cell *out_cell) {
    char again[KEY_BYTES];
    int64_t state = 0;
    size_t size = strlen(key), before = strlen(p->url.prefix) + strlen("_table_");
    if (size >= KEY_BYTES || size < before) {
        return false;
    }
    memcpy(text, key, size + 1);
    if (!cut_number(text, "_osid_", &state) ||
        !cut_number(text, "_cid_", &out_cell->column) ||
        !cut_number(text, "_gid_", &out_cell->id) || strlen(text) <= before ||
        strlen(text) > before + IG_STORE_TABLE_BYTES) {
        return false;
    }
    out_cell->state = (uint32_t)state;
    out_cell->table = text + before;
    (void)write_key(p, *out_cell, again);
    return strcmp(again, key) == 0;
}

/* ---- cells of a request, each name once ---- */

/* A cell of the request by its name. */
typedef struct named_cell {
    int64_t id, column;
    uint32_t state;
    size_t index;
} named_cell;

typedef struct request {
    const pool *pool;
    const ig_store_cells *cells;
    named_cell *order; /* of cells: equal names side by side, in order */
    size_t *groups;    /* where the run of a name begins in `order`, and the end */
    size_t group_count;
    const char *data;        /* pushes */
    const uint64_t *offsets; /* pushes */
    const char *verb;
    ig_store_found *found; /* pulls */
    void *user;
    size_t *nil; /* groups that a bundle had no value for */
    size_t nil_count;
} request;

static int compare_names(const named_cell *a, const named_cell *b) {
    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    if (a->column != b->column) {
        return a->column < b->column ? -1 : 1;
    }
    return (a->state > b->state) - (a->state < b->state);
}

static int compare_named_cells(const void *left, const void *right) {
    const named_cell *a = left, *b = right;
    int names = compare_names(a, b);
    return names != 0 ? names : (a->index > b->index) - (a->index < b->index);
}

static void free_request(request *r) {
    free(r->order);
    free(r->groups);
    free(r->nil);
}

static ig_status sort_request(const ig_store_call *call, request *r) {
    size_t count = ig_store_cell_count(r->cells);
    r->order = calloc(count, sizeof *r->order);
    r->groups = calloc(count + 1, sizeof *r->groups);
    r->nil = calloc(count, sizeof *r->nil);
    if (!r->order || !r->groups || !r->nil) {
        free_request(r);
        return ig_store_fail(call, IG_LIMIT, "table '%s': out of memory",
                             r->cells->table);
    }
    for (size_t i = 0; i < count; i++) {
        ig_store_cell cell = ig_store_cell_at(r->cells, i);
        r->order[i] = (named_cell){ cell.id, cell.column, cell.state, i };
    }
    qsort(r->order, count, sizeof *r->order, compare_named_cells);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_names(&r->order[i - 1], &r->order[i]) != 0) {
            r->groups[r->group_count++] = i;
        }
    }
    r->groups[r->group_count] = count;
    return IG_OK;
}

/* Of equal names the last: a later value replaces an earlier one. */
static size_t last_of(const request *r, size_t group) {
    return r->order[r->groups[group + 1] - 1].index;
}

static bool put_cell(void *user, connection *c, size_t group) {
    const request *r = user;
    char key[KEY_BYTES];
    size_t cell = last_of(r, group);
    const char *words[] = { r->verb, key, NULL };
    size_t sizes[] = { strlen(r->verb), 0, 0 };
    sizes[1] = write_key(r->pool, ig_store_cell_at(r->cells, cell), key);
    if (r->offsets) {
        sizes[2] = r->offsets[cell + 1] - r->offsets[cell];
        words[2] = sizes[2] > 0 ? r->data + r->offsets[cell] : "";
    }
    return ig_redis_queue(c, r->offsets ? 3 : 2, words, sizes);
}

/* The group's name, as a word of the command that was begun. */
static bool add_name(const request *r, connection *c, size_t group) {
    char key[KEY_BYTES];
    ig_store_cell cell = ig_store_cell_at(r->cells, last_of(r, group));
    return ig_redis_add_word(c, key, write_key(r->pool, cell, key));
}

static ig_status run_request(pool *p, const ig_store_call *call, request *r,
                             ig_redis_work work) {
    r->pool = p;
    IG_TRY(sort_request(call, r));
    work.user = r;
    work.count = r->group_count;
    work.put = put_cell;
    ig_status status = ig_redis_pool_run(p, call, &work);
    free_request(r);
    return status;
}

/* ---- calls ---- */

static ig_status take_value(void *user, const ig_store_call *call, const connection *c,
                            size_t group, const redisReply *reply) {
    const request *r = user;
    bool is_there = reply->type == REDIS_REPLY_STRING;
    if (!is_there && reply->type != REDIS_REPLY_NIL) {
        return ig_redis_refused(c, call, reply);
    }
    for (size_t i = r->groups[group]; i < r->groups[group + 1]; i++) {
        r->found(r->user, r->order[i].index, is_there ? reply->str : NULL,
                 is_there ? reply->len : 0);
    }
    return IG_OK;
}

/* MGET says nil of keys that are not strings, too: GET knows better. */
static ig_status take_of_bundle(void *user, const ig_store_call *call,
                                const connection *c, size_t group,
                                const redisReply *reply) {
    request *r = user;
    if (reply->type == REDIS_REPLY_NIL) {
        r->nil[r->nil_count++] = group;
        return IG_OK;
    }
    return take_value(user, call, c, group, reply);
}

/* One name has no array. */
static bool put_bundle(void *user, connection *c, size_t from, size_t count) {
    bool is_good = ig_redis_begin(c, 1 + count, count) &&
                   (count == 1 ? ig_redis_add_word(c, "GET", 3)
                               : ig_redis_add_word(c, "MGET", 4));
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = add_name(user, c, from + i);
    }
    return is_good;
}

static bool put_nil(void *user, connection *c, size_t index) {
    const request *r = user;
    return ig_redis_begin(c, 2, 1) && ig_redis_add_word(c, "GET", 3) &&
           add_name(r, c, r->nil[index]);
}

static ig_status take_nil(void *user, const ig_store_call *call, const connection *c,
                          size_t index, const redisReply *reply) {
    const request *r = user;
    return take_value(user, call, c, r->nil[index], reply);
}

static ig_status pull_cells(void *store, const ig_store_call *call,
                            const ig_store_cells *cells, ig_store_found *found,
                            void *user) {
    request r = { .pool = store, .cells = cells, .found = found, .user = user };
    ig_redis_work bundles = { .put_bundle = put_bundle, .take = take_of_bundle };
    ig_redis_work singles = { .put = put_nil, .take = take_nil };
    IG_TRY(sort_request(call, &r));
    bundles.user = singles.user = &r;
    bundles.count = r.group_count > 1 ? r.group_count : 0;
    r.nil_count = r.group_count == 1; /* group 0, at once */
    ig_status status = ig_redis_pool_run(store, call, &bundles);
    singles.count = r.nil_count;
    if (status == IG_OK) {
        status = ig_redis_pool_run(store, call, &singles);
    }
    free_request(&r);
    return status;
}

static ig_status take_ok(void *user, const ig_store_call *call, const connection *c,
                         size_t group, const redisReply *reply) {
    (void)user;
    (void)group;
    bool is_ok = reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0;
    return is_ok ? IG_OK : ig_redis_refused(c, call, reply);
}

static ig_status push_cells(void *store, const ig_store_call *call,
                            const ig_store_cells *cells, const void *data,
                            const uint64_t *offsets) {
    request r = { .cells = cells, .verb = "SET", .data = data, .offsets = offsets };
    for (size_t i = 0, count = ig_store_cell_count(cells); i < count; i++) {
        if (offsets[i + 1] - offsets[i] > IG_REDIS_REPLY_BYTES) {
            return ig_store_fail(call, IG_LIMIT,
                                 "table '%s': cell %zu has more than %d bytes",
                                 cells->table, i, IG_REDIS_REPLY_BYTES);
        }
    }
    return run_request(store, call, &r,
                       (ig_redis_work){ .take = take_ok, .is_write = true });
}

static ig_status take_number(void *user, const ig_store_call *call, const connection *c,
                             size_t group, const redisReply *reply) {
    (void)user;
    (void)group;
    bool is_number = reply->type == REDIS_REPLY_INTEGER;
    return is_number ? IG_OK : ig_redis_refused(c, call, reply);
}

static ig_status erase_cells(void *store, const ig_store_call *call,
                             const ig_store_cells *cells) {
    request r = { .cells = cells, .verb = "DEL" };
    return run_request(store, call, &r,
                       (ig_redis_work){ .take = take_number, .is_write = true });
}

static bool put_ping(void *user, connection *c, size_t index) {
    (void)user;
    (void)index;
    return ig_redis_queue(c, 1, (const char *[]){ "PING" }, NULL);
}

static ig_status take_pong(void *user, const ig_store_call *call, const connection *c,
                           size_t index, const redisReply *reply) {
    (void)user;
    (void)index;
    bool is_pong = reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "PONG") == 0;
    return is_pong ? IG_OK : ig_redis_refused(c, call, reply);
}

static ig_status answer_ping(void *store, const ig_store_call *call) {
    ig_redis_work work = { .count = 1, .put = put_ping, .take = take_pong };
    return ig_redis_pool_run(store, call, &work);
}

/* ---- scanning ---- */

/* All keys are listed first, because SCAN may give one twice; then read. */
typedef struct scan {
    const pool *pool;
    const char *table;
    ig_store_visit *visit;
    void *user;
    char pattern[2 * KEY_BYTES], cursor[24], run[IG_REDIS_RUN_BYTES];
    char **keys;
    size_t key_count, key_room;
    bool is_over;
} scan;

/* A text in a pattern of SCAN, where some bytes mean more than themselves. */
static void add_plain(char *pattern, const char *text) {
    size_t size = strlen(pattern);
    for (; *text; text++) {
        if (strchr("*?[]\\^-", *text)) {
            pattern[size++] = '\\';
        }
        pattern[size++] = *text;
    }
    pattern[size] = 0;
}

static bool put_scan(void *user, connection *c, size_t index) {
    const scan *s = user;
    (void)index;
    const char *words[] = { "SCAN", s->cursor, "MATCH", s->pattern, "COUNT", "1000" };
    return ig_redis_queue(c, 6, words, NULL);
}

static bool keep_key(scan *s, const char *key) {
    if (s->key_count == s->key_room) {
        size_t room = s->key_room * 2 + 1024;
        char **grown = realloc(s->keys, room * sizeof *grown);
        if (!grown) {
            return false;
        }
        s->keys = grown;
        s->key_room = room;
    }
    s->keys[s->key_count] = strdup(key);
    return s->keys[s->key_count++] != NULL;
}

static ig_status take_keys(void *user, const ig_store_call *call, const connection *c,
                           size_t index, const redisReply *reply) {
    scan *s = user;
    (void)index;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        reply->element[0]->type != REDIS_REPLY_STRING ||
        reply->element[1]->type != REDIS_REPLY_ARRAY) {
        return ig_redis_refused(c, call, reply);
    }
    const redisReply *keys = reply->element[1];
    for (size_t i = 0; i < keys->elements; i++) {
        const redisReply *key = keys->element[i];
        bool is_text = key->type == REDIS_REPLY_STRING && strlen(key->str) == key->len;
        if (is_text && !keep_key(s, key->str)) {
            return ig_store_fail(call, IG_LIMIT, "%s: out of memory for keys",
                                 c->url->name);
        }
    }
    /* Cursors of another run of the server mean nothing. */
    bool is_same = strcmp(s->run, c->identity.run) == 0 || strcmp(s->cursor, "0") == 0;
    memcpy(s->run, c->identity.run, sizeof s->run);
    (void)snprintf(s->cursor, sizeof s->cursor, "%s", reply->element[0]->str);
    s->is_over = is_same && strcmp(s->cursor, "0") == 0;
    if (!is_same) {
        (void)snprintf(s->cursor, sizeof s->cursor, "0");
    }
    return IG_OK;
}

static int compare_keys(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static ig_status list_keys(pool *p, const ig_store_call *call, scan *s) {
    ig_redis_work work = { .user = s, .count = 1, .put = put_scan, .take = take_keys };
    (void)snprintf(s->cursor, sizeof s->cursor, "0");
    while (!s->is_over) {
        IG_TRY(ig_redis_pool_run(p, call, &work));
    }
    size_t kept = 0;
    if (s->key_count > 0) {
        qsort(s->keys, s->key_count, sizeof *s->keys, compare_keys);
    }
    for (size_t i = 0; i < s->key_count; i++) {
        if (kept > 0 && strcmp(s->keys[kept - 1], s->keys[i]) == 0) {
            free(s->keys[i]);
        } else {
            s->keys[kept++] = s->keys[i];
        }
    }
    s->key_count = kept;
    return IG_OK;
}

static bool put_key(void *user, connection *c, size_t index) {
    const scan *s = user;
    return ig_redis_queue(c, 2, (const char *[]){ "GET", s->keys[index] }, NULL);
}

static ig_status take_cell(void *user, const ig_store_call *call, const connection *c,
                           size_t index, const redisReply *reply) {
    const scan *s = user;
    char text[KEY_BYTES];
    ig_store_cell cell = { .data = reply->str, .bytes = reply->len };
    if (reply->type == REDIS_REPLY_NIL) {
        return IG_OK; /* erased meanwhile */
    }
    if (reply->type != REDIS_REPLY_STRING) {
        return ig_redis_refused(c, call, reply);
    }
    bool is_ours = read_key(s->pool, s->keys[index], text, &cell) &&
                   (!s->table || strcmp(s->table, cell.table) == 0);
    return is_ours ? s->visit(s->user, &cell) : IG_OK;
}

static ig_status scan_cells(void *store, const ig_store_call *call, const char *table,
                            ig_store_visit *visit, void *user) {
    pool *p = store;
    scan s = { .pool = p, .table = table, .visit = visit, .user = user };
    add_plain(s.pattern, p->url.prefix);
    add_plain(s.pattern, "_table_");
    add_plain(s.pattern, table ? table : "");
    (void)strncat(s.pattern, table ? "_gid_*" : "*", 8);
    ig_status status = list_keys(p, call, &s);
    ig_redis_work work = { .user = &s, .put = put_key, .take = take_cell };
    work.count = s.key_count;
    if (status == IG_OK) {
        status = ig_redis_pool_run(p, call, &work);
    }
    for (size_t i = 0; i < s.key_count; i++) {
        free(s.keys[i]);
    }
    free(s.keys);
    return status;
}

/* ---- life cycle ---- */

static void close_store(void *store) {
    ig_redis_pool_fini(store);
    free(store);
}

static ig_status open_store(const ig_store_plugin *self, const ig_store_call *call,
                            const char *config, void **out_store) {
    ig_redis_advice advice = { "" };
    ig_redis_url url;
    (void)self;
    IG_TRY(ig_redis_url_read(call, config, &url));
    pool *made = calloc(1, sizeof *made);
    if (!made) {
        return ig_store_fail(call, IG_LIMIT, "out of memory for a store");
    }
    made->url = url;
    ig_status status = ig_redis_pool_init(made, call, &advice);
    if (status != IG_OK) {
        close_store(made);
        return status;
    }
    if (advice.text[0]) {
        (void)ig_store_fail(call, IG_OK,
                            "%s: a crash of the server may lose acknowledged rows: %s",
                            made->url.name, advice.text);
    }
    *out_store = made;
    return IG_OK;
}

static const ig_store_plugin plugin = {
    .size = sizeof plugin,
    .abi = IG_STORE_ABI,
    .type = "redis",
    .open = open_store,
    .close = close_store,
    .pull = pull_cells,
    .push = push_cells,
    .erase = erase_cells,
    .ping = answer_ping,
    .scan = scan_cells,
};

IG_API ig_store_plugin_entry ig_store_plugin_v2;

const ig_store_plugin *ig_store_plugin_v2(void) {
    return &plugin;
}
