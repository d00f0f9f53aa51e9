/* The bulk of a CRC-32, where the processor multiplies polynomials.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_PLATFORM_CRC32_H
#define IG_BASE_PLATFORM_PLATFORM_CRC32_H

#include <stddef.h>
#include <stdint.h>

enum { IG_CRC32_FOLDED = 16 };

/* Takes the first bytes, as many as the result says, and puts IG_CRC32_FOLDED others in
 * their place that leave the same remainder from 0 on.  `rest` is the remainder before
 * them.  0: there are too few bytes, or no such instruction. */
size_t ig_crc32_fold(uint32_t rest, const void *bytes, size_t size, void *folded);

#endif
