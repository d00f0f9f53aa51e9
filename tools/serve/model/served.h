/* One version of a model, ready to run in every loop.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It is made beside the loops, by the thread of the repository, which opens the
 * program, makes a session for each loop and runs each once; nothing of it changes
 * afterwards but its sessions, each by its loop, and its statistics.
 */
#ifndef IG_TOOLS_SERVE_MODEL_SERVED_H
#define IG_TOOLS_SERVE_MODEL_SERVED_H

#include "tools/serve/guest/guest.h"
#include "tools/serve/model/config.h"
#include "tools/serve/model/script.h"
#include "tools/serve/model/shadow.h"
#include "tools/serve/model/statistics.h"
#include "tools/serve/model/stored.h"

#include <ingot/runtime.h>
#include <stdatomic.h>

typedef struct served {
    char *name;
    int64_t version; /* the version */
    model_config config;
    ig_program *program;
    ig_port *inputs, *outputs; /* the program's */
    size_t input_count, output_count;
    bool has_ends; /* rows are one less than its offsets */
    /* Ports that clients see: the same, or the config's where a script or another model
     * comes between. */
    ig_port *shown_inputs, *shown_outputs;
    size_t shown_input_count, shown_output_count;
    size_t loop_count;
    ig_session **sessions;  /* one a loop; NULL: the guest has them */
    guest *guest;           /* the process of the model, or NULL */
    stored_model *stored;   /* of tables in stores, or NULL */
    script *script;         /* before and after runs, or NULL */
    statistics *counts;     /* one a loop */
    shadow *shadow;         /* where another version is held against it, or NULL */
    const char *platform;   /* "ingot", of the artifact; the program's otherwise */
    int64_t max_batch_size; /* rows that requests may be joined to; 0: none are */
    atomic_size_t users;    /* catalogs that list it */
    atomic_size_t waiting;  /* requests of all loops, where max_queue is set */
} served;

/* Opens the artifact at `path`, which the server owns.  Takes `config` over in any
 * case.  NULL: the words say why. */
served *served_open(const char *name, int64_t version, const char *path,
                    model_config *config, const run_options *how, char words[WORDS]);
void served_close(served *of);
/* No run of it is compared from here on, and none is any more; NULL: nothing. */
void served_end_shadow(served *of);
/* Do clients get the results of a run?  Else a script or another model has them
 * first. */
bool served_answers(const served *of);
/* Runs the model in a loop's session, from the first values of its state, within `left`
 * ns (0: no limit).  Results are valid until the loop's next run; the words are
 * served_error's. */
ig_status served_run(served *of, size_t loop, const ig_view *inputs, ig_view *outputs,
                     int64_t left);
const char *served_error(const served *of, size_t loop);
/* Whatever served_run gave is copied: after each of its calls. */
void served_release(served *of);

#endif
