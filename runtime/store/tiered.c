/* tiered://CELLS/URL: the cells used last in memory, all of them in another store.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A push changes memory alone (write back).  A cell that has to go is the least
 * recently used one; its values that the other store lacks are written there first, and
 * a failure of that fails the call that needed the room, before it changed anything.
 * flush writes all that the other store lacks.  One call at a time.
 */
#include "runtime/store/registry.h"

#include <assert.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WRITE_CELLS = 1024, MAX_CELLS = 1 << 30 };

typedef struct held_cell {
    const char *table; /* of the names list */
    int64_t id, column;
    uint32_t state;
    bool is_dirty;                   /* the other store lacks it */
    struct held_cell *newer, *older; /* by last use */
    size_t bytes;
    void *data;
} held_cell;

typedef struct name {
    struct name *next;
    char text[];
} name;

typedef struct tiered {
    ig_store *below;
    size_t limit, count;
    pthread_mutex_t lock; /* of all that follows */
    void *tree;           /* of all cells here */
    held_cell *newest, *oldest;
    name *names;
} tiered;

static int compare_cells(const void *left, const void *right) {
    const held_cell *a = left, *b = right;
    int tables = strcmp(a->table, b->table);
    if (tables != 0) {
        return tables;
    }
    if (a->column != b->column) {
        return a->column < b->column ? -1 : 1;
    }
    if (a->state != b->state) {
        return a->state < b->state ? -1 : 1;
    }
    return (a->id > b->id) - (a->id < b->id);
}

static ig_status lock_tier(tiered *t, const ig_store_call *call) {
    struct timespec until;
    do {
        IG_TRY(ig_store_check_time(call));
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
    } while (pthread_mutex_timedlock(&t->lock, &until) != 0);
    return IG_OK;
}

static ig_status unlock_tier(tiered *t, ig_status status) {
    (void)pthread_mutex_unlock(&t->lock);
    return status;
}

static ig_status report_memory(const ig_store_call *call) {
    return ig_store_fail(call, IG_LIMIT, "tiered://: out of memory");
}

/* ---- cells in memory ---- */

/* Cells are in one list from the newest to the oldest use; with none both its ends are
 * NULL.  A cell of the list is its neighbours' neighbour. */
static void check_cells(const tiered *t) {
    assert((t->count > 0) == (t->newest != NULL) &&
           "a list has as many cells as counted");
    assert((t->newest != NULL) == (t->oldest != NULL) &&
           "a list has both ends or none");
    assert((!t->newest || !t->newest->newer) && "nothing is newer than the newest");
    assert((!t->oldest || !t->oldest->older) && "nothing is older than the oldest");
    assert((!t->newest || !t->newest->older || t->newest->older->newer == t->newest) &&
           "neighbours name each other");
    (void)t;
}

static void unlink_cell(tiered *t, held_cell *e) {
    *(e->newer ? &e->newer->older : &t->newest) = e->older;
    *(e->older ? &e->older->newer : &t->oldest) = e->newer;
}

static void link_newest(tiered *t, held_cell *e) {
    e->newer = NULL;
    e->older = t->newest;
    *(t->newest ? &t->newest->newer : &t->oldest) = e;
    t->newest = e;
}

static void use_cell(tiered *t, held_cell *e) {
    unlink_cell(t, e);
    link_newest(t, e);
    check_cells(t);
}

static void drop_cell(tiered *t, held_cell *e) {
    (void)tdelete(e, &t->tree, compare_cells);
    unlink_cell(t, e);
    t->count--;
    check_cells(t);
    free(e->data);
    free(e);
}

static held_cell key_of(const ig_store_cells *cells, size_t index) {
    ig_store_cell cell = ig_store_cell_at(cells, index);
    return (held_cell){
        .table = cell.table, .id = cell.id, .column = cell.column, .state = cell.state
    };
}

static held_cell *find_cell(const tiered *t, const ig_store_cells *cells,
                            size_t index) {
    held_cell key = key_of(cells, index);
    held_cell *const *at = tfind(&key, &t->tree, compare_cells);
    return at ? *at : NULL;
}

static const char *keep_name(tiered *t, const char *text) {
    size_t size = strlen(text) + 1;
    for (const name *n = t->names; n; n = n->next) {
        if (strcmp(n->text, text) == 0) {
            return n->text;
        }
    }
    name *made = malloc(sizeof *made + size);
    if (!made) {
        return NULL;
    }
    memcpy(made->text, text, size);
    made->next = t->names;
    t->names = made;
    return made->text;
}

static held_cell *make_cell(tiered *t, held_cell key) {
    held_cell *made = malloc(sizeof *made);
    key.table = keep_name(t, key.table);
    if (!made || !key.table) {
        free(made);
        return NULL;
    }
    *made = key;
    if (!tsearch(made, &t->tree, compare_cells)) {
        free(made);
        return NULL;
    }
    link_newest(t, made);
    t->count++;
    check_cells(t);
    return made;
}

/* Puts a value in place of the one there; false: out of memory, nothing changed. */
static bool set_cell(tiered *t, const ig_store_cells *cells, size_t index,
                     const void *data, size_t bytes, bool is_dirty) {
    void *copy = malloc(bytes > 0 ? bytes : 1);
    held_cell *e = copy ? find_cell(t, cells, index) : NULL;
    e = copy && !e ? make_cell(t, key_of(cells, index)) : e;
    if (!e) {
        free(copy);
        return false;
    }
    if (bytes > 0) {
        memcpy(copy, data, bytes);
    }
    free(e->data);
    e->data = copy;
    e->bytes = bytes;
    e->is_dirty = is_dirty;
    use_cell(t, e);
    return true;
}

/* ---- writing back ---- */

static int compare_positions(const void *left, const void *right) {
    return compare_cells(*(held_cell *const *)left, *(held_cell *const *)right);
}

/* Cells of one table, column and state, as one request. */
static ig_status write_group(tiered *t, const ig_store_call *call,
                             held_cell *const *group, size_t count) {
    int64_t ids[WRITE_CELLS];
    uint64_t offsets[WRITE_CELLS + 1] = { 0 };
    ig_store_cells cells = { .size = sizeof cells,
                             .table = group[0]->table,
                             .ids = ids,
                             .id_count = count,
                             .columns = &group[0]->column,
                             .column_count = 1,
                             .states = &group[0]->state,
                             .state_count = 1 };
    for (size_t i = 0; i < count; i++) {
        ids[i] = group[i]->id;
        offsets[i + 1] = offsets[i] + group[i]->bytes;
    }
    char *data = malloc(offsets[count] > 0 ? offsets[count] : 1);
    if (!data) {
        return report_memory(call);
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(data + offsets[i], group[i]->data, group[i]->bytes);
    }
    ig_status status = ig_store_push(t->below, call, &cells, data, offsets);
    free(data);
    for (size_t i = 0; i < count && status == IG_OK; i++) {
        group[i]->is_dirty = false;
    }
    return status;
}

static ig_status write_cells(tiered *t, const ig_store_call *call, held_cell **dirty,
                             size_t count) {
    qsort(dirty, count, sizeof *dirty, compare_positions);
    for (size_t begin = 0, end; begin < count; begin = end) {
        const held_cell *first = dirty[begin];
        end = begin + 1;
        while (end < count && strcmp(dirty[end]->table, first->table) == 0 &&
               dirty[end]->column == first->column &&
               dirty[end]->state == first->state) {
            end++;
        }
        IG_TRY(write_group(t, call, dirty + begin, end - begin));
    }
    return IG_OK;
}

/* Writes dirty cells, the longest unused first; at most WRITE_CELLS, or all. */
static ig_status write_back(tiered *t, const ig_store_call *call, bool is_all) {
    held_cell *dirty[WRITE_CELLS], *e = t->oldest;
    do {
        size_t count = 0;
        for (; e && count < WRITE_CELLS; e = e->newer) {
            if (e->is_dirty) {
                dirty[count++] = e;
            }
        }
        IG_TRY(write_cells(t, call, dirty, count));
    } while (is_all && e);
    return IG_OK;
}

/* Makes room for the cells of a request, which all fit.  Those that memory has are
 * used now, and so not among the longest unused. */
static ig_status make_room(tiered *t, const ig_store_call *call,
                           const ig_store_cells *cells) {
    size_t added = 0;
    for (size_t i = 0, count = ig_store_cell_count(cells); i < count; i++) {
        held_cell *e = find_cell(t, cells, i);
        if (e) {
            use_cell(t, e);
        }
        added += e == NULL;
    }
    while (t->count + added > t->limit) {
        if (t->oldest->is_dirty) {
            IG_TRY(write_back(t, call, false));
        }
        drop_cell(t, t->oldest);
    }
    return IG_OK;
}

/* ---- calls ---- */

/* Cells of one column and state that memory lacks. */
typedef struct missing {
    tiered *tier;
    const ig_store_cells *cells;
    ig_store_found *found;
    void *user;
    int64_t *ids;
    size_t *positions; /* their cells in the request */
    size_t count;
} missing;

static void take_missing(void *user, size_t index, const void *data, size_t bytes) {
    const missing *m = user;
    size_t cell = m->positions[index];
    m->found(m->user, cell, data, bytes);
    if (data && m->tier->count < m->tier->limit) { /* else it is read again */
        (void)set_cell(m->tier, m->cells, cell, data, bytes, false);
    }
}

/* Drops cells that need not be written, among the longest unused, so that recently read
 * ones stay; a read writes nothing. */
static void make_clean_room(tiered *t, size_t count) {
    held_cell *e = t->oldest, *newer = NULL;
    size_t steps = 2 * count + WRITE_CELLS;
    for (; e && t->count + count > t->limit && steps > 0; e = newer, steps--) {
        newer = e->newer;
        if (!e->is_dirty) {
            drop_cell(t, e);
        }
    }
}

static ig_status pull_missing(missing *m, const ig_store_call *call, size_t column,
                              size_t state) {
    ig_store_cells wanted = { .size = sizeof wanted,
                              .table = m->cells->table,
                              .ids = m->ids,
                              .columns = &m->cells->columns[column],
                              .column_count = 1,
                              .states = &m->cells->states[state],
                              .state_count = 1 };
    m->count = 0;
    for (size_t i = 0; i < m->cells->id_count; i++) {
        size_t cell = (i * m->cells->column_count + column) * m->cells->state_count +
                      state;
        held_cell *e = find_cell(m->tier, m->cells, cell);
        if (e) {
            use_cell(m->tier, e);
            m->found(m->user, cell, e->data, e->bytes);
        } else {
            m->ids[m->count] = m->cells->ids[i];
            m->positions[m->count++] = cell;
        }
    }
    if (m->count == 0) {
        return IG_OK;
    }
    wanted.id_count = m->count;
    make_clean_room(m->tier, m->count);
    return ig_store_pull(m->tier->below, call, &wanted, take_missing, m);
}

static ig_status pull_cells(void *opaque, const ig_store_call *call,
                            const ig_store_cells *cells, ig_store_found *found,
                            void *user) {
    tiered *t = opaque;
    missing m = { .tier = t, .cells = cells, .found = found, .user = user };
    ig_status status = IG_OK;
    m.ids = calloc(cells->id_count, sizeof *m.ids);
    m.positions = calloc(cells->id_count, sizeof *m.positions);
    if (!m.ids || !m.positions) {
        free(m.ids);
        free(m.positions);
        return report_memory(call);
    }
    status = lock_tier(t, call);
    if (status == IG_OK) {
        for (size_t c = 0; c < cells->column_count && status == IG_OK; c++) {
            for (size_t s = 0; s < cells->state_count && status == IG_OK; s++) {
                status = pull_missing(&m, call, c, s);
            }
        }
        status = unlock_tier(t, status);
    }
    free(m.ids);
    free(m.positions);
    return status;
}

static void drop_cells(tiered *t, const ig_store_cells *cells) {
    for (size_t i = 0, count = ig_store_cell_count(cells); i < count; i++) {
        held_cell *e = find_cell(t, cells, i);
        if (e) {
            drop_cell(t, e);
        }
    }
}

/* Values larger than the memory go below at once. */
static ig_status push_through(tiered *t, const ig_store_call *call,
                              const ig_store_cells *cells, const void *data,
                              const uint64_t *offsets) {
    IG_TRY(ig_store_push(t->below, call, cells, data, offsets));
    drop_cells(t, cells);
    return IG_OK;
}

static ig_status push_above(tiered *t, const ig_store_call *call,
                            const ig_store_cells *cells, const void *data,
                            const uint64_t *offsets) {
    size_t count = ig_store_cell_count(cells);
    IG_TRY(make_room(t, call, cells));
    for (size_t i = 0; i < count; i++) {
        const char *from = data ? (const char *)data + offsets[i] : NULL;
        if (!set_cell(t, cells, i, from, offsets[i + 1] - offsets[i], true)) {
            return report_memory(call);
        }
    }
    return IG_OK;
}

static ig_status push_cells(void *opaque, const ig_store_call *call,
                            const ig_store_cells *cells, const void *data,
                            const uint64_t *offsets) {
    tiered *t = opaque;
    bool fits = ig_store_cell_count(cells) <= t->limit;
    IG_TRY(lock_tier(t, call));
    return unlock_tier(
        t, (fits ? push_above : push_through)(t, call, cells, data, offsets));
}

static ig_status erase_cells(void *opaque, const ig_store_call *call,
                             const ig_store_cells *cells) {
    tiered *t = opaque;
    IG_TRY(lock_tier(t, call));
    ig_status status = ig_store_erase(t->below, call, cells);
    if (status == IG_OK) {
        drop_cells(t, cells);
    }
    return unlock_tier(t, status);
}

static ig_status flush_cells(void *opaque, const ig_store_call *call) {
    tiered *t = opaque;
    IG_TRY(lock_tier(t, call));
    ig_status status = write_back(t, call, true);
    return unlock_tier(t, status == IG_OK ? ig_store_flush(t->below, call) : status);
}

static ig_status answer_ping(void *opaque, const ig_store_call *call) {
    return ig_store_ping(((tiered *)opaque)->below, call);
}

static ig_status scan_cells(void *opaque, const ig_store_call *call, const char *table,
                            ig_store_visit *visit, void *user) {
    tiered *t = opaque;
    IG_TRY(lock_tier(t, call));
    ig_status status = write_back(t, call, true);
    return unlock_tier(t, status == IG_OK
                              ? ig_store_scan(t->below, call, table, visit, user)
                              : status);
}

/* ---- life cycle ---- */

static void close_tiered(void *opaque) {
    tiered *t = opaque;
    ig_store_call call = { .size = sizeof call };
    (void)!write_back(t, &call, true); /* a flush before tells of failures */
    ig_store_close(t->below);
    while (t->oldest) {
        drop_cell(t, t->oldest);
    }
    for (name *n = t->names, *next; n; n = next) {
        next = n->next;
        free(n);
    }
    (void)pthread_mutex_destroy(&t->lock);
    free(t);
}

static ig_status open_tiered(const ig_store_plugin *self, const ig_store_call *call,
                             const char *config, void **out_store) {
    char *end = NULL;
    (void)self;
    long long cells = config[0] >= '1' && config[0] <= '9' ? strtoll(config, &end, 10)
                                                           : 0;
    if (cells < 1 || cells > MAX_CELLS || *end != '/' || !strstr(end, "://")) {
        return ig_store_fail(call, IG_INVALID,
                             "tiered:// takes how many cells memory holds and the URL "
                             "of a store, such as tiered://1000000/lmdb:///PATH");
    }
    tiered *made = calloc(1, sizeof *made);
    if (!made) {
        return report_memory(call);
    }
    ig_status status = ig_store_open(end + 1, call, &made->below);
    if (status != IG_OK) {
        free(made);
        return status;
    }
    made->limit = (size_t)cells;
    (void)pthread_mutex_init(&made->lock, NULL);
    *out_store = made;
    return IG_OK;
}

const ig_store_plugin ig_store_tiered = {
    .size = sizeof ig_store_tiered,
    .abi = IG_STORE_ABI,
    .type = "tiered",
    .open = open_tiered,
    .close = close_tiered,
    .pull = pull_cells,
    .push = push_cells,
    .erase = erase_cells,
    .flush = flush_cells,
    .ping = answer_ping,
    .scan = scan_cells,
};
