/* The facts of the repository's thread about each version, from which catalogs are
 * made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_MODEL_SLOTS_H
#define IG_TOOLS_SERVE_MODEL_SLOTS_H

#include "tools/serve/model/catalog.h"
#include "tools/serve/model/look.h"

typedef struct slot {
    char *name;
    int64_t version;
    stamp model, config, script; /* of the files that were tried last */
    bool is_tried, is_stale;     /* is_stale: not seen in the look that goes on */
    served *served;              /* or NULL */
    char reason[WORDS]; /* of the last failure; "" when the last try was good */
} slot;

typedef struct slot_list {
    slot *items; /* by name, newest version first */
    size_t count;
} slot_list;

/* The slot of a version, made where there is none; NULL: memory ran out.  Moves
 * others. */
slot *slots_need(slot_list *in, const char *name, int64_t version);
/* Takes a slot off; its old program is handed out, or NULL. */
served *slots_remove(slot_list *in, size_t index);
/* A catalog of them all; NULL: memory ran out. */
catalog *slots_list(const slot_list *in);
void catalog_destroy(catalog *of);
void slots_free(slot_list *of);

#endif
