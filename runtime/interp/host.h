/* Declarations shared by the parts of the library's own side.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_INTERP_HOST_H
#define IG_RUNTIME_INTERP_HOST_H

#include "runtime/interp/engine.h"

#include <pthread.h>

struct ig_interp {
    ig_mailbox box;
    const ig_engine *engine;
    void *state; /* the engine's */
    ig_interp_manager *manager;
    uint32_t index;
    bool is_taken;
    pthread_mutex_t post; /* one job at a time */
    ig_interp *next;      /* in the list of those without a manager */
};

struct ig_interp_manager {
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    ig_interp **interps;
    uint32_t count, last; /* last: the one given back last */
    ig_interp_counts counts;
    atomic_ullong calls;
    ig_interp_replica *packages; /* loaded; guarded by lock, as is the next number */
    int64_t package_id;
};

/* ---- call.c ---- */

/* With defaults for the fields that the caller's struct lacks. */
ig_status ig_interp_call_take(const ig_interp_call *given, ig_interp_call *out_call);
IG_PRINTF(3, 4)
ig_status ig_interp_fail(const ig_interp_call *how, ig_status status,
                         const char *format, ...);
/* Has the interpreter do this work, and waits for it. */
ig_status ig_interp_do(ig_interp *interp, const ig_interp_call *given,
                       void (*work)(ig_engine_job *), ig_engine_job *job);

/* ---- start.c ---- */

enum { IG_INTERP_PATH_BYTES = 4096 };

/* A file or folder beside this library. */
bool ig_interp_folder(const char *name, char out_path[IG_INTERP_PATH_BYTES]);

/* A new one; in the namespace of this library, or in the one that its engine needs. */
ig_status ig_interp_begin(const ig_interp_call *how, const char *engine, bool is_here,
                          ig_interp **out_interp);
/* One that an earlier manager left, or a new one; beyond the link namespaces that there
 * are, one in a process of its own. */
ig_status ig_interp_start(const ig_interp_call *how, const char *engine,
                          ig_interp **out_interp);
/* Ends it, or keeps it for the next manager where the engine cannot. */
void ig_interp_stop(ig_interp *interp);

#endif
