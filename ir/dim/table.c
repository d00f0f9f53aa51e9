/* Interning of symbols, atoms and expressions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/dim/table.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

void ig_dim_table_create(ig_module *module) {
    ig_dim_table *table = IG_NEW(&module->arena, ig_dim_table);
    table->module = module;
    table->arena = &module->arena;
    ig_map_init(&table->atoms, table->arena);
    ig_map_init(&table->monomials, table->arena);
    ig_map_init(&table->exprs_by_terms, table->arena);
    ig_map_init(&table->names, table->arena);
    ig_map_init(&table->fresh, table->arena);
    module->dims = table;
    table->one = ig_dim_monomial_intern(table, NULL, 0);
}

/* ---- expressions ---- */

static const ig_dim_expr *expr_of(const ig_dim_table *table, ig_dim dim) {
    assert(!ig_dim_is_static(dim) && "a known extent is not an expression");
    assert((uint64_t)(-1 - dim.code) < table->exprs.count && "a dim of another module");
    return table->exprs.items[-1 - dim.code];
}

bool ig_dim_belongs(const ig_module *module, ig_dim dim) {
    return ig_dim_is_static(dim) ||
           (uint64_t)(-1 - dim.code) < module->dims->exprs.count;
}

const ig_dim_term *ig_dim_terms(const ig_dim_table *table, ig_dim dim,
                                ig_dim_term *room, uint32_t *out_count) {
    if (!ig_dim_is_static(dim)) {
        const ig_dim_expr *expr = expr_of(table, dim);
        *out_count = expr->count;
        return expr->terms;
    }
    *room = (ig_dim_term){ dim.code, table->one };
    *out_count = dim.code > 0;
    return room;
}

uint32_t ig_dim_depth(const ig_dim_table *table, ig_dim dim) {
    return ig_dim_is_static(dim) ? 0 : expr_of(table, dim)->depth;
}

uint32_t ig_dim_size(const ig_dim_table *table, ig_dim dim) {
    return ig_dim_is_static(dim) ? 1 : expr_of(table, dim)->size;
}

uint64_t ig_dim_hash(const ig_module *module, ig_dim dim) {
    return !ig_dim_is_static(dim) ? expr_of(module->dims, dim)->hash
                                  : ig_hash_bytes(&dim, sizeof(dim), 0);
}

/* Descends only into the first pair that differs, so the cost is depth times width. */
int ig_dim_compare(const ig_dim_table *table, ig_dim a, ig_dim b) {
    if (ig_dim_same(a, b)) {
        return 0;
    }
    ig_dim_term room_a, room_b;
    uint32_t count_a, count_b;
    const ig_dim_term *terms_a = ig_dim_terms(table, a, &room_a, &count_a);
    const ig_dim_term *terms_b = ig_dim_terms(table, b, &room_b, &count_b);
    for (uint32_t i = 0; i < count_a && i < count_b; i++) {
        int order = ig_dim_monomial_compare(table, terms_a[i].monomial,
                                            terms_b[i].monomial);
        if (order) {
            return order;
        }
        if (terms_a[i].coefficient != terms_b[i].coefficient) {
            return terms_a[i].coefficient < terms_b[i].coefficient ? -1 : 1;
        }
    }
    return count_a < count_b ? -1 : count_a > count_b;
}

int ig_dim_atom_compare(const ig_dim_table *table, const ig_dim_atom *a,
                        const ig_dim_atom *b) {
    if (a == b) {
        return 0;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->kind == IG_DIM_SYMBOL) {
        return strcmp(table->symbols.items[a->symbol]->symbol.name,
                      table->symbols.items[b->symbol]->symbol.name);
    }
    int order = ig_dim_compare(table, a->a, b->a);
    return order ? order : ig_dim_compare(table, a->b, b->b);
}

/* ---- atoms ---- */

static ig_dim_atom *add_atom(ig_dim_table *table, ig_dim_opcode kind, ig_dim a,
                             ig_dim b) {
    ig_dim_atom *atom = IG_NEW(table->arena, ig_dim_atom);
    atom->kind = kind;
    atom->a = a;
    atom->b = b;
    uint32_t depth_a = ig_dim_depth(table, a), depth_b = ig_dim_depth(table, b);
    atom->depth = 1 + (depth_a > depth_b ? depth_a : depth_b);
    atom->size = 1 + ig_dim_size(table, a) + ig_dim_size(table, b);
    uint64_t parts[3] = { (uint64_t)kind, ig_dim_hash(table->module, a),
                          ig_dim_hash(table->module, b) };
    atom->hash = ig_hash_bytes(parts, sizeof(parts), 0);
    return atom;
}

const ig_dim_atom *ig_dim_atom_intern(ig_dim_table *table, ig_dim_opcode kind, ig_dim a,
                                      ig_dim b) {
    int64_t parts[3] = { (int64_t)kind, a.code, b.code };
    ig_str key = { (const char *)parts, sizeof(parts) };
    ig_dim_atom *atom = (ig_dim_atom *)ig_map_get(&table->atoms, key);
    if (!atom) {
        atom = add_atom(table, kind, a, b);
        ig_map_set(&table->atoms, key, atom);
    }
    return atom;
}

ig_dim ig_dim_of_atom(ig_dim_table *table, const ig_dim_atom *atom) {
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    ig_dim_sum_add(table, &sum, 1, ig_dim_monomial_intern(table, &atom, 1));
    ig_dim dim = ig_dim_of(0);
    bool is_small = ig_dim_sum_finish(table, &sum, &dim);
    assert(is_small && "an atom is kept within the limits when it is made");
    (void)is_small;
    return dim;
}

ig_dim ig_dim_make_atom(ig_dim_table *table, ig_dim_opcode kind, ig_dim a, ig_dim b) {
    ig_dim parts[2] = { a, b };
    for (int i = 0; i < 2; i++) {
        if (ig_dim_depth(table, parts[i]) + 1 >= IG_DIM_DEPTH_MAX ||
            ig_dim_size(table, parts[i]) > IG_DIM_SIZE_MAX / 4) {
            parts[i] = ig_dim_fresh(table, IG_DIM_CONST, parts[i], ig_dim_of(0));
        }
    }
    return ig_dim_of_atom(table, ig_dim_atom_intern(table, kind, parts[0], parts[1]));
}

/* ---- symbols ---- */

static ig_dim_name *add_symbol(ig_dim_table *table, ig_str name) {
    ig_dim_name *entry = IG_NEW(table->arena, ig_dim_name);
    entry->symbol.name = ig_module_string(table->module, name);
    entry->symbol.max = INT64_MAX;
    entry->symbol.multiple = 1;
    entry->next_id = 2;
    ig_dim_atom *atom = add_atom(table, IG_DIM_SYMBOL, ig_dim_of(0), ig_dim_of(0));
    atom->symbol = (uint32_t)table->symbols.count;
    atom->depth = 0;
    atom->size = 1;
    atom->hash = ig_hash_bytes(name.data, name.size, IG_DIM_SYMBOL);
    IG_PUSH(table->arena, &table->symbols, entry);
    entry->atom = atom;
    entry->dim = ig_dim_of_atom(table, atom);
    ig_map_set(&table->names, name, entry);
    return entry;
}

static bool is_word(const char *name) {
    static const char *const words[] = {
        "min", "max", "floor", "ceil", "bcast", "exact"
    };
    for (size_t i = 0; i < IG_COUNT_OF(words); i++) {
        if (strcmp(name, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Names come from models and may hold anything; in text they are identifiers. */
static const char *as_identifier(ig_dim_table *table, const char *name) {
    enum { NAME_MAX_BYTES = 64 };
    size_t size = strlen(name);
    size = size < NAME_MAX_BYTES ? size : NAME_MAX_BYTES;
    bool needs_front = size == 0 || isdigit((unsigned char)name[0]) || is_word(name);
    char *copy = ig_arena_printf(table->arena, "%s%.*s", needs_front ? "d_" : "",
                                 (int)size, name);
    for (char *c = copy; *c; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                        (*c >= '0' && *c <= '9');
        *c = is_plain ? *c : '_';
    }
    return copy;
}

ig_dim ig_dim_symbol(ig_module *module, const char *name) {
    ig_dim_table *table = module->dims;
    const char *base = as_identifier(table, name ? name : "");
    const char *unique = base;
    ig_dim_name *taken = (ig_dim_name *)ig_map_get(&table->names, ig_str_of(base));
    bool ends_in_digit = isdigit((unsigned char)base[strlen(base) - 1]);
    while (taken && ig_map_get(&table->names, ig_str_of(unique))) {
        unique = ig_arena_printf(table->arena, ends_in_digit ? "%s_%u" : "%s%u", base,
                                 taken->next_id++);
    }
    return add_symbol(table, ig_str_of(unique))->dim;
}

ig_dim ig_dim_named(ig_module *module, ig_str name) {
    assert(name.size > 0 && "a symbol has a name");
    ig_dim_name *known = (ig_dim_name *)ig_map_get(&module->dims->names, name);
    return known ? known->dim : add_symbol(module->dims, name)->dim;
}

static const ig_dim_atom *only_atom(const ig_module *module, ig_dim dim) {
    if (ig_dim_is_static(dim)) {
        return NULL;
    }
    const ig_dim_expr *expr = expr_of(module->dims, dim);
    bool is_one = expr->count == 1 && expr->terms[0].coefficient == 1 &&
                  expr->terms[0].monomial->degree == 1;
    return is_one ? expr->terms[0].monomial->atoms[0] : NULL;
}

ig_symbol *ig_dim_as_symbol(const ig_module *module, ig_dim dim) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    const ig_dim_atom *atom = only_atom(module, dim);
    return atom && atom->kind == IG_DIM_SYMBOL
               ? &module->dims->symbols.items[atom->symbol]->symbol
               : NULL;
}

uint32_t ig_symbol_count(const ig_module *module) {
    return (uint32_t)module->dims->symbols.count;
}

ig_symbol *ig_symbol_at(const ig_module *module, uint32_t index) {
    assert(index < module->dims->symbols.count && "no such symbol");
    return &module->dims->symbols.items[index]->symbol;
}

uint32_t ig_symbol_index(const ig_module *module, ig_dim dim) {
    const ig_dim_atom *atom = only_atom(module, dim);
    assert(atom && atom->kind == IG_DIM_SYMBOL && "not one symbol");
    return atom->symbol;
}

/* ---- fresh symbols ---- */

static ig_dim definition_of(ig_dim_table *table, ig_dim_opcode kind, ig_dim a,
                            ig_dim b) {
    if (kind == IG_DIM_CONST) {
        return a;
    }
    /* Halves keep the opaque atom itself within the limits. */
    ig_dim parts[2] = { a, b };
    for (int i = 0; i < 2; i++) {
        if (ig_dim_size(table, parts[i]) > IG_DIM_SIZE_MAX / 2 - 2 ||
            ig_dim_depth(table, parts[i]) >= IG_DIM_DEPTH_MAX) {
            parts[i] = ig_dim_fresh(table, IG_DIM_CONST, parts[i], ig_dim_of(0));
        }
    }
    return ig_dim_of_atom(table, ig_dim_atom_intern(table, kind, parts[0], parts[1]));
}

ig_dim ig_dim_fresh(ig_dim_table *table, ig_dim_opcode kind, ig_dim a, ig_dim b) {
    int64_t parts[3] = { (int64_t)kind, a.code, b.code };
    ig_str key = { (const char *)parts, sizeof(parts) };
    ig_dim_name *entry = (ig_dim_name *)ig_map_get(&table->fresh, key);
    if (entry) {
        return entry->dim;
    }
    ig_dim defined = definition_of(table, kind, a, b);
    ig_dim_interval range = ig_dim_interval_of(table, a);
    if (kind != IG_DIM_CONST) {
        range = ig_dim_interval_apply(kind, range, ig_dim_interval_of(table, b));
    }
    ig_dim dim = ig_dim_symbol(table->module, "d");
    entry = table->symbols.items[table->symbols.count - 1];
    entry->symbol.defined = defined;
    entry->symbol.min = range.min;
    entry->symbol.max = range.max;
    entry->symbol.level = ig_dim_level(table->module, defined) + 1;
    ig_map_set(&table->fresh, key, entry);
    return dim;
}
