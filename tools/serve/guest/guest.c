/* The server's side of a model's process.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/guest/guest.h"

#include "tools/serve/guest/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_MS = 20, START_SECONDS = 60, RUN_SECONDS = 30, MAX_LOOPS = 64 };
static const int64_t grace_ns = 1000000000; /* that a run has to see its deadline */

struct guest {
    guest_control *control; /* shared, and everything after it */
    size_t size;
    int memory, model; /* descriptors, for a process that is started again */
    const ig_port *outputs;
    pthread_mutex_t lock; /* of the rest */
    pid_t id;             /* 0: none */
    atomic_uint generation;
    char words[MAX_LOOPS][CHANNEL_WORDS];
};

static int64_t time_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* ---- the process ---- */

static int spawn_process(guest *of) {
    char *argv[] = { "ingot-serve", "guest", NULL };
    char *environment[] = { "PATH=/usr/bin:/bin", "LANG=C.UTF-8", NULL };
    int memory = fcntl(of->memory, F_DUPFD_CLOEXEC, GUEST_MODEL + 1);
    int model = fcntl(of->model, F_DUPFD_CLOEXEC, GUEST_MODEL + 1);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, memory, GUEST_MEMORY);
    posix_spawn_file_actions_adddup2(&files, model, GUEST_MODEL);
    posix_spawn_file_actions_addclosefrom_np(&files, GUEST_MODEL + 1);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &usual);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int failed = memory < 0 || model < 0 ? errno
                                         : posix_spawn(&of->id, "/proc/self/exe",
                                                       &files, &how, argv, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    close(memory);
    close(model);
    return failed;
}

static bool has_ended(const guest *of) {
    siginfo_t how = { 0 };
    return of->id == 0 ||
           (waitid(P_PID, (id_t)of->id, &how, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            how.si_pid != 0);
}

/* Ends it where it has not, and says how it ended. */
static void reap(guest *of, char *words) {
    int status = 0;
    if (of->id == 0) {
        snprintf(words, CHANNEL_WORDS, "the model's process does not start");
        return;
    }
    kill(of->id, SIGKILL);
    while (waitpid(of->id, &status, 0) < 0 && errno == EINTR) {
    }
    of->id = 0;
    if (WIFSIGNALED(status)) {
        snprintf(words, CHANNEL_WORDS,
                 "the model's process was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        snprintf(words, CHANNEL_WORDS, "the model's process ended with exit status %d",
                 WEXITSTATUS(status));
    }
}

/* Starts it, and waits until it can run. */
static bool start_process(guest *of, char *words) {
    guest_control *control = of->control;
    for (size_t i = 0; i < control->loop_count; i++) {
        atomic_store(&channel_at(control, i)->turn, CHANNEL_IDLE);
    }
    atomic_store(&control->is_ready, 0);
    int failed = spawn_process(of);
    if (failed) {
        of->id = 0;
        snprintf(words, CHANNEL_WORDS, "the model's process did not start: %s",
                 strerror(failed));
        return false;
    }
    int64_t end = time_now() + START_SECONDS * 1000000000LL;
    uint32_t is_ready;
    while ((is_ready = atomic_load(&control->is_ready)) == 0 && !has_ended(of) &&
           time_now() < end) {
        channel_await(&control->is_ready, 0, SLICE_MS);
    }
    if (is_ready == 1) {
        return true;
    }
    reap(of, words);
    if (is_ready == 2) {
        snprintf(words, CHANNEL_WORDS, "%.*s", CHANNEL_WORDS - 1, control->words);
    }
    return false;
}

/* ---- life ---- */

static bool share_memory(guest *of, const guest_control *first) {
    of->size = (sizeof *first + 4095) / 4096 * 4096 +
               first->loop_count * channel_stride(first);
    of->memory = memfd_create("model", MFD_CLOEXEC);
    if (of->memory < 0 || ftruncate(of->memory, (off_t)of->size) != 0) {
        return false;
    }
    void *memory = mmap(NULL, of->size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, of->memory, 0);
    of->control = memory == MAP_FAILED ? NULL : memory;
    if (of->control) {
        *of->control = *first;
    }
    return of->control;
}

static bool has_texts(const ig_port *ports, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (ports[i].dtype == IG_STR8) {
            return true;
        }
    }
    return false;
}

guest *guest_open(const run_options *options, const guest_model *model, char *words) {
    guest_control first = { .loop_count = (uint32_t)options->loop_count,
                            .input_count = (uint32_t)model->input_count,
                            .output_count = (uint32_t)model->output_count,
                            .room = (options->room + 4095) / 4096 * 4096,
                            .memory_bytes = options->memory_bytes };
    if (has_texts(model->inputs, model->input_count) ||
        has_texts(model->outputs, model->output_count)) {
        snprintf(words, CHANNEL_WORDS, "models of texts do not run with --isolate");
        return NULL;
    }
    guest *made = options->loop_count <= MAX_LOOPS ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        snprintf(words, CHANNEL_WORDS, "memory ran out");
        return NULL;
    }
    pthread_mutex_init(&made->lock, NULL);
    made->outputs = model->outputs;
    made->memory = -1;
    made->model = open(model->path, O_RDONLY | O_CLOEXEC);
    bool is_good = made->model >= 0 && share_memory(made, &first);
    if (!is_good) {
        snprintf(words, CHANNEL_WORDS, "%.300s: %s", model->path, strerror(errno));
    }
    if (!is_good || !start_process(made, words)) {
        guest_close(made);
        return NULL;
    }
    return made;
}

void guest_close(guest *of) {
    if (!of) {
        return;
    }
    char ignored[CHANNEL_WORDS];
    if (of->id) {
        reap(of, ignored);
    }
    if (of->control) {
        munmap(of->control, of->size);
    }
    if (of->memory >= 0) {
        close(of->memory);
    }
    if (of->model >= 0) {
        close(of->model);
    }
    pthread_mutex_destroy(&of->lock);
    free(of);
}

const char *guest_error(const guest *of, size_t loop) {
    return of->words[loop];
}

/* ---- runs ---- */

static ig_status refuse_run(guest *of, size_t loop, ig_status status,
                            const char *words) {
    snprintf(of->words[loop], CHANNEL_WORDS, "%.*s", CHANNEL_WORDS - 1, words);
    return status;
}

static bool put_inputs(guest *of, channel *to, const ig_view *inputs) {
    const guest_control *control = of->control;
    char *data = (char *)to + channel_data(control);
    size_t at = 0;
    for (size_t i = 0; i < control->input_count; i++) {
        int64_t size = ig_view_bytes(&inputs[i]);
        if (size < 0 || (uint64_t)size > control->room - at) {
            return false;
        }
        to->views[i] = inputs[i];
        to->views[i].data = (void *)at; /* NOLINT: bytes from the channel's data */
        to->views[i].capacity = 0;
        if (size) {
            memcpy(data + at, inputs[i].data, (size_t)size);
        }
        at += ((size_t)size + CHANNEL_ALIGN - 1) / CHANNEL_ALIGN * CHANNEL_ALIGN;
        at = at < control->room ? at : control->room;
    }
    return true;
}

/* Copies views before it looks at them: the process could change them meanwhile. */
static bool take_outputs(const guest *of, channel *from, ig_view *outputs) {
    const guest_control *control = of->control;
    char *data = (char *)from + channel_data(control) + control->room;
    for (size_t i = 0; i < control->output_count; i++) {
        ig_view view = from->views[control->input_count + i];
        size_t at = (size_t)view.data;
        if (view.dtype != (int32_t)of->outputs[i].dtype ||
            view.rank != of->outputs[i].rank || view.rank > IG_MAX_RANK) {
            return false;
        }
        int64_t size = ig_view_bytes(&view);
        if (size < 0 || at > control->room || (uint64_t)size > control->room - at) {
            return false;
        }
        view.data = data + at;
        view.capacity = 0;
        view.memory = view.device = 0;
        outputs[i] = view;
    }
    return true;
}

/* Fails the requests that loops wait for, and starts the process anew, unless another
 * loop has. */
static void restart_process(guest *of, size_t loop, unsigned generation,
                            const char *why) {
    char words[CHANNEL_WORDS];
    pthread_mutex_lock(&of->lock);
    if (atomic_load(&of->generation) == generation) {
        reap(of, words);
        refuse_run(of, loop, IG_INTERNAL, why ? why : words);
        start_process(of, words);
        atomic_fetch_add(&of->generation, 1);
    } else {
        refuse_run(of, loop, IG_INTERNAL, "the model's process ended");
    }
    pthread_mutex_unlock(&of->lock);
}

/* Waits for the answer; false: the process has ended, or was late and is ended. */
static bool await_answer(guest *of, size_t loop, channel *in, unsigned generation,
                         int64_t left) {
    int64_t end = time_now() + (left ? left + grace_ns : RUN_SECONDS * 1000000000LL);
    while (atomic_load(&in->turn) != CHANNEL_ANSWERED) {
        bool is_other = atomic_load(&of->generation) != generation;
        bool is_late = time_now() >= end;
        pthread_mutex_lock(&of->lock);
        bool is_gone = is_other || has_ended(of);
        pthread_mutex_unlock(&of->lock);
        if (is_gone || is_late) {
            static const char late[] =
                "the run did not end in time: its process was ended";
            restart_process(of, loop, generation, is_late ? late : NULL);
            return false;
        }
        channel_await(&in->turn, CHANNEL_ASKED, SLICE_MS);
    }
    return true;
}

/* Asks the process of this generation: never one that another loop is starting, which
 * would answer when nobody waits, and then the next request. */
static unsigned ask_process(guest *of, channel *in) {
    pthread_mutex_lock(&of->lock);
    unsigned generation = atomic_load(&of->generation);
    channel_set(&in->turn, CHANNEL_ASKED);
    pthread_mutex_unlock(&of->lock);
    return generation;
}

ig_status guest_run(guest *of, size_t loop, const ig_view *inputs, ig_view *outputs,
                    int64_t left) {
    channel *in = channel_at(of->control, loop);
    if (!put_inputs(of, in, inputs)) {
        return refuse_run(of, loop, IG_LIMIT, "inputs are larger than --max-body");
    }
    in->deadline = left;
    unsigned generation = ask_process(of, in);
    if (!await_answer(of, loop, in, generation, left)) {
        return IG_INTERNAL;
    }
    ig_status status = (ig_status)in->status;
    atomic_store(&in->turn, CHANNEL_IDLE);
    if (status != IG_OK) {
        return refuse_run(of, loop, status, in->words);
    }
    return take_outputs(of, in, outputs)
               ? IG_OK
               : refuse_run(of, loop, IG_INTERNAL,
                            "the model's process gave no results");
}
