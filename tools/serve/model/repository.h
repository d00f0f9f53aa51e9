/* Where models come from: folders and files, read by one thread beside the loops.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     FOLDER/NAME/config.json
 *     FOLDER/NAME/VERSION/model.{ingot,onnx,pt,pt2}
 *
 * The thread looks at the folders now and then, or when a client asks (errand).  It
 * copies, compiles, opens and warms up new ones; then it publishes a new catalog, which
 * the loops take at their next turn.  A version that fails leaves the one before it,
 * and its words are in the catalog.
 */
#ifndef IG_TOOLS_SERVE_MODEL_REPOSITORY_H
#define IG_TOOLS_SERVE_MODEL_REPOSITORY_H

#include "tools/serve/model/catalog.h"
#include "tools/serve/model/mailbox.h"
#include "tools/serve/model/own.h"

typedef struct repository repository;

typedef struct repository_options {
    const char *const *paths; /* folders of models, or model files */
    size_t path_count;
    const char *name; /* of the model where one file is the only place, or NULL */
    int poll_seconds; /* between looks at the folders; 0: at the start alone */
    bool is_explicit; /* clients load and unload; what `load` names is there at first */
    const char *const *load; /* model names; "*": all */
    size_t load_count;
    size_t loop_count;
    mailbox *boxes; /* one a loop: woken when there is a new catalog */
    own_options own;
    run_options runs;
} repository_options;

/* Starts the thread.  The options' texts and boxes outlive it.  NULL: the words say
 * why. */
repository *repository_open(const repository_options *options, char words[WORDS]);
/* Ends the thread and closes the served models; no loop runs any more. */
void repository_close(repository *of);
/* Have all models been looked at once? */
bool repository_is_ready(const repository *of);
/* Grows with each catalog: one load. */
unsigned repository_generation(const repository *of);
/* The newest catalog, until repository_give_back. */
catalog *repository_take(repository *of);
void repository_give_back(repository *of, catalog *list);
/* Queues an errand, which comes back through its mailbox. */
void repository_ask(repository *of, errand *what);

#endif
