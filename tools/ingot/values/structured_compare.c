/* A model's result against a structured value that is wanted.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The model's tree is walked beside the wanted one.  What the model says as known must
 * be equal; leaves are compared by their outputs.  The words name the place: "result",
 * then a step for each container: "result.kjt.values", "result[2].y".
 */
#include "tools/ingot/values/show.h"
#include "tools/ingot/values/structured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
    const struct place *outer;
    const char *name; /* of a field or key, or NULL */
    size_t index;
} place;

typedef struct comparison {
    const call_result *got;
    const tolerance *within;
    words *why;
    size_t at; /* node of the model */
} comparison;

/* ---- words ---- */

static void put_place(const place *p, char *out, size_t size) {
    if (!p) {
        snprintf(out, size, "result");
        return;
    }
    put_place(p->outer, out, size);
    size_t used = strlen(out);
    if (p->name) {
        snprintf(out + used, size - used, ".%s", p->name);
    } else {
        snprintf(out + used, size - used, "[%zu]", p->index);
    }
}

static bool differ(const comparison *c, const place *at, const char *what) {
    char where[512];
    put_place(at, where, sizeof where);
    snprintf(c->why->text, sizeof c->why->text, "%s: %.3000s", where, what);
    return false;
}

static const char *kind_word(ig_tree_kind kind) {
    static const char *const names_of[] = {
        "a tensor",      "an int",
        "a float",       "a bool",
        "a str",         "None",
        "a list",        "a tuple",
        "a dict",        "a namedtuple",
        "an optional",   "a complex",
        "a tensor",      "a KeyedJaggedTensor",
        "a KeyedTensor", "a JaggedTensor",
        "a call",
    };
    return names_of[kind];
}

static bool wrong_kind(const comparison *c, const place *at, ig_tree_kind got,
                       ig_tree_kind want) {
    char text[128];
    snprintf(text, sizeof text, "got %s, want %s", kind_word(got), kind_word(want));
    return differ(c, at, text);
}

/* ---- numbers ---- */

static const ig_argument *leaf_of(const comparison *c, const ig_tree_node *node) {
    bool is_there = node->leaf >= 0 && (size_t)node->leaf < c->got->outputs->count;
    return is_there ? &c->got->outputs->items[node->leaf] : NULL;
}

static int64_t whole_of(const comparison *c, const ig_tree_node *node) {
    const ig_argument *leaf = leaf_of(c, node);
    if (!leaf) {
        return node->integer;
    }
    return strcmp(leaf->dtype, "i64") == 0 ? *(const int64_t *)leaf->data
                                           : (int64_t)ig_argument_number(leaf, 0);
}

static bool whole_agrees(comparison *c, const place *at, const ig_tree_node *node,
                         const structured *want) {
    int64_t got = whole_of(c, node);
    char text[128];
    snprintf(text, sizeof text, "got %lld, want %lld", (long long)got,
             (long long)want->integer);
    return got == want->integer ? true : differ(c, at, text);
}

static bool real_agrees(comparison *c, const place *at, const ig_tree_node *node,
                        const structured *want) {
    const ig_argument *leaf = leaf_of(c, node);
    double got = leaf ? ig_argument_number(leaf, 0) : node->real;
    double room = c->within->atol + c->within->rtol * fabs(want->real);
    char text[128];
    snprintf(text, sizeof text, "got %.9g, want %.9g", got, want->real);
    bool is_good = got == want->real || (isnan(got) && isnan(want->real)) ||
                   fabs(got - want->real) <= room;
    return is_good ? true : differ(c, at, text);
}

static bool text_agrees(comparison *c, const place *at, const ig_tree_node *node,
                        const structured *want) {
    char text[1024];
    snprintf(text, sizeof text, "got \"%.400s\", want \"%.400s\"", node->text,
             want->text);
    return strcmp(node->text, want->text) == 0 ? true : differ(c, at, text);
}

/* ---- tensors ---- */

static bool tensor_agrees(comparison *c, const place *at, const ig_tree_node *node,
                          const structured *want) {
    const ig_argument *leaf = leaf_of(c, node);
    words inner = { "" };
    if (!leaf) {
        return differ(c, at, "the model gives no such output");
    }
    return values_agree(leaf, structured_tensor(want), c->within, &inner)
               ? true
               : differ(c, at, inner.text);
}

static double scale_of(const comparison *c, const ig_tree_node *node) {
    const ig_argument *leaf = leaf_of(c, node);
    return leaf ? ig_argument_number(leaf, 0) : node->real;
}

static bool same_extents(const ig_argument *a, const ig_argument *b) {
    return strcmp(a->dtype, b->dtype) == 0 && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

/* Quantised tensors agree as the real numbers that they stand for. */
static bool quantized_agrees(comparison *c, const place *at, const structured *want) {
    const model *m = c->got->m;
    ig_tree_node values = model_node(m, c->at), scale = model_node(m, c->at + 1),
                 zero = model_node(m, c->at + 2);
    const ig_argument *got = leaf_of(c, &values);
    const ig_argument *wanted = structured_tensor(&want->items[0]);
    c->at += 3;
    if (!got || !same_extents(got, wanted)) {
        char *a = got ? type_text(got) : text_of("nothing");
        char *b = type_text(wanted);
        char *text = text_of("got %s, want %s", a, b);
        differ(c, at, text);
        free(a), free(b), free(text);
        return false;
    }
    double s = scale_of(c, &scale), t = want->items[1].real;
    int64_t z = whole_of(c, &zero), y = want->items[2].integer;
    for (size_t i = 0; i < element_count(got); i++) {
        double a = (ig_argument_number(got, i) - (double)z) * s;
        double b = (ig_argument_number(wanted, i) - (double)y) * t;
        if (fabs(a - b) > (c->within->atol + c->within->rtol * fabs(b)) * (1 + 1e-6)) {
            char text[160];
            snprintf(text, sizeof text, "element %zu got %.9g, want %.9g (quantized)",
                     i, a, b);
            return differ(c, at, text);
        }
    }
    return true;
}

/* ---- trees ---- */

static bool tree_agrees(comparison *c, const place *at, const structured *want);

static bool children_agree(comparison *c, const place *at, const ig_tree_node *node,
                           const structured *want) {
    if (node->child_count != want->count) {
        size_t parts = want->kind == IG_TREE_DICT ? 2 : 1;
        char text[96];
        snprintf(text, sizeof text, "got %zu items, want %zu",
                 node->child_count / parts, want->count / parts);
        return differ(c, at, text);
    }
    for (size_t i = 0; i < want->count; i++) {
        const structured *item = &want->items[i];
        bool is_value = want->kind == IG_TREE_DICT && i % 2 == 1;
        const char *name = is_value ? want->items[i - 1].text : item->name;
        place inner = { .outer = at, .name = name, .index = i };
        if (is_value && !name) {
            inner.index = (size_t)want->items[i - 1].integer;
        }
        ig_tree_node child = model_node(c->got->m, c->at);
        if (item->name && child.name[0] && strcmp(item->name, child.name) != 0) {
            return differ(c, &inner, "a field of this name is not what stands here");
        }
        if (!tree_agrees(c, &inner, item)) {
            return false;
        }
    }
    return true;
}

/* An optional that is there or not, as its first leaf says. */
static bool optional_agrees(comparison *c, const place *at, const ig_tree_node *node,
                            const structured *want) {
    ig_tree_node present = model_node(c->got->m, c->at);
    size_t end = c->at - 1 + node->size;
    bool is_there = whole_of(c, &present) != 0;
    c->at++;
    bool is_good = is_there ? tree_agrees(c, at, want)
                            : want->kind == IG_TREE_NONE ||
                                  wrong_kind(c, at, IG_TREE_NONE, want->kind);
    c->at = end;
    return is_good;
}

static bool tree_agrees(comparison *c, const place *at, const structured *want) {
    ig_tree_node node = model_node(c->got->m, c->at++);
    if (node.kind == IG_TREE_OPTIONAL) {
        return optional_agrees(c, at, &node, want);
    }
    if (node.kind != want->kind) {
        return wrong_kind(c, at, node.kind, want->kind);
    }
    switch (node.kind) {
    case IG_TREE_TENSOR:
        return tensor_agrees(c, at, &node, want);
    case IG_TREE_INT:
    case IG_TREE_BOOL:
        return whole_agrees(c, at, &node, want);
    case IG_TREE_FLOAT:
        return real_agrees(c, at, &node, want);
    case IG_TREE_STR:
        return text_agrees(c, at, &node, want);
    case IG_TREE_QUANTIZED:
        return quantized_agrees(c, at, want);
    case IG_TREE_NONE:
    case IG_TREE_CALL:
    case IG_TREE_OPTIONAL:
        return true;
    case IG_TREE_LIST:
    case IG_TREE_TUPLE:
    case IG_TREE_DICT:
    case IG_TREE_RECORD:
    case IG_TREE_COMPLEX:
    case IG_TREE_KJT:
    case IG_TREE_KT:
    case IG_TREE_JT:
        break;
    }
    return children_agree(c, at, &node, want);
}

bool structured_agrees(const call_result *got, const structured *want,
                       const tolerance *within, words *why) {
    comparison c = { .got = got, .within = within, .why = why };
    if (model_node_count(got->m) == 0) {
        snprintf(why->text, sizeof why->text, "the model has no result");
        return false;
    }
    c.at = tree_result(got->m);
    return tree_agrees(&c, NULL, want);
}

const ig_argument *structured_after(const call_result *got, const char *input) {
    size_t count = model_node_count(got->m), at = count ? tree_result(got->m) : 0;
    at += count ? model_node(got->m, at).size : 0;
    for (; at < count; at++) {
        ig_tree_node node = model_node(got->m, at);
        if (strcmp(node.name, input) == 0 && node.leaf >= 0 &&
            (size_t)node.leaf < got->outputs->count) {
            return &got->outputs->items[node.leaf];
        }
    }
    return NULL;
}
