/* Copies: of an op, of a block's ops into another block, of a whole module.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One cloner serves all three.  Inside a module types and attributes are interned and
 * shared; between modules they are rebuilt, dims by the names of their symbols.  A
 * value that the map does not hold is kept, except that a weight of another graph
 * becomes the same weight's op at the head of the target graph: use chains never leave
 * a graph.
 */
#include "ir/graph.h"
#include "ir/dim/table.h"
#include "ir/ops.h"

#include <assert.h>
#include <string.h>

typedef struct cloner {
    const ig_module *from;
    ig_module *to;
    ig_graph *graph; /* of the copies */
    ig_map *map;     /* value -> its copy */
    ig_map *types;   /* between modules: type -> its copy; else NULL */
    /* Between modules: the replacement of each symbol; NULL: the symbol of its name. */
    const ig_dim *by_symbol;
    bool has_loc; /* locations mean the same in both modules */
    uint32_t loc; /* of the copies where they do not */
    ig_origins origins;
} cloner;

/* ---- between modules ---- */

static const ig_type *copy_type(cloner *c, const ig_type *type) {
    if (!c->types || !type) {
        return type;
    }
    const ig_type *known = (const ig_type *)ig_map_get_id(c->types, IG_MAP_PTR(type));
    if (known) {
        return known;
    }
    const ig_type *copy = ig_type_translate(c->from, type, c->by_symbol, c->to);
    ig_map_set_id(c->types, IG_MAP_PTR(type), (void *)(uintptr_t)copy);
    return copy;
}

static ig_data copy_data(cloner *c, const ig_data *data) {
    ig_data copy = *data;
    copy.type = copy_type(c, data->type);
    copy.file = data->file ? ig_module_string(c->to, ig_str_of(data->file)) : NULL;
    if (data->bytes && !data->file) { /* perhaps in the arena of the other module */
        copy.bytes = ig_arena_copy(&c->to->arena, data->bytes,
                                   ig_data_stored_bytes(data));
    }
    return copy;
}

static ig_dim copy_dim(cloner *c, ig_dim dim) {
    return c->by_symbol ? ig_dim_move(c->from, dim, c->by_symbol, c->to)
                        : ig_dim_translate(c->from, dim, c->to);
}

static ig_attr copy_dims(cloner *c, const ig_attr *attr) {
    ig_dim *dims = IG_NEW_ARRAY(&c->to->arena, ig_dim, attr->count);
    for (uint32_t i = 0; i < attr->count; i++) {
        dims[i] = copy_dim(c, attr->as.dims[i]);
    }
    return ig_attr_of_dims(c->to, dims, attr->count);
}

static ig_attr copy_attr(cloner *c, const ig_attr *attr) {
    if (!c->types) {
        return *attr;
    }
    switch ((ig_attr_kind)attr->kind) {
    case IG_ATTR_STR:
        return ig_attr_of_str(c->to, ig_str_of(attr->as.str));
    case IG_ATTR_SYM:
        return ig_attr_of_sym(c->to, attr->as.str);
    case IG_ATTR_INTS:
        return ig_attr_of_ints(c->to, attr->as.ints, attr->count);
    case IG_ATTR_DIM:
        return ig_attr_of_dim(copy_dim(c, attr->as.dim));
    case IG_ATTR_DIMS:
        return copy_dims(c, attr);
    case IG_ATTR_DATA: {
        ig_data data = copy_data(c, attr->as.data);
        return ig_attr_of_data(c->to, &data);
    }
    case IG_ATTR_NONE:
    case IG_ATTR_INT:
    case IG_ATTR_FLOAT:
    case IG_ATTR_BOOL:
    case IG_ATTR_ENUM:
    case IG_ATTR_DTYPE:
        break;
    }
    return *attr;
}

/* ---- ops ---- */

static ig_value *head_in(ig_graph *graph, const ig_op *weight) {
    ig_weight *item = ig_module_weight(graph->module, weight->attrs[0].as.str);
    assert(item && "a weight op names a weight of its module");
    return ig_graph_weight(graph, item);
}

static ig_value *copy_of(cloner *c, ig_value *value) {
    ig_value *known = (ig_value *)ig_map_get_id(c->map, IG_MAP_PTR(value));
    if (known) {
        return known;
    }
    const ig_block *home = value->def ? value->def->block : value->block;
    if (home->graph == c->graph) {
        return value;
    }
    assert(value->def &&
           (value->def->code == IG_OP_weight || value->def->code == IG_OP_table) &&
           "a value of another graph without a copy");
    ig_value *head = head_in(c->graph, value->def);
    ig_map_set_id(c->map, IG_MAP_PTR(value), head);
    return head;
}

static void note_copy(cloner *c, const ig_value *value, ig_value *copy) {
    copy->name = value->name ? ig_module_string(c->to, ig_str_of(value->name)) : NULL;
    ig_map_set_id(c->map, IG_MAP_PTR(value), copy);
}

static void clone_block(cloner *c, const ig_block *from, ig_block *to);

/* Operands, types and attributes in arrays that the caller may forget at once. */
static ig_op *make_copy(cloner *c, const ig_op *op) {
    uint32_t attr_count = ig_ops[op->code].attr_count;
    ig_arena *arena = &c->to->arena;
    ig_value *few_operands[8];
    const ig_type *few_types[8];
    ig_attr few_attrs[16];
    ig_value **operands = op->operand_count <= 8
                              ? few_operands
                              : IG_NEW_ARRAY(arena, ig_value *, op->operand_count);
    const ig_type **types = op->result_count <= 8 ? few_types
                                                  : IG_NEW_ARRAY(arena, const ig_type *,
                                                                 op->result_count);
    ig_attr *attrs = attr_count <= 16 ? few_attrs
                                      : IG_NEW_ARRAY(arena, ig_attr, attr_count);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        operands[i] = copy_of(c, op->operands[i].value);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        types[i] = copy_type(c, op->results[i].type);
    }
    for (uint32_t i = 0; i < attr_count; i++) {
        attrs[i] = copy_attr(c, &op->attrs[i]);
    }
    ig_op_spec spec = { .operands = operands,
                        .result_types = types,
                        .attrs = attrs,
                        .operand_count = op->operand_count,
                        .result_count = op->result_count,
                        .body_count = op->body_count,
                        .loc = c->has_loc ? op->loc : c->loc,
                        .origins = c->has_loc ? op->origins : c->origins };
    return ig_op_create(c->graph, (ig_opcode)op->code, &spec);
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static ig_op *clone_op(cloner *c, const ig_op *op, ig_block *block, ig_op *before) {
    ig_op *copy = make_copy(c, op);
    ig_op_insert(copy, block, before);
    for (uint32_t i = 0; i < op->result_count; i++) {
        note_copy(c, &op->results[i], &copy->results[i]);
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        clone_block(c, op->bodies[i], copy->bodies[i]);
    }
    return copy;
}

static void clone_block(cloner *c, const ig_block *from, ig_block *to) {
    for (uint32_t i = 0; i < from->arg_count; i++) {
        const ig_type *type = copy_type(c, from->args[i]->type);
        note_copy(c, from->args[i], ig_block_add_arg(to, type, NULL));
    }
    for (const ig_op *op = from->first; op; op = op->next) {
        clone_op(c, op, to, NULL);
    }
}

static cloner start_cloner(const ig_graph *from, ig_graph *to, ig_map *map,
                           ig_map *types) {
    bool is_same = from->module == to->module;
    if (!is_same) {
        ig_map_init(types, &to->module->arena);
    }
    return (cloner){ .from = from->module,
                     .to = to->module,
                     .graph = to,
                     .map = map,
                     .types = is_same ? NULL : types,
                     .has_loc = is_same };
}

ig_op *ig_op_clone(const ig_op *op, ig_block *block, ig_op *before, ig_map *map) {
    assert(op->code < IG_OP_COUNT && op->block && "the op is in a graph");
    assert((!before || before->block == block) && "`before` is in another block");
    ig_map own, types;
    if (!map) {
        ig_map_init(&own, &block->graph->module->arena);
        map = &own;
    }
    cloner c = start_cloner(op->block->graph, block->graph, map, &types);
    return clone_op(&c, op, block, before);
}

void ig_block_inline(const ig_block *from, ig_block *block, ig_op *before,
                     ig_value *const *args, ig_value **out_results) {
    ig_block_position position = { .block = block, .before = before };
    ig_block_inline_at(from, &position, NULL, args, out_results);
}

void ig_block_inline_at(const ig_block *from, const ig_block_position *position,
                        const ig_dim *by_symbol, ig_value *const *args,
                        ig_value **out_results) {
    ig_block *block = position->block;
    ig_op *before = position->before;
    assert((args || !from->arg_count) && "a value for each argument");
    assert((!before || before->block == block) && "`before` is in another block");
    const ig_op *end = from->last;
    assert(end && (ig_ops[end->code].traits & IG_TERMINATOR) && "a block ends");
    ig_map map, types;
    ig_map_init(&map, &block->graph->module->arena);
    cloner c = start_cloner(from->graph, block->graph, &map, &types);
    c.by_symbol = by_symbol;
    c.loc = position->loc;
    c.origins = position->origins;
    for (uint32_t i = 0; i < from->arg_count; i++) {
        ig_map_set_id(&map, IG_MAP_PTR(from->args[i]), args[i]);
    }
    for (const ig_op *op = from->first; op != end; op = op->next) {
        clone_op(&c, op, block, before);
    }
    for (uint32_t i = 0; i < end->operand_count; i++) {
        out_results[i] = copy_of(&c, end->operands[i].value);
    }
}

/* ---- modules ---- */

static void clone_weights(cloner *c) {
    for (size_t i = 0; i < c->from->weights.count; i++) {
        const ig_weight *weight = c->from->weights.items[i];
        ig_data data = copy_data(c, &weight->data);
        ig_weight *copy = ig_module_add_weight(c->to, weight->name, &data);
        copy->type = copy_type(c, weight->type);
        copy->is_recipe = weight->is_recipe;
        copy->index = weight->index;
        copy->is_parameter = weight->is_parameter;
    }
}

static const char *const *clone_names(ig_module *to, const char *const *names,
                                      uint32_t count) {
    if (!names) {
        return NULL;
    }
    const char **copy = IG_NEW_ARRAY(&to->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = names[i] ? ig_module_string(to, ig_str_of(names[i])) : NULL;
    }
    return copy;
}

static void clone_graph(cloner *c, const ig_graph *from) {
    const ig_op *end = from->body.last;
    ig_graph *to = ig_graph_create(c->to, from->name, from->stage);
    to->is_entry = from->is_entry;
    to->arg_names = clone_names(c->to, from->arg_names, from->body.arg_count);
    to->result_names = clone_names(c->to, from->result_names,
                                   end ? end->operand_count : 0);
    to->signature = ig_signature_copy(from->signature, &c->to->arena);
    to->states = clone_names(c->to, from->states, from->state_count);
    to->state_count = from->state_count;
    to->opened_count = from->opened_count;
    c->graph = to;
    clone_block(c, &from->body, &to->body);
}

/* Sets keep their numbers. */
static void clone_origins(const ig_module *from, ig_module *to) {
    for (size_t i = 0; i < from->unions.count; i++) {
        ig_origin_union parts = from->unions.items[i];
        (void)ig_origins_join(to, parts.first, parts.second);
    }
    assert(to->unions.count == from->unions.count && "no union occurs twice");
    for (size_t i = 0; i < from->gone.count; i++) {
        IG_PUSH(&to->arena, &to->gone, from->gone.items[i]);
    }
}

static void clone_marks(const ig_module *from, ig_module *to) {
    for (size_t i = 0; i < from->beside.count; i++) {
        const ig_map_entry *kept = &from->beside.entries[i];
        if (IG_MAP_PTR(kept->value) == kept->id) {
            ig_module_keep_beside(to, kept->value, kept->value);
        }
    }
}

ig_module *ig_module_clone(const ig_module *module) {
    ig_module *copy = ig_module_create(module->context, module->name);
    copy->path = module->path ? ig_module_string(copy, ig_str_of(module->path)) : NULL;
    copy->folder = module->folder ? ig_module_string(copy, ig_str_of(module->folder))
                                  : NULL;
    ig_dim_copy_symbols(module, copy);
    for (size_t i = 1; i < module->locations.count; i++) {
        (void)ig_module_location(copy, &module->locations.items[i]);
    }
    clone_origins(module, copy);
    clone_marks(module, copy);
    ig_map map, types;
    ig_map_init(&map, &copy->arena);
    ig_map_init(&types, &copy->arena);
    cloner c = {
        .from = module, .to = copy, .map = &map, .types = &types, .has_loc = true
    };
    clone_weights(&c);
    for (size_t i = 0; i < module->graphs.count; i++) {
        clone_graph(&c, module->graphs.items[i]);
    }
    return copy;
}
