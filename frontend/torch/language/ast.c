/* The syntax tree of Python source: words for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/ast.h"

#include "base/vec.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

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

/* ---- children ---- */

static void visit_list(const ig_ast_list *list, ig_ast_visit visit, void *user) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]) {
            visit(user, list->items[i]);
        }
    }
}

/* Where a kind of nodes has children: a node or NULL, a list, an array and its
 * count. */
typedef struct field {
    enum { NO_FIELD, ONE_NODE, NODE_LIST, NODE_ARRAY } form;
    size_t at, count_at;
} field;

#define ONE(member) \
    { ONE_NODE, offsetof(ig_ast, as.member), 0 }
#define LIST(member) \
    { NODE_LIST, offsetof(ig_ast, as.member), 0 }
#define ARRAY(member, count) \
    { NODE_ARRAY, offsetof(ig_ast, as.member), offsetof(ig_ast, as.count) }

/* Functions and classes inside are others' affair, annotations nobody's. */
static const field fields[IG_AST_KIND_COUNT][4] = {
    [IG_AST_ATTRIBUTE] = { ONE(attribute.object) },
    [IG_AST_CALL] = { ONE(call.function), LIST(call.arguments) }, /* and keywords */
    [IG_AST_SUBSCRIPT] = { ONE(subscript.object), ONE(subscript.index) },
    [IG_AST_SLICE] = { ONE(slice.start), ONE(slice.stop), ONE(slice.step) },
    [IG_AST_TUPLE] = { LIST(list) },
    [IG_AST_LIST] = { LIST(list) },
    [IG_AST_SET] = { LIST(list) },
    [IG_AST_DELETE] = { LIST(list) },
    [IG_AST_DICT] = { ARRAY(dict.keys, dict.count), ARRAY(dict.values, dict.count) },
    [IG_AST_UNARY] = { ONE(value) },
    [IG_AST_STARRED] = { ONE(value) },
    [IG_AST_AWAIT] = { ONE(value) },
    [IG_AST_YIELD] = { ONE(value) },
    [IG_AST_EXPRESSION] = { ONE(value) },
    [IG_AST_RETURN] = { ONE(value) },
    [IG_AST_BINARY] = { ONE(binary.left), ONE(binary.right) },
    [IG_AST_NAMED] = { ONE(binary.left), ONE(binary.right) },
    [IG_AST_AUGMENTED] = { ONE(binary.left), ONE(binary.right) },
    [IG_AST_COMPARE] = { ONE(compare.first), ARRAY(compare.values, compare.count) },
    [IG_AST_CONDITIONAL] = { ONE(conditional.test), ONE(conditional.yes),
                             ONE(conditional.no) },
    [IG_AST_COMPREHENSION] = { ONE(comprehension.key), ONE(comprehension.value) },
    [IG_AST_ASSIGN] = { ONE(assign.value), LIST(assign.targets) },
    [IG_AST_ANNOTATED] = { ONE(annotated.value), ONE(annotated.target) },
    [IG_AST_IF] = { ONE(branch.test), LIST(branch.body), LIST(branch.orelse) },
    [IG_AST_WHILE] = { ONE(branch.test), LIST(branch.body), LIST(branch.orelse) },
    [IG_AST_FOR] = { ONE(loop.iterable), ONE(loop.target), LIST(loop.body),
                     LIST(loop.orelse) },
    [IG_AST_WITH] = { ARRAY(with.contexts, with.count), ARRAY(with.targets, with.count),
                      LIST(with.body) },
    [IG_AST_RAISE] = { ONE(pair.first), ONE(pair.second) },
    [IG_AST_ASSERT] = { ONE(pair.first), ONE(pair.second) },
};

static void visit_field(const ig_ast *node, const field *of, ig_ast_visit visit,
                        void *user) {
    const char *at = (const char *)node + of->at;
    ig_ast_list list = { NULL, 1 };
    if (of->form == ONE_NODE) {
        list.items = (ig_ast **)(uintptr_t)at;
    } else if (of->form == NODE_LIST) {
        memcpy(&list, at, sizeof list);
    } else {
        memcpy(&list.items, at, sizeof list.items);
        memcpy(&list.count, (const char *)node + of->count_at, sizeof list.count);
    }
    visit_list(&list, visit, user);
}

static void visit_clauses(const ig_ast *node, ig_ast_visit visit, void *user) {
    for (uint32_t i = 0; i < node->as.comprehension.clause_count; i++) {
        const ig_ast_clause *clause = &node->as.comprehension.clauses[i];
        visit(user, clause->target);
        visit(user, clause->iterable);
        visit_list(&clause->conditions, visit, user);
    }
}

static void visit_try(const ig_ast_try *node, ig_ast_visit visit, void *user) {
    visit_list(&node->body, visit, user);
    for (size_t i = 0; i < node->handler_count; i++) {
        visit_list(&node->handlers[i].body, visit, user);
    }
    visit_list(&node->orelse, visit, user);
    visit_list(&node->finally, visit, user);
}

void ig_ast_each_child(const ig_ast *node, ig_ast_visit visit, void *user) {
    if (node->kind == IG_AST_COMPREHENSION) {
        visit_clauses(node, visit, user);
    } else if (node->kind == IG_AST_TRY) {
        visit_try(node->as.try, visit, user);
    }
    for (size_t i = 0; i < IG_COUNT_OF(fields[0]) && fields[node->kind][i].form; i++) {
        visit_field(node, &fields[node->kind][i], visit, user);
    }
    for (size_t i = 0; node->kind == IG_AST_CALL && i < node->as.call.keyword_count;
         i++) {
        visit(user, node->as.call.keywords[i].value);
    }
}
