/* Conformance: ops on small inputs against results that were computed elsewhere.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file of cases is plain text, read line by line:
 *
 *     case add/f32/2x3-3            the name
 *     static                        only with the extents as they are (optional)
 *     in x f32[2, 3] [1, 2, …]      inputs, in order
 *     + table @t : …                items of the module (optional)
 *     | %0 = add %x, %y             the graph's statements
 *     out f32[2, 3] [2, 4, …]       expected results, in order
 *     tol 1e-06 1e-07               |got - expected| <= atol + rtol * |expected|
 *                                   (equal without; zeros of either sign are equal)
 *
 * A target runs a module's @main, with numbers as extents and, unless the case is
 * static, with a symbol for each.  generate*.py write numpy's and FBGEMM's results.
 */
#ifndef IG_TESTS_CONFORM_CONFORM_H
#define IG_TESTS_CONFORM_CONFORM_H

#include "base/platform/platform.h"
#include "base/writer.h"
#include "ir/tensor/element.h"
#include "ir/tensor/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONFORM_VALUES = 8 };

typedef struct conform_case {
    ig_str name;
    bool is_static;
    ig_str input_names[CONFORM_VALUES];
    ig_tensor inputs[CONFORM_VALUES], outputs[CONFORM_VALUES];
    uint32_t input_count, output_count;
    ig_writer items, body;
    double rtol, atol;
} conform_case;

typedef struct conform conform;
/* Runs @main of the module in `text` on `inputs`, one an argument.  Errors go to
 * self->message; IG_UNSUPPORTED skips the case. */
typedef ig_status (*conform_run)(conform *self, const char *text,
                                 const ig_tensor *inputs, ig_arena *arena,
                                 ig_tensor *out_outputs);

typedef struct conform_totals {
    int passed, failed, skipped;
} conform_totals;

struct conform {
    conform_run run;
    void *user; /* the target's */
    /* Extents are numbers only; or by turns: numbers in a case, symbols in the next. */
    bool is_short, takes_turns;
    int every, first; /* a sample: one case in `every`; 0: all of them */
    int index;        /* of the case */
    conform_totals totals;
    char message[512]; /* the first error of a case */
};

/* ---- reading ---- */

static inline ig_str conform_line(ig_str *text) {
    const char *end = memchr(text->data, '\n', text->size);
    size_t size = end ? (size_t)(end - text->data) : text->size;
    ig_str line = { text->data, size };
    size += end != NULL;
    *text = (ig_str){ text->data + size, text->size - size };
    return line;
}

/* Up to `stop`, which is skipped with the blanks behind it. */
static inline ig_str conform_word(ig_str *text, char stop) {
    const char *end = memchr(text->data, stop, text->size);
    size_t size = end ? (size_t)(end - text->data) : text->size;
    ig_str word = { text->data, size };
    size += end != NULL;
    while (size < text->size && text->data[size] == ' ') {
        size++;
    }
    *text = (ig_str){ text->data + size, text->size - size };
    return word;
}

/* "f32[2, 3] [1, 2, …]" */
static inline bool conform_tensor(ig_arena *arena, ig_str text, ig_tensor *out) {
    ig_dtype dtype;
    int64_t dims[IG_TENSOR_RANK], dim;
    uint32_t rank = 0;
    if (!ig_dtype_parse(conform_word(&text, '['), &dtype)) {
        return false;
    }
    ig_str shape = conform_word(&text, ']'), items = conform_word(&text, '[');
    while (shape.size && ig_str_to_i64(conform_word(&shape, ','), &dim)) {
        dims[rank++] = dim;
    }
    items = conform_word(&text, ']');
    if (ig_tensor_alloc(arena, NULL, dtype, rank, dims, out) != IG_OK) {
        return false;
    }
    for (int64_t i = 0; i < out->count; i++) {
        if (ig_element_parse(dtype, conform_word(&items, ','), out->data, i)) {
            return false;
        }
    }
    return items.size == 0;
}

static inline bool conform_read_line(ig_arena *arena, ig_str line, conform_case *c) {
    ig_str rest = line, head = conform_word(&rest, ' ');
    if (ig_str_is(head, "static")) {
        c->is_static = true;
    } else if (ig_str_is(head, "in") && c->input_count < CONFORM_VALUES) {
        c->input_names[c->input_count] = conform_word(&rest, ' ');
        return conform_tensor(arena, rest, &c->inputs[c->input_count++]);
    } else if (ig_str_is(head, "+")) {
        ig_put_str(&c->items, rest);
        ig_put_char(&c->items, '\n');
    } else if (ig_str_is(head, "|")) {
        ig_put(&c->body, "%.*s\n", IG_STR_ARG(rest));
    } else if (ig_str_is(head, "out") && c->output_count < CONFORM_VALUES) {
        return conform_tensor(arena, rest, &c->outputs[c->output_count++]);
    } else if (ig_str_is(head, "tol")) {
        return ig_str_to_f64(conform_word(&rest, ' '), &c->rtol) &&
               ig_str_to_f64(rest, &c->atol);
    } else {
        return false;
    }
    return true;
}

/* The next case; false at the end.  *out_good is false when a line cannot be read. */
static inline bool conform_next(ig_arena *arena, ig_str *text, conform_case *c,
                                bool *out_good) {
    ig_str line = conform_line(text);
    while (text->size && !ig_str_starts(line, "case ")) {
        line = conform_line(text);
    }
    memset(c, 0, sizeof *c);
    ig_writer_init(&c->items, arena);
    ig_writer_init(&c->body, arena);
    *out_good = true;
    if (!ig_str_starts(line, "case ")) {
        return false;
    }
    conform_word(&line, ' ');
    c->name = line;
    for (line = conform_line(text); line.size; line = conform_line(text)) {
        *out_good = conform_read_line(arena, line, c) && *out_good;
    }
    return true;
}

/* ---- the module ---- */

static inline const char *conform_module_text(const conform_case *c, bool is_dynamic,
                                              ig_arena *arena) {
    ig_writer out;
    ig_writer_init(&out, arena);
    ig_put(&out, "module @case {\n");
    ig_put_str(&out, ig_writer_str(&c->items));
    ig_put(&out, "graph @main(");
    for (uint32_t i = 0; i < c->input_count; i++) {
        ig_put(&out, "%s%%%.*s: %s[", i ? ", " : "", IG_STR_ARG(c->input_names[i]),
               ig_dtypes[c->inputs[i].dtype].name);
        for (uint32_t d = 0; d < c->inputs[i].rank; d++) {
            ig_put(&out, d ? ", " : "");
            if (is_dynamic) {
                ig_put(&out, "%.*s%u", IG_STR_ARG(c->input_names[i]), d);
            } else {
                ig_put(&out, "%lld", (long long)c->inputs[i].dims[d]);
            }
        }
        ig_put(&out, "]");
    }
    ig_put(&out, ") {\n%s}\n}\n", c->body.data);
    return out.data;
}

/* ---- comparing ---- */

static inline bool conform_is_close(const conform_case *c, const ig_tensor *got,
                                    const ig_tensor *expected, int64_t i) {
    if (!ig_dtype_is_float(expected->dtype)) {
        return ig_tensor_get_i64(got, i) == ig_tensor_get_i64(expected, i);
    }
    double a = ig_tensor_get_f64(got, i), b = ig_tensor_get_f64(expected, i);
    if (isnan(b) || isinf(b)) {
        return isnan(b) ? isnan(a) != 0 : a == b;
    }
    return fabs(a - b) <= c->atol + c->rtol * fabs(b);
}

static inline bool conform_compare(const conform_case *c, const ig_tensor *got,
                                   const ig_tensor *expected, char *why, size_t size) {
    bool is_equal = got->dtype == expected->dtype && got->rank == expected->rank;
    for (uint32_t d = 0; is_equal && d < got->rank; d++) {
        is_equal = got->dims[d] == expected->dims[d];
    }
    if (!is_equal) {
        snprintf(why, size, "the result has another type or shape");
        return false;
    }
    for (int64_t i = 0; i < expected->count; i++) {
        if (!conform_is_close(c, got, expected, i)) {
            snprintf(why, size, "element %lld is %.9g, expected %.9g", (long long)i,
                     ig_tensor_get_f64(got, i), ig_tensor_get_f64(expected, i));
            return false;
        }
    }
    return true;
}

/* ---- running ---- */

/* A diagnostic sink whose user is the conform. */
static inline void conform_keep_error(void *user, const ig_diagnostic *diagnostic) {
    conform *self = user;
    if (diagnostic->severity == IG_ERROR && !self->message[0]) {
        snprintf(self->message, sizeof self->message, "%s", diagnostic->message);
    }
}

static inline ig_status conform_run_case(conform *self, const conform_case *c,
                                         bool is_dynamic, ig_arena *arena) {
    ig_tensor got[CONFORM_VALUES];
    IG_TRY(self->run(self, conform_module_text(c, is_dynamic, arena), c->inputs, arena,
                     got));
    for (uint32_t i = 0; i < c->output_count; i++) {
        if (!conform_compare(c, &got[i], &c->outputs[i], self->message,
                             sizeof self->message)) {
            return IG_INVALID;
        }
    }
    return IG_OK;
}

static inline bool conform_takes(conform *self) {
    int index = self->index++;
    return self->every <= 1 || index % self->every == self->first;
}

static inline void conform_count(conform *self, const conform_case *c, bool is_dynamic,
                                 ig_arena *arena) {
    self->message[0] = 0;
    ig_status status = conform_run_case(self, c, is_dynamic, arena);
    self->totals.passed += status == IG_OK;
    self->totals.skipped += status == IG_UNSUPPORTED;
    self->totals.failed += status != IG_OK && status != IG_UNSUPPORTED;
    if (status != IG_OK) {
        printf("%s: %.*s (%s): %s\n", status == IG_UNSUPPORTED ? "skipped" : "failed",
               IG_STR_ARG(c->name), is_dynamic ? "dynamic" : "static", self->message);
        fflush(stdout); /* the test may end this process at once */
    }
}

static inline void conform_count_forms(conform *self, const conform_case *c,
                                       ig_arena *arena) {
    bool is_fixed = c->is_static || self->is_short, has_both = !self->takes_turns;
    bool is_odd = self->index / (self->every > 1 ? self->every : 1) % 2;
    if (is_fixed || has_both || !is_odd) {
        conform_count(self, c, false, arena);
    }
    if (!is_fixed && (has_both || is_odd)) {
        conform_count(self, c, true, arena);
    }
}

/* Runs every case of a file in its forms; a file that cannot be read is a failure. */
static inline void conform_file(conform *self, const char *path) {
    ig_file_map map;
    char why[128];
    if (ig_file_map_open(path, &map, why) != IG_OK) {
        printf("failed: %s: %s\n", path, why);
        self->totals.failed++;
        return;
    }
    ig_str text = { map.data, map.size };
    bool is_more = true;
    while (is_more) {
        ig_arena arena;
        conform_case c;
        bool is_good;
        ig_arena_init(&arena, NULL);
        is_more = conform_next(&arena, &text, &c, &is_good);
        if (is_more && !is_good) {
            printf("failed: %.*s: a line cannot be read\n", IG_STR_ARG(c.name));
            self->totals.failed++;
        } else if (is_more && conform_takes(self)) {
            conform_count_forms(self, &c, &arena);
        }
        ig_arena_fini(&arena);
    }
    ig_file_map_close(&map);
}

#endif
