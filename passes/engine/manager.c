/* The pass manager: runs pipelines, which are text.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     pipeline = item { "," item }
 *     item     = pass | "(" pipeline ")" "*"        * repeats until nothing changes
 *
 * The text is read as it runs: a group is read anew for each round.  A dry run in front
 * finds unknown names and stray signs before anything was changed.
 */
#include "passes/engine/manager.h"

#include "ir/verify/verify.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NESTING_MAX = 8, ROUNDS_MAX = 32 };

/* Reads the pipeline `text` from `at` on. */
typedef struct reader {
    ig_diag *diag;
    ig_manager *manager; /* NULL: names and signs are checked, nothing runs */
    const char *text, *at;
    int nesting;
} reader;

static ig_status bad_pipeline(const reader *r, const char *what) {
    return ig_error(r->diag, IG_INVALID, NULL, "pipeline \"%s\", at \"%.20s\": %s",
                    r->text, r->at, what);
}

/* ---- one pass ---- */

const ig_pass *ig_find_pass(ig_str name) {
    for (const ig_pass *pass = ig_passes; pass->name; pass++) {
        if (ig_str_is(name, pass->name)) {
            return pass;
        }
    }
    return NULL;
}

static ig_status run_on_graph(ig_manager *m, const ig_pass *pass, ig_graph *graph) {
    ig_arena scratch;
    ig_arena_init(&scratch, &m->module->context->budget);
    ig_pass_run run = { .options = m->options,
                        .scratch = &scratch,
                        .pass = pass->name,
                        .debug = m->debug };
    ig_pass_check before = ig_check_before(m, graph);
    ig_status status = pass->run(&run, graph);
    ig_arena_fini(&scratch);
    IG_TRY(status);
    m->changed = m->changed || run.changed;
    return ig_check_after(m, pass, graph, &before, run.changed);
}

/* A pass may add graphs (kernels); it runs on those that were there. */
static ig_status run_on_module(ig_manager *m, const ig_pass *pass) {
    ig_module *module = m->module;
    size_t count = module->graphs.count, entries = 0, runs = 0;
    for (size_t i = 0; i < count; i++) {
        ig_graph *graph = module->graphs.items[i];
        if (!graph->is_entry) {
            continue;
        }
        entries++;
        if (pass->stages & (uint32_t)graph->stage) {
            IG_TRY(run_on_graph(m, pass, graph));
            runs++;
        }
    }
    if (entries && !runs) {
        return ig_error(
            &module->context->diag, IG_INVALID, NULL,
            "pass %s runs on no graph of this module: they are at another stage",
            pass->name);
    }
    return IG_OK;
}

/* How many passes the module has seen, beside it: dumps of pipelines go on counting. */
static const char passes_key;

uint32_t ig_passes_seen(const ig_module *module) {
    const uint32_t *count = ig_module_beside(module, &passes_key);
    return count ? *count : 0;
}

static uint32_t count_pass(ig_module *module) {
    uint32_t *count = ig_module_beside(module, &passes_key);
    if (!count) {
        count = IG_NEW(&module->arena, uint32_t);
        ig_module_keep_beside(module, &passes_key, count);
    }
    return ++*count;
}

static ig_status run_pass(ig_manager *m, const ig_pass *pass) {
    if (m->is_stopped || ig_word_is_in(m->skip, pass->name)) {
        return IG_OK;
    }
    ig_context *context = m->module->context;
    IG_TRY(ig_context_poll(context));
    m->index = count_pass(m->module);
    ig_context_progress(context, pass->name, m->index, 0);
    IG_TRY(run_on_module(m, pass));
    IG_TRY(ig_check_module(m, pass));
    const ig_pass_observer *observer = m->observer;
    if (observer && observer->after) {
        observer->after(observer->user, pass->name, m->index, m->module);
    }
    bool is_last = observer && observer->stop_after &&
                   strcmp(observer->stop_after, pass->name) == 0;
    m->is_stopped = is_last || (m->stop && strcmp(m->stop, pass->name) == 0);
    return IG_OK;
}

/* ---- the text ---- */

static void skip_blanks(reader *r) {
    while (isspace((unsigned char)*r->at)) {
        r->at++;
    }
}

static ig_status read_pass(reader *r) {
    const char *from = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_') {
        r->at++;
    }
    ig_str name = { from, (size_t)(r->at - from) };
    const ig_pass *pass = ig_find_pass(name);
    if (!pass) {
        r->at = from;
        return bad_pipeline(r, name.size ? "no such pass" : "a pass is missing");
    }
    return r->manager ? run_pass(r->manager, pass) : IG_OK;
}

static ig_status read_pipeline(reader *r);

/* One round of a group, from after its "(" to after its ")*". */
static ig_status read_round(reader *r) {
    IG_TRY(read_pipeline(r));
    if (r->at[0] != ')' || r->at[1] != '*') {
        return bad_pipeline(r, "a group ends in \")*\"");
    }
    r->at += 2;
    return IG_OK;
}

/* Two passes that undo each other never settle: after ROUNDS_MAX that is a defect where
 * contracts are checked, and elsewhere simply the end of the loop. */
static ig_status read_group(reader *r) {
    ig_manager *m = r->manager;
    if (r->nesting == NESTING_MAX) {
        return bad_pipeline(r, "groups nest too deep");
    }
    const char *begin = ++r->at;
    r->nesting++;
    if (!m) {
        IG_TRY(read_round(r));
        r->nesting--;
        return IG_OK;
    }
    bool changed_before = m->changed;
    for (int round = 0;; round++) {
        r->at = begin;
        m->changed = false;
        IG_TRY(read_round(r));
        if (!m->changed || m->is_stopped || round == ROUNDS_MAX) {
            if (m->changed && !m->is_stopped && (m->debug & IG_DEBUG_VERIFY)) {
                return ig_error(&m->module->context->diag, IG_INTERNAL, NULL,
                                "the group (%.60s of pipeline \"%s\" never settles",
                                begin, r->text);
            }
            break;
        }
        changed_before = true;
    }
    r->nesting--;
    m->changed = changed_before;
    return IG_OK;
}

/* Recursion is at most NESTING_MAX deep. */
static ig_status read_pipeline(reader *r) {
    for (;;) {
        skip_blanks(r);
        IG_TRY(*r->at == '(' ? read_group(r) : read_pass(r));
        skip_blanks(r);
        if (*r->at != ',') {
            return IG_OK;
        }
        r->at++;
    }
}

static ig_status read_all(ig_diag *diag, ig_manager *m, const char *pipeline) {
    reader r = { .diag = diag, .manager = m, .text = pipeline, .at = pipeline };
    skip_blanks(&r);
    if (*r.at == '\0') {
        return IG_OK;
    }
    IG_TRY(read_pipeline(&r));
    return *r.at == '\0' ? IG_OK : bad_pipeline(&r, "unexpected sign");
}

ig_status ig_check_pipeline(ig_diag *diag, const char *pipeline) {
    return read_all(diag, NULL, pipeline);
}

ig_status ig_passes_run_observed(ig_module *module, const ig_pass_options *options,
                                 const char *pipeline,
                                 const ig_pass_observer *observer) {
    ig_manager manager = { .module = module, .options = options, .observer = observer };
    IG_TRY(ig_manager_read_environment(&manager));
    IG_TRY(ig_check_pipeline(&module->context->diag, pipeline));
    if (manager.debug & IG_DEBUG_VERIFY) {
        IG_TRY(ig_verify_module(module)); /* an invalid input is no pass's fault */
    }
    return read_all(&module->context->diag, &manager, pipeline);
}

ig_status ig_passes_run(ig_module *module, const ig_pass_options *options,
                        const char *pipeline) {
    return ig_passes_run_observed(module, options, pipeline, NULL);
}
