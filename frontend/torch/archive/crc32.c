/* CRC-32 (reflected polynomial 0xedb88320), eight bytes a step.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/archive/crc32.h"

void ig_crc32_init(ig_crc32 *tables) {
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t rest = b;
        for (int bit = 0; bit < 8; bit++) {
            rest = (rest >> 1) ^ (rest & 1 ? 0xedb88320u : 0);
        }
        tables->of[0][b] = rest;
    }
    for (uint32_t b = 0; b < 256; b++) {
        for (int k = 1; k < 8; k++) {
            uint32_t before = tables->of[k - 1][b];
            tables->of[k][b] = (before >> 8) ^ tables->of[0][before & 255];
        }
    }
}

uint32_t ig_crc32_of(const ig_crc32 *tables, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    uint32_t rest = 0xffffffffu;
    for (; size >= 8; at += 8, size -= 8) {
        uint32_t low = rest ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 |
                               (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
        rest = tables->of[7][low & 255] ^ tables->of[6][low >> 8 & 255] ^
               tables->of[5][low >> 16 & 255] ^ tables->of[4][low >> 24] ^
               tables->of[3][at[4]] ^ tables->of[2][at[5]] ^ tables->of[1][at[6]] ^
               tables->of[0][at[7]];
    }
    for (; size > 0; at++, size--) {
        rest = (rest >> 8) ^ tables->of[0][(rest ^ *at) & 255];
    }
    return rest ^ 0xffffffffu;
}
