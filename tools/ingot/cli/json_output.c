/* --json: one JSON value on standard output for every verb and outcome.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/json_output.h"

#include "tools/ingot/cli/console.h"
#include "tools/ingot/cli/streams.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files in memory, so that children write into them too; -1: none. */
static int real_output = -1, kept_output = -1, kept_errors = -1, kept_notes = -1;
static pid_t owner;

static int memory_file(const char *name) {
    int file = memfd_create(name, MFD_CLOEXEC);
    if (file >= 0) {
        (void)fcntl(file, F_SETFL, O_APPEND); /* texts of several ranks do not mix */
    }
    return file;
}

void json_output_begin(void) {
    if (real_output >= 0) {
        return;
    }
    (void)fflush(stdout);
    owner = getpid();
    real_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    kept_output = memory_file("output");
    kept_errors = memory_file("errors");
    kept_notes = memory_file("notes");
    bool is_good = real_output >= 0 && kept_output >= 0 &&
                   dup2(kept_output, STDOUT_FILENO) >= 0;
    if (!is_good && real_output >= 0) {
        (void)close(real_output);
        real_output = -1;
    }
}

static void keep(int file, const char *text) {
    if (file >= 0) {
        (void)!write(file, text, strlen(text) + 1);
    }
}

void json_output_error(const char *text) {
    keep(kept_errors, text);
}

void json_output_note(const char *text) {
    keep(kept_notes, text);
}

/* A zero byte ends all of it; free() it. */
static char *read_back(int file, size_t *out_size) {
    struct stat facts = { 0 };
    size_t size = file >= 0 && fstat(file, &facts) == 0 ? (size_t)facts.st_size : 0;
    char *text = need(calloc(size + 1, 1));
    size_t done = 0;
    for (ssize_t got = 1; done < size && got > 0; done += got > 0 ? (size_t)got : 0) {
        got = pread(file, text + done, size - done, (off_t)done);
    }
    *out_size = done;
    return text;
}

/* ---- values ---- */

static const char *after_string(const char *at) {
    for (at++; *at && *at != '"'; at++) {
        at += *at == '\\' && at[1];
    }
    return *at ? at + 1 : NULL;
}

/* Where the object or array that begins at `at` ends; NULL: it is none, or not
 * whole. */
static const char *after_value(const char *at) {
    size_t depth = 0;
    if (*at != '{' && *at != '[') {
        return NULL;
    }
    while (at && *at) {
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at = *at == '"' ? after_string(at) : at + 1;
        if (depth == 0) {
            return at;
        }
    }
    return NULL;
}

static const char *skip_blanks(const char *at) {
    while (isspace((unsigned char)*at)) {
        at++;
    }
    return at;
}

/* Is all of the text objects and arrays, at least one? */
static bool are_values(const char *text) {
    const char *at = skip_blanks(text);
    bool has_any = *at;
    while (at && *at) {
        at = after_value(at);
        at = at ? skip_blanks(at) : NULL;
    }
    return has_any && at;
}

/* The members of each object, and arrays as "results", each after a comma. */
static void put_members(const char *text) {
    for (const char *at = skip_blanks(text); *at;) {
        const char *end = after_value(at);
        const char *first = skip_blanks(at + 1);
        if (*at == '[') {
            (void)fputs(", \"results\": ", stdout);
            (void)fwrite(at, 1, (size_t)(end - at), stdout);
        } else if (first < end - 1) {
            (void)fputs(", ", stdout);
            (void)fwrite(first, 1, (size_t)(end - 1 - first), stdout);
        }
        at = skip_blanks(end);
    }
}

static void put_texts(const char *name, int file, bool is_always) {
    size_t size;
    char *texts = read_back(file, &size);
    if (size > 0 || is_always) {
        printf(", \"%s\": [", name);
        for (size_t at = 0; at < size; at += strlen(texts + at) + 1) {
            (void)fputs(at ? ", " : "", stdout);
            put_json_text(stdout, texts + at);
        }
        putchar(']');
    }
    free(texts);
}

static void put_error(int exit_status) {
    printf(", \"error\": {\"exit_status\": %d", exit_status);
    put_texts("messages", kept_errors, true);
    put_texts("notes", kept_notes, false);
    putchar('}');
}

/* ---- the end ---- */

/* Output that is not JSON at all was asked for by a format. */
static void put_value(int exit_status, const char *file, const char *text,
                      size_t size) {
    bool is_ours = are_values(text);
    if (exit_status == 0 && size > 0 && !is_ours) {
        (void)fwrite(text, 1, size, stdout);
        return;
    }
    printf("{\"schema\": %d", JSON_SCHEMA);
    if (is_ours) {
        put_members(text);
    } else if (exit_status == 0 && file) {
        (void)fputs(", \"output\": ", stdout);
        put_json_text(stdout, file);
    }
    if (exit_status != 0 && (!is_ours || exit_status != EXIT_FAILED)) {
        put_error(exit_status);
    }
    puts("}");
}

void json_output_end(int exit_status, const char *file) {
    if (real_output < 0 || owner != getpid()) {
        return;
    }
    (void)fflush(stdout);
    size_t size;
    char *text = read_back(kept_output, &size);
    (void)dup2(real_output, STDOUT_FILENO);
    (void)close(real_output);
    real_output = -1;
    put_value(exit_status, file, text, size);
    free(text);
}

void json_output_cut(int exit_status, const char *text) {
    static const char head[] = "{\"schema\": 1, \"error\": {\"exit_status\": ";
    char digits[] = { (char)('0' + exit_status / 100 % 10),
                      (char)('0' + exit_status / 10 % 10),
                      (char)('0' + exit_status % 10), 0 };
    const char *number = exit_status >= 100 ? digits : digits + 2;
    _Static_assert(JSON_SCHEMA == 1, "the head says so");
    if (real_output < 0 || owner != getpid()) {
        return;
    }
    (void)!write(real_output, head, sizeof head - 1);
    (void)!write(real_output, number, strlen(number));
    (void)!write(real_output, ", \"messages\": [\"", 16);
    (void)!write(real_output, text, strlen(text));
    (void)!write(real_output, "\"]}}\n", 5);
}

const char *json_output_clash(const settings *given, bool writes_json) {
    const struct {
        const char *option, *name;
    } files[] = {
        { "-o -", writes_json ? NULL : given->output },
        { "--outputs -", given->outputs_to },
        { "--trace -", given->trace },
        { "--folded -", given->folded },
        { "--html -", given->html },
        { "--svg -", given->svg },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (is_stream(files[i].name)) {
            return files[i].option;
        }
    }
    bool is_other = given->format && strcmp(given->format, "json") != 0 &&
                    strcmp(given->format, "model-explorer") != 0;
    return is_other ? "another --format" : NULL;
}
