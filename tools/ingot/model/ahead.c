/* Artifacts whose tables are in stores: options, and calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/ahead.h"

#include <ingot/stored.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char *ahead_name(const char *option) {
    return text_of("%.*s", (int)strcspn(option, "="), option);
}

static bool have_equals(const text_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        if (!equals || equals == list->items[i] || !equals[1]) {
            return false;
        }
    }
    return true;
}

int ahead_check(const settings *given) {
    if (!have_equals(&given->stores)) {
        return complain(EXIT_USAGE, "--store takes TABLE=URL, such as "
                                    "'*=lmdb:///var/lib/rows.mdb'");
    }
    return have_equals(&given->missing)
               ? 0
               : complain(EXIT_USAGE, "--missing takes TABLE=NUMBERS, such as '*=0'");
}

ig_status ahead_compile(const settings *given, ig_module *module, const char *path) {
    ig_compile_options how = compile_options(given);
    how.emit = given->emit;
    ig_stored_place *places = need(calloc(given->stores.count, sizeof *places));
    char **names = need(calloc(given->stores.count, sizeof *names));
    for (size_t i = 0; i < given->stores.count; i++) {
        names[i] = ahead_name(given->stores.items[i]);
        places[i] = (ig_stored_place){ names[i],
                                       strchr(given->stores.items[i], '=') + 1 };
    }
    ig_status status = ig_compile_stored(module, places, given->stores.count, path,
                                         &how);
    for (size_t i = 0; i < given->stores.count; i++) {
        free(names[i]);
    }
    free(names);
    free(places);
    return status;
}

/* ---- rows in place of missing ones ---- */

/* The type of the tables' rows that a name or pattern fits; false: of none, or of
 * several types. */
static bool find_row_type(const ig_program *program, const char *pattern, char *out,
                          size_t size) {
    static const char ending[] = ".rows";
    bool is_met = false;
    for (size_t i = 0; i < ig_program_input_count(program); i++) {
        ig_port port = ig_program_input(program, i);
        size_t length = strlen(port.name), tail = sizeof ending - 1;
        if (length <= tail || strcmp(port.name + length - tail, ending) != 0) {
            continue;
        }
        char *table = text_of("%.*s", (int)(length - tail), port.name);
        bool is_its = fnmatch(pattern, table, 0) == 0;
        free(table);
        char *type = text_of("%.*s[%lld]", (int)strcspn(port.type, "["), port.type,
                             (long long)port.dims[1]);
        bool is_same = !is_met || strcmp(type, out) == 0;
        if (is_its) {
            snprintf(out, size, "%s", type);
            is_met = true;
        }
        free(type);
        if (is_its && !is_same) {
            return false;
        }
    }
    return is_met;
}

static ig_status take_missing(const model *m, const char *option,
                              ig_lookahead_table *out, ig_arguments **owner,
                              message *why) {
    char type[64] = "";
    char *name = ahead_name(option);
    bool is_found = find_row_type(m->program, name, type, sizeof type);
    if (!is_found) {
        snprintf(
            why->text, sizeof why->text,
            "--missing %s: tables of one type in stores are meant, and the artifact "
            "has none of that name, or several types",
            option);
        free(name);
        return wrong_usage();
    }
    char *text = text_of("%s=%s", type, strchr(option, '=') + 1);
    ig_status status = ig_arguments_parse(m->context, text, NULL, owner);
    free(text);
    *out = (ig_lookahead_table){ .name = name };
    if (status == IG_OK) {
        const ig_argument *row = ig_arguments_at(*owner, 0);
        out->missing = row->data;
        out->missing_bytes = row->size;
    }
    return status;
}

/* ---- opening ---- */

static ig_status open_with(const settings *given, const char *path,
                           ig_lookahead_options *how, ig_lookahead **out,
                           message *why) {
    how->size = sizeof *how;
    how->message = why->text;
    how->message_size = sizeof why->text;
    how->memory = (size_t)given->store_memory << 20;
    how->depth = (uint32_t)given->ahead;
    how->level = given->target && strncmp(given->target, "cpu:", 4) == 0
                     ? given->target + 4
                     : NULL;
    how->skips_weights_check = 1; /* the caller opened the program, and checked */
    ig_status status = ig_lookahead_open(path, how, out);
    if (status == IG_OK && why->text[0]) {
        note(given, "warning: %s", why->text);
        why->text[0] = 0;
    }
    return status;
}

ig_status ahead_open(const settings *given, model *m, const char *path, int threads,
                     ig_lookahead **out_ahead, message *why) {
    size_t urls = given->stores.count, rows = given->missing.count, count = 0;
    if (ahead_check(given) != 0) {
        return IG_INVALID;
    }
    ig_lookahead_table *tables = need(calloc(urls + rows + 1, sizeof *tables));
    ig_arguments **owners = need(calloc(rows + 1, sizeof(ig_arguments *)));
    for (; count < urls; count++) {
        const char *option = given->stores.items[count];
        tables[count] = (ig_lookahead_table){ .name = ahead_name(option),
                                              .url = strchr(option, '=') + 1 };
    }
    ig_status status = IG_OK;
    for (size_t i = 0; i < rows && status == IG_OK; i++) {
        status = take_missing(m, given->missing.items[i], &tables[count], &owners[i],
                              why);
        count += tables[count].name != NULL;
    }
    ig_lookahead_options how = { .tables = tables,
                                 .table_count = count,
                                 .threads = threads };
    if (status == IG_OK) {
        status = open_with(given, path, &how, out_ahead, why);
    }
    m->deadline = given->deadline;
    for (size_t i = 0; i < count; i++) {
        free((char *)(uintptr_t)tables[i].name);
    }
    for (size_t i = 0; i < rows; i++) {
        ig_arguments_close(owners[i]);
    }
    free(owners);
    free(tables);
    return status;
}

/* ---- calls ---- */

ig_lookahead_call ahead_call(int64_t deadline) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return (ig_lookahead_call){ .size = sizeof(ig_lookahead_call),
                                .deadline_ns = deadline > 0 ? ns + deadline * 1000000
                                                            : 0,
                                .accepts_missing = deadline > 0 };
}

ig_status ahead_run(ig_lookahead *ahead, const ig_view *inputs, size_t input_count,
                    int64_t deadline, results *out) {
    ig_lookahead_call how = ahead_call(deadline);
    ig_status status = ig_lookahead_submit(ahead, inputs, input_count, &how);
    return status == IG_OK ? ig_lookahead_wait(ahead, out->views, out->count, NULL)
                           : status;
}
