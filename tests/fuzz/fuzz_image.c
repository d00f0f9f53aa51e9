/* Encoded images under libFuzzer: a file is refused with words, or decodes to all its
 * pixels in each order.  SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_image
 */
#include "media/image.h"
#include "tests/fuzz/reach.h"

#include <stdlib.h>
#include <string.h>

enum { PIXELS_MAX = 1 << 16, ROOM = 1 << 26 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Forms by how they begin. */
static const struct {
    const char *name, *start;
} forms[] = {
    { "BMP", "BM" },    { "JPEG", "\xff\xd8" },
    { "PBM", "P4" },    { "PGM", "P5" },
    { "PPM", "P6" },    { "PPM as text", "P3" },
    { "PNG", "\x89P" }, { "TIFF", "II" },
    { "WebP", "RI" },   { "codestream", "\xff\x4f" },
};

static const char *name_of(size_t i) {
    return forms[i].name;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    ig_fuzz_reach_begin(IG_COUNT_OF(forms), name_of);
    return 0;
}

static void note_form(const uint8_t *data) {
    for (size_t i = 0; i < IG_COUNT_OF(forms); i++) {
        if (memcmp(data, forms[i].start, 2) == 0) {
            ig_fuzz_reach(i);
        }
    }
}

static void expect_words(ig_status status, const char *why) {
    if (status == IG_INTERNAL || !strstr(why, ": ") ||
        strlen(why) >= IG_IMAGE_WHY_BYTES) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ig_str file = { (const char *)data, size };
    char why[IG_IMAGE_WHY_BYTES] = "";
    ig_image_extents extents;
    ig_status status = ig_image_measure(file, ROOM, &extents, why);
    if (status != IG_OK) {
        expect_words(status, why);
        return 0;
    }
    int64_t count = extents.height * extents.width;
    if (extents.height <= 0 || extents.width <= 0 || count > IG_IMAGE_PIXELS_MAX) {
        abort();
    }
    for (int order = 0; order < IG_IMAGE_ORDER_COUNT && count <= PIXELS_MAX; order++) {
        int64_t bytes = count * ig_image_channels((ig_image_order)order);
        uint8_t *pixels = malloc((size_t)bytes);
        if (!pixels) {
            abort();
        }
        status = ig_image_decode(file, extents, (ig_image_order)order, pixels, why);
        if (status == IG_OK) {
            (void)ig_hash_bytes(pixels, (size_t)bytes, 0);
            note_form(data);
        } else {
            expect_words(status, why);
        }
        free(pixels);
    }
    return 0;
}
