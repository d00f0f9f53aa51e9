/* The server's own copy of the files that it serves: whatever becomes of a user's file,
 * opened ones stay.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_MODEL_OWN_H
#define IG_TOOLS_SERVE_MODEL_OWN_H

#include "tools/serve/model/config.h"

typedef struct own_options {
    const char *folder;   /* of the server alone, for its copies */
    const char *compiler; /* the path of `ingot` */
    uint64_t
        copy_limit; /* bytes that may be copied where the file system cannot share */
    int seconds;    /* for compiling a model */
} own_options;

/* Puts an artifact at `to`: a copy of the one at `from` (a reflink where the file
 * system can), or the artifact that a child process makes of it.  False: the words say
 * why; nothing is left. */
bool own_artifact(const own_options *options, const char *from,
                  const model_config *config, const char *to, char words[WORDS]);
/* Where `ingot` is: it is beside this program. */
void own_find_compiler(char out[4096]);
/* Ends a child that compiles now, from any thread; its work fails. */
void own_stop(void);

#endif
