/* Walks over dims: evaluation, printing, code for the runtime, translation.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All recurse through atoms, at most IG_DIM_DEPTH_MAX deep, over at most
 * IG_DIM_SIZE_MAX nodes.  A fresh symbol is a symbol here: its value is the caller's,
 * who computes definitions in order of index (a definition mentions only earlier
 * symbols).
 */
#include "base/checked.h"
#include "base/vec.h"
#include "ir/dim/table.h"

#include <assert.h>
#include <inttypes.h>

/* ---- evaluation ---- */

static bool divide_values(ig_dim_opcode kind, int64_t a, int64_t b, int64_t *out) {
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        return false;
    }
    int64_t quotient = a / b, rest = a % b;
    bool is_negative = (rest < 0) != (b < 0);
    if (kind == IG_DIM_FLOOR) {
        quotient -= rest != 0 && is_negative;
    } else if (kind == IG_DIM_CEIL) {
        quotient += rest != 0 && !is_negative;
    } else if (rest != 0) {
        return false;
    }
    *out = quotient;
    return true;
}

static bool apply_opcode(ig_dim_opcode kind, int64_t a, int64_t b, int64_t *out) {
    switch (kind) {
    case IG_DIM_ADD:
        return ig_add_i64(a, b, out);
    case IG_DIM_MUL:
        return ig_mul_i64(a, b, out);
    case IG_DIM_MIN:
        *out = a < b ? a : b;
        return true;
    case IG_DIM_MAX:
        *out = a > b ? a : b;
        return true;
    case IG_DIM_BCAST:
        *out = a == 1 ? b : a;
        return true;
    case IG_DIM_FLOOR:
    case IG_DIM_CEIL:
    case IG_DIM_EXACT:
        return divide_values(kind, a, b, out);
    case IG_DIM_CONST:
    case IG_DIM_SYMBOL:
        break;
    }
    return false;
}

static bool evaluate_atom(const ig_module *module, const ig_dim_atom *atom,
                          const int64_t *symbols, int64_t *out) {
    int64_t a, b;
    if (atom->kind == IG_DIM_SYMBOL) {
        *out = symbols[atom->symbol];
        return true;
    }
    return ig_dim_evaluate(module, atom->a, symbols, &a) &&
           ig_dim_evaluate(module, atom->b, symbols, &b) &&
           apply_opcode(atom->kind, a, b, out);
}

bool ig_dim_evaluate(const ig_module *module, ig_dim dim, const int64_t *symbols,
                     int64_t *out_value) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(module->dims, dim, &room, &count);
    int64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t product = terms[i].coefficient, factor;
        for (uint32_t k = 0; k < terms[i].monomial->degree; k++) {
            if (!evaluate_atom(module, terms[i].monomial->atoms[k], symbols, &factor) ||
                !ig_mul_i64(product, factor, &product)) {
                return false;
            }
        }
        if (!ig_add_i64(total, product, &total)) {
            return false;
        }
    }
    *out_value = total;
    return true;
}

/* ---- symbols ---- */

static void mark_symbols(ig_dim_table *table, ig_dim dim, uint32_t stamp);

static void mark_atom(ig_dim_table *table, const ig_dim_atom *atom, uint32_t stamp) {
    if (atom->kind != IG_DIM_SYMBOL) {
        mark_symbols(table, atom->a, stamp);
        mark_symbols(table, atom->b, stamp);
        return;
    }
    ig_dim_name *name = table->symbols.items[atom->symbol];
    if (name->stamp != stamp) {
        name->stamp = stamp;
        IG_PUSH(table->arena, &table->visited, atom->symbol);
    }
}

static void mark_symbols(ig_dim_table *table, ig_dim dim, uint32_t stamp) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, dim, &room, &count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < terms[i].monomial->degree; k++) {
            mark_atom(table, terms[i].monomial->atoms[k], stamp);
        }
    }
}

/* The list is pushed on top of those of outer calls: a visitor may itself ask. */
void ig_dim_visit_symbols(const ig_module *module, ig_dim dim,
                          void (*visit)(void *user, uint32_t symbol), void *user) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    ig_dim_table *table = module->dims;
    size_t base = table->visited.count;
    uint32_t stamp = ++table->stamp;
    mark_symbols(table, dim, stamp);
    for (size_t i = base; i < table->visited.count; i++) {
        const ig_dim_name *name = table->symbols.items[table->visited.items[i]];
        mark_symbols(table, name->symbol.defined, stamp);
    }
    size_t end = table->visited.count;
    for (size_t i = base; i < end; i++) {
        visit(user, table->visited.items[i]);
    }
    table->visited.count = base;
}

typedef struct search {
    uint32_t first, last; /* numbers of symbols */
    bool is_found;
} search;

static void match_symbol(void *user, uint32_t symbol) {
    search *s = user;
    s->is_found |= symbol >= s->first && symbol <= s->last;
}

static bool mentions_symbols(const ig_module *module, ig_dim dim, uint32_t first,
                             uint32_t last) {
    search s = { first, last, false };
    if (!ig_dim_is_static(dim)) {
        ig_dim_visit_symbols(module, dim, match_symbol, &s);
    }
    return s.is_found;
}

bool ig_dim_mentions(const ig_module *module, ig_dim dim, uint32_t symbol) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    assert(symbol < ig_symbol_count(module) && "no such symbol");
    return mentions_symbols(module, dim, symbol, symbol);
}

bool ig_dim_mentions_since(const ig_module *module, ig_dim dim, uint32_t first) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    return mentions_symbols(module, dim, first, UINT32_MAX);
}

/* ---- definitions ---- */

static uint32_t atom_level(const ig_dim_table *table, const ig_dim_atom *atom) {
    if (atom->kind == IG_DIM_SYMBOL) {
        return table->symbols.items[atom->symbol]->symbol.level;
    }
    uint32_t a = ig_dim_level(table->module, atom->a);
    uint32_t b = ig_dim_level(table->module, atom->b);
    return a > b ? a : b;
}

/* Recursion is bounded by IG_DIM_DEPTH_MAX. */
uint32_t ig_dim_level(const ig_module *module, ig_dim dim) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    ig_dim_term room;
    uint32_t count, level = 0;
    const ig_dim_term *terms = ig_dim_terms(module->dims, dim, &room, &count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < terms[i].monomial->degree; k++) {
            uint32_t of_atom = atom_level(module->dims, terms[i].monomial->atoms[k]);
            level = of_atom > level ? of_atom : level;
        }
    }
    return level;
}

typedef struct overflow {
    const ig_module *module;
    bool is_found;
} overflow;

/* Numbers are added and multiplied at once: where a definition holds nothing else, the
 * result did not fit. */
static void look_for_overflow(void *user, uint32_t symbol) {
    overflow *o = user;
    const ig_symbol *s = ig_symbol_at(o->module, symbol);
    o->is_found |= ig_symbol_is_defined(s) &&
                   !ig_dim_mentions_since(o->module, s->defined, 0);
}

bool ig_dim_overflows(const ig_module *module, ig_dim dim) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    overflow o = { module, false };
    if (ig_dim_level(module, dim) > 0) {
        ig_dim_visit_symbols(module, dim, look_for_overflow, &o);
    }
    return o.is_found;
}

/* ---- translation ---- */

static ig_dim translate_dim(const ig_module *from, ig_dim dim, ig_module *to);

static const ig_dim_atom *translate_atom(const ig_module *from, const ig_dim_atom *atom,
                                         ig_module *to) {
    if (atom->kind == IG_DIM_SYMBOL) {
        const char *name = from->dims->symbols.items[atom->symbol]->symbol.name;
        ig_dim symbol = ig_dim_named(to, ig_str_of(name));
        return to->dims->symbols.items[ig_symbol_index(to, symbol)]->atom;
    }
    return ig_dim_atom_intern(to->dims, atom->kind, translate_dim(from, atom->a, to),
                              translate_dim(from, atom->b, to));
}

/* The monomial rebuilt; atoms keep their order, which depends on their content
 * alone. */
static const ig_dim_monomial *translate_monomial(const ig_module *from,
                                                 const ig_dim_monomial *monomial,
                                                 ig_module *to) {
    const ig_dim_atom *atoms[IG_DIM_DEGREE_MAX];
    for (uint32_t i = 0; i < monomial->degree; i++) {
        atoms[i] = translate_atom(from, monomial->atoms[i], to);
    }
    return ig_dim_monomial_intern(to->dims, atoms, monomial->degree);
}

/* Taken over as it is, not simplified anew: the ranges that let it be were known
 * then. */
static ig_dim translate_dim(const ig_module *from, ig_dim dim, ig_module *to) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(from->dims, dim, &room, &count);
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    for (uint32_t i = 0; i < count; i++) {
        ig_dim_sum_add(to->dims, &sum, terms[i].coefficient,
                       translate_monomial(from, terms[i].monomial, to));
    }
    ig_dim copy = ig_dim_of(0);
    bool is_small = ig_dim_sum_intern(to->dims, &sum, &copy);
    assert(is_small && "limits are the context's, so they are the same");
    (void)is_small;
    return copy;
}

static void copy_symbol(const ig_module *from, uint32_t index, ig_module *to) {
    const ig_symbol *symbol = ig_symbol_at(from, index);
    uint32_t before = ig_symbol_count(to);
    ig_symbol *copy = ig_dim_as_symbol(to, ig_dim_named(to, ig_str_of(symbol->name)));
    if (ig_symbol_count(to) == before) {
        return; /* known there, with facts of its own */
    }
    const char *name = copy->name;
    *copy = *symbol;
    copy->name = name;
    copy->origin = symbol->origin ? ig_module_string(to, ig_str_of(symbol->origin))
                                  : NULL;
    copy->defined = translate_dim(from, symbol->defined, to);
}

void ig_dim_copy_symbols(const ig_module *from, ig_module *to) {
    for (uint32_t i = 0; i < ig_symbol_count(from); i++) {
        copy_symbol(from, i, to);
    }
}

typedef struct translation {
    const ig_module *from;
    ig_module *to;
    IG_VEC(uint32_t) symbols;
} translation;

static void note_symbol(void *user, uint32_t symbol) {
    translation *t = (translation *)user;
    const char *name = ig_symbol_at(t->from, symbol)->name;
    if (!ig_map_get(&t->to->dims->names, ig_str_of(name))) {
        IG_PUSH(&t->to->arena, &t->symbols, symbol);
    }
}

/* Symbols come first, oldest first: a definition mentions only older ones. */
static void copy_new_symbols(translation *t, ig_dim dim) {
    ig_dim_visit_symbols(t->from, dim, note_symbol, t);
    for (size_t i = 0; i < t->symbols.count; i++) {
        size_t min = i;
        for (size_t k = i + 1; k < t->symbols.count; k++) {
            min = t->symbols.items[k] < t->symbols.items[min] ? k : min;
        }
        uint32_t symbol = t->symbols.items[min];
        t->symbols.items[min] = t->symbols.items[i];
        t->symbols.items[i] = symbol;
        copy_symbol(t->from, symbol, t->to);
    }
}

ig_dim ig_dim_translate(const ig_module *from, ig_dim dim, ig_module *to) {
    assert(ig_dim_belongs(from, dim) && "a dim of another module");
    if (from == to || ig_dim_is_static(dim)) {
        return dim;
    }
    translation t = { .from = from, .to = to };
    copy_new_symbols(&t, dim);
    return translate_dim(from, dim, to);
}
