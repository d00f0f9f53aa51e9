/* PBM, PGM and PPM, as text and as bytes.  SPDX-License-Identifier: Apache-2.0 */
#include "media/image_codec.h"

#include <string.h>

enum { DIGITS_MAX = 10 /* of a number, which has fewer */ };

typedef struct reader {
    const ig_image_file *file;
    size_t at;
    bool is_text, is_bits;
    uint32_t channels, max; /* of a sample */
} reader;

static bool is_blank(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_pnm(const ig_image_file *file) {
    const uint8_t *data = file->data;
    return file->size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '6' &&
           (is_blank(data[2]) || data[2] == '#');
}

/* Blanks and comments, which reach to the end of their line. */
static void skip_blanks(reader *r) {
    const uint8_t *data = r->file->data;
    bool is_comment = false;
    for (; r->at < r->file->size; r->at++) {
        uint8_t c = data[r->at];
        is_comment = (is_comment || c == '#') && c != '\n' && c != '\r';
        if (!is_comment && !is_blank(c)) {
            return;
        }
    }
}

/* Reads a decimal number, or one digit of it. */
static ig_status read_number(reader *r, bool is_digit, uint32_t *out) {
    const uint8_t *data = r->file->data;
    skip_blanks(r);
    if (r->at == r->file->size) {
        return ig_image_cut(r->file);
    }
    uint32_t count = 0;
    *out = 0;
    while (r->at < r->file->size && count < (is_digit ? 1 : DIGITS_MAX) &&
           data[r->at] >= '0' && data[r->at] <= '9') {
        *out = *out * 10 + data[r->at++] - '0';
        count++;
    }
    return count > 0 && count < DIGITS_MAX
               ? IG_OK
               : ig_image_fail(r->file, IG_INVALID, "no number ends at byte %zu",
                               r->at);
}

/* What its pixels take at least, so that nothing is allocated for those of others. */
static int64_t count_bytes(const reader *r, const ig_image_extents *extents) {
    int64_t samples = extents->height * extents->width * r->channels;
    if (r->is_text) {
        return samples;
    }
    return r->is_bits ? (extents->width + 7) / 8 * extents->height
                      : samples * (r->max > 255 ? 2 : 1);
}

static ig_status read_head(const ig_image_file *file, reader *r,
                           ig_image_extents *out) {
    uint32_t kind = file->data[1] - '0', width, height;
    *r = (reader){ .file = file,
                   .at = 2,
                   .is_text = kind <= 3,
                   .is_bits = kind % 3 == 1,
                   .channels = kind % 3 == 0 ? 3 : 1,
                   .max = 1 };
    IG_TRY(read_number(r, false, &width));
    IG_TRY(read_number(r, false, &height));
    if (!r->is_bits) {
        IG_TRY(read_number(r, false, &r->max));
    }
    if (r->max == 0 || r->max > 65535) {
        return ig_image_fail(file, IG_INVALID, "the largest sample is %u", r->max);
    }
    if (r->at == file->size || !is_blank(file->data[r->at++])) {
        return ig_image_fail(file, IG_INVALID, "its header does not end in a blank");
    }
    *out = (ig_image_extents){ .height = height, .width = width };
    return count_bytes(r, out) <= (int64_t)(file->size - r->at) ? IG_OK
                                                                : ig_image_cut(file);
}

static ig_status measure_pnm(const ig_image_file *file, ig_image_extents *out_extents) {
    reader r;
    return read_head(file, &r, out_extents);
}

/* ---- pixels ---- */

static void put_pixel(uint8_t *to, const uint8_t *samples, uint32_t channels) {
    for (uint32_t c = 0; c < 3; c++) {
        to[c] = samples[channels == 3 ? c : 0];
    }
}

static ig_status decode_text(reader *r, int64_t count, uint8_t *rgb) {
    for (int64_t i = 0; i < count; i++, rgb += 3) {
        uint8_t samples[3];
        for (uint32_t c = 0; c < r->channels; c++) {
            uint32_t value;
            IG_TRY(read_number(r, r->is_bits, &value)); /* "101" is three bits */
            samples[c] = ig_image_byte(r->is_bits ? value == 0 : value, r->max);
        }
        put_pixel(rgb, samples, r->channels);
    }
    return IG_OK;
}

/* A set bit is black; each row begins a byte. */
static void decode_bits(const uint8_t *from, const ig_image_extents *extents,
                        uint8_t *rgb) {
    for (int64_t y = 0; y < extents->height; y++) {
        for (int64_t x = 0; x < extents->width; x++, rgb += 3) {
            memset(rgb, from[x / 8] >> (7 - x % 8) & 1 ? 0 : 255, 3);
        }
        from += (extents->width + 7) / 8;
    }
}

static void decode_bytes(const reader *r, int64_t count, uint8_t *rgb) {
    uint32_t bytes = r->max > 255 ? 2 : 1;
    const uint8_t *from = r->file->data + r->at;
    for (int64_t i = 0; i < count; i++, rgb += 3) {
        uint8_t samples[3];
        for (uint32_t c = 0; c < r->channels; c++, from += bytes) {
            samples[c] = ig_image_byte(ig_image_be(from, bytes), r->max);
        }
        put_pixel(rgb, samples, r->channels);
    }
}

static ig_status decode_pnm(const ig_image_file *file, const ig_image_extents *extents,
                            uint8_t *rgb) {
    reader r;
    ig_image_extents same;
    int64_t count = extents->height * extents->width;
    IG_TRY(read_head(file, &r, &same));
    if (r.is_text) {
        return decode_text(&r, count, rgb);
    }
    if (r.is_bits) {
        decode_bits(file->data + r.at, extents, rgb);
    } else {
        decode_bytes(&r, count, rgb);
    }
    return IG_OK;
}

const ig_image_codec ig_image_pnm = { "PNM", 0, is_pnm, measure_pnm, decode_pnm };
