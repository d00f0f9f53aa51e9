/* The work that libzip does for an archive.  Private to the archive's files.
 * SPDX-License-Identifier: Apache-2.0
 *
 * No handle of libzip's lives across these calls: running out of arena memory elsewhere
 * unwinds past nothing that would have to be closed. */
#ifndef IG_FRONTEND_TORCH_ARCHIVE_ZIP_LIBRARY_H
#define IG_FRONTEND_TORCH_ARCHIVE_ZIP_LIBRARY_H

#include "frontend/torch/archive/archive.h"
#include "frontend/torch/archive/zip_walk.h"

/* libzip, with all its checks, must find exactly these entries (folders included). */
ig_status ig_zip_confirm(ig_archive *archive, const ig_zip_entry *entries,
                         uint64_t count);
/* Inflates a deflated entry into `buffer` of entry->size bytes. */
ig_status ig_zip_inflate(ig_archive *archive, const ig_archive_entry *entry,
                         char *buffer);

#endif
