/* A trial of the artifact's facts about its ports, before a version is served.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_MODEL_TRIAL_H
#define IG_TOOLS_SERVE_MODEL_TRIAL_H

#include "tools/serve/model/served.h"

typedef enum trial_verdict {
    TRIAL_EQUAL,   /* together as alone, bit for bit */
    TRIAL_NONE,    /* no drawn request ran, so nothing was learnt */
    TRIAL_DIFFERS, /* the roles are wrong: requests must not be put together */
} trial_verdict;

/* Runs drawn requests of 1, 2 and 3 rows in the first session, each alone and then all
 * together. */
trial_verdict trial_run(served *of);

#endif
