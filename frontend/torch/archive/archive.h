/* Archives: the zip files that PyTorch writes.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_archive archive;
 *     IG_TRY(ig_archive_open(&archive, context, arena, path, bytes));
 *     ig_archive_entry *entry = ig_archive_find(&archive, IG_STR("data.pkl"));
 *     ig_archive_span span;
 *     IG_TRY(ig_archive_read(&archive, entry, &span));
 *
 * `bytes` is the whole file (mapped, as a rule by the module that will keep it: see
 * ig_module.files) and outlives the archive and all spans.  A stored entry is a
 * borrowed part of it; a deflated one is inflated into the arena when it is first read.
 * An archive owns nothing but arena memory: there is no close.
 *
 * All entries are below one root folder, which is *not* the file's name (users rename
 * files): it is the part before the first '/' of the first entry, when every entry has
 * the same.  Names here come without it.
 *
 * Nothing in the file is trusted.  Our own walk over the central directory checks every
 * number, every local header, overlaps, double and escaping names; libzip with
 * ZIP_CHECKCONS must then find the very same entries.
 */
#ifndef IG_FRONTEND_TORCH_ARCHIVE_ARCHIVE_H
#define IG_FRONTEND_TORCH_ARCHIVE_ARCHIVE_H

#include "base/context.h"
#include "base/map.h"

typedef enum ig_archive_format {
#define FORMAT(name, words, advice) IG_ARCHIVE_##name,
#include "frontend/torch/archive/formats.def"
#undef FORMAT
    IG_ARCHIVE_FORMAT_COUNT
} ig_archive_format;

typedef struct ig_archive_entry {
    ig_str name;           /* without the root folder; zero-terminated */
    uint64_t size, packed; /* bytes, inflated and as in the file */
    uint64_t offset;       /* of the data, in the file */
    uint32_t crc;          /* 0: not recorded (torch can be told so) */
    uint16_t method;       /* 0 stored, 8 deflated */
    bool is_checked;       /* private: the checksum was found right */
    const char *inflated;  /* private: NULL until read */
} ig_archive_entry;

typedef struct ig_archive {
    ig_context *context;
    ig_arena *arena;
    const char *file; /* for messages */
    ig_str bytes;
    int64_t
        base; /* where they begin in the file: not 0 for an archive in an archive; -1:
                   * nowhere */
    ig_str root; /* with its '/'; empty: a flat zip */
    ig_archive_format format;
    int64_t version; /* TorchScript: 1 to 10; packages: 6; 0 is absent */
    bool is_big_endian;
    ig_archive_entry *entries; /* in the order of the directory; no folders */
    size_t entry_count;
    ig_map names;      /* name -> ig_archive_entry */
    uint64_t inflated; /* bytes so far, bounded by limits.inflate_bytes */
    uint64_t checked;  /* private: stored bytes whose checksum was computed */
    const struct ig_crc32 *crc32; /* private */
} ig_archive;

/* An entry's content. */
typedef struct ig_archive_span {
    ig_str bytes;
    int64_t offset; /* their position in the file; -1: in the arena only */
} ig_archive_span;

/* The format of `bytes`, from the content alone; never reports.  A zip's directory is
 * searched for telling names, loosely: open judges, and names the defect of a zip that
 * is cut or damaged (sniffed as damaged_zip). */
ig_archive_format ig_archive_sniff(ig_str bytes);
/* "a TorchScript archive", and advice, or NULL when it can be read. */
const char *ig_archive_format_words(ig_archive_format format);
const char *ig_archive_format_advice(ig_archive_format format);
/* Reports that `file` is of a format that is not read (UNSUPPORTED; INVALID where it is
 * not a format at all) and returns the status. */
ig_status ig_archive_refuse(ig_context *context, const char *file,
                            ig_archive_format format);

/* Opens a zip.  Format, version and byte order are told and checked, but any format of
 * zip is good here; the importer refuses the others.  `file` outlives the archive. */
ig_status ig_archive_open(ig_archive *archive, ig_context *context, ig_arena *arena,
                          const char *file, ig_str bytes);

/* NULL when there is none. */
ig_archive_entry *ig_archive_find(const ig_archive *archive, ig_str name);
/* The same, but reports that it is missing. */
ig_status ig_archive_need(ig_archive *archive, ig_str name,
                          ig_archive_entry **out_entry);
/* All of an entry, its checksum verified.  Good for data of any size. */
ig_status ig_archive_read(ig_archive *archive, ig_archive_entry *entry,
                          ig_archive_span *out_span);
/* The same for what will be parsed (sources, pickles, small texts): more bytes than
 * limits.source_bytes are refused before anything is inflated. */
ig_status ig_archive_read_text(ig_archive *archive, ig_archive_entry *entry,
                               ig_str *out_text);
/* Where messages about an entry go: file, and the entry's name as the graph. */
ig_location ig_archive_where(const ig_archive *archive, const ig_archive_entry *entry);

#endif
