/* XXH3-128, as plan, code and constants carry it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_HASH_H
#define IG_RUNTIME_HASH_H

#include "runtime/format.h"

bool ig_hash128_matches(const ig_hash128 *expected, const void *data, size_t size);
bool ig_hash128_is_zero(const ig_hash128 *hash);

#endif
