/* A ZIP archive of stored entries, for harnesses that fuzz what lies in one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_FUZZ_CASE_STORED_ZIP_H
#define IG_TESTS_FUZZ_CASE_STORED_ZIP_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

enum { IG_STORED_ZIP_BYTES = 1 << 20, IG_STORED_ZIP_DIRECTORY = 1 << 14 };

typedef struct ig_stored_zip {
    uint8_t bytes[IG_STORED_ZIP_BYTES], directory[IG_STORED_ZIP_DIRECTORY];
    size_t size, directory_size, count;
} ig_stored_zip;

void ig_stored_zip_begin(ig_stored_zip *zip);
/* Leaves an entry out that there is no room for. */
void ig_stored_zip_add(ig_stored_zip *zip, ig_str name, const void *data, size_t size);
/* The archive, in `zip`. */
ig_str ig_stored_zip_end(ig_stored_zip *zip);

#endif
