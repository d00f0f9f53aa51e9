/* The six functions that edit a graph, and the making of ops and block arguments.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An op and everything of its fixed size is one allocation:
 *
 *     | ig_op | operands | results | attrs | bodies | blocks |
 *
 * Each use is a node of its value's chain.  A chain is doubly linked through `link`,
 * the address of the pointer that points here, so that unlinking needs no search.
 *
 * An erased op keeps its head readable (a worklist may still hold it and sees
 * IG_OP_ERASED); the rest is poisoned where AddressSanitizer is at work.
 */
#include "ir/graph.h"

#include "base/platform/platform_asan.h"
#include "ir/ops.h"

#include <assert.h>
#include <string.h>

/* ---- use chains ---- */

static void link_use(ig_use *use, ig_value *value) {
    use->value = value;
    use->next = value->uses;
    use->link = &value->uses;
    if (value->uses) {
        value->uses->link = &use->next;
    }
    value->uses = use;
}

static void unlink_use(ig_use *use) {
    *use->link = use->next;
    if (use->next) {
        use->next->link = use->link;
    }
    use->value = NULL;
}

void ig_use_set(ig_use *use, ig_value *value) {
    assert(use->user && value && "an operand is a value of an op");
    if (use->value != value) {
        unlink_use(use);
        link_use(use, value);
    }
}

void ig_value_replace(ig_value *old, ig_value *value) {
    assert(old->type == value->type && "replacing by a value of another type");
    if (old == value) {
        return;
    }
    if (old->def && value->def && old->def != value->def) {
        ig_op_inherit(value->def, old->def);
    }
    while (old->uses) {
        ig_use_set(old->uses, value);
    }
}

void ig_value_retype(ig_value *value, const ig_type *type) {
    assert(type && "a value has a type");
    value->type = type;
}

/* ---- making ---- */

typedef struct op_layout {
    size_t operands, results, attrs, bodies, blocks, size; /* offsets in bytes */
} op_layout;

static op_layout lay_out(const ig_op_info *info, const ig_op_spec *spec,
                         uint32_t results, uint32_t bodies) {
    op_layout at;
    at.operands = sizeof(ig_op);
    at.results = at.operands + spec->operand_count * sizeof(ig_use);
    at.attrs = at.results + results * sizeof(ig_value);
    at.bodies = at.attrs + info->attr_count * sizeof(ig_attr);
    at.blocks = at.bodies + bodies * sizeof(ig_block *);
    at.size = at.blocks + bodies * sizeof(ig_block);
    return at;
}

static void init_operands(ig_op *op, const ig_op_spec *spec) {
    for (uint32_t i = 0; i < spec->operand_count; i++) {
        assert(spec->operands[i] && "an operand is a value");
        op->operands[i].user = op;
        link_use(&op->operands[i], spec->operands[i]);
    }
}

static void init_results(ig_op *op, ig_graph *graph, const ig_op_spec *spec) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value *result = &op->results[i];
        result->def = op;
        result->index = i;
        result->id = graph->value_count++;
        result->type = spec->result_types ? spec->result_types[i] : NULL;
    }
}

static uint32_t result_count_of(const ig_op_info *info, const ig_op_spec *spec) {
    if (info->result_count == IG_MANY) {
        return spec->result_count;
    }
    assert((!spec->result_types || spec->result_count == info->result_count) &&
           "as many result types as the row says");
    return info->result_count;
}

ig_op *ig_op_create(ig_graph *graph, ig_opcode code, const ig_op_spec *spec) {
    assert((int)code < IG_OP_COUNT && "no such op");
    const ig_op_info *info = &ig_ops[code];
    uint32_t results = result_count_of(info, spec);
    uint32_t bodies = info->body_count == IG_MANY ? spec->body_count : info->body_count;
    assert(spec->operand_count <= UINT16_MAX && results <= UINT16_MAX &&
           bodies <= UINT16_MAX && "counts are 16 bits wide");
    op_layout at = lay_out(info, spec, results, bodies);
    char *memory = (char *)ig_arena_zalloc(&graph->module->arena, at.size);
    ig_op *op = (ig_op *)(void *)memory;
    op->operands = (ig_use *)(void *)(memory + at.operands);
    op->results = (ig_value *)(void *)(memory + at.results);
    op->attrs = (ig_attr *)(void *)(memory + at.attrs);
    op->bodies = (ig_block **)(void *)(memory + at.bodies);
    ig_block *blocks = (ig_block *)(void *)(memory + at.blocks);
    op->code = (uint16_t)code;
    op->operand_count = (uint16_t)spec->operand_count;
    op->result_count = (uint16_t)results;
    op->body_count = (uint16_t)bodies;
    op->id = graph->op_count++;
    op->loc = spec->loc;
    op->origins = spec->origins;
    init_operands(op, spec);
    init_results(op, graph, spec);
    if (spec->attrs && info->attr_count) {
        memcpy(op->attrs, spec->attrs, info->attr_count * sizeof(ig_attr));
    }
    for (uint32_t i = 0; i < bodies; i++) {
        blocks[i].parent = op;
        blocks[i].graph = graph;
        op->bodies[i] = &blocks[i];
    }
    return op;
}

/* `args` has room for the next power of two of arg_count. */
static void grow_args(ig_block *block) {
    uint32_t count = block->arg_count;
    if (count & (count - 1)) {
        return; /* not full */
    }
    uint32_t room = count ? 2 * count : 1;
    ig_value **args = IG_NEW_ARRAY(&block->graph->module->arena, ig_value *, room);
    if (count) {
        memcpy(args, block->args, count * sizeof(ig_value *));
    }
    block->args = args;
}

ig_value *ig_block_add_arg(ig_block *block, const ig_type *type, const char *name) {
    assert(block->graph && "the block belongs to a graph");
    assert(block->arg_count < UINT32_MAX / 2 && "arguments are counted in 32 bits");
    ig_module *module = block->graph->module;
    ig_value *arg = IG_NEW(&module->arena, ig_value);
    arg->type = type;
    arg->block = block;
    arg->name = name ? ig_module_string(module, ig_str_of(name)) : NULL;
    arg->id = block->graph->value_count++;
    arg->index = block->arg_count;
    grow_args(block);
    block->args[block->arg_count++] = arg;
    return arg;
}

/* Shrinking below a power of two leaves more room than grow_args needs, never less. */
void ig_block_remove_arg(ig_block *block, uint32_t index) {
    assert(index < block->arg_count && "no such argument");
    assert(!block->args[index]->uses && "removing an argument in use");
    block->arg_count--;
    for (uint32_t i = index; i < block->arg_count; i++) {
        block->args[i] = block->args[i + 1];
        block->args[i]->index = i;
    }
}

/* ---- placing ---- */

static void unlink_op(ig_op *op) {
    ig_block *block = op->block;
    *(op->prev ? &op->prev->next : &block->first) = op->next;
    *(op->next ? &op->next->prev : &block->last) = op->prev;
    op->prev = op->next = NULL;
    op->block = NULL;
}

static void link_op(ig_op *op, ig_block *block, ig_op *before) {
    op->block = block;
    op->next = before;
    op->prev = before ? before->prev : block->last;
    *(op->prev ? &op->prev->next : &block->first) = op;
    *(op->next ? &op->next->prev : &block->last) = op;
}

/* Remembers the op of a weight, so that finding it needs no search. */
static void note_head(ig_op *op) {
    ig_graph *graph = op->block->graph;
    if ((op->code != IG_OP_weight && op->code != IG_OP_table) || op->block->parent) {
        return;
    }
    if (!graph->heads.arena) {
        ig_map_init(&graph->heads, &graph->module->arena);
    }
    ig_map_set(&graph->heads, ig_str_of(op->attrs[0].as.str), op);
}

void ig_op_insert(ig_op *op, ig_block *block, ig_op *before) {
    assert(!op->block && "inserting an op that is in a block");
    assert((!before || before->block == block) && "`before` is in another block");
    link_op(op, block, before);
    note_head(op);
}

void ig_op_move(ig_op *op, ig_block *block, ig_op *before) {
    assert(op->block && op->block->graph == block->graph && "moving between graphs");
    assert((!before || before->block == block) && "`before` is in another block");
    if (op == before) {
        return;
    }
    unlink_op(op);
    link_op(op, block, before);
}

static void poison_op(ig_op *op) {
    const ig_op_info *info = &ig_ops[op->code];
    ig_op_spec spec = { .operand_count = op->operand_count };
    op_layout at = lay_out(info, &spec, op->result_count, op->body_count);
    op->code = IG_OP_ERASED;
    op->operand_count = op->result_count = op->body_count = 0;
    IG_POISON((char *)op + sizeof(ig_op), at.size - sizeof(ig_op));
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
void ig_op_erase(ig_op *op) {
    assert(op->code != IG_OP_ERASED && "erasing an op twice");
    ig_origins_pass_on(op);
    for (uint32_t i = 0; i < op->body_count; i++) {
        while (op->bodies[i]->last) {
            ig_op_erase(op->bodies[i]->last);
        }
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        assert(!op->results[i].uses && "erasing a live op");
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        unlink_use(&op->operands[i]);
    }
    if (op->block) {
        unlink_op(op);
    }
    poison_op(op);
}
