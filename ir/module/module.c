/* Bytes that a module keeps once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/module/module.h"

#include <assert.h>

const void *ig_module_bytes(ig_module *module, const void *bytes, size_t size) {
    assert((bytes || !size) && "a string has bytes");
    ig_str key = { size ? (const char *)bytes : "", size };
    void *known = ig_map_get(&module->strings, key);
    if (!known) {
        known = ig_arena_copy(&module->arena, key.data, size);
        ig_map_set(&module->strings, key, known);
    }
    return known;
}

const char *ig_module_string(ig_module *module, ig_str text) {
    return (const char *)ig_module_bytes(module, text.data, text.size);
}
