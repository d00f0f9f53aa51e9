/* CRC-32: the bulk by products of polynomials, the rest by tables, eight bytes per
 * step.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/crc32.h"

#include "base/platform/platform_crc32.h"

static const uint32_t polynomial = 0xedb88320u;

void ig_crc32_init(ig_crc32 *tables) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; bit++) {
            rest = (rest >> 1) ^ (rest & 1 ? polynomial : 0);
        }
        tables->remainders[0][byte] = rest;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int k = 1; k < 8; k++) {
            uint32_t last = tables->remainders[k - 1][byte];
            tables->remainders[k][byte] = (last >> 8) ^
                                          tables->remainders[0][last & 255];
        }
    }
}

static uint32_t add_by_tables(const uint32_t of[8][256], uint32_t rest,
                              const unsigned char *at, size_t size) {
    for (; size >= 8; at += 8, size -= 8) {
        uint32_t low = rest ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 |
                               (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
        rest = of[7][low & 255] ^ of[6][low >> 8 & 255] ^ of[5][low >> 16 & 255] ^
               of[4][low >> 24] ^ of[3][at[4]] ^ of[2][at[5]] ^ of[1][at[6]] ^
               of[0][at[7]];
    }
    for (; size > 0; at++, size--) {
        rest = (rest >> 8) ^ of[0][(rest ^ *at) & 255];
    }
    return rest;
}

uint32_t ig_crc32_add(const ig_crc32 *tables, uint32_t crc, const void *bytes,
                      size_t size) {
    const unsigned char *at = bytes;
    unsigned char folded[IG_CRC32_FOLDED];
    size_t taken = ig_crc32_fold(~crc, at, size, folded);
    uint32_t rest = taken ? add_by_tables(tables->remainders, 0, folded, sizeof folded)
                          : ~crc;
    return ~add_by_tables(tables->remainders, rest, at + taken, size - taken);
}
