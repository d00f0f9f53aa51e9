/* Checks after each pass, and what INGOT_DEBUG adds to them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/manager.h"

#include "base/platform/platform.h"
#include "base/platform/platform_debug.h"
#include "ir/parse/read.h"
#include "ir/verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- environment ---- */

typedef struct word {
    const char *name;
    uint32_t bit;
    const char *help;
} word;

static const word words[] = {
    { "verify", IG_DEBUG_VERIFY, "check the contract of each pass" },
    { "dump", IG_DEBUG_DUMP, "write NN-pass.ig after each pass" },
    { "roundtrip", IG_DEBUG_ROUNDTRIP, "print, parse and compare after each pass" },
    { "clone", IG_DEBUG_CLONE, "clone and compare after each pass" },
    { "time", IG_DEBUG_TIME, "print the time of each pass" },
    { "rules", IG_DEBUG_RULES, "print how often each rewrite rule fired" },
    { "gdb", IG_DEBUG_GDB, "compile with debug information, and tell gdb of the code" },
};

bool ig_word_is_in(const char *list, const char *name) {
    size_t size = strlen(name);
    while (list && *list) {
        const char *end = strchr(list, ',');
        size_t length = end ? (size_t)(end - list) : strlen(list);
        if (length == size && memcmp(list, name, size) == 0) {
            return true;
        }
        list = end ? end + 1 : NULL;
    }
    return false;
}

static void print_help(void) {
    fprintf(stderr, "INGOT_DEBUG takes these words, with commas between them:\n");
    for (size_t i = 0; i < IG_COUNT_OF(words); i++) {
        fprintf(stderr, "  %-10s %s\n", words[i].name, words[i].help);
    }
}

/* The first of the words, with commas between them, that is not known; NULL: all
 * are. */
static const char *find_unknown(const char *list, bool (*is_known)(ig_str name),
                                int *out_size) {
    for (const char *at = list; at && *at; at += *at == ',') {
        size_t size = strcspn(at, ",");
        *out_size = (int)size;
        if (!is_known((ig_str){ at, size })) {
            return at;
        }
        at += size;
    }
    return NULL;
}

static bool is_debug_word(ig_str name) {
    bool is_known = ig_str_is(name, "help");
    for (size_t i = 0; i < IG_COUNT_OF(words) && !is_known; i++) {
        is_known = ig_str_is(name, words[i].name);
    }
    return is_known;
}

static bool is_pass(ig_str name) {
    return ig_find_pass(name) != NULL;
}

/* A word that nothing knows would be a check, or a pass left out, that never was. */
static ig_status check_environment(ig_diag *diag, const char *debug, const char *skip,
                                   const char *stop) {
    int size = 0;
    const char *unknown = find_unknown(debug, is_debug_word, &size);
    if (unknown) {
        return ig_error_hint(diag, IG_INVALID, NULL, "INGOT_DEBUG=help lists them",
                             "INGOT_DEBUG has no word '%.*s'", size, unknown);
    }
    unknown = find_unknown(skip, is_pass, &size);
    if (unknown) {
        return ig_error_hint(diag, IG_INVALID, NULL, "ingot info lists them",
                             "INGOT_SKIP: there is no pass '%.*s'", size, unknown);
    }
    bool is_good = !stop || !*stop ||
                   (strncmp(stop, "after:", 6) == 0 && is_pass(ig_str_of(stop + 6)));
    return is_good
               ? IG_OK
               : ig_error_hint(diag, IG_INVALID, NULL, "ingot info lists the passes",
                               "INGOT_STOP is after:PASS, not '%s'", stop);
}

ig_status ig_manager_read_environment(ig_manager *manager) {
    const char *debug = secure_getenv("INGOT_DEBUG"),
               *stop = secure_getenv("INGOT_STOP");
    manager->skip = secure_getenv("INGOT_SKIP");
    IG_TRY(
        check_environment(&manager->module->context->diag, debug, manager->skip, stop));
    manager->stop = stop && *stop ? stop + 6 : NULL;
    manager->debug = IG_IS_DEBUG_BUILD ? IG_DEBUG_VERIFY : 0;
    for (size_t i = 0; i < IG_COUNT_OF(words); i++) {
        manager->debug |= ig_word_is_in(debug, words[i].name) ? words[i].bit : 0;
    }
    if (ig_word_is_in(debug, "help") && ig_passes_seen(manager->module) == 0) {
        print_help(); /* once: a compilation runs several pipelines */
    }
    return IG_OK;
}

/* ---- one graph ---- */

ig_pass_check ig_check_before(const ig_manager *manager, const ig_graph *graph) {
    ig_pass_check check = { .stage = graph->stage };
    if (manager->debug & IG_DEBUG_VERIFY) {
        check.hash = ig_graph_hash(graph);
    }
    if (manager->debug & IG_DEBUG_TIME) {
        check.time = ig_time_now();
    }
    return check;
}

static ig_status report_defect(const ig_manager *manager, const ig_pass *pass,
                               const char *what) {
    return ig_error(&manager->module->context->diag, IG_INTERNAL, NULL,
                    "pass %s (number %" PRIu32 ") %s", pass->name, manager->index,
                    what);
}

ig_status ig_check_after(const ig_manager *manager, const ig_pass *pass,
                         const ig_graph *graph, const ig_pass_check *before,
                         bool changed) {
    if (manager->debug & IG_DEBUG_TIME) {
        fprintf(stderr, "%02" PRIu32 " %-16s @%-12s %9.3f ms%s\n", manager->index,
                pass->name, graph->name, (ig_time_now() - before->time) * 1e3,
                changed ? "" : "  unchanged");
    }
    if (!(manager->debug & IG_DEBUG_VERIFY)) {
        return IG_OK;
    }
    ig_stage expected = pass->stage_after ? pass->stage_after : before->stage;
    if (graph->stage != expected) {
        return report_defect(manager, pass,
                             "left the graph at another stage than it says");
    }
    if (!changed && ig_graph_hash(graph) != before->hash) {
        return report_defect(manager, pass, "changed the graph and claims it did not");
    }
    return IG_OK;
}

/* ---- the module ---- */

static ig_status dump_text(const ig_manager *manager, const ig_pass *pass,
                           ig_str text) {
    char path[96], why[128];
    snprintf(path, sizeof(path), "%02" PRIu32 "-%.64s.ig", manager->index, pass->name);
    ig_file_part part = { text.data, text.size };
    ig_status status = ig_file_publish(path, &part, 1, why);
    if (status != IG_OK) {
        return ig_error(&manager->module->context->diag, status, NULL,
                        "cannot write %s: %s", path, why);
    }
    return IG_OK;
}

/* Another module that should be the same: the same graphs by hash, the same text. */
static ig_status compare_modules(const ig_manager *manager, const ig_pass *pass,
                                 ig_str text, const ig_module *other,
                                 const char *what) {
    const ig_module *module = manager->module;
    for (size_t i = 0; i < module->graphs.count; i++) {
        const ig_graph *graph = module->graphs.items[i];
        const ig_graph *twin = ig_module_graph(other, graph->name);
        if (!twin || ig_graph_hash(twin) != ig_graph_hash(graph)) {
            return report_defect(manager, pass, what);
        }
    }
    ig_writer writer;
    ig_writer_init(&writer, &((ig_module *)(uintptr_t)other)->arena);
    ig_print_module(other, &writer);
    return ig_str_equal(ig_writer_str(&writer), text)
               ? IG_OK
               : report_defect(manager, pass, what);
}

static ig_status check_roundtrip(const ig_manager *manager, const ig_pass *pass,
                                 ig_str text) {
    ig_module *parsed = NULL;
    ig_str folder = ig_print_folder(manager->module); /* of weights' files */
    char file[4096];
    snprintf(file, sizeof(file), "%.*s<round trip>", IG_STR_ARG(folder));
    IG_TRY(ig_parse_module(manager->module->context, file, text, &parsed));
    ig_status status =
        compare_modules(manager, pass, text, parsed,
                        "left a module that changes when printed and parsed");
    ig_module_destroy(parsed);
    return status;
}

static ig_status check_clone(const ig_manager *manager, const ig_pass *pass,
                             ig_str text) {
    ig_module *copy = ig_module_clone(manager->module);
    ig_status status = ig_verify_module(copy);
    if (status == IG_OK) {
        status = compare_modules(manager, pass, text, copy,
                                 "left a module that changes when cloned");
    }
    ig_module_destroy(copy);
    return status;
}

static ig_status check_text(const ig_manager *manager, const ig_pass *pass,
                            ig_str text) {
    if (manager->debug & IG_DEBUG_DUMP) {
        IG_TRY(dump_text(manager, pass, text));
    }
    if (manager->debug & IG_DEBUG_ROUNDTRIP) {
        IG_TRY(check_roundtrip(manager, pass, text));
    }
    return manager->debug & IG_DEBUG_CLONE ? check_clone(manager, pass, text) : IG_OK;
}

ig_status ig_check_module(const ig_manager *manager, const ig_pass *pass) {
    ig_module *module = manager->module;
    if (manager->debug & IG_DEBUG_VERIFY) {
        if (ig_verify_module(module) != IG_OK) {
            return report_defect(manager, pass, "left a module that does not verify");
        }
    }
    if (!(manager->debug & (IG_DEBUG_DUMP | IG_DEBUG_ROUNDTRIP | IG_DEBUG_CLONE))) {
        return IG_OK;
    }
    ig_arena scratch;
    ig_arena_init(&scratch, &module->context->budget);
    ig_writer writer;
    ig_writer_init(&writer, &scratch);
    ig_print_module(module, &writer);
    ig_status status = check_text(manager, pass, ig_writer_str(&writer));
    ig_arena_fini(&scratch);
    return status;
}
