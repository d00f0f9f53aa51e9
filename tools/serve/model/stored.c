/* Models over stores.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/stored.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { OPEN_SECONDS = 30, NS = 1000000000 };

struct stored_model {
    ig_lookahead *ahead;
    pthread_mutex_t turn;
    int64_t store_timeout; /* ns that a run waits for its rows */
    size_t output_count;
    row_counts counts; /* of the run whose turn it is */
};

stored_model *stored_open(const char *path, const model_config *config,
                          char words[WORDS]) {
    ig_lookahead_table tables[MAX_STORES];
    for (size_t i = 0; i < config->store_count; i++) {
        tables[i] = (ig_lookahead_table){ .name = config->stores[i].table,
                                          .url = config->stores[i].url };
    }
    ig_lookahead_options options = { .size = sizeof options,
                                     .message = words,
                                     .message_size = WORDS,
                                     .tables = tables,
                                     .table_count = config->store_count,
                                     .memory = config->row_memory,
                                     .depth = 1,
                                     .open_ns = OPEN_SECONDS * (int64_t)NS,
                                     .refresh_ns = config->refresh };
    stored_model *made = calloc(1, sizeof *made);
    if (!made || ig_lookahead_open(path, &options, &made->ahead) != IG_OK) {
        free(made);
        return NULL;
    }
    pthread_mutex_init(&made->turn, NULL);
    made->store_timeout = config->store_timeout;
    made->output_count = ig_program_output_count(ig_lookahead_program(made->ahead));
    return made;
}

void stored_close(stored_model *of) {
    if (of) {
        ig_lookahead_close(of->ahead);
        pthread_mutex_destroy(&of->turn);
        free(of);
    }
}

size_t stored_input_count(const stored_model *of) {
    return ig_lookahead_input_count(of->ahead);
}

ig_status stored_run(stored_model *of, const ig_view *inputs, ig_view *outputs,
                     int64_t left) {
    ig_lookahead_answer answer = { .size = sizeof answer };
    int64_t begin = clock_now();
    pthread_mutex_lock(&of->turn);
    /* A quarter of the time is for the computation. */
    int64_t wait = left && left - left / 4 < of->store_timeout ? left - left / 4
                                                               : of->store_timeout;
    ig_lookahead_call how = { .size = sizeof how,
                              .deadline_ns = begin + wait,
                              .accepts_missing = left != 0 };
    ig_status status = ig_lookahead_submit(of->ahead, inputs, stored_input_count(of),
                                           &how);
    status = status == IG_OK
                 ? ig_lookahead_wait(of->ahead, outputs, of->output_count, &answer)
                 : status;
    of->counts = (row_counts){ answer.ids, answer.absent, answer.late, answer.stale };
    return status;
}

const char *stored_error(const stored_model *of) {
    return ig_lookahead_error(of->ahead);
}

row_counts stored_counts(const stored_model *of) {
    return of->counts;
}

void stored_release(stored_model *of) {
    pthread_mutex_unlock(&of->turn);
}
