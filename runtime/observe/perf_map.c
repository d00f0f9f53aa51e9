/* /tmp/perf-PID.map, which perf report reads: "START SIZE name", in hexadecimal.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Others of this process (an interpreter) may write the same file, so lines are
 * appended, each by one call.  perf takes the file of its own user alone.
 * Format: tools/perf/Documentation/jit-interface.txt of Linux.
 */
#include "runtime/observe/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

ig_status ig_perf_map_add(const ig_observed *kernel, const ig_message *message) {
    char path[64], line[IG_OBSERVE_LABEL_BYTES + 64];
    (void)snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    int size = snprintf(line, sizeof line, "%" PRIxPTR " %zx %s\n",
                        (uintptr_t)kernel->code, kernel->size, kernel->label);
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_written = file >= 0 && write(file, line, (size_t)size) == size;
    int error = errno;
    if (file >= 0) {
        (void)close(file);
    }
    return is_written ? IG_OK
                      : ig_message_set(message, IG_IO, "%s: cannot write: %s", path,
                                       strerror(error));
}
