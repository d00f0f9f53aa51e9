/* Contexts: messages, limits, the recovery point.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"

#include "base/secret.h"
#include "base/sized.h"

#include "ir/graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

enum { MESSAGE_BYTES = 64 << 10, FIELDS = 9 };

static void add_message(ig_driver *host, int severity, const char *text) {
    if (host->options.message) {
        host->options.message(host->options.message_user, severity, text);
    }
    if (host->messages.size < MESSAGE_BYTES) {
        ig_put(&host->messages, "%s%s", host->messages.size ? "\n" : "", text);
    }
}

static void tell_log(const ig_driver *host, int severity, ig_status status,
                     const char *words, const ig_log_field *fields, size_t count) {
    static const ig_log_level levels[] = { [IG_NOTE] = IG_LOG_INFO,
                                           [IG_WARNING] = IG_LOG_WARNING,
                                           [IG_ERROR] = IG_LOG_ERROR };
    ig_log_record record = { .size = sizeof record,
                             .level = levels[severity],
                             .status = status,
                             .component = "compiler",
                             .code = ig_status_name(status),
                             .words = words,
                             .fields = fields,
                             .field_count = count };
    host->options.log->write(host->options.log->user, &record);
}

/* The parts of a diagnostic that are known, for a log; returns how many there are. */
static size_t list_fields(const ig_diagnostic *d, ig_log_field *fields) {
    const ig_location *where = &d->where;
    const ig_log_field all[] = {
        { "file", where->file, 0 },
        { "line", NULL, where->line },
        { "column", NULL, where->column },
        { "graph", where->graph, 0 },
        { "number", NULL, where->node_id },
        { "node", where->node, 0 },
        { "op", where->op, 0 },
        { "scope", where->scope, 0 },
        { "hint", d->hint, 0 },
    };
    size_t count = 0;
    for (size_t i = 0; i < IG_COUNT_OF(all); i++) {
        if (all[i].text || all[i].number) {
            assert(count < FIELDS && "there is room for all");
            fields[count++] = all[i];
        }
    }
    return count;
}

/* A copy of a text without secrets; NULL: there is none, or no memory. */
static char *copy_plain(const char *text) {
    char *copy = text ? strdup(text) : NULL;
    if (copy) {
        ig_hide_secrets(copy);
    }
    return copy;
}

static void log_diagnostic(const ig_driver *host, const ig_diagnostic *diagnostic) {
    ig_log_field fields[FIELDS];
    char *texts[FIELDS] = { 0 };
    size_t count = list_fields(diagnostic, fields);
    char *words = copy_plain(diagnostic->message);
    for (size_t i = 0; i < count; i++) {
        texts[i] = copy_plain(fields[i].text);
        fields[i].text = texts[i];
    }
    tell_log(host, (int)diagnostic->severity, diagnostic->status, words ? words : "",
             fields, count);
    for (size_t i = 0; i < count; i++) {
        free(texts[i]);
    }
    free(words);
}

static void take_message(void *user, const ig_diagnostic *diagnostic) {
    ig_driver *host = user;
    if (host->options.log) {
        log_diagnostic(host, diagnostic);
    }
    char *text = malloc(MESSAGE_BYTES);
    if (text) {
        ig_diagnostic_format(diagnostic, text, MESSAGE_BYTES);
        add_message(host, (int)diagnostic->severity, text);
        free(text);
    }
}

void ig_driver_message(ig_context *context, int severity, ig_status status,
                       const char *text) {
    ig_driver *host = ig_driver_of(context);
    context->diag.error_count += severity == IG_ERROR;
    context->diag.warning_count += severity == IG_WARNING;
    if (host->options.log) {
        tell_log(host, severity, status, text, NULL, 0);
    }
    add_message(host, severity, text);
}

static void clear_messages(ig_driver *host) {
    ig_arena_fini(&host->messages_arena);
    ig_arena_init(&host->messages_arena, NULL);
    ig_writer_init(&host->messages, &host->messages_arena);
    host->context.diag.error_count = 0;
    host->context.diag.warning_count = 0;
}

const char *ig_context_messages(const ig_context *context) {
    const ig_driver *host = (const ig_driver *)context;
    return host->messages.data ? host->messages.data : "";
}

void ig_text_hide_secrets(char *text) {
    ig_hide_secrets(text);
}

/* ---- life ---- */

ig_driver *ig_driver_of(ig_context *context) {
    return (ig_driver *)context;
}

void ig_options_take(ig_context *context, void *to, size_t room, const void *from) {
    assert(room >= sizeof(size_t) && "options begin with their size");
    if (!ig_sized_take(to, room, from)) {
        ig_driver_of(context)->is_unsized = true;
    }
}

ig_status ig_options_check(ig_context *context) {
    ig_driver *host = ig_driver_of(context);
    bool is_unsized = host->is_unsized;
    host->is_unsized = false;
    return is_unsized ? ig_error(&context->diag, IG_INVALID, NULL, IG_UNSIZED_WORDS,
                                 "of options")
                      : IG_OK;
}

ig_context *ig_context_create(const ig_context_options *options) {
    ig_driver *host = calloc(1, sizeof *host);
    if (!host) {
        return NULL;
    }
    if (!ig_sized_take(&host->options, sizeof host->options, options)) {
        free(host);
        return NULL;
    }
    host->context.limits = ig_limits_default;
    host->context.budget.cancelled = &host->context.cancelled;
    host->context.diag.sink = take_message;
    host->context.diag.user = host;
    host->context.progress = host->options.progress;
    host->context.progress_user = host->options.progress_user;
    uint64_t limit = host->options.memory_limit;
    host->context.budget.limit = limit ? (size_t)limit
                                       : (size_t)ig_limits_default.memory_bytes;
    ig_arena_init(&host->arena, NULL);
    if (host->options.cache_folder) {
        host->options.cache_folder = ig_arena_strdup(&host->arena,
                                                     host->options.cache_folder);
    }
    ig_map_init(&host->results, &host->arena);
    clear_messages(host);
    return &host->context;
}

void ig_context_destroy(ig_context *context) {
    if (!context) {
        return;
    }
    ig_driver *host = ig_driver_of(context);
    ig_arena_fini(&host->messages_arena);
    ig_arena_fini(&host->arena);
    free(host);
}

void ig_context_cancel(ig_context *context) {
    atomic_store(&context->cancelled, true);
}

/* Readers recurse as deep as these limits: the stack has an end. */
enum { DEEPEST = 2000 };

ig_status ig_context_set_limit(ig_context *context, const char *name, int64_t value) {
    if (value > DEEPEST && ig_str_ends(ig_str_of(name), "_depth")) {
        return ig_error(&context->diag, IG_INVALID, NULL, "%s is at most %d", name,
                        DEEPEST);
    }
    for (size_t i = 0; i < IG_LIMIT_COUNT; i++) {
        if (strcmp(ig_limit_infos[i].name, name) == 0) {
            memcpy((char *)&context->limits + ig_limit_infos[i].offset, &value,
                   sizeof value);
            context->budget.limit = (size_t)context->limits.memory_bytes;
            return IG_OK;
        }
    }
    return ig_error(&context->diag, IG_INVALID, NULL, "there is no limit '%s'", name);
}

int64_t ig_context_limit(const ig_context *context, const char *name) {
    for (uint32_t i = 0; i < IG_LIMIT_COUNT; i++) {
        if (strcmp(ig_limit_infos[i].name, name) == 0) {
            return ig_limit_value(&context->limits, (ig_limit_id)i);
        }
    }
    return -1;
}

/* ---- the recovery point ---- */

static ig_status report_exhaustion(ig_driver *host, bool is_given) {
    assert(host->has_unwound && !host->context.budget.recovery &&
           "only what unwound ran out of memory");
    ig_budget *budget = &host->context.budget;
    const char *name = budget->limit_name ? budget->limit_name : "memory_bytes";
    char hint[128];
    snprintf(hint, sizeof hint, "raise the limit %s, or give the machine more", name);
    budget->limit = host->budget_limit;
    ig_location where = { .file = budget->limit_file };
    budget->limit_name = budget->limit_file = NULL;
    if (budget->is_cancelled) {
        atomic_store(&host->context.cancelled, false);
        return IG_CANCELLED;
    }
    if (budget->is_refused) {
        return is_given ? IG_LIMIT
                        : ig_error(&host->context.diag, IG_LIMIT, &where,
                                   "a value has more elements than can be counted");
    }
    return ig_error_hint(&host->context.diag, IG_LIMIT, &where, hint,
                         "memory ran out (%zu MiB in use)", budget->used >> 20);
}

ig_status ig_driver_guard(ig_context *context, ig_status (*work)(void *arguments),
                          void *arguments) {
    ig_driver *host = ig_driver_of(context);
    jmp_buf recovery;
    clear_messages(host);
    host->budget_limit = context->budget.limit;
    context->budget.foreign_depth = 0;
    context->budget.is_refused = context->budget.is_cancelled = false;
    host->mark = context->budget.arenas;
    IG_TRY(ig_options_check(context));
    if (setjmp(recovery)) {
        context->budget.recovery = NULL;
        host->has_unwound = true;
        bool is_given = context->diag.sink == take_message;
        context->diag.sink = take_message; /* a pass may have silenced it */
        context->diag.user = host;
        return report_exhaustion(host, is_given);
    }
    context->budget.recovery = &recovery;
    ig_status status = work(arguments);
    context->budget.recovery = NULL;
    if (status == IG_CANCELLED) {
        atomic_store(&context->cancelled, false);
    }
    return status;
}

ig_status ig_driver_settle(ig_context *context, ig_status status) {
    ig_driver *host = ig_driver_of(context);
    if (host->has_unwound) {
        ig_budget_sweep(&context->budget, host->mark);
        host->has_unwound = false;
    }
    return status;
}

/* ---- what modules hand out ---- */

const ig_graph *ig_entry_of(const ig_module *module) {
    for (size_t i = 0; i < module->graphs.count; i++) {
        if (module->graphs.items[i]->is_entry) {
            return module->graphs.items[i];
        }
    }
    return NULL;
}

ig_module_results *ig_driver_module(ig_module *module) {
    ig_driver *host = ig_driver_of(module->context);
    ig_module_results *results = ig_map_get_id(&host->results, IG_MAP_PTR(module));
    if (!results) {
        results = IG_NEW(&host->arena, ig_module_results);
        ig_arena_init(&results->arena, &module->context->budget);
        ig_arena_init(&results->state_arenas[0], &module->context->budget);
        ig_arena_init(&results->state_arenas[1], &module->context->budget);
        ig_map_set_id(&host->results, IG_MAP_PTR(module), results);
    }
    return results;
}

ig_arena *ig_driver_results(ig_module *module) {
    ig_module_results *results = ig_driver_module(module);
    ig_arena_fini(&results->arena);
    ig_arena_init(&results->arena, &module->context->budget);
    return &results->arena;
}

void ig_module_close(ig_module *module) {
    if (!module) {
        return;
    }
    ig_driver *host = ig_driver_of(module->context);
    ig_module_results *results = ig_map_get_id(&host->results, IG_MAP_PTR(module));
    if (results) {
        ig_arena_fini(&results->arena);
        ig_arena_fini(&results->state_arenas[0]);
        ig_arena_fini(&results->state_arenas[1]);
        ig_map_set_id(&host->results, IG_MAP_PTR(module), NULL);
    }
    ig_module_destroy(module);
}
