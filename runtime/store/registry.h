/* The types of stores that this process knows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORE_REGISTRY_H
#define IG_RUNTIME_STORE_REGISTRY_H

#include "runtime/store/call.h"

/* A type: the table of a plug-in of version 2, or version 1 adapted to the same
 * functions. */
typedef struct ig_store_type {
    ig_store_plugin plugin; /* first: version1.c finds its type by it */
    ig_store_initialize_v1 *initialize;
    ig_store_finalize_v1 *finalize;
    ig_store_pull_call_v1 *pull;
    ig_store_push_call_v1 *push;
    struct ig_store_type *next;
} ig_store_type;

/* The type of that name: known, or brought by Ingot and loaded now. */
ig_status ig_store_type_find(const ig_store_call *call, const char *name,
                             size_t name_size, const ig_store_plugin **out_plugin);

extern const ig_store_plugin ig_store_memory, ig_store_tiered;

/* Fills `type` from the symbols of version 1 of an open library; false: it lacks some,
 * and `*out_missing` names the first. */
bool ig_store_version1(void *library, ig_store_type *type, const char **out_missing);

#endif
