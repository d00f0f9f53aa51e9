/* The checksum of zip files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_ARCHIVE_CRC32_H
#define IG_FRONTEND_TORCH_ARCHIVE_CRC32_H

#include "base/status.h"

/* Tables for eight bytes a step: [k][b] is the remainder of byte b with k bytes of zero
 * behind it. */
typedef struct ig_crc32 {
    uint32_t of[8][256];
} ig_crc32;

void ig_crc32_init(ig_crc32 *tables);
uint32_t ig_crc32_of(const ig_crc32 *tables, const void *bytes, size_t size);

#endif
