/* Dims as text, and as postfix code for the runtime.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both recurse through atoms, at most IG_DIM_DEPTH_MAX deep.
 */
#include "ir/dim/table.h"

#include "base/vec.h"

#include <assert.h>
#include <inttypes.h>

/* ---- text ---- */

static void print_pair(const ig_module *module, const ig_dim_atom *atom,
                       const char *name, ig_writer *writer) {
    ig_put(writer, "%s(", name);
    ig_dim_print(module, atom->a, writer);
    ig_put(writer, ", ");
    ig_dim_print(module, atom->b, writer);
    ig_put_char(writer, ')');
}

/* In parentheses where a sum, or more than one factor below the bar, needs them. */
static void print_part(const ig_module *module, ig_dim dim, bool is_divisor,
                       ig_writer *writer) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(module->dims, dim, &room, &count);
    bool is_product = count == 1 && terms[0].monomial->degree &&
                      (terms[0].monomial->degree > 1 || terms[0].coefficient != 1);
    bool is_negative = count == 1 && terms[0].coefficient < 0;
    bool needs = count > 1 || is_negative || (is_divisor && is_product);
    ig_put(writer, "%s", needs ? "(" : "");
    ig_dim_print(module, dim, writer);
    ig_put(writer, "%s", needs ? ")" : "");
}

static void print_binary(const ig_module *module, const ig_dim_atom *atom,
                         const char *before, const char *between, const char *after,
                         ig_writer *writer) {
    ig_put(writer, "%s", before);
    print_part(module, atom->a, false, writer);
    ig_put(writer, "%s", between);
    print_part(module, atom->b, true, writer);
    ig_put(writer, "%s", after);
}

static void print_atom(const ig_module *module, const ig_dim_atom *atom,
                       ig_writer *writer) {
    switch (atom->kind) {
    case IG_DIM_SYMBOL:
        ig_put(writer, "%s", ig_symbol_at(module, atom->symbol)->name);
        return;
    case IG_DIM_MIN:
        print_pair(module, atom, "min", writer);
        return;
    case IG_DIM_MAX:
        print_pair(module, atom, "max", writer);
        return;
    case IG_DIM_BCAST:
        print_pair(module, atom, "bcast", writer);
        return;
    case IG_DIM_FLOOR:
        print_binary(module, atom, "floor(", " / ", ")", writer);
        return;
    case IG_DIM_CEIL:
        print_binary(module, atom, "ceil(", " / ", ")", writer);
        return;
    case IG_DIM_EXACT:
        print_binary(module, atom, "exact(", " / ", ")", writer);
        return;
    case IG_DIM_ADD: /* opaque: only in definitions of fresh symbols */
        print_binary(module, atom, "(", " + ", ")", writer);
        return;
    case IG_DIM_MUL:
        print_binary(module, atom, "(", " * ", ")", writer);
        return;
    case IG_DIM_CONST:
        return;
    }
}

static void print_term(const ig_module *module, const ig_dim_term *term, bool is_first,
                       ig_writer *writer) {
    const ig_dim_monomial *monomial = term->monomial;
    bool is_negative = term->coefficient < 0;
    uint64_t size = is_negative ? 0 - (uint64_t)term->coefficient
                                : (uint64_t)term->coefficient;
    if (is_first) {
        ig_put(writer, "%s", is_negative ? "-" : "");
    } else {
        ig_put(writer, "%s", is_negative ? " - " : " + ");
    }
    if (size != 1 || monomial->degree == 0) {
        ig_put(writer, "%" PRIu64 "%s", size, monomial->degree ? "*" : "");
    }
    for (uint32_t i = 0; i < monomial->degree; i++) {
        ig_put(writer, "%s", i ? "*" : "");
        print_atom(module, monomial->atoms[i], writer);
    }
}

void ig_dim_print(const ig_module *module, ig_dim dim, ig_writer *writer) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(module->dims, dim, &room, &count);
    if (count == 0) {
        ig_put_char(writer, '0');
    }
    for (uint32_t i = 0; i < count; i++) {
        print_term(module, &terms[i], i == 0, writer);
    }
}

/* ---- origins ---- */

enum { ORIGINS_PRINTED = 4 };

typedef struct origins {
    const ig_module *module;
    ig_writer *writer;
    uint32_t symbols[ORIGINS_PRINTED], count;
} origins;

static void print_origin(void *user, uint32_t symbol) {
    origins *o = user;
    const char *origin = ig_symbol_at(o->module, symbol)->origin;
    bool is_known = !origin || !*origin || o->count == ORIGINS_PRINTED;
    for (uint32_t i = 0; i < o->count; i++) {
        is_known = is_known || o->symbols[i] == symbol;
    }
    if (!is_known) {
        ig_put(o->writer, "%s%s", o->count ? ", " : "; they follow from ", origin);
        o->symbols[o->count++] = symbol;
    }
}

void ig_dim_print_origins(const ig_module *module, ig_dim a, ig_dim b,
                          ig_writer *writer) {
    origins o = { .module = module, .writer = writer };
    ig_dim_visit_symbols(module, a, print_origin, &o);
    ig_dim_visit_symbols(module, b, print_origin, &o);
}

/* ---- code ---- */

typedef struct coder {
    const ig_module *module;
    ig_arena *arena;
    IG_VEC(ig_dim_code) code;
} coder;

static void emit_code(coder *c, ig_dim_opcode opcode, int64_t value) {
    IG_PUSH(c->arena, &c->code, (ig_dim_code){ (int64_t)opcode, value });
}

static void encode_dim(coder *c, ig_dim dim);

static void encode_atom(coder *c, const ig_dim_atom *atom) {
    if (atom->kind == IG_DIM_SYMBOL) {
        emit_code(c, IG_DIM_SYMBOL, atom->symbol);
        return;
    }
    encode_dim(c, atom->a);
    encode_dim(c, atom->b);
    emit_code(c, atom->kind, 0);
}

static void encode_term(coder *c, const ig_dim_term *term) {
    const ig_dim_monomial *monomial = term->monomial;
    bool has_coefficient = term->coefficient != 1 || monomial->degree == 0;
    if (has_coefficient) {
        emit_code(c, IG_DIM_CONST, term->coefficient);
    }
    for (uint32_t i = 0; i < monomial->degree; i++) {
        encode_atom(c, monomial->atoms[i]);
        if (i > 0 || has_coefficient) {
            emit_code(c, IG_DIM_MUL, 0);
        }
    }
}

static void encode_dim(coder *c, ig_dim dim) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(c->module->dims, dim, &room, &count);
    if (count == 0) {
        emit_code(c, IG_DIM_CONST, 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        encode_term(c, &terms[i]);
        if (i > 0) {
            emit_code(c, IG_DIM_ADD, 0);
        }
    }
}

uint32_t ig_dim_encode(const ig_module *module, ig_dim dim, ig_arena *arena,
                       ig_dim_code **out_code) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    coder c = { .module = module, .arena = arena };
    encode_dim(&c, dim);
    *out_code = c.code.items;
    return (uint32_t)c.code.count;
}
