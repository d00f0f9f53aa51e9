/* Traces: events by thread, in JSON of the "trace event format".
 * SPDX-License-Identifier: Apache-2.0
 *
 * An event with "ph": "X" lasts from ts for dur, in microseconds; on one track events
 * are beside or inside each other, as calls do on one thread.  A file holds an event a
 * line, the outer one first.
 */
#include "tools/ingot/measure/trace.h"

#include "tools/ingot/measure/clock.h"

#include "tools/ingot/cli/streams.h"

#include <stdlib.h>

enum { MAX_EVENTS = 1 << 19 }; /* about 100 MB of text */

typedef struct trace_file {
    FILE *file;
    const profile_table *table;
    ig_step_event *events;
    size_t count;
} trace_file;

/* By begin; of two that begin together the longer one is around the other. */
static int compare_events(const void *a, const void *b) {
    const ig_step_event *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static void put_thread_names(trace_file *t) {
    uint32_t threads = 1;
    for (size_t i = 0; i < t->count; i++) {
        threads = t->events[i].thread < threads ? threads : t->events[i].thread + 1;
    }
    fputs("\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": 0, "
          "\"args\": {\"name\": \"ingot profile\"}}",
          t->file);
    for (uint32_t i = 0; i < threads; i++) {
        fprintf(
            t->file,
            ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %u, "
            "\"args\": {\"name\": \"%s %u\"}}",
            i, i ? "worker" : "caller", i);
    }
}

static void put_event(trace_file *t, const ig_step_event *event) {
    const ig_step_profile *step = &t->table->rows[event->step].step;
    fputs(",\n{\"name\": ", t->file);
    put_json_text(t->file, step->name[0] ? step->name : step->kind);
    fprintf(t->file,
            ", \"cat\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": %u, "
            "\"ts\": %.3f, \"dur\": %.3f, \"args\": {\"step\": %u, \"tiles\": %lld, ",
            step->kind, event->thread, (double)event->begin_ns * 1e-3,
            (double)(event->end_ns - event->begin_ns) * 1e-3, event->step,
            (long long)event->tiles);
    profile_put_sources(t->file, t->table->sources, event->step);
    fputs("}}", t->file);
}

static ig_status write_events(const char *path, trace_file *t) {
    char *text = NULL;
    size_t size = 0;
    t->file = need(open_memstream(&text, &size));
    qsort(t->events, t->count, sizeof *t->events, compare_events);
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", t->file);
    put_thread_names(t);
    for (size_t i = 0; i < t->count; i++) {
        put_event(t, &t->events[i]);
    }
    fputs("\n]}\n", t->file);
    bool is_whole = fclose(t->file) == 0;
    ig_status status = write_output(path, need(is_whole ? text : NULL), size);
    free(text);
    return status;
}

static int compare_ns(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The measurement in between has emptied the caches, and the events' memory is new:
 * some runs go before the one that is kept, which takes no longer than half of them. */
static ig_status trace_warm(ig_session *session, ig_step_profile *steps, size_t count,
                            ig_step_events *events) {
    enum { WARM_RUNS = 9, MAX_RUNS = 40 };
    int64_t took[MAX_RUNS] = { 0 }, ns = 0, median = INT64_MAX;
    double end = clock_seconds() + 1;
    ig_status status = IG_OK;
    for (size_t i = 0; i < MAX_RUNS && status == IG_OK; i++) {
        events->count = 0;
        status = ig_session_trace(session, steps, count, events, &ns);
        bool is_last = clock_seconds() >= end || was_interrupted();
        if (i < WARM_RUNS) {
            took[i] = ns;
            qsort(took, i + 1, sizeof *took, compare_ns);
            median = took[i / 2];
        }
        if (is_last || (i >= WARM_RUNS && ns <= median)) {
            break;
        }
    }
    return status;
}

ig_status trace_write(const settings *given, ig_session *session,
                      const profile_table *table) {
    trace_file t = { .table = table };
    ig_step_profile *steps = need(calloc(table->count + 1, sizeof *steps));
    t.events = need(calloc(MAX_EVENTS, sizeof *t.events));
    ig_step_events events = { t.events, MAX_EVENTS, 0 };
    ig_status status = trace_warm(session, steps, table->count, &events);
    if (status == IG_OK) {
        t.count = events.count < MAX_EVENTS ? events.count : MAX_EVENTS;
        if (events.count > t.count) {
            note(given, "%s: the first %zu of %zu events", given->trace, t.count,
                 events.count);
        }
        status = write_events(given->trace, &t);
    } else {
        complain(0, "%s", ig_session_error(session));
    }
    free(t.events);
    free(steps);
    return status;
}
