/* Names of values in text: %id, dense and in order of printing; arguments by name.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ids in memory have holes where ops were erased, so the printer numbers anew; text
 * that was parsed and is printed again keeps its numbers.  An argument that has a name
 * prints it, with characters that an identifier cannot hold replaced by `_`, and with a
 * number after it where an earlier argument of the graph has the same.
 */
#include "ir/text/print.h"

#include <string.h>

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '.';
}

bool ig_print_is_named(const ig_op *op) {
    if (op->code >= IG_OP_COUNT) {
        return false;
    }
    const ig_op_info *info = &ig_ops[op->code];
    return (info->traits & IG_CONSTANT) && info->attr_count == 1 &&
           info->attrs[0].kind == IG_ATTR_SYM && op->attrs[0].kind == IG_ATTR_SYM;
}

void ig_print_item(ig_writer *out, const char *name) {
    ig_put_char(out, '@');
    size_t size = strlen(name), plain = 0;
    while (plain < size && is_name_char(name[plain])) {
        plain++;
    }
    if (plain == size && size > 0) {
        ig_put(out, "%s", name);
    } else {
        ig_put_quoted(out, ig_str_of(name));
    }
}

/* ---- naming a graph's values ---- */

typedef struct name_entry {
    bool is_visible;  /* an argument visible here has the name */
    uint32_t repeats; /* suffixes tried, so that equal names cost no search */
} name_entry;

typedef struct namer {
    ig_printer *printer;
    ig_arena *arena;
    ig_map entries; /* name -> name_entry */
    uint32_t next;
} namer;

static void set_name(namer *n, const ig_value *value, const char *name) {
    if (value->id < n->printer->name_count) {
        n->printer->names[value->id] = name;
    }
}

static void name_by_index(namer *n, const ig_value *value) {
    set_name(n, value, ig_arena_printf(n->arena, "%u", n->next++));
}

/* The entry of `name`, made when there is none. */
static name_entry *entry_of(namer *n, const char *name) {
    name_entry *entry = ig_map_get(&n->entries, ig_str_of(name));
    if (!entry) {
        entry = IG_NEW(n->arena, name_entry);
        ig_map_set(&n->entries, ig_str_of(name), entry);
    }
    return entry;
}

static const char *clean_name(namer *n, const char *text) {
    char *name = ig_arena_printf(n->arena, "%s%s",
                                 *text >= '0' && *text <= '9' ? "_" : "", text);
    for (char *c = name; *c; c++) {
        *c = is_name_char(*c) ? *c : '_';
    }
    const char *base = name;
    name_entry *first = entry_of(n, base), *entry = first;
    while (entry->is_visible) {
        name = ig_arena_printf(n->arena, "%s_%u", base, ++first->repeats);
        entry = entry_of(n, name);
    }
    entry->is_visible = true;
    return name;
}

static void name_args(namer *n, const ig_block *block) {
    const char *const *user = block->parent ? NULL : block->graph->arg_names;
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const ig_value *arg = block->args[i];
        const char *text = user && user[i] ? user[i] : arg->name;
        if (text && *text) {
            set_name(n, arg, clean_name(n, text));
        } else {
            name_by_index(n, arg);
        }
    }
}

/* Later blocks may have arguments of the same names. */
static void free_args(namer *n, const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        uint32_t id = block->args[i]->id;
        if (id < n->printer->name_count) {
            name_entry *entry = entry_of(n, n->printer->names[id]);
            entry->is_visible = false;
            entry->repeats = 0;
        }
    }
}

/* Recursion goes as deep as the graph nests, which every reader bounds. */
static void name_block(namer *n, const ig_block *block) {
    name_args(n, block);
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count && !ig_print_is_named(op); i++) {
            name_by_index(n, &op->results[i]);
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            name_block(n, op->bodies[i]);
        }
    }
    free_args(n, block);
}

void ig_print_name_values(ig_printer *printer, const ig_graph *graph) {
    namer n = { .printer = printer, .arena = printer->out->arena };
    ig_map_init(&n.entries, n.arena);
    printer->name_count = graph->value_count;
    printer->names = IG_NEW_ARRAY(n.arena, const char *, graph->value_count);
    name_block(&n, &graph->body);
}

/* A broken graph prints too: the verifier shows it. */
void ig_print_value(ig_printer *printer, const ig_value *value) {
    if (!value) {
        ig_put(printer->out, "%%?none");
    } else if (value->def && ig_print_is_named(value->def)) {
        ig_print_item(printer->out, ig_attr_str(value->def, 0));
    } else if (value->id < printer->name_count && printer->names[value->id]) {
        ig_put(printer->out, "%%%s", printer->names[value->id]);
    } else {
        ig_put(printer->out, "%%?%u", value->id);
    }
}
