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

/* Of ig_texts_find and ig_images_find, each the one symbol of its library; NULL: it has
 * no such function. */
typedef ig_host_fn *ig_plugin_find_fn(const char *name);

/* The host function `name` of the library that plans call `plugin`; NULL where that has
 * none. */
ig_status ig_plugin_find_function(const char *plugin, const char *name,
                                  ig_host_fn **out_fn, const ig_message *message);

#endif
