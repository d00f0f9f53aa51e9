/* The log.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/log.h"

#include <stdatomic.h>

typedef void log_sink(void *user, const ig_log_record *record);

static _Atomic(log_sink *) chosen_sink;
static _Atomic int lowest_level;

void log_to(log_sink *sink, ig_log_level lowest) {
    atomic_store(&chosen_sink, sink);
    atomic_store(&lowest_level, (int)lowest);
}

static void tell(ig_log_level level, const char *code, const char *words,
                 const ig_log_field *fields, size_t count) {
    if ((int)level < atomic_load(&lowest_level)) {
        return;
    }
    log_sink *sink = atomic_load(&chosen_sink);
    ig_log_record record = { .size = sizeof record,
                             .level = level,
                             .component = "serve",
                             .code = code,
                             .words = words,
                             .fields = fields,
                             .field_count = count };
    (sink ? sink : ig_log_json)(NULL, &record);
}

/* Model and version, as far as there are any; returns how many fields that is. */
static size_t put_model(ig_log_field *fields, const char *model, int64_t version) {
    size_t count = 0;
    if (model) {
        fields[count++] = (ig_log_field){ "model", model, 0 };
    }
    if (version) {
        fields[count++] = (ig_log_field){ "version", NULL, version };
    }
    return count;
}

void log_event(ig_log_level level, const char *event, const char *model,
               int64_t version, const char *words) {
    ig_log_field fields[2];
    tell(level, event, words, fields, put_model(fields, model, version));
}

void log_request(const log_span *of) {
    enum { US = 1000 };
    ig_log_field fields[] = { { "trace", of->trace, 0 },
                              { "parent", of->parent, 0 },
                              { "status", NULL, of->status },
                              { "queue_us", NULL, of->queue_ns / US },
                              { "run_us", NULL, of->run_ns / US },
                              { "us", NULL, of->all_ns / US },
                              { 0 },
                              { 0 } };
    enum { OWN = sizeof fields / sizeof *fields - 2 };
    size_t count = OWN + put_model(fields + OWN, of->model, of->version);
    tell(IG_LOG_INFO, "request", "", fields, count);
}
