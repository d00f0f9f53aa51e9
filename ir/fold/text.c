/* Texts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * New texts are interned in the module, which outlives whoever reads them.
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include "base/system/regex.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

static const char *text_at(const ig_tensor *x, int64_t index) {
    const char *text = ((const char *const *)x->data)[index];
    return text ? text : "";
}

static void set_text(const ig_op *op, ig_tensor *y, int64_t index, ig_str text) {
    ((const char **)y->data)[index] = ig_module_string(ig_op_module(op), text);
}

/* The text of a list after `text`, the first for NULL; NULL: there is none. */
static const char *next_in_list(const ig_tensor *list, const char *text) {
    const char *start = list->data, *end = start + list->count;
    const char *at = text ? text + strlen(text) + 1 : start;
    return at < end && memchr(at, 0, (size_t)(end - at)) ? at : NULL;
}

static const char *first_in_list(const ig_tensor *list) {
    const char *first = next_in_list(list, NULL);
    return first ? first : "";
}

ig_status ig_fold_text_of(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                          ig_tensor *out) {
    int64_t dims[IG_TENSOR_RANK];
    uint32_t rank;
    IG_TRY(ig_eval_shape(eval, op, IG_text_of_shape, NULL, &rank, dims));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_str, rank, dims, out));
    const char *text = NULL;
    for (int64_t i = 0; i < out->count; i++) {
        text = next_in_list(in[0], text);
        if (!text) {
            return FOLD_ERROR(eval, op, "text_of: the list has %lld texts, not %lld",
                              (long long)i, (long long)out->count);
        }
        set_text(op, out, i, ig_str_of(text));
    }
    return IG_OK;
}

static ig_status check_pair(ig_eval *eval, const ig_op *op,
                            const ig_tensor *const *in) {
    return in[0]->count == in[1]->count
               ? IG_OK
               : FOLD_ERROR(eval, op, "%s: %lld texts and %lld", ig_ops[op->code].name,
                            (long long)in[0]->count, (long long)in[1]->count);
}

static ig_status alloc_like(ig_eval *eval, const ig_op *op, ig_dtype dtype,
                            const ig_tensor *x, ig_tensor *out) {
    return ig_eval_alloc(eval, op, dtype, x->rank, x->dims, out);
}

ig_status ig_fold_text_eq(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                          ig_tensor *out) {
    IG_TRY(check_pair(eval, op, in));
    IG_TRY(alloc_like(eval, op, IG_DT_bool, in[0], out));
    for (int64_t i = 0; i < out->count; i++) {
        ig_tensor_set_i64(out, i, strcmp(text_at(in[0], i), text_at(in[1], i)) == 0);
    }
    return IG_OK;
}

ig_status ig_fold_text_join(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    IG_TRY(check_pair(eval, op, in));
    IG_TRY(alloc_like(eval, op, IG_DT_str, in[0], out));
    for (int64_t i = 0; i < out->count; i++) {
        const char *text = ig_arena_printf(eval->scratch, "%s%s", text_at(in[0], i),
                                           text_at(in[1], i));
        set_text(op, out, i, ig_str_of(text));
    }
    return IG_OK;
}

ig_status ig_fold_text_find(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    IG_TRY(alloc_like(eval, op, IG_DT_i64, in[0], out));
    for (int64_t i = 0; i < out->count; i++) {
        int64_t index = 0, found = -1;
        for (const char *key = NULL; found < 0 && (key = next_in_list(in[1], key));
             index++) {
            found = strcmp(key, text_at(in[0], i)) == 0 ? index : -1;
        }
        ig_tensor_set_i64(out, i, found);
    }
    return IG_OK;
}

typedef struct placed_text {
    const char *text;
    int64_t index;
} placed_text;

static int compare_texts(const void *a, const void *b) {
    return strcmp(((const placed_text *)a)->text, ((const placed_text *)b)->text);
}

ig_status ig_fold_text_order(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    IG_TRY(alloc_like(eval, op, IG_DT_i64, in[0], out));
    placed_text *texts = IG_NEW_ARRAY(eval->scratch, placed_text,
                                      (size_t)out->count + 1);
    for (int64_t i = 0; i < out->count; i++) {
        texts[i] = (placed_text){ text_at(in[0], i), i };
    }
    qsort(texts, (size_t)out->count, sizeof *texts, compare_texts);
    int64_t before = 0;
    for (int64_t i = 0; i < out->count; i++) {
        before += i > 0 && compare_texts(&texts[i - 1], &texts[i]) != 0;
        ig_tensor_set_i64(out, texts[i].index, before);
    }
    return IG_OK;
}

ig_status ig_fold_text_match(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    IG_TRY(alloc_like(eval, op, IG_DT_bool, in[0], out));
    char why[IG_REGEX_WHY_BYTES];
    ig_regex *regex;
    ig_status status = ig_regex_open(first_in_list(in[1]), &regex, why);
    if (status != IG_OK) {
        return FOLD_FAIL(eval, op, status, "text_match: %s", why);
    }
    for (int64_t i = 0; status == IG_OK && i < out->count; i++) {
        bool matches = false;
        status = ig_regex_match(regex, text_at(in[0], i), &matches);
        ig_tensor_set_i64(out, i, matches);
    }
    ig_regex_close(regex);
    return status == IG_OK
               ? IG_OK
               : FOLD_FAIL(eval, op, status, "text_match: a match takes too long");
}

/* ---- numbers ---- */

/* "+INF", "nan" and their like are what strtod reads too; "0x10" is no decimal. */
static bool read_number(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == 0 && !strpbrk(text, "xXpP(");
}

static bool read_whole(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    double real;
    if (end != text && *end == 0 && errno == 0) {
        return true;
    }
    bool is_number = read_number(text, &real);
    *out = is_number ? ig_f64_to_i64(real, 64) : 0;
    return is_number;
}

ig_status ig_fold_text_parse(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_text_parse_to, 0);
    IG_TRY(alloc_like(eval, op, to, in[0], out));
    for (int64_t i = 0; i < out->count; i++) {
        const char *text = text_at(in[0], i);
        int64_t whole = 0;
        double real = 0;
        bool is_good = to == IG_DT_i64 ? read_whole(text, &whole)
                                       : read_number(text, &real);
        if (!is_good) {
            return FOLD_ERROR(eval, op, "text_parse: '%.40s' is not a number", text);
        }
        if (to == IG_DT_i64) {
            ig_tensor_set_i64(out, i, whole);
        } else {
            ig_tensor_set_f64(out, i, real);
        }
    }
    return IG_OK;
}

/* The fewest digits that give the number back; an exponent where %.8g would have one,
 * of f64 %.16g.  NaN and infinities by ONNX's names. */
static void print_real(double value, bool is_double, char *out, size_t size) {
    if (!isfinite(value)) {
        (void)snprintf(out, size, "%s",
                       isnan(value) ? "NaN"
                       : value < 0  ? "-INF"
                                    : "INF");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(out, size, "%.*g", digits, value);
        double back = strtod(out, NULL);
        if (is_double ? back == value : (float)back == (float)value) {
            break;
        }
    }
    double magnitude = fabs(value);
    if (magnitude >= 1 && magnitude < (is_double ? 1e16 : 1e8) && strchr(out, 'e')) {
        (void)snprintf(out, size, "%.0f", value);
    }
}

static void print_number(const ig_tensor *x, int64_t index, char *out, size_t size) {
    if (x->dtype == IG_DT_i64) {
        (void)snprintf(out, size, "%lld", (long long)ig_tensor_get_i64(x, index));
    } else if (x->dtype == IG_DT_u64) {
        (void)snprintf(out, size, "%llu",
                       (unsigned long long)ig_tensor_get_i64(x, index));
    } else {
        print_real(ig_tensor_get_f64(x, index), x->dtype != IG_DT_f32, out, size);
    }
}

ig_status ig_fold_text_print(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    IG_TRY(alloc_like(eval, op, IG_DT_str, in[0], out));
    for (int64_t i = 0; i < out->count; i++) {
        char text[64];
        print_number(in[0], i, text, sizeof text);
        set_text(op, out, i, ig_str_of(text));
    }
    return IG_OK;
}

/* ---- splitting ---- */

typedef struct cutting {
    const char *delimiter; /* "": blanks */
    int64_t left;          /* cuts that may still be made */
} cutting;

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The part at *at, which becomes where the next one begins, or NULL.  False: none. */
static bool cut_part(cutting *c, const char **at, ig_str *out) {
    const char *begin = *at;
    bool by_blanks = c->delimiter[0] == 0;
    while (by_blanks && is_blank(*begin)) {
        begin++;
    }
    if (by_blanks && *begin == 0) {
        return false;
    }
    const char *end = begin;
    size_t length = strlen(c->delimiter);
    while (*end &&
           !(by_blanks ? is_blank(*end) : strncmp(end, c->delimiter, length) == 0)) {
        end++;
    }
    bool is_last = *end == 0 || c->left == 0;
    *out = is_last ? ig_str_of(begin) : (ig_str){ begin, (size_t)(end - begin) };
    while (is_last && by_blanks && out->size && is_blank(out->data[out->size - 1])) {
        out->size--; /* as Python's split: the last piece ends where the text does */
    }
    c->left -= !is_last;
    *at = is_last ? NULL : end + length;
    return true;
}

ig_status ig_fold_text_split(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    const ig_tensor *x = in[0];
    int64_t max = ig_attr_int(op, IG_text_split_max, -1), limit = 0;
    ig_str part;
    IG_TRY(alloc_like(eval, op, IG_DT_i64, x, &out[1]));
    for (int64_t i = 0; i < x->count; i++) {
        cutting c = { first_in_list(in[1]), max < 0 ? INT64_MAX : max };
        int64_t count = 0;
        for (const char *at = text_at(x, i); at && cut_part(&c, &at, &part);) {
            count++;
        }
        ig_tensor_set_i64(&out[1], i, count);
        limit = count > limit ? count : limit;
    }
    int64_t dims[IG_TENSOR_RANK];
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    dims[x->rank] = limit;
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_str, x->rank + 1, dims, &out[0]));
    for (int64_t i = 0; i < x->count; i++) {
        cutting c = { first_in_list(in[1]), max < 0 ? INT64_MAX : max };
        int64_t to = i * limit;
        for (const char *at = text_at(x, i); at && cut_part(&c, &at, &part);) {
            set_text(op, &out[0], to++, part);
        }
    }
    return IG_OK;
}

/* ---- cleaning ---- */

/* One character of UTF-8 that begins with bytes[0]; 0: none does. */
static size_t read_character(const char *bytes, wint_t *out) {
    unsigned char lead = (unsigned char)bytes[0];
    size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4) {
        return 0;
    }
    *out = lead & (0xffu >> (length + (length > 1)));
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
        *out = *out << 6 | ((unsigned char)bytes[i] & 0x3f);
    }
    return length;
}

static void put_character(ig_writer *to, wint_t c) {
    if (c < 0x80) {
        ig_put_char(to, (char)c);
    } else if (c < 0x800) {
        ig_put_char(to, (char)(0xc0 | c >> 6));
    } else if (c < 0x10000) {
        ig_put_char(to, (char)(0xe0 | c >> 12));
        ig_put_char(to, (char)(0x80 | (c >> 6 & 0x3f)));
    } else {
        ig_put_char(to, (char)(0xf0 | c >> 18));
        ig_put_char(to, (char)(0x80 | (c >> 12 & 0x3f)));
        ig_put_char(to, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    if (c >= 0x80) {
        ig_put_char(to, (char)(0x80 | (c & 0x3f)));
    }
}

/* Bytes that are not UTF-8 stay as they are. */
static const char *change_case(ig_arena *arena, const char *text, int64_t kind,
                               locale_t rules) {
    ig_writer to;
    ig_writer_init(&to, arena);
    while (*text) {
        wint_t c = 0;
        size_t length = read_character(text, &c);
        if (length) {
            put_character(&to, kind == IG_LETTERS_lower ? towlower_l(c, rules)
                                                        : towupper_l(c, rules));
        } else {
            ig_put_char(&to, *text);
        }
        text += length ? length : 1;
    }
    return to.size ? to.data : "";
}

static bool is_stopword(ig_eval *eval, const ig_op *op, const ig_tensor *words,
                        const char *text, locale_t rules) {
    bool folds = ig_attr_int(op, IG_text_clean_insensitive, 0) != 0;
    ig_arena *arena = eval->scratch;
    text = folds ? change_case(arena, text, IG_LETTERS_lower, rules) : text;
    for (const char *word = NULL; (word = next_in_list(words, word));) {
        const char *plain = folds ? change_case(arena, word, IG_LETTERS_lower, rules)
                                  : word;
        if (strcmp(plain, text) == 0) {
            return true;
        }
    }
    return false;
}

static ig_status clean_texts(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             locale_t rules, ig_tensor *out) {
    const ig_tensor *x = in[0];
    int64_t kind = ig_attr_int(op, IG_text_clean_letters, IG_LETTERS_keep), kept = 0;
    const char **texts;
    IG_TRY(ig_eval_scratch(eval, op, x->count + 1, sizeof *texts, &texts));
    for (int64_t i = 0; i < x->count; i++) {
        const char *text = text_at(x, i);
        if (!is_stopword(eval, op, in[1], text, rules)) {
            texts[kept++] = kind == IG_LETTERS_keep
                                ? text
                                : change_case(eval->scratch, text, kind, rules);
        }
    }
    int64_t dims[] = { 1, 1 };
    dims[x->rank - 1] = kept ? kept : 1;
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_str, x->rank, dims, out));
    for (int64_t i = 0; i < kept; i++) {
        set_text(op, out, i, ig_str_of(texts[i]));
    }
    return IG_OK;
}

ig_status ig_fold_text_clean(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    if (in[0]->rank == 2 && in[0]->dims[0] != 1) {
        return FOLD_ERROR(eval, op, "text_clean: %lld rows, expected 1",
                          (long long)in[0]->dims[0]);
    }
    locale_t rules = newlocale(LC_CTYPE_MASK, first_in_list(in[2]), (locale_t)0);
    rules = rules ? rules : newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!rules) {
        return FOLD_FAIL(eval, op, IG_UNSUPPORTED,
                         "text_clean: the system has no locale for UTF-8");
    }
    ig_status status = clean_texts(eval, op, in, rules, out);
    freelocale(rules);
    return status;
}
