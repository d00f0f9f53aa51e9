/* Where in a model something comes from, as an artifact keeps it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/source.h"

#include <assert.h>
#include <string.h>

enum { SOURCE_BYTES = 512 };

/* The part of a location's file that is inside of the model: "code/m.py" of
 * "models/m.pt/code/m.py".  NULL: the file is the model, or another one. */
static const char *inside_of_model(const ig_module *module, const char *file) {
    size_t length = module->path ? strlen(module->path) : 0;
    bool is_inside = length > 0 && strncmp(file, module->path, length) == 0;
    return is_inside && file[length] == '/' ? file + length + 1 : NULL;
}

const char *ig_source_of(ig_arena *arena, const ig_module *module, uint32_t loc) {
    assert(loc < module->locations.count && "an op's location is its module's");
    ig_location where = module->locations.items[loc];
    char text[SOURCE_BYTES];
    bool has_node = where.node_id || where.node || where.op || where.graph;
    where.file = where.file ? inside_of_model(module, where.file) : NULL;
    if (!where.file && !has_node) {
        return where.line ? ig_arena_printf(arena, "line %u", where.line) : "";
    }
    ig_diagnostic said = { .where = where };
    size_t size = ig_diagnostic_format(&said, text, sizeof text);
    /* "node 12 'conv1' (Conv): note: " without the words after the place. */
    static const char ending[] = ": note: ";
    size_t tail = sizeof ending - 1;
    bool is_whole = size >= tail && strcmp(text + size - tail, ending) == 0;
    return ig_arena_copy(arena, text, is_whole ? size - tail : size);
}

const char *ig_source_scope(ig_arena *arena, const char *module_path) {
    char *scope = ig_arena_printf(arena, "%s", module_path);
    for (char *at = scope; *at; at++) {
        bool has_number = at[0] == '.' && at[1] >= '0' && at[1] <= '9';
        *at = *at == '.' && !has_number ? '/' : *at;
    }
    return scope;
}
