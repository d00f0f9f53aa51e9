/* PNG, by the system's libpng.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its functions and struct png_image, which is versioned, declared here from its
 * documentation (libpng-manual, "The simplified API").  The library is given the chunks
 * that pixels need and no others: so it applies no gamma and no profile, and inflates
 * no text.
 */
#include "media/image_codec.h"

#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 1,
    RGB = 2,
    RGBA = 3,
    WIDE_IS_SRGB = 4, /* samples of 16 bits are as those of 8 */
    SIGNATURE = 8,
    HEAD = 8 + 8 + 13 + 4, /* with the chunk of extents */
    CHUNK = 12,            /* of a chunk, beside its data */
    PACKED_MAX = 1032,     /* bytes that one byte may inflate to */
};

typedef struct image {
    void *opaque;
    uint32_t version, width, height, format, flags, colormap_entries, warning_or_error;
    char message[64];
} image;
_Static_assert(sizeof(image) == 104, "png_image of libpng 1.6");

#define FUNCTIONS(F)                                                                \
    F(int, png_image_begin_read_from_memory, (image *, const void *, size_t))       \
    F(int, png_image_finish_read, (image *, const void *, void *, int32_t, void *)) \
    F(void, png_image_free, (image *))

IG_IMAGE_LIBRARY("libpng16.so.16", "libpng16-16")

static bool is_png(const ig_image_file *file) {
    return ig_image_begins(file, "\x89PNG\r\n\x1a\n", SIGNATURE);
}

/* A pixel that has no such form has one bit: libpng says so later. */
static int64_t bits_of_pixel(uint8_t depth, uint8_t form) {
    static const uint8_t channels[] = { 1, 0, 3, 1, 2, 0, 4 };
    int64_t bits = form < sizeof channels ? (int64_t)depth * channels[form] : 0;
    return bits ? bits : 1;
}

static ig_status measure_png(const ig_image_file *file, ig_image_extents *out_extents) {
    if (file->size < HEAD) {
        return ig_image_cut(file);
    }
    if (memcmp(file->data + 12, "IHDR", 4) != 0) {
        return ig_image_fail(file, IG_INVALID, "it begins without extents");
    }
    out_extents->width = ig_image_be(file->data + 16, 4);
    out_extents->height = ig_image_be(file->data + 20, 4);
    int64_t row =
        (out_extents->width * bits_of_pixel(file->data[24], file->data[25]) + 7) / 8;
    return row > 0 && out_extents->height > (int64_t)file->size * PACKED_MAX / row
               ? ig_image_cut(file)
               : IG_OK;
}

/* Copies the signature and the chunks whose names begin with a capital. */
static ig_status keep_pixels(const ig_image_file *file, uint8_t *out,
                             size_t *out_size) {
    memcpy(out, file->data, SIGNATURE);
    size_t at = SIGNATURE, used = SIGNATURE;
    for (bool is_last = false; !is_last;) {
        size_t left = file->size - at;
        size_t size = left < CHUNK ? 0 : ig_image_be(file->data + at, 4);
        if (left < CHUNK || size > left - CHUNK) {
            return ig_image_cut(file);
        }
        const uint8_t *name = file->data + at + 4;
        is_last = memcmp(name, "IEND", 4) == 0;
        if (name[0] >= 'A' && name[0] <= 'Z') {
            memcpy(out + used, file->data + at, size + CHUNK);
            used += size + CHUNK;
        }
        at += size + CHUNK;
    }
    *out_size = used;
    return IG_OK;
}

static void drop_alpha(const uint8_t *rgba, int64_t count, uint8_t *rgb) {
    for (int64_t i = 0; i < count; i++) {
        memcpy(rgb + 3 * i, rgba + 4 * i, 3);
    }
}

/* `rgba`: room for pixels with alpha, where the file has such. */
static ig_status read_pixels(const ig_image_file *file, const functions *f,
                             uint8_t *rgb, uint8_t *rgba) {
    image i = { .version = VERSION };
    if (f->png_image_begin_read_from_memory(&i, file->data, file->size)) {
        i.format = rgba ? RGBA : RGB;
        i.flags |= WIDE_IS_SRGB;
        if (f->png_image_finish_read(&i, NULL, rgba ? rgba : rgb, 0, NULL)) {
            return IG_OK;
        }
    }
    i.message[sizeof i.message - 1] = 0;
    ig_status status = ig_image_fail(file, IG_INVALID, "libpng: %s", i.message);
    f->png_image_free(&i);
    return status;
}

static ig_status decode_png(const ig_image_file *file, const ig_image_extents *extents,
                            uint8_t *rgb) {
    functions f;
    IG_TRY(ig_image_open(file, &library, &f));
    int64_t count = extents->height * extents->width;
    bool has_alpha = file->data[25] & 4;
    uint8_t *chunks = malloc(file->size), *rgba = NULL;
    if (chunks && has_alpha) {
        rgba = malloc((size_t)count * 4);
    }
    ig_image_file kept = *file;
    kept.data = chunks;
    ig_status status = IG_LIMIT;
    if (!chunks || (has_alpha && !rgba)) {
        (void)ig_image_fail(file, IG_LIMIT, "no memory for %lld pixels",
                            (long long)count);
    } else {
        status = keep_pixels(file, chunks, &kept.size);
    }
    if (status == IG_OK) {
        status = read_pixels(&kept, &f, rgb, rgba);
    }
    if (status == IG_OK && rgba) {
        drop_alpha(rgba, count, rgb);
    }
    free(rgba);
    free(chunks);
    return status;
}

const ig_image_codec ig_image_png = { "PNG", 8, is_png, measure_png, decode_png };
