/* Host functions by name.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/host.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HOST(name, buffers, params) ig_host_fn ig_host_##name;
#include "runtime/host/host.def"
#undef HOST

/* Checked before the function is called, so that it need not. */
#define HOST(name, buffers, params)                                                \
    static bool call_##name(const ig_host_call *call) {                            \
        return call->buffer_count == (buffers) && call->param_count == (params) && \
               ig_host_##name(call);                                               \
    }
#include "runtime/host/host.def"
#undef HOST

typedef struct host_row {
    const char *name;
    ig_host_fn *fn;
} host_row;

static const host_row rows[] = {
#define HOST(name, buffers, params) { #name, call_##name },
#include "runtime/host/host.def"
#undef HOST
};

bool ig_host_refuse(const ig_host_call *call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(call->reason, IG_HOST_REASON_BYTES, format, args);
    va_end(args);
    return false;
}

ig_host_fn *ig_host_find(const char *name) {
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].fn;
        }
    }
    return NULL;
}
