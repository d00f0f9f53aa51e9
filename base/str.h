/* Borrowed byte spans and small string helpers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_STR_H
#define IG_BASE_STR_H

#include "base/arena.h"

/* A borrowed span; not zero-terminated. */
typedef struct ig_str {
    const char *data;
    size_t size;
} ig_str;

#define IG_STR(literal) ((ig_str){ (literal), sizeof(literal) - 1 })
/* For printf("%.*s", IG_STR_ARG(s)); long strings are cut at 4096 bytes. */
#define IG_STR_ARG(s) ((int)((s).size < 4096 ? (s).size : 4096)), (s).data

ig_str ig_str_of(const char *text); /* NULL gives the empty string */
bool ig_str_equal(ig_str a, ig_str b);
bool ig_str_is(ig_str a, const char *text);
bool ig_str_starts(ig_str a, const char *prefix);
bool ig_str_ends(ig_str a, const char *suffix);
/* 64-bit XXH3. */
uint64_t ig_hash_bytes(const void *bytes, size_t size, uint64_t seed);
/* Well-formed UTF-8 without overlong forms or surrogates? */
bool ig_utf8_is_valid(ig_str text);
/* Whole of `text` as decimal (optional sign); false on anything else or overflow. */
bool ig_str_to_i64(ig_str text, int64_t *out_value);
bool ig_str_to_f64(ig_str text, double *out_value);

#endif
