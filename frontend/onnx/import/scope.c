/* Names of values: one map per graph, looked up outwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/import.h"

#include <assert.h>
#include <string.h>

/* A scope is of the same import as the one around it, and has opset versions. */
static void check_scope(const ig_onnx_scope *scope) {
    assert(scope->import && scope->opsets && "a scope is of an import");
    assert((!scope->outer || scope->outer->import == scope->import) &&
           "scopes in one another are of one import");
    (void)scope;
}

/* A name has a value, or is poisoned: readers then say nothing once more. */
static void check_name(const ig_onnx_name *name) {
    assert(name->is_poisoned == (name->value == NULL) &&
           "a name without value is poisoned");
    assert((!name->value || name->value->type) && "a value has a type");
    (void)name;
}

void ig_onnx_scope_init(ig_onnx_scope *scope, ig_onnx_import *import,
                        ig_onnx_scope *outer, const char *label) {
    *scope = (ig_onnx_scope){ .import = import,
                              .outer = outer,
                              .label = label,
                              .opsets = outer ? outer->opsets : &import->opsets,
                              .call = outer ? outer->call : NULL,
                              .builder = outer ? outer->builder : NULL };
    ig_map_init(&scope->names, import->arena);
    ig_map_init(&scope->outputs, import->arena);
    check_scope(scope);
}

static const char *origin_of(ig_onnx_import *import, const ig_onnx_name *name) {
    return name->origin ? name->origin
                        : ig_onnx_node_label(import, name->node, name->index);
}

void ig_onnx_define(ig_onnx_scope *scope, const char *name, const ig_onnx_name *what) {
    ig_onnx_import *import = scope->import;
    const ig_onnx_name *known = ig_map_get(&scope->names, ig_str_of(name));
    if (known) {
        ig_location where = { .file = import->model->file, .graph = scope->label };
        ig_onnx_note(import,
                     ig_error(&import->context->diag, IG_INVALID, &where,
                              "value '%s' is defined twice: by %s and by %s", name,
                              origin_of(import, known), origin_of(import, what)));
        return;
    }
    ig_onnx_name *entry = IG_NEW(import->arena, ig_onnx_name);
    *entry = *what;
    entry->is_poisoned = !what->value;
    check_scope(scope);
    check_name(entry);
    ig_map_set(&scope->names, ig_str_of(name), entry);
    const ig_onnx_options *options = import->options;
    if (options && options->named && what->value && !scope->outer && !scope->call) {
        options->named(options->user, name, what->value);
    }
    if (what->value && !what->value->name) {
        what->value->name = ig_module_string(import->module, ig_str_of(name));
    }
}

void ig_onnx_define_value(ig_onnx_scope *scope, const char *name, ig_value *value,
                          const char *origin) {
    ig_onnx_name what = { .value = value, .origin = origin };
    ig_onnx_define(scope, name, &what);
}

void ig_onnx_scope_gives(ig_onnx_scope *scope, const char *name) {
    ig_map_set(&scope->outputs, ig_str_of(name ? name : ""), scope);
}

bool ig_onnx_scope_output(const ig_onnx_scope *scope, const char *name,
                          ig_value **out_value) {
    const ig_onnx_name *found = name && name[0] ? ig_onnx_find(scope, name) : NULL;
    bool is_main = !scope->label; /* others' readers take a levelled rank first */
    if (found) {
        *out_value = found->either && (is_main || !found->value) ? found->either
                                                                 : found->value;
    }
    if (found && found->ranks_differ && !*out_value) {
        ig_onnx_note(scope->import, ig_onnx_ranks_fail(scope, name, found));
    }
    return found != NULL;
}

ig_onnx_name *ig_onnx_find(const ig_onnx_scope *scope, const char *name) {
    for (; scope; scope = scope->outer) {
        ig_onnx_name *found = ig_map_get(&scope->names, ig_str_of(name));
        if (found) {
            return found;
        }
    }
    return NULL;
}

/* "layers.0.fc" of "['', 'layers.0', 'layers.0.fc', 'linear_5']": torch's exporter
 * writes the modules that a node is of, and then the node.  NULL: it says nothing. */
static const char *last_module(ig_arena *arena, const char *list) {
    ig_str last = { NULL, 0 }, before = { NULL, 0 };
    for (const char *at = list; *at; at++) {
        char quote = *at;
        const char *end = quote == '\'' || quote == '"' ? strchr(at + 1, quote) : NULL;
        if (end) {
            before = last;
            last = (ig_str){ at + 1, (size_t)(end - at - 1) };
            at = end;
        }
    }
    return before.size ? ig_arena_printf(arena, "%.*s", IG_STR_ARG(before)) : NULL;
}

static const char *module_of(const ig_onnx_scope *scope, const Onnx__NodeProto *node) {
    for (size_t i = 0; i < node->n_metadata_props; i++) {
        const Onnx__StringStringEntryProto *entry = node->metadata_props[i];
        if (entry->key && entry->value &&
            strcmp(entry->key, "pkg.torch.onnx.name_scopes") == 0) {
            return last_module(scope->import->arena, entry->value);
        }
    }
    return NULL;
}

ig_location ig_onnx_where(const ig_onnx_scope *scope, const Onnx__NodeProto *node,
                          size_t index) {
    return (ig_location){
        .file = scope->import->model->file,
        .graph = scope->label,
        .node = node->name && node->name[0] ? node->name : NULL,
        .op = node->op_type,
        .scope = module_of(scope, node),
        .node_id = (uint32_t)index + 1,
    };
}

const char *ig_onnx_node_label(ig_onnx_import *import, const Onnx__NodeProto *node,
                               size_t index) {
    bool has_name = node->name && node->name[0];
    return ig_arena_printf(
        import->arena, has_name ? "node %zu '%s' (%s)" : "node %zu%s (%s)", index + 1,
        has_name ? node->name : "", node->op_type ? node->op_type : "");
}

static int rank_status(ig_status status) {
    static const int order[] = {
        [IG_OK] = 0,    [IG_UNSUPPORTED] = 1, [IG_IO] = 2,      [IG_INVALID] = 3,
        [IG_LIMIT] = 4, [IG_CANCELLED] = 5,   [IG_INTERNAL] = 6
    };
    return order[status];
}

bool ig_onnx_note(ig_onnx_import *import, ig_status status) {
    if (rank_status(status) > rank_status(import->worst)) {
        import->worst = status;
    }
    return rank_status(import->worst) <= rank_status(IG_INVALID);
}

int64_t ig_onnx_opset_of(const ig_onnx_opsets *opsets, ig_str domain) {
    for (size_t i = 0; i < opsets->count; i++) {
        if (ig_str_equal(ig_onnx_domain(opsets->imports[i]->domain), domain)) {
            return opsets->imports[i]->version;
        }
    }
    return 0;
}
