/* Which format a file is, from its first bytes and the names of its entries.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/archive/format.h"

#include "base/zip_format.h"
#include "frontend/torch/archive/zip_walk.h"

#include <assert.h>
#include <string.h>

typedef struct format_row {
    const char *words, *advice;
} format_row;

static const format_row formats[] = {
#define FORMAT(name, words, advice) [IG_ARCHIVE_##name] = { words, advice },
#include "frontend/torch/archive/formats.def"
#undef FORMAT
};

const char *ig_archive_format_words(ig_archive_format format) {
    assert(format < IG_ARCHIVE_FORMAT_COUNT && "formats have rows in formats.def");
    return formats[format].words;
}

const char *ig_archive_format_advice(ig_archive_format format) {
    assert(format < IG_ARCHIVE_FORMAT_COUNT && "formats have rows in formats.def");
    return formats[format].advice;
}

ig_status ig_archive_refuse(ig_context *context, const char *file,
                            ig_archive_format format) {
    bool is_none = format == IG_ARCHIVE_unknown || format == IG_ARCHIVE_other_zip ||
                   format == IG_ARCHIVE_damaged_zip || format == IG_ARCHIVE_git_lfs ||
                   format == IG_ARCHIVE_web_page;
    ig_status status = is_none ? IG_INVALID : IG_UNSUPPORTED;
    ig_location where = { .file = file };
    return ig_error_hint(&context->diag, status, &where,
                         ig_archive_format_advice(format), "this is %s",
                         ig_archive_format_words(format));
}

/* ---- by the names of entries ---- */

enum {
    HAS_ARCHIVE_FORMAT = 1,
    HAS_EXPORTED = 2,
    HAS_MODEL_JSON = 4,
    HAS_DATA = 8,
    HAS_CODE = 16, /* code/ or constants.pkl */
    HAS_VERSION = 32,
    HAS_DOT_VERSION = 64,
    HAS_EXTERN = 128,
    HAS_EXPORTED_MODEL = 256,
};

typedef struct mark_row {
    const char *name; /* with a final '/': the entries below it */
    uint32_t mark;
} mark_row;

static const mark_row mark_rows[] = {
    { "archive_format", HAS_ARCHIVE_FORMAT },
    { "serialized_exported_program.json", HAS_EXPORTED },
    { "models/", HAS_EXPORTED_MODEL },
    { "model.json", HAS_MODEL_JSON },
    { "data.pkl", HAS_DATA },
    { "constants.pkl", HAS_CODE },
    { "code/", HAS_CODE },
    { "version", HAS_VERSION },
    { ".data/version", HAS_DOT_VERSION },
    { ".data/extern_modules", HAS_EXTERN },
};

void ig_archive_mark(ig_str name, uint32_t *marks) {
    for (size_t i = 0; i < IG_COUNT_OF(mark_rows); i++) {
        const char *row = mark_rows[i].name;
        bool is_folder = row[strlen(row) - 1] == '/';
        if (is_folder ? ig_str_starts(name, row) : ig_str_is(name, row)) {
            *marks |= mark_rows[i].mark;
        }
    }
}

/* In order: the first row whose `needs` are all there and whose `lacks` are not. */
typedef struct rule_row {
    uint32_t needs, lacks;
    ig_archive_format format;
} rule_row;

static const rule_row rules[] = {
    { HAS_ARCHIVE_FORMAT, 0, IG_ARCHIVE_pt2 },
    { HAS_EXPORTED, 0, IG_ARCHIVE_pt2 },
    { HAS_EXTERN, 0, IG_ARCHIVE_package },
    { HAS_MODEL_JSON, HAS_DATA, IG_ARCHIVE_json_script },
    { HAS_CODE, 0, IG_ARCHIVE_torchscript },
    { HAS_DATA, 0, IG_ARCHIVE_checkpoint },
    { HAS_EXPORTED_MODEL, 0, IG_ARCHIVE_pt2 },
    { HAS_DOT_VERSION, 0, IG_ARCHIVE_package },
};

ig_archive_format ig_archive_format_of(uint32_t marks) {
    for (size_t i = 0; i < IG_COUNT_OF(rules); i++) {
        bool has_all = (marks & rules[i].needs) == rules[i].needs;
        if (has_all && !(marks & rules[i].lacks)) {
            return rules[i].format;
        }
    }
    return IG_ARCHIVE_other_zip;
}

/* ---- by content ---- */

typedef struct magic_row {
    size_t at;
    const char *bytes;
    size_t size;
    ig_archive_format format;
} magic_row;

#define MAGIC(at, text, format) \
    { at, text, sizeof(text) - 1, IG_ARCHIVE_##format }

static const magic_row magics[] = {
    MAGIC(0, IG_ZIP_LOCAL_TEXT, other_zip),
    MAGIC(0, IG_ZIP_END_TEXT, other_zip),
    MAGIC(0, "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", legacy_save),
    MAGIC(4, "PTMF", lite_flatbuffer),
    MAGIC(4, "ET12", executorch),
    MAGIC(0, "PYTORCH1", pytorch1),
    MAGIC(257, "ustar", legacy_tar),
    MAGIC(0, "\x80\x02", raw_pickle),
    MAGIC(0, "\x80\x03", raw_pickle),
    MAGIC(0, "\x80\x04", raw_pickle),
    MAGIC(0, "\x80\x05", raw_pickle),
    MAGIC(0, "(dp", raw_pickle), /* protocols 0 and 1 */
    MAGIC(0, "(lp", raw_pickle),
    MAGIC(0, "}q", raw_pickle),
    MAGIC(0, "]q", raw_pickle),
    MAGIC(0, "ccollections\n", raw_pickle),
    MAGIC(0, "ccopy_reg\n", raw_pickle),
    MAGIC(0, "ctorch", raw_pickle),
    MAGIC(4, "\0\0\0\0{\"", safetensors), /* after the size of its header */
    MAGIC(0, "GGUF", gguf),
    MAGIC(0, "\x89HDF\r\n", hdf5),
    MAGIC(4, "TFL3", tflite),
    MAGIC(0, "\x93NUMPY", numpy),
    MAGIC(0, "\x1f\x8b", compressed),
    MAGIC(0,
          "\xfd"
          "7zXZ",
          compressed),
    MAGIC(0, "\x28\xb5\x2f\xfd", compressed), /* zstd */
    MAGIC(0, "version https://git-lfs", git_lfs),
    MAGIC(0, "<!DOCTYPE", web_page),
    MAGIC(0, "<!doctype", web_page),
    MAGIC(0, "<html", web_page),
};

/* The names of a zip's directory, each with or without the first folder. */
static ig_archive_format sniff_zip(ig_str bytes) {
    ig_zip_walk walk;
    ig_zip_entry entry;
    uint32_t plain = 0, rooted = 0;
    if (!ig_zip_walk_begin(&walk, bytes)) {
        return IG_ARCHIVE_damaged_zip;
    }
    for (uint64_t i = 0; i < walk.count && ig_zip_walk_next(&walk, &entry); i++) {
        ig_str name = entry.name;
        const char *slash = memchr(name.data, '/', name.size);
        ig_archive_mark(name, &plain);
        if (slash) {
            size_t root = (size_t)(slash - name.data) + 1;
            ig_archive_mark((ig_str){ slash + 1, name.size - root }, &rooted);
        }
    }
    ig_archive_format format = ig_archive_format_of(rooted);
    return format != IG_ARCHIVE_other_zip ? format : ig_archive_format_of(plain);
}

ig_archive_format ig_archive_sniff(ig_str bytes) {
    for (size_t i = 0; i < IG_COUNT_OF(magics); i++) {
        const magic_row *row = &magics[i];
        if (bytes.size >= row->at + row->size &&
            memcmp(bytes.data + row->at, row->bytes, row->size) == 0) {
            return row->format == IG_ARCHIVE_other_zip ? sniff_zip(bytes) : row->format;
        }
    }
    return IG_ARCHIVE_unknown;
}
