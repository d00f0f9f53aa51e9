/* The zip around an artifact: finds stored entries in a mapped file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads the driver's files and nothing more general: stored entries, no encryption,
 * no comment after the directory, zip64 where a size or offset needs it.
 */
#ifndef IG_RUNTIME_CONTAINER_H
#define IG_RUNTIME_CONTAINER_H

#include "base/str.h"
#include "runtime/message.h"

enum { IG_CONTAINER_ENTRIES = 64 };

typedef struct ig_container {
    ig_str file;
    uint32_t count;
    struct {
        ig_str name, data; /* in the file */
    } entries[IG_CONTAINER_ENTRIES];
} ig_container;

/* Walks and checks the directory.  `file` is borrowed. */
ig_status ig_container_open(ig_str file, ig_container *out_container,
                            const ig_message *message);
/* False when there is no such entry. */
bool ig_container_find(const ig_container *container, const char *name,
                       ig_str *out_data);

#endif
