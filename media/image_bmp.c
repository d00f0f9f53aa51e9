/* BMP: palettes of 1, 4 and 8 bits, 16 and 32 bits by masks, 24 bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "media/image_codec.h"

#include <string.h>

enum { FILE_HEAD = 14, PLAIN = 0, BY_MASKS = 3, BY_MASKS_WITH_ALPHA = 6 };

typedef struct bitmap {
    ig_image_extents extents;
    bool is_upright; /* its first row is the upper one */
    uint32_t bits, packing;
    size_t pixels;                                   /* where they begin */
    size_t palette;                                  /* where it begins */
    uint32_t palette_count, palette_bytes, masks[3]; /* of red, green, blue */
} bitmap;

static bool is_bmp(const ig_image_file *file) {
    return ig_image_begins(file, "BM", 2);
}

/* OS/2's first form, of 12 bytes. */
static void read_core(const uint8_t *head, bitmap *out) {
    out->extents.width = ig_image_le(head + 4, 2);
    out->extents.height = ig_image_le(head + 6, 2);
    out->bits = ig_image_le(head + 10, 2);
    out->palette_bytes = 3;
    out->is_upright = false;
    out->packing = PLAIN;
    out->palette_count = 0;
}

static void read_info(const uint8_t *head, bitmap *out) {
    int32_t height = (int32_t)ig_image_le(head + 8, 4);
    out->extents.width = (int32_t)ig_image_le(head + 4, 4);
    out->extents.height = height < 0 ? -(int64_t)height : height;
    out->is_upright = height < 0;
    out->bits = ig_image_le(head + 14, 2);
    out->packing = ig_image_le(head + 16, 4);
    out->palette_count = ig_image_le(head + 32, 4);
    out->palette_bytes = 4;
}

/* They are in the head or after it. */
static ig_status read_masks(const ig_image_file *file, size_t head, bitmap *b) {
    static const uint32_t fives[3] = { 0x7c00, 0x3e0, 0x1f };
    static const uint32_t eights[3] = { 0xff0000, 0xff00, 0xff };
    memcpy(b->masks, b->bits == 16 ? fives : eights, sizeof b->masks);
    if (b->packing == PLAIN) {
        return IG_OK;
    }
    if (file->size < FILE_HEAD + 40 + 12) {
        return ig_image_cut(file);
    }
    for (uint32_t i = 0; i < 3; i++) {
        b->masks[i] = ig_image_le(file->data + FILE_HEAD + 40 + 4 * i, 4);
        if (b->masks[i] == 0) {
            return ig_image_fail(file, IG_INVALID, "a mask of colours is 0");
        }
    }
    size_t after = FILE_HEAD + (head < 52 ? 52 : head);
    b->palette = b->palette < after ? after : b->palette;
    return IG_OK;
}

static ig_status check_palette(const ig_image_file *file, bitmap *b) {
    uint32_t max = 1U << b->bits;
    b->palette_count = b->palette_count == 0 || b->palette_count > max
                           ? max
                           : b->palette_count;
    size_t end = b->palette + (size_t)b->palette_count * b->palette_bytes;
    return end <= file->size ? IG_OK : ig_image_cut(file);
}

static ig_status read_bitmap(const ig_image_file *file, bitmap *b) {
    if (file->size < FILE_HEAD + 12) {
        return ig_image_cut(file);
    }
    const uint8_t *head = file->data + FILE_HEAD;
    size_t size = ig_image_le(head, 4);
    bool is_core = size == 12;
    if (!is_core && (size < 40 || size > 256)) {
        return ig_image_fail(file, IG_UNSUPPORTED, "its header has %zu bytes", size);
    }
    if (file->size < FILE_HEAD + size) {
        return ig_image_cut(file);
    }
    *b = (bitmap){ .pixels = ig_image_le(file->data + 10, 4),
                   .palette = FILE_HEAD + size };
    if (is_core) {
        read_core(head, b);
    } else {
        read_info(head, b);
    }
    bool has_masks = b->packing == BY_MASKS || b->packing == BY_MASKS_WITH_ALPHA;
    bool is_wide = b->bits == 16 || b->bits == 32;
    if (b->packing != PLAIN && !(has_masks && is_wide)) {
        return ig_image_fail(file, IG_UNSUPPORTED, "packing %u of %u bits is not read",
                             b->packing, b->bits);
    }
    if (is_wide) {
        return read_masks(file, size, b);
    }
    bool is_narrow = b->bits == 1 || b->bits == 4 || b->bits == 8;
    if (is_narrow) {
        return check_palette(file, b);
    }
    return b->bits == 24 ? IG_OK
                         : ig_image_fail(file, IG_INVALID, "%u bits a pixel", b->bits);
}

static int64_t stride_of(const bitmap *b) {
    return (b->extents.width * b->bits + 31) / 32 * 4;
}

static ig_status measure_bmp(const ig_image_file *file, ig_image_extents *out_extents) {
    bitmap b;
    IG_TRY(read_bitmap(file, &b));
    int64_t stride = stride_of(&b), left = (int64_t)file->size - (int64_t)b.pixels;
    *out_extents = b.extents;
    return left < 0 || (stride > 0 && b.extents.height > left / stride)
               ? ig_image_cut(file)
               : IG_OK;
}

/* ---- pixels ---- */

static void put_bgr(uint8_t *to, const uint8_t *from) {
    to[0] = from[2];
    to[1] = from[1];
    to[2] = from[0];
}

static uint8_t by_mask(uint32_t pixel, uint32_t mask) {
    uint32_t shift = (uint32_t)__builtin_ctz(mask);
    return ig_image_byte((pixel & mask) >> shift, mask >> shift);
}

static ig_status put_row(const ig_image_file *file, const bitmap *b,
                         const uint8_t *from, uint8_t *to) {
    const uint8_t *palette = file->data + b->palette;
    for (int64_t x = 0; x < b->extents.width; x++, to += 3) {
        if (b->bits == 24) {
            put_bgr(to, from + 3 * x);
        } else if (b->bits > 8) {
            uint32_t bytes = b->bits / 8, pixel = ig_image_le(from + bytes * x, bytes);
            for (uint32_t c = 0; c < 3; c++) {
                to[c] = by_mask(pixel, b->masks[c]);
            }
        } else {
            int64_t bit = x * b->bits;
            uint32_t shift = 8 - b->bits - (uint32_t)(bit % 8);
            uint32_t index = (uint32_t)from[bit / 8] >> shift & ((1U << b->bits) - 1);
            if (index >= b->palette_count) {
                return ig_image_fail(file, IG_INVALID,
                                     "a pixel has colour %u, of %u colours", index,
                                     b->palette_count);
            }
            put_bgr(to, palette + (size_t)index * b->palette_bytes);
        }
    }
    return IG_OK;
}

static ig_status decode_bmp(const ig_image_file *file, const ig_image_extents *extents,
                            uint8_t *rgb) {
    bitmap b;
    IG_TRY(read_bitmap(file, &b));
    int64_t stride = stride_of(&b);
    for (int64_t y = 0; y < extents->height; y++) {
        int64_t row = b.is_upright ? y : extents->height - 1 - y;
        IG_TRY(put_row(file, &b, file->data + b.pixels + row * stride,
                       rgb + y * extents->width * 3));
    }
    return IG_OK;
}

const ig_image_codec ig_image_bmp = { "BMP", 0, is_bmp, measure_bmp, decode_bmp };
