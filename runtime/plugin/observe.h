/* Telling debuggers and profilers of code: the interface of a program to
 * libingot-observe.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library is opened when a program is and somebody asked for it, so that the
 * runtime knows nothing of files and formats.  It reads the program's struct, and
 * refuses one of another size or version. */
#ifndef IG_RUNTIME_OBSERVE_H
#define IG_RUNTIME_OBSERVE_H

#include "base/status.h"

#include <stddef.h>

typedef struct ig_program ig_program;
typedef struct ig_observer ig_observer;

struct ig_observer {
    /* The code is about to be unmapped. */
    void (*close)(ig_observer *observer);
};

typedef struct ig_observe_request {
    const ig_program *program;
    size_t program_size;
    const char *version, *folder; /* folder: or NULL */
    unsigned wants;               /* ig_observe bits, beside those of the environment */
    char why[256];                /* out, on an error */
} ig_observe_request;

/* Of ig_observe_start, the one symbol of the library.  *out_observer is NULL where
 * nobody wants it. */
typedef ig_status ig_observe_start_fn(ig_observe_request *request,
                                      ig_observer **out_observer);

#endif
