/* Numbers as texts, and back.  SPDX-License-Identifier: Apache-2.0
 *
 * In the C locale's way whatever the host program's locale is.
 */
#include "ingot/runtime.h"
#include "runtime/text/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 64 };

/* A decimal number, inf or nan, with blanks before it; no hexadecimal digits. */
static bool read_real(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == 0 && !strpbrk(text, "xXpP(");
}

static int64_t clamp_real(double value) {
    if (isnan(value)) {
        return 0;
    }
    return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static bool read_whole(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (end != text && *end == 0 && errno == 0) {
        return true;
    }
    double real;
    bool is_number = read_real(text, &real);
    *out = is_number ? clamp_real(real) : 0;
    return is_number;
}

static bool refuse_text(const ig_host_call *call, const char *text) {
    return ig_text_refuse(call, "'%.40s' is not a number", text);
}

static bool parse_all(const ig_host_call *call, bool is_real) {
    for (int64_t i = 0; i < call->params[0]; i++) {
        const char *text = ig_text_at(call, 1, i);
        bool is_good = is_real ? read_real(text, (double *)call->buffers[0] + i)
                               : read_whole(text, (int64_t *)call->buffers[0] + i);
        if (!is_good) {
            return refuse_text(call, text);
        }
    }
    return true;
}

/* The decimal point is the C locale's on this thread. */
static bool in_plain_locale(const ig_host_call *call,
                            bool (*work)(const ig_host_call *call)) {
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain) {
        return ig_text_refuse(call, "no memory for a locale");
    }
    locale_t before = uselocale(plain);
    bool is_good = work(call);
    (void)uselocale(before);
    freelocale(plain);
    return is_good;
}

static bool parse_whole(const ig_host_call *call) {
    return parse_all(call, false);
}

static bool parse_real(const ig_host_call *call) {
    return parse_all(call, true);
}

bool ig_host_text_parse(const ig_host_call *call) {
    int64_t count = call->params[0];
    return ig_text_fits(call, 0, count, 8) && ig_text_fits(call, 1, count, 8) &&
           in_plain_locale(call, parse_whole);
}

bool ig_host_text_parse_real(const ig_host_call *call) {
    int64_t count = call->params[0];
    return ig_text_fits(call, 0, count, 8) && ig_text_fits(call, 1, count, 8) &&
           in_plain_locale(call, parse_real);
}

/* The fewest digits that give the number back; an exponent where %.8g would have one,
 * of f64 %.16g.  NaN and infinities by ONNX's names. */
static void print_real(double value, bool is_double, char text[NUMBER_BYTES]) {
    if (!isfinite(value)) {
        strcpy(text, isnan(value) ? "NaN" : value < 0 ? "-INF" : "INF");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, NUMBER_BYTES, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (is_double ? back == value : (float)back == (float)value) {
            break;
        }
    }
    double size = fabs(value);
    if (size >= 1 && size < (is_double ? 1e16 : 1e8) && strchr(text, 'e')) {
        (void)snprintf(text, NUMBER_BYTES, "%.0f", value);
    }
}

static void print_one(const ig_host_call *call, int64_t i, char text[NUMBER_BYTES]) {
    const void *x = call->buffers[1];
    switch (call->params[1]) {
    case IG_F32:
        print_real((double)((const float *)x)[i], false, text);
        return;
    case IG_F64:
        print_real(((const double *)x)[i], true, text);
        return;
    case IG_U64:
        (void)snprintf(text, NUMBER_BYTES, "%llu",
                       (unsigned long long)((const uint64_t *)x)[i]);
        return;
    default:
        (void)snprintf(text, NUMBER_BYTES, "%lld", (long long)((const int64_t *)x)[i]);
    }
}

static bool print_all(const ig_host_call *call) {
    const char **y = call->buffers[0];
    for (int64_t i = 0; i < call->params[0]; i++) {
        char text[NUMBER_BYTES];
        print_one(call, i, text);
        y[i] = ig_text_copy(call, text, strlen(text));
        if (!y[i]) {
            return false;
        }
    }
    return true;
}

bool ig_host_text_print(const ig_host_call *call) {
    int64_t count = call->params[0], bytes = call->params[1] == IG_F32 ? 4 : 8;
    return ig_text_fits(call, 0, count, 8) && ig_text_fits(call, 1, count, bytes) &&
           in_plain_locale(call, print_all);
}
