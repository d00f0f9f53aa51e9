/* The values of the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_SETTINGS_H
#define IG_TOOLS_SERVE_SETTINGS_H

#include "tools/serve/batch/lane.h"
#include "tools/serve/profile/profiler.h"

typedef struct serve_settings {
    const char *address;
    int http_port, grpc_port; /* 0: one that is free; -1: not served */
    size_t loops;
    int drain_seconds;
    key_files keys;
    const char *capture;    /* folder of calls that are written down, or NULL */
    int capture_every;      /* of so many runs one */
    bool is_insecure;       /* strangers may reach it: somebody else keeps them out */
    bool log_is_text;       /* else JSON */
    bool is_quiet;          /* warnings and errors alone are logged */
    bool has_shared_memory; /* clients may register memory of this machine */
    limits limits;
    repository_options models; /* but for own.folder, loop_count and boxes */
    bool is_worker;            /* serves profiling, too */
    profiler_options profile;
} serve_settings;

/* Reads the words of a command line; texts are its.  False: *out_exit is the process's
 * exit status, after words. */
bool settings_read(int argc, char **argv, serve_settings *out, int *out_exit);
void settings_free(serve_settings *of);

#endif
