/* Signature trees: walking, copying and printing.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nodes are stored depth first in one array, so a tree is walked with a counter;
 * recursion goes as deep as the tree, which the reader and the importers bound.
 */
#include "ir/signature.h"

#include "base/vec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *word, *fields;
} kinds[] = {
#define IG_NODE_ROW(name, word, fields) [IG_NODE_##name] = { word, fields },
    IG_NODES(IG_NODE_ROW)
#undef IG_NODE_ROW
};

const char *ig_node_word(ig_node_kind kind) {
    return kinds[kind].word;
}

const char *ig_node_fields(ig_node_kind kind) {
    return kinds[kind].fields;
}

uint32_t ig_node_size(const ig_node *nodes) {
    uint64_t open = 1, size = 0;
    while (open) {
        open += (uint64_t)nodes[size++].count;
        open--;
    }
    return (uint32_t)size;
}

uint32_t ig_node_leaves(const ig_node *nodes, size_t count) {
    uint32_t leaves = 0;
    for (size_t i = 0; i < count; i++) {
        leaves += nodes[i].is_leaf;
    }
    return leaves;
}

uint32_t ig_signature_result(const ig_signature *signature) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < signature->arg_count; i++) {
        at += ig_node_size(&signature->nodes.items[at]);
    }
    return at;
}

uint32_t ig_node_add(ig_arena *arena, ig_node_list *nodes, ig_node node) {
    IG_PUSH(arena, nodes, node);
    return (uint32_t)nodes->count - 1;
}

static ig_str copy_text(ig_arena *arena, ig_str text) {
    return (ig_str){ text.size ? ig_arena_copy(arena, text.data, text.size) : "",
                     text.size };
}

const ig_signature *ig_signature_copy(const ig_signature *from, ig_arena *arena) {
    if (!from) {
        return NULL;
    }
    ig_signature *copy = IG_NEW(arena, ig_signature);
    *copy = *from;
    copy->entry = copy_text(arena, ig_str_of(from->entry)).data;
    copy->nodes.items = IG_NEW_ARRAY(arena, ig_node, from->nodes.count);
    copy->nodes.capacity = from->nodes.count;
    for (size_t i = 0; i < from->nodes.count; i++) {
        copy->nodes.items[i] = from->nodes.items[i];
        copy->nodes.items[i].name = copy_text(arena, from->nodes.items[i].name);
        copy->nodes.items[i].text = copy_text(arena, from->nodes.items[i].text);
    }
    return copy;
}

/* ---- paths ---- */

typedef struct path_walk {
    ig_arena *arena;
    uint32_t leaf; /* looked for: this many leaves further on */
    uint32_t at;   /* node */
} path_walk;

/* What child `index` is called in its parent; a dict's key is the node before it. */
static const char *step_of(path_walk *w, const ig_node *nodes, const ig_node *parent,
                           uint32_t index) {
    const ig_node *child = &nodes[w->at];
    if (child->name.size) {
        return ig_arena_printf(w->arena, "%.*s", IG_STR_ARG(child->name));
    }
    if (parent->kind != IG_NODE_DICT) {
        return ig_arena_printf(w->arena, "%u", index);
    }
    const ig_node *key = child - 1;
    return key->kind == IG_NODE_STR
               ? ig_arena_printf(w->arena, "%.*s", IG_STR_ARG(key->text))
               : ig_arena_printf(w->arena, "%lld", (long long)key->i);
}

/* The path below nodes[w->at] to the leaf, or NULL and the walk is past the tree. */
static const char *find_path(path_walk *w, const ig_node *nodes) {
    const ig_node *node = &nodes[w->at];
    w->at++;
    if (node->is_leaf && w->leaf-- == 0) {
        return "";
    }
    for (uint32_t i = 0; i < node->count; i++) {
        const char *step = step_of(w, nodes, node, i);
        const char *rest = find_path(w, nodes);
        if (rest) {
            return *rest ? ig_arena_printf(w->arena, "%s.%s", step, rest) : step;
        }
    }
    return NULL;
}

const char *ig_node_path(const ig_node *nodes, size_t count, uint32_t leaf,
                         ig_arena *arena) {
    path_walk w = { .arena = arena, .leaf = leaf };
    while (w.at < count) {
        ig_str name = nodes[w.at].name;
        const char *rest = find_path(&w, nodes);
        if (rest && name.size) {
            return ig_arena_printf(arena, "%.*s%s%s", IG_STR_ARG(name),
                                   *rest ? "." : "", rest);
        }
        if (rest) {
            return rest;
        }
    }
    return "";
}

/* ---- printing ---- */

typedef struct node_printer {
    const ig_signature_style *style;
    const ig_node *nodes;
    uint32_t at, leaf;
    ig_writer *out;
} node_printer;

/* A word that the reader takes for a name; anything else is quoted. */
static void put_name(ig_writer *out, ig_str name) {
    bool is_word = name.size > 0 && !strchr("0123456789.", name.data[0]);
    for (size_t i = 0; i < name.size && is_word; i++) {
        char c = name.data[i];
        is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '_' || c == '.';
    }
    for (uint32_t k = 0; k < IG_NODE_COUNT && is_word; k++) {
        is_word = !ig_str_is(name, kinds[k].word);
    }
    if (is_word) {
        ig_put_str(out, name);
    } else {
        ig_put_quoted(out, name);
    }
}

static void put_real(ig_writer *out, double value) {
    if (isnan(value)) {
        ig_put(out, "nan");
        return;
    }
    if (isinf(value)) {
        ig_put(out, value < 0 ? "-inf" : "inf");
        return;
    }
    size_t start = out->size;
    ig_put_f64(out, value);
    ig_str text = ig_writer_str(out);
    bool is_whole = true;
    for (size_t i = start; i < text.size; i++) {
        is_whole = is_whole && !strchr(".eE", text.data[i]);
    }
    ig_put(out, "%s", is_whole ? ".0" : "");
}

static void put_tensor(node_printer *p, const ig_node *node) {
    if (p->style && p->style->type_of) {
        p->style->type_of(p->style->user, p->leaf, p->out);
    } else if (node->text.size) {
        ig_put_str(p->out, node->text);
    } else {
        ig_put(p->out, "tensor");
    }
}

static void put_tree(node_printer *p);

static void put_children(node_printer *p, uint32_t count, bool is_dict,
                         bool has_names) {
    for (uint32_t i = 0; i < count; i++) {
        const char *between = is_dict && i % 2 ? ": " : i ? ", " : "";
        ig_put(p->out, "%s", between);
        ig_str name = p->nodes[p->at].name;
        if (has_names && name.size) {
            put_name(p->out, name);
            ig_put_char(p->out, '=');
        }
        put_tree(p);
    }
}

static void put_container(node_printer *p, const ig_node *node) {
    bool is_plain = node->kind == IG_NODE_LIST || node->kind == IG_NODE_TUPLE ||
                    node->kind == IG_NODE_DICT;
    const char *pair = node->kind == IG_NODE_LIST   ? "[]"
                       : node->kind == IG_NODE_DICT ? "{}"
                                                    : "()";
    if (node->kind == IG_NODE_RECORD) {
        put_name(p->out, node->text);
    } else if (!is_plain) {
        ig_put(p->out, "%s", kinds[node->kind].word);
    }
    ig_put_char(p->out, pair[0]);
    put_children(p, node->count, node->kind == IG_NODE_DICT, !is_plain);
    ig_put(p->out, "%s", node->kind == IG_NODE_TUPLE && node->count == 1 ? "," : "");
    ig_put_char(p->out, pair[1]);
}

static void put_tree(node_printer *p) {
    const ig_node *node = &p->nodes[p->at++];
    if (node->kind == IG_NODE_TENSOR) {
        put_tensor(p, node);
    } else if (node->is_leaf || node->kind == IG_NODE_NONE) {
        ig_put(p->out, "%s", kinds[node->kind].word);
    } else if (node->kind == IG_NODE_INT) {
        ig_put(p->out, "%lld", (long long)node->i);
    } else if (node->kind == IG_NODE_BOOL) {
        ig_put(p->out, "%s", node->i ? "true" : "false");
    } else if (node->kind == IG_NODE_FLOAT) {
        put_real(p->out, node->f);
    } else if (node->kind == IG_NODE_STR) {
        ig_put_quoted(p->out, node->text);
    } else {
        put_container(p, node);
    }
    p->leaf += node->is_leaf;
}

void ig_node_print(const ig_node *nodes, const ig_signature_style *style,
                   uint32_t *leaf, ig_writer *out) {
    node_printer p = { .style = style, .nodes = nodes, .leaf = *leaf, .out = out };
    put_tree(&p);
    *leaf = p.leaf;
}

void ig_signature_print(const ig_signature *signature, const ig_signature_style *style,
                        ig_writer *out) {
    node_printer p = { .style = style, .nodes = signature->nodes.items, .out = out };
    put_name(out, ig_str_of(signature->entry));
    ig_put_char(out, '(');
    for (uint32_t i = 0; i < signature->arg_count; i++) {
        ig_put(out, "%s", i ? ", " : "");
        put_name(out, p.nodes[p.at].name);
        ig_put(out, ": ");
        put_tree(&p);
    }
    ig_put(out, ") -> ");
    put_tree(&p);
    for (uint32_t i = 0; i < signature->after_count; i++) {
        ig_put(out, i ? ", " : " after ");
        put_name(out, p.nodes[p.at].name);
        ig_put(out, ": ");
        put_tree(&p);
    }
    assert(p.at == signature->nodes.count && "trees make up the signature");
}
