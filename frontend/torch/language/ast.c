/* The syntax tree of Python source: words for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/ast.h"

#include "base/vec.h"

#include <assert.h>

const char *ig_ast_kind_words(ig_ast_kind kind) {
    assert(kind < IG_AST_KIND_COUNT && "nodes have one of our kinds");
    static const char *const words[] = {
#define IG_WORDS(name, text) text,
        IG_AST_KIND_LIST(IG_WORDS)
#undef IG_WORDS
    };
    return words[kind];
}

const char *ig_ast_operator_text(ig_ast_operator op) {
    assert(op < IG_AST_OPERATOR_COUNT && "nodes have one of our operators");
    static const char *const texts[] = {
#define IG_TEXT(name, text, precedence) text,
        IG_AST_OPERATOR_LIST(IG_TEXT)
#undef IG_TEXT
    };
    return texts[op];
}

const char *ig_ast_dotted(const ig_ast *node, ig_arena *arena) {
    IG_VEC(const char *) parts = { 0 };
    for (; node->kind == IG_AST_ATTRIBUTE; node = node->as.attribute.object) {
        IG_PUSH(arena, &parts, node->as.attribute.name);
    }
    if (node->kind != IG_AST_NAME) {
        return NULL;
    }
    ig_writer writer;
    ig_writer_init(&writer, arena);
    ig_put(&writer, "%s", node->as.name);
    while (parts.count) {
        ig_put(&writer, ".%s", IG_POP(&parts));
    }
    return writer.data;
}
