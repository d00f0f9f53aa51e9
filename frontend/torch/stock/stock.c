/* Finding torch's own Python.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/stock/stock.h"

#include <string.h>

const ig_stock_module *ig_stock_find(ig_str name) {
    for (size_t i = 0; i < ig_stock_count; i++) {
        if (ig_str_is(name, ig_stock_modules[i].name)) {
            return &ig_stock_modules[i];
        }
    }
    return NULL;
}

/* "class NAME" and then "(" or ":". */
static bool begins_class(ig_str line, ig_str name) {
    static const char word[] = "class ";
    size_t size = sizeof word - 1;
    bool is_class = ig_str_starts(line, word) && line.size > size + name.size &&
                    memcmp(line.data + size, name.data, name.size) == 0;
    return is_class &&
           (line.data[size + name.size] == '(' || line.data[size + name.size] == ':');
}

uint32_t ig_stock_class_line(ig_str text, ig_str name) {
    uint32_t line = 1;
    for (size_t at = 0; at < text.size && name.size; line++) {
        const char *begin = text.data + at;
        const char *end = memchr(begin, '\n', text.size - at);
        size_t length = end ? (size_t)(end - begin) : text.size - at;
        if (begins_class((ig_str){ begin, length }, name)) {
            return line;
        }
        at += length + 1;
    }
    return 0;
}

bool ig_stock_has_class(ig_str module, ig_str class) {
    const ig_stock_module *found = ig_stock_find(module);
    return found && ig_stock_class_line(found->text, class) > 0;
}
