/* Examples of arguments, for the message that asks for them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/entry/entry.h"

#include <assert.h>
#include <string.h>

enum { DEPTH_MAX = 8 };

/* Examples of types without items. */
static const char *const simple[IG_SCRIPT_KIND_COUNT] = {
    [IG_SCRIPT_TENSOR] = "f32[B, 13]",
    [IG_SCRIPT_INT] = "3",
    [IG_SCRIPT_FLOAT] = "0.5",
    [IG_SCRIPT_BOOL] = "true",
    [IG_SCRIPT_COMPLEX] = "complex(1.0, 0.0)",
    [IG_SCRIPT_NUMBER] = "0.5",
    [IG_SCRIPT_STR] = "\"text\"",
    [IG_SCRIPT_NONE] = "none",
    [IG_SCRIPT_OPTIONAL] = "none",
};

/* Classes that trees have a word for, by the end of their names. */
static const char *class_example(const char *name) {
    static const char *const classes[][2] = {
        { "KeyedJaggedTensor",
          "kjt(keys=[\"f1\", \"f2\"], values=i64[V], lengths=i64[L], weights=none)" },
        { "KeyedTensor", "kt(keys=[\"a\"], length_per_key=[8], values=f32[B, 8])" },
        { "JaggedTensor", "jt(values=f32[V], lengths=i64[B], weights=none)" },
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; i < IG_COUNT_OF(classes); i++) {
        if (strcmp(dot ? dot + 1 : name, classes[i][0]) == 0) {
            return classes[i][1];
        }
    }
    return "record(x=f32[B, 13])";
}

static void put_example(const ig_script_type *type, int depth, const char *tensor,
                        ig_writer *out);

static void put_items(const ig_script_type *type, int depth, const char *tensor,
                      ig_writer *out) {
    for (size_t i = 0; i < type->count; i++) {
        ig_put(out, i ? ", " : "");
        put_example(type->items[i], depth + 1, tensor, out);
    }
}

/* `tensor` is what one of the argument's tensors may be. */
static void put_example(const ig_script_type *type, int depth, const char *tensor,
                        ig_writer *out) {
    assert(depth <= DEPTH_MAX && "examples end at a depth");
    if (!type || type->kind == IG_SCRIPT_TENSOR || depth == DEPTH_MAX) {
        ig_put(out, "%s", tensor);
    } else if (simple[type->kind]) {
        ig_put(out, "%s", simple[type->kind]);
    } else if (type->kind == IG_SCRIPT_LIST) {
        ig_put_char(out, '[');
        put_items(type, depth, tensor, out);
        ig_put_char(out, ']');
    } else if (type->kind == IG_SCRIPT_TUPLE) {
        ig_put_char(out, '(');
        put_items(type, depth, tensor, out);
        ig_put(out, type->count == 1 ? ",)" : ")");
    } else if (type->kind == IG_SCRIPT_DICT && type->count == 2) {
        bool is_text = type->items[0]->kind == IG_SCRIPT_STR;
        ig_put(out, is_text ? "{\"key\": " : "{1: ");
        put_example(type->items[1], depth + 1, tensor, out);
        ig_put_char(out, '}');
    } else if (type->kind == IG_SCRIPT_CLASS) {
        ig_put(out, "%s", class_example(type->name));
    } else {
        ig_put(out, "%s", tensor);
    }
}

/* Tensors of ids are told by the argument's name. */
static const char *tensor_example(const char *name) {
    static const char *const whole[] = { "indices", "ids", "offsets", "lengths",
                                         "tokens" };
    for (size_t i = 0; i < IG_COUNT_OF(whole); i++) {
        if (strstr(name, whole[i])) {
            return "i64[N]";
        }
    }
    return simple[IG_SCRIPT_TENSOR];
}

void ig_ts_argument_example(const ig_param *param, ig_writer *out) {
    ig_put(out, "%s=", param->name);
    put_example(param->type, 0, tensor_example(param->name), out);
}

void ig_ts_entry_example(const ig_param *param, ig_writer *out) {
    ig_put(out, " --input '");
    ig_ts_argument_example(param, out);
    ig_put_char(out, '\'');
}
