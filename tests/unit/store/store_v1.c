/* A store of version 1, as its authors describe one: asynchronous, in memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Written against torchrec's description of the interface, with structs of its own, so
 * that the layout of ours is tested.  "toy1://late" answers after 900 ms.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct {
    const char *table;
    uint32_t columns, ids;
    const int64_t *column_ids, *global_ids;
    uint32_t states;
    void *context;
    void (*fetched)(void *, uint32_t, uint32_t, void *, uint32_t);
    void (*done)(void *);
} pull_request;

typedef struct {
    const char *table;
    uint32_t columns, ids;
    const int64_t *column_ids, *global_ids;
    uint32_t states;
    const uint32_t *state_ids;
    uint32_t offset_count;
    const uint64_t *offsets;
    const void *data;
    void *context;
    void (*done)(void *);
} push_request;

typedef struct row {
    struct row *next;
    char *table;
    int64_t id, column;
    uint32_t state, bytes;
    void *data;
} row;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    row *rows;
    int is_late, running;
} toy;

typedef struct {
    toy *store;
    int is_push;
    pull_request pull;
    push_request push;
} job;

EXPORT const char *IO_type = "toy1";
EXPORT void *IO_Initialize(const char *config);
EXPORT void IO_Finalize(void *store);
EXPORT void IO_Pull(void *store, pull_request request);
EXPORT void IO_Push(void *store, push_request request);

void *IO_Initialize(const char *config) {
    toy *store = calloc(1, sizeof *store);
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->idle, NULL);
    store->is_late = strcmp(config, "late") == 0;
    return store;
}

void IO_Finalize(void *opaque) {
    toy *store = opaque;
    const char *given = getenv("TOY_FINALIZED"); /* a file that says so */
    FILE *file = given ? fopen(given, "w") : NULL;
    if (file) {
        fclose(file);
    }
    pthread_mutex_lock(&store->lock);
    while (store->running > 0) {
        pthread_cond_wait(&store->idle, &store->lock);
    }
    pthread_mutex_unlock(&store->lock);
    for (row *r = store->rows, *next; r; r = next) {
        next = r->next;
        free(r->table);
        free(r->data);
        free(r);
    }
    free(store);
}

static row *find(const toy *store, const char *table, int64_t id, int64_t column,
                 uint32_t state) {
    row *r = store->rows;
    while (r && !(r->id == id && r->column == column && r->state == state &&
                  strcmp(r->table, table) == 0)) {
        r = r->next;
    }
    return r;
}

static void answer_pull(toy *store, const pull_request *p) {
    for (uint32_t i = 0; i < p->ids * p->columns; i++) {
        for (uint32_t s = 0; s < p->states; s++) {
            pthread_mutex_lock(&store->lock);
            const row *r = find(store, p->table, p->global_ids[i / p->columns],
                                p->column_ids[i % p->columns], s);
            p->fetched(p->context, i, s, r ? r->data : NULL, r ? r->bytes : 0);
            pthread_mutex_unlock(&store->lock);
        }
    }
    p->done(p->context);
}

static void put(toy *store, const push_request *p, uint32_t cell) {
    int64_t id = p->global_ids[cell / p->states / p->columns];
    int64_t column = p->column_ids[cell / p->states % p->columns];
    uint32_t state = p->state_ids[cell % p->states];
    row *r = find(store, p->table, id, column, state);
    if (!r) {
        r = calloc(1, sizeof *r);
        *r = (row){ store->rows, strdup(p->table), id, column, state, 0, NULL };
        store->rows = r;
    }
    r->bytes = (uint32_t)(p->offsets[cell + 1] - p->offsets[cell]);
    free(r->data);
    r->data = malloc(r->bytes + 1);
    memcpy(r->data, (const char *)p->data + p->offsets[cell], r->bytes);
}

static void answer_push(toy *store, const push_request *p) {
    pthread_mutex_lock(&store->lock);
    for (uint32_t cell = 0; cell + 1 < p->offset_count; cell++) {
        put(store, p, cell);
    }
    pthread_mutex_unlock(&store->lock);
    p->done(p->context);
}

static void *work(void *opaque) {
    job *j = opaque;
    toy *store = j->store;
    if (store->is_late) {
        usleep(900000);
    }
    if (j->is_push) {
        answer_push(store, &j->push);
    } else {
        answer_pull(store, &j->pull);
    }
    free(j);
    pthread_mutex_lock(&store->lock);
    store->running--;
    pthread_cond_signal(&store->idle);
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

static void begin(toy *store, job j) {
    pthread_t thread;
    job *own = malloc(sizeof *own);
    *own = j;
    pthread_mutex_lock(&store->lock);
    store->running++;
    pthread_mutex_unlock(&store->lock);
    pthread_create(&thread, NULL, work, own);
    pthread_detach(thread);
}

void IO_Pull(void *store, pull_request request) {
    begin(store, (job){ .store = store, .pull = request });
}

void IO_Push(void *store, push_request request) {
    begin(store, (job){ .store = store, .is_push = 1, .push = request });
}
