/* Texts of values, and formatted strings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/inside.h"

#include <string.h>

/* ---- str() ---- */

/* Texts of others are not told: of floats, which Python writes in its own way, and of
 * containers, whose texts have quotes. */
ig_status ig_python_put(ig_ts_eval *eval, const ig_ts_value *value, ig_writer *out,
                        bool *out_known) {
    bool is_given = value->kind == IG_TS_NONE || value->kind == IG_TS_BOOL ||
                    value->kind == IG_TS_INT || value->kind == IG_TS_STR ||
                    value->kind == IG_TS_DEVICE;
    *out_known = *out_known && is_given && value->form == IG_TS_KNOWN;
    return is_given ? ig_ts_str_write(eval, out, value) : IG_OK;
}

/* ---- f"…" ---- */

typedef struct formatter {
    ig_ts_eval *eval;
    ig_str text;
    size_t at;
    ig_writer out;
    bool is_known;
} formatter;

/* The end of the expression that begins at `at`: its `}`, `!` or `:`. */
static size_t end_of_field(ig_str text, size_t at) {
    int depth = 0;
    for (; at < text.size; at++) {
        char c = text.data[at];
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']');
        bool is_end = c == '}' || c == ':' ||
                      (c == '!' && at + 1 < text.size && text.data[at + 1] != '=');
        if (depth <= 0 && is_end) {
            return at;
        }
        depth -= c == '}';
    }
    return at;
}

static ig_status put_field(formatter *f) {
    ig_ts_eval *eval = f->eval;
    size_t end = end_of_field(f->text, f->at);
    ig_str body = { f->text.data + f->at, end - f->at };
    ig_ast *node = NULL;
    ig_ts_value value;
    ig_script_source source = { .context = eval->context,
                                .arena = eval->code->arena,
                                .names = &eval->code->names,
                                .node_count = &eval->code->node_count,
                                .file = eval->frame->file };
    if (end >= f->text.size || f->text.data[end] != '}') {
        f->is_known = false; /* a format: only for people */
        while (end < f->text.size && f->text.data[end] != '}') {
            end++;
        }
        f->at = end + 1;
        return IG_OK;
    }
    f->at = end + 1;
    body.data = ig_arena_copy(eval->code->arena, body.data, body.size);
    uint32_t line = eval->frame->line;
    IG_TRY(ig_parse_expression(&source, body, &node));
    ig_status status = ig_python_evaluate(eval, node, &value);
    eval->frame->line = line;
    IG_TRY(status);
    IG_TRY(ig_ts_use(eval, &value));
    return ig_python_put(eval, &value, &f->out, &f->is_known);
}

ig_status ig_python_formatted(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    formatter f = { .eval = eval, .text = node->as.text, .is_known = true };
    ig_writer_init(&f.out, &eval->module->arena);
    while (f.at < f.text.size) {
        char c = f.text.data[f.at++];
        bool is_twice = f.at < f.text.size && f.text.data[f.at] == c;
        if ((c == '{' || c == '}') && is_twice) {
            ig_put_char(&f.out, c);
            f.at++;
        } else if (c == '{') {
            IG_TRY(put_field(&f));
        } else {
            ig_put_char(&f.out, c);
        }
    }
    *out = f.is_known
               ? ig_ts_of_str(ig_writer_str(&f.out))
               : ig_python_poison(
                     eval,
                     "is a formatted text of a value that is known at run time only");
    return IG_OK;
}
