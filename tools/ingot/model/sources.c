/* Which nodes of the model a step comes from.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/sources.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 96 }; /* of a name in a table */

json_t *sources_of(const ig_program *program) {
    size_t size;
    const char *text = ig_program_sources(program, &size);
    return text ? json_loadb(text, size, 0, NULL) : NULL;
}

static const json_t *nodes_of_step(const json_t *sources, size_t step) {
    return json_array_get(json_object_get(sources, "steps"), step);
}

size_t sources_count(const json_t *sources, size_t step) {
    return json_array_size(nodes_of_step(sources, step));
}

char *sources_name(const json_t *sources, size_t step, size_t index) {
    const json_t *number = json_array_get(nodes_of_step(sources, step), index);
    const json_t *node = json_array_get(json_object_get(sources, "nodes"),
                                        (size_t)json_integer_value(number));
    const char *name = json_string_value(json_object_get(node, "name"));
    const char *op = json_string_value(json_object_get(node, "op"));
    long long line = (long long)json_integer_value(json_object_get(node, "line"));
    if (name || op) {
        return line ? text_of("%s:%lld", name ? name : op, line)
                    : text_of("%s", name ? name : op);
    }
    return text_of("line %lld", line);
}

char *sources_path(const json_t *sources, size_t step, size_t index) {
    const json_t *number = json_array_get(nodes_of_step(sources, step), index);
    const json_t *node = json_array_get(json_object_get(sources, "nodes"),
                                        (size_t)json_integer_value(number));
    const char *scope = json_string_value(json_object_get(node, "scope"));
    char *name = sources_name(sources, step, index);
    if (!scope || strchr(name, '/')) {
        return name;
    }
    char *path = text_of("%s/%s", scope, name);
    for (size_t i = 0; scope[i]; i++) { /* a number is a part of the name before it */
        bool has_number = scope[i + 1] >= '0' && scope[i + 1] <= '9';
        path[i] = scope[i] == '.' && !has_number ? '/' : scope[i];
    }
    free(name);
    return path;
}

/* Of a name that is too long for a line of a table its end, which tells more than its
 * beginning; whole letters of UTF-8. */
static const char *end_of_name(const char *name) {
    size_t size = strlen(name);
    const char *end = size > NAME_BYTES ? name + size - NAME_BYTES : name;
    while (end > name && ((unsigned char)*end & 0xc0) == 0x80) {
        end++;
    }
    return end;
}

char *sources_text(const json_t *sources, size_t step) {
    size_t count = sources_count(sources, step);
    if (count == 0) {
        return text_of("%s", "");
    }
    char *name = sources_name(sources, step, 0);
    const char *end = end_of_name(name), *cut = end > name ? "…" : "";
    char *text = count == 1 ? text_of("%s%s", cut, end)
                            : text_of("%s%s + %zu more", cut, end, count - 1);
    free(name);
    return text;
}
