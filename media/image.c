/* Encoded images: which format they have, which are too large, the order of channels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "media/image.h"

#include "base/checked.h"
#include "media/image_codec.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ig_image_codec *const codecs[] = {
    &ig_image_bmp,  &ig_image_jpeg, &ig_image_jp2, &ig_image_png,
    &ig_image_tiff, &ig_image_webp, &ig_image_pnm,
};

/* ---- for the formats ---- */

ig_status ig_image_fail(const ig_image_file *file, ig_status status, const char *words,
                        ...) {
    int used = snprintf(file->why, IG_IMAGE_WHY_BYTES, "%s: ", file->format);
    va_list args;
    va_start(args, words);
    (void)vsnprintf(file->why + used, IG_IMAGE_WHY_BYTES - (size_t)used, words, args);
    va_end(args);
    return status;
}

ig_status ig_image_cut(const ig_image_file *file) {
    return ig_image_fail(file, IG_INVALID, "the file ends too early");
}

bool ig_image_begins(const ig_image_file *file, const char *bytes, size_t size) {
    return file->size >= size && memcmp(file->data, bytes, size) == 0;
}

uint32_t ig_image_le(const uint8_t *at, uint32_t bytes) {
    uint32_t value = 0;
    for (uint32_t i = bytes; i-- > 0;) {
        value = value << 8 | at[i];
    }
    return value;
}

uint32_t ig_image_be(const uint8_t *at, uint32_t bytes) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

uint8_t ig_image_byte(uint32_t value, uint32_t max) {
    assert(max > 0 && "a sample has values");
    uint64_t min = value < max ? value : max;
    return (uint8_t)((min * 255 + max / 2) / max);
}

/* It stays open: whoever reads one image reads more. */
ig_status ig_image_open(const ig_image_file *file, const ig_image_library *library,
                        void *out_functions) {
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool is_there = handle != NULL;
    for (size_t i = 0; is_there && i < library->count; i++) {
        void *found = dlsym(handle, library->names[i]);
        memcpy((char *)out_functions + i * sizeof found, &found, sizeof found);
        is_there = found != NULL;
    }
    return is_there
               ? IG_OK
               : ig_image_fail(file, IG_UNSUPPORTED,
                               "%s is needed, and is not there: install %s (Debian)",
                               library->file, library->package);
}

/* ---- files ---- */

/* NULL: no format known here, and `why` says so. */
static const ig_image_codec *find_codec(ig_image_file *file) {
    for (size_t i = 0; i < IG_COUNT_OF(codecs); i++) {
        if (codecs[i]->is(file)) {
            file->format = codecs[i]->name;
            return codecs[i];
        }
    }
    file->format = "image";
    (void)ig_image_fail(file, IG_INVALID,
                        file->size
                            ? "the %zu bytes are not a BMP, JPEG, JPEG 2000, PNG, "
                              "PNM, TIFF or WebP file"
                            : "there are %zu bytes",
                        file->size);
    return NULL;
}

static ig_status measure_file(const ig_image_codec *codec, const ig_image_file *file,
                              ig_image_extents *out) {
    IG_TRY(codec->measure(file, out));
    int64_t pixels;
    if (out->height <= 0 || out->width <= 0) {
        return ig_image_fail(file, IG_INVALID, "an image of %lld x %lld pixels",
                             (long long)out->width, (long long)out->height);
    }
    if (!ig_mul_i64(out->height, out->width, &pixels) || pixels > IG_IMAGE_PIXELS_MAX) {
        return ig_image_fail(file, IG_LIMIT,
                             "%lld x %lld pixels, at most %lld are read",
                             (long long)out->width, (long long)out->height,
                             (long long)IG_IMAGE_PIXELS_MAX);
    }
    return IG_OK;
}

ig_status ig_image_measure(ig_str bytes, int64_t room, ig_image_extents *out_extents,
                           char why[IG_IMAGE_WHY_BYTES]) {
    ig_image_file file = { (const uint8_t *)bytes.data, bytes.size, NULL, why };
    const ig_image_codec *codec = find_codec(&file);
    if (!codec) {
        return IG_INVALID;
    }
    IG_TRY(measure_file(codec, &file, out_extents));
    int64_t held = out_extents->height * out_extents->width * (codec->held + 3);
    return held <= room
               ? IG_OK
               : ig_image_fail(
                     &file, IG_LIMIT,
                     "decoding %lld x %lld pixels takes %lld bytes, there are %lld",
                     (long long)out_extents->width, (long long)out_extents->height,
                     (long long)held, (long long)room);
}

/* ---- pixels ---- */

int64_t ig_image_channels(ig_image_order order) {
    assert(order < IG_IMAGE_ORDER_COUNT && "an order");
    return order == IG_IMAGE_gray ? 1 : 3;
}

static void swap_ends(uint8_t *pixels, int64_t count) {
    for (int64_t i = 0; i < count; i++, pixels += 3) {
        uint8_t first = pixels[0];
        pixels[0] = pixels[2];
        pixels[2] = first;
    }
}

static void make_gray(const uint8_t *rgb, int64_t count, uint8_t *out) {
    for (int64_t i = 0; i < count; i++, rgb += 3) {
        uint32_t sum = 19595U * rgb[0] + 38470U * rgb[1] + 7471U * rgb[2];
        out[i] = (uint8_t)((sum + 0x8000) >> 16);
    }
}

static ig_status decode_gray(const ig_image_codec *codec, const ig_image_file *file,
                             const ig_image_extents *extents, uint8_t *out) {
    int64_t count = extents->height * extents->width;
    uint8_t *rgb = malloc((size_t)count * 3);
    if (!rgb) {
        return ig_image_fail(file, IG_LIMIT, "no memory for %lld pixels",
                             (long long)count);
    }
    ig_status status = codec->decode(file, extents, rgb);
    if (status == IG_OK) {
        make_gray(rgb, count, out);
    }
    free(rgb);
    return status;
}

ig_status ig_image_decode(ig_str bytes, ig_image_extents extents, ig_image_order order,
                          uint8_t *out, char why[IG_IMAGE_WHY_BYTES]) {
    ig_image_file file = { (const uint8_t *)bytes.data, bytes.size, NULL, why };
    const ig_image_codec *codec = find_codec(&file);
    ig_image_extents found;
    if (!codec) {
        return IG_INVALID;
    }
    IG_TRY(measure_file(codec, &file, &found));
    if (found.height != extents.height || found.width != extents.width) {
        return ig_image_fail(&file, IG_INVALID,
                             "%lld x %lld pixels where %lld x %lld are expected",
                             (long long)found.width, (long long)found.height,
                             (long long)extents.width, (long long)extents.height);
    }
    if (order == IG_IMAGE_gray) {
        return decode_gray(codec, &file, &extents, out);
    }
    IG_TRY(codec->decode(&file, &extents, out));
    if (order == IG_IMAGE_bgr) {
        swap_ends(out, extents.height * extents.width);
    }
    return IG_OK;
}
