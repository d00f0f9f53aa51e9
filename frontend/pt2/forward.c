/* The method `forward` of an exported program: arguments taken apart, the graph run,
 * its writes done, the result put together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/call.h"

#include "frontend/pt2/graph.h"
#include "frontend/pt2/weights.h"
#include "frontend/torch/python/python.h"

#include <assert.h>

const char ig_pt2_class[] = "ExportedProgram";

typedef struct running {
    ig_pt2_scope scope;
    ig_pt2_program *program;
    size_t next_leaf;          /* of the arguments */
    const ig_ts_value *leaves; /* of the result, from the next one on */
} running;

static ig_ts_value key_value(const ig_json *key) {
    int64_t number;
    return ig_json_int(key, &number) ? ig_ts_of_int(number)
                                     : ig_ts_of_str(ig_str_of(ig_json_text(key)));
}

/* ---- arguments ---- */

static ig_status raise_other(ig_ts_eval *eval, void *user) {
    return ig_ts_raise(eval, user);
}

static ig_status go_on(ig_ts_eval *eval, void *user) {
    (void)eval, (void)user;
    return IG_OK;
}

/* The program must be called with the values that it was made for. */
static ig_status check_constant(running *r, const char *path, const ig_json *leaf,
                                const ig_ts_value *given) {
    ig_ts_eval *eval = r->scope.eval;
    ig_ts_value pair[] = { *given, { 0 } }, differs;
    IG_TRY(ig_pt2_argument(&r->scope, leaf, &pair[1]));
    const char *op = pair[1].kind == IG_TS_NONE ? "aten::__isnot__" : "aten::ne";
    IG_TRY(ig_pt2_call(&r->scope, op, pair, 2, &differs));
    IG_TRY(ig_ts_truth(eval, &differs, &differs));
    ig_writer text;
    ig_node constant;
    ig_writer_init(&text, eval->arena);
    IG_TRY(ig_pt2_constant(&r->program->reader, leaf, &constant));
    ig_put(&text, "argument %s must be ", path);
    ig_node_print(&constant, NULL, &(uint32_t){ 0 }, &text);
    ig_put(&text, ": the program was exported for it");
    return ig_ts_branch(eval, &differs, raise_other, go_on, text.data);
}

static ig_status bind_leaf(running *r, const char *path, const ig_ts_value *value) {
    const ig_json *leaf = r->program->leaves.items[r->next_leaf++];
    const char *name = ig_pt2_argument_name(leaf);
    ig_pt2_set(&r->scope, name, *value);
    return name ? IG_OK : check_constant(r, path, leaf, value);
}

/* A field of one of TorchRec's objects. */
static ig_status bind_field(running *r, const ig_ts_value *object, const char *path,
                            const char *field) {
    ig_ts_value value;
    IG_TRY(ig_python_attribute(r->scope.eval, object, field, &value));
    return bind_leaf(r, ig_arena_printf(r->scope.eval->arena, "%s.%s", path, field),
                     &value);
}

/* Offsets are asked for only where the program wants them. */
static ig_status bind_offsets(running *r, const ig_ts_value *object) {
    const ig_json *leaf = r->program->leaves.items[r->next_leaf++];
    const char *name = ig_pt2_argument_name(leaf);
    ig_ts_arguments none = { .positional = 0 };
    ig_ts_value value;
    if (name) {
        IG_TRY(ig_python_call_method(r->scope.eval, object->as.object, "offsets", &none,
                                     &value));
        ig_pt2_set(&r->scope, name, value);
    }
    return IG_OK;
}

static ig_status bind_jagged(running *r, const ig_pt2_spec *spec, const char *path,
                             const ig_ts_value *object) {
    size_t taken = r->next_leaf + spec->count;
    if (object->kind != IG_TS_OBJECT) {
        return ig_pt2_error(&r->scope, IG_INVALID, "argument %s is %s, expected a %s",
                            path, ig_ts_kind_name(object), spec->jagged->class_name);
    }
    IG_TRY(bind_field(r, object, path, "_values"));
    if (!spec->jagged->is_keyed_tensor) {
        IG_TRY(bind_field(r, object, path, "_weights"));
        if (ig_pt2_argument_name(r->program->leaves.items[r->next_leaf])) {
            IG_TRY(bind_field(r, object, path, "_lengths"));
        } else {
            r->next_leaf++;
        }
        IG_TRY(bind_offsets(r, object));
    }
    r->next_leaf = taken; /* the others are None */
    return IG_OK;
}

/* Item `index` of the container's representation. */
static ig_status item_of(const running *r, const ig_pt2_spec *spec, const char *path,
                         const ig_ts_value *value, size_t index, ig_ts_value *out) {
    bool is_list = value->kind == IG_TS_TUPLE || value->kind == IG_TS_LIST;
    IG_TRY(ig_ts_open(r->scope.eval, value));
    if (spec->kind == IG_PT2_DICT && value->kind == IG_TS_DICT) {
        const ig_ts_dict *dict = value->as.dict;
        ig_ts_value key = key_value(spec->keys[index]);
        size_t at = ig_ts_dict_find(dict, &key);
        if (at < dict->count) {
            *out = dict->values[at];
            return IG_OK;
        }
    } else if (spec->kind != IG_PT2_DICT && is_list &&
               value->as.list->count == spec->count) {
        *out = value->as.list->items[index];
        return IG_OK;
    }
    return ig_pt2_error(&r->scope, IG_INVALID,
                        "argument %s is %s that lacks part %zu of %zu", path,
                        ig_ts_kind_name(value), index, spec->count);
}

/* Names the leaves of an argument: as many as the program has (call.c). */
static ig_status bind_tree(running *r, const ig_pt2_spec *spec, const char *path,
                           const ig_ts_value *value) {
    if (spec->kind == IG_PT2_LEAF) {
        return bind_leaf(r, path, value);
    }
    if (spec->kind == IG_PT2_JAGGED) {
        return bind_jagged(r, spec, path, value);
    }
    for (size_t i = 0; i < spec->count; i++) {
        ig_ts_value item;
        IG_TRY(item_of(r, spec, path, value, i, &item));
        IG_TRY(bind_tree(r, &spec->items[i],
                         ig_arena_printf(r->scope.eval->arena, "%s[%zu]", path, i),
                         &item));
    }
    return IG_OK;
}

static ig_status bind_arguments(running *r) {
    const ig_pt2_program *p = r->program;
    ig_ts_eval *eval = r->scope.eval;
    size_t at = 0;
    for (size_t g = 0; g < p->in.count; g++) {
        for (size_t i = 0; i < p->in.items[g].count; i++, at++) {
            const char *name = p->parameters.items[at];
            const char *slot = ig_names_intern(&eval->code->names, ig_str_of(name));
            const ig_ts_value *given = ig_ts_name_get(eval->frame, slot);
            assert(given && "the call has set every parameter");
            ig_ts_value value = *given;
            IG_TRY(bind_tree(r, &p->in.items[g].items[i], name, &value));
        }
    }
    return IG_OK;
}

static ig_status bind_held(running *r, const ig_ts_value *self) {
    for (size_t i = 0; i < r->program->held.count; i++) {
        const ig_pt2_held *held = &r->program->held.items[i];
        ig_ts_value value;
        IG_TRY(ig_python_attribute(r->scope.eval, self, held->attribute, &value));
        ig_pt2_set(&r->scope, held->name, value);
    }
    return IG_OK;
}

/* ---- results ---- */

/* Does the pending writes; the others are leaves of the result. */
static ig_status take_outputs(running *r, const ig_ts_value *self,
                              ig_ts_value *leaves) {
    for (size_t i = 0; i < r->program->outputs.count; i++) {
        const ig_pt2_output *output = &r->program->outputs.items[i];
        ig_ts_value pair[2], written;
        if (output->leaf) {
            IG_TRY(ig_pt2_argument(&r->scope, output->leaf, leaves++));
            continue;
        }
        IG_TRY(ig_pt2_get(&r->scope, output->value, &pair[1]));
        IG_TRY(output->is_input ? ig_pt2_get(&r->scope, output->target, &pair[0])
                                : ig_python_attribute(r->scope.eval, self,
                                                      output->target, &pair[0]));
        IG_TRY(ig_pt2_call(&r->scope, "aten::copy_", pair, 2, &written));
    }
    return IG_OK;
}

static ig_ts_value key_list(ig_ts_eval *eval, const ig_json *keys) {
    ig_ts_list *list = ig_ts_list_create(eval, ig_json_count(keys));
    for (size_t i = 0; i < ig_json_count(keys); i++) {
        ig_ts_list_add(eval, list, key_value(ig_json_at(keys, i)));
    }
    return ig_ts_of_list(list);
}

/* An object of TorchRec's, made by its constructor. */
static ig_status make_jagged(running *r, const ig_pt2_spec *spec, ig_ts_value *out) {
    ig_ts_eval *eval = r->scope.eval;
    const ig_pt2_jagged *jagged = spec->jagged;
    ig_ts_value values[IG_COUNT_OF(jagged->fixed) + IG_PT2_JAGGED_ITEMS], nothing;
    ig_ts_arguments arguments = { .values = values };
    size_t own = jagged->is_keyed_tensor ? 1 : IG_PT2_JAGGED_ITEMS;
    for (size_t i = 0; i < IG_COUNT_OF(jagged->fixed) && jagged->fixed[i]; i++) {
        values[arguments.positional++] = key_list(eval, spec->keys[i]);
    }
    for (size_t i = 0; i < spec->count; i++) {
        const ig_ts_value *leaf = r->leaves++;
        if (i < own) {
            values[arguments.positional++] = *leaf;
        } else if (leaf->kind != IG_TS_NONE) {
            return ig_pt2_error(&r->scope, IG_UNSUPPORTED, IG_PT2_OTHER_PARTS,
                                jagged->class_name);
        }
    }
    ig_ts_object *object = ig_ts_object_create(eval, "?");
    ig_location where = ig_ts_where(eval);
    object->class_name = ig_arena_printf(
        eval->arena, "__torch__.torchrec.sparse.jagged_tensor.%s", jagged->class_name);
    IG_TRY(ig_code_class(eval->code, object->class_name, &where, &object->class));
    *out = ig_ts_of_object(object);
    return ig_python_call_method(eval, object, "__init__", &arguments, &nothing);
}

static ig_status make_tree(running *r, const ig_pt2_spec *spec, ig_ts_value *out);

static ig_status make_dict(running *r, const ig_pt2_spec *spec, ig_ts_value *out) {
    ig_ts_dict *dict = ig_ts_dict_create(r->scope.eval);
    for (size_t i = 0; i < spec->count; i++) {
        ig_ts_value item;
        IG_TRY(make_tree(r, &spec->items[i], &item));
        ig_ts_dict_set(r->scope.eval, dict, key_value(spec->keys[i]), item);
    }
    *out = ig_ts_of_dict(dict);
    return IG_OK;
}

static const char *record_name(ig_arena *arena, const ig_pt2_spec *spec) {
    return ig_arena_printf(arena, "__torch__.%s", spec->class_name);
}

static ig_status make_list(running *r, const ig_pt2_spec *spec, ig_ts_value *out) {
    ig_ts_eval *eval = r->scope.eval;
    ig_ts_list *list = ig_ts_list_create(eval, spec->count);
    ig_location where = ig_ts_where(eval);
    if (spec->kind == IG_PT2_RECORD) {
        IG_TRY(ig_code_class(eval->code, record_name(eval->arena, spec), &where,
                             &list->class));
    }
    for (size_t i = 0; i < spec->count; i++) {
        ig_ts_value item;
        IG_TRY(make_tree(r, &spec->items[i], &item));
        ig_ts_list_add(eval, list, item);
    }
    *out = spec->kind == IG_PT2_LIST ? ig_ts_of_list(list) : ig_ts_of_tuple(list);
    return IG_OK;
}

/* Packs leaves from r->leaves on. */
static ig_status make_tree(running *r, const ig_pt2_spec *spec, ig_ts_value *out) {
    switch ((int)spec->kind) {
    case IG_PT2_LEAF:
        *out = *r->leaves++;
        return IG_OK;
    case IG_PT2_JAGGED:
        return make_jagged(r, spec, out);
    case IG_PT2_DICT:
        return make_dict(r, spec, out);
    default:
        return make_list(r, spec, out);
    }
}

/* ---- the method ---- */

static ig_status run_forward(ig_ts_eval *eval, void *user) {
    ig_pt2_program *program = user;
    running r = { .scope = { .eval = eval, .graph = program->graph, .prefix = "%" },
                  .program = program };
    ig_ts_value self = eval->frame->values[0];
    ig_ts_value *leaves = IG_NEW_ARRAY(eval->arena, ig_ts_value,
                                       program->outputs.count + 1);
    IG_TRY(bind_held(&r, &self));
    IG_TRY(bind_arguments(&r));
    IG_TRY(ig_pt2_nodes(&r.scope));
    r.scope.target = NULL;
    IG_TRY(take_outputs(&r, &self, leaves));
    r.leaves = leaves;
    return make_tree(&r, &program->out, &eval->frame->result);
}

static void survey_forward(ig_ts_eval *eval, void *user, ig_python_look *look) {
    ig_pt2_survey(eval, ((ig_pt2_program *)user)->graph, look);
}

/* ---- declarations ---- */

static void declare_records(ig_code *code, const ig_pt2_spec *spec) {
    for (size_t i = 0; i < spec->count; i++) {
        declare_records(code, &spec->items[i]);
    }
    if (spec->kind != IG_PT2_RECORD) {
        return;
    }
    ig_class *class = IG_NEW(code->arena, ig_class);
    class->name = record_name(code->arena, spec);
    class->kind = IG_CLASS_NAMED_TUPLE;
    class->attributes.count = spec->count;
    class->attributes.items = IG_NEW_ARRAY(code->arena, ig_field, spec->count + 1);
    for (size_t i = 0; i < spec->count; i++) {
        class->attributes.items[i] =
            (ig_field){ .name = ig_json_text(spec->keys[i]),
                        .type = code->types.simple[IG_SCRIPT_ANY] };
    }
    ig_code_add_class(code, class);
}

static ig_param make_parameter(ig_code *code, const char *name,
                               const ig_script_type *type) {
    return (ig_param){ .name = ig_names_intern(&code->names, ig_str_of(name)),
                       .type = type,
                       .kind = IG_AST_PARAM_NORMAL };
}

void ig_pt2_declare(void *user, struct ig_code *code) {
    ig_pt2_program *program = user;
    size_t count = program->parameters.count;
    ig_class *class = IG_NEW(code->arena, ig_class);
    ig_function *forward = IG_NEW(code->arena, ig_function);
    ig_ts_native *native = IG_NEW(code->arena, ig_ts_native);
    *native = (ig_ts_native){ run_forward, survey_forward, program };
    class->name = ig_arena_printf(code->arena, "__torch__.%s", ig_pt2_class);
    class->kind = IG_CLASS_MODULE;
    class->methods = forward;
    class->method_count = 1;
    ig_code_add_class(code, class);
    *forward =
        (ig_function){ .name = ig_arena_printf(code->arena, "%s.forward", class->name),
                       .file = code->file,
                       .class = class,
                       .native = native,
                       .param_count = count + 1 };
    forward->params = IG_NEW_ARRAY(code->arena, ig_param, count + 1);
    forward->params[0] = make_parameter(code, "self", class->type);
    for (size_t i = 0; i < count; i++) {
        forward->params[1 + i] = make_parameter(code, program->parameters.items[i],
                                                code->types.simple[IG_SCRIPT_TENSOR]);
    }
    ig_class *wrapper = IG_NEW(code->arena, ig_class);
    wrapper->name = IG_PT2_MODULE "." IG_PT2_WRAPPER;
    wrapper->kind = IG_CLASS_MODULE;
    ig_code_add_class(code, wrapper);
    declare_records(code, &program->in);
    declare_records(code, &program->out);
}
