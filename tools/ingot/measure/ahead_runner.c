/* Calls of an artifact whose tables are in stores, with batches in flight.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/measure/ahead_runner.h"

#include "tools/ingot/cli/streams.h"
#include "tools/ingot/model/ahead.h"

#include <stdlib.h>

enum { DEFAULT_DEPTH = 2 };

ig_status ahead_runner_open(const settings *given, const model *m, const call *with,
                            ahead_runner *out, message *why) {
    model own = *m;
    *out = (ahead_runner){ .deadline = m->deadline,
                           .input_count = with->count,
                           .output_count = model_output_count(m),
                           .depth = given->ahead ? (size_t)given->ahead
                                                 : DEFAULT_DEPTH };
    out->inputs = need(calloc(with->count + 1, sizeof *out->inputs));
    out->outputs = need(calloc(out->output_count + 1, sizeof *out->outputs));
    out->answers = need(calloc(AHEAD_TRACED, sizeof *out->answers));
    ig_status status = call_views(m, with, out->inputs, why);
    return status == IG_OK
               ? ahead_open(given, &own, m->path, (int)given->threads, &out->ahead, why)
               : status;
}

void ahead_runner_close(ahead_runner *runner) {
    ig_lookahead_close(runner->ahead);
    free(runner->inputs);
    free(runner->outputs);
    free(runner->answers);
    *runner = (ahead_runner){ 0 };
}

ig_status ahead_runner_call(ahead_runner *runner) {
    for (; runner->in_flight <= runner->depth; runner->in_flight++) {
        ig_lookahead_call how = ahead_call(runner->deadline);
        ig_status status = ig_lookahead_submit(runner->ahead, runner->inputs,
                                               runner->input_count, &how);
        if (status != IG_OK) {
            return status;
        }
    }
    ig_lookahead_answer *answer = &runner->answers[runner->answered % AHEAD_TRACED];
    for (size_t i = 0; i < runner->output_count; i++) {
        runner->outputs[i] = (ig_view){ 0 };
    }
    *answer = (ig_lookahead_answer){ .size = sizeof *answer };
    ig_status status = ig_lookahead_wait(runner->ahead, runner->outputs,
                                         runner->output_count, answer);
    runner->in_flight--;
    runner->answered += status == IG_OK;
    return status;
}

static void put_span(FILE *out, const char *name, int thread, int64_t begin,
                     int64_t end, size_t batch) {
    fprintf(out,
            ",\n{\"name\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": %d, "
            "\"ts\": %.3f, \"dur\": %.3f, \"args\": {\"batch\": %zu}}",
            name, thread, (double)begin * 1e-3, (double)(end - begin) * 1e-3, batch);
}

ig_status ahead_runner_trace(const ahead_runner *runner, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = need(open_memstream(&text, &size));
    size_t first = runner->answered > AHEAD_TRACED ? runner->answered - AHEAD_TRACED
                                                   : 0;
    fputs("[\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": 1, "
          "\"args\": {\"name\": \"fetch\"}},\n"
          "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": 2, "
          "\"args\": {\"name\": \"compute\"}}",
          out);
    for (size_t i = first; i < runner->answered; i++) {
        const ig_lookahead_answer *a = &runner->answers[i % AHEAD_TRACED];
        put_span(out, "fetch", 1, a->fetch_begin, a->fetch_end, i);
        if (a->run_begin > a->wait_begin) {
            put_span(out, "wait for rows", 2, a->wait_begin, a->run_begin, i);
        }
        put_span(out, "compute", 2, a->run_begin, a->run_end, i);
    }
    fputs("\n]\n", out);
    bool is_whole = fclose(out) == 0;
    ig_status status = is_whole ? write_output(path, text, size) : IG_LIMIT;
    free(text);
    return status;
}
