/* A page that draws the graph: one file that needs nothing else.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The page is driver/dump/page/, put together when Ingot is built; in its middle stand
 * the JSON of dump_graph.c, deflated and in base64.
 */
#include "driver/dump/dump.h"
#include "driver/dump/page.h"

#include <zlib.h>

static void put_base64(ig_writer *out, const unsigned char *bytes, size_t size) {
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t b = i + 1 < size ? bytes[i + 1] : 0,
                 c = i + 2 < size ? bytes[i + 2] : 0;
        uint32_t word = (uint32_t)bytes[i] << 16 | b << 8 | c;
        ig_put_char(out, digits[word >> 18]);
        ig_put_char(out, digits[word >> 12 & 63]);
        ig_put_char(out, i + 1 < size ? digits[word >> 6 & 63] : '=');
        ig_put_char(out, i + 2 < size ? digits[word & 63] : '=');
    }
}

ig_status ig_dump_html(const ig_module *module, uint32_t stages, ig_writer *out) {
    ig_arena scratch;
    ig_writer json;
    ig_arena_init(&scratch, &module->context->budget);
    ig_writer_init(&json, &scratch);
    ig_dump_json(module, stages, &json);
    uLongf size = compressBound((uLong)json.size);
    unsigned char *deflated = ig_arena_alloc(&scratch, size);
    int result = compress2(deflated, &size, (const unsigned char *)json.data,
                           (uLong)json.size, Z_DEFAULT_COMPRESSION);
    if (result == Z_OK) {
        ig_put_bytes(out, ig_page_head, ig_page_head_size);
        put_base64(out, deflated, size);
        ig_put_bytes(out, ig_page_tail, ig_page_tail_size);
    }
    ig_arena_fini(&scratch);
    return result == Z_OK ? IG_OK
                          : ig_error(&module->context->diag, IG_LIMIT, NULL,
                                     "no memory to deflate the page's data");
}
