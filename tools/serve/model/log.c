/* The log.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/log.h"

#include "tools/serve/call/bytes.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic int lowest_level;

void log_from(log_level lowest) {
    atomic_store(&lowest_level, (int)lowest);
}

/* The first fields of a line. */
static void begin_line(bytes *line, log_level level, const char *event) {
    static const char *const names[] = { "info", "warning", "error" };
    struct timespec now;
    struct tm utc;
    char time[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
    put_format(line, "{\"time\": \"%s.%03ldZ\", \"level\": \"%s\", \"event\": ", time,
               now.tv_nsec / 1000000, names[level]);
    put_string(line, event, strlen(event));
}

static void put_model(bytes *line, const char *model, int64_t version) {
    if (model) {
        put_text(line, ", \"model\": ");
        put_string(line, model, strlen(model));
    }
    if (version) {
        put_format(line, ", \"version\": %lld", (long long)version);
    }
}

static void end_line(bytes *line) {
    put_text(line, "}\n");
    ssize_t written = write(STDERR_FILENO, line->data, line->size);
    (void)written; /* nowhere to say it */
    bytes_free(line);
}

void log_event(log_level level, const char *event, const char *model, int64_t version,
               const char *words) {
    if ((int)level < atomic_load(&lowest_level)) {
        return;
    }
    bytes line = { 0 };
    begin_line(&line, level, event);
    put_model(&line, model, version);
    if (*words) {
        put_text(&line, ", \"words\": ");
        put_string(&line, words, strlen(words));
    }
    end_line(&line);
}

void log_request(const log_span *of) {
    enum { US = 1000 };
    if ((int)LOG_INFO < atomic_load(&lowest_level)) {
        return;
    }
    bytes line = { 0 };
    begin_line(&line, LOG_INFO, "request");
    put_model(&line, of->model, of->version);
    put_format(&line, ", \"trace\": \"%s\", \"parent\": \"%s\", \"status\": %d",
               of->trace, of->parent, of->status);
    put_format(&line, ", \"queue_us\": %lld, \"run_us\": %lld, \"us\": %lld",
               (long long)of->queue_ns / US, (long long)of->run_ns / US,
               (long long)of->all_ns / US);
    end_line(&line);
}
