/* JPEG, by the system's libturbojpeg.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its functions, declared here from its documentation (libjpeg-turbo's turbojpeg.h):
 * the accurate inverse transform and smooth upsampling, which are what libjpeg does
 * unasked.  It would fit an image into extents that are too small, so the head that is
 * read here need not be trusted.
 */
#include "media/image_codec.h"

#include <string.h>

enum {
    RGB = 0,
    FEW_SCANS = 32768, /* 500 at most */
    WARNING = 0,
    PIXELS_MAX = 512, /* of one byte: a block of 64 has a bit at least */
};

#define FUNCTIONS(F)                                                                 \
    F(void *, tjInitDecompress, (void))                                              \
    F(int, tjDecompress2,                                                            \
      (void *, const unsigned char *, unsigned long, unsigned char *, int, int, int, \
       int, int))                                                                    \
    F(int, tjGetErrorCode, (void *))                                                 \
    F(const char *, tjGetErrorStr2, (void *))                                        \
    F(int, tjDestroy, (void *))

IG_IMAGE_LIBRARY("libturbojpeg.so.0", "libturbojpeg0")

static bool is_jpeg(const ig_image_file *file) {
    return ig_image_begins(file, "\xff\xd8\xff", 3);
}

/* Does the marker begin a frame?  The others from C0 to CF are tables. */
static bool is_frame(uint8_t marker) {
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
           marker != 0xcc;
}

/* A marker with nothing after it. */
static bool is_lone(uint8_t marker) {
    return marker == 0 || marker == 1 || (marker >= 0xd0 && marker <= 0xd8) ||
           marker == 0xff;
}

/* The frame's length, precision, height, width and number of components, at `out`. */
static ig_status find_frame(const ig_image_file *file, const uint8_t **out) {
    const uint8_t *data = file->data;
    size_t at = 2;
    while (file->size - at >= 10) {
        if (data[at] != 0xff || is_lone(data[at + 1])) {
            at++;
            continue;
        }
        uint8_t marker = data[at + 1];
        if (is_frame(marker)) {
            *out = data + at + 2;
            return IG_OK;
        }
        if (marker == 0xda || marker == 0xd9) {
            return ig_image_fail(file, IG_INVALID, "its pixels begin without extents");
        }
        size_t step = 2 + (size_t)ig_image_be(data + at + 2, 2);
        if (step > file->size - at) {
            break;
        }
        at += step;
    }
    return ig_image_cut(file);
}

static ig_status measure_jpeg(const ig_image_file *file,
                              ig_image_extents *out_extents) {
    const uint8_t *frame = NULL;
    IG_TRY(find_frame(file, &frame));
    if (frame[7] == 4) {
        return ig_image_fail(file, IG_UNSUPPORTED, "four inks (CMYK) are not read");
    }
    out_extents->height = ig_image_be(frame + 3, 2);
    out_extents->width = ig_image_be(frame + 5, 2);
    int64_t pixels = out_extents->height * out_extents->width;
    bool is_huffman = frame[-1] <= 0xc2;
    return is_huffman && pixels / PIXELS_MAX > (int64_t)file->size ? ig_image_cut(file)
                                                                   : IG_OK;
}

/* Cameras write bytes between the parts of a file, which harms nothing. */
static bool is_harmless(const functions *f, void *handle) {
    return f->tjGetErrorCode(handle) == WARNING &&
           strstr(f->tjGetErrorStr2(handle), "extraneous bytes");
}

static ig_status decode_jpeg(const ig_image_file *file, const ig_image_extents *extents,
                             uint8_t *rgb) {
    functions f;
    IG_TRY(ig_image_open(file, &library, &f));
    void *handle = f.tjInitDecompress();
    if (!handle) {
        return ig_image_fail(file, IG_LIMIT, "no memory for a decoder");
    }
    int width = (int)extents->width, height = (int)extents->height;
    int result = f.tjDecompress2(handle, file->data, file->size, rgb, width, width * 3,
                                 height, RGB, FEW_SCANS);
    ig_status status = result == 0 || is_harmless(&f, handle)
                           ? IG_OK
                           : ig_image_fail(file, IG_INVALID, "libturbojpeg: %.100s",
                                           f.tjGetErrorStr2(handle));
    (void)f.tjDestroy(handle);
    return status;
}

const ig_image_codec ig_image_jpeg = { "JPEG", 8, is_jpeg, measure_jpeg, decode_jpeg };
