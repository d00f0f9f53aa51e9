/* Backends, by the packages of the user's Python.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/profile/backends.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *software, *package; /* NULL: none is needed */
    bool is_default; /* where nobody says which: those that start quickly */
} rows[] = {
    { "ingot-cpu", NULL, true },           { "onnxrt-cpu", "onnxruntime", true },
    { "torch-eager-cpu", "torch", true },  { "torch-inductor-cpu", "torch", false },
    { "openvino-cpu", "openvino", false },
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char probe[] =
    "import importlib.util as u, sys\n"
    "print(*(n for n in sys.argv[1:] if u.find_spec(n) and u.find_spec('numpy')), end='')";

/* The packages of the table that Python finds. */
static bool ask_python(const char *python, char *line, size_t room) {
    extern char **environ;
    char *argv[ROWS + 5] = { (char *)python, "-I", "-c", (char *)probe };
    size_t count = 4;
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].package) {
            argv[count++] = (char *)rows[i].package;
        }
    }
    int pipes[2], status = -1;
    pid_t id;
    posix_spawn_file_actions_t files;
    if (pipe2(pipes, O_CLOEXEC) != 0) {
        return false;
    }
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, pipes[1], 1);
    int failed = posix_spawn(&id, python, &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(pipes[1]);
    size_t size = 0;
    for (ssize_t got = 1; !failed && got > 0 && size + 1 < room; size += (size_t)got) {
        got = read(pipes[0], line + size, room - 1 - size);
        got = got < 0 ? 0 : got;
    }
    line[size] = '\0';
    close(pipes[0]);
    return !failed && waitpid(id, &status, 0) == id && status == 0;
}

/* As a shell finds it: the child has another PATH. */
static bool find_program(const char *name, char path[4096]) {
    const char *at = strchr(name, '/') ? "" : getenv("PATH");
    for (; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        int size = (int)strcspn(at, ":");
        snprintf(path, 4096, "%.*s%s%s", size, at, size ? "/" : "", name);
        if (access(path, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

static void list_software(backend_list *out, const char *found) {
    for (size_t i = 0; i < ROWS; i++) {
        if (!rows[i].package || strstr(found, rows[i].package)) {
            out->software[out->count++] = rows[i].software;
        }
    }
}

static const char *find_software(const backend_list *in, const char *name) {
    for (size_t i = 0; i < in->count; i++) {
        if (strcmp(in->software[i], name) == 0) {
            return in->software[i];
        }
    }
    return NULL;
}

/* ---- presets ---- */

static void fill_default(const backend_list *in, preset *to) {
    to->name = strdup("default");
    for (size_t i = 0; i < ROWS; i++) {
        const char *listed = find_software(in, rows[i].software);
        if (listed && rows[i].is_default) {
            to->software[to->count++] = listed;
        }
    }
}

static bool read_preset(const backend_list *in, const char *text, preset *to,
                        char *words) {
    const char *equals = strchr(text, '=');
    to->name = equals && equals > text ? strndup(text, (size_t)(equals - text)) : NULL;
    char *list = to->name ? strdup(equals + 1) : NULL, *rest = NULL;
    for (char *name = list ? strtok_r(list, ",", &rest) : NULL; name;
         name = strtok_r(NULL, ",", &rest)) {
        const char *listed = find_software(in, name);
        if (!listed || to->count == MAX_BACKENDS) {
            snprintf(words, WORDS, "--preset %.100s: no backend '%.100s' is here", text,
                     name);
            free(list);
            return false;
        }
        to->software[to->count++] = listed;
    }
    free(list);
    if (to->count == 0) {
        snprintf(words, WORDS, "--preset takes NAME=BACKEND,…, not '%.100s'", text);
    }
    return to->count != 0;
}

/* One of the name that is there already is replaced. */
static preset *place_preset(backend_list *in, const char *text) {
    size_t length = strcspn(text, "=");
    for (size_t i = 0; i < in->preset_count; i++) {
        if (strlen(in->presets[i].name) == length &&
            strncmp(in->presets[i].name, text, length) == 0) {
            free(in->presets[i].name);
            in->presets[i] = (preset){ 0 };
            return &in->presets[i];
        }
    }
    return &in->presets[in->preset_count++];
}

bool backends_find(backend_list *out, const char *host, const char *python,
                   const char *const *presets, size_t preset_count, char words[WORDS]) {
    char found[256] = "";
    *out = (backend_list){ 0 };
    if (host) {
        snprintf(out->host, sizeof out->host, "%s", host);
    } else if (gethostname(out->host, sizeof out->host - 1) != 0) {
        strcpy(out->host, "local");
    }
    if (!find_program(python, out->python) ||
        !ask_python(out->python, found, sizeof found)) {
        *found = '\0'; /* no such Python: Ingot is there */
    }
    list_software(out, found);
    out->presets = calloc(preset_count + 1, sizeof *out->presets);
    if (!out->presets) {
        snprintf(words, WORDS, "memory ran out");
        return false;
    }
    fill_default(out, &out->presets[out->preset_count++]);
    for (size_t i = 0; i < preset_count; i++) {
        if (!read_preset(out, presets[i], place_preset(out, presets[i]), words)) {
            return false;
        }
    }
    return true;
}

void backends_free(backend_list *of) {
    for (size_t i = 0; i < of->preset_count; i++) {
        free(of->presets[i].name);
    }
    free(of->presets);
}

const char *backends_get(const backend_list *in, const char *hardware,
                         const char *software) {
    return strcmp(hardware, in->host) == 0 ? find_software(in, software) : NULL;
}
