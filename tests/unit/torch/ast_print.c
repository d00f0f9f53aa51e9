/* Prints syntax trees as TorchScript's printer lays source out.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Source of libtorch comes out as it was, byte for byte: parentheses and last commas
 * are kept as flags, numbers and strings are spelt by the printer's own rules.
 */
#include "tests/unit/torch/ast_print.h"

#include "frontend/torch/language/ast.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void put_node(ig_writer *w, const ig_ast *node);

/* ---- literals ---- */

/* All digits, and a point where a whole number would stand otherwise. */
static void put_float(ig_writer *w, double value) {
    enum { DIGITS = 32 };
    char text[DIGITS];
    (void)snprintf(text, sizeof text, "%.17g", value);
    ig_put(w, "%s%s", text, text[strspn(text, "-0123456789")] ? "" : ".");
}

static void put_string(ig_writer *w, ig_str text) {
    static const char from[] = "\\'\"\a\b\f\n\r\t\v", to[] = "\\'\"abfnrtv";
    ig_put_char(w, '"');
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        const char *known = c ? strchr(from, c) : NULL;
        if (known) {
            ig_put(w, "\\%c", to[known - from]);
        } else if (c < 0x20 || c >= 0x7f) {
            ig_put(w, "\\%03o", c);
        } else {
            ig_put_char(w, (char)c);
        }
    }
    ig_put_char(w, '"');
}

/* ---- expressions ---- */

static void put_list(ig_writer *w, const ig_ast_list *list, bool has_comma) {
    for (size_t i = 0; i < list->count; i++) {
        ig_put(w, "%s", i ? ", " : "");
        put_node(w, list->items[i]);
    }
    ig_put(w, "%s", has_comma ? ", " : "");
}

/* A tuple's last comma has no blank after it where a parenthesis follows "(a,)". */
static void put_tuple(ig_writer *w, const ig_ast *node) {
    put_list(w, &node->as.list, false);
    ig_put(w, "%s", node->flags & IG_AST_COMMA ? "," : "");
}

static void put_call(ig_writer *w, const ig_ast *node) {
    size_t count = node->as.call.arguments.count;
    put_node(w, node->as.call.function);
    ig_put_char(w, '(');
    put_list(w, &node->as.call.arguments, false);
    for (size_t i = 0; i < node->as.call.keyword_count; i++) {
        const ig_ast_keyword *keyword = &node->as.call.keywords[i];
        ig_put(w, "%s", count + i ? ", " : "");
        ig_put(w, "%s%s", keyword->name ? keyword->name : "**",
               keyword->name ? "=" : "");
        put_node(w, keyword->value);
    }
    ig_put(w, "%s)", node->flags & IG_AST_COMMA ? ", " : "");
}

static void put_dict(ig_writer *w, const ig_ast *node) {
    ig_put_char(w, '{');
    for (size_t i = 0; i < node->as.dict.count; i++) {
        ig_put(w, "%s", i ? ", " : "");
        if (node->as.dict.keys[i]) {
            put_node(w, node->as.dict.keys[i]);
            ig_put(w, ": ");
        } else {
            ig_put(w, "**");
        }
        put_node(w, node->as.dict.values[i]);
    }
    ig_put_char(w, '}');
}

static void put_slice(ig_writer *w, const ig_ast *node) {
    if (node->as.slice.start) {
        put_node(w, node->as.slice.start);
    }
    ig_put_char(w, ':');
    if (node->as.slice.stop) {
        put_node(w, node->as.slice.stop);
    }
    if (node->as.slice.step) {
        ig_put_char(w, ':');
        put_node(w, node->as.slice.step);
    }
}

/* 1.+2.j, as the printer writes complex numbers, has no blanks. */
static void put_binary(ig_writer *w, const ig_ast *node, const char *between) {
    bool is_complex = node->kind == IG_AST_BINARY &&
                      node->as.binary.right->kind == IG_AST_IMAGINARY;
    put_node(w, node->as.binary.left);
    ig_put(w, is_complex ? "%s" : " %s ", between);
    put_node(w, node->as.binary.right);
}

static void put_comprehension(ig_writer *w, const ig_ast *node) {
    char open = node->as.comprehension.bracket;
    if (open != '(') {
        ig_put_char(w, open);
    }
    if (node->as.comprehension.key) {
        put_node(w, node->as.comprehension.key);
        ig_put(w, ": ");
    }
    put_node(w, node->as.comprehension.value);
    for (uint32_t i = 0; i < node->as.comprehension.clause_count; i++) {
        const ig_ast_clause *clause = &node->as.comprehension.clauses[i];
        ig_put(w, " for ");
        put_node(w, clause->target);
        ig_put(w, " in ");
        put_node(w, clause->iterable);
        for (size_t k = 0; k < clause->conditions.count; k++) {
            ig_put(w, " if ");
            put_node(w, clause->conditions.items[k]);
        }
    }
    if (open != '(') {
        ig_put_char(w, open == '[' ? ']' : '}');
    }
}

static void put_compare(ig_writer *w, const ig_ast *node) {
    assert(node->as.compare.count > 0 &&
           "the parser makes no comparison of one operand");
    put_node(w, node->as.compare.first);
    for (size_t i = 0; i < node->as.compare.count; i++) {
        ig_put(w, " %s ", ig_ast_operator_text(node->as.compare.ops[i]));
        put_node(w, node->as.compare.values[i]);
    }
}

static void put_conditional(ig_writer *w, const ig_ast *node) {
    put_node(w, node->as.conditional.yes);
    ig_put(w, " if ");
    put_node(w, node->as.conditional.test);
    ig_put(w, " else ");
    put_node(w, node->as.conditional.no);
}

static void put_unary(ig_writer *w, const ig_ast *node) {
    ig_put(w, "%s%s", ig_ast_operator_text(node->op),
           node->op == IG_AST_OP_NOT ? " " : "");
    put_node(w, node->as.value);
}

static void put_params(ig_writer *w, const ig_ast_def *def, const char *separator) {
    static const char *const stars[] = {
        [IG_AST_PARAM_STAR] = "*", [IG_AST_PARAM_STARS] = "**"
    };
    bool are_keywords = false;
    for (size_t i = 0; i < def->param_count; i++) {
        const ig_ast_param *param = &def->params[i];
        ig_put(w, "%s", i ? separator : "");
        if (param->kind == IG_AST_PARAM_KEYWORD && !are_keywords) {
            ig_put(w, "*%s", separator);
        }
        are_keywords = param->kind == IG_AST_PARAM_KEYWORD ||
                       param->kind == IG_AST_PARAM_STAR;
        const char *star = param->kind == IG_AST_PARAM_STAR ||
                                   param->kind == IG_AST_PARAM_STARS
                               ? stars[param->kind]
                               : "";
        ig_put(w, "%s%s", star, param->name);
        if (param->annotation) {
            ig_put(w, ": ");
            put_node(w, param->annotation);
        }
        if (param->value) {
            ig_put_char(w, '=');
            put_node(w, param->value);
        }
        bool is_last_positional = param->kind == IG_AST_PARAM_POSITIONAL &&
                                  (i + 1 == def->param_count ||
                                   def->params[i + 1].kind != IG_AST_PARAM_POSITIONAL);
        ig_put(w, "%s%s", is_last_positional ? separator : "",
               is_last_positional ? "/" : "");
    }
}

static void put_lambda(ig_writer *w, const ig_ast *node) {
    assert(node->as.def->body.count == 1 && "the body of a lambda is its one result");
    ig_put(w, "lambda%s", node->as.def->param_count ? " " : "");
    put_params(w, node->as.def, ", ");
    ig_put(w, ": ");
    put_node(w, node->as.def->body.items[0]->as.value);
}

static void put_marked(ig_writer *w, const char *mark, const ig_ast *value) {
    ig_put(w, "%s", mark);
    if (value) {
        put_node(w, value);
    }
}

/* Literals and names; false when `node` is none. */
static bool put_leaf(ig_writer *w, const ig_ast *node) {
    switch ((int)node->kind) {
    case IG_AST_NAME:
        ig_put(w, "%s", node->as.name);
        return true;
    case IG_AST_NONE:
        ig_put(w, "None");
        return true;
    case IG_AST_BOOL:
        ig_put(w, node->as.b ? "True" : "False");
        return true;
    case IG_AST_INT:
        ig_put(w, "%lld", (long long)node->as.i);
        return true;
    case IG_AST_FLOAT:
        put_float(w, node->as.f);
        return true;
    case IG_AST_IMAGINARY:
        put_float(w, node->as.f);
        ig_put_char(w, 'j');
        return true;
    case IG_AST_BYTES:
        ig_put_char(w, 'b');
        put_string(w, node->as.text);
        return true;
    case IG_AST_FORMATTED:
        ig_put_char(w, 'f');
        put_string(w, node->as.text);
        return true;
    case IG_AST_STRING:
        put_string(w, node->as.text);
        return true;
    case IG_AST_ELLIPSIS:
        ig_put(w, "...");
        return true;
    default:
        return false;
    }
}

/* The object before a point: "(0).real", for "0." is a number. */
static void put_object(ig_writer *w, const ig_ast *node) {
    bool is_bare_int = node->kind == IG_AST_INT && !(node->flags & IG_AST_PARENS);
    ig_put(w, is_bare_int ? "(" : "");
    put_node(w, node);
    ig_put(w, is_bare_int ? ")" : "");
}

static void put_bare(ig_writer *w, const ig_ast *node) {
    switch ((int)node->kind) {
    case IG_AST_ATTRIBUTE:
        put_object(w, node->as.attribute.object);
        ig_put(w, ".%s", node->as.attribute.name);
        break;
    case IG_AST_CALL:
        put_call(w, node);
        break;
    case IG_AST_SUBSCRIPT:
        put_node(w, node->as.subscript.object);
        ig_put_char(w, '[');
        put_node(w, node->as.subscript.index);
        ig_put_char(w, ']');
        break;
    case IG_AST_SLICE:
        put_slice(w, node);
        break;
    case IG_AST_TUPLE:
        put_tuple(w, node);
        break;
    case IG_AST_LIST:
    case IG_AST_SET:
        ig_put_char(w, node->kind == IG_AST_LIST ? '[' : '{');
        put_list(w, &node->as.list, node->flags & IG_AST_COMMA);
        ig_put_char(w, node->kind == IG_AST_LIST ? ']' : '}');
        break;
    case IG_AST_DICT:
        put_dict(w, node);
        break;
    case IG_AST_UNARY:
        put_unary(w, node);
        break;
    case IG_AST_BINARY:
        put_binary(w, node, ig_ast_operator_text(node->op));
        break;
    case IG_AST_NAMED:
        put_binary(w, node, ":=");
        break;
    case IG_AST_COMPARE:
        put_compare(w, node);
        break;
    case IG_AST_CONDITIONAL:
        put_conditional(w, node);
        break;
    case IG_AST_STARRED:
        put_marked(w, "*", node->as.value);
        break;
    case IG_AST_AWAIT:
        put_marked(w, "await ", node->as.value);
        break;
    case IG_AST_YIELD:
        put_marked(w, "yield ", node->as.value);
        break;
    case IG_AST_LAMBDA:
        put_lambda(w, node);
        break;
    case IG_AST_COMPREHENSION:
        put_comprehension(w, node);
        break;
    default:
        break; /* statements */
    }
}

/* One without parentheses of its own where it needs none. */
static void put_node(ig_writer *w, const ig_ast *node) {
    bool has_parens = node->flags & IG_AST_PARENS;
    if (has_parens) {
        ig_put_char(w, '(');
    }
    if (!put_leaf(w, node)) {
        put_bare(w, node);
    }
    if (has_parens) {
        ig_put_char(w, ')');
    }
}

/* ---- statements ---- */

static void put_statement(ig_writer *w, const ig_ast *node, int indent);

static void put_body(ig_writer *w, const ig_ast_list *body, int indent) {
    ig_put(w, ":\n");
    for (size_t i = 0; i < body->count; i++) {
        put_statement(w, body->items[i], indent + 1);
    }
}

/* A word at the margin, and what belongs to it. */
static void put_word(ig_writer *w, int indent, const char *word) {
    ig_put_spaces(w, 2 * indent);
    ig_put(w, "%s", word);
}

static void put_part(ig_writer *w, int indent, const char *word,
                     const ig_ast_list *body) {
    if (body->count) {
        put_word(w, indent, word);
        put_body(w, body, indent);
    }
}

static void put_decorators(ig_writer *w, const ig_ast_list *list, int indent) {
    for (size_t i = 0; i < list->count; i++) {
        put_marked(w, "@", list->items[i]);
        ig_put(w, "\n");
        ig_put_spaces(w, 2 * indent);
    }
}

static void put_def(ig_writer *w, const ig_ast *node, int indent) {
    const ig_ast_def *def = node->as.def;
    ig_writer separator;
    ig_writer_init(&separator, w->arena);
    ig_put(&separator, ",\n");
    ig_put_spaces(&separator, 4); /* at any indent */
    put_decorators(w, &def->decorators, indent);
    ig_put(w, "%sdef %s(", def->is_async ? "async " : "", def->name);
    put_params(w, def, separator.data);
    ig_put_char(w, ')');
    if (def->returns) {
        ig_put(w, " -> ");
        put_node(w, def->returns);
    }
    put_body(w, &def->body, indent);
}

static void put_class(ig_writer *w, const ig_ast *node, int indent) {
    const ig_ast_class *class = node->as.class;
    put_decorators(w, &class->decorators, indent);
    ig_put(w, "class %s", class->name);
    size_t count = class->bases.count + class->keyword_count;
    if (count) {
        ig_put_char(w, '(');
        put_list(w, &class->bases, false);
        for (size_t i = 0; i < class->keyword_count; i++) {
            ig_put(w, "%s%s=", class->bases.count + i ? ", " : "",
                   class->keywords[i].name ? class->keywords[i].name : "**");
            put_node(w, class->keywords[i].value);
        }
        ig_put_char(w, ')');
    }
    put_body(w, &class->body, indent);
}

static void put_try(ig_writer *w, const ig_ast *node, int indent) {
    const ig_ast_try *try = node->as.try;
    ig_put(w, "try");
    put_body(w, &try->body, indent);
    for (size_t i = 0; i < try->handler_count; i++) {
        const ig_ast_handler *handler = &try->handlers[i];
        put_word(w, indent, "except");
        if (handler->type) {
            put_marked(w, " ", handler->type);
        }
        ig_put(w, handler->name ? " as %s" : "%s", handler->name ? handler->name : "");
        put_body(w, &handler->body, indent);
    }
    put_part(w, indent, "else", &try->orelse);
    put_part(w, indent, "finally", &try->finally);
}

static void put_with(ig_writer *w, const ig_ast *node, int indent) {
    ig_put(w, "with ");
    for (size_t i = 0; i < node->as.with.count; i++) {
        ig_put(w, "%s", i ? ", " : "");
        put_node(w, node->as.with.contexts[i]);
        if (node->as.with.targets[i]) {
            put_marked(w, " as ", node->as.with.targets[i]);
        }
    }
    put_body(w, &node->as.with.body, indent);
}

static void put_branch(ig_writer *w, const ig_ast *node, const char *word, int indent) {
    put_marked(w, word, node->as.branch.test);
    put_body(w, &node->as.branch.body, indent);
    put_part(w, indent, "else", &node->as.branch.orelse);
}

static void put_for(ig_writer *w, const ig_ast *node, int indent) {
    put_marked(w, "for ", node->as.loop.target);
    put_marked(w, " in ", node->as.loop.iterable);
    put_body(w, &node->as.loop.body, indent);
    put_part(w, indent, "else", &node->as.loop.orelse);
}

/* Compound ones end with their body's line; true when `node` was one. */
static bool put_compound(ig_writer *w, const ig_ast *node, int indent) {
    if (node->flags & IG_AST_ASYNC) {
        ig_put(w, "async ");
    }
    switch ((int)node->kind) {
    case IG_AST_IF:
        put_branch(w, node, "if ", indent);
        return true;
    case IG_AST_WHILE:
        put_branch(w, node, "while ", indent);
        return true;
    case IG_AST_FOR:
        put_for(w, node, indent);
        return true;
    case IG_AST_WITH:
        put_with(w, node, indent);
        return true;
    case IG_AST_TRY:
        put_try(w, node, indent);
        return true;
    case IG_AST_DEF:
        put_def(w, node, indent);
        return true;
    case IG_AST_CLASS:
        put_class(w, node, indent);
        return true;
    default:
        return false;
    }
}

static void put_import(ig_writer *w, const ig_ast *node) {
    const char *between = "import ";
    if (node->as.import.module) {
        ig_put(w, "from ");
        for (uint32_t i = 0; i < node->as.import.level; i++) {
            ig_put_char(w, '.');
        }
        ig_put(w, "%s ", node->as.import.module);
    }
    for (size_t i = 0; i < node->as.import.count; i++) {
        const ig_ast_alias *alias = &node->as.import.aliases[i];
        ig_put(w, "%s%s", between, alias->name);
        ig_put(w, alias->as ? " as %s" : "%s", alias->as ? alias->as : "");
        between = ", ";
    }
}

static void put_assign(ig_writer *w, const ig_ast *node) {
    for (size_t i = 0; i < node->as.assign.targets.count; i++) {
        put_node(w, node->as.assign.targets.items[i]);
        ig_put(w, " = ");
    }
    put_node(w, node->as.assign.value);
}

static void put_annotated(ig_writer *w, const ig_ast *node) {
    put_node(w, node->as.annotated.target);
    put_marked(w, " : ", node->as.annotated.type);
    if (node->as.annotated.value) {
        put_marked(w, " = ", node->as.annotated.value);
    }
}

static void put_pair(ig_writer *w, const ig_ast *node, const char *word,
                     const char *between) {
    ig_put(w, "%s", word);
    if (node->as.pair.first) {
        put_marked(w, " ", node->as.pair.first);
    }
    if (node->as.pair.second) {
        put_marked(w, between, node->as.pair.second);
    }
}

static void put_simple(ig_writer *w, const ig_ast *node) {
    switch ((int)node->kind) {
    case IG_AST_EXPRESSION:
        put_node(w, node->as.value);
        break;
    case IG_AST_ASSIGN:
        put_assign(w, node);
        break;
    case IG_AST_ANNOTATED:
        put_annotated(w, node);
        break;
    case IG_AST_AUGMENTED:
        put_node(w, node->as.binary.left);
        ig_put(w, " %s= ", ig_ast_operator_text(node->op));
        put_node(w, node->as.binary.right);
        break;
    case IG_AST_RETURN:
        put_marked(w, node->as.value ? "return " : "return", node->as.value);
        break;
    case IG_AST_RAISE:
        put_pair(w, node, "raise", " from ");
        break;
    case IG_AST_ASSERT:
        put_pair(w, node, "assert", ", ");
        break;
    case IG_AST_DELETE:
        ig_put(w, "del ");
        put_list(w, &node->as.list, false);
        break;
    case IG_AST_GLOBAL:
        ig_put(w, "global");
        for (size_t i = 0; i < node->as.names.count; i++) {
            ig_put(w, "%s%s", i ? ", " : " ", node->as.names.items[i]);
        }
        break;
    case IG_AST_IMPORT:
        put_import(w, node);
        break;
    case IG_AST_PASS:
    case IG_AST_BREAK:
    case IG_AST_CONTINUE:
        ig_put(w, "%s", ig_ast_kind_words(node->kind));
        break;
    default:
        put_node(w, node);
        break;
    }
}

static void put_statement(ig_writer *w, const ig_ast *node, int indent) {
    ig_put_spaces(w, 2 * indent);
    if (!put_compound(w, node, indent)) {
        put_simple(w, node);
        ig_put_char(w, '\n');
    }
}

void ig_ast_print(ig_writer *writer, const ig_ast *node, int indent) {
    if (node->kind < IG_AST_EXPRESSION) {
        put_node(writer, node);
    } else {
        put_statement(writer, node, indent);
    }
}
