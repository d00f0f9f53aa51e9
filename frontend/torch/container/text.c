/* Texts: run at import, by bytes as libtorch does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/container/container.h"

#include "base/writer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ig_status give_copy(ig_ts_call *call, const char *bytes, size_t size) {
    ig_str text = { ig_arena_copy(call->arena, bytes, size), size };
    return ig_ts_give_str(call, 0, text);
}

ig_status ig_ts_op_str_len(ig_ts_call *call) {
    ig_str s = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &s));
    return ig_ts_give_int(call, 0, (int64_t)s.size);
}

ig_status ig_ts_op_str_concat(ig_ts_call *call) {
    ig_str a = { "", 0 }, b = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &a));
    IG_TRY(ig_ts_str(call, 1, &b));
    char *sum = ig_arena_alloc(call->arena, a.size + b.size + 1);
    memcpy(sum, a.data, a.size);
    memcpy(sum + a.size, b.data, b.size);
    return ig_ts_give_str(call, 0, (ig_str){ sum, a.size + b.size });
}

ig_status ig_ts_op_str_compare(ig_ts_call *call) {
    ig_str a = { "", 0 }, b = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &a));
    IG_TRY(ig_ts_str(call, 1, &b));
    size_t min = a.size < b.size ? a.size : b.size;
    int order = min ? memcmp(a.data, b.data, min) : 0;
    if (order == 0) {
        order = (a.size > b.size) - (a.size < b.size);
    }
    return ig_ts_give_bool(call, 0, ig_ts_compare_order(call->row->variant, order));
}

ig_status ig_ts_op_str_getitem(ig_ts_call *call) {
    ig_str s = { "", 0 };
    int64_t i = 0;
    IG_TRY(ig_ts_str(call, 0, &s));
    IG_TRY(ig_ts_int(call, 1, &i));
    i = i < 0 ? i + (int64_t)s.size : i;
    if (i < 0 || (uint64_t)i >= s.size) {
        return ig_ts_raise(call->eval, "IndexError: string index out of range");
    }
    return ig_ts_give_str(call, 0, (ig_str){ s.data + i, 1 });
}

ig_status ig_ts_op_str_slice(ig_ts_call *call) {
    ig_str s = { "", 0 };
    int64_t start = 0, step = 0, trips = 0;
    IG_TRY(ig_ts_str(call, 0, &s));
    IG_TRY(ig_ts_slice_range(call, (int64_t)s.size, &start, &step, &trips));
    char *part = ig_arena_alloc(call->arena, (size_t)trips + 1);
    for (int64_t i = 0; i < trips; i++) {
        part[i] = s.data[start + i * step];
    }
    return ig_ts_give_str(call, 0, (ig_str){ part, (size_t)trips });
}

/* ---- text of values ---- */

static void put_text(ig_writer *w, const char *text) {
    ig_put_str(w, ig_str_of(text));
}

/* As libtorch prints a double: 17 digits, and a point after an integer. */
static void write_dialect_float(ig_writer *w, double f) {
    char text[40];
    snprintf(text, sizeof(text), "%.17g", f == 0 ? 0.0 : f);
    put_text(w, text);
    put_text(w, strpbrk(text, ".e") ? "" : ".");
}

/* As Python's repr: the fewest digits that give the number back; with an exponent below
 * 1e-4 and from 1e16 on. */
static void write_float(ig_writer *w, double f) {
    char text[40];
    double back;
    int digits = 0;
    do {
        snprintf(text, sizeof(text), "%.*e", digits, f);
    } while ((!ig_str_to_f64(ig_str_of(text), &back) || back != f) && ++digits < 17);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 16) {
        int decimals = digits > exponent ? digits - exponent : 1;
        snprintf(text, sizeof(text), "%.*f", decimals, f);
    }
    put_text(w, text);
}

static void write_number(const ig_ts_eval *eval, ig_writer *w, double f) {
    if (isnan(f) || isinf(f)) {
        put_text(w, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
    } else if (eval->frame->is_dialect) {
        write_dialect_float(w, f);
    } else {
        write_float(w, f);
    }
}

static ig_status write_items(ig_ts_eval *eval, ig_writer *w, const ig_ts_value *value) {
    IG_TRY(ig_ts_open(eval, value));
    const ig_ts_list *list = value->as.list;
    bool is_tuple = value->kind == IG_TS_TUPLE;
    put_text(w, is_tuple ? "(" : "[");
    for (size_t i = 0; i < list->count; i++) {
        put_text(w, i ? ", " : "");
        IG_TRY(ig_ts_str_write(eval, w, &list->items[i]));
    }
    put_text(w, is_tuple ? (list->count == 1 ? ",)" : ")") : "]");
    return IG_OK;
}

ig_status ig_ts_str_write(ig_ts_eval *eval, ig_writer *w, const ig_ts_value *value) {
    bool is_run = ig_ts_is_number(value) && !ig_ts_is_known(value);
    if (is_run || value->kind == IG_TS_TENSOR) {
        put_text(w, "?"); /* only run-time messages show it */
        return IG_OK;
    }
    switch ((int)value->kind) {
    case IG_TS_NONE:
        put_text(w, "None");
        return IG_OK;
    case IG_TS_BOOL:
        put_text(w, value->as.b ? "True" : "False");
        return IG_OK;
    case IG_TS_INT:
        ig_put(w, "%lld", (long long)value->as.i);
        return IG_OK;
    case IG_TS_FLOAT:
        write_number(eval, w, value->as.f);
        return IG_OK;
    case IG_TS_STR:
    case IG_TS_DEVICE:
        ig_put_bytes(w, value->as.str.data, value->as.str.size);
        return IG_OK;
    case IG_TS_LIST:
    case IG_TS_TUPLE:
        return write_items(eval, w, value);
    default:
        return ig_ts_error(eval, IG_UNSUPPORTED, "makes text of %s",
                           ig_ts_kind_name(value));
    }
}

static ig_status give_written(ig_ts_call *call, ig_writer *w) {
    return ig_ts_give_str(call, 0, ig_writer_str(w));
}

ig_status ig_ts_op_str_str(ig_ts_call *call) {
    ig_writer w;
    ig_writer_init(&w, call->arena);
    IG_TRY(ig_ts_str_write(call->eval, &w, &call->args[0]));
    return give_written(call, &w);
}

/* "{}" one after the other, as libtorch has it. */
ig_status ig_ts_op_str_format(ig_ts_call *call) {
    ig_str s = { "", 0 };
    ig_writer w;
    uint32_t next = 1;
    IG_TRY(ig_ts_str(call, 0, &s));
    ig_writer_init(&w, call->arena);
    for (size_t i = 0; i < s.size; i++) {
        bool is_hole = s.data[i] == '{' && i + 1 < s.size && s.data[i + 1] == '}';
        if (!is_hole) {
            ig_put_bytes(&w, &s.data[i], 1);
            continue;
        }
        if (next >= call->arg_count) {
            return ig_ts_raise(call->eval, "format has too few arguments");
        }
        IG_TRY(ig_ts_str_write(call->eval, &w, &call->args[next++]));
        i++;
    }
    return give_written(call, &w);
}

ig_status ig_ts_op_str_join(ig_ts_call *call) {
    assert(call->arg_count > 1 && "the strings are argument 1");
    ig_str s = { "", 0 };
    ig_writer w;
    IG_TRY(ig_ts_str(call, 0, &s));
    const ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_arg(call, 1, &list));
    ig_writer_init(&w, call->arena);
    for (size_t i = 0; i < list->count; i++) {
        ig_put_bytes(&w, s.data, i ? s.size : 0);
        ig_put_bytes(&w, list->items[i].as.str.data, list->items[i].as.str.size);
    }
    return give_written(call, &w);
}

/* ---- parts ---- */

static const char *find_text(ig_str s, ig_str part, size_t from) {
    for (size_t i = from; i + part.size <= s.size; i++) {
        if (memcmp(s.data + i, part.data, part.size) == 0) {
            return s.data + i;
        }
    }
    return NULL;
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void add_part(ig_ts_call *call, ig_ts_list *list, const char *from,
                     const char *to) {
    assert(from <= to && "a part runs forward");
    ig_str part = { from, (size_t)(to - from) };
    ig_ts_list_add(call->eval, list, ig_ts_of_str(part));
}

static void split_blanks(ig_ts_call *call, ig_str s, int64_t max, ig_ts_list *list) {
    const char *at = s.data, *end = s.data + s.size;
    for (;;) {
        while (at < end && is_space(*at)) {
            at++;
        }
        const char *from = at;
        bool is_last = max >= 0 && (int64_t)list->count >= max;
        while (at < end && (is_last || !is_space(*at))) {
            at++;
        }
        if (from == at) {
            return;
        }
        add_part(call, list, from, at);
    }
}

ig_status ig_ts_op_str_split(ig_ts_call *call) {
    ig_str s = { "", 0 }, separator = { "", 0 };
    int64_t max = 0;
    ig_ts_list *list = ig_ts_list_create(call->eval, 0);
    IG_TRY(ig_ts_str(call, 0, &s));
    IG_TRY(ig_ts_int(call, 2, &max));
    if (ig_ts_is_none(call, 1)) {
        split_blanks(call, s, max, list);
        return ig_ts_give_value(call, 0, ig_ts_of_list(list));
    }
    IG_TRY(ig_ts_str(call, 1, &separator));
    if (separator.size == 0) {
        return ig_ts_raise(call->eval, "ValueError: empty separator");
    }
    const char *from = s.data, *at;
    while ((max < 0 || (int64_t)list->count < max) &&
           (at = find_text(s, separator, (size_t)(from - s.data))) != NULL) {
        add_part(call, list, from, at);
        from = at + separator.size;
    }
    add_part(call, list, from, s.data + s.size);
    return ig_ts_give_value(call, 0, ig_ts_of_list(list));
}

/* lstrip 1, rstrip 2, strip 3 */
ig_status ig_ts_op_str_strip(ig_ts_call *call) {
    ig_str s = { "", 0 }, chars = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &s));
    IG_TRY(ig_ts_str(call, 1, &chars));
    while ((call->row->variant & 1) && s.size && chars.size &&
           memchr(chars.data, s.data[0], chars.size)) {
        s.data++;
        s.size--;
    }
    while ((call->row->variant & 2) && s.size && chars.size &&
           memchr(chars.data, s.data[s.size - 1], chars.size)) {
        s.size--;
    }
    return ig_ts_give_str(call, 0, s);
}

/* self[start:end]; end -1 is the end of the string, as the schemas have it. */
static ig_status clamp_window(ig_ts_call *call, ig_str *out, size_t *out_start) {
    int64_t start = 0, end = 0, size = 0;
    IG_TRY(ig_ts_str(call, 0, out));
    IG_TRY(ig_ts_int(call, 2, &start));
    IG_TRY(ig_ts_int(call, 3, &end));
    size = (int64_t)out->size;
    start = start < 0 ? start + size : start;
    end = end < 0 ? end + 1 + size : end;
    start = start < 0 ? 0 : start > size ? size : start;
    end = end < start ? start : end > size ? size : end;
    *out = (ig_str){ out->data + start, (size_t)(end - start) };
    *out_start = (size_t)start;
    return IG_OK;
}

/* startswith 0, endswith 1 */
ig_status ig_ts_op_str_affix(ig_ts_call *call) {
    ig_str s = { "", 0 }, part = { "", 0 };
    size_t start = 0;
    IG_TRY(clamp_window(call, &s, &start));
    IG_TRY(ig_ts_str(call, 1, &part));
    size_t at = call->row->variant ? s.size - part.size : 0;
    bool fits = part.size <= s.size && memcmp(s.data + at, part.data, part.size) == 0;
    return ig_ts_give_bool(call, 0, fits);
}

/* find 'f', rfind 'r', index 'i' */
ig_status ig_ts_op_str_find(ig_ts_call *call) {
    ig_str s = { "", 0 }, part = { "", 0 };
    size_t start = 0;
    int64_t found = -1;
    IG_TRY(clamp_window(call, &s, &start));
    IG_TRY(ig_ts_str(call, 1, &part));
    const char *at = find_text(s, part, 0);
    while (at) {
        found = (int64_t)(at - s.data + (ptrdiff_t)start);
        at = call->row->variant == 'r' ? find_text(s, part, (size_t)(at - s.data) + 1)
                                       : NULL;
    }
    if (found < 0 && call->row->variant == 'i') {
        return ig_ts_raise(call->eval, "ValueError: substring not found");
    }
    return ig_ts_give_int(call, 0, found);
}

ig_status ig_ts_op_str_count(ig_ts_call *call) {
    ig_str s = { "", 0 }, part = { "", 0 };
    size_t start = 0;
    int64_t count = 0;
    IG_TRY(clamp_window(call, &s, &start));
    IG_TRY(ig_ts_str(call, 1, &part));
    size_t width = part.size ? part.size : 1;
    for (const char *at = find_text(s, part, 0); at;
         at = find_text(s, part, (size_t)(at - s.data) + width)) {
        count++;
    }
    return ig_ts_give_int(call, 0, count);
}

ig_status ig_ts_op_str_replace(ig_ts_call *call) {
    ig_str s = { "", 0 }, from = { "", 0 }, to = { "", 0 };
    int64_t max = 0;
    ig_writer w;
    IG_TRY(ig_ts_str(call, 0, &s));
    IG_TRY(ig_ts_str(call, 1, &from));
    IG_TRY(ig_ts_str(call, 2, &to));
    IG_TRY(ig_ts_int(call, 3, &max));
    ig_writer_init(&w, call->arena);
    size_t at = 0;
    while (from.size && max != 0) {
        const char *found = find_text(s, from, at);
        if (!found) {
            break;
        }
        ig_put_bytes(&w, s.data + at, (size_t)(found - s.data) - at);
        ig_put_bytes(&w, to.data, to.size);
        at = (size_t)(found - s.data) + from.size;
        max -= max > 0;
    }
    ig_put_bytes(&w, s.data + at, s.size - at);
    return give_written(call, &w);
}

/* ---- letters ---- */

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
static bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
static bool is_letter(char c) {
    return is_upper(c) || is_lower(c);
}
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
static char to_upper(char c) {
    return (char)(is_lower(c) ? c - 'a' + 'A' : c);
}
static char to_lower(char c) {
    return (char)(is_upper(c) ? c - 'A' + 'a' : c);
}

/* upper 'u', lower 'l', title 't', capitalize 'c' */
ig_status ig_ts_op_str_case(ig_ts_call *call) {
    ig_str s = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &s));
    char *text = ig_arena_copy(call->arena, s.data, s.size);
    for (size_t i = 0; i < s.size; i++) {
        int how = call->row->variant;
        bool is_first = how == 't' ? i == 0 || !is_letter(s.data[i - 1]) : i == 0;
        bool goes_up = how == 'u' || (how != 'l' && is_first);
        text[i] = goes_up ? to_upper(s.data[i]) : to_lower(s.data[i]);
    }
    return ig_ts_give_str(call, 0, (ig_str){ text, s.size });
}

static bool is_of_class(int class, char c) {
    switch (class) {
    case 'd':
        return is_digit(c);
    case 'a':
        return is_letter(c);
    case 'n':
        return is_letter(c) || is_digit(c);
    case 's':
        return is_space(c);
    case 'u':
        return !is_lower(c);
    default:
        return !is_upper(c);
    }
}

ig_status ig_ts_op_str_is(ig_ts_call *call) {
    ig_str s = { "", 0 };
    int class = call->row->variant;
    IG_TRY(ig_ts_str(call, 0, &s));
    bool is_so = s.size > 0, has_letter = false;
    for (size_t i = 0; i < s.size; i++) {
        is_so = is_so && is_of_class(class, s.data[i]);
        has_letter = has_letter || is_letter(s.data[i]);
    }
    bool wants_letter = class == 'u' || class == 'l';
    return ig_ts_give_bool(call, 0, is_so && (has_letter || !wants_letter));
}

ig_status ig_ts_op_str_ord(ig_ts_call *call) {
    ig_str s = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &s));
    if (s.size != 1) {
        return ig_ts_raise(call->eval, "TypeError: ord() expected a character");
    }
    return ig_ts_give_int(call, 0, (unsigned char)s.data[0]);
}

ig_status ig_ts_op_str_chr(ig_ts_call *call) {
    int64_t code = 0;
    IG_TRY(ig_ts_int(call, 0, &code));
    char c = (char)code;
    return give_copy(call, &c, 1);
}
