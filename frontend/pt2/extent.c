/* Extents of exported tensors: sympy's text -> our dim expressions as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/extent.h"

#include <assert.h>
#include <string.h>

enum { DEPTH_MAX = 64, FACTORS_MAX = 8 };

typedef struct reader {
    const char *at, *end;
    ig_writer *out;
    int depth;
} reader;

static bool read_expression(reader *r);

/* ---- tokens ---- */

static void skip_blanks(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n')) {
        r->at++;
    }
}

static bool accept_char(reader *r, char c) {
    skip_blanks(r);
    bool is_it = r->at < r->end && *r->at == c;
    r->at += is_it;
    return is_it;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static ig_str read_word(reader *r) {
    skip_blanks(r);
    const char *begin = r->at;
    while (r->at < r->end &&
           (is_letter(*r->at) || (r->at > begin && is_digit(*r->at)))) {
        r->at++;
    }
    return (ig_str){ begin, (size_t)(r->at - begin) };
}

static bool read_integer(reader *r) {
    bool is_negative = accept_char(r, '-');
    skip_blanks(r);
    const char *begin = r->at;
    while (r->at < r->end && is_digit(*r->at)) {
        r->at++;
    }
    size_t size = (size_t)(r->at - begin);
    ig_put(r->out, is_negative ? "(-%.*s)" : "%.*s", (int)size, begin);
    return size > 0 && size < 19;
}

/* 's0' or "s0", then the statement about it: positive=True, integer=True. */
static bool read_symbol(reader *r) {
    skip_blanks(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"')) {
        return false;
    }
    char quote = *r->at++;
    ig_str name = read_word(r);
    ig_put_str(r->out, name);
    if (name.size == 0 || r->at == r->end || *r->at++ != quote) {
        return false;
    }
    while (accept_char(r, ',')) {
        if (!read_word(r).size || !accept_char(r, '=') || !read_word(r).size) {
            return false;
        }
    }
    return true;
}

/* ---- functions ---- */

/* a, b, c -> "(a OP b OP c)". */
static bool read_operands(reader *r, const char *between) {
    ig_put(r->out, "(");
    bool is_read = read_expression(r);
    while (is_read && accept_char(r, ',')) {
        ig_put(r->out, "%s", between);
        is_read = read_expression(r);
    }
    ig_put(r->out, ")");
    return is_read;
}

/* a, b, c -> "max(max(a, b), c)"; ours take two. */
static bool read_nested(reader *r, const char *name) {
    size_t begin = r->out->size;
    bool is_read = read_expression(r);
    while (is_read && accept_char(r, ',')) {
        ig_writer whole;
        ig_writer_init(&whole, r->out->arena);
        ig_put(&whole, "%s(%s, ", name, r->out->data + begin);
        r->out->size = begin;
        ig_put_str(r->out, ig_writer_str(&whole));
        is_read = read_expression(r);
        ig_put(r->out, ")");
    }
    return is_read;
}

static bool read_quotient(reader *r, const char *name) {
    ig_put(r->out, "%s(", name);
    bool is_read = read_expression(r) && accept_char(r, ',');
    ig_put(r->out, " / ");
    is_read = is_read && read_expression(r);
    ig_put(r->out, ")");
    return is_read;
}

/* Two expressions, each into a writer of its own; ")" is left. */
static bool read_pair(reader *r, ig_writer *a, ig_writer *b) {
    ig_writer *out = r->out;
    ig_writer_init(a, out->arena);
    ig_writer_init(b, out->arena);
    r->out = a;
    bool is_read = read_expression(r) && accept_char(r, ',');
    r->out = b;
    is_read = is_read && read_expression(r);
    r->out = out;
    return is_read;
}

/* a mod b = a - b * floor(a / b); sizes are not negative. */
static bool read_remainder(reader *r, const char *unused) {
    (void)unused;
    ig_writer a, b;
    if (!read_pair(r, &a, &b)) {
        return false;
    }
    ig_put(r->out, "((%s) - (%s) * floor((%s) / (%s)))", a.data, b.data, a.data,
           b.data);
    return true;
}

/* ceil of a quotient: CeilToInt(IntTrueDiv(a, b)). */
static bool read_ceiling(reader *r, const char *unused) {
    (void)unused;
    ig_str word = read_word(r);
    return ig_str_is(word, "IntTrueDiv") && accept_char(r, '(') &&
           read_quotient(r, "ceil") && accept_char(r, ')');
}

static bool read_power(reader *r, const char *unused) {
    (void)unused;
    ig_writer base, power;
    if (!read_pair(r, &base, &power)) {
        return false;
    }
    int64_t count = 0;
    bool is_small = ig_str_to_i64(ig_writer_str(&power), &count) && count > 0 &&
                    count <= FACTORS_MAX;
    for (int64_t i = 0; is_small && i < count; i++) {
        ig_put(r->out, "%s(%s)", i ? " * " : "(", base.data);
    }
    ig_put(r->out, ")");
    return is_small;
}

static bool read_symbol_call(reader *r, const char *unused) {
    (void)unused;
    return read_symbol(r);
}

static bool read_integer_call(reader *r, const char *unused) {
    (void)unused;
    return read_integer(r);
}

static const struct function {
    const char *name;
    bool (*read)(reader *r, const char *ours);
    const char *ours;
} functions[] = {
    { "Symbol", read_symbol_call, NULL },   { "Integer", read_integer_call, NULL },
    { "Add", read_operands, " + " },        { "Mul", read_operands, " * " },
    { "Max", read_nested, "max" },          { "Min", read_nested, "min" },
    { "FloorDiv", read_quotient, "floor" }, { "CleanDiv", read_quotient, "exact" },
    { "CeilToInt", read_ceiling, NULL },    { "Mod", read_remainder, NULL },
    { "PythonMod", read_remainder, NULL },  { "Pow", read_power, NULL },
};

static bool read_call(reader *r, ig_str name) {
    for (size_t i = 0; i < IG_COUNT_OF(functions); i++) {
        if (ig_str_is(name, functions[i].name)) {
            return functions[i].read(r, functions[i].ours) && accept_char(r, ')');
        }
    }
    return false;
}

/* ---- expressions ---- */

static bool read_atom(reader *r) {
    if (accept_char(r, '(')) {
        ig_put(r->out, "(");
        bool is_read = read_expression(r) && accept_char(r, ')');
        ig_put(r->out, ")");
        return is_read;
    }
    skip_blanks(r);
    if (r->at < r->end && (is_digit(*r->at) || *r->at == '-')) {
        return read_integer(r);
    }
    ig_str word = read_word(r);
    if (word.size && accept_char(r, '(')) {
        return read_call(r, word);
    }
    ig_put_str(r->out, word);
    return word.size > 0;
}

/* "2*s0 - 1": what both grammars share is handed on as it is. */
static bool read_expression(reader *r) {
    if (++r->depth > DEPTH_MAX) {
        return false;
    }
    bool is_read = read_atom(r);
    skip_blanks(r);
    while (is_read && r->at < r->end && strchr("+-*", *r->at)) {
        ig_put(r->out, " %c ", *r->at++);
        is_read = read_atom(r);
        skip_blanks(r);
    }
    r->depth--;
    return is_read;
}

bool ig_pt2_extent(ig_str text, ig_writer *out) {
    assert(out->arena && "a writer that was begun");
    reader r = { .at = text.data, .end = text.data + text.size, .out = out };
    bool is_read = read_expression(&r);
    skip_blanks(&r);
    return is_read && r.at == r.end;
}
