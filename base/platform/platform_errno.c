/* From errno to a plain phrase.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/platform/platform_errno.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct errno_row {
    int reason;
    const char *phrase;
} errno_row;

static const errno_row rows[] = {
    { ENOENT, "no such file" },
    { ENOTDIR, "a part of the path is not a folder" },
    { EISDIR, "is a folder" },
    { EACCES, "permission denied" },
    { EPERM, "permission denied" },
    { ELOOP, "symbolic links are not followed" },
    { ENAMETOOLONG, "the name is too long" },
    { ENOSPC, "the disk is full" },
    { EDQUOT, "the disk quota is used up" },
    { EROFS, "the file system is read-only" },
    { EFBIG, "the file would be too large" },
    { ENXIO, "not a regular file" },
    { ENOMEM, "out of memory" },
};

void ig_why_set(char *why, const char *phrase) {
    if (why) {
        snprintf(why, IG_WHY_SIZE, "%s", phrase);
    }
}

void ig_errno_explain(int reason, char *why) {
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].reason == reason) {
            ig_why_set(why, rows[i].phrase);
            return;
        }
    }
    char buffer[IG_WHY_SIZE];
    const char *text = strerror_r(reason, buffer, sizeof(buffer)); /* GNU's form */
    ig_why_set(why, text);
}
