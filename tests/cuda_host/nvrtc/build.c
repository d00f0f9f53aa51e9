/* The C++ compiler behind the shim; see the header.
 * SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include "../shim/call.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What C++ leaves open ends the kernel: a GPU faults on misaligned elements, and may do
 * anything where integers overflow. */
static const char flags[] =
    "-std=c++17 -O1 -w -fPIC -shared -ffp-contract=off -fno-exceptions -fno-rtti "
    "-U_FORTIFY_SOURCE -fsanitize=undefined -fsanitize-undefined-trap-on-error "
    "-include " INGOT_SOURCE_DIR "/tests/cuda_host/shim/shim.h";

/* Stands in the library where the name of its architecture goes. */
static const char label[SHIM_ARCHITECTURE_SIZE] = "architecture-of-this-library";

/* ---- kernels of a text ---- */

static bool is_letter(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind the next name, which `*name` and `*length` tell; brackets of launch bounds are
 * read. */
static const char *read_name(const char *at, const char **name, size_t *length,
                             unsigned *max_threads) {
    static const char bounds[] = "__launch_bounds__";
    for (;;) {
        while (*at && !is_letter(*at)) {
            at++;
        }
        *name = at;
        while (is_letter(*at)) {
            at++;
        }
        *length = (size_t)(at - *name);
        if (*length == 4 && !memcmp(*name, "void", 4)) {
            continue;
        }
        if (*length != sizeof bounds - 1 || memcmp(*name, bounds, *length)) {
            return at;
        }
        const char *open = strchr(at, '(');
        *max_threads = open ? (unsigned)strtoul(open + 1, NULL, 10) : 0;
        at = open ? strchr(open, ')') : at;
    }
}

void build_list_kernels(const char *source, build_take_kernel *take, void *user) {
    static const char mark[] = "__global__";
    for (const char *at = strstr(source, mark); at; at = strstr(at, mark)) {
        const char *name;
        size_t length;
        unsigned max_threads = 0;
        at = read_name(at + sizeof mark - 1, &name, &length, &max_threads);
        if (*at == '(') {
            take(user, name, length, max_threads);
        }
    }
}

static void put_kernel(void *file, const char *name, size_t length, unsigned max) {
    fprintf(file, "SHIM_KERNEL(%.*s, %u)\n", (int)length, name, max);
}

/* ---- files ---- */

static char *read_all(FILE *file, size_t *out_size) {
    size_t size = 0, room = 1 << 16, got;
    char *bytes = malloc(room);
    while ((got = fread(bytes + size, 1, room - size - 1, file)) > 0) {
        size += got;
        if (room - size < 2) {
            bytes = realloc(bytes, room *= 2);
        }
    }
    bytes[size] = '\0';
    if (out_size) {
        *out_size = size;
    }
    return bytes;
}

static char *read_file(const char *path, size_t *out_size) {
    FILE *file = fopen(path, "rb");
    char *bytes = file ? read_all(file, out_size) : NULL;
    if (file) {
        fclose(file);
    }
    return bytes;
}

static bool write_unit(const char *path, const char *source) {
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    fprintf(file, "SHIM_EXPORT const char shim_architecture[] = \"%s\";\n", label);
    fprintf(file, "#line 1 \"ingot.cu\"\n%s\n", source);
    build_list_kernels(source, put_kernel, file);
    return fclose(file) == 0;
}

/* ---- the log ---- */

/* "ingot.cu:3:14: error: …" becomes "ingot.cu(3): error: …"; other lines go. */
static char *as_nvrtc_says(char *said) {
    char *log = malloc(strlen(said) + 200), *end = log;
    int errors = 0;
    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
        char *words = strstr(line, "error: ");
        char *colon = strchr(line, ':');
        if (words && colon && colon < words) {
            end += sprintf(end, "%.*s(%d): %s\n\n", (int)(colon - line), line,
                           atoi(colon + 1), words);
            errors++;
        }
    }
    sprintf(end, "%d error%s detected in the compilation of \"ingot.cu\".\n", errors,
            errors == 1 ? "" : "s");
    return log;
}

/* ---- the cache ---- */

static void name_cached(const char *source, char *path, size_t size) {
    const char *folder = getenv("INGOT_STAND_IN_CACHE");
    uint64_t sum[2] = { 14695981039346656037u, 88172645463325252u };
    for (const char *text = flags, *next = source; text; text = next, next = NULL) {
        for (; *text; text++) {
            sum[0] = (sum[0] ^ (unsigned char)*text) * 1099511628211u;
            sum[1] = (sum[1] + (unsigned char)*text) * 6364136223846793005u;
        }
    }
    path[0] = '\0';
    if (folder && folder[0]) {
        snprintf(path, size, "%s/%016llx%016llx.so", folder, (unsigned long long)sum[0],
                 (unsigned long long)sum[1]);
    }
}

/* Whole or not at all, as others may look at the same time. */
static void keep_cached(const char *path, const build *made) {
    char part[600];
    snprintf(part, sizeof part, "%s.%d", path, (int)getpid());
    FILE *file = fopen(part, "wb");
    if (file) {
        bool is_whole = fwrite(made->bytes, 1, made->size, file) == made->size;
        is_whole = fclose(file) == 0 && is_whole;
        if (!is_whole || rename(part, path) != 0) {
            unlink(part);
        }
    }
}

/* ---- building ---- */

static build run_compiler(const char *folder, const char *source) {
    const char *named = getenv("CXX");
    char unit[64], library[64], command[2048];
    build made = { NULL, 0, NULL };
    snprintf(unit, sizeof unit, "%s/unit.cc", folder);
    snprintf(library, sizeof library, "%s/unit.so", folder);
    snprintf(command, sizeof command, "%s %s -o %s %s 2>&1",
             named && named[0] ? named : "c++", flags, library, unit);
    FILE *compiler = write_unit(unit, source) ? popen(command, "r") : NULL;
    char *said = compiler ? read_all(compiler, NULL) : strdup("error: no compiler\n");
    if (compiler && pclose(compiler) == 0) {
        made.bytes = read_file(library, &made.size);
    }
    made.log = made.bytes ? strdup("") : as_nvrtc_says(said);
    free(said);
    unlink(unit);
    unlink(library);
    return made;
}

static void set_architecture(build *made, const char *name) {
    char *at = made->bytes ? memmem(made->bytes, made->size, label, sizeof label)
                           : NULL;
    if (at) {
        snprintf(at, sizeof label, "%s", name);
    }
}

build build_library(const char *source, const char *architecture) {
    char folder[] = "/tmp/ingot-stand-in-XXXXXX", cached[512];
    build made = { NULL, 0, NULL };
    name_cached(source, cached, sizeof cached);
    if (cached[0] && (made.bytes = read_file(cached, &made.size))) {
        made.log = strdup("");
    } else if (mkdtemp(folder)) {
        made = run_compiler(folder, source);
        rmdir(folder);
        if (made.bytes && cached[0]) {
            keep_cached(cached, &made);
        }
    }
    set_architecture(&made, architecture);
    return made;
}

void build_drop(build *made) {
    free(made->bytes);
    free(made->log);
    *made = (build){ NULL, 0, NULL };
}
