/* "%d of %s" % values: run at import.
 * SPDX-License-Identifier: Apache-2.0
 *
 * As libtorch has it: one letter after the sign, no widths; six digits after the point.
 */
#include "frontend/torch/container/container.h"

#include <assert.h>
#include <string.h>

static ig_status need_number(ig_ts_call *call, const ig_ts_value *value,
                             double *out_f) {
    bool is_int = value->kind == IG_TS_INT || value->kind == IG_TS_BOOL;
    if ((!is_int && value->kind != IG_TS_FLOAT) || !ig_ts_is_known(value)) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "formats %s as a number",
                          ig_ts_kind_name(value));
    }
    *out_f = value->kind == IG_TS_FLOAT ? value->as.f
             : value->kind == IG_TS_INT ? (double)value->as.i
                                        : (double)value->as.b;
    return IG_OK;
}

static ig_status write_number(ig_ts_call *call, ig_writer *w, char key,
                              const ig_ts_value *value) {
    double f = 0;
    IG_TRY(need_number(call, value, &f));
    if (key == 'e' || key == 'E') {
        ig_put(w, key == 'e' ? "%.6e" : "%.6E", f);
    } else if (key == 'f' || key == 'F') {
        ig_put(w, "%.6f", f);
    } else if (value->kind == IG_TS_INT) {
        ig_put(w, "%lld", (long long)value->as.i);
    } else if (f >= -2147483648.0 && f <= 2147483647.0) {
        ig_put(w, "%d", (int)f);
    } else {
        return ig_ts_fail(call, IG_UNSUPPORTED, "formats %g as an integer", f);
    }
    return IG_OK;
}

static ig_status write_one(ig_ts_call *call, ig_writer *w, char key,
                           const ig_ts_value *value) {
    assert(value && "the caller has counted the values");
    if (key == 'c' && value->kind == IG_TS_INT && ig_ts_is_known(value)) {
        char c = (char)value->as.i;
        ig_put_bytes(w, &c, 1);
        return IG_OK;
    }
    if (key == 's' || key == 'c') {
        return ig_ts_str_write(call->eval, w, value);
    }
    if (key && strchr("dieEfF", key)) {
        return write_number(call, w, key, value);
    }
    return ig_ts_fail(call, IG_UNSUPPORTED, "the format %%%c", key ? key : ' ');
}

/* The values: the items of a tuple, or the one value. */
static const ig_ts_value *values_of(const ig_ts_call *call, size_t *out_count) {
    const ig_ts_value *first = call->arg_count > 1 ? &call->args[1] : NULL;
    bool is_tuple = first && first->kind == IG_TS_TUPLE;
    *out_count = is_tuple ? first->as.list->count : first != NULL;
    return is_tuple ? first->as.list->items : first;
}

ig_status ig_ts_op_str_percent(ig_ts_call *call) {
    ig_str text = { "", 0 };
    size_t count, used = 0;
    const ig_ts_value *values = values_of(call, &count);
    ig_writer w;
    IG_TRY(ig_ts_str(call, 0, &text));
    ig_writer_init(&w, call->arena);
    for (size_t i = 0; i < text.size; i++) {
        char key = i + 1 < text.size ? text.data[i + 1] : '\0';
        if (text.data[i] != '%') {
            ig_put_bytes(&w, &text.data[i], 1);
            continue;
        }
        i++;
        if (key == '%') {
            ig_put_bytes(&w, "%", 1);
        } else if (used == count) {
            return ig_ts_raise(call->eval, "too few values for a format");
        } else {
            IG_TRY(write_one(call, &w, key, &values[used++]));
        }
    }
    return used == count ? ig_ts_give_str(call, 0, ig_writer_str(&w))
                         : ig_ts_raise(call->eval, "too many values for a format");
}
