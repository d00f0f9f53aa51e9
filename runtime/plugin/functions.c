/* Programs that call functions of libraries beside the runtime.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plugin/plugin.h"

#include <string.h>

typedef struct library {
    const char *name; /* as plans have it */
    const char *knob, *file, *symbol;
} library;

static const library libraries[] = {
    { "text", "strings", "libingot-text.so", "ig_texts_find" },
    { "image", "images", "libingot-image.so", "ig_images_find" },
    { "custom", "operators", "libingot-custom.so", "ig_customs_find" },
};

ig_status ig_plugin_find_function(const char *plugin, ig_host_wanted *wanted) {
    for (size_t i = 0; i < IG_COUNT_OF(libraries); i++) {
        const library *l = &libraries[i];
        if (strcmp(plugin, l->name) == 0) {
            ig_plugin_find_fn *find;
            void *symbol;
            IG_TRY(
                ig_plugin_find(l->knob, l->file, l->symbol, &symbol, wanted->message));
            memcpy(&find, &symbol, sizeof find);
            return find(wanted);
        }
    }
    return IG_OK;
}
