/* Compiling a model in a process of its own.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   host                                       ingot-worker
 *   ig_isolate ─ request in shared memory ───▶ read it, open LLVM, confine: no way back
 *   opens the file, if allowed ◀───── "open the model", "open weights.bin"
 *              └────────── a file ───────────▶ import, passes, code generation
 *   messages, progress ◀────────────────────── words
 *   the artifact, in shared memory ◀────────── written, then the end
 *
 * The worker is a program of its own, started by posix_spawn, and no fork that goes on:
 * a host may have threads, whose locks a fork would find held for ever; a fork would
 * have all of the host's memory to read; and a limit on memory would count the tables
 * that the host has open.  It gets none of the host's files, and of the environment
 * only what concerns us and the loader.
 *
 * The host trusts nothing that comes back: packets are checked, only the model, the
 * constants that the user gave and regular files beneath the model's folder are opened,
 * and the artifact is opened like any other.  See docs/trust.md for what that promises.
 */
#ifndef IG_DRIVER_COMPILE_ISOLATE_H
#define IG_DRIVER_COMPILE_ISOLATE_H

#include "base/platform/platform.h"
#include "driver/host.h"
#include "ir/graph.h"

/* The model that is compiled or, where `stage` is given, dumped.  Options are whole,
 * whatever the caller's version. */
typedef struct ig_isolated_work {
    const char *model;    /* path */
    const char *artifact; /* path, which gives names; NULL: a program in memory */
    const ig_import_options *import;
    const ig_compile_options *compile;
    const char *stage; /* of ig_dump; NULL: an artifact */
    ig_format format;
} ig_isolated_work;

/* Compiles in a worker and maps the result (the caller closes it): a container, or
 * the text of a header or dump.  The worker's messages become the context's.  `files`
 * gets the identity of each file that was opened.  Statuses: the worker's own;
 * IG_LIMIT: it ran out of memory or time; IG_IO: a file was cut short under it;
 * IG_INTERNAL: it died, the message says how; IG_UNSUPPORTED: it cannot be started or
 * confined.  Cancelling kills it. */
ig_status ig_isolate(ig_context *context, const ig_isolated_work *work,
                     ig_module *files, ig_file_map *out_file);

/* Status and words for the end that waitpid gives; never IG_OK. */
ig_status ig_isolate_explain(ig_context *context, int wait_status);

#endif
