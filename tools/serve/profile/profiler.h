/* Profiling for clients elsewhere: octoml_profile.RemoteInference.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A client makes a session of some backends of this machine, uploads models, and has
 * them run and timed.  Sessions have the hardware for themselves: so many are ready at
 * once, the others wait.  Each backend of a session is a process of its own, and only
 * one of all is at work in a session at a time.
 *
 * All of it runs in the one loop of a worker; nothing but the children waits.
 */
#ifndef IG_TOOLS_SERVE_PROFILE_PROFILER_H
#define IG_TOOLS_SERVE_PROFILE_PROFILER_H

#include "tools/serve/batch/lane.h"

#include <ingot/status.h>

typedef struct profiler profiler;
struct service;

typedef struct profiler_options {
    const char *host;   /* what this hardware is called; NULL: the machine's name */
    const char *python; /* whose packages are the backends */
    const char *const *presets;
    size_t preset_count;
    const char *component_folder; /* NULL: one that ends with the server */
    uint64_t component_bytes;     /* of all that are kept */
    uint64_t child_bytes;         /* that a backend's process may write; 0: no bound */
    size_t slots;                 /* sessions that are ready at once */
    size_t quota;                 /* backends that a user may hold */
    int session_seconds;          /* without a sign of life */
    int job_seconds;              /* of one backend's loading or runs */
} profiler_options;

/* `folder`: of the server alone.  Options outlive it.  NULL: the words say why. */
profiler *profiler_open(const profiler_options *options, const char *folder,
                        char words[WORDS]);
/* Ends sessions and children; before the connections are closed. */
void profiler_close(profiler *of);
/* The methods, and the lane whose streams they answer. */
const struct service *profiler_service(void);
void profiler_attach(profiler *of, lane *to);
/* Readable when profiler_turn has something to do. */
int profiler_event(const profiler *of);
void profiler_turn(profiler *of);
/* Now and then: what took too long. */
void profiler_sweep(profiler *of);

#endif
