/* Stores are opened, values read and cells shown.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/store/store_cells.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHOWN_NUMBERS = 8 };

const ig_store_call *store_call(store_job *job) {
    struct timespec now;
    job->call = (ig_store_call){ .size = sizeof job->call,
                                 .message = job->why.text,
                                 .message_size = sizeof job->why.text };
    if (job->given->has_seconds) {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        job->call.deadline_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec +
                                (int64_t)(job->given->seconds * 1e9);
    }
    return &job->call;
}

int store_open(store_job *job, const char *url, bool must_exist, ig_store **out_store) {
    if (job->given->plugin && !job->store) {
        ig_status status = ig_store_register(job->given->plugin, store_call(job));
        if (status != IG_OK) {
            return report(status, &job->why);
        }
    }
    (void)store_call(job);
    job->call.must_exist = must_exist;
    ig_status status = ig_store_open(url, &job->call, out_store);
    if (status != IG_OK) {
        return report(status, &job->why);
    }
    if (job->why.text[0]) {
        (void)fprintf(stderr, "warning: %s\n", job->why.text);
        job->why.text[0] = 0;
    }
    return 0;
}

/* ---- values ---- */

static int read_file(const char *path, void **out_data, uint64_t *out_bytes) {
    FILE *file = fopen(path, "rbe");
    char *data = NULL;
    size_t used = 0, room = 0, got = 1;
    while (file && got > 0) {
        if (used == room) {
            room = room > 0 ? 2 * room : 4096;
            data = need(realloc(data, room));
        }
        got = fread(data + used, 1, room - used, file);
        used += got;
    }
    bool is_good = file && !ferror(file);
    if (file) {
        (void)fclose(file);
    }
    *out_data = data;
    *out_bytes = used;
    return is_good ? 0 : complain(exit_of(IG_IO), "%s: cannot read", path);
}

int store_read_value(const char *text, void **out_data, uint64_t *out_bytes) {
    size_t count = 1;
    if (text[0] == '@') {
        return read_file(text + 1, out_data, out_bytes);
    }
    for (const char *at = text; *at; at++) {
        count += *at == ',';
    }
    float *values = need(calloc(count, sizeof *values));
    char *end = NULL;
    for (size_t i = 0; i < count; i++, text = end + 1) {
        values[i] = strtof(text, &end);
        if (end == text || *end != (i + 1 < count ? ',' : 0)) {
            free(values);
            return complain(EXIT_USAGE,
                            "'%s' is not a number; numbers are written as 0.5,1,2",
                            text);
        }
    }
    *out_data = values;
    *out_bytes = count * sizeof *values;
    return 0;
}

/* ---- showing ---- */

void store_begin_list(const settings *given) {
    if (given->json) {
        fputs("[", stdout);
    }
}

void store_end_list(const settings *given) {
    if (given->json) {
        puts("]");
    }
}

/* Values as float32 where they can be. */
static void show_values(const ig_store_cell *cell, size_t limit) {
    size_t count = cell->bytes / sizeof(float);
    for (size_t i = 0; i < count && i < limit; i++) {
        float value;
        memcpy(&value, (const char *)cell->data + i * sizeof value, sizeof value);
        printf("%s%.9g", i > 0 ? ", " : "", (double)value);
    }
    fputs(count > limit ? ", …" : "", stdout);
}

static void show_json(const ig_store_cell *cell, bool is_next) {
    fputs(is_next ? ",\n {\"table\": " : "{\"table\": ", stdout);
    put_json_text(stdout, cell->table);
    printf(", \"id\": %" PRId64 ", \"column\": %" PRId64 ", \"state\": %" PRIu32,
           cell->id, cell->column, cell->state);
    if (!cell->data) {
        fputs(", \"bytes\": null}", stdout);
        return;
    }
    printf(", \"bytes\": %zu", cell->bytes);
    if (cell->bytes % sizeof(float) == 0) {
        fputs(", \"values\": [", stdout);
        show_values(cell, SIZE_MAX);
        fputs("]", stdout);
    }
    fputs("}", stdout);
}

void store_show_cell(const settings *given, const ig_store_cell *cell, bool is_next) {
    if (given->json) {
        show_json(cell, is_next);
        return;
    }
    put_plain(stdout, cell->table);
    printf(" %" PRId64, cell->id);
    if (cell->column != 0) {
        printf(" column %" PRId64, cell->column);
    }
    if (cell->state != 0) {
        printf(" state %" PRIu32, cell->state);
    }
    if (!cell->data) {
        puts(": absent");
    } else if (cell->bytes % sizeof(float) != 0) {
        printf(": %zu bytes\n", cell->bytes);
    } else {
        printf(": f32[%zu] ", cell->bytes / sizeof(float));
        show_values(cell, SHOWN_NUMBERS);
        putchar('\n');
    }
}
