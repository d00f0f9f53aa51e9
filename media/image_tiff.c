/* TIFF, by the system's libtiff.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its functions, declared here from its documentation (TIFFOpenOptions(3), since 4.5,
 * TIFFReadRGBAImage(3)).
 */
#include "media/image_codec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 256,
    HEIGHT = 257,
    ORIENTATION = 274, /* a number of 16 bits */
    EXTRA = 338,       /* what samples beyond colours are */
    FACTORED = 1,      /* such a sample: colours are multiplied by it already */
    TOP_LEFT = 1,
    LEFT_BOTTOM = 8,
    MESSAGE = 1024, /* bytes of the decoder's error */
    TILE = 1 << 24, /* bytes of a tile, which may be larger than the image */
    HELD = 16,      /* bytes for a pixel */
};

typedef struct tiff tiff;       /* the library's */
typedef struct options options; /* the library's */
typedef int report_fn(tiff *, void *, const char *, const char *, va_list);
typedef int64_t move_fn(void *, void *, int64_t);
typedef uint64_t seek_fn(void *, uint64_t, int);
typedef int close_fn(void *);
typedef uint64_t size_fn(void *);
typedef int map_fn(void *, void **, uint64_t *);
typedef void unmap_fn(void *, void *, uint64_t);

#define FUNCTIONS(F)                                                                \
    F(options *, TIFFOpenOptionsAlloc, (void))                                      \
    F(void, TIFFOpenOptionsFree, (options *))                                       \
    F(void, TIFFOpenOptionsSetMaxSingleMemAlloc, (options *, int64_t))              \
    F(void, TIFFOpenOptionsSetErrorHandlerExtR, (options *, report_fn *, void *))   \
    F(void, TIFFOpenOptionsSetWarningHandlerExtR, (options *, report_fn *, void *)) \
    F(tiff *, TIFFClientOpenExt,                                                    \
      (const char *, const char *, void *, move_fn *, move_fn *, seek_fn *,         \
       close_fn *, size_fn *, map_fn *, unmap_fn *, options *))                     \
    F(int, TIFFGetField, (tiff *, uint32_t, ...))                                   \
    F(int, TIFFSetField, (tiff *, uint32_t, ...))                                   \
    F(int, TIFFRGBAImageOK, (tiff *, char *))                                       \
    F(int, TIFFReadRGBAImageOriented,                                               \
      (tiff *, uint32_t, uint32_t, uint32_t *, int, int))                           \
    F(void, TIFFClose, (tiff *))

IG_IMAGE_LIBRARY("libtiff.so.6", "libtiff6")

static bool is_tiff(const ig_image_file *file) {
    return ig_image_begins(file, "II*\0", 4) || ig_image_begins(file, "MM\0*", 4) ||
           ig_image_begins(file, "II+\0", 4) || ig_image_begins(file, "MM\0+", 4);
}

/* ---- the file, as the library sees it ---- */

typedef struct stream {
    const ig_image_file *file;
    uint64_t at;
    bool has_failed; /* and why is said */
} stream;

static int64_t read_stream(void *user, void *to, int64_t size) {
    stream *s = user;
    uint64_t left = s->at < s->file->size ? s->file->size - s->at : 0;
    uint64_t count = size < 0 ? 0 : (uint64_t)size < left ? (uint64_t)size : left;
    if (count) {
        memcpy(to, s->file->data + s->at, count);
    }
    s->at += count;
    return (int64_t)count;
}

static int64_t write_stream(void *user, void *from, int64_t size) {
    (void)user;
    (void)from;
    (void)size;
    return -1;
}

static uint64_t seek_stream(void *user, uint64_t by, int whence) {
    stream *s = user;
    s->at = by + (whence == SEEK_CUR ? s->at : whence == SEEK_END ? s->file->size : 0);
    return s->at;
}

static int close_stream(void *user) {
    (void)user;
    return 0;
}

static uint64_t size_stream(void *user) {
    return ((const stream *)user)->file->size;
}

/* Into memory of the library's own. */
static int map_stream(void *user, void **out_base, uint64_t *out_size) {
    (void)user;
    *out_base = NULL;
    *out_size = 0;
    return 0;
}

static void unmap_stream(void *user, void *base, uint64_t size) {
    (void)user;
    (void)base;
    (void)size;
}

/* The first thing that is wrong is told. */
static int note_error(tiff *t, void *user, const char *module, const char *format,
                      va_list args) {
    (void)t;
    (void)module;
    stream *s = user;
    char text[100];
    (void)vsnprintf(text, sizeof text, format, args);
    if (!s->has_failed) {
        (void)ig_image_fail(s->file, IG_INVALID, "libtiff: %s", text);
    }
    s->has_failed = true;
    return 1;
}

static int ignore_warning(tiff *t, void *user, const char *module, const char *format,
                          va_list args) {
    (void)t;
    (void)user;
    (void)module;
    (void)format;
    (void)args;
    return 1;
}

/* Nothing is allocated that `pixels` and a file of this size do not need. */
static tiff *open_tiff(const functions *f, stream *s, int64_t pixels) {
    options *o = f->TIFFOpenOptionsAlloc();
    if (!o) {
        return NULL;
    }
    f->TIFFOpenOptionsSetMaxSingleMemAlloc(o, TILE + (int64_t)s->file->size +
                                                  HELD * pixels);
    f->TIFFOpenOptionsSetErrorHandlerExtR(o, note_error, s);
    f->TIFFOpenOptionsSetWarningHandlerExtR(o, ignore_warning, s);
    tiff *t = f->TIFFClientOpenExt("image", "rm", s, read_stream, write_stream,
                                   seek_stream, close_stream, size_stream, map_stream,
                                   unmap_stream, o);
    f->TIFFOpenOptionsFree(o);
    return t;
}

static ig_status report_damage(const stream *s, const char *words) {
    return s->has_failed ? IG_INVALID
                         : ig_image_fail(s->file, IG_INVALID, "%.120s", words);
}

/* ---- pixels ---- */

static ig_status measure_tiff(const ig_image_file *file,
                              ig_image_extents *out_extents) {
    functions f;
    stream s = { .file = file };
    uint32_t width = 0, height = 0;
    uint16_t orientation = TOP_LEFT;
    IG_TRY(ig_image_open(file, &library, &f));
    tiff *t = open_tiff(&f, &s, 0);
    if (!t) {
        return report_damage(&s, "its header is damaged or cut off");
    }
    bool is_sized = f.TIFFGetField(t, WIDTH, &width) &&
                    f.TIFFGetField(t, HEIGHT, &height);
    (void)f.TIFFGetField(t, ORIENTATION, &orientation);
    f.TIFFClose(t);
    if (!is_sized) {
        return report_damage(&s, "it has no extents");
    }
    if (orientation > 4 && orientation <= LEFT_BOTTOM) {
        return ig_image_fail(
            file, IG_UNSUPPORTED,
            "images of orientation %u (turned by 90 degrees) are not read",
            orientation);
    }
    *out_extents = (ig_image_extents){ .height = height, .width = width };
    return IG_OK;
}

/* The library multiplies colours by an alpha that the file says they lack, where all
 * other formats leave them as they are; so it is told that they have it. */
static void keep_colours(const functions *f, tiff *t) {
    uint16_t count = 0, *kinds = NULL, factored[] = { FACTORED };
    if (f->TIFFGetField(t, EXTRA, &count, &kinds) && count == 1) {
        (void)f->TIFFSetField(t, EXTRA, 1, factored);
    }
}

static ig_status read_raster(const functions *f, tiff *t, stream *s,
                             const ig_image_extents *extents, uint8_t *rgb) {
    char why[MESSAGE] = "";
    int64_t count = extents->height * extents->width;
    keep_colours(f, t);
    if (!f->TIFFRGBAImageOK(t, why)) {
        return ig_image_fail(s->file, IG_UNSUPPORTED, "libtiff: %.100s", why);
    }
    uint32_t *raster = calloc((size_t)count, sizeof *raster);
    if (!raster) {
        return ig_image_fail(s->file, IG_LIMIT, "no memory for %lld pixels",
                             (long long)count);
    }
    ig_status status = IG_OK;
    if (!f->TIFFReadRGBAImageOriented(t, (uint32_t)extents->width,
                                      (uint32_t)extents->height, raster, TOP_LEFT, 1)) {
        status = report_damage(s, "its pixels are damaged or cut off");
    }
    for (int64_t i = 0; status == IG_OK && i < 3 * count; i++) {
        rgb[i] = (uint8_t)(raster[i / 3] >> i % 3 * 8);
    }
    free(raster);
    return status;
}

static ig_status decode_tiff(const ig_image_file *file, const ig_image_extents *extents,
                             uint8_t *rgb) {
    functions f;
    stream s = { .file = file };
    IG_TRY(ig_image_open(file, &library, &f));
    tiff *t = open_tiff(&f, &s, extents->height * extents->width);
    if (!t) {
        return report_damage(&s, "its header is damaged or cut off");
    }
    ig_status status = read_raster(&f, t, &s, extents, rgb);
    f.TIFFClose(t);
    return status;
}

const ig_image_codec ig_image_tiff = { "TIFF", HELD, is_tiff, measure_tiff,
                                       decode_tiff };
