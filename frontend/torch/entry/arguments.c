/* Arguments of the entry: trees -> values, with one graph argument a leaf.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/entry/entry.h"

#include "ir/parse/read.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One tree as it is read: nodes from `at` on. */
typedef struct reading {
    ig_ts_entry *entry;
    const ig_node *nodes;
    size_t at;
    const char *path; /* of the parameter */
    uint32_t first_leaf;
    const ig_script_type *type; /* of the parameter, as annotated */
} reading;

static ig_status read_tree(reading *r, ig_ts_value *out);

ig_status ig_ts_entry_fail(const ig_ts_entry *entry, ig_status status,
                           const char *format, ...) {
    char text[512];
    va_list args;
    ig_location where = { .file = entry->eval->file, .graph = entry->name };
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return ig_error(&entry->eval->context->diag, status, &where, "%s", text);
}

/* ---- leaves ---- */

static ig_value *add_leaf(reading *r, const ig_type *type, ig_ts_storage *storage) {
    ig_ts_entry *entry = r->entry;
    ig_ts_eval *eval = entry->eval;
    /* The path is known when the whole tree is in the signature; see name_leaves. */
    ig_ts_leaf leaf = { .storage = storage };
    IG_PUSH(eval->arena, &entry->leaves, leaf);
    return ig_block_add_arg(&eval->graph->body, type, NULL);
}

static ig_status tensor_type(reading *r, const ig_node *node, const ig_type **out) {
    if (node->text.size == 0) {
        return ig_ts_entry_fail(
            r->entry, IG_INVALID,
            "argument '%s': a tensor needs its type, for example f32[B, 13]", r->path);
    }
    IG_TRY(ig_parse_type(r->entry->eval->module, node->text, out));
    return (*out)->kind == IG_TENSOR
               ? IG_OK
               : ig_ts_entry_fail(r->entry, IG_INVALID, "argument '%s' is not a tensor",
                                  r->path);
}

static ig_status read_tensor(reading *r, const ig_node *node,
                             const ig_torch_dtype_info *dtype, ig_ts_value *out) {
    const ig_type *type = NULL;
    IG_TRY(tensor_type(r, node, &type));
    ig_value *value = add_leaf(r, type, NULL);
    ig_ts_tensor *tensor = ig_ts_tensor_create(r->entry->eval, value, dtype);
    tensor->storage->is_input = true;
    IG_LAST(&r->entry->leaves).storage = tensor->storage;
    *out = ig_ts_of_tensor(tensor);
    return IG_OK;
}

static ig_status read_number(reading *r, const ig_node *node, ig_ts_value *out) {
    ig_ts_kind kind = node->kind == IG_NODE_INT     ? IG_TS_INT
                      : node->kind == IG_NODE_FLOAT ? IG_TS_FLOAT
                                                    : IG_TS_BOOL;
    if (node->is_leaf) {
        ig_dtype dtype = kind == IG_TS_INT     ? IG_DT_i64
                         : kind == IG_TS_FLOAT ? IG_DT_f64
                                               : IG_DT_bool;
        const ig_type *type = ig_type_tensor(r->entry->eval->module, dtype, 0, NULL);
        *out = ig_ts_of_run(kind, add_leaf(r, type, NULL));
        return IG_OK;
    }
    *out = kind == IG_TS_INT     ? ig_ts_of_int(node->i)
           : kind == IG_TS_FLOAT ? ig_ts_of_float(node->f)
                                 : ig_ts_of_bool(node->i != 0);
    return IG_OK;
}

/* ---- containers ---- */

static const ig_class *class_of_type(reading *r, const ig_script_type *type) {
    const ig_class *class = NULL;
    const ig_function *function = NULL;
    if (type && type->kind == IG_SCRIPT_OPTIONAL) {
        type = type->items[0];
    }
    bool is_class = type && type->kind == IG_SCRIPT_CLASS &&
                    ig_code_find(r->entry->eval->code, type->name, &class, &function) ==
                        IG_OK;
    return is_class ? class : NULL;
}

/* The type of the items of a container of the present type. */
static const ig_script_type *item_type(const ig_script_type *type, size_t index) {
    if (type && type->kind == IG_SCRIPT_OPTIONAL) {
        type = type->items[0];
    }
    if (!type || type->count == 0) {
        return NULL;
    }
    switch ((int)type->kind) {
    case IG_SCRIPT_LIST:
        return type->items[0];
    case IG_SCRIPT_DICT:
        return type->items[index % 2];
    case IG_SCRIPT_TUPLE:
        return index < type->count ? type->items[index] : NULL;
    default:
        return NULL;
    }
}

static ig_status read_items(reading *r, uint32_t count, ig_ts_value *items) {
    assert((count == 0 || items) && "room for the items of a container");
    const ig_script_type *type = r->type;
    const ig_class *class = class_of_type(r, type);
    for (uint32_t i = 0; i < count; i++) {
        bool is_field = class && i < class->attributes.count;
        r->type = is_field ? class->attributes.items[i].type : item_type(type, i);
        IG_TRY(read_tree(r, &items[i]));
    }
    r->type = type;
    return IG_OK;
}

static const ig_script_type *container_type(const reading *r, ig_script_kind kind) {
    const ig_script_type *type = r->type;
    if (type && type->kind == IG_SCRIPT_OPTIONAL) {
        type = type->items[0];
    }
    return type && type->kind == kind ? type : NULL;
}

static ig_status read_container(reading *r, const ig_node *node, ig_ts_value *out) {
    ig_ts_eval *eval = r->entry->eval;
    ig_ts_value *items = IG_NEW_ARRAY(eval->arena, ig_ts_value, node->count + 1u);
    IG_TRY(read_items(r, node->count, items));
    if (node->kind == IG_NODE_DICT) {
        ig_ts_dict *dict = ig_ts_dict_create(eval);
        for (uint32_t i = 0; i + 1 < node->count; i += 2) {
            ig_ts_dict_set(eval, dict, items[i], items[i + 1]);
        }
        dict->type = container_type(r, IG_SCRIPT_DICT);
        *out = ig_ts_of_dict(dict);
        return IG_OK;
    }
    ig_ts_list *list = ig_ts_list_create(eval, node->count);
    for (uint32_t i = 0; i < node->count; i++) {
        ig_ts_list_add(eval, list, items[i]);
    }
    if (node->kind == IG_NODE_LIST) {
        list->type = container_type(r, IG_SCRIPT_LIST);
        *out = ig_ts_of_list(list);
        return IG_OK;
    }
    const ig_class *class = class_of_type(r, r->type);
    list->class = class && class->kind == IG_CLASS_NAMED_TUPLE ? class : NULL;
    *out = ig_ts_of_tuple(list);
    return IG_OK;
}

/* ---- objects that a call may take ---- */

static const char *const *constructor_names(ig_node_kind kind) {
    static const char *const kjt[] = { "keys", "values", "lengths", "weights" };
    static const char *const kt[] = { "keys", "length_per_key", "values" };
    static const char *const jt[] = { "values", "lengths", "weights" };
    return kind == IG_NODE_KJT ? kjt : kind == IG_NODE_KT ? kt : jt;
}

static const char *default_class(ig_node_kind kind) {
    return kind == IG_NODE_KJT
               ? "__torch__.torchrec.sparse.jagged_tensor.KeyedJaggedTensor"
           : kind == IG_NODE_KT
               ? "__torch__.torchrec.sparse.jagged_tensor.KeyedTensor"
               : "__torch__.torchrec.sparse.jagged_tensor.JaggedTensor";
}

/* A KeyedJaggedTensor and its kin: made by their own constructor. */
static ig_status read_object(reading *r, const ig_node *node, ig_ts_value *out) {
    ig_ts_eval *eval = r->entry->eval;
    ig_ts_value *items = IG_NEW_ARRAY(eval->arena, ig_ts_value, node->count + 1u);
    const ig_class *class = class_of_type(r, r->type);
    ig_location where = { .file = eval->file, .graph = r->entry->name };
    r->type = NULL;
    IG_TRY(read_items(r, node->count, items));
    if (!class) {
        IG_TRY(ig_code_class(eval->code, default_class(node->kind), &where, &class));
    }
    const char *const *names = constructor_names(node->kind);
    const ig_function *init = ig_class_method(class, "__init__");
    ig_ts_arguments arguments = { .values = items, .keywords = node->count };
    arguments.names = IG_NEW_ARRAY(eval->arena, const char *, node->count + 1u);
    memcpy(arguments.names, names, node->count * sizeof(*names));
    ig_ts_object *object = ig_ts_object_create(eval, class->name);
    ig_ts_value nothing;
    object->class = class;
    *out = ig_ts_of_object(object);
    if (!init) {
        return ig_ts_entry_fail(r->entry, IG_INVALID,
                                "argument '%s': class %s has no constructor", r->path,
                                class->name);
    }
    return ig_python_call_method(eval, object, "__init__", &arguments, &nothing);
}

static ig_status read_complex(reading *r, const ig_node *node, ig_ts_value *out) {
    ig_ts_eval *eval = r->entry->eval;
    ig_ts_value parts[2] = { { 0 } };
    if (node->count == 2) {
        IG_TRY(read_items(r, 2, parts));
        *out = ig_ts_of_complex(parts[0].as.f, parts[1].as.f);
        return IG_OK;
    }
    const ig_node *tensor = &r->nodes[r->at++];
    const ig_type *type = NULL;
    IG_TRY(tensor_type(r, tensor, &type));
    ig_torch_dtype code = type->dtype == IG_DT_f64   ? IG_TORCH_complex128
                          : type->dtype == IG_DT_f16 ? IG_TORCH_complex32
                                                     : IG_TORCH_complex64;
    (void)eval;
    return read_tensor(r, tensor, ig_torch_dtype_of_code(code), out);
}

static ig_status read_quantized(reading *r, const ig_node *node, ig_ts_value *out) {
    ig_ts_eval *eval = r->entry->eval;
    ig_ts_value scale, zero;
    const ig_node *values = &r->nodes[r->at++];
    const ig_type *type = NULL;
    (void)node;
    IG_TRY(tensor_type(r, values, &type));
    ig_torch_dtype code = type->dtype == IG_DT_i8    ? IG_TORCH_qint8
                          : type->dtype == IG_DT_i32 ? IG_TORCH_qint32
                                                     : IG_TORCH_quint8;
    IG_TRY(read_tensor(r, values, ig_torch_dtype_of_code(code), out));
    IG_TRY(read_tree(r, &scale));
    IG_TRY(read_tree(r, &zero));
    ig_ts_quant *quant = IG_NEW(eval->arena, ig_ts_quant);
    quant->axis = -1;
    if (scale.kind != IG_TS_FLOAT || zero.kind != IG_TS_INT) {
        return ig_ts_entry_fail(
            r->entry, IG_UNSUPPORTED,
            "argument '%s': quantised inputs need a scale and a zero point that are numbers",
            r->path);
    }
    IG_TRY(ig_ts_number_read(eval, &scale, &quant->scale));
    IG_TRY(ig_ts_number_read(eval, &zero, &quant->zero_point));
    out->as.tensor->quant = quant;
    return IG_OK;
}

static ig_status read_tree(reading *r, ig_ts_value *out) {
    const ig_node *node = &r->nodes[r->at++];
    switch ((int)node->kind) {
    case IG_NODE_TENSOR:
        return read_tensor(r, node, NULL, out);
    case IG_NODE_INT:
    case IG_NODE_FLOAT:
    case IG_NODE_BOOL:
        return read_number(r, node, out);
    case IG_NODE_STR:
        *out = ig_ts_of_str(node->text);
        return IG_OK;
    case IG_NODE_NONE:
        *out = ig_ts_none();
        return IG_OK;
    case IG_NODE_LIST:
    case IG_NODE_TUPLE:
    case IG_NODE_DICT:
    case IG_NODE_RECORD:
        return read_container(r, node, out);
    case IG_NODE_COMPLEX:
        return read_complex(r, node, out);
    case IG_NODE_QUANTIZED:
        return read_quantized(r, node, out);
    case IG_NODE_KJT:
    case IG_NODE_KT:
    case IG_NODE_JT:
        return read_object(r, node, out);
    default:
        return ig_ts_entry_fail(
            r->entry, IG_UNSUPPORTED,
            "argument '%s': a value that may be absent at run time is not supported",
            r->path);
    }
}

/* ---- which tree a parameter has ---- */

static const char *given_tree(const ig_ts_entry *entry, const char *name,
                              size_t position) {
    const ig_torchscript_options *options = entry->options;
    for (size_t i = 0; options && i < options->argument_count; i++) {
        int64_t at;
        bool is_position = ig_str_to_i64(ig_str_of(options->arguments[i].name), &at) &&
                           at == (int64_t)position;
        if (is_position || strcmp(options->arguments[i].name, name) == 0) {
            return options->arguments[i].tree;
        }
    }
    return NULL;
}

static bool traced_tree(const ig_ts_entry *entry, const char *name, size_t position,
                        ig_node_list *out) {
    const ig_py *traced = entry->program->traced;
    const ig_py *inputs = traced ? ig_py_get(traced, entry->name) : NULL;
    bool is_there = inputs &&
                    (inputs->kind == IG_PY_LIST || inputs->kind == IG_PY_TUPLE) &&
                    position < inputs->as.list.count;
    return is_there &&
           ig_ts_traced_tree(entry->eval, name, inputs->as.list.items[position], out);
}

static void note_missing(const ig_param *param, ig_writer *out) {
    const char *type = param->type ? param->type->name : "Tensor";
    ig_put(out, "%s%s: %s", out->size ? ", " : "", param->name, type);
}

static void name_symbols(ig_ts_entry *entry, uint32_t first) {
    assert(first <= entry->eval->graph->body.arg_count &&
           "the leaves of a tree are the last ones");
    ig_ts_eval *eval = entry->eval;
    for (uint32_t i = first; i < eval->graph->body.arg_count; i++) {
        const ig_type *type = eval->graph->body.args[i]->type;
        for (uint32_t k = 0; k < type->rank; k++) {
            ig_symbol *symbol = ig_dim_as_symbol(eval->module, type->dims[k]);
            if (symbol && !symbol->origin) {
                const char *text = ig_arena_printf(eval->arena, "dim %u of input '%s'",
                                                   k, entry->leaves.items[i].path);
                symbol->origin = ig_module_string(eval->module, ig_str_of(text));
            }
        }
    }
}

/* Paths of the leaves that a tree added. */
static void name_leaves(ig_ts_entry *entry, const ig_node *tree, uint32_t first) {
    assert(entry->leaves.count == entry->eval->graph->body.arg_count &&
           "each leaf is one argument of the graph");
    ig_ts_eval *eval = entry->eval;
    for (uint32_t i = first; i < eval->graph->body.arg_count; i++) {
        const char *path = ig_node_path(tree, ig_node_size(tree), i - first,
                                        eval->arena);
        path = ig_module_string(eval->module, ig_str_of(path));
        entry->leaves.items[i].path = path;
        eval->graph->body.args[i]->name = path;
        if (entry->leaves.items[i].storage) {
            entry->leaves.items[i].storage->name = path;
        }
        IG_PUSH(&eval->module->arena, &entry->arg_names, path);
    }
    name_symbols(entry, first);
}

static ig_status read_argument(ig_ts_entry *entry, const ig_param *param,
                               const ig_node_list *tree, ig_ts_value *out) {
    assert(tree->count > 0 && "a tree has a root");
    ig_ts_eval *eval = entry->eval;
    reading r = { .entry = entry,
                  .nodes = tree->items,
                  .path = param->name,
                  .first_leaf = eval->graph->body.arg_count,
                  .type = param->type };
    tree->items[0].name = ig_str_of(param->name);
    IG_TRY(read_tree(&r, out));
    name_leaves(entry, tree->items, r.first_leaf);
    for (size_t i = 0; i < tree->count; i++) {
        ig_node node = tree->items[i];
        node.text = node.kind == IG_NODE_TENSOR ? (ig_str){ "", 0 } : node.text;
        ig_node_add(eval->arena, &entry->nodes, node);
    }
    entry->arg_count++;
    return IG_OK;
}

static ig_status parse_tree(const ig_ts_entry *entry, const char *name,
                            const char *text, ig_node_list *out) {
    const char *wrong = ig_node_parse(ig_str_of(text), entry->eval->arena, out);
    return wrong ? ig_ts_entry_fail(entry, IG_INVALID, "argument '%s': '%s': %s", name,
                                    text, wrong)
                 : IG_OK;
}

/* A default is part of the program: it is not an argument of the graph. */
static ig_status default_value(ig_ts_entry *entry, const ig_param *param,
                               ig_ts_value *out) {
    ig_node node = { .kind = IG_NODE_NONE, .name = ig_str_of(param->name) };
    IG_TRY(ig_python_default(entry->eval, entry->method, param, out));
    switch ((int)out->kind) {
    case IG_TS_NONE:
        break;
    case IG_TS_BOOL:
        node.kind = IG_NODE_BOOL;
        node.i = out->as.b;
        break;
    case IG_TS_INT:
        node.kind = IG_NODE_INT;
        node.i = out->as.i;
        break;
    case IG_TS_FLOAT:
        node.kind = IG_NODE_FLOAT;
        node.f = out->as.f;
        break;
    case IG_TS_STR:
        node.kind = IG_NODE_STR;
        node.text = out->as.str;
        break;
    default:
        return IG_OK; /* the caller cannot give it either */
    }
    ig_node_add(entry->eval->arena, &entry->nodes, node);
    entry->arg_count++;
    return IG_OK;
}

/* ---- all of them ---- */

static ig_status report_missing(const ig_ts_entry *entry, const ig_writer *names,
                                const ig_writer *examples) {
    ig_location where = { .file = entry->eval->file, .graph = entry->name };
    const char *hint = ig_arena_printf(
        entry->eval->arena,
        "say what each is: types (names of extents stay open), for example ingot compile %s%.*s -o model.ingot; or values, as ingot run takes them: --input 'NAME=f32[8, 13]=random'",
        entry->eval->file, IG_STR_ARG(ig_writer_str(examples)));
    return ig_error_hint(
        &entry->eval->context->diag, IG_INVALID, &where, hint,
        "these inputs have no value, and the archive does not say their types: %.*s",
        IG_STR_ARG(ig_writer_str(names)));
}

static ig_status unknown_name(const ig_ts_entry *entry, const char *name) {
    const ig_function *method = entry->method;
    ig_location where = { .file = entry->eval->file, .graph = entry->name };
    ig_writer names;
    ig_writer_init(&names, entry->eval->arena);
    for (size_t k = 1; k < method->param_count; k++) {
        note_missing(&method->params[k], &names);
    }
    ig_str list = names.size ? ig_writer_str(&names) : IG_STR("no arguments");
    return ig_error_hint(
        &entry->eval->context->diag, IG_INVALID, &where,
        ig_arena_printf(entry->eval->arena, "it takes %.*s", IG_STR_ARG(list)),
        "'%s' has no argument '%s'", entry->name, name);
}

static ig_status check_names(const ig_ts_entry *entry) {
    const ig_function *method = entry->method;
    for (size_t i = 0; entry->options && i < entry->options->argument_count; i++) {
        const char *name = entry->options->arguments[i].name;
        int64_t position;
        bool is_known = ig_str_to_i64(ig_str_of(name), &position) && position >= 0 &&
                        (uint64_t)position + 1 < method->param_count;
        for (size_t k = 1; k < method->param_count; k++) {
            is_known = is_known || strcmp(method->params[k].name, name) == 0;
        }
        if (!is_known) {
            return unknown_name(entry, name);
        }
    }
    return IG_OK;
}

/* Those that the caller gives; the others stay empty. */
static ig_status parse_trees(const ig_ts_entry *entry, ig_node_list *trees) {
    const ig_function *method = entry->method;
    for (size_t i = 1; i < method->param_count; i++) {
        const char *name = method->params[i].name;
        const char *text = given_tree(entry, name, i - 1);
        if (text) {
            IG_TRY(parse_tree(entry, name, text, &trees[i - 1]));
        }
    }
    return IG_OK;
}

/* Parameters after a `*` are given by name. */
static void pass_keywords(const ig_ts_entry *entry, ig_ts_arguments *out) {
    const ig_function *method = entry->method;
    out->names = IG_NEW_ARRAY(entry->eval->arena, const char *, method->param_count);
    for (size_t i = 1; i < method->param_count; i++) {
        if (method->params[i].kind == IG_AST_PARAM_KEYWORD) {
            out->names[out->keywords++] = method->params[i].name;
            out->positional--;
        }
    }
}

ig_status ig_ts_entry_arguments(ig_ts_entry *entry, ig_ts_arguments *out) {
    const ig_function *method = entry->method;
    ig_ts_eval *eval = entry->eval;
    ig_writer lacking, examples;
    *out = (ig_ts_arguments){ .positional = (uint32_t)method->param_count - 1 };
    out->values = IG_NEW_ARRAY(eval->arena, ig_ts_value, method->param_count);
    ig_writer_init(&lacking, eval->arena);
    ig_writer_init(&examples, eval->arena);
    IG_TRY(check_names(entry));
    ig_node_list *trees = IG_NEW_ARRAY(eval->arena, ig_node_list, method->param_count);
    IG_TRY(parse_trees(entry, trees));
    IG_TRY(ig_ts_entry_declared(entry, trees));
    for (size_t i = 1; i < method->param_count; i++) {
        const ig_param *param = &method->params[i];
        ig_node_list *tree = &trees[i - 1];
        if (tree->count || traced_tree(entry, param->name, i - 1, tree)) {
            IG_TRY(read_argument(entry, param, tree, &out->values[i - 1]));
        } else if (param->value) {
            IG_TRY(default_value(entry, param, &out->values[i - 1]));
        } else {
            note_missing(param, &lacking);
            ig_ts_entry_example(param, &examples);
        }
    }
    pass_keywords(entry, out);
    return lacking.size ? report_missing(entry, &lacking, &examples) : IG_OK;
}
