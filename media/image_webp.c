/* WebP, by the system's libwebp.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its functions, declared here from its documentation (webp/decode.h).
 */
#include "media/image_codec.h"

#include <string.h>

#define FUNCTIONS(F)                                             \
    F(int, WebPGetInfo, (const uint8_t *, size_t, int *, int *)) \
    F(uint8_t *, WebPDecodeRGBInto, (const uint8_t *, size_t, uint8_t *, size_t, int))

IG_IMAGE_LIBRARY("libwebp.so.7", "libwebp7")

static bool is_webp(const ig_image_file *file) {
    return ig_image_begins(file, "RIFF", 4) && file->size >= 12 &&
           memcmp(file->data + 8, "WEBP", 4) == 0;
}

static ig_status measure_webp(const ig_image_file *file,
                              ig_image_extents *out_extents) {
    functions f;
    int width, height;
    IG_TRY(ig_image_open(file, &library, &f));
    bool is_long = file->size > 20 && memcmp(file->data + 12, "VP8X", 4) == 0;
    if (is_long && file->data[20] & 2) {
        return ig_image_fail(file, IG_UNSUPPORTED, "animations are not read");
    }
    if (!f.WebPGetInfo(file->data, file->size, &width, &height)) {
        return ig_image_fail(file, IG_INVALID, "its header is damaged or cut off");
    }
    *out_extents = (ig_image_extents){ .height = height, .width = width };
    return IG_OK;
}

static ig_status decode_webp(const ig_image_file *file, const ig_image_extents *extents,
                             uint8_t *rgb) {
    functions f;
    IG_TRY(ig_image_open(file, &library, &f));
    int64_t stride = extents->width * 3;
    return f.WebPDecodeRGBInto(file->data, file->size, rgb,
                               (size_t)(stride * extents->height), (int)stride)
               ? IG_OK
               : ig_image_fail(file, IG_INVALID, "its pixels are damaged or cut off");
}

const ig_image_codec ig_image_webp = { "WebP", 8, is_webp, measure_webp, decode_webp };
