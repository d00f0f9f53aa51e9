/* LMDB environments: one a file and process, with room that grows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORE_LMDB_ENVIRONMENT_H
#define IG_RUNTIME_STORE_LMDB_ENVIRONMENT_H

#include "runtime/store/call.h"

#include <lmdb.h>
#include <pthread.h>
#include <sys/types.h>

typedef struct environment {
    struct environment *next;
    dev_t device;
    ino_t inode;
    int users;
    char *path;
    MDB_env *env;
    MDB_dbi cells;
    pthread_rwlock_t room; /* shared by transactions; alone while the map grows */
    pthread_mutex_t writer;
} environment;

/* Opens the file, made when it is not there, or shares the environment that this
 * process has open on it. */
ig_status ig_lmdb_open(const ig_store_call *call, const char *path, bool is_synced,
                       environment **out_environment);
void ig_lmdb_close(environment *shared);

/* One transaction over the cells.  Returns LMDB's result, or IG_LMDB_STOPPED to abort
 * for a reason that `state` keeps (read and write return IG_OK then).  May be called
 * again from the start, when the map had to grow. */
enum { IG_LMDB_STOPPED = 1 << 20 };
typedef int ig_lmdb_work(MDB_txn *transaction, MDB_dbi cells, void *state);
ig_status ig_lmdb_read(const ig_store_call *call, environment *shared,
                       ig_lmdb_work *work, void *state);
ig_status ig_lmdb_write(const ig_store_call *call, environment *shared,
                        ig_lmdb_work *work, void *state);
/* The status and the words of a result. */
ig_status ig_lmdb_fail(const ig_store_call *call, const char *path, int result);

#endif
