/* Fuzzes the reader of TorchScript's source: no crash, what is read prints, and what
 * was printed prints the same again.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte says what the rest is: source, a type, an operator's schema, or the
 * source of a class whose parts are then looked at.
 */
#include "frontend/torch/language/code.h"
#include "frontend/torch/language/overload.h"
#include "tests/fuzz/report.h"
#include "tests/unit/torch/ast_print.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_case {
    ig_context context;
    ig_arena arena;
    ig_map names;
    uint32_t node_count;
    ig_script_types types;
    ig_str text;
} fuzz_case;

static const char *print(fuzz_case *c, const ig_ast_list *list) {
    ig_writer writer;
    ig_writer_init(&writer, &c->arena);
    ig_put_char(&writer, '\n');
    for (size_t i = 0; i < list->count; i++) {
        ig_ast_print(&writer, list->items[i], 0);
    }
    return writer.data;
}

/* A printed tree may be deeper than its source was: elif becomes a block. */
static void fuzz_source(fuzz_case *c) {
    ig_script_source source = { .context = &c->context,
                                .arena = &c->arena,
                                .names = &c->names,
                                .node_count = &c->node_count,
                                .file = "f",
                                .is_dialect = true };
    ig_ast_list list, again;
    if (ig_parse_source(&source, c->text, &list) != IG_OK) {
        return;
    }
    const char *first = print(c, &list);
    ig_status status = ig_parse_source(&source, ig_str_of(first), &again);
    if (status == IG_OK) {
        ig_fuzz_expect(strcmp(print(c, &again), first) == 0, "printed otherwise", first,
                       print(c, &again));
    }
}

static void fuzz_type(fuzz_case *c) {
    ig_location where = { .file = "f" };
    const ig_script_type *type, *again;
    if (ig_script_type_of_text(&c->types, &where, c->text, &type) != IG_OK) {
        return;
    }
    ig_status status = ig_script_type_of_text(&c->types, &where, ig_str_of(type->name),
                                              &again);
    ig_fuzz_expect(status == IG_OK && again == type, "a type prints otherwise",
                   type->name, "");
    ig_script_type_is_subtype(&c->types, type, c->types.simple[IG_SCRIPT_NUMBER]);
}

static void fuzz_schema(fuzz_case *c) {
    ig_location where = { .file = "f" };
    ig_schema *schema;
    const char *text = ig_arena_copy(&c->arena, c->text.data, c->text.size);
    if (ig_schema_parse(&c->types, &c->names, text, &where, &schema) == IG_OK) {
        ig_schema_argument_index(schema, "self");
    }
}

static ig_status read_text(void *user, const char *name, ig_str *out_text,
                           bool *out_found) {
    *out_text = ((fuzz_case *)user)->text;
    *out_found = strcmp(name, "code/__torch__.py") == 0;
    return IG_OK;
}

static void fuzz_class(fuzz_case *c) {
    ig_code code;
    const ig_class *class;
    const ig_function *function;
    ig_code_init(&code, &c->context, &c->arena, "f", "code/");
    code.read = read_text;
    code.user = c;
    if (ig_code_find(&code, "__torch__.A", &class, &function) == IG_OK && class) {
        ig_class_method(class, "forward");
        ig_script_type_is_subtype(&code.types, class->type,
                                  ig_script_type_class(&code.types, "__torch__.B"));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const ways[])(fuzz_case * c) = { fuzz_source, fuzz_type, fuzz_schema,
                                                   fuzz_class };
    if (size == 0) {
        return 0;
    }
    fuzz_case c = { .context = { .limits = ig_limits_default,
                                 .diag.sink = ig_fuzz_note_internal },
                    .text = { (const char *)data + 1, size - 1 } };
    ig_arena_init(&c.arena, NULL);
    ig_map_init(&c.names, &c.arena);
    ig_script_types_init(&c.types, &c.context, &c.arena);
    ways[data[0] & 3](&c);
    ig_arena_fini(&c.arena);
    return 0;
}
