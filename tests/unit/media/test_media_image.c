/* Encoded images: the same picture in each format, files that are cut off or claim too
 * much.  The files are those of the fuzzer's corpus.
 * SPDX-License-Identifier: Apache-2.0 */
#include "media/image_codec.h"
#include "tests/fuzz/archive.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT = 3, WIDTH = 5, COUNT = HEIGHT * WIDTH, FILE_MAX = 1 << 13 };

static uint8_t bytes[FILE_MAX];
static char why[IG_IMAGE_WHY_BYTES];

static ig_str load(const char *wanted) {
    char name[ARCHIVE_NAME_BYTES] = "";
    size_t size = 0;
    bool is_found = false;
    FILE *file = fopen(INGOT_SOURCE_DIR "/tests/fuzz/corpus/fuzz_image.tar", "rb");
    CHECK(file != NULL);
    while (!is_found && archive_next(file, name, bytes, sizeof bytes, &size)) {
        is_found = strcmp(name, wanted) == 0;
    }
    (void)fclose(file);
    CHECK_MSG(is_found, "%s is not there", wanted);
    return (ig_str){ (const char *)bytes, size };
}

/* An own copy, so that sanitizers see what reads behind it.  `out` has COUNT * 3. */
static ig_status decode(ig_str file, ig_image_order order, uint8_t *out) {
    ig_image_extents extents;
    char *copy = malloc(file.size + 1);
    CHECK(copy != NULL);
    memcpy(copy, file.data, file.size);
    why[0] = 0;
    ig_str same = { copy, file.size };
    ig_status status = ig_image_measure(same, INT64_MAX, &extents, why);
    if (status == IG_OK && (extents.height != HEIGHT || extents.width != WIDTH)) {
        (void)snprintf(why, sizeof why, "test: other extents");
        status = IG_INVALID;
    }
    if (status == IG_OK) {
        status = ig_image_decode(same, extents, order, out, why);
    }
    free(copy);
    return status;
}

static void expect_pixels(const char *name, ig_image_order order,
                          const uint8_t *wanted) {
    uint8_t got[COUNT * 3];
    CHECK_MSG(decode(load(name), order, got) == IG_OK, "%s: %s", name, why);
    for (int64_t i = 0; i < COUNT * ig_image_channels(order); i++) {
        CHECK_MSG(got[i] == wanted[i], "%s: byte %d is %d, expected %d", name, (int)i,
                  got[i], wanted[i]);
    }
}

static void expect_refusal(ig_str file, ig_status wanted, const char *words) {
    ig_image_extents extents;
    uint8_t got[COUNT * 3];
    ig_status status = ig_image_measure(file, INT64_MAX, &extents, why);
    if (status == IG_OK && extents.height == HEIGHT && extents.width == WIDTH) {
        status = ig_image_decode(file, extents, IG_IMAGE_rgb, got, why);
    }
    CHECK_MSG(status == wanted && strstr(why, words), "%d '%s' lacks '%s'", status, why,
              words);
}

static const char *const lossless[] = {
    "plain.bmp", "masks.bmp",  "colours.bmp", "plain.ppm",   "text.ppm",  "plain.png",
    "alpha.png", "plain.tif",  "alpha.tif",   "packed.tif",  "plain.jp2", "alpha.jp2",
    "bare.j2k",  "plain.webp", "alpha.webp",  "colours.png",
};

TEST(all_formats_give_the_same_pixels) {
    static const uint8_t grays[COUNT] = { 29,  41,  54,  66,  78,  88,  100, 112,
                                          124, 137, 146, 159, 171, 183, 195 };
    uint8_t rgb[COUNT * 3], bgr[COUNT * 3];
    for (int i = 0; i < COUNT; i++) {
        bgr[3 * i + 2] = rgb[3 * i] = (uint8_t)(i % WIDTH * 60);
        bgr[3 * i + 1] = rgb[3 * i + 1] = (uint8_t)(i / WIDTH * 100);
        bgr[3 * i] = rgb[3 * i + 2] = (uint8_t)(255 - i % WIDTH * 50);
    }
    for (size_t i = 0; i < IG_COUNT_OF(lossless); i++) {
        expect_pixels(lossless[i], IG_IMAGE_rgb, rgb);
        expect_pixels(lossless[i], IG_IMAGE_bgr, bgr);
        expect_pixels(lossless[i], IG_IMAGE_gray, grays);
    }
    expect_pixels("gray.pgm", IG_IMAGE_gray, grays);
}
END_TEST

/* As Pillow decodes them, whose libjpeg is asked for nothing. */
TEST(jpeg_is_decoded_to_the_bit) {
    static const uint8_t plain[] = { 3,   13,  188, 33,  18,  171, 90,  22,  135,
                                     141, 25,  96,  185, 24,  58,  40,  86,  223,
                                     70,  91,  206, 126, 96,  168, 178, 99,  131,
                                     222, 97,  91,  55,  176, 233, 87,  181, 217,
                                     143, 186, 179, 193, 189, 142, 237, 187, 102 };
    static const uint8_t progressive[] = { 0,   21,  206, 23,  23,  181, 88,  22,  128,
                                           147, 23,  83,  197, 21,  41,  29,  94,  246,
                                           64,  95,  222, 129, 95,  169, 189, 96,  123,
                                           238, 94,  83,  47,  172, 255, 81,  175, 237,
                                           146, 174, 185, 205, 175, 139, 255, 173, 99 };
    static const uint8_t gray[COUNT] = { 30,  40,  55,  68,  76,  88,  98, 113,
                                         126, 134, 146, 157, 172, 185, 192 };
    expect_pixels("plain.jpg", IG_IMAGE_rgb, plain);
    expect_pixels("progressive.jpg", IG_IMAGE_rgb, progressive);
    expect_pixels("gray.jpg", IG_IMAGE_gray, gray);
}
END_TEST

/* No part of a file is an image, but one that lacks no more than its last bytes. */
TEST(files_that_are_cut_off_are_refused) {
    static const char *const others[] = { "plain.jpg", "progressive.jpg", "lossy.webp",
                                          "bits.bmp",  "bits.pbm",        "gray.pgm" };
    for (size_t i = 0; i < IG_COUNT_OF(lossless) + IG_COUNT_OF(others); i++) {
        const char *name = i < IG_COUNT_OF(lossless)
                               ? lossless[i]
                               : others[i - IG_COUNT_OF(lossless)];
        ig_str whole = load(name);
        for (size_t size = 0; size < whole.size; size++) {
            uint8_t got[COUNT * 3];
            ig_status status = decode((ig_str){ whole.data, size }, IG_IMAGE_rgb, got);
            bool is_said = status == IG_INVALID && strchr(why, ':');
            CHECK_MSG(is_said || (status == IG_OK && size + 12 >= whole.size),
                      "%s: %zu of %zu bytes: %d '%s'", name, size, whole.size, status,
                      why);
        }
    }
}
END_TEST

TEST(text_and_narrow_samples_are_widened) {
    static const struct {
        const char *file;
        size_t size;
        uint8_t wanted[6];
    } rows[] = {
#define ROW(text, ...)            \
    {                             \
        text, sizeof(text) - 1, { \
            __VA_ARGS__           \
        }                         \
    }
        ROW("P1 # 9 9\n3 2\n101 0 1 0", 0, 255, 0, 255, 0, 255),
        ROW("P2 3 2 3\n0 1 2\n3 4 0\n", 0, 85, 170, 255, 255, 0),
        ROW("P4 3 2\n\xa0\x40", 0, 255, 0, 255, 0, 255),
        ROW("P5 3 2 65535\n\0\0\x01\x01\x80\x80\xff\xff\0\x7f\0\x81", 0, 1, 128, 255, 0,
            1),
        ROW("P5\n#a\n3\n#b\n2 15\t\0\x01\x02\x03\x0e\x0f", 0, 17, 34, 51, 238, 255),
#undef ROW
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        ig_str file = { rows[i].file, rows[i].size };
        ig_image_extents extents;
        uint8_t got[6];
        CHECK_MSG(ig_image_measure(file, 100, &extents, why) == IG_OK, "%s", why);
        CHECK_INT(extents.height, 2);
        CHECK_INT(extents.width, 3);
        CHECK_MSG(ig_image_decode(file, extents, IG_IMAGE_gray, got, why) == IG_OK,
                  "%s", why);
        CHECK_MSG(memcmp(got, rows[i].wanted, 6) == 0, "row %zu: %d %d %d %d %d %d", i,
                  got[0], got[1], got[2], got[3], got[4], got[5]);
    }
}
END_TEST

TEST(what_is_no_image_is_refused) {
    expect_refusal(IG_STR(""), IG_INVALID, "there are 0 bytes");
    expect_refusal(IG_STR("GIF89a"), IG_INVALID, "the 6 bytes are not a BMP");
    expect_refusal(IG_STR("P5 0 0 255\n"), IG_INVALID, "PNM: an image of 0 x 0 pixels");
    expect_refusal(IG_STR("P5 1 1 0\n."), IG_INVALID, "the largest sample is 0");
    expect_refusal(IG_STR("P5 1 1 65536\n."), IG_INVALID,
                   "the largest sample is 65536");
    expect_refusal(IG_STR("P5 -1 1 255\n."), IG_INVALID, "no number");
    expect_refusal(IG_STR("P5 1234567890 1 255\n."), IG_INVALID, "no number");
    ig_str file = load("plain.png");
    memset(bytes + 16, 0, 8);
    expect_refusal(file, IG_INVALID, "PNG: an image of 0 x 0 pixels");
    file = load("plain.jpg");
    memcpy(bytes + file.size - 16, "\xff\xd9", 2); /* its pixels end */
    expect_refusal(file, IG_INVALID, "JPEG: libturbojpeg: ");
    file = load("plain.bmp");
    bytes[30] = 1;
    expect_refusal(file, IG_UNSUPPORTED, "BMP: packing 1 of 24 bits is not read");
    file = load("colours.bmp");
    bytes[46] = 2; /* colours of its palette */
    expect_refusal(file, IG_INVALID, "of 2 colours");
}
END_TEST

static void put_be(size_t at, uint32_t count, uint32_t value) {
    for (uint32_t i = count; i-- > 0; value >>= 8) {
        bytes[at + i] = (uint8_t)value;
    }
}

static size_t find_byte(ig_str file, const char *text, size_t size) {
    for (size_t i = 0; i + size <= file.size; i++) {
        if (memcmp(file.data + i, text, size) == 0) {
            return i;
        }
    }
    CHECK_MSG(false, "the file is another one");
    return 0;
}

/* Nothing is allocated for what a few bytes claim. */
TEST(huge_extents_in_a_short_file_are_refused) {
    expect_refusal(IG_STR("P6 999999999 999999999 65535\n"), IG_INVALID,
                   "PNM: the file ends too early");
    expect_refusal(IG_STR("P3 999999999 999999999 255\n1 2 3"), IG_INVALID,
                   "the file ends too early");
    ig_str file = load("plain.bmp");
    memset(bytes + 18, 0x7f, 8);
    expect_refusal(file, IG_INVALID, "BMP: the file ends too early");
    memset(bytes + 18, 0x80, 8);
    expect_refusal(file, IG_INVALID, "BMP: an image of -");
    file = load("plain.png");
    memset(bytes + 16, 0x7f, 8);
    expect_refusal(file, IG_INVALID, "PNG: the file ends too early");
    file = load("plain.jpg");
    size_t frame = find_byte(file, "\xff\xc0", 2);
    memset(bytes + frame + 5, 0xff, 4);
    expect_refusal(file, IG_INVALID, "JPEG: the file ends too early");
    bytes[frame + 1] = 0xc9; /* arithmetic coding has no least size */
    expect_refusal(file, IG_LIMIT, "65535 x 65535 pixels, at most 268435456 are read");
    bytes[frame + 9] = 4;
    expect_refusal(file, IG_UNSUPPORTED, "four inks");
    file = load("bare.j2k");
    put_be(8, 4, 1 << 20); /* extents, then tiles */
    put_be(12, 4, 1 << 20);
    expect_refusal(file, IG_INVALID, "tiles are not in so short a file");
    put_be(24, 4, 1 << 20);
    put_be(28, 4, 1 << 20);
    expect_refusal(file, IG_LIMIT, "JPEG 2000: 1048576 x 1048576 pixels");
    file = load("plain.tif");
    size_t width = find_byte(file, "\0\1\4\0\1\0\0\0", 8) + 8;
    bytes[width + 3] = 0x7f;
    expect_refusal(file, IG_LIMIT, "TIFF: 2130706437 x 3 pixels");
}
END_TEST

TEST(images_stay_in_the_room_there_is) {
    ig_str file = load("plain.png");
    ig_image_extents extents;
    CHECK_INT(ig_image_measure(file, COUNT * 11, &extents, why), IG_OK);
    CHECK_INT(ig_image_measure(file, COUNT * 11 - 1, &extents, why), IG_LIMIT);
    CHECK_MSG(strstr(why, "takes 165 bytes, there are 164"), "%s", why);
    uint8_t got[COUNT * 3];
    extents.width++;
    CHECK_INT(ig_image_decode(file, extents, IG_IMAGE_rgb, got, why), IG_INVALID);
    CHECK_MSG(strstr(why, "5 x 3 pixels where 6 x 3 are expected"), "%s", why);
}
END_TEST

TEST(a_missing_library_is_named_with_its_package) {
    static const char *const names[] = { "nothing" };
    static const ig_image_library missing = { "libingot-none.so.1", "libnone1", names,
                                              1 };
    static const ig_image_library another = { "libc.so.6", "libc6", names, 1 };
    ig_image_file file = { .format = "X", .why = why };
    void *function;
    CHECK_INT(ig_image_open(&file, &missing, &function), IG_UNSUPPORTED);
    CHECK_MSG(strcmp(why, "X: libingot-none.so.1 is needed, and is not there: install "
                          "libnone1 (Debian)") == 0,
              "%s", why);
    CHECK_INT(ig_image_open(&file, &another, &function), IG_UNSUPPORTED);
}
END_TEST

UNIT_SUITE(base_image, all_formats_give_the_same_pixels, jpeg_is_decoded_to_the_bit,
           files_that_are_cut_off_are_refused, text_and_narrow_samples_are_widened,
           what_is_no_image_is_refused, huge_extents_in_a_short_file_are_refused,
           images_stay_in_the_room_there_is,
           a_missing_library_is_named_with_its_package)
