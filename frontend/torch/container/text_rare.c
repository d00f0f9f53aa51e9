/* Less usual methods of strings: run at import.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/container/container.h"

#include <assert.h>
#include <string.h>

static ig_str part_of_text(ig_str s, size_t from, size_t to) {
    assert(from <= to && to <= s.size && "a part of the string");
    return (ig_str){ s.data + from, to - from };
}

/* The position of `what` in s[0:end], from the left or the right; end when nowhere. */
static size_t find_text(ig_str s, ig_str what, size_t end, bool from_right) {
    size_t found = end;
    for (size_t i = 0; i + what.size <= end; i++) {
        if (memcmp(s.data + i, what.data, what.size) == 0) {
            found = i;
            if (!from_right) {
                break;
            }
        }
    }
    return found;
}

ig_status ig_ts_op_text_rsplit(ig_ts_call *call) {
    ig_str s = { "", 0 }, separator = { "", 0 };
    int64_t max = 0;
    IG_TRY(ig_ts_str(call, 0, &s));
    IG_TRY(ig_ts_str(call, 1, &separator));
    IG_TRY(ig_ts_int(call, 2, &max));
    if (separator.size == 0) {
        return ig_ts_raise(call->eval, "ValueError: empty separator");
    }
    ig_ts_list *reversed = ig_ts_list_create(call->eval, 0);
    ig_ts_list *list = ig_ts_list_create(call->eval, 0);
    size_t end = s.size;
    while (max < 0 || (int64_t)reversed->count < max) {
        size_t at = find_text(s, separator, end, true);
        if (at == end) {
            break;
        }
        ig_ts_list_add(call->eval, reversed,
                       ig_ts_of_str(part_of_text(s, at + separator.size, end)));
        end = at;
    }
    ig_ts_list_add(call->eval, list, ig_ts_of_str(part_of_text(s, 0, end)));
    for (size_t i = reversed->count; i > 0; i--) {
        ig_ts_list_add(call->eval, list, reversed->items[i - 1]);
    }
    return ig_ts_give_value(call, 0, ig_ts_of_list(list));
}

/* As libtorch has it: each of these characters ends a line, "\r\n" so ends two, and
 * ends that are kept are items of their own. */
ig_status ig_ts_op_text_lines(ig_ts_call *call) {
    static const char ends[] = "\n\r\v\f\x1c\x1d\x1e";
    ig_str s = { "", 0 };
    bool keep = false;
    IG_TRY(ig_ts_str(call, 0, &s));
    IG_TRY(ig_ts_bool(call, 1, &keep));
    ig_ts_list *list = ig_ts_list_create(call->eval, 0);
    size_t start = 0;
    for (size_t i = 0; i < s.size; i++) {
        if (!memchr(ends, s.data[i], sizeof(ends) - 1)) {
            continue;
        }
        ig_ts_list_add(call->eval, list, ig_ts_of_str(part_of_text(s, start, i)));
        if (keep) {
            ig_ts_list_add(call->eval, list, ig_ts_of_str(part_of_text(s, i, i + 1)));
        }
        start = i + 1;
    }
    if (start < s.size) {
        ig_ts_list_add(call->eval, list, ig_ts_of_str(part_of_text(s, start, s.size)));
    }
    return ig_ts_give_value(call, 0, ig_ts_of_list(list));
}

ig_status ig_ts_op_text_partition(ig_ts_call *call) {
    ig_str s = { "", 0 }, separator = { "", 0 }, empty = { "", 0 };
    bool from_right = call->row->variant;
    IG_TRY(ig_ts_str(call, 0, &s));
    IG_TRY(ig_ts_str(call, 1, &separator));
    size_t at = find_text(s, separator, s.size, from_right);
    if (at == s.size) {
        IG_TRY(ig_ts_give_str(call, 0, from_right ? empty : s));
        IG_TRY(ig_ts_give_str(call, 1, empty));
        return ig_ts_give_str(call, 2, from_right ? s : empty);
    }
    IG_TRY(ig_ts_give_str(call, 0, part_of_text(s, 0, at)));
    IG_TRY(ig_ts_give_str(call, 1, separator));
    return ig_ts_give_str(call, 2, part_of_text(s, at + separator.size, s.size));
}

static void put_fill(ig_writer *w, char fill, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ig_put_char(w, fill);
    }
}

/* How many characters `s` is short of argument 1. */
static ig_status measure_room(ig_ts_call *call, ig_str *out_s, size_t *out_room) {
    int64_t width = 0;
    IG_TRY(ig_ts_str(call, 0, out_s));
    IG_TRY(ig_ts_int(call, 1, &width));
    if (width > call->context->limits.string_bytes) {
        return ig_ts_fail(call, IG_LIMIT, "a string of %lld bytes", (long long)width);
    }
    *out_room = width > (int64_t)out_s->size ? (size_t)width - out_s->size : 0;
    return IG_OK;
}

ig_status ig_ts_op_text_pad(ig_ts_call *call) {
    ig_str s = { "", 0 }, fill = { "", 0 };
    size_t room = 0;
    ig_writer w;
    IG_TRY(measure_room(call, &s, &room));
    IG_TRY(ig_ts_str(call, 2, &fill));
    if (fill.size != 1) {
        return ig_ts_raise(call->eval, "TypeError: the fill must be one character");
    }
    bool is_odd = (room + s.size) & 1; /* the width: then the left has more */
    size_t left = call->row->variant == 'l'   ? 0
                  : call->row->variant == 'r' ? room
                                              : (room + is_odd) / 2;
    ig_writer_init(&w, call->arena);
    put_fill(&w, fill.data[0], left);
    ig_put_bytes(&w, s.data, s.size);
    put_fill(&w, fill.data[0], room - left);
    return ig_ts_give_str(call, 0, ig_writer_str(&w));
}

/* libtorch puts the zeros before a sign. */
ig_status ig_ts_op_text_zfill(ig_ts_call *call) {
    ig_str s = { "", 0 };
    size_t room = 0;
    ig_writer w;
    IG_TRY(measure_room(call, &s, &room));
    ig_writer_init(&w, call->arena);
    put_fill(&w, '0', room);
    ig_put_bytes(&w, s.data, s.size);
    return ig_ts_give_str(call, 0, ig_writer_str(&w));
}

ig_status ig_ts_op_text_swapcase(ig_ts_call *call) {
    ig_str s = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &s));
    char *copy = ig_arena_copy(call->arena, s.data, s.size);
    for (size_t i = 0; i < s.size; i++) {
        bool is_letter = ((copy[i] | 0x20) >= 'a' && (copy[i] | 0x20) <= 'z');
        copy[i] = is_letter ? (char)(copy[i] ^ 0x20) : copy[i];
    }
    return ig_ts_give_str(call, 0, (ig_str){ copy, s.size });
}

/* bin, oct, hex */
ig_status ig_ts_op_text_number(ig_ts_call *call) {
    int64_t value = 0;
    IG_TRY(ig_ts_int(call, 0, &value));
    char digits[72];
    size_t at = sizeof(digits);
    unsigned shift = call->row->variant == 'b' ? 1 : call->row->variant == 'o' ? 3 : 4;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = "0123456789abcdef"[rest & ((1u << shift) - 1)];
        rest >>= shift;
    } while (rest);
    digits[--at] = (char)call->row->variant;
    digits[--at] = '0';
    if (value < 0) {
        digits[--at] = '-';
    }
    size_t size = sizeof(digits) - at;
    return ig_ts_give_str(
        call, 0, (ig_str){ ig_arena_copy(call->arena, digits + at, size), size });
}
