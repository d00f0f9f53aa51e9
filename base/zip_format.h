/* The records of a zip file: signatures, and sizes without what varies.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared by all who read or write containers themselves.  Numbers of a zip are
 * little-endian. */
#ifndef IG_BASE_ZIP_FORMAT_H
#define IG_BASE_ZIP_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum {
    IG_ZIP_LOCAL = 0x04034b50,   /* before the data of an entry */
    IG_ZIP_RECORD = 0x02014b50,  /* one per entry: the directory */
    IG_ZIP_END64 = 0x06064b50,   /* after the directory of a large file */
    IG_ZIP_LOCATOR = 0x07064b50, /* of that */
    IG_ZIP_END = 0x06054b50,     /* after everything but a comment */
};

/* The first bytes of a zip: of an entry, or of none. */
#define IG_ZIP_LOCAL_TEXT "PK\3\4"
#define IG_ZIP_END_TEXT "PK\5\6"

enum {
    IG_ZIP_LOCAL_BYTES = 30,
    IG_ZIP_RECORD_BYTES = 46,
    IG_ZIP_END64_BYTES = 56,
    IG_ZIP_LOCATOR_BYTES = 20,
    IG_ZIP_END_BYTES = 22,
    IG_ZIP_EXTRA64 = 1, /* the extra field of numbers that 32 bits do not hold */
};

/* A number of `bytes` bytes, at most 8. */
static inline uint64_t ig_zip_number(const char *at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;) {
        value = value << 8 | (uint8_t)at[i];
    }
    return value;
}

#endif
