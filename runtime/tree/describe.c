/* Words for nodes and values, in the errors of calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plan/plan.h"
#include "runtime/tree/call.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

/* A text that is cut where its memory ends. */
typedef struct words {
    char *text;
    size_t size, used;
} words;

IG_PRINTF(2, 3)
static void append_words(words *to, const char *format, ...) {
    if (to->used + 1 >= to->size) {
        return;
    }
    va_list args;
    va_start(args, format);
    int length = vsnprintf(to->text + to->used, to->size - to->used, format, args);
    va_end(args);
    to->used += length > 0 ? (size_t)length : 0;
    to->used = to->used < to->size ? to->used : to->size - 1;
}

static words start_words(char *text, size_t size) {
    if (size > 0) {
        text[0] = '\0';
    }
    return (words){ .text = text, .size = size };
}

/* ---- paths ---- */

static void append_argument(words *to, const ig_call *call, uint32_t node) {
    const ig_call_slot *slot = &call->slots[node];
    int64_t argument_count = call->nodes[0].integer;
    if (node == call->result) {
        append_words(to, "result");
    } else if ((int64_t)slot->position > argument_count) {
        append_words(to, "changed '%s'", call->nodes[node].name);
    } else if (slot->is_named) {
        append_words(to, "%s", call->nodes[node].name);
    } else {
        append_words(to, "args[%u]", (unsigned)slot->position);
    }
}

static void append_key(words *to, const ig_tree_node *key) {
    if (key->kind == IG_TREE_STR) {
        append_words(to, "['%s']", key->text);
    } else {
        append_words(to, "[%lld]", (long long)key->integer);
    }
}

static void append_step(words *to, const ig_call *call, uint32_t node) {
    const ig_call_slot *slot = &call->slots[node];
    const ig_tree_node *parent = &call->nodes[slot->parent];
    if (parent->kind == IG_TREE_CALL) {
        append_argument(to, call, node);
    } else if (parent->kind == IG_TREE_DICT && slot->position % 2 == 1) {
        append_key(to, &call->nodes[node - 1]); /* keys have no children */
    } else if (parent->kind == IG_TREE_DICT) {
        append_words(to, "[%u]", (unsigned)slot->position);
    } else if (call->nodes[node].name[0]) {
        append_words(to, ".%s", call->nodes[node].name);
    } else if (parent->kind != IG_TREE_OPTIONAL) {
        append_words(to, "[%u]", (unsigned)slot->position);
    }
}

void ig_call_put_path(const ig_call *call, uint32_t node, char *out, size_t size) {
    uint32_t chain[IG_CALL_DEPTH];
    size_t depth = 0;
    for (; node != 0; node = call->slots[node].parent) {
        assert(depth < IG_CALL_DEPTH && "creating refuses deeper trees");
        chain[depth++] = node;
    }
    words to = start_words(out, size);
    if (depth == 0) {
        append_words(&to, "args");
    }
    while (depth > 0) {
        append_step(&to, call, chain[--depth]);
    }
}

/* ---- kinds ---- */

static const char *describe_kind(ig_tree_kind kind) {
    static const char *const names[] = {
        [IG_TREE_TENSOR] = "a tensor",
        [IG_TREE_INT] = "an int",
        [IG_TREE_FLOAT] = "a float",
        [IG_TREE_BOOL] = "a bool",
        [IG_TREE_STR] = "a str",
        [IG_TREE_NONE] = "None",
        [IG_TREE_LIST] = "a list",
        [IG_TREE_TUPLE] = "a tuple",
        [IG_TREE_DICT] = "a dict",
        [IG_TREE_RECORD] = "a named tuple",
        [IG_TREE_OPTIONAL] = "an optional",
        [IG_TREE_COMPLEX] = "a complex number",
        [IG_TREE_QUANTIZED] = "a quantized tensor",
        [IG_TREE_KJT] = "a KeyedJaggedTensor",
        [IG_TREE_KT] = "a KeyedTensor",
        [IG_TREE_JT] = "a JaggedTensor",
        [IG_TREE_CALL] = "a call",
    };
    return (unsigned)kind <= IG_TREE_CALL ? names[kind] : "an unknown kind";
}

static bool append_known(words *to, ig_tree_kind kind, int64_t integer, double real,
                         const char *text) {
    if (kind == IG_TREE_INT) {
        append_words(to, "the int %lld", (long long)integer);
    } else if (kind == IG_TREE_BOOL) {
        append_words(to, "%s", integer ? "True" : "False");
    } else if (kind == IG_TREE_FLOAT) {
        append_words(to, "the float %.9g", real);
    } else if (kind == IG_TREE_STR) {
        append_words(to, "the str '%s'", text);
    } else {
        return false;
    }
    return true;
}

static bool append_port(words *to, const ig_call *call, const ig_tree_node *node) {
    const char *type = call->ports ? call->ports[node->leaf].type : NULL;
    if (!type || !type[0] || node->kind != IG_TREE_TENSOR) {
        return false;
    }
    append_words(to, "%s", type);
    return true;
}

void ig_call_put_expected(const ig_call *call, uint32_t index, char *out, size_t size) {
    const ig_tree_node *node = &call->nodes[index];
    words to = start_words(out, size);
    bool is_done = node->leaf >= 0 ? append_port(&to, call, node)
                                   : append_known(&to, node->kind, node->integer,
                                                  node->real, node->text);
    if (!is_done) {
        append_words(&to, "%s", describe_kind(node->kind));
    }
}

static void append_view(words *to, const ig_view *view) {
    append_words(to, "%s[", ig_dtype_code_name((uint32_t)view->dtype));
    for (uint32_t d = 0; d < view->rank && d < IG_MAX_RANK; d++) {
        append_words(to, "%s%lld", d ? ", " : "", (long long)view->dims[d]);
    }
    append_words(to, "]");
}

void ig_call_put_value(const ig_call_value *value, char *out, size_t size) {
    words to = start_words(out, size);
    if (value->kind == IG_TREE_TENSOR) {
        append_view(&to, value->view);
    } else if (!append_known(&to, value->kind, value->integer, value->real,
                             value->text)) {
        append_words(&to, "%s", describe_kind(value->kind));
    }
}
