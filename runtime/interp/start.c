/* Interpreters that are started, ended, or kept for the next manager.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An interpreter that cannot be unloaded waits in a list of the process when its
 * manager is destroyed: it is the one thing here that is not of a handle.  Names that
 * the previous manager put into __main__ or sys.path are still there.
 */
#include "runtime/interp/host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static ig_interp *idle; /* guarded by idle_lock */

/* Engines whose globals are one interpreter's, so that each needs a copy. */
static const char *const in_namespaces[] = { "cpython" };

bool ig_interp_folder(const char *name, char out_path[IG_INTERP_PATH_BYTES]) {
    Dl_info info;
    const void *here = &idle;
    if (dladdr(here, &info) == 0 || !info.dli_fname) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname) : 1;
    int written = snprintf(out_path, IG_INTERP_PATH_BYTES, "%.*s/%s", folder,
                           slash ? info.dli_fname : ".", name);
    return written > 0 && written < IG_INTERP_PATH_BYTES;
}

static bool engine_path(const char *engine, char path[IG_INTERP_PATH_BYTES]) {
    char file[64];
    int written = snprintf(file, sizeof file, "libingot-interp-%s.so", engine);
    return strspn(engine, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(engine) &&
           written > 0 && written < (int)sizeof file && ig_interp_folder(file, path);
}

/* The words of the loader tell which of its limits was met. */
static ig_status fail_open(const ig_interp_call *how, const char *engine) {
    const char *why = dlerror();
    bool is_limit = why && (strstr(why, "no more namespaces") || strstr(why, "TLS"));
    if (is_limit) {
        return ig_interp_fail(how, IG_LIMIT,
                              "no further interpreter: %s; begin the program with "
                              "GLIBC_TUNABLES=glibc.rtld.nns=16, or ask for fewer",
                              why);
    }
    return ig_interp_fail(how, IG_UNSUPPORTED, "interpreters of '%s' cannot be had: %s",
                          engine, why ? why : "no such engine");
}

static bool needs_namespace(const char *engine) {
    for (size_t i = 0; i < sizeof in_namespaces / sizeof in_namespaces[0]; i++) {
        if (strcmp(engine, in_namespaces[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void free_interp(ig_interp *interp) {
    (void)pthread_mutex_destroy(&interp->post);
    free(interp);
}

static ig_interp *make_interp(const ig_engine *engine, bool is_apart) {
    ig_interp *made = aligned_alloc(64, (sizeof *made + 63) / 64 * 64);
    if (made) {
        memset(made, 0, sizeof *made);
        (void)pthread_mutex_init(&made->post, NULL);
        made->engine = engine;
        made->box.is_apart = is_apart;
    }
    return made;
}

/* Brings it up: in its own thread, which is waited for, or in this one. */
static ig_status bring_up(ig_interp *interp, const ig_interp_call *how) {
    ig_engine_job first = { .message = how->message,
                            .message_size = how->message_size };
    interp->box.job = &first;
    if (interp->engine->start(&interp->box) != 0) {
        return ig_interp_fail(how, IG_LIMIT, "no thread or memory for an interpreter");
    }
    while (interp->engine->has_owner &&
           atomic_load(&interp->box.state) == IG_MAIL_STARTING) {
        ig_futex_wait(&interp->box.state, IG_MAIL_STARTING, 0);
    }
    atomic_store(&interp->box.state, IG_MAIL_IDLE);
    interp->box.job = NULL;
    interp->state = first.state;
    return first.status;
}

static void *return_at_once(void *nothing) {
    return nothing;
}

/* The loader's lock is one for all namespaces, and is taken by the code of the first
 * libc, which uses no atomic operations until it has made a thread.  Threads that
 * namespaces make it does not see: two of them in dlopen would both have the lock, or
 * wait for it forever. */
static bool tell_of_threads(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, return_at_once, NULL) == 0 &&
           pthread_join(thread, NULL) == 0;
}

/* The library of one that does not come up stays open: its threads may still end. */
ig_status ig_interp_begin(const ig_interp_call *how, const char *engine, bool is_here,
                          ig_interp **out_interp) {
    char path[IG_INTERP_PATH_BYTES];
    if (!engine_path(engine, path)) {
        return ig_interp_fail(how, IG_UNSUPPORTED, "there is no engine '%s'", engine);
    }
    bool is_apart = !is_here && needs_namespace(engine);
    if (is_apart && !INGOT_INTERP_NAMESPACES) {
        return ig_interp_fail(how, IG_UNSUPPORTED,
                              "a build with sanitizers has no link namespaces: the "
                              "engine 'process' needs none");
    }
    if (is_apart && !tell_of_threads()) {
        return ig_interp_fail(how, IG_LIMIT, "no thread for an interpreter");
    }
    /* Extension modules take libpython's names from all that is loaded. */
    int scope = needs_namespace(engine) ? RTLD_GLOBAL : RTLD_LOCAL;
    void *library = is_apart ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL)
                             : dlopen(path, RTLD_NOW | scope);
    void *symbol = library ? dlsym(library, IG_ENGINE_SYMBOL) : NULL;
    if (!symbol) {
        return fail_open(how, engine);
    }
    ig_engine_entry *entry;
    memcpy(&entry, &symbol, sizeof entry);
    if (entry()->abi != IG_ENGINE_ABI) {
        return ig_interp_fail(how, IG_UNSUPPORTED,
                              "the engine '%s' is of another build", engine);
    }
    ig_interp *made = make_interp(entry(), is_apart);
    if (!made) {
        return ig_interp_fail(how, IG_LIMIT, "no memory for an interpreter");
    }
    ig_status status = bring_up(made, how);
    if (status != IG_OK) {
        free_interp(made);
        return status;
    }
    *out_interp = made;
    return IG_OK;
}

static ig_interp *take_idle(const char *engine) {
    (void)pthread_mutex_lock(&idle_lock);
    ig_interp **at = &idle;
    while (*at && strcmp((*at)->engine->name, engine) != 0) {
        at = &(*at)->next;
    }
    ig_interp *found = *at;
    if (found) {
        *at = found->next;
    }
    (void)pthread_mutex_unlock(&idle_lock);
    return found;
}

static void keep_idle(ig_interp *interp) {
    (void)pthread_mutex_lock(&idle_lock);
    interp->manager = NULL;
    interp->next = idle;
    idle = interp;
    (void)pthread_mutex_unlock(&idle_lock);
}

ig_status ig_interp_start(const ig_interp_call *how, const char *engine,
                          ig_interp **out_interp) {
    *out_interp = take_idle(engine);
    if (*out_interp) {
        return IG_OK;
    }
    ig_status status = ig_interp_begin(how, engine, false, out_interp);
    bool is_full = status == IG_LIMIT && strcmp(engine, "cpython") == 0;
    ig_interp_call quiet = { .size = sizeof quiet }; /* else the first reason stays */
    return is_full && ig_interp_begin(&quiet, "process", true, out_interp) == IG_OK
               ? IG_OK
               : status;
}

void ig_interp_stop(ig_interp *interp) {
    if (!interp->engine->stop) {
        keep_idle(interp);
        return;
    }
    interp->engine->stop(interp->state);
    free_interp(interp);
}
