/* Diagnostics: the fact, its place, and how to mend it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fact is reported once, where it is known; callers only pass the status on.  A sink
 * receives each diagnostic as it is reported.  Text is the sink's for the call only.
 */
#ifndef IG_BASE_DIAG_H
#define IG_BASE_DIAG_H

#include "base/str.h"

typedef enum ig_severity { IG_NOTE, IG_WARNING, IG_ERROR } ig_severity;

/* Where in the user's own terms.  Every field may be NULL or 0. */
typedef struct ig_location {
    const char *file;
    const char *graph; /* sub-graph or function, as the user knows it */
    const char *node;  /* node name */
    const char *op;    /* operator, as the user knows it */
    const char *scope; /* module that it is of: "layers.0.attention"; not in messages */
    uint32_t node_id;  /* 1 + index of the node in its graph; 0 is unknown */
    uint32_t line, column; /* text formats; 1-based */
} ig_location;

typedef struct ig_diagnostic {
    ig_severity severity;
    ig_status status;
    ig_location where;
    const char *message; /* the error, without location */
    const char *hint;    /* advice, or NULL */
} ig_diagnostic;

typedef struct ig_diag {
    void (*sink)(void *user, const ig_diagnostic *diagnostic); /* NULL drops all */
    void *user;
    size_t error_count, warning_count;
    size_t error_limit; /* stop listing after so many (0: 20); the count goes on */
} ig_diag;

/* Reports an error and returns `status`, so that `return ig_error(…)` reads well. */
ig_status ig_error(ig_diag *diag, ig_status status, const ig_location *where,
                   const char *format, ...) IG_PRINTF(4, 5);
/* The same with a hint (plain text, may be NULL). */
ig_status ig_error_hint(ig_diag *diag, ig_status status, const ig_location *where,
                        const char *hint, const char *format, ...) IG_PRINTF(5, 6);
/* Something that is right and good to know. */
void ig_note(ig_diag *diag, const ig_location *where, const char *format, ...)
    IG_PRINTF(3, 4);
void ig_warn(ig_diag *diag, const ig_location *where, const char *format, ...)
    IG_PRINTF(3, 4);

/* "model.onnx: node 12 'conv1' (Conv): message\n  hint: …" without a final newline,
 * cut to `size` bytes; returns the length written. */
size_t ig_diagnostic_format(const ig_diagnostic *diagnostic, char *buffer, size_t size);

#endif
