/* Reads a corpus: a ustar archive of plain files, as tests/fuzz/corpus.py writes it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_FUZZ_ARCHIVE_H
#define IG_TESTS_FUZZ_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARCHIVE_BLOCK = 512, ARCHIVE_NAME_BYTES = 100, ARCHIVE_SIZE_OFFSET = 124 };

/* Reads the next input of `file`: its name, terminated, and its bytes, at most `room`.
 * False after the last one, and where the archive is damaged. */
static inline bool archive_next(FILE *file, char name[ARCHIVE_NAME_BYTES],
                                uint8_t *bytes, size_t room, size_t *out_size) {
    char head[ARCHIVE_BLOCK];
    if (fread(head, 1, sizeof head, file) != sizeof head || !head[0]) {
        return false;
    }
    snprintf(name, ARCHIVE_NAME_BYTES, "%.*s", ARCHIVE_NAME_BYTES - 1, head);
    *out_size = strtoul(head + ARCHIVE_SIZE_OFFSET, NULL, 8);
    long padding = (long)((ARCHIVE_BLOCK - *out_size % ARCHIVE_BLOCK) % ARCHIVE_BLOCK);
    return *out_size <= room && fread(bytes, 1, *out_size, file) == *out_size &&
           fseek(file, padding, SEEK_CUR) == 0;
}

#endif
