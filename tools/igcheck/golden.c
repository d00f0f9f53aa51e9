/* Reading and writing golden files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory) {
    if (!memory) {
        fputs("igcheck: out of memory\n", stderr);
        exit(5);
    }
    return memory;
}

char *copy_text(const char *text, size_t size) {
    char *copy = must(malloc(size + 1));
    if (size) {
        memcpy(copy, text, size);
    }
    copy[size] = '\0';
    return copy;
}

static char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    size_t size = 0, capacity = 4096;
    char *text = must(malloc(capacity));
    for (size_t got; (got = fread(text + size, 1, capacity - size - 1, file)) > 0;) {
        size += got;
        if (size + 1 == capacity) {
            capacity *= 2;
            text = must(realloc(text, capacity));
        }
    }
    bool is_read = !ferror(file);
    fclose(file);
    text[size] = '\0';
    if (!is_read) {
        free(text);
        return NULL;
    }
    return text;
}

/* The rest of `line` after `key`, without blanks around it; NULL: another line. */
static char *value_of(const char *line, size_t size, const char *key) {
    size_t length = strlen(key);
    if (size < length || memcmp(line, key, length) != 0) {
        return NULL;
    }
    const char *from = line + length, *to = line + size;
    while (from < to && *from == ' ') {
        from++;
    }
    while (to > from && (to[-1] == ' ' || to[-1] == '\r')) {
        to--;
    }
    return copy_text(from, (size_t)(to - from));
}

static void take(char **slot, char *value) {
    if (value) {
        free(*slot);
        *slot = value;
    }
}

static void take_line(golden *file, const char *line, size_t size) {
    take(&file->pipeline, value_of(line, size, "# run:"));
    take(&file->target, value_of(line, size, "# target:"));
    char *error = value_of(line, size, "# expect-error:");
    if (error) {
        size_t bytes = (file->error_count + 1) * sizeof(char *);
        file->errors = must(realloc(file->errors, bytes));
        file->errors[file->error_count++] = error;
    }
}

bool golden_open(golden *file, const char *path) {
    *file = (golden){ .path = path, .text = read_all(path) };
    if (!file->text) {
        return false;
    }
    const char *line = file->text;
    while (*line) {
        const char *end = strchr(line, '\n');
        const char *next = end ? end + 1 : line + strlen(line);
        size_t size = (size_t)((end ? end : next) - line);
        if (size == 9 && memcmp(line, "# expect:", 9) == 0) {
            file->expected = next;
            break;
        }
        take_line(file, line, size);
        line = next;
    }
    file->input_size = (size_t)(line - file->text);
    return true;
}

void golden_close(golden *file) {
    for (size_t i = 0; i < file->error_count; i++) {
        free(file->errors[i]);
    }
    free(file->errors);
    free(file->pipeline);
    free(file->target);
    free(file->text);
    *file = (golden){ .path = file->path };
}

/* The input without its `# expect-error:` lines. */
static void put_input(const golden *file, bool keeps_errors, FILE *out) {
    const char *line = file->text, *end = file->text + file->input_size;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t size = (size_t)((stop ? stop + 1 : end) - line);
        if (keeps_errors || strncmp(line, "# expect-error:", 15) != 0) {
            fwrite(line, 1, size, out);
        }
        line += size;
    }
}

static void put_errors(const char *errors, FILE *out) {
    while (*errors) {
        size_t size = strcspn(errors, "\n");
        fprintf(out, "# expect-error: %.*s\n", (int)size, errors);
        errors += size + (errors[size] == '\n');
    }
}

bool golden_bless(const golden *file, const char *output, const char *errors) {
    FILE *out = fopen(file->path, "wb");
    if (!out) {
        return false;
    }
    put_input(file, !output && !errors, out);
    if (errors) {
        put_errors(errors, out);
    }
    if (output) {
        fprintf(out, "# expect:\n%s", output);
    }
    return fclose(out) == 0;
}
