/* Signature trees of models, as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The text is what ig_import_options takes: leaves are types, the rest is known.
 */
#include "tools/ingot/values/show.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tree_printer {
    const model *m;
    FILE *to;
    size_t at, result; /* node; the first after the arguments */
} tree_printer;

size_t tree_result(const model *m) {
    ig_tree_node root = model_node(m, 0);
    size_t at = 1;
    for (int64_t i = 0; i < root.integer; i++) {
        at += model_node(m, at).size;
    }
    return at;
}

bool tree_is_structured(const model *m) {
    size_t count = model_node_count(m);
    for (size_t i = 1; i < count; i++) {
        ig_tree_node node = model_node(m, i);
        if (node.kind != IG_TREE_TENSOR && node.kind != IG_TREE_TUPLE) {
            return true;
        }
    }
    return count > 0 && strcmp(model_node(m, 0).name, "forward") == 0;
}

/* In the forms of the IR's strings. */
static void put_quoted(FILE *to, const char *text) {
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            fprintf(to, "\\%c", *text);
        } else if (*text == '\n' || *text == '\t') {
            fputs(*text == '\n' ? "\\n" : "\\t", to);
        } else if ((unsigned char)*text < 32 || *text == 127) {
            fprintf(to, "\\x%02x", (unsigned)(unsigned char)*text);
        } else {
            putc(*text, to);
        }
    }
    putc('"', to);
}

static void put_real(FILE *to, double value) {
    char text[64];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value) {
        snprintf(text, sizeof text, "%.17g", value);
    }
    fprintf(to, "%s%s", text, strpbrk(text, ".ein") ? "" : ".0");
}

static const char *leaf_type(const tree_printer *p, const ig_tree_node *node) {
    size_t leaf = (size_t)node->leaf;
    return p->at > p->result ? model_output_type(p->m, leaf)
                             : model_input_type(p->m, leaf);
}

static void put_node(tree_printer *p);

static void put_children(tree_printer *p, const ig_tree_node *node, const char *open,
                         const char *close) {
    fputs(open, p->to);
    for (uint32_t i = 0; i < node->child_count; i++) {
        bool is_value = node->kind == IG_TREE_DICT && i % 2;
        fputs(is_value ? ": " : i ? ", " : "", p->to);
        const char *name = model_node(p->m, p->at).name;
        fprintf(p->to, "%s%s", name, name[0] ? "=" : "");
        put_node(p);
    }
    fputs(node->kind == IG_TREE_TUPLE && node->child_count == 1 ? "," : "", p->to);
    fputs(close, p->to);
}

static const char *word_of(ig_tree_kind kind) {
    static const char *const words_of[] = {
        "tensor",    "int",   "float", "bool",   "str",      "none",
        "list",      "tuple", "dict",  "record", "optional", "complex",
        "quantized", "kjt",   "kt",    "jt",     "call"
    };
    return words_of[kind];
}

static void put_node(tree_printer *p) {
    ig_tree_node node = model_node(p->m, p->at++);
    switch (node.kind) {
    case IG_TREE_TENSOR:
        fputs(leaf_type(p, &node), p->to);
        return;
    case IG_TREE_STR:
        put_quoted(p->to, node.text);
        return;
    case IG_TREE_LIST:
        put_children(p, &node, "[", "]");
        return;
    case IG_TREE_TUPLE:
        put_children(p, &node, "(", ")");
        return;
    case IG_TREE_DICT:
        put_children(p, &node, "{", "}");
        return;
    case IG_TREE_INT:
    case IG_TREE_FLOAT:
    case IG_TREE_BOOL:
    case IG_TREE_NONE:
        break;
    case IG_TREE_RECORD:
    case IG_TREE_OPTIONAL:
    case IG_TREE_COMPLEX:
    case IG_TREE_QUANTIZED:
    case IG_TREE_KJT:
    case IG_TREE_KT:
    case IG_TREE_JT:
    case IG_TREE_CALL:
        fputs(node.kind == IG_TREE_RECORD ? node.text : word_of(node.kind), p->to);
        put_children(p, &node, "(", ")");
        return;
    }
    if (node.leaf >= 0 || node.kind == IG_TREE_NONE) {
        fputs(word_of(node.kind), p->to);
    } else if (node.kind == IG_TREE_FLOAT) {
        put_real(p->to, node.real);
    } else if (node.kind == IG_TREE_BOOL) {
        fputs(node.integer ? "true" : "false", p->to);
    } else {
        fprintf(p->to, "%lld", (long long)node.integer);
    }
}

char *tree_text(const model *m, size_t at) {
    char *text = NULL;
    size_t size = 0;
    tree_printer p = { .m = m,
                       .to = need(open_memstream(&text, &size)),
                       .at = at,
                       .result = tree_result(m) };
    put_node(&p);
    fclose(p.to);
    return need(text);
}

/* ---- JSON ---- */

static void put_json(tree_printer *p) {
    ig_tree_node node = model_node(p->m, p->at++);
    printf("{\"kind\": \"%s\"", word_of(node.kind));
    if (node.name[0]) {
        fputs(", \"name\": ", stdout);
        put_json_text(stdout, node.name);
    }
    if (node.leaf >= 0) {
        printf(", \"%s\": %d, \"type\": ", p->at > p->result ? "output" : "input",
               (int)node.leaf);
        put_json_text(stdout, leaf_type(p, &node));
    } else if (node.kind == IG_TREE_INT || node.kind == IG_TREE_BOOL) {
        printf(", \"value\": %lld", (long long)node.integer);
    } else if (node.kind == IG_TREE_FLOAT && isfinite(node.real)) {
        printf(", \"value\": %.17g", node.real);
    } else if (node.kind == IG_TREE_FLOAT) {
        printf(", \"value\": \"%g\"", node.real);
    } else if (node.kind == IG_TREE_STR || node.kind == IG_TREE_RECORD) {
        fputs(node.kind == IG_TREE_STR ? ", \"value\": " : ", \"class\": ", stdout);
        put_json_text(stdout, node.text);
    }
    if (node.kind > IG_TREE_NONE) {
        fputs(", \"items\": [", stdout);
        for (uint32_t i = 0; i < node.child_count; i++) {
            fputs(i ? ", " : "", stdout);
            put_json(p);
        }
        putchar(']');
    }
    putchar('}');
}

void put_tree_json(const model *m, size_t at) {
    tree_printer p = { .m = m, .to = stdout, .at = at };
    if (model_node_count(m) == 0) {
        fputs("null", stdout);
        return;
    }
    p.result = tree_result(m);
    put_json(&p);
}
