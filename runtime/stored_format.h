/* The entry of an artifact about its tables in stores, byte for byte.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORED_FORMAT_H
#define IG_RUNTIME_STORED_FORMAT_H

#include "runtime/format.h"

#define IG_ENTRY_STORED "stored"
#define IG_ENTRY_IDS "ids" /* an artifact, which computes the ids of look-ups */

#define IG_STORED_MAGIC "ingotSTO"

/* Then the tables, the look-ups, and texts, each followed by a zero byte. */
typedef struct ig_stored_header {
    char magic[8];
    uint32_t version;  /* IG_FORMAT_VERSION */
    uint32_t reserved; /* 0 */
    ig_hash128 hash;   /* of all that follows */
    uint32_t input_count, table_count, lookup_count, text_bytes;
} ig_stored_header;

typedef struct ig_stored_table_record {
    int64_t rows, dim;
    uint32_t dtype;     /* ig_dtype_code */
    uint32_t name, url; /* offsets in the texts */
    uint32_t reserved;
} ig_stored_table_record;

typedef struct ig_stored_lookup_record {
    int64_t padding; /* INT64_MIN: none */
    uint32_t table;
    uint16_t negative, range;
} ig_stored_lookup_record;

/* Numbers of ig_stored_negative and ig_stored_range (stored.h). */
enum { IG_STORED_NEGATIVE_WRAP, IG_STORED_NEGATIVE_WRONG, IG_STORED_NEGATIVE_SKIP };
enum { IG_STORED_RANGE_ERROR, IG_STORED_RANGE_CLAMP, IG_STORED_RANGE_FIRST };

#endif
