/* A walk over a zip's central directory.  Private to the archive's files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_ARCHIVE_ZIP_WALK_H
#define IG_FRONTEND_TORCH_ARCHIVE_ZIP_WALK_H

#include "base/str.h"

typedef struct ig_zip_walk {
    ig_str bytes;        /* of the file */
    uint64_t count;      /* entries, as the end record says */
    uint64_t begin, end; /* of the directory */
    uint64_t at;         /* the next header */
    const char *wrong;   /* the defect where a call returned false */
    bool is_foreign;     /* … and it is not damage: a feature that we lack */
} ig_zip_walk;

typedef struct ig_zip_entry {
    ig_str name;
    uint64_t size, packed, header; /* header: offset of the local one */
    uint64_t data;                 /* offset of the data; set by ig_zip_walk_local */
    uint32_t crc;
    uint16_t method, flags;
} ig_zip_entry;

enum { IG_ZIP_STORED = 0, IG_ZIP_DEFLATED = 8 };

/* Finds the directory by the records at the end of the file. */
bool ig_zip_walk_begin(ig_zip_walk *walk, ig_str bytes);
/* The entry at `walk->at`, which moves on; the caller counts. */
bool ig_zip_walk_next(ig_zip_walk *walk, ig_zip_entry *out_entry);
/* Holds the local header against the directory's; tells where the data begin. */
bool ig_zip_walk_local(ig_zip_walk *walk, ig_zip_entry *entry);

#endif
