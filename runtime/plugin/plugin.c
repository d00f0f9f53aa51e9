/* Opening libraries that are asked for.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plugin/plugin.h"

#include <dlfcn.h>

ig_status ig_plugin_find(const char *knob, const char *library, const char *symbol,
                         void **out_symbol, const ig_message *message) {
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    *out_symbol = opened ? dlsym(opened, symbol) : NULL;
    return *out_symbol ? IG_OK
                       : ig_message_set(message, IG_IO, "%s: %s", knob, dlerror());
}
