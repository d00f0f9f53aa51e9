/* Host functions on texts: what a session asks of libingot-text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library is opened when a program is that calls functions named text_.  An element
 * is the address of bytes that end in 0, NULL the empty text.  Texts that a function
 * makes lie in blocks of the session until its next run begins.
 */
#ifndef IG_RUNTIME_PLUGIN_TEXTS_H
#define IG_RUNTIME_PLUGIN_TEXTS_H

#include "runtime/host/host.h"
#include "runtime/memory.h"

#define IG_TEXTS_PREFIX "text_"

typedef struct ig_text_block {
    struct ig_text_block *next;
    size_t size, used; /* bytes behind this struct */
} ig_text_block;

typedef struct ig_texts {
    ig_memory *memory;
    ig_text_block *blocks; /* the one that is written to first; or NULL */
} ig_texts;

/* The one symbol of the library; NULL: it has no such function. */
IG_API ig_host_fn *ig_texts_find(const char *name);

#endif
