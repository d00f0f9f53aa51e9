/* The driver's side of a context: messages, the recovery point, what modules own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_HOST_H
#define IG_DRIVER_HOST_H

#include "base/context.h"
#include "base/writer.h"
#include "codegen/backend.h"
#include "ingot/ingot.h"
#include "ir/tensor/tensor.h"

#define IG_HOST_THREADS 8 /* at most, for compiling kernels */

typedef struct ig_driver {
    ig_context context; /* first: the public handle is its address */
    ig_context_options options;
    ig_arena messages_arena;
    ig_writer messages;
    ig_map results;      /* module -> ig_module_results */
    ig_arena arena;      /* the host's own, as long as it lives */
    uint64_t mark;       /* arenas there were when the guarded call began */
    size_t budget_limit; /* when it began */
    bool has_unwound;
    bool is_unsized; /* the call was given options without their size */
} ig_driver;

/* Results of calls, kept with their module. */
typedef struct ig_module_results {
    ig_arena arena; /* texts and tensors that a call handed out: until the next call */
    const ig_signature *flat; /* of a graph without one, once asked for */
    /* State of the interpreter's runs; NULL: as it begins.  Values are in the arena of
     * that number, the other takes those of the next run. */
    ig_tensor *states;
    ig_arena state_arenas[2];
    int state_arena;
} ig_module_results;

ig_driver *ig_driver_of(ig_context *context);
ig_module_results *ig_driver_module(ig_module *module);
/* An emptied arena for the results of the next call on `module`. */
ig_arena *ig_driver_results(ig_module *module);

/* The graph that a module is run by; NULL when it has none. */
const ig_graph *ig_entry_of(const ig_module *module);

/* Copies a caller's options; callers built against an older header give a smaller
 * struct, and the rest stays zero.  `from` may be NULL.  Options whose size is 0 are
 * refused by the ig_driver_guard that follows, or by ig_options_check. */
void ig_options_take(ig_context *context, void *to, size_t room, const void *from);
ig_status ig_options_check(ig_context *context);

/* Passes on a message that was made elsewhere (another thread or process). */
void ig_driver_message(ig_context *context, int severity, ig_status status,
                       const char *text);

/* Runs `work` with a recovery point: exhausted memory unwinds to here and becomes
 * IG_LIMIT with a message.  Every public function that can fail goes through it, and
 * when the call's result is destroyed, through ig_driver_settle: that frees what frames
 * owned which the unwinding jumped over. */
ig_status ig_driver_guard(ig_context *context, ig_status (*work)(void *arguments),
                          void *arguments);
ig_status ig_driver_settle(ig_context *context, ig_status status);

/* The backend of a target: the LLVM provider is opened on first use, looked for beside
 * this library, then in INGOT_PROVIDER_DIR.  Reports when it is absent or of another
 * build. */
ig_status ig_driver_backend(ig_context *context, const ig_target *target,
                            const ig_backend **out_backend);

#endif
