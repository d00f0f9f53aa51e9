/* One hook for the messages of compiler, trainer, runtime and server.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     static const ig_log log = { ig_log_json, NULL };
 *     ig_program_options options = { sizeof options, .log = &log };
 *     ... ig_program_open("model.ingot", &options, &program) ...
 *
 *     {"time": "2026-01-02T03:04:05.678Z", "level": "error", "component": "runtime",
 *      "code": "IO", "words": "model.ingot: No such file or directory"}
 *
 * A hook is an option of the object it listens to: a context, a program that is opened,
 * a session, a trainer.  It is told each error once, where the fact is known, and of a
 * context warnings and notes too; the status and words that the call returns stay as
 * they are.  Ownership: the ig_log outlives the objects it was given to; a record and
 * its texts are the hook's for the call only.  Threads: the hook is called on whichever
 * thread found the fact, several at once where sessions are used at once.
 */
#ifndef INGOT_LOG_H
#define INGOT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ig_log_level { IG_LOG_INFO, IG_LOG_WARNING, IG_LOG_ERROR } ig_log_level;

typedef struct ig_log_field {
    const char *name;
    const char *text; /* NULL: the field is `number` */
    int64_t number;
} ig_log_field;

/* Extensible: later versions make it longer, and say so by `size`. */
typedef struct ig_log_record {
    size_t size;
    ig_log_level level;
    ig_status status;      /* IG_OK where nothing has failed */
    const char *component; /* "compiler", "runtime", "serve" */
    const char *code;      /* stable: the status's name ("INVALID"), or an event's */
    const char *words;     /* for people, without a final newline; "" when none */
    const ig_log_field *fields; /* of compiler: file, graph, node, op, hint … */
    size_t field_count;
} ig_log_record;

typedef struct ig_log {
    void (*write)(void *user, const ig_log_record *record);
    void *user;
} ig_log;

/* Sinks, in libingot: one line a record, written at once.  `descriptor` points to an
 * int, a file that is open for writing; NULL: stderr.  Text from models steers no
 * terminal, and is always UTF-8. */
IG_API void ig_log_text(void *descriptor, const ig_log_record *record);
IG_API void ig_log_json(void *descriptor, const ig_log_record *record);

#ifdef __cplusplus
}
#endif
#endif
