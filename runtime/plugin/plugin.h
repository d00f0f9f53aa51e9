/* Libraries beside the runtime that are opened only when they are asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_PLUGIN_H
#define IG_RUNTIME_PLUGIN_H

#include "runtime/host/host.h"
#include "runtime/message.h"

/* The one symbol of a library, which stays open.  IG_IO where there is none: the
 * message begins with `knob`, by which it was asked for. */
ig_status ig_plugin_find(const char *knob, const char *library, const char *symbol,
                         void **out_symbol, const ig_message *message);

/* A host function that a plan asks for. */
typedef struct ig_host_wanted {
    const char *name;
    uint32_t version;
    const struct ig_program_options *options; /* whole */
    const ig_message *message;
    /* Found: the function (NULL: there is none), and what its calls carry, where the
     * library has looked at the version itself; else NULL. */
    ig_host_fn *fn;
    const void *closure;
} ig_host_wanted;

/* Of ig_texts_find, ig_images_find and ig_customs_find, each the one symbol of its
 * library.  Not IG_OK: it has said why there is none. */
typedef ig_status ig_plugin_find_fn(ig_host_wanted *wanted);

/* Looks in the library that plans call `plugin`. */
ig_status ig_plugin_find_function(const char *plugin, ig_host_wanted *wanted);

#endif
