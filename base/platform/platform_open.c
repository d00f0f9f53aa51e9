/* Opening and closing, whatever signals come.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/platform/platform_open.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int ig_open(const char *path, int flags, unsigned mode) {
    return ig_open_at(AT_FDCWD, path, flags, mode);
}

int ig_open_at(int folder, const char *path, int flags, unsigned mode) {
    int file;
    do {
        file = openat(folder, path, flags, mode);
    } while (file < 0 && errno == EINTR);
    return file;
}

int ig_close(int file) {
    return close(file) == 0 || errno == EINTR ? 0 : -1;
}
