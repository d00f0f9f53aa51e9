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

void log_event(log_level level, const char *event, const char *model, int64_t version,
               const char *words) {
    static const char *const names[] = { "info", "warning", "error" };
    if ((int)level < atomic_load(&lowest_level)) {
        return;
    }
    struct timespec now;
    struct tm utc;
    char time[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
    bytes line = { 0 };
    put_format(&line, "{\"time\": \"%s.%03ldZ\", \"level\": \"%s\", \"event\": ", time,
               now.tv_nsec / 1000000, names[level]);
    put_string(&line, event, strlen(event));
    if (model) {
        put_text(&line, ", \"model\": ");
        put_string(&line, model, strlen(model));
    }
    if (version) {
        put_format(&line, ", \"version\": %lld", (long long)version);
    }
    if (*words) {
        put_text(&line, ", \"words\": ");
        put_string(&line, words, strlen(words));
    }
    put_text(&line, "}\n");
    ssize_t written = write(STDERR_FILENO, line.data, line.size);
    (void)written; /* nowhere to say it */
    bytes_free(&line);
}
