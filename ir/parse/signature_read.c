/* Signature trees from text: the mirror of ig_signature_print.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     signature := name '(' [named {',' named}] ')' '->' tree
 *                  ['after' named {',' named}]
 *     named := name ':' tree
 *     tree := 'tensor' | dtype '[' … ']' | 'int' | 'float' | 'bool' | 'none'
 *           | number | 'true' | 'false' | string
 *           | '[' trees ']' | '(' trees ')' | '{' tree ':' tree, … '}'
 *           | name '(' name '=' tree, … ')'
 */
#include "ir/parse/signature_read.h"

#include "base/vec.h"
#include "ir/type.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 32, NODES_MAX = 100000 };

typedef struct node_reader {
    ig_lexer *lexer;
    ig_token token;
    ig_arena *arena;
    ig_node_list *nodes;
    uint32_t depth;
} node_reader;

static void read_token(node_reader *r) {
    r->token = ig_lexer_next(r->lexer);
}

static bool accept_token(node_reader *r, int kind) {
    bool is_it = r->token.kind == kind;
    if (is_it) {
        read_token(r);
    }
    return is_it;
}

static const char *say_expected(node_reader *r, const char *what) {
    if (r->token.kind == IG_TOKEN_BAD) {
        return ig_arena_printf(r->arena, "%.*s", IG_STR_ARG(r->token.text));
    }
    return ig_arena_printf(r->arena, "expected %s", what);
}

static const char *read_tree(node_reader *r);

/* A word, or a string. */
static const char *read_name(node_reader *r, const char *what, ig_str *out) {
    if (r->token.kind == IG_TOKEN_STRING) {
        const char *wrong = ig_token_string(&r->token, r->arena, out);
        if (wrong) {
            return wrong;
        }
    } else if (r->token.kind == IG_TOKEN_WORD) {
        *out = r->token.text;
    } else {
        return say_expected(r, what);
    }
    read_token(r);
    return NULL;
}

/* ---- containers ---- */

/* Trees up to `close`; counts them into `*count`. */
static const char *read_items(node_reader *r, int close, bool is_dict,
                              uint32_t *count) {
    *count = 0;
    while (r->token.kind != close) {
        const char *wrong = read_tree(r);
        bool is_key = is_dict && *count % 2 == 0;
        ++*count;
        if (wrong) {
            return wrong;
        }
        if (!accept_token(r, is_key ? ':' : ',') &&
            (is_key || r->token.kind != close)) {
            return say_expected(r, is_key ? "':' after a key" : "',' or the end of it");
        }
        if (is_key && r->token.kind == close) {
            return say_expected(r, "a value after the key");
        }
    }
    read_token(r);
    return NULL;
}

static const char *read_container(node_reader *r, ig_node_kind kind, int close) {
    uint32_t at = ig_node_add(r->arena, r->nodes, (ig_node){ .kind = kind });
    uint32_t count = 0;
    read_token(r);
    const char *wrong = read_items(r, close, kind == IG_NODE_DICT, &count);
    r->nodes->items[at].count = count;
    return wrong;
}

/* "(x=tree, y=tree)"; names may be absent where the kind has no fields. */
static const char *read_fields(node_reader *r, uint32_t *count) {
    *count = 0;
    read_token(r);
    while (r->token.kind != ')') {
        ig_str name = { 0 };
        ig_lexer ahead = *r->lexer;
        bool is_named = ig_lexer_next(&ahead).kind == '=';
        if (is_named) {
            const char *wrong = read_name(r, "the name of a field", &name);
            if (wrong) {
                return wrong;
            }
            read_token(r);
        }
        size_t at = r->nodes->count;
        const char *wrong = read_tree(r);
        if (wrong) {
            return wrong;
        }
        r->nodes->items[at].name = name;
        ++*count;
        if (!accept_token(r, ',') && r->token.kind != ')') {
            return say_expected(r, "',' or ')'");
        }
    }
    read_token(r);
    return NULL;
}

/* True when the children's names are those of the kind, in its order. */
static bool has_fields(const node_reader *r, uint32_t at, const char *fields) {
    uint32_t child = at + 1, count = 0;
    while (*fields) {
        size_t length = strcspn(fields, " ");
        if (count++ == r->nodes->items[at].count ||
            !ig_str_equal(r->nodes->items[child].name, (ig_str){ fields, length })) {
            return false;
        }
        child += ig_node_size(&r->nodes->items[child]);
        fields += length + (fields[length] == ' ');
    }
    return count == r->nodes->items[at].count;
}

static const char *read_record(node_reader *r, ig_str name, bool is_quoted) {
    ig_node node = { .kind = IG_NODE_RECORD, .text = name };
    for (uint32_t k = IG_NODE_OPTIONAL; k < IG_NODE_COUNT && !is_quoted; k++) {
        if (ig_str_is(name, ig_node_word((ig_node_kind)k))) {
            node = (ig_node){ .kind = (ig_node_kind)k };
        }
    }
    uint32_t at = ig_node_add(r->arena, r->nodes, node), count = 0;
    const char *wrong = read_fields(r, &count);
    r->nodes->items[at].count = count;
    const char *fields = ig_node_fields(node.kind);
    if (!wrong && fields && !has_fields(r, at, fields)) {
        return ig_arena_printf(r->arena, "%s has the fields %s, in this order",
                               ig_node_word(node.kind), fields);
    }
    return wrong;
}

/* ---- single nodes ---- */

static const char *add_number(node_reader *r) {
    bool is_negative = accept_token(r, '-');
    ig_str text = r->token.text;
    ig_node node = { .kind = IG_NODE_INT };
    bool is_good = false;
    if (r->token.kind == IG_TOKEN_INT) {
        const char *signed_text = ig_arena_printf(
            r->arena, "%s%.*s", is_negative ? "-" : "", IG_STR_ARG(text));
        is_good = ig_str_to_i64(ig_str_of(signed_text), &node.i);
    } else {
        node.kind = IG_NODE_FLOAT;
        is_good = ig_str_to_f64(text, &node.f) || ig_str_is(text, "inf");
        node.f = ig_str_is(text, "inf") ? (double)INFINITY : node.f;
        node.f = is_negative ? -node.f : node.f;
    }
    if (!is_good) {
        return say_expected(r, "a number that fits");
    }
    read_token(r);
    ig_node_add(r->arena, r->nodes, node);
    return NULL;
}

/* "f32[B, 13]": as far as the bracket that closes. */
static const char *read_type(node_reader *r, ig_str dtype) {
    ig_str type = dtype;
    while (r->token.kind != ']') {
        if (r->token.kind == IG_TOKEN_END || r->token.kind == IG_TOKEN_BAD) {
            return say_expected(r, "']' after the extents");
        }
        read_token(r);
    }
    type.size = (size_t)(r->token.text.data + 1 - type.data);
    read_token(r);
    ig_node_add(r->arena, r->nodes,
                (ig_node){ .kind = IG_NODE_TENSOR, .is_leaf = true, .text = type });
    return NULL;
}

static bool add_word(node_reader *r, ig_str word) {
    static const struct {
        const char *word;
        ig_node node;
    } words[] = {
        { "tensor", { .kind = IG_NODE_TENSOR, .is_leaf = true } },
        { "int", { .kind = IG_NODE_INT, .is_leaf = true } },
        { "float", { .kind = IG_NODE_FLOAT, .is_leaf = true } },
        { "bool", { .kind = IG_NODE_BOOL, .is_leaf = true } },
        { "none", { .kind = IG_NODE_NONE } },
        { "true", { .kind = IG_NODE_BOOL, .i = 1 } },
        { "false", { .kind = IG_NODE_BOOL } },
        { "inf", { .kind = IG_NODE_FLOAT, .f = INFINITY } },
        { "nan", { .kind = IG_NODE_FLOAT, .f = NAN } },
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (ig_str_is(word, words[i].word)) {
            ig_node_add(r->arena, r->nodes, words[i].node);
            return true;
        }
    }
    return false;
}

static const char *read_word(node_reader *r) {
    bool is_quoted = r->token.kind == IG_TOKEN_STRING;
    ig_str word;
    ig_dtype dtype;
    const char *wrong = read_name(r, "a value", &word);
    if (wrong) {
        return wrong;
    }
    if (r->token.kind == '(') {
        return read_record(r, word, is_quoted);
    }
    if (is_quoted) {
        ig_node_add(r->arena, r->nodes, (ig_node){ .kind = IG_NODE_STR, .text = word });
        return NULL;
    }
    if (r->token.kind == '[' && ig_dtype_parse(word, &dtype)) {
        return read_type(r, word);
    }
    if (!add_word(r, word)) {
        return ig_arena_printf(r->arena, "'%.*s' is neither a type nor a value",
                               IG_STR_ARG(word));
    }
    return NULL;
}

static const char *read_any(node_reader *r) {
    switch (r->token.kind) {
    case '[':
        return read_container(r, IG_NODE_LIST, ']');
    case '(':
        return read_container(r, IG_NODE_TUPLE, ')');
    case '{':
        return read_container(r, IG_NODE_DICT, '}');
    case '-':
    case IG_TOKEN_INT:
    case IG_TOKEN_FLOAT:
        return add_number(r);
    case IG_TOKEN_WORD:
    case IG_TOKEN_STRING:
        return read_word(r);
    default:
        return say_expected(r, "a type or a value");
    }
}

static const char *read_tree(node_reader *r) {
    if (r->depth == DEPTH_MAX || r->nodes->count == NODES_MAX) {
        return "nested too deep, or too much of it";
    }
    r->depth++;
    const char *wrong = read_any(r);
    r->depth--;
    return wrong;
}

/* ---- whole texts ---- */

const char *ig_node_parse(ig_str text, ig_arena *arena, ig_node_list *out) {
    ig_lexer lexer;
    *out = (ig_node_list){ 0 };
    ig_lexer_init(&lexer, text);
    node_reader r = { .lexer = &lexer, .arena = arena, .nodes = out };
    read_token(&r);
    const char *wrong = read_tree(&r);
    if (!wrong && r.token.kind != IG_TOKEN_END) {
        wrong = say_expected(&r, "nothing further");
    }
    return wrong;
}

/* "name: tree" */
static const char *read_named(node_reader *r) {
    ig_str name;
    size_t at = r->nodes->count;
    const char *wrong = read_name(r, "the name of an argument", &name);
    if (!wrong && !accept_token(r, ':')) {
        wrong = say_expected(r, "':' after the name of an argument");
    }
    wrong = wrong ? wrong : read_tree(r);
    if (!wrong) {
        r->nodes->items[at].name = name;
    }
    return wrong;
}

static const char *read_arguments(node_reader *r, ig_signature *out) {
    while (r->token.kind != ')') {
        const char *wrong = read_named(r);
        if (wrong) {
            return wrong;
        }
        out->arg_count++;
        if (!accept_token(r, ',') && r->token.kind != ')') {
            return say_expected(r, "',' or ')'");
        }
    }
    read_token(r);
    return NULL;
}

static const char *read_after(node_reader *r, ig_signature *out) {
    if (r->token.kind != IG_TOKEN_WORD || !ig_str_is(r->token.text, "after")) {
        return NULL;
    }
    do {
        size_t at = r->nodes->count;
        const char *wrong = NULL;
        read_token(r); /* "after", then commas */
        wrong = read_named(r);
        if (wrong) {
            return wrong;
        }
        if (r->nodes->items[at].kind != IG_NODE_TENSOR) {
            return say_expected(r, "tensors that the call changes");
        }
        out->after_count++;
    } while (r->token.kind == ',');
    return NULL;
}

const char *ig_signature_read(ig_lexer *lexer, ig_token *token, ig_arena *arena,
                              ig_signature *out) {
    *out = (ig_signature){ 0 };
    node_reader r = {
        .lexer = lexer, .token = *token, .arena = arena, .nodes = &out->nodes
    };
    ig_str name = { 0 };
    const char *wrong = read_name(&r, "the name of a method", &name);
    if (!wrong && !accept_token(&r, '(')) {
        wrong = say_expected(&r, "'('");
    }
    wrong = wrong ? wrong : read_arguments(&r, out);
    if (!wrong && !accept_token(&r, IG_TOKEN_ARROW)) {
        wrong = say_expected(&r, "'->' and the result");
    }
    wrong = wrong ? wrong : read_tree(&r);
    wrong = wrong ? wrong : read_after(&r, out);
    *token = r.token;
    out->entry = ig_arena_copy(arena, name.data ? name.data : "", name.size);
    return wrong;
}
