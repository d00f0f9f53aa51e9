/* The repository's thread.  SPDX-License-Identifier: Apache-2.0
 *
 * A look (look.h) is held against the slots: versions that are new, or whose files
 * changed, are made; those that are gone, end.  Slots are the thread's own; catalogs
 * made of them are handed out under the lock.  Versions that no catalog lists any more
 * are closed here, never in a loop, whose requests would wait for it.
 */
#include "tools/serve/model/repository.h"

#include "tools/serve/model/log.h"
#include "tools/serve/model/slots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WANTED = 4096, RETIRED_LOOK_MS = 100 };

struct repository {
    repository_options options;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news; /* an errand, or the end */
    errand *first, **last;
    bool is_ending;
    catalog *now;
    atomic_uint generation;
    atomic_bool is_ready;
    /* The thread's own: */
    slot_list slots;
    served **retired; /* no slot's any more, and perhaps a catalog's */
    size_t retired_count;
    char *wanted[MAX_WANTED]; /* names that are loaded, where clients say which */
    size_t wanted_count;
    unsigned copies; /* names of own copies */
};

/* ---- catalogs ---- */

bool repository_is_ready(const repository *of) {
    return atomic_load(&of->is_ready);
}

unsigned repository_generation(const repository *of) {
    return atomic_load_explicit(&of->generation, memory_order_acquire);
}

catalog *repository_take(repository *of) {
    pthread_mutex_lock(&of->lock);
    catalog *list = of->now;
    list->users++;
    pthread_mutex_unlock(&of->lock);
    return list;
}

void repository_give_back(repository *of, catalog *list) {
    pthread_mutex_lock(&of->lock);
    bool is_last = --list->users == 0;
    pthread_mutex_unlock(&of->lock);
    if (is_last) {
        catalog_destroy(list);
    }
}

static void publish_catalog(repository *of) {
    catalog *list = slots_list(&of->slots);
    if (!list) {
        log_event(IG_LOG_ERROR, "publish", NULL, 0,
                  "memory for a list of models ran out");
        return;
    }
    list->users = 1; /* the repository */
    pthread_mutex_lock(&of->lock);
    catalog *before = of->now;
    of->now = list;
    pthread_mutex_unlock(&of->lock);
    atomic_fetch_add_explicit(&of->generation, 1, memory_order_release);
    if (before) {
        repository_give_back(of, before);
    }
    for (size_t i = 0; i < of->options.loop_count; i++) {
        mailbox_wake(&of->options.boxes[i]);
    }
}

/* ---- versions that end ---- */

static void retire_version(repository *of, served *was) {
    if (!was) {
        return;
    }
    served **grown = realloc(of->retired, (of->retired_count + 1) * sizeof *grown);
    if (grown) { /* else it stays open to the end */
        of->retired = grown;
        grown[of->retired_count++] = was;
    }
}

static void close_retired(repository *of) {
    size_t kept = 0;
    for (size_t i = 0; i < of->retired_count; i++) {
        if (atomic_load(&of->retired[i]->users) == 0) {
            served_close(of->retired[i]);
        } else {
            of->retired[kept++] = of->retired[i];
        }
    }
    of->retired_count = kept;
}

/* ---- versions that begin ---- */

/* Is the file itself served?  Whoever publishes it has said that it is only ever
 * replaced by rename: one that is cut in place would end the server. */
static bool is_mapped(const model_config *config, const char *path) {
    const char *suffix = strrchr(path, '.');
    return config->is_trusted && suffix && strcmp(suffix, ".ingot") == 0;
}

/* Finds the config's script: beside config.json, in the folder of the folder
 * of the model's file. */
static bool place_script(model_config *of, const found_version *version, char *words) {
    const char *path = version->path, *end = path + strlen(path);
    char number[24];
    if (!of->script) {
        return true;
    }
    snprintf(number, sizeof number, "/%lld/", (long long)version->id);
    for (int i = 0; i < 2 && end; i++) {
        end = memrchr(path, '/', (size_t)(end - path));
    }
    if (!end || strncmp(end, number, strlen(number)) != 0 ||
        asprintf(&of->script_path, "%.*s/%s", (int)(end - path), path, of->script) <
            0) {
        of->script_path = NULL;
        snprintf(words, WORDS, "ingot.script: a model without a folder has no scripts");
        return false;
    }
    return true;
}

/* Makes the program that a slot should serve; on failure its reason says why, and the
 * old one stays. */
static bool make_version(repository *of, slot *at, const found_model *model,
                         const found_version *version) {
    char path[4096];
    model_config config;
    served *made = NULL;
    snprintf(path, sizeof path, "%s/%u.ingot", of->options.own.folder, of->copies++);
    at->is_tried = true;
    at->model = version->model;
    at->config = version->config;
    at->script = version->script;
    if (model->reason) {
        snprintf(at->reason, WORDS, "%.*s", WORDS - 1, model->reason);
        return false;
    }
    bool is_read = config_read(&config, model->config, model->config_size, at->reason);
    if (!is_read) {
        char words[WORDS];
        snprintf(words, WORDS, "config.json: %.900s", at->reason);
        memcpy(at->reason, words, WORDS);
    } else if (!version->path) {
        snprintf(at->reason, WORDS, "no model file: model.ingot, .onnx, .pt or .pt2");
    } else if (!place_script(&config, version, at->reason)) {
        made = NULL;
    } else if (is_mapped(&config, version->path)) {
        made = served_open(at->name, at->version, version->path, &config,
                           &of->options.runs, at->reason);
    } else if (own_artifact(&of->options.own, version->path, &config, path,
                            at->reason)) {
        made = served_open(at->name, at->version, path, &config, &of->options.runs,
                           at->reason);
        unlink(path);
    }
    config_free(&config);
    if (made) {
        at->reason[0] = '\0';
        retire_version(of, at->served);
        at->served = made;
    }
    log_event(made ? IG_LOG_INFO : IG_LOG_ERROR, made ? "load" : "load failed",
              at->name, at->version, at->reason);
    return made != NULL;
}

static size_t find_wanted(const repository *of, const char *name) {
    size_t i = 0;
    while (i < of->wanted_count && strcmp(of->wanted[i], name) != 0 &&
           strcmp(of->wanted[i], "*") != 0) {
        i++;
    }
    return i;
}

static bool is_wanted(const repository *of, const char *name) {
    return !of->options.is_explicit || find_wanted(of, name) < of->wanted_count;
}

/* Did the slot last try another state of the files? */
static bool has_changed(const slot *at, const found_version *version) {
    return !at->is_tried || !stamps_equal(&at->model, &version->model) ||
           !stamps_equal(&at->config, &version->config) ||
           !stamps_equal(&at->script, &version->script);
}

/* Makes the new versions of a model; `is_asked`: also what failed before.  Whether
 * anything changed. */
static bool follow_model(repository *of, const found_model *model, bool is_asked) {
    model_config config;
    char words[WORDS];
    bool is_read = config_read(&config, model->config, model->config_size, words);
    bool is_new = false;
    size_t newer = 0;
    for (size_t i = 0; i < model->count; i++) {
        const found_version *version = &model->versions[i];
        if (is_read && !config_wants(&config, version->id, newer++)) {
            continue;
        }
        slot *at = slots_need(&of->slots, model->name, version->id);
        if (!at) {
            continue;
        }
        at->is_stale = false;
        if (has_changed(at, version) || is_asked) {
            make_version(of, at, model, version);
            is_new = true;
        }
    }
    config_free(&config);
    return is_new;
}

static void read_all_paths(repository *of, found_list *out) {
    for (size_t i = 0; i < of->options.path_count; i++) {
        look_at(of->options.paths[i], of->options.name, out);
    }
}

/* Ends versions that the last look did not see. */
static bool end_stale(repository *of) {
    bool is_any = false;
    for (size_t i = of->slots.count; i-- > 0;) {
        if (of->slots.items[i].is_stale) {
            log_event(IG_LOG_INFO, "unload", of->slots.items[i].name,
                      of->slots.items[i].version, "");
            retire_version(of, slots_remove(&of->slots, i));
            is_any = true;
        }
    }
    return is_any;
}

/* Looks at all places and follows the requests; publishes what changed. */
static void follow_paths(repository *of) {
    found_list found = { 0 };
    read_all_paths(of, &found);
    for (size_t i = 0; i < of->slots.count; i++) {
        of->slots.items[i].is_stale = true;
    }
    for (size_t i = 0; i < found.count; i++) {
        if (is_wanted(of, found.models[i].name) &&
            follow_model(of, &found.models[i], false)) {
            publish_catalog(of); /* the next one may take long to compile */
        }
    }
    if (end_stale(of)) {
        publish_catalog(of);
    }
    look_free(&found);
}

/* ---- errands ---- */

static bool want_name(repository *of, const char *name) {
    size_t at = find_wanted(of, name);
    if (at < of->wanted_count) {
        return true;
    }
    char *own = at < MAX_WANTED ? strdup(name) : NULL;
    if (own) {
        of->wanted[of->wanted_count++] = own;
    }
    return own != NULL;
}

static void forget_name(repository *of, const char *name) {
    size_t at = find_wanted(of, name);
    if (at < of->wanted_count && strcmp(of->wanted[at], name) == 0) {
        free(of->wanted[at]);
        of->wanted[at] = of->wanted[--of->wanted_count];
    }
}

/* Whether all wanted versions of the model are ready; else the first reason. */
static bool is_model_good(const repository *of, const char *name, char *words) {
    bool is_any = false;
    for (size_t i = 0; i < of->slots.count; i++) {
        const slot *at = &of->slots.items[i];
        if (strcmp(at->name, name) != 0) {
            continue;
        }
        if (at->reason[0]) {
            snprintf(words, WORDS, "%.*s", WORDS - 1, at->reason);
            return false;
        }
        is_any = true;
    }
    if (!is_any) {
        snprintf(words, WORDS, "'%.200s' has no version that can be served", name);
    }
    return is_any;
}

static void load_model(repository *of, errand *what) {
    found_list found = { 0 };
    read_all_paths(of, &found);
    found_model *model = NULL;
    for (size_t i = 0; i < found.count && !model; i++) {
        model = strcmp(found.models[i].name, what->name) == 0 ? &found.models[i] : NULL;
    }
    if (!model) {
        what->status = CALL_NOT_FOUND;
        snprintf(what->words, WORDS, "no folder of models holds '%.200s'", what->name);
    } else if (!want_name(of, what->name)) {
        what->status = CALL_FULL;
        snprintf(what->words, WORDS, "too many models");
    } else {
        if (what->config) {
            free(model->config);
            model->config = strdup(what->config);
            model->config_size = model->config ? strlen(model->config) : 0;
        }
        for (size_t i = 0; i < of->slots.count; i++) {
            of->slots.items[i].is_stale = strcmp(of->slots.items[i].name, what->name) ==
                                          0;
        }
        follow_model(of, model, true);
        end_stale(of);
        publish_catalog(of);
        bool is_good = is_model_good(of, what->name, what->words);
        what->status = is_good ? CALL_OK : CALL_INVALID;
    }
    look_free(&found);
}

static void unload_model(repository *of, errand *what) {
    forget_name(of, what->name);
    for (size_t i = 0; i < of->slots.count; i++) {
        of->slots.items[i].is_stale = strcmp(of->slots.items[i].name, what->name) == 0;
    }
    end_stale(of); /* none: a model that is not loaded is unloaded already */
    publish_catalog(of);
}

static void run_errand(repository *of, errand *what) {
    what->status = CALL_OK;
    what->words[0] = '\0';
    if (!of->options.is_explicit) {
        what->status = CALL_UNAVAILABLE;
        snprintf(what->words, WORDS,
                 "models follow the folders; only a server that was "
                 "started with --explicit loads and unloads what clients say");
    } else if (!is_model_name(what->name)) {
        what->status = CALL_INVALID;
        snprintf(what->words, WORDS, "'%.200s' is not the name of a model", what->name);
    } else if (what->is_load) {
        load_model(of, what);
    } else {
        unload_model(of, what);
    }
    mailbox_put(what->to, what);
}

void repository_ask(repository *of, errand *what) {
    what->next = NULL;
    pthread_mutex_lock(&of->lock);
    *of->last = what;
    of->last = &what->next;
    pthread_cond_signal(&of->news);
    pthread_mutex_unlock(&of->lock);
}

/* ---- the thread ---- */

static struct timespec in_ms(int64_t ms) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Waits for an errand, `ms` at the most (-1: for ever).  NULL: the time is over, or
 * all. */
static errand *await_errand(repository *of, int64_t ms, bool *out_is_ending) {
    struct timespec until = in_ms(ms < 0 ? 0 : ms);
    pthread_mutex_lock(&of->lock);
    int late = 0;
    while (!of->first && !of->is_ending && !late) {
        late = ms < 0 ? pthread_cond_wait(&of->news, &of->lock)
                      : pthread_cond_timedwait(&of->news, &of->lock, &until);
    }
    errand *what = of->first;
    if (what && !(of->first = what->next)) {
        of->last = &of->first;
    }
    *out_is_ending = of->is_ending;
    pthread_mutex_unlock(&of->lock);
    return what;
}

static void *follow_for_ever(void *user) {
    repository *of = user;
    if (!of->options.is_explicit || of->options.load_count) {
        follow_paths(of);
    }
    atomic_store(&of->is_ready, true);
    log_event(IG_LOG_INFO, "ready", NULL, 0, "");
    int64_t poll = of->options.is_explicit ? 0 : 1000LL * of->options.poll_seconds;
    for (int64_t left = poll;;) {
        bool is_ending;
        int64_t wait = !poll ? -1 : left > 0 ? left : 0;
        if (of->retired_count && (wait < 0 || wait > RETIRED_LOOK_MS)) {
            wait = RETIRED_LOOK_MS;
        }
        errand *what = await_errand(of, wait, &is_ending);
        if (is_ending && !what) {
            return NULL;
        }
        left -= wait;
        if (what) {
            run_errand(of, what);
        } else if (poll && left <= 0) {
            follow_paths(of);
            left = poll;
        }
        close_retired(of);
    }
}

repository *repository_open(const repository_options *options, char words[WORDS]) {
    repository *of = calloc(1, sizeof *of);
    if (!of) {
        snprintf(words, WORDS, "memory ran out");
        return NULL;
    }
    of->options = *options;
    of->last = &of->first;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&of->news, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&of->lock, NULL);
    for (size_t i = 0; i < options->load_count; i++) {
        want_name(of, options->load[i]);
    }
    publish_catalog(of);
    if (!of->now || pthread_create(&of->thread, NULL, follow_for_ever, of) != 0) {
        snprintf(words, WORDS, "no thread for the repository");
        free(of);
        return NULL;
    }
    return of;
}

static void end_shadows(repository *of) {
    for (size_t i = 0; i < of->retired_count; i++) {
        served_end_shadow(of->retired[i]);
    }
    for (size_t i = 0; i < of->slots.count; i++) {
        served_end_shadow(of->slots.items[i].served);
    }
}

void repository_close(repository *of) {
    own_stop();
    pthread_mutex_lock(&of->lock);
    of->is_ending = true;
    pthread_cond_signal(&of->news);
    pthread_mutex_unlock(&of->lock);
    pthread_join(of->thread, NULL);
    catalog_destroy(of->now);
    end_shadows(of); /* which use other versions */
    for (size_t i = 0; i < of->retired_count; i++) {
        served_close(of->retired[i]);
    }
    slots_free(&of->slots);
    free(of->slots.items);
    free(of->retired);
    while (of->wanted_count) {
        forget_name(of, of->wanted[of->wanted_count - 1]);
    }
    free(of);
}
