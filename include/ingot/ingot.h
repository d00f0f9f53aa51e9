/* Ingot, the compiler: models in, programs out.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     #include <ingot/ingot.h>
 *     #include <ingot/runtime.h>
 *
 *     ig_context *context = ig_context_create(NULL);
 *     ig_module *module = NULL;
 *     ig_program *program = NULL;
 *     if (ig_import(context, "dlrm.onnx", NULL, &module) == IG_OK &&
 *         ig_compile(module, NULL, &program) == IG_OK) {
 *         ... ig_session_create(program, ...), ig_session_run(...): runtime.h ...
 *     } else {
 *         fputs(ig_context_messages(context), stderr);
 *     }
 *     ig_program_close(program);
 *     ig_module_close(module);
 *     ig_context_destroy(context);
 *
 * Ownership: an object that a create, import, compile or open hands out is the caller's
 * and has exactly one destroy or close.  A module must not outlive its context; a
 * program may outlive both.  Everything else is borrowed and const.  Errors: a function
 * that can fail returns ig_status; words are in the context's messages and go to its
 * sink as they are reported.  Threads: one context per thread at a time; contexts share
 * nothing.  ig_context_cancel may be called from any thread and from a signal handler.
 */
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/compile.h>
#include <ingot/log.h>
#include <ingot/module.h>
#include <ingot/status.h>
#include <ingot/tree.h>
#include <ingot/values.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- context ---- */

/* Extensible, as all structs that begin with their size: set it to sizeof(the struct),
 * as one without a size is refused (IG_INVALID); other zero fields mean the default. */
typedef struct ig_context_options {
    size_t size;
    /* Receives each message (one or more lines, no final newline) as it is reported. */
    void (*message)(void *user, int severity,
                    const char *text); /* 0 note 1 warning 2 error */
    void *message_user;
    /* Called on the caller's thread while work goes on; total 0 means unknown. */
    void (*progress)(void *user, const char *stage, uint64_t done, uint64_t total);
    void *progress_user;
    uint64_t memory_limit; /* bytes of compiler memory, weights not counted */
    const char
        *cache_folder;   /* NULL: INGOT_CACHE_DIR, else the user's; "" : no cache */
    int compile_threads; /* 0: as many as there are CPUs */
    const ig_log *log;   /* is told each message with its parts, or NULL */
} ig_context_options;

/* NULL: memory ran out, or the options have no size. */
IG_API ig_context *ig_context_create(const ig_context_options *options);
IG_API void ig_context_destroy(ig_context *context);
/* All messages since the last public call that could fail began; "" when none. */
IG_API const char *ig_context_messages(const ig_context *context);
/* One atomic store.  Running work returns IG_CANCELLED soon; the context stays
 * usable. */
IG_API void ig_context_cancel(ig_context *context);
/* -1 when there is no such limit. */
IG_API int64_t ig_context_limit(const ig_context *context, const char *name);
/* "limit name" as listed by `ingot info`; IG_INVALID when there is no such limit. */
IG_API IG_MUST_USE ig_status ig_context_set_limit(ig_context *context, const char *name,
                                                  int64_t value);

/* ---- caches ---- */

/* The content of the caches, as JSON: {"folder", "is_used", "why", "limit_bytes", and
 * "models", "kernels", "files" with "entries" and "bytes"}.  The text is the
 * context's. */
IG_API IG_MUST_USE ig_status ig_cache_describe(ig_context *context,
                                               const char **out_json);
/* Removes every entry.  Programs that are open stay so. */
IG_API IG_MUST_USE ig_status ig_cache_clear(ig_context *context);

/* ---- the reference interpreter ---- */

/* Runs the module's entry graph by the reference interpreter: slow, for checking.
 * Outputs are the module's until the next call on it. */
IG_API IG_MUST_USE ig_status ig_interpret_run(ig_module *module,
                                              const ig_argument *inputs,
                                              size_t input_count,
                                              const ig_argument **out_outputs,
                                              size_t *out_output_count);
/* State of the interpreter's runs begins anew. */
IG_API void ig_interpret_reset(ig_module *module);

/* ---- about this build, and its messages ---- */

/* Blanks, in place, the secrets in the URLs of a text, as in every message of the
 * library: "user:password@" becomes "***@", "?token=abc" "?token=***". */
IG_API void ig_text_hide_secrets(char *text);
IG_API const char *ig_compiler_version(void);
/* JSON: host level, targets, passes, limits, knobs, libraries found. */
IG_API const char *ig_compiler_info(ig_context *context);

#ifdef __cplusplus
}
#endif
#endif
