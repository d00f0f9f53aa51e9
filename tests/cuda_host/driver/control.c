/* Turns of calls, failures on request, counts.  SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

stand_in_counts counts;
bool may_be_left;

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static uint64_t random_state = 1;
static bool is_late; /* nothing is done before something waits */
static int favoured; /* streams: 0 none, 1 those made last, 2 those made first */

static struct {
    char call[64]; /* "": any */
    unsigned nth;  /* 0: none */
    int error;
    bool has_come;
} failure;

void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("CUDA stand-in: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

int64_t given(const char *variable, int64_t otherwise) {
    const char *value = getenv(variable);
    return value && value[0] ? strtoll(value, NULL, 10) : otherwise;
}

uint64_t draw(uint64_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % bound;
}

/* ---- what tests say ---- */

SHOWN void stand_in_seed(uint64_t seed);
SHOWN void stand_in_seed(uint64_t seed) {
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    is_late = seed % 2 == 0;
    favoured = (int)(seed / 2 % 3);
}

unsigned choose(unsigned count) {
    return favoured == 0 ? (unsigned)draw(count) : favoured == 1 ? 0 : count - 1;
}

SHOWN void stand_in_get_counts(stand_in_counts *out);
SHOWN void stand_in_get_counts(stand_in_counts *out) {
    *out = counts;
}

SHOWN void stand_in_clear_counts(void);
SHOWN void stand_in_clear_counts(void) {
    counts = (stand_in_counts){ 0 };
}

SHOWN void stand_in_fail(const char *call, unsigned nth, int error);
SHOWN void stand_in_fail(const char *call, unsigned nth, int error) {
    snprintf(failure.call, sizeof failure.call, "%s", call ? call : "");
    failure.nth = nth;
    failure.error = error;
    failure.has_come = false;
}

SHOWN bool stand_in_has_failed(void);
SHOWN bool stand_in_has_failed(void) {
    return failure.has_come;
}

SHOWN void stand_in_allow_left(bool allowed);
SHOWN void stand_in_allow_left(bool allowed) {
    may_be_left = allowed;
}

SHOWN uint64_t stand_in_memory(void);
SHOWN uint64_t stand_in_memory(void) {
    return held_bytes();
}

SHOWN void *stand_in_see(uint64_t address);
SHOWN void *stand_in_see(uint64_t address) {
    return see_device(address);
}

SHOWN void stand_in_drain(void);
SHOWN void stand_in_drain(void) {
    pthread_mutex_lock(&turn);
    while (step()) {
    }
    pthread_mutex_unlock(&turn);
}

/* "[CALL:]N[:ERROR]" */
static void read_failure(const char *text) {
    char call[64] = "";
    unsigned nth = 0;
    int error = OUT_OF_MEMORY;
    if (sscanf(text, "%63[a-zA-Z0-9_]:%u:%d", call, &nth, &error) < 2) {
        call[0] = '\0';
        sscanf(text, "%u:%d", &nth, &error);
    }
    stand_in_fail(call, nth, error);
}

static void write_counts(void) {
    const char *path = getenv("INGOT_STAND_IN_COUNTS");
    FILE *file = path && counts.calls ? fopen(path, "a") : NULL;
    if (file) {
#define COUNT(name) fprintf(file, #name " %llu\n", (unsigned long long)counts.name);
        STAND_IN_COUNTS(COUNT)
#undef COUNT
        fclose(file);
    }
}

__attribute__((constructor)) static void read_environment(void) {
    const char *text = getenv("INGOT_STAND_IN_FAIL");
    stand_in_seed((uint64_t)given("INGOT_STAND_IN_SEED", 1));
    if (text) {
        read_failure(text);
    }
    may_be_left = text != NULL;
    atexit(write_counts);
}

/* ---- calls ---- */

static bool is_to_fail(const char *name) {
    bool is_meant = failure.nth && (!failure.call[0] || !strcmp(failure.call, name));
    if (!is_meant || --failure.nth > 0) {
        return false;
    }
    failure.has_come = true;
    if (getenv("INGOT_STAND_IN_TRACE")) {
        void *frames[32];
        backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
    }
    return true;
}

/* In a capture that is global, calls that may wait for something are an error, and
 * break it. */
static int check_capture(int needs) {
    if (!(needs & NOT_IN_CAPTURE) || !is_capturing()) {
        return SUCCESS;
    }
    break_captures();
    return CAPTURE_UNSUPPORTED;
}

int begin_call(const char *name, int needs) {
    pthread_mutex_lock(&turn);
    counts.calls++;
    if (is_to_fail(name)) {
        return failure.error;
    }
    if ((needs & (STARTED | IN_CONTEXT)) && !is_started()) {
        return NOT_INITIALISED;
    }
    if ((needs & IN_CONTEXT) && !current_context()) {
        return INVALID_CONTEXT;
    }
    while (!is_late && draw(4) == 0 && step()) {
    }
    if ((needs & IN_CONTEXT) && current_context()->error) {
        return current_context()->error;
    }
    return check_capture(needs);
}

int end_call(int error) {
    pthread_mutex_unlock(&turn);
    return error;
}
