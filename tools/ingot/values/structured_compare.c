/* A model's result against a structured value that is wanted.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The result is read depth first beside the wanted value.  The message names the path:
 * "result", then a step for each container: "result['kjt'].values", "result[2].y".
 */
#include "tools/ingot/values/show.h"
#include "tools/ingot/values/structured.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct comparison {
    ig_call *tree;
    const results *outputs;
    const tolerance *within;
    message *why;
} comparison;

/* ---- words ---- */

IG_PRINTF(2, 3)
static bool report_difference(const comparison *c, const char *format, ...) {
    char what[3000];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    char path[512];
    ig_call_path(c->tree, path, sizeof path);
    snprintf(c->why->text, sizeof c->why->text, "%s: %s", path, what);
    return false;
}

static const char *kind_word(ig_tree_kind kind) {
    static const char *const names_of[] = {
        "a tensor",      "an int",
        "a float",       "a bool",
        "a str",         "None",
        "a list",        "a tuple",
        "a dict",        "a namedtuple",
        "an optional",   "a complex",
        "a tensor",      "a KeyedJaggedTensor",
        "a KeyedTensor", "a JaggedTensor",
        "a call",
    };
    return names_of[kind];
}

/* ---- numbers ---- */

static bool whole_agrees(const comparison *c, const ig_call_value *got,
                         const structured *want) {
    return got->integer == want->integer ||
           report_difference(c, "got %lld, want %lld", (long long)got->integer,
                             (long long)want->integer);
}

static bool real_agrees(const comparison *c, const ig_call_value *got,
                        const structured *want) {
    double room = c->within->atol + c->within->rtol * fabs(want->real);
    bool is_good = got->real == want->real || (isnan(got->real) && isnan(want->real)) ||
                   (isfinite(want->real) && fabs(got->real - want->real) <= room);
    return is_good ||
           report_difference(c, "got %.9g, want %.9g", got->real, want->real);
}

static bool text_agrees(const comparison *c, const ig_call_value *got,
                        const structured *want) {
    return strcmp(got->text, want->text) == 0 ||
           report_difference(c, "got \"%.400s\", want \"%.400s\"", got->text,
                             want->text);
}

/* ---- tensors ---- */

static bool tensor_agrees(const comparison *c, const ig_call_value *got,
                          const structured *want) {
    message inner = { "" };
    return values_agree(&c->outputs->items[got->output], structured_tensor(want),
                        c->within, &inner) ||
           report_difference(c, "%.2900s", inner.text);
}

static bool same_extents(const ig_argument *a, const ig_argument *b) {
    return strcmp(a->dtype, b->dtype) == 0 && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

static bool differ_in_type(const comparison *c, const ig_argument *got,
                           const ig_argument *want) {
    char *a = type_text(got), *b = type_text(want);
    report_difference(c, "got %s, want %s", a, b);
    free(a), free(b);
    return false;
}

/* Quantised tensors agree as the real numbers that they represent. */
static bool quantized_agrees(const comparison *c, const structured *want) {
    ig_call_value values, scale, zero;
    (void)ig_call_next(c->tree, &values);
    (void)ig_call_next(c->tree, &scale);
    (void)ig_call_next(c->tree, &zero);
    const ig_argument *wanted = structured_tensor(&want->items[0]);
    const ig_argument *got = &c->outputs->items[values.output];
    if (!same_extents(got, wanted)) {
        return differ_in_type(c, got, wanted);
    }
    double t = want->items[1].real, y = (double)want->items[2].integer;
    for (size_t i = 0; i < element_count(got); i++) {
        double a = (ig_argument_number(got, i) - (double)zero.integer) * scale.real;
        double b = (ig_argument_number(wanted, i) - y) * t;
        if (!(fabs(a - b) <=
              (c->within->atol + c->within->rtol * fabs(b)) * (1 + 1e-6))) {
            return report_difference(c, "element %zu got %.9g, want %.9g (quantized)",
                                     i, a, b);
        }
    }
    return true;
}

/* ---- trees ---- */

static bool next_agrees(const comparison *c, const structured *want);

static bool children_agree(const comparison *c, const ig_call_value *got,
                           const structured *want) {
    size_t parts = want->kind == IG_TREE_DICT ? 2 : 1;
    if (got->child_count != want->count) {
        return report_difference(c, "got %zu items, want %zu", got->child_count / parts,
                                 want->count / parts);
    }
    for (size_t i = 0; i < want->count; i++) {
        if (!next_agrees(c, &want->items[i])) {
            return false;
        }
    }
    return true;
}

static bool next_agrees(const comparison *c, const structured *want) {
    ig_call_value got;
    if (!ig_call_next(c->tree, &got)) {
        return report_difference(c, "got nothing, want %s", kind_word(want->kind));
    }
    if (want->name && got.name[0] && strcmp(want->name, got.name) != 0) {
        return report_difference(c, "got the field '%s', want '%s'", got.name,
                                 want->name);
    }
    if (got.kind != want->kind) {
        return report_difference(c, "got %s, want %s", kind_word(got.kind),
                                 kind_word(want->kind));
    }
    switch (got.kind) {
    case IG_TREE_TENSOR:
        return tensor_agrees(c, &got, want);
    case IG_TREE_INT:
    case IG_TREE_BOOL:
        return whole_agrees(c, &got, want);
    case IG_TREE_FLOAT:
        return real_agrees(c, &got, want);
    case IG_TREE_STR:
        return text_agrees(c, &got, want);
    case IG_TREE_QUANTIZED:
        return quantized_agrees(c, want);
    case IG_TREE_NONE:
    case IG_TREE_CALL:
    case IG_TREE_OPTIONAL:
        return true;
    case IG_TREE_LIST:
    case IG_TREE_TUPLE:
    case IG_TREE_DICT:
    case IG_TREE_RECORD:
    case IG_TREE_COMPLEX:
    case IG_TREE_KJT:
    case IG_TREE_KT:
    case IG_TREE_JT:
        break;
    }
    return children_agree(c, &got, want);
}

bool structured_agrees(ig_call *tree, const results *got, const structured *want,
                       const tolerance *within, message *why) {
    comparison c = { .tree = tree, .outputs = got, .within = within, .why = why };
    if (ig_call_read(tree, got->views, got->count) != IG_OK) {
        snprintf(why->text, sizeof why->text, "%s", ig_call_error(tree));
        return false;
    }
    return next_agrees(&c, want);
}
