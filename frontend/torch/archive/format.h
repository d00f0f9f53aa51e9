/* Telling formats apart.  Private to the archive's files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_ARCHIVE_FORMAT_H
#define IG_FRONTEND_TORCH_ARCHIVE_FORMAT_H

#include "frontend/torch/archive/archive.h"

/* Adds the facts that an entry's name (without root) tells to the set `*marks`. */
void ig_archive_mark(ig_str name, uint32_t *marks);
/* The format of an archive with these marks. */
ig_archive_format ig_archive_format_of(uint32_t marks);

#endif
