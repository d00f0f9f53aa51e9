/* Shared memory of the system, which clients on this machine put tensors into.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It is read and written by system calls and never mapped: a client that cuts its
 * memory gets an error, and the server no signal.
 */
#ifndef IG_TOOLS_SERVE_MODEL_REGIONS_H
#define IG_TOOLS_SERVE_MODEL_REGIONS_H

#include "tools/serve/call/status.h"
#include "tools/serve/model/config.h"

/* Of the server; from any thread. */
typedef struct regions regions;

typedef struct region {
    const char *name, *key; /* key: of shm_open, with or without its slash */
    uint64_t offset, size;
} region;

/* NULL: memory ran out. */
regions *regions_create(void);
void regions_destroy(regions *of);
/* Registers one; a failure's words go to `words`. */
call_status regions_add(regions *of, const region *what, char words[WORDS]);
/* Forgets one, or all where the name is "".  Unknown names are nobody's concern. */
void regions_remove(regions *of, const char *name);
/* Calls `take` for one, or for all where the name is "", under a lock: it must not call
 * back.  CALL_NOT_FOUND: there is no such one. */
call_status regions_visit(regions *of, const char *name,
                          void (*take)(void *user, const region *each), void *user);
/* Copies `size` bytes at `offset` of a region out of it, or into it. */
call_status regions_read(regions *of, const region *part, void *to, char words[WORDS]);
call_status regions_write(regions *of, const region *part, const void *from,
                          char words[WORDS]);

#endif
