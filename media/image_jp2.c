/* JPEG 2000, by the system's libopenjp2: files (JP2) and bare codestreams.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its functions and structs, declared here from its documentation (openjpeg.h, of
 * version 2).  Extents and tiles are read here before the library sees the file, as it
 * allocates for all tiles that a head names.
 */
#include "media/image_codec.h"

#include <stdio.h>
#include <string.h>

enum {
    CODESTREAM = 0,
    IN_BOXES = 2,
    COLOURS_YCC = 3, /* and more are no RGB */
    STREAM_BYTES = 1 << 16,
    TILE_BYTES = 14, /* at least, of the head of a tile's part */
    SIZES = 4 + 38,  /* the start of a codestream with its sizes */
    COMPONENTS_MAX = 4,
    PARAMETERS = 16384, /* bytes, more than opj_dparameters_t has */
};

typedef struct component {
    uint32_t dx, dy, w, h, x0, y0, prec, bpp, sgnd, resno_decoded, factor;
    int32_t *data;
    uint16_t alpha;
} component;

typedef struct image {
    uint32_t x0, y0, x1, y1, numcomps;
    int color_space;
    component *comps;
    uint8_t *icc_profile_buf;
    uint32_t icc_profile_len;
} image;
_Static_assert(sizeof(component) == 64 && sizeof(image) == 48, "structs of version 2");

typedef void say_fn(const char *, void *);
typedef size_t read_fn(void *, size_t, void *);
typedef int64_t skip_fn(int64_t, void *);
typedef int seek_fn(int64_t, void *);
typedef void free_fn(void *);

#define FUNCTIONS(F)                                               \
    F(void *, opj_stream_create, (size_t, int))                    \
    F(void, opj_stream_destroy, (void *))                          \
    F(void, opj_stream_set_user_data, (void *, void *, free_fn *)) \
    F(void, opj_stream_set_user_data_length, (void *, uint64_t))   \
    F(void, opj_stream_set_read_function, (void *, read_fn *))     \
    F(void, opj_stream_set_skip_function, (void *, skip_fn *))     \
    F(void, opj_stream_set_seek_function, (void *, seek_fn *))     \
    F(void *, opj_create_decompress, (int))                        \
    F(void, opj_destroy_codec, (void *))                           \
    F(int, opj_set_error_handler, (void *, say_fn *, void *))      \
    F(void, opj_set_default_decoder_parameters, (void *))          \
    F(int, opj_setup_decoder, (void *, void *))                    \
    F(int, opj_read_header, (void *, void *, image **))            \
    F(int, opj_decode, (void *, void *, image *))                  \
    F(int, opj_end_decompress, (void *, void *))                   \
    F(void, opj_image_destroy, (image *))

IG_IMAGE_LIBRARY("libopenjp2.so.7", "libopenjp2-7")

static bool has_boxes(const ig_image_file *file) {
    return ig_image_begins(file, "\0\0\0\x0cjP  \r\n\x87\n", 12);
}

static bool is_jp2(const ig_image_file *file) {
    return has_boxes(file) || ig_image_begins(file, "\xff\x4f\xff\x51", 4);
}

/* ---- extents ---- */

/* Where the codestream begins, in a box among others. */
static ig_status find_codestream(const ig_image_file *file, size_t *out_at) {
    size_t at = 0;
    while (has_boxes(file) && file->size - at >= 16) {
        const uint8_t *box = file->data + at;
        uint64_t size = ig_image_be(box, 4), head = 8;
        if (size == 1) {
            size = (uint64_t)ig_image_be(box + 8, 4) << 32 | ig_image_be(box + 12, 4);
            head = 16;
        }
        if (memcmp(box + 4, "jp2c", 4) == 0) {
            *out_at = at + head;
            return IG_OK;
        }
        if (size < head || size > file->size - at) {
            return ig_image_cut(file);
        }
        at += size;
    }
    *out_at = 0;
    return has_boxes(file) ? ig_image_cut(file) : IG_OK;
}

/* Tiles of a row or column of them. */
static uint64_t count_tiles(const uint8_t *end, const uint8_t *size,
                            const uint8_t *start) {
    uint64_t step = ig_image_be(size, 4);
    int64_t length = (int64_t)ig_image_be(end, 4) - ig_image_be(start, 4);
    return step == 0 || length <= 0 ? 0 : ((uint64_t)length + step - 1) / step;
}

static ig_status measure_jp2(const ig_image_file *file, ig_image_extents *out_extents) {
    size_t at;
    IG_TRY(find_codestream(file, &at));
    const uint8_t *head = file->data + at;
    if (file->size - at < SIZES) {
        return ig_image_cut(file);
    }
    if (memcmp(head, "\xff\x4f\xff\x51", 4) != 0) {
        return ig_image_fail(file, IG_INVALID, "its codestream begins without extents");
    }
    out_extents->width = (int64_t)ig_image_be(head + 8, 4) - ig_image_be(head + 16, 4);
    out_extents->height = (int64_t)ig_image_be(head + 12, 4) -
                          ig_image_be(head + 20, 4);
    uint32_t components = ig_image_be(head + 40, 2);
    if (components == 0 || components > COMPONENTS_MAX) {
        return ig_image_fail(file, IG_UNSUPPORTED, "%u components are not read",
                             components);
    }
    uint64_t across = count_tiles(head + 8, head + 24, head + 32),
             down = count_tiles(head + 12, head + 28, head + 36);
    uint64_t max = (file->size - at) / TILE_BYTES;
    if (across == 0 || down == 0 || across > max || down > max / across) {
        return ig_image_fail(file, IG_INVALID,
                             "%llu x %llu tiles are not in so short a file",
                             (unsigned long long)across, (unsigned long long)down);
    }
    return IG_OK;
}

/* ---- the file, as the library sees it ---- */

typedef struct stream {
    const ig_image_file *file;
    size_t at;
    bool has_failed; /* and why is said */
} stream;

static size_t read_stream(void *to, size_t size, void *user) {
    stream *s = user;
    size_t left = s->file->size - s->at, count = size < left ? size : left;
    if (count == 0) {
        return SIZE_MAX; /* the end */
    }
    memcpy(to, s->file->data + s->at, count);
    s->at += count;
    return count;
}

static int seek_stream(int64_t to, void *user) {
    stream *s = user;
    bool is_inside = to >= 0 && (uint64_t)to <= s->file->size;
    s->at = is_inside ? (size_t)to : s->at;
    return is_inside;
}

static int64_t skip_stream(int64_t by, void *user) {
    stream *s = user;
    int64_t left = (int64_t)(s->file->size - s->at);
    if (by < -(int64_t)s->at || left == 0) {
        return -1;
    }
    by = by < left ? by : left;
    s->at = (size_t)((int64_t)s->at + by);
    return by;
}

/* The first thing that is wrong is told, without the end of its line. */
static void note_error(const char *words, void *user) {
    stream *s = user;
    if (!s->has_failed) {
        (void)ig_image_fail(s->file, IG_INVALID, "libopenjp2: %.*s",
                            (int)strcspn(words, "\n"), words);
    }
    s->has_failed = true;
}

static ig_status report_damage(const stream *s) {
    return s->has_failed ? IG_INVALID
                         : ig_image_fail(s->file, IG_INVALID, "it is damaged");
}

/* ---- pixels ---- */

static ig_status check_components(const ig_image_file *file, const image *i,
                                  const ig_image_extents *extents) {
    uint32_t used = i->numcomps < 3 ? 1 : 3;
    if (i->numcomps == 0 || i->numcomps > COMPONENTS_MAX ||
        i->color_space >= COLOURS_YCC) {
        return ig_image_fail(file, IG_UNSUPPORTED,
                             "%u components of colour space %d are not read",
                             i->numcomps, i->color_space);
    }
    for (uint32_t c = 0; c < used; c++) {
        const component *at = &i->comps[c];
        if (at->w != extents->width || at->h != extents->height) {
            return ig_image_fail(file, IG_UNSUPPORTED,
                                 "component %u, of %u x %u, is not read", c, at->w,
                                 at->h);
        }
        if (!at->data || at->prec == 0 || at->prec > 16) {
            return ig_image_fail(file, IG_UNSUPPORTED,
                                 "component %u, of %u bits, is not read", c, at->prec);
        }
    }
    return IG_OK;
}

static void put_component(const component *from, int64_t count, uint8_t *to) {
    int64_t max = (INT64_C(1) << from->prec) - 1;
    int64_t base = from->sgnd ? INT64_C(1) << (from->prec - 1) : 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t value = from->data[i] + base;
        to[3 * i] = ig_image_byte((uint32_t)(value < 0 ? 0 : value), (uint32_t)max);
    }
}

static bool is_as_measured(const image *i, const ig_image_extents *extents) {
    return i->x1 - i->x0 == extents->width && i->y1 - i->y0 == extents->height &&
           i->numcomps <= COMPONENTS_MAX;
}

static ig_status decode_stream(const functions *f, void *codec, void *bytes, stream *s,
                               const ig_image_extents *extents, image **out) {
    _Alignas(16) char parameters[PARAMETERS];
    f->opj_set_default_decoder_parameters(parameters);
    (void)f->opj_set_error_handler(codec, note_error, s);
    bool is_good = f->opj_setup_decoder(codec, parameters) &&
                   f->opj_read_header(bytes, codec, out) &&
                   is_as_measured(*out, extents) && f->opj_decode(codec, bytes, *out) &&
                   f->opj_end_decompress(codec, bytes);
    return is_good ? IG_OK : report_damage(s);
}

static ig_status read_image(const functions *f, stream *s,
                            const ig_image_extents *extents, uint8_t *rgb) {
    void *codec = f->opj_create_decompress(has_boxes(s->file) ? IN_BOXES : CODESTREAM);
    void *bytes = f->opj_stream_create(STREAM_BYTES, 1);
    image *i = NULL;
    ig_status status = IG_LIMIT;
    if (codec && bytes) {
        f->opj_stream_set_user_data(bytes, s, NULL);
        f->opj_stream_set_user_data_length(bytes, s->file->size);
        f->opj_stream_set_read_function(bytes, read_stream);
        f->opj_stream_set_skip_function(bytes, skip_stream);
        f->opj_stream_set_seek_function(bytes, seek_stream);
        status = decode_stream(f, codec, bytes, s, extents, &i);
    } else {
        (void)ig_image_fail(s->file, IG_LIMIT, "no memory for a decoder");
    }
    if (status == IG_OK) {
        status = check_components(s->file, i, extents);
    }
    for (uint32_t c = 0; status == IG_OK && c < 3; c++) {
        put_component(&i->comps[i->numcomps < 3 ? 0 : c],
                      extents->height * extents->width, rgb + c);
    }
    if (i) {
        f->opj_image_destroy(i);
    }
    if (bytes) {
        f->opj_stream_destroy(bytes);
    }
    if (codec) {
        f->opj_destroy_codec(codec);
    }
    return status;
}

static ig_status decode_jp2(const ig_image_file *file, const ig_image_extents *extents,
                            uint8_t *rgb) {
    functions f;
    stream s = { .file = file };
    IG_TRY(ig_image_open(file, &library, &f));
    return read_image(&f, &s, extents, rgb);
}

const ig_image_codec ig_image_jp2 = { "JPEG 2000", 40, is_jp2, measure_jp2,
                                      decode_jp2 };
