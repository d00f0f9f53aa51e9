/* A shared library of an artifact, by the system's compiler driver.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/artifact/emit.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATH_BYTES = 4096 };

/* Runs cc; its own words go to stderr.  -1: it cannot be started. */
static int run_linker(const char *object, const char *library) {
    char *arguments[] = { "cc",
                          "-shared",
                          "-nostdlib",
                          "-o",
                          (char *)(uintptr_t)library,
                          (char *)(uintptr_t)object,
                          NULL };
    pid_t pid;
    int result = 0;
    const char *tool = secure_getenv("CC");
    if (tool && *tool && !strchr(tool, ' ')) {
        arguments[0] = (char *)(uintptr_t)tool;
    }
    if (posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ) != 0) {
        return -1;
    }
    while (waitpid(pid, &result, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(result) ? WEXITSTATUS(result) : 255;
}

static ig_status link_object(ig_context *context, const char *path, const char *object,
                             const char *library) {
    char why[128];
    ig_location where = { .file = path };
    int result = run_linker(object, library);
    if (result == -1 || result == 127) {
        return ig_error_hint(&context->diag, IG_UNSUPPORTED, &where,
                             "install a C compiler, or use --emit=object",
                             "there is no C compiler (cc) to link it");
    }
    if (result != 0) {
        return ig_error(&context->diag, IG_IO, &where, "cc ended with status %d",
                        result);
    }
    ig_status status = ig_file_publish_copy(path, library, why);
    return status == IG_OK
               ? IG_OK
               : ig_error(&context->diag, status, &where, "cannot write: %s", why);
}

/* cc sees names that nobody could guess or that could be taken for an option. */
ig_status ig_emit_shared(ig_context *context, const char *path,
                         const ig_file_part *parts, size_t count) {
    char folder[PATH_BYTES], object[PATH_BYTES + 8], library[PATH_BYTES + 8], why[128];
    const char *base = secure_getenv("TMPDIR");
    ig_location where = { .file = path };
    int size = snprintf(folder, sizeof folder, "%s/ingot-XXXXXX",
                        base && *base == '/' ? base : "/tmp");
    if (size < 0 || size >= PATH_BYTES || !mkdtemp(folder)) {
        return ig_error(&context->diag, IG_IO, &where,
                        "cannot make a folder for the linker: %s", strerror(errno));
    }
    snprintf(object, sizeof object, "%s/x.o", folder);
    snprintf(library, sizeof library, "%s/x.so", folder);
    ig_status status = ig_file_publish(object, parts, count, why);
    status = status == IG_OK
                 ? link_object(context, path, object, library)
                 : ig_error(&context->diag, status, &where, "cannot write: %s", why);
    unlink(object);
    unlink(library);
    rmdir(folder);
    return status;
}
