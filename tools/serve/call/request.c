/* Requests.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/call/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

bool request_fail(request *of, call_status status, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    of->status = status;
    of->words = pool_copy_text(&of->memory, text);
    if (!of->words) {
        of->words = "memory for the words of an error ran out";
    }
    return false;
}

int64_t count_elements(const int64_t *dims, uint32_t rank) {
    int64_t count = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0 || __builtin_mul_overflow(count, dims[i], &count)) {
            return -1;
        }
    }
    return count;
}

int64_t clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void *request_take(request *of, size_t size) {
    enum { SLACK = 4096 };
    of->memory.limit += 2 * size + SLACK;
    return pool_take(&of->memory, size ? size : 1);
}

void request_set_parameters(request *of, int64_t priority, int64_t microseconds) {
    enum { US = 1000 };
    of->is_urgent = priority == 1;
    int64_t until;
    bool is_some = microseconds > 0 &&
                   !__builtin_mul_overflow(microseconds, (int64_t)US, &until) &&
                   !__builtin_add_overflow(until, of->begun, &until);
    if (is_some && (!of->deadline || until < of->deadline)) {
        of->deadline = until;
    }
}
