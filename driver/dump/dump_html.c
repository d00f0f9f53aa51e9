/* IR text as a page: a value's name leads to its definition.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The page is the text itself.  A word that begins with % is a value; the first time it
 * stands in a graph it is defined there, every later one is a link.
 */
#include "driver/dump/dump.h"

#include "base/map.h"
#include "ir/text/text.h"

#include <assert.h>
#include <ctype.h>

static const char head[] =
    "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Ingot</title><style>\n"
    "body { background: #fff; color: #222; font: 14px/1.5 monospace; }\n"
    "pre { white-space: pre-wrap; margin: 0 2em 2em; } h2 { margin: 1em; }\n"
    "a { color: #05a; text-decoration: none; } a:hover { text-decoration: underline; }\n"
    "b:target { background: #fd6; } b { font-weight: bold; }\n"
    "</style></head><body>\n";

static void put_escaped(ig_writer *out, ig_str text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '<' || c == '>' || c == '&' || c == '"') {
            ig_put(out, "&#%d;", c);
        } else {
            ig_put_char(out, c);
        }
    }
}

static size_t word_length(ig_str text) {
    size_t length = 1;
    while (length < text.size &&
           (isalnum((unsigned char)text.data[length]) || text.data[length] == '_' ||
            text.data[length] == '.')) {
        length++;
    }
    return length;
}

static void put_value(ig_writer *out, ig_map *seen, size_t graph, ig_str word) {
    assert(word.size > 0 && word.data[0] == '%' && "the word is the name of a value");
    bool is_first = !ig_map_get(seen, word);
    ig_str name = { word.data + 1, word.size - 1 };
    ig_map_set(seen, word, seen);
    ig_put(out, is_first ? "<b id=\"g%zu_" : "<a href=\"#g%zu_", graph);
    put_escaped(out, name);
    ig_put(out, "\">");
    put_escaped(out, word);
    ig_put(out, is_first ? "</b>" : "</a>");
}

static void put_graph(const ig_graph *graph, size_t number, ig_writer *out) {
    ig_arena scratch;
    ig_writer writer;
    ig_map seen;
    ig_arena_init(&scratch, &graph->module->context->budget);
    ig_writer_init(&writer, &scratch);
    ig_map_init(&seen, &scratch);
    ig_print_graph_with(graph, &(ig_print_options){ .data_bytes = 256 }, &writer);
    ig_put(out, "<h2>");
    put_escaped(out, ig_str_of(graph->name));
    ig_put(out, "</h2>\n<pre>");
    for (ig_str rest = ig_writer_str(&writer); rest.size;) {
        bool is_value = rest.data[0] == '%';
        size_t length = is_value ? word_length(rest) : 1;
        ig_str word = { rest.data, length };
        if (is_value) {
            put_value(out, &seen, number, word);
        } else {
            put_escaped(out, word);
        }
        rest = (ig_str){ rest.data + length, rest.size - length };
    }
    ig_put(out, "</pre>\n");
    ig_arena_fini(&scratch);
}

void ig_dump_html(const ig_module *module, uint32_t stages, ig_writer *out) {
    ig_put(out, "%s", head);
    for (size_t i = 0; i < module->graphs.count; i++) {
        if (module->graphs.items[i]->stage & stages) {
            put_graph(module->graphs.items[i], i, out);
        }
    }
    ig_put(out, "</body></html>\n");
}
