/* Libraries beside the runtime that are opened only when they are asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_PLUGIN_H
#define IG_RUNTIME_PLUGIN_H

#include "runtime/message.h"

/* The one symbol of a library, which stays open.  IG_IO where there is none: the
 * message begins with `knob`, by which it was asked for. */
ig_status ig_plugin_find(const char *knob, const char *library, const char *symbol,
                         void **out_symbol, const ig_message *message);

#endif
