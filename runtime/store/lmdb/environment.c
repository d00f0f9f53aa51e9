/* LMDB environments: one a file and process, with room that grows.
 * SPDX-License-Identifier: Apache-2.0
 *
 * LMDB forbids opening one file twice in a process (its locks are the process's), so
 * open environments are listed by device and inode and shared.  The size of the map is
 * a limit that may change only while no transaction of this process is open: all of
 * them share `room`, and whoever meets MDB_MAP_FULL takes it alone, doubles the map and
 * begins again.  (LMDB 0.9, lmdb.h: mdb_env_open, mdb_env_set_mapsize.)
 */
#include "runtime/store/lmdb/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { FIRST_MAP_BYTES = 64 << 20, FILE_MODE = 0600 };

/* Names the format; no table can be called so, since names are not empty. */
static const char mark_key[] = "\0ingot-store";
static const char mark[] = "1";

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static environment *open_environments; /* guarded by list_lock */

/* ---- words ---- */

static ig_status status_of(int result) {
    switch (result) {
    case ENOMEM:
    case MDB_READERS_FULL:
    case MDB_TXN_FULL:
    case MDB_MAP_FULL:
        return IG_LIMIT;
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INCOMPATIBLE:
        return IG_INVALID;
    default:
        return IG_IO;
    }
}

ig_status ig_lmdb_fail(const ig_store_call *call, const char *path, int result) {
    const char *why = mdb_strerror(result);
    if (result == MDB_INVALID || result == MDB_INCOMPATIBLE) {
        why = "this is not a store that Ingot made";
    } else if (result == EISDIR) {
        why = "this is a folder; expected a file, or a name for a new one";
    }
    return ig_store_fail(call, status_of(result), "lmdb://%s: %s", path, why);
}

/* ---- opening ---- */

static int check_mark(MDB_txn *transaction, MDB_dbi cells) {
    MDB_val key = { sizeof mark_key - 1, (void *)(uintptr_t)mark_key }, value;
    int result = mdb_get(transaction, cells, &key, &value);
    if (result == MDB_NOTFOUND) {
        MDB_stat stat;
        result = mdb_stat(transaction, cells, &stat);
        value = (MDB_val){ sizeof mark - 1, (void *)(uintptr_t)mark };
        if (result != MDB_SUCCESS || stat.ms_entries > 0) {
            return result != MDB_SUCCESS ? result : MDB_INCOMPATIBLE;
        }
        return mdb_put(transaction, cells, &key, &value, 0);
    }
    bool is_ours = result == MDB_SUCCESS && value.mv_size == sizeof mark - 1 &&
                   memcmp(value.mv_data, mark, sizeof mark - 1) == 0;
    return result != MDB_SUCCESS || is_ours ? result : MDB_VERSION_MISMATCH;
}

static int open_cells(environment *made) {
    MDB_txn *transaction = NULL;
    int result = mdb_txn_begin(made->env, NULL, 0, &transaction);
    if (result != MDB_SUCCESS) {
        return result;
    }
    result = mdb_dbi_open(transaction, NULL, 0, &made->cells);
    if (result == MDB_SUCCESS) {
        result = check_mark(transaction, made->cells);
    }
    if (result != MDB_SUCCESS) {
        mdb_txn_abort(transaction);
        return result;
    }
    return mdb_txn_commit(transaction);
}

/* Whoever only reads must not make a file: LMDB would, also in place of an empty
 * one. */
static int check_file(const char *path, bool must_exist) {
    struct stat stat_of;
    if (stat(path, &stat_of) != 0) {
        return must_exist ? errno : MDB_SUCCESS;
    }
    if (S_ISDIR(stat_of.st_mode)) {
        return EISDIR;
    }
    return must_exist && stat_of.st_size == 0 ? MDB_INVALID : MDB_SUCCESS;
}

static int open_file(environment *made, bool is_synced, bool must_exist) {
    struct stat stat_of;
    int dead = 0;
    unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (is_synced ? 0 : MDB_NOSYNC);
    int result = check_file(made->path, must_exist);
    if (result == MDB_SUCCESS) {
        result = mdb_env_create(&made->env);
    }
    if (result == MDB_SUCCESS) {
        result = mdb_env_set_mapsize(made->env, FIRST_MAP_BYTES);
    }
    if (result == MDB_SUCCESS) {
        result = mdb_env_open(made->env, made->path, flags, FILE_MODE);
    }
    if (result == MDB_SUCCESS) {
        result = mdb_reader_check(made->env, &dead);
    }
    if (result == MDB_SUCCESS && stat(made->path, &stat_of) != 0) {
        result = errno;
    }
    made->device = stat_of.st_dev;
    made->inode = stat_of.st_ino;
    return result == MDB_SUCCESS ? open_cells(made) : result;
}

static void free_environment(environment *gone) {
    if (gone->env) {
        mdb_env_close(gone->env);
    }
    (void)pthread_mutex_destroy(&gone->writer);
    (void)pthread_rwlock_destroy(&gone->room);
    free(gone->path);
    free(gone);
}

static ig_status make_environment(const ig_store_call *call, const char *path,
                                  bool is_synced, environment **out_environment) {
    environment *made = calloc(1, sizeof *made);
    char *name = strdup(path);
    if (!made || !name) {
        free(made);
        free(name);
        return ig_lmdb_fail(call, path, ENOMEM);
    }
    made->path = name;
    made->users = 1;
    pthread_rwlockattr_t kind; /* readers must not keep the map from growing */
    (void)pthread_rwlockattr_init(&kind);
    (void)pthread_rwlockattr_setkind_np(&kind,
                                        PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    (void)pthread_rwlock_init(&made->room, &kind);
    (void)pthread_rwlockattr_destroy(&kind);
    (void)pthread_mutex_init(&made->writer, NULL);
    int result = open_file(made, is_synced, call->must_exist != 0);
    if (result != MDB_SUCCESS) {
        ig_status status = ig_lmdb_fail(call, path, result);
        free_environment(made);
        return status;
    }
    *out_environment = made;
    return IG_OK;
}

static environment *find_open(const char *path) {
    struct stat stat_of;
    if (stat(path, &stat_of) != 0) {
        return NULL;
    }
    for (environment *e = open_environments; e; e = e->next) {
        if (e->device == stat_of.st_dev && e->inode == stat_of.st_ino) {
            return e;
        }
    }
    return NULL;
}

ig_status ig_lmdb_open(const ig_store_call *call, const char *path, bool is_synced,
                       environment **out_environment) {
    ig_status status = IG_OK;
    (void)pthread_mutex_lock(&list_lock);
    environment *shared = find_open(path);
    if (shared) {
        shared->users++;
    } else {
        status = make_environment(call, path, is_synced, &shared);
        if (status == IG_OK) {
            shared->next = open_environments;
            open_environments = shared;
        }
    }
    (void)pthread_mutex_unlock(&list_lock);
    *out_environment = shared;
    return status;
}

void ig_lmdb_close(environment *shared) {
    (void)pthread_mutex_lock(&list_lock);
    if (--shared->users == 0) {
        environment **at = &open_environments;
        while (*at != shared) {
            at = &(*at)->next;
        }
        *at = shared->next;
        free_environment(shared);
    }
    (void)pthread_mutex_unlock(&list_lock);
}

/* ---- transactions ---- */

/* Makes room after MDB_MAP_FULL, or takes over the size that another process set
 * (MDB_MAP_RESIZED). */
static int make_room(environment *shared, int why) {
    MDB_envinfo info;
    (void)pthread_rwlock_wrlock(&shared->room);
    int result = mdb_env_info(shared->env, &info);
    if (result == MDB_SUCCESS) {
        result = mdb_env_set_mapsize(shared->env,
                                     why == MDB_MAP_FULL ? info.me_mapsize * 2 : 0);
    }
    (void)pthread_rwlock_unlock(&shared->room);
    return result;
}

static int run_once(environment *shared, unsigned flags, ig_lmdb_work *work,
                    void *state) {
    MDB_txn *transaction = NULL;
    int result = mdb_txn_begin(shared->env, NULL, flags, &transaction);
    if (result == MDB_READERS_FULL) { /* of processes that died, perhaps */
        int dead = 0;
        (void)mdb_reader_check(shared->env, &dead);
        result = mdb_txn_begin(shared->env, NULL, flags, &transaction);
    }
    if (result != MDB_SUCCESS) {
        return result;
    }
    result = work(transaction, shared->cells, state);
    if (result != MDB_SUCCESS || (flags & MDB_RDONLY)) {
        mdb_txn_abort(transaction);
        return result;
    }
    return mdb_txn_commit(transaction);
}

static ig_status run_transaction(const ig_store_call *call, environment *shared,
                                 unsigned flags, ig_lmdb_work *work, void *state) {
    int result;
    do {
        (void)pthread_rwlock_rdlock(&shared->room);
        result = run_once(shared, flags, work, state);
        (void)pthread_rwlock_unlock(&shared->room);
    } while ((result == MDB_MAP_FULL || result == MDB_MAP_RESIZED) &&
             (result = make_room(shared, result)) == MDB_SUCCESS);
    return result == MDB_SUCCESS || result == IG_LMDB_STOPPED
               ? IG_OK
               : ig_lmdb_fail(call, shared->path, result);
}

ig_status ig_lmdb_read(const ig_store_call *call, environment *shared,
                       ig_lmdb_work *work, void *state) {
    return run_transaction(call, shared, MDB_RDONLY, work, state);
}

/* LMDB lets one writer in; a deadline ends the wait for those of this process, which is
 * looked at every 20 ms. */
static ig_status lock_writer(const ig_store_call *call, environment *shared) {
    struct timespec limit;
    do {
        IG_TRY(ig_store_check_time(call));
        (void)clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_nsec += 20000000;
        limit.tv_sec += limit.tv_nsec / 1000000000;
        limit.tv_nsec %= 1000000000;
    } while (pthread_mutex_timedlock(&shared->writer, &limit) != 0);
    return IG_OK;
}

ig_status ig_lmdb_write(const ig_store_call *call, environment *shared,
                        ig_lmdb_work *work, void *state) {
    IG_TRY(lock_writer(call, shared));
    ig_status status = run_transaction(call, shared, 0, work, state);
    (void)pthread_mutex_unlock(&shared->writer);
    return status;
}
