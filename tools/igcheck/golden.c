/* Reading and writing golden files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/golden.h"

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

static void take_line(golden *one, const char *line, size_t size) {
    take(&one->pipeline, value_of(line, size, "# run:"));
    take(&one->target, value_of(line, size, "# target:"));
    char *error = value_of(line, size, "# expect-error:");
    if (error) {
        size_t bytes = (one->error_count + 1) * sizeof(char *);
        one->errors = must(realloc(one->errors, bytes));
        one->errors[one->error_count++] = error;
    }
}

/* The line after `line`, or the end of the text; `size` is without the line's end. */
static const char *next_line(const char *line, size_t *size) {
    *size = strcspn(line, "\n");
    return line + *size + (line[*size] == '\n');
}

/* ---- cases ---- */

static const char HEADING[] = "# ---- ", HEADING_END[] = " ----";

/* The name in a heading; NULL: another line. */
static char *name_in(const char *line, size_t size) {
    size_t before = strlen(HEADING), after = strlen(HEADING_END);
    bool is_heading = size > before + after && memcmp(line, HEADING, before) == 0 &&
                      memcmp(line + size - after, HEADING_END, after) == 0;
    return is_heading ? copy_text(line + before, size - before - after) : NULL;
}

static void read_case(golden *one) {
    const char *line = one->text;
    while (*line) {
        size_t size;
        const char *next = next_line(line, &size);
        if (size == 9 && memcmp(line, "# expect:", 9) == 0) {
            one->expected = next;
            break;
        }
        take_line(one, line, size);
        line = next;
    }
    one->input_size = (size_t)(line - one->text);
}

static void add_case(golden_file *file, char *name, const char *from, const char *to) {
    file->cases = must(realloc(file->cases, (file->count + 1) * sizeof(golden)));
    golden *one = &file->cases[file->count++];
    *one = (golden){ .path = file->path, .name = name };
    one->text = copy_text(from, (size_t)(to - from));
    read_case(one);
}

static void split(golden_file *file, const char *text) {
    const char *line = text, *from = text;
    char *name = NULL;
    while (*line) {
        size_t size;
        const char *next = next_line(line, &size);
        char *begun = name_in(line, size);
        if (begun && name) {
            add_case(file, name, from, line);
        } else if (begun) {
            file->head = copy_text(text, (size_t)(line - text));
        }
        from = begun ? next : from;
        name = begun ? begun : name;
        line = next;
    }
    add_case(file, name ? name : copy_text("", 0), from, line);
}

bool golden_open(golden_file *file, const char *path) {
    *file = (golden_file){ .path = path };
    char *text = read_all(path);
    if (!text) {
        return false;
    }
    split(file, text);
    free(text);
    return true;
}

void golden_close(golden_file *file) {
    for (size_t i = 0; i < file->count; i++) {
        golden *one = &file->cases[i];
        for (size_t e = 0; e < one->error_count; e++) {
            free(one->errors[e]);
        }
        free(one->errors);
        free(one->pipeline);
        free(one->target);
        free(one->name);
        free(one->text);
        free(one->blessed);
    }
    free(file->cases);
    free(file->head);
    *file = (golden_file){ .path = file->path };
}

/* ---- blessing ---- */

/* The input without its `# expect-error:` lines. */
static void put_input(const golden *one, bool keeps_errors, FILE *out) {
    const char *line = one->text, *end = one->text + one->input_size;
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

void golden_bless(golden *one, const char *output, const char *errors) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = must(open_memstream(&text, &size));
    put_input(one, !output && !errors, out);
    if (errors) {
        put_errors(errors, out);
    }
    if (output) {
        fprintf(out, "# expect:\n%s", output);
    }
    if (fclose(out) != 0) {
        must(NULL);
    }
    free(one->blessed);
    one->blessed = text;
}

bool golden_write(const golden_file *file) {
    FILE *out = fopen(file->path, "wb");
    if (!out) {
        return false;
    }
    fputs(file->head ? file->head : "", out);
    for (size_t i = 0; i < file->count; i++) {
        const golden *one = &file->cases[i];
        if (*one->name) {
            fprintf(out, "%s%s%s\n", HEADING, one->name, HEADING_END);
        }
        fputs(one->blessed ? one->blessed : one->text, out);
    }
    bool is_written = !ferror(out);
    return fclose(out) == 0 && is_written;
}
