/* Sessions: who has the hardware.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/profile/session.h"

#include "tools/serve/model/log.h"

#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SESSIONS = 64, MAX_THREADS = 256 };

/* ---- folders ---- */

static int remove_one(const char *path, const struct stat *facts, int kind,
                      struct FTW *where) {
    (void)facts;
    (void)kind;
    (void)where;
    return remove(path);
}

static void remove_folder(const char *path) {
    enum { DESCRIPTORS = 16 };
    nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

static bool make_folder(session *of) {
    int at = snprintf(of->folder, PATH_BYTES, "%.3900s/", of->of->folder);
    for (int i = 0; i < UUID_BYTES; i++) {
        at += snprintf(of->folder + at, (size_t)(PATH_BYTES - at), "%02x", of->uuid[i]);
    }
    return mkdir(of->folder, 0700) == 0;
}

bool session_path(const session *of, uint64_t model_id, const char *name,
                  char out[PATH_BYTES]) {
    for (const char *part = name;; part = strchr(part, '/') + 1) {
        size_t size = strcspn(part, "/");
        bool is_up = (size == 1 && part[0] == '.') ||
                     (size == 2 && part[0] == '.' && part[1] == '.');
        if (size == 0 || is_up) {
            return false;
        }
        if (!part[size]) {
            break;
        }
    }
    int size = snprintf(out, PATH_BYTES, "%s/%llu/%s", of->folder,
                        (unsigned long long)model_id, name);
    return size < PATH_BYTES;
}

model *session_model(session *in, uint64_t id) {
    for (model *each = in->models; each; each = each->next) {
        if (each->id == id) {
            return each;
        }
    }
    model *made = calloc(1, sizeof *made);
    if (made) {
        made->id = id;
        made->next = in->models;
        in->models = made;
    }
    return made;
}

/* ---- opening ---- */

static int count_cpus(void) {
    cpu_set_t cpus;
    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

static bool read_options(const Profile__BackendSpec *of, int *out_threads,
                         char *words) {
    *out_threads = count_cpus();
    for (size_t i = 0; i < of->n_backend_options; i++) {
        const Profile__BackendOption *option = of->backend_options[i];
        char *end;
        long threads = strtol(option->value, &end, 10);
        if (strcmp(option->key, "threads") != 0 || end == option->value || *end ||
            threads < 1 || threads > MAX_THREADS) {
            snprintf(words, WORDS,
                     "%.60s/%.60s[%.60s=%.60s]: there is one option, threads=N",
                     of->hardware_platform, of->software_backend, option->key,
                     option->value);
            return false;
        }
        *out_threads = (int)threads;
    }
    return true;
}

static bool add_worker(session *to, const Profile__BackendSpec *from, char *words) {
    worker *made = &to->workers[to->worker_count++];
    *made = (worker){ .of = to, .child = { .socket = -1 } };
    made->software = backends_get(&to->of->backends, from->hardware_platform,
                                  from->software_backend);
    if (!made->software) {
        snprintf(words, WORDS, "%.100s/%.100s is not a backend of this worker, %s",
                 from->hardware_platform, from->software_backend,
                 to->of->backends.host);
    }
    return made->software && read_options(from, &made->threads, words);
}

static size_t held_by(const profiler *in, const char *user, size_t *out_sessions) {
    size_t held = 0;
    *out_sessions = 0;
    for (const session *each = in->sessions; each; each = each->next) {
        held += strcmp(each->user, user) == 0 ? each->worker_count : 0;
        ++*out_sessions;
    }
    return held;
}

static bool has_quota(const profiler *in, const char *user, size_t count, char *words) {
    size_t sessions, held = held_by(in, user, &sessions);
    if (count > MAX_BACKENDS || held + count > in->options->quota) {
        snprintf(words, WORDS,
                 "%zu backends, and %zu are held already, of %zu (--quota): close a "
                 "session",
                 count, held, in->options->quota);
        return false;
    }
    if (sessions >= MAX_SESSIONS) {
        snprintf(words, WORDS, "%zu sessions wait already", sessions);
        return false;
    }
    return true;
}

/* The oldest sessions are ready, as many as there are slots. */
static void promote(profiler *in) {
    size_t ready = 0;
    for (session *each = in->sessions; each && ready < in->options->slots;
         each = each->next, ready++) {
        if (each->is_ready) {
            continue;
        }
        each->is_ready = true;
        each->beat = in->lane->now;
        while (each->waits) {
            job *first = each->waits;
            Profile__SessionState state = PROFILE__SESSION_STATE__INIT;
            state.ready = true;
            each->waits = first->next;
            job_answer(first, &state.base);
        }
    }
}

session *session_open(profiler *in, const char *user,
                      Profile__BackendSpec *const *backends, size_t count,
                      int *out_code, char words[WORDS]) {
    *out_code = ERROR_INSUFFICIENT_QUOTA;
    if (!has_quota(in, user, count, words)) {
        return NULL;
    }
    session *made = calloc(1, sizeof *made), **last = &in->sessions;
    snprintf(words, WORDS, "memory or disk ran out");
    *out_code = ERROR_INTERNAL;
    if (!made || getrandom(made->uuid, UUID_BYTES, 0) != UUID_BYTES) {
        free(made);
        return NULL;
    }
    made->of = in;
    made->beat = in->lane->now;
    snprintf(made->user, USER_BYTES, "%s", user);
    for (size_t i = 0; i < count; i++) {
        if (!add_worker(made, backends[i], words)) {
            *out_code = ERROR_BACKEND_NONEXISTENT;
            free(made);
            return NULL;
        }
    }
    if (!make_folder(made)) {
        free(made);
        return NULL;
    }
    while (*last) {
        last = &(*last)->next;
    }
    *last = made;
    promote(in);
    return made;
}

session *session_find(profiler *in, const char *user, const ProtobufCBinaryData *uuid) {
    for (session *each = in->sessions; each; each = each->next) {
        if (uuid->len == UUID_BYTES &&
            memcmp(uuid->data, each->uuid, UUID_BYTES) == 0 &&
            strcmp(user, each->user) == 0) {
            each->beat = in->lane->now;
            return each;
        }
    }
    return NULL;
}

/* ---- closing ---- */

static void end_jobs(job *first, const char *words) {
    for (job *next; first; first = next) {
        next = first->next;
        job_fail(first, CALL_PRECONDITION, words);
    }
}

void session_close(session *of, const char *words) {
    profiler *in = of->of;
    session **at = &in->sessions;
    while (*at != of) {
        at = &(*at)->next;
    }
    *at = of->next;
    for (size_t i = 0; i < of->worker_count; i++) {
        child_end(&of->workers[i].child);
    }
    end_jobs(of->jobs, words);
    end_jobs(of->waits, words);
    for (model *next, *each = of->models; each; each = next) {
        next = each->next;
        for (size_t i = 0; i < MAX_BACKENDS; i++) {
            bytes_free(&each->on[i].names);
        }
        free(each);
    }
    remove_folder(of->folder);
    free(of);
    promote(in);
}

/* ---- the profiler ---- */

profiler *profiler_open(const profiler_options *options, const char *folder,
                        char words[WORDS]) {
    profiler *of = calloc(1, sizeof *of);
    snprintf(words, WORDS, "memory or descriptors ran out");
    if (!of) {
        return NULL;
    }
    of->options = options;
    snprintf(of->folder, PATH_BYTES, "%.3900s/profile", folder);
    snprintf(of->component_folder, PATH_BYTES, "%.3900s/%s",
             options->component_folder ? options->component_folder : of->folder,
             options->component_folder ? "" : "components");
    of->components = (components){ of->component_folder, options->component_bytes };
    of->poll = epoll_create1(EPOLL_CLOEXEC);
    if (of->poll < 0 ||
        !backends_find(&of->backends, options->host, options->python, options->presets,
                       options->preset_count, words)) {
        profiler_close(of);
        return NULL;
    }
    if (mkdir(of->folder, 0700) != 0 ||
        (mkdir(of->component_folder, 0700) != 0 && errno != EEXIST)) {
        snprintf(words, WORDS, "%.200s: %s", of->component_folder, strerror(errno));
        profiler_close(of);
        return NULL;
    }
    return of;
}

void profiler_close(profiler *of) {
    if (!of) {
        return;
    }
    while (of->sessions) {
        session_close(of->sessions, "the server ends");
    }
    backends_free(&of->backends);
    if (*of->folder) {
        remove_folder(of->folder);
    }
    if (of->poll >= 0) {
        close(of->poll);
    }
    free(of);
}

void profiler_attach(profiler *of, lane *to) {
    of->lane = to;
    to->profiler = of;
}

int profiler_event(const profiler *of) {
    return of->poll;
}

void profiler_turn(profiler *of) {
    struct epoll_event event;
    while (epoll_wait(of->poll, &event, 1, 0) == 1) {
        job_take_event(event.data.ptr);
    }
}

/* Those that wait are told now and then that they still do. */
static void answer_waits(session *in, int64_t now) {
    const int64_t patience = 5000000000;
    for (job **at = &in->waits; *at;) {
        job *each = *at;
        if (now - each->begun < patience) {
            at = &each->next;
            continue;
        }
        Profile__SessionState state = PROFILE__SESSION_STATE__INIT;
        *at = each->next;
        job_answer(each, &state.base);
    }
}

void profiler_sweep(profiler *of) {
    int64_t now = of->lane->now, patience = of->options->session_seconds * 1000000000LL;
    for (session *next, *each = of->sessions; each; each = next) {
        next = each->next;
        answer_waits(each, now);
        job_check_time(each, now);
        /* Who waits for an answer lives. */
        bool is_asked = (each->jobs && !each->jobs->of->of->is_closed) || each->waits;
        each->beat = is_asked ? now : each->beat;
        if (now - each->beat > patience) {
            log_event(IG_LOG_WARNING, "session lost", NULL, 0,
                      "no heartbeat came for --session-seconds");
            session_close(each, "no heartbeat came in time");
        }
    }
}
