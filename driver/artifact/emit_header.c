/* A C header over an artifact that is linked into a program.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/artifact/emit.h"

#include "base/writer.h"

#include <ctype.h>
#include <string.h>

/* A port's name as part of an enumerator. */
static void put_name(ig_writer *out, const char *name) {
    for (const char *at = name; *at; at++) {
        ig_put_char(out, isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at)
                                                     : '_');
    }
}

typedef struct port_list {
    const char *kind;
    size_t (*count)(const ig_module *);
    const char *(*name)(ig_module *, size_t);
    const char *(*type)(ig_module *, size_t);
} port_list;

static const port_list inputs = { "input", ig_module_input_count, ig_module_input_name,
                                  ig_module_input_type };
static const port_list outputs = { "output", ig_module_output_count,
                                   ig_module_output_name, ig_module_output_type };

/* Enumerators are numbered, as names that differ in the file may not differ here. */
static void put_ports(ig_writer *out, const char *symbol, const port_list *ports,
                      ig_module *module) {
    size_t count = ports->count(module);
    ig_put(out, "\nenum { /* %ss, in order */\n", ports->kind);
    for (size_t i = 0; i < count; i++) {
        ig_put(out, "    %s_%s_%zu_", symbol, ports->kind, i);
        put_name(out, ports->name(module, i));
        ig_put(out, " = %zu, /* ", i);
        for (const char *at = ports->type(module, i); *at; at++) {
            ig_put_char(out, *at == '/' ? '|' : *at); /* no end of comment */
        }
        ig_put(out, " */\n");
    }
    ig_put(out, "    %s_%s_count = %zu\n};\n", symbol, ports->kind, count);
}

ig_str ig_emit_header(ig_arena *arena, const char *symbol, ig_module *module) {
    ig_writer out;
    ig_writer_init(&out, arena);
    ig_put(
        &out,
        "/* Made by ingot compile --emit=header; link with the object that --emit=object makes. */\n");
    ig_put(&out, "#ifndef %s_H\n#define %s_H\n\n#include <ingot/runtime.h>\n\n", symbol,
           symbol);
    ig_put(&out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    ig_put(&out,
           "extern const unsigned char %s[];\n"
           "extern const uint64_t %s_size, %s_code_size;\n"
           "const void *%s_code(void); /* where it may run */\n",
           symbol, symbol, symbol, symbol);
    put_ports(&out, symbol, &inputs, module);
    put_ports(&out, symbol, &outputs, module);
    ig_put(&out,
           "\nstatic inline ig_status %s_open(const ig_program_options *options,\n"
           "        ig_program **out_program) {\n"
           "    static ig_program_options none;\n"
           "    ig_program_options with = options ? *options : none;\n"
           "    with.size = options ? options->size : sizeof with;\n"
           "    with.code = %s_code();\n"
           "    with.code_size = (size_t)%s_code_size;\n"
           "    return ig_program_open_memory(%s, (size_t)%s_size, &with,\n"
           "                                  out_program);\n}\n\n",
           symbol, symbol, symbol, symbol, symbol);
    ig_put(&out,
           "static inline ig_status %s_run(ig_session *session, const ig_view *in,\n"
           "        ig_view *out) {\n"
           "    return ig_session_run(session, in, %s_input_count, out,\n"
           "                          %s_output_count);\n}\n\n",
           symbol, symbol, symbol);
    ig_put(&out, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
    return ig_writer_str(&out);
}
