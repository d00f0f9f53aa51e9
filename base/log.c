/* The two sinks of logs: lines of text, and of JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/log.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000 };

static const char *const level_names[] = { "info", "warning", "error" };

static void put_time(FILE *to) {
    struct timespec now;
    struct tm utc;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(to, "%s.%03ldZ", text, now.tv_nsec / NS_PER_MS);
}

/* What could end the line or steer a terminal is written as \xNN. */
static void put_plain(FILE *to, const char *text) {
    for (size_t left = strlen(text); left;) {
        size_t length = ig_utf8_plain(text, left);
        if (length) {
            fwrite(text, 1, length, to);
        } else {
            fprintf(to, "\\x%02x", (unsigned char)*text);
        }
        length += !length;
        text += length;
        left -= length;
    }
}

/* A byte that is not UTF-8 becomes U+FFFD. */
static void put_string(FILE *to, const char *text) {
    fputc('"', to);
    for (size_t left = strlen(text); left;) {
        size_t length = ig_utf8_length(text, left);
        if (!length) {
            fputs("\\ufffd", to);
        } else if ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\') {
            fprintf(to, "\\u%04x", (unsigned char)*text);
        } else {
            fwrite(text, 1, length, to);
        }
        length += !length;
        text += length;
        left -= length;
    }
    fputc('"', to);
}

/* `put_name` and `put_text`: how a sink writes these of each field. */
static void put_fields(FILE *to, const ig_log_record *of,
                       void (*put_name)(FILE *to, const char *name),
                       void (*put_text)(FILE *to, const char *text)) {
    for (size_t i = 0; i < of->field_count; i++) {
        const ig_log_field *field = &of->fields[i];
        put_name(to, field->name);
        if (field->text) {
            put_text(to, field->text);
        } else {
            fprintf(to, "%lld", (long long)field->number);
        }
    }
}

static void put_plain_name(FILE *to, const char *name) {
    fprintf(to, " %s=", name);
}

static void put_key(FILE *to, const char *name) {
    fprintf(to, ", \"%s\": ", name);
}

static void put_text_line(FILE *to, const ig_log_record *of) {
    put_time(to);
    fprintf(to, " %s %s %s", level_names[of->level], of->component, of->code);
    put_fields(to, of, put_plain_name, put_plain);
    fputs(*of->words ? ": " : "", to);
    put_plain(to, of->words);
}

static void put_json_line(FILE *to, const ig_log_record *of) {
    fputs("{\"time\": \"", to);
    put_time(to);
    fprintf(to, "\", \"level\": \"%s\", \"component\": \"%s\", \"code\": \"%s\"",
            level_names[of->level], of->component, of->code);
    put_fields(to, of, put_key, put_string);
    if (*of->words) {
        put_key(to, "words");
        put_string(to, of->words);
    }
    fputc('}', to);
}

/* The line goes out by one write, so that those of several threads do not mix. */
static void write_line(const int *descriptor, const ig_log_record *record,
                       void (*put)(FILE *to, const ig_log_record *record)) {
    char *line = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&line, &size);
    if (!to) {
        return; /* nowhere to say it */
    }
    put(to, record);
    fputc('\n', to);
    if (fclose(to) == 0) {
        ssize_t written = write(descriptor ? *descriptor : STDERR_FILENO, line, size);
        (void)written; /* nor here */
    }
    free(line);
}

void ig_log_text(void *descriptor, const ig_log_record *record) {
    write_line(descriptor, record, put_text_line);
}

void ig_log_json(void *descriptor, const ig_log_record *record) {
    write_line(descriptor, record, put_json_line);
}
