/* Encoded images, decoded: BMP and PNM here, the others by the system's libraries,
 * which are opened when one is used.
 * SPDX-License-Identifier: Apache-2.0
 *
 * JPEG by libturbojpeg, PNG by libpng, TIFF by libtiff, JPEG 2000 by libopenjp2, WebP
 * by libwebp.  An image is what its pixels say: transparency is left out, profiles and
 * gamma are not applied, and of a file with several images the first is taken.  Samples
 * of other widths become 8 bits, rounded.
 *
 * Nobody need trust a file: extents are bounded before anything is allocated, and what
 * is damaged is an error.
 */
#ifndef IG_MEDIA_IMAGE_H
#define IG_MEDIA_IMAGE_H

#include "base/status.h"
#include "base/str.h"

enum { IG_IMAGE_WHY_BYTES = 160 };

/* Of one image. */
#define IG_IMAGE_PIXELS_MAX (INT64_C(1) << 28)

typedef enum ig_image_order {
    IG_IMAGE_rgb,
    IG_IMAGE_bgr,
    IG_IMAGE_gray, /* (19595 R + 38470 G + 7471 B) / 65536, rounded */
    IG_IMAGE_ORDER_COUNT
} ig_image_order;

typedef struct ig_image_extents {
    int64_t height, width; /* pixels, at least 1 each */
} ig_image_extents;

/* Channels of a pixel. */
int64_t ig_image_channels(ig_image_order order);

/* How large the image of `file` is.  `room`: bytes that decoding may hold beside its
 * result.  IG_INVALID: it is damaged or of no format known here; IG_UNSUPPORTED: of a
 * form that is not read, or its library is not there; IG_LIMIT: it is too large.  `why`
 * says so, and which package has the library. */
ig_status ig_image_measure(ig_str file, int64_t room, ig_image_extents *out_extents,
                           char why[IG_IMAGE_WHY_BYTES]);
/* Writes u8 [height, width, channels] to `out`; the extents must be those of the file.
 * Errors as above. */
ig_status ig_image_decode(ig_str file, ig_image_extents extents, ig_image_order order,
                          uint8_t *out, char why[IG_IMAGE_WHY_BYTES]);

#endif
