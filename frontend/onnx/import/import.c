/* The way of an ONNX file: parse, check, entry graph.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     bytes ── wire walk ── messages ── check ── @main: inputs, initializers, nodes
 *
 * Errors in one step do not keep the next from finding more, as far as it can go on at
 * all; the worst status is returned in the end.
 */
#include "frontend/onnx/import/keys.h"

#include "base/platform/context_map.h"
#include "ir/parse/read.h"
#include "ir/semantics/check.h"

#include <string.h>

static ig_status fail_model(ig_onnx_import *import, ig_status status, const char *hint,
                            const char *message) {
    ig_location where = { .file = import->model->file };
    return ig_error_hint(&import->context->diag, status, &where, hint, "%s", message);
}

/* ---- versions ---- */

static ig_status check_opset(ig_onnx_import *import, const ig_onnx_opsets *opsets,
                             const char *whose) {
    ig_arena *arena = import->arena;
    for (size_t i = 0; i < opsets->count; i++) {
        ig_str domain = ig_onnx_domain(opsets->imports[i]->domain);
        long long version = opsets->imports[i]->version;
        if (version < 1) {
            return fail_model(
                import, IG_INVALID, NULL,
                ig_arena_printf(
                    arena,
                    "%s imports version %lld of domain '%.*s', expected 1 or more",
                    whose, version, IG_STR_ARG(domain)));
        }
        if (domain.size > 0) {
            continue;
        }
        if (version > IG_ONNX_NEWEST_OPSET) {
            return fail_model(
                import, IG_UNSUPPORTED,
                "export the model for an older opset, or use a newer Ingot",
                ig_arena_printf(arena, "%s imports opset %lld; the newest known is %d",
                                whose, version, IG_ONNX_NEWEST_OPSET));
        }
    }
    return IG_OK;
}

static ig_status check_versions(ig_onnx_import *import) {
    const Onnx__ModelProto *model = import->model->proto;
    if (!model->graph) {
        return fail_model(import, IG_INVALID, "is it an ONNX model, and complete?",
                          "the file holds no graph");
    }
    import->opsets = (ig_onnx_opsets){ model->opset_import, model->n_opset_import };
    if (model->n_opset_import == 0) {
        return fail_model(
            import, IG_INVALID, NULL,
            "the model imports no operator set, so its operators have no meaning");
    }
    IG_TRY(check_opset(import, &import->opsets, "the model"));
    for (size_t i = 0; i < model->n_functions; i++) {
        const Onnx__FunctionProto *f = model->functions[i];
        ig_onnx_opsets opsets = { f->opset_import, f->n_opset_import };
        IG_TRY(check_opset(
            import, &opsets,
            ig_arena_printf(import->arena, "function '%s'", f->name ? f->name : "")));
    }
    return IG_OK;
}

/* ---- types of inputs ---- */

typedef struct entry {
    ig_onnx_import *import;
    const ig_onnx_options *options;
    ig_onnx_scope scope;
    ig_builder builder;
    ig_location where;
    IG_VEC(const char *) arg_names;
} entry;

static ig_status input_fail(const entry *e, ig_status status, const char *name,
                            const char *hint, const char *what) {
    return ig_error_hint(&e->import->context->diag, status, &e->where, hint,
                         "input '%s' %s", name, what);
}

static ig_dim dim_of(const entry *e, const char *input,
                     const Onnx__TensorShapeProto__Dimension *dim, size_t index) {
    ig_arena *arena = e->import->arena;
    bool is_number = dim->value_case ==
                     ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    bool has_name = dim->value_case ==
                        ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                    dim->dim_param && dim->dim_param[0];
    if (is_number && dim->dim_value >= 0) {
        return ig_dim_of(dim->dim_value);
    }
    const char *name = has_name ? dim->dim_param
                                : ig_arena_printf(arena, "%s_d%zu", input, index);
    return ig_onnx_symbol(
        e->import, name, ig_arena_printf(arena, "dim %zu of input '%s'", index, input));
}

/* Whoever asks for inputs only learns that there is a rank to be said. */
static ig_status unranked_type(const entry *e, const char *name, ig_dtype dtype,
                               const ig_type **out_type) {
    ig_module *module = e->import->module;
    if (!e->options || !e->options->is_inputs_only) {
        return input_fail(
            e, IG_UNSUPPORTED, name,
            "give its type, for example --input NAME=f32[N,13], where values are "
            "given a value: --input NAME=f32[2,13]=random",
            "has no shape, so its rank is not known");
    }
    ig_dim any = ig_dim_symbol(module, "any_rank");
    *out_type = ig_type_tensor(module, dtype, 1, &any);
    return IG_OK;
}

static ig_status tensor_type(const entry *e, const char *name,
                             const Onnx__TypeProto__Tensor *proto,
                             const ig_type **out_type) {
    ig_dtype dtype;
    int code = proto->elem_type;
    if (!ig_dtype_from_onnx(code, &dtype)) {
        const char *type = ig_onnx_dtype_name(code);
        return input_fail(
            e, type ? IG_UNSUPPORTED : IG_INVALID, name, NULL,
            type ? ig_arena_printf(e->import->arena,
                                   "has element type %s, which is not supported yet",
                                   type)
                 : "has an element type that does not exist");
    }
    if (!proto->shape) {
        return unranked_type(e, name, dtype, out_type);
    }
    ig_dim dims[IG_TENSOR_RANK];
    size_t rank = proto->shape->n_dim;
    if (rank > IG_TENSOR_RANK || rank > (uint64_t)e->import->context->limits.rank) {
        return ig_error_limit(&e->import->context->diag, &e->where,
                              &e->import->context->limits, IG_LIMIT_rank,
                              "the rank of input '%s', %zu,", name, rank);
    }
    for (size_t i = 0; i < rank; i++) {
        dims[i] = dim_of(e, name, proto->shape->dim[i], i);
    }
    *out_type = ig_type_tensor(e->import->module, dtype, (uint32_t)rank, dims);
    return IG_OK;
}

/* A tensor, a list of tensors, or perhaps one of these. */
typedef struct form {
    const Onnx__TypeProto__Tensor *tensor; /* NULL: something else */
    ig_kind kinds[2];                      /* around it, the outermost first */
    uint32_t depth;
} form;

static form form_of(const Onnx__TypeProto *type) {
    form f = { .depth = 0 };
    if (type && type->value_case == ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE) {
        f.kinds[f.depth++] = IG_OPTIONAL;
        type = type->optional_type->elem_type;
    }
    if (type && type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE) {
        f.kinds[f.depth++] = IG_SEQUENCE;
        type = type->sequence_type->elem_type;
    }
    if (type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
        f.tensor = type->tensor_type;
    }
    return f;
}

static ig_status declared_type(const entry *e, const char *name,
                               const Onnx__TypeProto *proto, const ig_type **out_type) {
    form f = form_of(proto);
    if (f.tensor) {
        IG_TRY(tensor_type(e, name, f.tensor, out_type));
        for (uint32_t i = f.depth; i-- > 0;) {
            *out_type = ig_type_host(e->import->module, f.kinds[i], *out_type);
        }
        return IG_OK;
    }
    bool has_none = !proto || proto->value_case == ONNX__TYPE_PROTO__VALUE__NOT_SET;
    return input_fail(e, has_none ? IG_INVALID : IG_UNSUPPORTED, name, NULL,
                      has_none ? "has no type"
                               : "has a type that is not supported yet");
}

/* ---- the caller's types and values of inputs ---- */

static const ig_onnx_input_type *find_type(const entry *e, const char *name) {
    for (size_t i = 0; e->options && i < e->options->type_count; i++) {
        if (strcmp(e->options->types[i].name, name) == 0) {
            return &e->options->types[i];
        }
    }
    return NULL;
}

static const ig_onnx_input_value *find_value(const entry *e, const char *name) {
    for (size_t i = 0; e->options && i < e->options->constant_count; i++) {
        if (strcmp(e->options->constants[i].name, name) == 0) {
            return &e->options->constants[i];
        }
    }
    return NULL;
}

/* Does the given type fit the declared one (NULL: the file declares no usable type)? */
static bool fits_declared(const entry *e, const ig_type *given,
                          const ig_type *declared) {
    if (!declared) {
        return true;
    }
    bool is_same = given->kind == declared->kind && given->dtype == declared->dtype &&
                   given->rank == declared->rank;
    for (uint32_t i = 0; is_same && i < given->rank; i++) {
        is_same = ig_dim_equal(e->import->module, given->dims[i], declared->dims[i]) !=
                  IG_NO;
    }
    return is_same;
}

/* Symbols that the caller named come from this input too. */
static void name_origins(const entry *e, const char *name, const ig_type *type) {
    while (type->element) {
        type = type->element;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        ig_symbol *symbol = ig_dim_as_symbol(e->import->module, type->dims[i]);
        if (symbol && !symbol->origin) {
            symbol->origin = ig_module_string(
                e->import->module,
                ig_str_of(ig_arena_printf(e->import->arena, "dim %u of input '%s'", i,
                                          name)));
        }
    }
}

/* Made without symbols, which an override would leave unused. */
static ig_status check_override(const entry *e, const Onnx__ValueInfoProto *input,
                                const ig_type *given) {
    ig_dtype dtype;
    form declared = form_of(input->type);
    if (!declared.tensor || !ig_dtype_from_onnx(declared.tensor->elem_type, &dtype)) {
        return input_fail(e, IG_INVALID, input->name, NULL,
                          "is not a tensor whose type can be given");
    }
    const Onnx__TensorShapeProto *shape = declared.tensor->shape;
    bool is_right = true;
    for (uint32_t i = 0; is_right && i < declared.depth; i++) {
        is_right = given->kind == declared.kinds[i];
        given = is_right ? given->element : given;
    }
    is_right = is_right && given->kind == IG_TENSOR && given->dtype == dtype &&
               (!shape || given->rank == shape->n_dim);
    for (uint32_t i = 0; is_right && shape && i < given->rank; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        bool is_number = dim->value_case ==
                         ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        is_right = !is_number || dim->dim_value < 0 ||
                   ig_dim_equal(e->import->module, given->dims[i],
                                ig_dim_of(dim->dim_value)) != IG_NO;
    }
    return is_right ? IG_OK
                    : input_fail(e, IG_INVALID, input->name, NULL,
                                 "is declared with another type than the one given");
}

static ig_status input_type(const entry *e, const Onnx__ValueInfoProto *input,
                            const ig_type **out_type) {
    const ig_onnx_input_type *given = find_type(e, input->name);
    if (!given) {
        return declared_type(e, input->name, input->type, out_type);
    }
    IG_TRY(ig_parse_type(e->import->module, ig_str_of(given->type), out_type));
    IG_TRY(check_override(e, input, *out_type));
    name_origins(e, input->name, *out_type);
    return IG_OK;
}

/* An input that the caller folds into the graph. */
static ig_status fold_input(entry *e, const Onnx__ValueInfoProto *input,
                            const ig_tensor *tensor, ig_value **out_value) {
    ig_module *module = e->import->module;
    const ig_type *declared = NULL;
    const Onnx__TypeProto__Tensor *said = form_of(input->type).tensor;
    ig_dtype dtype;
    if (!said || said->shape || !ig_dtype_from_onnx(said->elem_type, &dtype) ||
        dtype != tensor->dtype) {
        IG_TRY(declared_type(e, input->name, input->type, &declared));
    }
    if (tensor->kind != IG_TENSOR) {
        return input_fail(e, IG_UNSUPPORTED, input->name, NULL,
                          "is not a tensor, so it cannot be folded in");
    }
    ig_data data = { .type = ig_type_of_extents(module, tensor->dtype, tensor->rank,
                                                tensor->dims),
                     .size = ig_tensor_bytes(tensor) };
    if (!fits_declared(e, data.type, declared)) {
        return input_fail(
            e, IG_INVALID, input->name, NULL,
            "is declared with another type than that of the constant given");
    }
    data.bytes = ig_arena_copy(e->import->arena, tensor->data, (size_t)data.size);
    *out_value = ig_make_data(&e->builder, input->name, &data);
    return IG_OK;
}

/* ---- the entry graph ---- */

static ig_status import_input(entry *e, const Onnx__ValueInfoProto *input) {
    const ig_onnx_input_value *constant = find_value(e, input->name);
    ig_value *value = NULL;
    ig_status status;
    if (constant) {
        status = fold_input(e, input, constant->tensor, &value);
    } else {
        const ig_type *type = NULL;
        status = input_type(e, input, &type);
        if (status == IG_OK) {
            const char *name = ig_module_string(e->import->module,
                                                ig_str_of(input->name));
            value = ig_block_add_arg(&e->import->graph->body, type, name);
            IG_PUSH(e->import->arena, &e->arg_names, name);
        }
    }
    ig_onnx_note(e->import, status);
    ig_onnx_define_value(&e->scope, input->name, value,
                         ig_arena_printf(e->import->arena, "input '%s'", input->name));
    return status == IG_LIMIT || status == IG_CANCELLED ? status : IG_OK;
}

/* Names that the caller gave must be inputs. */
static void check_option(entry *e, const ig_map *inputs, const char *name) {
    if (ig_map_get(inputs, ig_str_of(name))) {
        return;
    }
    ig_writer list;
    ig_writer_init(&list, e->import->arena);
    for (size_t i = 0; i < inputs->count && list.size < 400; i++) {
        ig_put(&list, "%s%.*s", i ? ", " : "", IG_STR_ARG(inputs->entries[i].key));
    }
    const char *hint = ig_arena_printf(e->import->arena, "inputs are: %s",
                                       list.size ? list.data : "none");
    ig_onnx_note(e->import, input_fail(e, IG_INVALID, name, hint, "does not exist"));
}

/* An initializer of an input is its default, which the caller may replace.  Before IR
 * version 4 every weight was an input: there it takes the name. */
static bool is_given(const entry *e, const char *name) {
    bool takes_all = e->options && e->options->has_defaults &&
                     e->import->model->proto->ir_version >= 4;
    return takes_all || find_type(e, name) || find_value(e, name);
}

static ig_status import_inputs(entry *e, const Onnx__GraphProto *graph) {
    ig_map initializers, inputs;
    ig_map_init(&initializers, e->import->arena);
    ig_map_init(&inputs, e->import->arena);
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const char *name = graph->initializer[i]->name;
        ig_map_set(&initializers, ig_str_of(name), (void *)1);
    }
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name;
        if (!name || !name[0]) {
            ig_onnx_note(e->import, input_fail(e, IG_INVALID, "", NULL, "has no name"));
            continue;
        }
        bool has_default = ig_map_get(&initializers, ig_str_of(name)) != NULL;
        if (has_default && is_given(e, name)) {
            ig_map_set(&e->import->given, ig_str_of(name), (void *)1);
            has_default = false;
        }
        if (!has_default) {
            ig_map_set(&inputs, ig_str_of(name), (void *)1);
            IG_TRY(import_input(e, graph->input[i]));
        }
    }
    for (size_t i = 0; e->options && i < e->options->type_count; i++) {
        check_option(e, &inputs, e->options->types[i].name);
    }
    for (size_t i = 0; e->options && i < e->options->constant_count; i++) {
        check_option(e, &inputs, e->options->constants[i].name);
    }
    return IG_OK;
}

/* Declared shapes of outputs may be stale; an element type may not. */
static void check_output(const entry *e, const Onnx__ValueInfoProto *output,
                         const ig_value *value) {
    const Onnx__TypeProto *type = output->type;
    ig_dtype dtype;
    if (!value || value->type->kind != IG_TENSOR || !type ||
        type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
        !ig_dtype_from_onnx(type->tensor_type->elem_type, &dtype) ||
        dtype == value->type->dtype) {
        return;
    }
    ig_onnx_note(e->import,
                 ig_error(&e->import->context->diag, IG_INVALID, &e->where,
                          "output '%s' is declared as %s, but is %s", output->name,
                          ig_dtypes[dtype].name, ig_dtypes[value->type->dtype].name));
}

static void name_arguments(entry *e) {
    e->import->graph->is_entry = true;
    e->import->graph->arg_names = e->arg_names.items;
}

/* Statistics that the call changes are its last arguments, which begin with weights,
 * and its last results: those are written to `results` and `names` from `count` on. */
static void thread_states(entry *e, ig_value **results, const char **names,
                          size_t count) {
    ig_onnx_import *import = e->import;
    ig_graph *graph = import->graph;
    size_t states = import->running.count;
    for (size_t i = 0; i < states; i++) {
        ig_value *kept = import->running.items[i].kept;
        const char *name = ig_attr_str(kept->def, IG_weight_name);
        ig_value *arg = ig_block_add_arg(&graph->body, kept->type, name);
        ig_value_replace(kept, arg);
        for (size_t k = 0; k < count; k++) {
            results[k] = results[k] == kept ? arg : results[k];
        }
        IG_PUSH(import->arena, &e->arg_names, name);
        results[count + i] = import->running.items[i].next;
        names[count + i] = name;
    }
    graph->states = names + count;
    graph->state_count = (uint32_t)states;
}

static const ig_onnx_keys *const *keys_of_outputs(const entry *e,
                                                  const Onnx__GraphProto *graph) {
    const ig_onnx_keys **keys = IG_NEW_ARRAY(e->import->arena, const ig_onnx_keys *,
                                             graph->n_output);
    for (size_t i = 0; i < graph->n_output; i++) {
        keys[i] = ig_onnx_find(&e->scope, graph->output[i]->name)->keys;
    }
    return keys;
}

static void finish_graph(entry *e, const Onnx__GraphProto *graph,
                         ig_value *const *outputs) {
    ig_onnx_import *import = e->import;
    size_t count = graph->n_output, all = count + import->running.count;
    const char **names = IG_NEW_ARRAY(import->arena, const char *, all + 1);
    ig_value **results = IG_NEW_ARRAY(import->arena, ig_value *, all + 1);
    for (size_t i = 0; i < count; i++) {
        names[i] = ig_module_string(import->module, ig_str_of(graph->output[i]->name));
        results[i] = outputs[i];
    }
    if (import->running.count > 0) {
        thread_states(e, results, names, count);
    }
    e->builder.loc = 0;
    ig_make_ret(&e->builder, results, (uint32_t)all);
    name_arguments(e);
    import->graph->result_names = names;
    import->graph->signature = ig_onnx_signature(import, keys_of_outputs(e, graph),
                                                 names, count);
}

/* Locations of the graph's nodes and of those in their bodies: the content of a model
 * that is not imported. */
static void note_nodes(ig_onnx_import *import, const Onnx__GraphProto *graph) {
    IG_VEC(const Onnx__GraphProto *) todo = { 0 };
    IG_PUSH(import->arena, &todo, graph);
    while (todo.count) {
        const Onnx__GraphProto *at = IG_POP(&todo);
        for (size_t i = 0; i < at->n_node; i++) {
            const Onnx__NodeProto *node = at->node[i];
            ig_location where = {
                .file = import->model->file,
                .graph = at == graph ? NULL : at->name,
                .node = node->name,
                .op = node->op_type,
                .node_id = (uint32_t)i + 1,
            };
            (void)ig_module_location(import->module, &where);
            for (size_t k = 0; k < node->n_attribute; k++) {
                const Onnx__AttributeProto *attribute = node->attribute[k];
                if (attribute->g) {
                    IG_PUSH(import->arena, &todo, attribute->g);
                }
                for (size_t g = 0; g < attribute->n_graphs; g++) {
                    IG_PUSH(import->arena, &todo, attribute->graphs[g]);
                }
            }
        }
    }
}

static ig_status import_graph(ig_onnx_import *import, const ig_onnx_options *options) {
    const Onnx__GraphProto *graph = import->model->proto->graph;
    import->graph = ig_graph_create(import->module, "main", IG_STAGE_TENSOR);
    entry e = { .import = import,
                .options = options,
                .builder = ig_builder_at_end(&import->graph->body),
                .where = { .file = import->model->file } };
    ig_onnx_scope_init(&e.scope, import, NULL, NULL);
    e.scope.builder = &e.builder;
    if (graph->n_output == 0 || graph->n_output > UINT16_MAX) {
        return fail_model(import, IG_INVALID, NULL,
                          "the graph has no outputs, or too many");
    }
    IG_TRY(import_inputs(&e, graph));
    if (options && options->is_inputs_only) {
        if (options->is_outline) {
            IG_TRY(ig_onnx_import_initializers(&e.scope, graph));
            note_nodes(import, graph);
        }
        e.builder.loc = 0;
        ig_make_ret(&e.builder, NULL, 0);
        name_arguments(&e);
        return import->worst;
    }
    ig_value **results = IG_NEW_ARRAY(import->arena, ig_value *, graph->n_output);
    IG_TRY(ig_onnx_import_body(&e.scope, graph, results));
    for (size_t i = 0; i < graph->n_output; i++) {
        check_output(&e, graph->output[i], results[i]);
    }
    if (graph->n_output + import->running.count > UINT16_MAX) {
        return fail_model(import, IG_UNSUPPORTED, NULL,
                          "the graph has too many outputs and running statistics");
    }
    if (import->worst == IG_OK) {
        finish_graph(&e, graph, results);
        ig_onnx_note(import, ig_onnx_check_ranks(import));
    }
    return import->worst;
}

/* ---- entry points ---- */

static void note_producer(const ig_onnx_import *import) {
    const Onnx__ModelProto *model = import->model->proto;
    ig_writer producer, opsets;
    ig_writer_init(&producer, &import->module->arena);
    ig_writer_init(&opsets, &import->module->arena);
    ig_put(&producer, "%s %s", model->producer_name ? model->producer_name : "",
           model->producer_version ? model->producer_version : "");
    for (size_t i = 0; i < import->opsets.count; i++) {
        const Onnx__OperatorSetIdProto *set = import->opsets.imports[i];
        bool is_onnx = !set->domain || !set->domain[0];
        ig_put(&opsets, "%s%s %lld", i ? ", " : "", is_onnx ? "ai.onnx" : set->domain,
               (long long)set->version);
    }
    import->module->producer = producer.data;
    import->module->opsets = opsets.data;
}

static ig_status import_model(ig_onnx_model *model, const ig_onnx_options *options) {
    ig_onnx_import import = { .model = model,
                              .context = model->context,
                              .module = model->module,
                              .arena = model->arena,
                              .options = options };
    ig_map_init(&import.functions, import.arena);
    ig_map_init(&import.flawed, import.arena);
    ig_map_init(&import.rows, import.arena);
    ig_map_init(&import.weights, import.arena);
    ig_map_init(&import.untyped, import.arena);
    ig_map_init(&import.freed, import.arena);
    ig_map_init(&import.given, import.arena);
    IG_TRY(ig_onnx_model_parse(model));
    for (size_t i = 0; options && i < options->external_count; i++) {
        const ig_onnx_external *given = &options->external[i];
        ig_onnx_external_give(model, given->name, given->bytes);
    }
    IG_TRY(check_versions(&import));
    note_producer(&import);
    IG_TRY(options && options->is_inputs_only ? IG_OK : ig_onnx_check(&import));
    return import_graph(&import, options);
}

static ig_status finish_import(ig_onnx_model *model, const ig_onnx_options *options,
                               ig_module **out_module) {
    ig_module_want_guards(model->module);
    ig_status status = import_model(model, options);
    if (status != IG_OK) {
        *out_module = NULL;
        ig_module_destroy(model->module);
    }
    return status;
}

ig_status ig_import_onnx(ig_context *context, const char *path,
                         const ig_onnx_options *options, ig_module **out_module) {
    char why[256] = "";
    ig_module *module = *out_module = ig_module_create_for(context, path);
    ig_file_map *map = ig_module_add_map(module);
    ig_status status = ig_context_map(context, path, map, why);
    if (status != IG_OK) {
        ig_location where = { .file = path };
        status = ig_error(&context->diag, status, &where, "cannot be read: %s", why);
        *out_module = NULL;
        ig_module_destroy(module);
        return status;
    }
    const char *name = ig_module_string(module, ig_str_of(path));
    ig_onnx_model model = { .context = context,
                            .module = module,
                            .arena = &module->arena,
                            .file = name,
                            .path = name,
                            .beside = name,
                            .bytes = { map->data, map->size } };
    return finish_import(&model, options, out_module);
}

ig_status ig_import_onnx_memory(ig_context *context, ig_str bytes, const char *path,
                                const ig_onnx_options *options,
                                ig_module **out_module) {
    ig_module *module = *out_module = ig_module_create_for(context, path);
    const char *name = path ? ig_module_string(module, ig_str_of(path)) : NULL;
    ig_onnx_model model = { .context = context,
                            .module = module,
                            .arena = &module->arena,
                            .file = name ? name : "<memory>",
                            .beside = name,
                            .bytes = bytes };
    return finish_import(&model, options, out_module);
}
