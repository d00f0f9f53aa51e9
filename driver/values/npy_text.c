/* Texts in numpy's format.  SPDX-License-Identifier: Apache-2.0 */
#include "driver/values/npy_text.h"

#include "base/utf8.h"

#include <assert.h>
#include <string.h>

bool ig_npy_parse_texts(ig_str name, ig_npy_texts *out) {
    int64_t count;
    if (name.size < 2 || !strchr("US", name.data[0]) ||
        !ig_str_to_i64((ig_str){ name.data + 1, name.size - 1 }, &count) || count < 0 ||
        count > INT32_MAX) {
        return false;
    }
    *out = (ig_npy_texts){ (size_t)count, name.data[0] == 'U' };
    return true;
}

size_t ig_npy_character(const ig_npy_texts *texts) {
    return texts->is_wide ? 4 : 1;
}

static uint32_t character_at(const ig_npy_texts *texts, const char *element,
                             size_t index) {
    const uint8_t *at = (const uint8_t *)element + index * ig_npy_character(texts);
    return texts->is_wide ? (uint32_t)at[0] | (uint32_t)at[1] << 8 |
                                (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24
                          : at[0];
}

/* Characters before the zeros at its end. */
static size_t length_of(const ig_npy_texts *texts, const char *element) {
    size_t length = texts->characters;
    while (length && character_at(texts, element, length - 1) == 0) {
        length--;
    }
    return length;
}

/* Bytes in dtype S are taken for UTF-8. */
static const char *take_text(const ig_npy_texts *texts, const char *element,
                             ig_arena *arena, const char **out) {
    size_t length = length_of(texts, element), size = 0;
    char *text = ig_arena_alloc(arena, length * ig_npy_character(texts) + 1);
    for (size_t i = 0; i < length; i++) {
        uint32_t point = character_at(texts, element, i);
        size_t bytes = 1;
        if (point == 0) {
            return "a text with a zero in it";
        }
        if (texts->is_wide) {
            bytes = ig_utf8_encode(point, text + size);
        } else {
            text[size] = (char)point;
        }
        if (bytes == 0) {
            return "a text with a number that is not a character";
        }
        size += bytes;
    }
    text[size] = '\0';
    *out = text;
    return ig_utf8_is_valid((ig_str){ text, size }) ? NULL : "a text that is not UTF-8";
}

const char *ig_npy_take_texts(const ig_npy_texts *texts, const char *data,
                              ig_arena *arena, ig_tensor *out) {
    assert(out->dtype == IG_DT_str && "the caller allocates texts");
    size_t width = texts->characters * ig_npy_character(texts);
    const char *why = NULL;
    for (int64_t i = 0; i < out->count && !why; i++) {
        why = take_text(texts, data + (size_t)i * width, arena,
                        &((const char **)out->data)[i]);
    }
    return why;
}

/* ---- writing ---- */

ig_npy_texts ig_npy_measure_texts(const ig_tensor *tensor) {
    size_t max = 1; /* as numpy's empty texts have */
    for (int64_t i = 0; i < tensor->count; i++) {
        const char *text = ((const char *const *)tensor->data)[i];
        size_t count = 0;
        for (; *text; text++) {
            count += ((unsigned char)*text & 0xc0) != 0x80; /* no further byte */
        }
        max = count > max ? count : max;
    }
    return (ig_npy_texts){ max, true };
}

static bool put_text(const ig_npy_texts *texts, const char *text, ig_writer *out) {
    size_t size = strlen(text), count = 0;
    for (size_t length; size; text += length, size -= length, count++) {
        length = ig_utf8_length(text, size);
        if (length == 0) {
            return false;
        }
        uint32_t point = ig_utf8_decode(text, length);
        char bytes[] = { (char)point, (char)(point >> 8), (char)(point >> 16), 0 };
        ig_put_bytes(out, bytes, sizeof bytes);
    }
    assert(count <= texts->characters && "the longest was measured");
    for (; count < texts->characters; count++) {
        ig_put_bytes(out, "\0\0\0", 4);
    }
    return true;
}

bool ig_npy_put_texts(const ig_npy_texts *texts, const ig_tensor *tensor,
                      ig_writer *out) {
    bool is_good = true;
    for (int64_t i = 0; i < tensor->count && is_good; i++) {
        is_good = put_text(texts, ((const char *const *)tensor->data)[i], out);
    }
    return is_good;
}
