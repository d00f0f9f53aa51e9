/* CRC-32 as zip files use it: reflected polynomial 0xedb88320.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_CRC32_H
#define IG_BASE_CRC32_H

#include "base/status.h"

/* Tables for eight bytes per step: remainders[k][b] is the remainder of byte b followed
 * by k zero bytes. */
typedef struct ig_crc32 {
    uint32_t remainders[8][256];
} ig_crc32;

void ig_crc32_init(ig_crc32 *tables);
/* The checksum of more bytes after those whose checksum is `crc`; 0 for none yet. */
uint32_t ig_crc32_add(const ig_crc32 *tables, uint32_t crc, const void *bytes,
                      size_t size);

#endif
