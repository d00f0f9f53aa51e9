/* dce: removes ops without users.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = relu %x : f32[4]
 *     %1 = neg %0 : f32[4]          (neither is used)
 *     return %x
 *   becomes
 *     return %x
 *
 * Guards and ops that touch state stay, and so do the ops around them.  An op that
 * defines a symbol (an extent known only at run time) stays while something else
 * mentions it; before there is a plan, so does a bind.
 *
 * One walk against the order is enough: uses and mentions are gone before definitions
 * are reached.
 *
 * Keeps: the order and content of all other ops.
 */
#include "passes/engine/dead.h"
#include "passes/engine/pass.h"

typedef struct sweeper {
    ig_pass_run *run;
    ig_symbols symbols;
    uint32_t *mentions; /* by symbol: ops that mention it but do not define it */
    uint32_t symbol_count;
} sweeper;

/* ---- mentions ---- */

typedef struct counter {
    sweeper *sweeper;
    const ig_op *op;
    uint32_t by; /* 1 or -1, modulo 2^32 */
} counter;

static void count_symbol(void *user, uint32_t symbol) {
    counter *c = (counter *)user;
    if (symbol < c->sweeper->symbol_count) {
        c->sweeper->mentions[symbol] += c->by;
    }
}

static void count_dim(counter *c, ig_dim dim) {
    if (!ig_dim_is_static(dim)) {
        ig_dim_visit_symbols(c->sweeper->symbols.module, dim, count_symbol, c);
    }
}

/* Extents of results but for those that the op itself defines. */
static void count_type(counter *c, const ig_type *type) {
    for (; type; type = type->element) {
        for (uint32_t d = 0; d < type->rank; d++) {
            if (!ig_symbols_defines(&c->sweeper->symbols, c->op, type->dims[d])) {
                count_dim(c, type->dims[d]);
            }
        }
    }
}

/* A bind only defines.  Plans keep theirs: kernels read symbols by number. */
static bool is_bind(const ig_op *op) {
    return op->code == IG_OP_bind && op->block->graph->stage == IG_STAGE_TENSOR;
}

static void count_op(sweeper *s, const ig_op *op, uint32_t by) {
    if (is_bind(op)) {
        return;
    }
    counter c = { .sweeper = s, .op = op, .by = by };
    for (uint32_t i = 0; i < op->result_count; i++) {
        count_type(&c, op->results[i].type);
    }
    for (uint32_t slot = 0; slot < ig_ops[op->code].attr_count; slot++) {
        const ig_attr *attr = &op->attrs[slot];
        if (attr->kind == IG_ATTR_DIM) {
            count_dim(&c, attr->as.dim);
        }
        for (uint32_t i = 0; attr->kind == IG_ATTR_DIMS && i < attr->count; i++) {
            count_dim(&c, attr->as.dims[i]);
        }
    }
}

/* An op with all that is in its bodies.  Recursion is as deep as bodies nest, which
 * readers bound by limits.graph_depth. */
static void count_all(sweeper *s, const ig_op *op, uint32_t by) {
    count_op(s, op, by);
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (const ig_op *inner = op->bodies[i]->first; inner; inner = inner->next) {
            count_all(s, inner, by);
        }
    }
}

static bool defines_what_is_mentioned(const sweeper *s, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_symbols_defines(&s->symbols, op, type->dims[d]) &&
                s->mentions[ig_symbol_index(s->symbols.module, type->dims[d])]) {
                return true;
            }
        }
    }
    return false;
}

/* ---- the walk ---- */

static bool is_dead_bind(const sweeper *s, const ig_op *op) {
    const ig_attr *symbols = &op->attrs[IG_bind_symbols];
    for (uint32_t i = 0; i < symbols->count; i++) {
        ig_dim dim = symbols->as.dims[i];
        if (!ig_dim_as_symbol(s->symbols.module, dim) ||
            s->mentions[ig_symbol_index(s->symbols.module, dim)]) {
            return false;
        }
    }
    return true;
}

/* Does not count the mentions of a dead op and of the ops in its bodies. */
static bool take_if_dead(sweeper *s, const ig_op *op) {
    if (is_bind(op) ? !is_dead_bind(s, op)
                    : ig_op_is_used(op) || !ig_op_is_removable(op)) {
        return false;
    }
    count_all(s, op, UINT32_MAX);
    if (is_bind(op) || !defines_what_is_mentioned(s, op)) {
        return true;
    }
    count_all(s, op, 1);
    return false;
}

static void sweep_block(sweeper *s, ig_block *block) {
    for (ig_op *op = block->last, *before; op; op = before) {
        before = op->prev;
        if (take_if_dead(s, op)) {
            ig_op_erase(op);
            s->run->changed = true;
            continue;
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            sweep_block(s, op->bodies[i]);
        }
    }
}

ig_status ig_pass_dce(ig_pass_run *run, ig_graph *graph) {
    sweeper s = { .run = run, .symbol_count = ig_symbol_count(graph->module) };
    ig_symbols_init(&s.symbols, graph, run->scratch);
    if (!s.symbols.has_free) { /* nothing is defined, so uses alone decide */
        run->changed = ig_block_sweep(&s.symbols, &graph->body);
        return IG_OK;
    }
    s.mentions = IG_NEW_ARRAY(run->scratch, uint32_t, s.symbol_count);
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        count_all(&s, op, 1);
    }
    sweep_block(&s, &graph->body);
    return IG_OK;
}
