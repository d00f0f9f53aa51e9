/* Operators for tests/cli/custom.sh.  VERSION, and by macros a library that nobody can
 * use.  SPDX-License-Identifier: Apache-2.0 */
#include <ingot/custom.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef VERSION
#define VERSION 1
#endif

/* A library that was opened leaves a file behind. */
__attribute__((constructor)) static void leave_mark(void) {
    const char *path = getenv("CUSTOM_OPENED");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fclose(file);
    }
}

/* Those that are not a multiple of `buckets`. */
static int64_t keep(const ig_custom_call *call, int64_t *out) {
    const int64_t *id = call->inputs[0].data, *buckets = call->inputs[1].data;
    int64_t count = 0;
    for (int64_t i = 0; i < call->inputs[0].count; i++) {
        if (id[i] % *buckets) {
            if (out) {
                out[count] = id[i];
            }
            count++;
        }
    }
    return count;
}

static ig_status count_kept(const ig_custom_call *call) {
    *(int64_t *)call->outputs[0].data = keep(call, NULL);
    return IG_OK;
}

static ig_status write_kept(const ig_custom_call *call) {
    if (call->size < sizeof *call || call->inputs[0].rank != 1 ||
        call->inputs[0].dims[0] != call->inputs[0].count ||
        call->outputs[0].dtype != IG_I64 || call->user != (void *)&keep) {
        return IG_INTERNAL;
    }
    if (call->outputs[0].count == 0) {
        snprintf(call->reason, call->reason_size, "nothing is left");
        return IG_LIMIT;
    }
    keep(call, call->outputs[0].data);
    return IG_OK;
}

static const ig_custom_op ops[] = {
    { .name = "acme::Hash",
      .version = VERSION,
      .run = write_kept,
#ifndef NO_EXTENTS
      .extents = count_kept,
#endif
      .user = (void *)&keep,
#ifdef BAD_SIGNATURE
      .signature = "(%id: i64[N], buckets) -> (i64[K])" },
#else
      .signature = "(%id: i64[N], %buckets: i64[]) -> (i64[K])" },
#endif
};

#ifdef NO_TABLE
int nothing;
#else
IG_CUSTOM_LIBRARY(ops, 1)
#endif
