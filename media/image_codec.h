/* Declarations shared by the formats of images.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_MEDIA_IMAGE_CODEC_H
#define IG_MEDIA_IMAGE_CODEC_H

#include "media/image.h"

typedef struct ig_image_file {
    const uint8_t *data;
    size_t size;
    const char *format; /* its name, which begins the message */
    char *why;          /* of IG_IMAGE_WHY_BYTES */
} ig_image_file;

typedef struct ig_image_codec {
    const char *name;
    uint32_t
        held; /* bytes for a pixel that decoding holds beside its result, at most */
    bool (*is)(const ig_image_file *file); /* by how the file begins */
    /* Extents as the file says: nothing is checked yet. */
    ig_status (*measure)(const ig_image_file *file, ig_image_extents *out_extents);
    /* [height, width, 3] bytes. */
    ig_status (*decode)(const ig_image_file *file, const ig_image_extents *extents,
                        uint8_t *rgb);
} ig_image_codec;

extern const ig_image_codec ig_image_bmp, ig_image_jpeg, ig_image_jp2, ig_image_png,
    ig_image_pnm, ig_image_tiff, ig_image_webp;

/* Says "FORMAT: …", and returns the status. */
ig_status ig_image_fail(const ig_image_file *file, ig_status status, const char *words,
                        ...) IG_PRINTF(3, 4);
ig_status ig_image_cut(const ig_image_file *file); /* "the file ends too early" */

bool ig_image_begins(const ig_image_file *file, const char *bytes, size_t size);
/* Unsigned numbers, least or most significant byte first; the bytes must be there. */
uint32_t ig_image_le(const uint8_t *at, uint32_t bytes);
uint32_t ig_image_be(const uint8_t *at, uint32_t bytes);
/* 0 … most as 0 … 255, rounded; more than most is 255. */
uint8_t ig_image_byte(uint32_t value, uint32_t max);

/* A library, found by the system's loader, and its functions: a struct of
 * pointers in the order of `names`. */
typedef struct ig_image_library {
    const char *file, *package;
    const char *const *names;
    size_t count;
} ig_image_library;

ig_status ig_image_open(const ig_image_file *file, const ig_image_library *library,
                        void *out_functions);

#define IG_IMAGE_POINTER(result, name, arguments) result(*name) arguments;
#define IG_IMAGE_NAME(result, name, arguments) #name,
/* Of a list FUNCTIONS(F) of F(result, name, arguments): the struct `functions` and the
 * constant `library`. */
#define IG_IMAGE_LIBRARY(library_file, library_package)                             \
    typedef struct functions {                                                      \
        FUNCTIONS(IG_IMAGE_POINTER)                                                 \
    } functions;                                                                    \
    static const char *const names[] = { FUNCTIONS(IG_IMAGE_NAME) };                \
    _Static_assert(sizeof(functions) == sizeof names, "pointers, and no others");   \
    static const ig_image_library library = { library_file, library_package, names, \
                                              IG_COUNT_OF(names) };

#endif
