/* Host functions on texts: the interface of a session to libingot-text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library is opened when a program is that calls functions named text_.  An element
 * is the address of bytes that end in 0, NULL the empty text.  Texts that a function
 * makes are in blocks of the session until its next run begins.
 */
#ifndef IG_RUNTIME_PLUGIN_TEXTS_H
#define IG_RUNTIME_PLUGIN_TEXTS_H

#include "runtime/host/host.h"
#include "runtime/memory.h"

typedef struct ig_text_block {
    struct ig_text_block *next;
    size_t size, used; /* bytes after this struct */
} ig_text_block;

typedef struct ig_texts {
    ig_memory *memory;
    ig_text_block *blocks; /* the one that is written to first; or NULL */
} ig_texts;

/* Texts that the last run made, before the next one and at the end. */
void ig_texts_forget(ig_texts *texts);
void ig_texts_free(ig_texts *texts);

#endif
