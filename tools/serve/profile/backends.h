/* The backends of this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_PROFILE_BACKENDS_H
#define IG_TOOLS_SERVE_PROFILE_BACKENDS_H

#include "tools/serve/model/config.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_BACKENDS = 16 }; /* of a preset, and of a session */

typedef struct preset {
    char *name;
    const char *software[MAX_BACKENDS]; /* of the table of backends */
    size_t count;
} preset;

typedef struct backend_list {
    char host[64];     /* the name of the hardware */
    char python[4096]; /* the user's: its path */
    const char *software[MAX_BACKENDS];
    size_t count;
    preset *presets; /* "default" first */
    size_t preset_count;
} backend_list;

/* Asks `python` which packages it has; those whose packages are there are listed.
 * `presets`: "NAME=SOFTWARE,SOFTWARE".  False: the words say why. */
bool backends_find(backend_list *out, const char *host, const char *python,
                   const char *const *presets, size_t preset_count, char words[WORDS]);
void backends_free(backend_list *of);
/* The listed software of that name on this host, or NULL. */
const char *backends_get(const backend_list *in, const char *hardware,
                         const char *software);

#endif
