/* XXH3-128, as plan, code and constants carry it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hash.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

bool ig_hash128_matches(const ig_hash128 *expected, const void *data, size_t size) {
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(data, size));
    return memcmp(&hash, expected->bytes, sizeof hash) == 0;
}

bool ig_hash128_is_zero(const ig_hash128 *hash) {
    static const ig_hash128 zero;
    return memcmp(hash, &zero, sizeof zero) == 0;
}
