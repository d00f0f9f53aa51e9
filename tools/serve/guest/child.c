/* The process of a model: opens it, gives up all that it does not need, and runs it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/confine/confine.h"
#include "tools/serve/guest/channel.h"
#include "tools/serve/guest/guest.h"
#include "tools/serve/guest/warm.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A loop's session, and its views with addresses of this process. */
typedef struct seat {
    guest_control *control;
    channel *in;
    ig_session *session;
    ig_view *views;
} seat;

static guest_control *map_memory(void) {
    struct stat facts;
    if (fstat(GUEST_MEMORY, &facts) != 0) {
        return NULL;
    }
    void *memory = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, GUEST_MEMORY, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* ---- runs ---- */

static ig_status run_views(const seat *of, uint64_t *used) {
    const guest_control *control = of->control;
    size_t count = control->input_count;
    char *data = (char *)of->in + channel_data(control);
    memcpy(of->views, of->in->views, count * sizeof *of->views);
    memset(of->views + count, 0, control->output_count * sizeof *of->views);
    for (size_t i = 0; i < count; i++) {
        of->views[i].data = data + (size_t)of->views[i].data;
    }
    ig_session_set_deadline(of->session, of->in->deadline);
    ig_status status = ig_session_run(of->session, of->views, count, of->views + count,
                                      control->output_count);
    for (size_t i = 0; status == IG_OK && i < control->output_count; i++) {
        ig_view *output = &of->views[count + i];
        size_t size = (size_t)ig_view_bytes(output);
        if (size > control->room - *used) {
            return IG_LIMIT;
        }
        if (size) {
            memcpy(data + control->room + *used, output->data, size);
        }
        output->data = (void *)(size_t)*used; /* NOLINT: bytes from the results */
        of->in->views[count + i] = *output;
        *used += (size + CHANNEL_ALIGN - 1) / CHANNEL_ALIGN * CHANNEL_ALIGN;
        *used = *used < control->room ? *used : control->room;
    }
    return status;
}

static void *serve_loop(void *user) {
    seat *of = user;
    for (;;) {
        if (atomic_load(&of->in->turn) != CHANNEL_ASKED) {
            channel_await(&of->in->turn,
                          atomic_load(&of->in->turn) == CHANNEL_IDLE ? CHANNEL_IDLE
                                                                     : CHANNEL_ANSWERED,
                          -1);
            continue;
        }
        uint64_t used = 0;
        ig_session_reset(of->session); /* what one request left is no other's */
        ig_status status = run_views(of, &used);
        of->in->status = (int32_t)status;
        of->in->used = used;
        snprintf(of->in->words, CHANNEL_WORDS, "%s", ig_session_error(of->session));
        channel_set(&of->in->turn, CHANNEL_ANSWERED);
    }
    return NULL;
}

/* ---- beginning ---- */

/* Sessions are made, and run once, before the filter: whatever they open is open
 * then. */
static bool open_seats(guest_control *control, ig_program *program, seat *seats,
                       char *words) {
    size_t views = control->input_count + control->output_count + 1;
    ig_session_options options = { .size = sizeof options,
                                   .message = words,
                                   .message_size = CHANNEL_WORDS,
                                   .threads = 1 };
    for (size_t i = 0; i < control->loop_count; i++) {
        seats[i] = (seat){ .control = control, .in = channel_at(control, i) };
        seats[i].views = calloc(views, sizeof *seats[i].views);
        if (!seats[i].views ||
            ig_session_create(program, &options, &seats[i].session) != IG_OK) {
            return false;
        }
        warm_up(program, seats[i].session);
    }
    return true;
}

static bool begin(guest_control *control, seat *seats, char *words) {
    ig_program_options options = { .size = sizeof options,
                                   .message = words,
                                   .message_size = CHANNEL_WORDS };
    ig_program *program = NULL;
    char path[32], why[128] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", GUEST_MODEL);
    if (ig_program_open(path, &options, &program) != IG_OK ||
        ig_program_input_count(program) != control->input_count ||
        ig_program_output_count(program) != control->output_count ||
        !open_seats(control, program, seats, words)) {
        return false;
    }
    if (!ig_confine(control->memory_bytes, why)) {
        snprintf(words, CHANNEL_WORDS, "its process %s", why);
        return false;
    }
    return true;
}

int guest_main(void) {
    guest_control *control = map_memory();
    seat *seats = control ? calloc(control->loop_count, sizeof *seats) : NULL;
    pthread_t thread;
    if (!seats || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        return 1;
    }
    bool is_good = begin(control, seats, control->words);
    for (size_t i = 0; is_good && i < control->loop_count; i++) {
        is_good = pthread_create(&thread, NULL, serve_loop, &seats[i]) == 0;
    }
    channel_set(&control->is_ready, is_good ? 1 : 2);
    if (is_good) {
        pthread_join(thread, NULL); /* which does not end */
    }
    return 1;
}
