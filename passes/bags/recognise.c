/* The ground of the recognising passes: walking, replacing, facts about symbols.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/bags/recognise.h"

#include "passes/engine/dead.h"

#include <assert.h>

/* ---- facts and their scopes ---- */

static void mark_visible(void *user, uint32_t symbol) {
    ig_recogniser *r = user;
    if (symbol < r->visible_count) {
        r->visible[symbol] = true;
    }
}

static void mark_type(ig_recogniser *r, const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        ig_dim_visit_symbols(r->module, type->dims[d], mark_visible, r);
    }
}

static void mark_block(ig_recogniser *r, const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        mark_type(r, block->args[i]->type);
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            mark_type(r, op->results[i].type);
        }
    }
}

static void enter_scope(ig_recogniser *r, const ig_block *block) {
    if (r->scope == block) {
        return;
    }
    r->scope = block;
    r->visible_count = ig_symbol_count(r->module);
    r->visible = IG_NEW_ARRAY(r->arena, bool, r->visible_count);
    while (block) {
        mark_block(r, block);
        block = block->parent ? block->parent->block : NULL;
    }
}

typedef struct visibility {
    const ig_recogniser *r;
    bool is_known;
} visibility;

static void check_symbol(void *user, uint32_t symbol) {
    visibility *v = user;
    bool is_known = symbol < v->r->visible_count && v->r->visible[symbol];
    v->is_known = v->is_known && is_known;
}

bool ig_recogniser_sees(ig_recogniser *r, const ig_block *block, ig_dim dim) {
    if (ig_dim_is_static(dim)) {
        return true;
    }
    enter_scope(r, block);
    visibility v = { r, true };
    ig_dim_visit_symbols(r->module, dim, check_symbol, &v);
    return v.is_known;
}

/* ---- replacing ---- */

void ig_recogniser_replace(ig_recogniser *r, ig_value *old, ig_value *value) {
    assert(old->def && old->type->rank == value->type->rank &&
           "the same value, better typed");
    ig_symbols_learn(&r->symbols, old->def, old->type, value->type);
    ig_value_retype(old, value->type);
    value->name = old->name ? old->name : value->name;
    ig_value_replace(old, value);
    r->run->changed = true;
}

void ig_recogniser_sweep(ig_recogniser *r, ig_op *op) {
    IG_VEC(ig_op *) work = { 0 };
    IG_PUSH(r->arena, &work, op);
    while (work.count) {
        op = IG_POP(&work);
        if (op->code == (uint16_t)IG_OP_ERASED || !ig_op_is_dead(&r->symbols, op)) {
            continue;
        }
        for (uint32_t i = 0; i < op->operand_count; i++) {
            ig_op *def = op->operands[i].value->def;
            bool is_head = def && (ig_ops[def->code].traits & IG_CONSTANT);
            if (def && !is_head) {
                IG_PUSH(r->arena, &work, def);
            }
        }
        ig_op_erase(op);
    }
}

/* Guards of the loop's own body about values known before it. */
static void keep_guards(ig_recogniser *r, ig_op *loop) {
    for (ig_op *op = loop->bodies[0]->first, *next; op; op = next) {
        next = op->next;
        if (op->code == IG_OP_guard &&
            ig_recogniser_sees(r, loop->block, op->attrs[IG_guard_left].as.dim) &&
            ig_recogniser_sees(r, loop->block, op->attrs[IG_guard_right].as.dim)) {
            ig_op_move(op, loop->block, loop);
        }
    }
}

void ig_recogniser_drop(ig_recogniser *r, ig_op *loop) {
    for (uint32_t i = 0; i < loop->result_count; i++) {
        if (loop->results[i].uses) {
            return;
        }
    }
    if (ig_symbols_is_definer(&r->symbols, loop)) {
        return; /* of an extent that may be used without the value */
    }
    keep_guards(r, loop);
    ig_op_erase(loop);
    r->run->changed = true;
}

/* ---- the walk ---- */

typedef struct walk {
    ig_opcode code;
    IG_VEC(ig_op *) ops;
} walk;

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void collect_ops(ig_recogniser *r, ig_block *block, walk *w) {
    for (ig_op *op = block->first; op; op = op->next) {
        if (op->code == w->code) {
            IG_PUSH(r->arena, &w->ops, op);
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            collect_ops(r, op->bodies[i], w);
        }
    }
}

ig_status ig_recognise(ig_pass_run *run, ig_graph *graph, ig_opcode code,
                       ig_recognise_fn match) {
    ig_recogniser r = {
        .run = run, .graph = graph, .module = graph->module, .arena = run->scratch
    };
    walk w = { .code = code };
    ig_symbols_init(&r.symbols, graph, r.arena);
    collect_ops(&r, &graph->body, &w);
    for (size_t i = 0; i < w.ops.count; i++) {
        if (w.ops.items[i]->code != (uint16_t)IG_OP_ERASED) {
            match(&r, w.ops.items[i]);
        }
        IG_TRY(ig_context_poll(graph->module->context));
    }
    return ig_symbols_apply(&r.symbols, run, graph);
}
