/* The inside of the pass manager: one pipeline as it runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_ENGINE_MANAGER_H
#define IG_PASSES_ENGINE_MANAGER_H

#include "passes/engine/pass.h"

typedef struct ig_manager {
    ig_module *module;
    const ig_pass_options *options;
    const ig_pass_observer *observer; /* may be NULL */
    const char *skip;                 /* INGOT_SKIP: names, or NULL */
    const char *stop;                 /* INGOT_STOP=after:NAME, or NULL */
    uint32_t debug;                   /* ig_debug bits */
    uint32_t
        index; /* of the pass that runs, from 1, over all pipelines of the module */
    bool is_stopped, changed;
} ig_manager;

/* What INGOT_DEBUG, INGOT_SKIP and INGOT_STOP say. */
/* NULL: there is none. */
const ig_pass *ig_find_pass(ig_str name);
ig_status ig_manager_read_environment(ig_manager *manager);
/* Is `name` one of the comma-separated words of `list` (NULL: none)? */
bool ig_word_is_in(const char *list, const char *name);

/* Facts noted before a pass, compared after it. */
typedef struct ig_pass_check {
    uint64_t hash;
    ig_stage stage;
    double time;
} ig_pass_check;

ig_pass_check ig_check_before(const ig_manager *manager, const ig_graph *graph);
/* The contract of one pass on one graph: stage, "unchanged", verifier. */
ig_status ig_check_after(const ig_manager *manager, const ig_pass *pass,
                         const ig_graph *graph, const ig_pass_check *before,
                         bool changed);
/* Dump, round trip and clone of the module, as INGOT_DEBUG asks. */
ig_status ig_check_module(const ig_manager *manager, const ig_pass *pass);

#endif
