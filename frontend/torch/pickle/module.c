/* Modules of torch.nn, as torch.package pickles them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An object whose state is the module's __dict__:
 *
 *     Linear { training, _parameters {weight, bias}, _buffers {}, _modules {}, hooks …,
 *              in_features, out_features }
 */
#include "frontend/torch/pickle/pickle.h"

/* A dict with texts for keys. */
static bool is_group(const ig_py *value) {
    if (!value || value->kind != IG_PY_DICT) {
        return false;
    }
    for (size_t i = 0; i < value->as.dict.count; i++) {
        if (value->as.dict.keys[i]->kind != IG_PY_STR) {
            return false;
        }
    }
    return true;
}

bool ig_py_is_module(const ig_py *value) {
    return value->kind == IG_PY_OBJECT && is_group(ig_py_get(value, "_modules")) &&
           is_group(ig_py_get(value, "_parameters")) &&
           is_group(ig_py_get(value, "_buffers"));
}

bool ig_py_has_hooks(const ig_py *module) {
    static const char *const groups[] = { "_forward_hooks", "_forward_pre_hooks" };
    for (size_t i = 0; module->kind == IG_PY_OBJECT && i < IG_COUNT_OF(groups); i++) {
        const ig_py *hooks = ig_py_get(module, groups[i]);
        if (hooks && hooks->kind == IG_PY_DICT && hooks->as.dict.count) {
            return true;
        }
    }
    return false;
}

bool ig_py_is_kept_by_torch(ig_str name) {
    static const char *const names[] = {
        "_parameters",
        "_buffers",
        "_modules",
        "_non_persistent_buffers_set",
        "_is_full_backward_hook",
        "_code",
        "_lineno_map",
        "_prologue_start",
        "_tracer_cls",
        "_tracer_extras",
    };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (ig_str_is(name, names[i])) {
            return true;
        }
    }
    return ig_str_starts(name, "_graphmodule") || ig_str_ends(name, "_hooks") ||
           ig_str_ends(name, "_hooks_with_kwargs") ||
           ig_str_ends(name, "_hooks_always_called");
}

ig_py *ig_py_graph_module(const ig_py *value, ig_arena *arena) {
    bool is_graph = value->kind == IG_PY_CALL && value->as.call.is_package_reduce &&
                    ig_py_is_global(value->as.call.function, "torch.fx.graph_module",
                                    "reduce_package_graph_module");
    const ig_py *args = is_graph ? value->as.call.args : NULL;
    if (!args || args->kind != IG_PY_TUPLE || args->as.list.count != 2 ||
        args->as.list.items[0]->kind != IG_PY_DICT ||
        args->as.list.items[1]->kind != IG_PY_STR) {
        return NULL;
    }
    ig_py *made = IG_NEW_ARRAY(arena, ig_py, 3), *object = &made[0];
    made[1].kind = IG_PY_GLOBAL;
    made[1].as.global.module = args->as.list.items[1]->as.text;
    made[1].as.global.name = IG_STR("GraphModule");
    made[2].kind = IG_PY_TUPLE;
    object->kind = IG_PY_OBJECT;
    object->as.object.class = &made[1];
    object->as.object.args = &made[2];
    object->as.object.state = args->as.list.items[0];
    return ig_py_is_module(object) ? object : NULL;
}
