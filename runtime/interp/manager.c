/* Managers: interpreters that are taken and given back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/host.h"

#include "base/sized.h"

#include <assert.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_COUNT = 2, COUNT_MAX = 64 };

/* Each interpreter knows its manager and its index; the one given back last is one of
 * them. */
static void check_manager(const ig_interp_manager *manager) {
    assert(manager->last < manager->count && "the last one given back is one of ours");
    for (uint32_t i = 0; i < manager->count; i++) {
        assert(manager->interps[i]->manager == manager &&
               "interpreters know their manager");
        assert(manager->interps[i]->index == i && "interpreters know their index");
    }
    (void)manager;
}

/* ---- life cycle ---- */

static ig_status add_path(ig_interp *interp, const ig_interp_call *how,
                          const char *path) {
    ig_engine_job job = { .source = path };
    return ig_interp_do(interp, how, interp->engine->configure, &job);
}

static ig_status set_budgets(ig_interp *interp, const ig_interp_call *how,
                             const ig_interp_options *options) {
    ig_engine_job job = { .instructions = options->instructions,
                          .memory = options->memory,
                          .is_confined = options->is_confined };
    if (interp->engine->set_budgets) {
        return ig_interp_do(interp, how, interp->engine->set_budgets, &job);
    }
    return job.instructions == 0 && job.memory == 0 && !job.is_confined
               ? IG_OK
               : ig_interp_fail(how, IG_UNSUPPORTED,
                                "interpreters of '%s' have no budgets, and are not "
                                "confined: those of 'process' can be",
                                interp->engine->name);
}

/* The caller's folders come first, so that his torch is taken where he has one. */
static ig_status configure_interp(ig_interp *interp, const ig_interp_call *how,
                                  const ig_interp_options *options) {
    char modules[IG_INTERP_PATH_BYTES];
    IG_TRY(set_budgets(interp, how, options));
    for (size_t i = 0; i < options->path_count; i++) {
        IG_TRY(add_path(interp, how, options->paths[i]));
    }
    if (ig_interp_folder("ingot-interp", modules)) {
        IG_TRY(add_path(interp, how, modules));
    }
    ig_engine_job job = { .module = options->use_torch   ? "ingot_interp"
                                    : options->use_numpy ? "numpy"
                                                         : NULL,
                          .name = options->use_torch ? "as_tensor" : "asarray" };
    return ig_interp_do(interp, how, interp->engine->wrap_tensors, &job);
}

/* Is there a torch with an extension module in these folders?  It cannot live in a
 * link namespace. */
static bool has_torch(const ig_interp_options *options) {
    bool is_there = false;
    for (size_t i = 0; i < options->path_count && !is_there; i++) {
        char pattern[IG_INTERP_PATH_BYTES];
        glob_t found;
        int written = snprintf(pattern, sizeof pattern, "%s/torch/_C.*.so",
                               options->paths[i]);
        if (written > 0 && written < (int)sizeof pattern) {
            is_there = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
            globfree(&found);
        }
    }
    return is_there;
}

static ig_status add_interp(ig_interp_manager *manager, const ig_interp_call *how,
                            const ig_interp_options *options) {
    ig_interp *interp = NULL;
    IG_TRY(ig_interp_start(how, options->engine, &interp));
    interp->manager = manager;
    interp->index = manager->count;
    interp->is_taken = false;
    manager->interps[manager->count++] = interp;
    check_manager(manager);
    return configure_interp(interp, how, options);
}

ig_status ig_interp_create(const ig_interp_options *given,
                           const ig_interp_call *given_how,
                           ig_interp_manager **out_manager) {
    ig_interp_call how;
    IG_TRY(ig_interp_call_take(given_how, &how));
    ig_interp_options options = { .size = sizeof options };
    if (!ig_sized_take(&options, sizeof options, given)) {
        return ig_interp_fail(&how, IG_INVALID, IG_UNSIZED_WORDS, "ig_interp_options");
    }
    options.engine = options.engine ? options.engine : "cpython";
    if (strcmp(options.engine, "cpython") == 0 && has_torch(&options)) {
        options.engine = "process";
    }
    options.count = options.count > 0 ? options.count : DEFAULT_COUNT;
    ig_interp_manager *manager = calloc(1, sizeof *manager);
    if (!manager || options.count > COUNT_MAX) {
        free(manager);
        return ig_interp_fail(&how, IG_LIMIT, "a manager has 1 to %d interpreters",
                              COUNT_MAX);
    }
    (void)pthread_mutex_init(&manager->lock, NULL);
    pthread_condattr_t clock;
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&manager->given_back, &clock);
    (void)pthread_condattr_destroy(&clock);
    manager->interps = calloc(options.count, sizeof(ig_interp *));
    ig_status status = manager->interps ? IG_OK : IG_LIMIT;
    while (status == IG_OK && manager->count < options.count) {
        status = add_interp(manager, &how, &options);
    }
    if (status != IG_OK) {
        ig_interp_destroy(manager);
        return status;
    }
    *out_manager = manager;
    return IG_OK;
}

void ig_interp_destroy(ig_interp_manager *manager) {
    if (!manager) {
        return;
    }
    for (uint32_t i = 0; i < manager->count; i++) {
        ig_interp_stop(manager->interps[i]);
    }
    (void)pthread_cond_destroy(&manager->given_back);
    (void)pthread_mutex_destroy(&manager->lock);
    free(manager->interps);
    free(manager);
}

uint32_t ig_interp_count(const ig_interp_manager *manager) {
    return manager->count;
}

ig_interp_counts ig_interp_describe(ig_interp_manager *manager) {
    (void)pthread_mutex_lock(&manager->lock);
    ig_interp_counts counts = manager->counts;
    (void)pthread_mutex_unlock(&manager->lock);
    counts.calls = atomic_load(&manager->calls);
    return counts;
}

ig_status ig_interp_register_source(ig_interp_manager *manager,
                                    const ig_interp_call *how, const char *name,
                                    const char *source) {
    for (uint32_t i = 0; i < manager->count; i++) {
        ig_engine_job job = { .name = name, .source = source };
        ig_interp *interp = manager->interps[i];
        IG_TRY(ig_interp_do(interp, how, interp->engine->add_source, &job));
    }
    return IG_OK;
}

/* ---- taking and giving back ---- */

/* A free interpreter: the wish, or the one given back last, whose memory is in the
 * caches; NULL: none. */
static ig_interp *find_free(const ig_interp_manager *manager, int64_t index) {
    if (index >= 0) {
        ig_interp *wanted = manager->interps[index];
        return wanted->is_taken ? NULL : wanted;
    }
    for (uint32_t i = 0; i < manager->count; i++) {
        uint32_t at = (manager->last + i) % manager->count;
        if (!manager->interps[at]->is_taken) {
            return manager->interps[at];
        }
    }
    return NULL;
}

static bool wait_for_return(ig_interp_manager *manager, int64_t deadline_ns) {
    struct timespec until = { .tv_sec = (time_t)(deadline_ns / 1000000000),
                              .tv_nsec = (long)(deadline_ns % 1000000000) };
    return deadline_ns == 0
               ? pthread_cond_wait(&manager->given_back, &manager->lock) == 0
               : pthread_cond_timedwait(&manager->given_back, &manager->lock, &until) ==
                     0;
}

ig_status ig_interp_acquire(ig_interp_manager *manager, const ig_interp_call *given,
                            int64_t index, ig_interp **out_interp) {
    ig_interp_call how;
    IG_TRY(ig_interp_call_take(given, &how));
    if (index >= (int64_t)manager->count || index < -1) {
        return ig_interp_fail(&how, IG_INVALID, "there is no interpreter %lld of %u",
                              (long long)index, manager->count);
    }
    (void)pthread_mutex_lock(&manager->lock);
    ig_interp *found = find_free(manager, index);
    manager->counts.acquired++;
    manager->counts.waited += found == NULL;
    bool goes_on = true;
    while (!found && goes_on) {
        goes_on = wait_for_return(manager, how.deadline_ns);
        found = find_free(manager, index);
    }
    if (found) {
        found->is_taken = true;
    }
    (void)pthread_mutex_unlock(&manager->lock);
    *out_interp = found;
    return found ? IG_OK
                 : ig_interp_fail(&how, IG_LIMIT,
                                  "no interpreter was given back before the deadline");
}

void ig_interp_release(ig_interp *interp) {
    if (!interp) {
        return;
    }
    ig_interp_manager *manager = interp->manager;
    (void)pthread_mutex_lock(&manager->lock);
    interp->is_taken = false;
    manager->last = interp->index;
    check_manager(manager);
    (void)pthread_cond_broadcast(&manager->given_back); /* some wait for one of them */
    (void)pthread_mutex_unlock(&manager->lock);
}

uint32_t ig_interp_index(const ig_interp *interp) {
    return interp->index;
}
