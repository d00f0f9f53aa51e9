/* Structured arguments for a program that knows its tree: an artifact's.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The arguments are walked beside the program's tree.  Leaves become inputs, in the
 * tree's order; what the program was compiled for (keys, numbers, strings, None) must
 * be what is given.
 */
#include "tools/ingot/values/inputs.h"
#include "tools/ingot/values/show.h"
#include "tools/ingot/values/structured.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct matching {
    const model *m;
    call *to;
    const char *argument; /* the one that is walked, for messages */
} matching;

static ig_status refuse(const matching *x, const char *what) {
    complain(0, "argument '%s': %s", x->argument, what);
    return IG_INVALID;
}

/* ---- leaves ---- */

static ig_status give_tensor(matching *x, const structured *value, size_t input) {
    x->to->inputs[input] = *structured_tensor(value);
    return IG_OK;
}

static ig_status give_text(matching *x, size_t input, char *text) {
    ig_arguments *owner = NULL;
    ig_status status = ig_arguments_parse(x->m->context, text, NULL, &owner);
    if (status == IG_OK) {
        x->to->owners[input] = owner;
        x->to->inputs[input] = *ig_arguments_at(owner, 0);
    }
    free(text);
    return status;
}

static ig_status give_leaf(matching *x, const structured *value, size_t input) {
    if (value->kind == IG_TREE_TENSOR) {
        return give_tensor(x, value, input);
    }
    if (value->kind == IG_TREE_INT) {
        return give_text(x, input, text_of("i64[]=%lld", (long long)value->integer));
    }
    if (value->kind == IG_TREE_BOOL) {
        return give_text(x, input, text_of("bool[]=%d", value->integer != 0));
    }
    return value->kind == IG_TREE_FLOAT
               ? give_text(x, input, text_of("f64[]=%.17g", value->real))
               : refuse(x, "a container stands where the program takes a tensor");
}

/* ---- what was known when the program was compiled ---- */

static ig_status must_be_text(const matching *x, const ig_tree_node *node,
                              const structured *value) {
    char what[512];
    snprintf(what, sizeof what,
             "has '%.200s' where the program was compiled for '%.200s'", value->text,
             node->text);
    return strcmp(node->text, value->text) == 0 ? IG_OK : refuse(x, what);
}

static ig_status must_be_number(const matching *x, const ig_tree_node *node,
                                const structured *value) {
    bool is_same = node->kind == IG_TREE_FLOAT ? node->real == value->real
                                               : node->integer == value->integer;
    return is_same ? IG_OK
                   : refuse(x, "a number is another than the program was compiled for");
}

static ig_status match(matching *x, size_t at, const structured *value);

static ig_status match_items(matching *x, size_t at, const structured *value) {
    ig_tree_node node = model_node(x->m, at);
    if (node.child_count != value->count) {
        return refuse(x,
                      "has another number of items than the program was compiled for");
    }
    size_t child = at + 1;
    ig_status status = IG_OK;
    for (size_t i = 0; i < value->count && status == IG_OK; i++) {
        status = match(x, child, &value->items[i]);
        child += model_node(x->m, child).size;
    }
    return status;
}

/* Recursion is as deep as the program's tree, which its reader bounds. */
static ig_status match(matching *x, size_t at, const structured *value) {
    ig_tree_node node = model_node(x->m, at);
    if (node.leaf >= 0) {
        return give_leaf(x, value, (size_t)node.leaf);
    }
    if (node.kind != value->kind) {
        return refuse(
            x,
            "is of another kind than the program was compiled for; ingot info prints its signature");
    }
    if (node.kind == IG_TREE_STR) {
        return must_be_text(x, &node, value);
    }
    bool is_number = node.kind == IG_TREE_INT || node.kind == IG_TREE_BOOL ||
                     node.kind == IG_TREE_FLOAT;
    return is_number ? must_be_number(x, &node, value) : match_items(x, at, value);
}

/* ---- the call ---- */

/* A folder with a call in it, of a program whose tree is more than a list of
 * tensors. */
static bool is_call_folder(const settings *given, const model *m) {
    if (!given->inputs_from || !tree_is_structured(m)) {
        return false;
    }
    char *path = text_of("%s/values.json", given->inputs_from);
    bool is_there = access(path, F_OK) == 0;
    free(path);
    return is_there;
}

bool tree_is_given(const settings *given, const model *m) {
    if (is_call_folder(given, m)) {
        return true;
    }
    ig_tree_node root = model_node_count(m) ? model_node(m, 0) : (ig_tree_node){ 0 };
    size_t at = 1;
    for (int64_t i = 0; i < root.integer; i++) {
        ig_tree_node node = model_node(m, at);
        for (size_t k = 0; k < given->inputs.count; k++) {
            const char *text = given->inputs.items[k];
            size_t length = strlen(node.name);
            bool is_named = length > 0 && strncmp(text, node.name, length) == 0 &&
                            text[length] == '=';
            if (is_named && node.leaf < 0) {
                return true;
            }
        }
        at += node.size;
    }
    return false;
}

ig_status tree_inputs(const model *m, const structured *arguments, call *out) {
    ig_tree_node root = model_node(m, 0);
    matching x = { .m = m, .to = out };
    size_t at = 1;
    for (int64_t i = 0; i < root.integer; i++) {
        ig_tree_node node = model_node(m, at);
        const structured *value = structured_argument(arguments, node.name, (size_t)i);
        x.argument = node.name;
        ig_status status = value ? match(&x, at, value) : IG_OK;
        if (status != IG_OK) {
            return status;
        }
        at += node.size;
    }
    return inputs_check(m, out);
}

ig_status tree_take(const settings *given, const model *m, structured *out_arguments,
                    call *out) {
    ig_status status = structured_arguments(given, m->context, out_arguments);
    return status == IG_OK ? tree_inputs(m, out_arguments, out) : status;
}
