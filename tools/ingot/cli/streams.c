/* Standard input and output in place of files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/streams.h"

#include "tools/ingot/cli/console.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char taken_folder[] = "/dev/fd/";

/* The file of the stream that was begun: the files that a signal handler has to
 * remove. */
static _Atomic(const char *) begun_path;
static char begun_folder[4096]; /* around it, which nobody else may enter */

void streams_remove_temporary(void) {
    const char *path = atomic_load(&begun_path);
    if (path) {
        unlink(path);
        rmdir(begun_folder); /* of a stream; else there is none of that name */
    }
}

bool is_stream(const char *name) {
    return name && strcmp(name, "-") == 0;
}

bool is_taken_input(const char *path) {
    return strncmp(path, taken_folder, sizeof taken_folder - 1) == 0;
}

/* Copies until the end; false: errno says why. */
static bool copy_all(int from, int to) {
    char block[1 << 16];
    for (;;) {
        ssize_t size = read(from, block, sizeof block);
        if (size == 0) {
            return true;
        }
        if (size < 0 && errno != EINTR) {
            return false;
        }
        for (ssize_t done = 0; done < size;) {
            ssize_t written = write(to, block + done, (size_t)(size - done));
            if (written < 0 && errno != EINTR) {
                return false;
            }
            done += written > 0 ? written : 0;
        }
    }
}

static int take_into(const char **name) {
    static char path[sizeof taken_folder + 12]; /* as long as the process lives */
    int file = memfd_create("stdin", MFD_CLOEXEC);
    if (file < 0 || !copy_all(STDIN_FILENO, file)) {
        return complain(exit_of(IG_IO), "standard input: cannot read: %s",
                        strerror(errno));
    }
    snprintf(path, sizeof path, "%s%d", taken_folder, file);
    *name = path;
    return 0;
}

int streams_take_input(settings *given) {
    const char **model = given->arguments.count ? &given->arguments.items[0] : NULL;
    bool is_model = model && is_stream(*model),
         are_inputs = is_stream(given->inputs_from);
    if (is_model && are_inputs) {
        return complain(EXIT_USAGE, "the model and --inputs cannot both be -");
    }
    return is_model     ? take_into(model)
           : are_inputs ? take_into(&given->inputs_from)
                        : 0;
}

/* ---- files ---- */

static int open_again(const char *path, int flags) {
    int file;
    do {
        file = open(path, flags | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EINTR);
    return file;
}

/* Writes and closes; false: errno says why. */
static bool fill_file(int file, const char *text, size_t size) {
    while (file >= 0 && size) {
        ssize_t written = write(file, text, size);
        if (written < 0 && errno != EINTR) {
            int reason = errno;
            close(file);
            errno = reason;
            return false;
        }
        text += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return file >= 0 && (close(file) == 0 || errno == EINTR);
}

/* The name that the library gives its temporaries, so that it removes those of
 * processes that are gone. */
static char *temporary_beside(const char *path) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    enum { NAME_PART = 200 }; /* so that all of it is no longer than names may be */
    return text_of("%.*s.%.*s.ingot-%ld-0", folder, path, NAME_PART, path + folder,
                   (long)getpid());
}

/* A temporary beside the file takes its name when it is whole. */
static bool replace_file(const char *path, const char *text, size_t size) {
    const char *before = atomic_load(&begun_path); /* of a stream */
    char *temporary = temporary_beside(path);
    int file = open_again(temporary, O_WRONLY | O_CREAT | O_EXCL);
    bool is_made = file >= 0;
    if (is_made) {
        atomic_store(&begun_path, temporary);
    }
    bool is_good = fill_file(file, text, size) && rename(temporary, path) == 0;
    int reason = errno;
    if (is_good) {
        keep_patience();
    } else if (is_made) {
        unlink(temporary);
    }
    atomic_store(&begun_path, before);
    free(temporary);
    errno = reason;
    return is_good;
}

/* An existing path that is not a plain file, such as a pipe, is written into. */
static bool is_device(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

ig_status write_output(const char *path, const char *text, size_t size) {
    progress_clear();
    if (is_stream(path)) {
        fwrite(text, 1, size, stdout);
        return IG_OK; /* main looks whether all was written */
    }
    bool is_written = is_device(path)
                          ? fill_file(open_again(path, O_WRONLY), text, size)
                          : replace_file(path, text, size);
    if (!is_written) {
        complain(0, "%s: cannot write: %s", path, strerror(errno));
        return IG_IO;
    }
    return IG_OK;
}

/* ---- standard output ---- */

char *stream_begin(const char *ending) {
    const char *folder = getenv("TMPDIR");
    int size = snprintf(begun_folder, sizeof begun_folder, "%s/ingot-XXXXXX",
                        folder && *folder ? folder : "/tmp");
    if (size < 0 || (size_t)size >= sizeof begun_folder || !mkdtemp(begun_folder)) {
        complain(0, "%s: cannot write: %s", begun_folder, strerror(errno));
        begun_folder[0] = '\0';
        return NULL;
    }
    char *path = text_of("%s/output%s", begun_folder, ending);
    atomic_store(&begun_path, path);
    return path;
}

static void remove_begun(const char *path) {
    unlink(path);
    rmdir(begun_folder);
}

int stream_send(char *path, bool is_good) {
    int status = 0;
    int file = is_good ? open_again(path, O_RDONLY) : -1;
    remove_begun(path); /* a reader that is gone ends this process */
    fflush(stdout);
    if (is_good && (file < 0 || !copy_all(file, STDOUT_FILENO))) {
        status = complain(exit_of(IG_IO), "standard output: cannot write: %s",
                          strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
    atomic_store(&begun_path, NULL);
    begun_folder[0] = '\0';
    free(path);
    return status;
}
