/* A model that runs in a process of its own (--isolate).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_GUEST_GUEST_H
#define IG_TOOLS_SERVE_GUEST_GUEST_H

#include <ingot/runtime.h>
#include <stdbool.h>

typedef struct guest guest;

/* How versions run. */
typedef struct run_options {
    size_t loop_count;     /* of the server: each has runs of its own */
    bool is_isolated;      /* in a process of their own */
    size_t room;           /* of such: bytes of a run's inputs, and of its results */
    uint64_t memory_bytes; /* that the process may write; 0: no bound */
} run_options;

/* The model of a guest; ports outlive it. */
typedef struct guest_model {
    const char *path; /* of the artifact */
    const ig_port *inputs, *outputs;
    size_t input_count, output_count;
} guest_model;

/* Starts the process, which opens the artifact and confines itself.  NULL: the words
 * (1024 bytes) say why. */
guest *guest_open(const run_options *options, const guest_model *model, char *words);
void guest_close(guest *of);
/* As ig_session_run, of loop `loop`, within `left` ns (0: half a minute); results are
 * in memory that is shared until the loop's next run.  IG_INTERNAL: the process ended;
 * it is started again.  The words are guest_error's. */
ig_status guest_run(guest *of, size_t loop, const ig_view *inputs, ig_view *outputs,
                    int64_t left);
const char *guest_error(const guest *of, size_t loop);

/* The process: argv "ingot-serve guest".  The exit status. */
int guest_main(void);

#endif
