/* The rewrite driver: a worklist, rules by root opcode, and a bound.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every op is visited once, in order; after that, only ops near a change are: new ops,
 * users of replaced values, and makers of values that lost a use.  An erased op may
 * still be in the list and is known by its code.
 */
#include "passes/engine/rewrite.h"

#include "ir/verify/verify.h"
#include "passes/engine/dead.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- worklist ---- */

typedef struct rewriter {
    ig_symbols symbols;
    ig_pass_run *run;
    ig_graph *graph;
    const ig_rule *rules;
    size_t rule_count;
    uint16_t **by_code; /* for each opcode: numbers of its rules + 1, ended by 0 */
    uint64_t *fired;    /* by rule */
    uint64_t total, limit;
    IG_VEC(ig_op *) list;
    size_t next;        /* in list: ops before it were visited */
    uint8_t *is_listed; /* by op id */
    size_t is_listed_size;
} rewriter;

static void make_room(rewriter *w, uint32_t id) {
    if (id < w->is_listed_size) {
        return;
    }
    size_t size = 2 * (size_t)id + 64;
    uint8_t *grown = IG_NEW_ARRAY(w->run->scratch, uint8_t, size);
    if (w->is_listed_size) {
        memcpy(grown, w->is_listed, w->is_listed_size);
    }
    w->is_listed = grown;
    w->is_listed_size = size;
}

static void enlist_op(rewriter *w, ig_op *op) {
    assert(op->id < w->graph->op_count && "ids are dense");
    make_room(w, op->id);
    if (op->code != IG_OP_ERASED && !w->is_listed[op->id]) {
        w->is_listed[op->id] = 1;
        IG_PUSH(w->run->scratch, &w->list, op);
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void enlist_with_bodies(rewriter *w, ig_op *op) {
    enlist_op(w, op);
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (ig_op *inner = op->bodies[i]->first; inner; inner = inner->next) {
            enlist_with_bodies(w, inner);
        }
    }
}

static void enlist_users(rewriter *w, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        for (const ig_use *use = op->results[i].uses; use; use = use->next) {
            enlist_op(w, use->user);
        }
    }
}

static ig_op *take_op(rewriter *w) {
    if (w->next == w->list.count) {
        return NULL;
    }
    ig_op *op = w->list.items[w->next++];
    w->is_listed[op->id] = 0;
    if (w->next > 1024 && w->next * 2 > w->list.count) { /* drop visited ops */
        w->list.count -= w->next;
        memmove(w->list.items, w->list.items + w->next,
                w->list.count * sizeof(ig_op *));
        w->next = 0;
    }
    return op;
}

/* ---- edits ---- */

/* Erases the op when nobody needs it; its operands' makers are visited next. */
static bool erase_if_dead(rewriter *w, ig_op *op) {
    if (!ig_op_is_dead(&w->symbols, op)) {
        return false;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (op->operands[i].value->def) {
            enlist_op(w, op->operands[i].value->def);
        }
    }
    ig_op_erase(op);
    w->run->changed = true;
    return true;
}

/* Ops that the rule made are right before `op` and are newer than `first_new`. */
static void enlist_new(rewriter *w, ig_op *op, uint32_t first_new) {
    for (ig_op *made = op->prev; made && made->id >= first_new; made = made->prev) {
        enlist_with_bodies(w, made);
    }
}

static void replace_op(rewriter *w, ig_op *op, ig_value *by) {
    ig_value *old = &op->results[0];
    assert(op->result_count == 1 && "a rule replaces several results itself");
    assert(ig_types_agree(w->graph->module, old->type, by->type) &&
           "a rule keeps the type");
    enlist_users(w, op);
    if (old->type != by->type) {
        ig_symbols_learn(&w->symbols, op, old->type, by->type);
        ig_value_retype(old, by->type);
    }
    if (!by->name) {
        by->name = old->name;
    }
    ig_value_replace(old, by);
}

static ig_value *try_rule(const ig_rule *rule, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    return rule->apply(&b, op);
}

/* Types of the results of an op that defines symbols, about which a rule may learn
 * facts; else NULL. */
static const ig_type **note_types(rewriter *w, const ig_op *op) {
    if (!ig_symbols_is_definer(&w->symbols, op)) {
        return NULL;
    }
    const ig_type **types = IG_NEW_ARRAY(w->run->scratch, const ig_type *,
                                         op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++) {
        types[i] = op->results[i].type;
    }
    return types;
}

/* The rule has edited the graph itself. */
static void take_note(rewriter *w, ig_op *op, const ig_type **types) {
    for (uint32_t i = 0; types && i < op->result_count; i++) {
        ig_symbols_learn(&w->symbols, op, types[i], op->results[i].type);
    }
    enlist_users(w, op);
    enlist_op(w, op);
}

/* Looks at one op; true when a rule fired. */
static bool try_rules(rewriter *w, ig_op *op) {
    const uint16_t *indices = w->by_code[op->code];
    const ig_type **types = indices ? note_types(w, op) : NULL;
    uint32_t first_new = w->graph->op_count;
    for (; indices && *indices; indices++) {
        const ig_rule *rule = &w->rules[*indices - 1];
        ig_value *by = try_rule(rule, op);
        if (!by) {
            continue;
        }
        w->fired[*indices - 1]++;
        w->total++;
        w->run->changed = true;
        enlist_new(w, op, first_new);
        if (by != op->results) {
            replace_op(w, op, by);
        } else {
            take_note(w, op, types);
        }
        return true;
    }
    return false;
}

/* ---- the driver ---- */

static void index_rules(rewriter *w) {
    w->by_code = IG_NEW_ARRAY(w->run->scratch, uint16_t *, IG_OP_COUNT);
    w->fired = IG_NEW_ARRAY(w->run->scratch, uint64_t, w->rule_count);
    for (int code = 0; code < IG_OP_COUNT; code++) {
        size_t count = 0;
        for (size_t i = 0; i < w->rule_count; i++) {
            ig_opcode root = w->rules[i].root;
            if (root != (ig_opcode)code && root != IG_OP_COUNT) {
                continue;
            }
            if (!w->by_code[code]) {
                w->by_code[code] = IG_NEW_ARRAY(w->run->scratch, uint16_t,
                                                w->rule_count + 1);
            }
            w->by_code[code][count++] = (uint16_t)(i + 1);
        }
    }
}

static size_t max_fired(const rewriter *w) {
    size_t max = 0;
    for (size_t i = 1; i < w->rule_count; i++) {
        max = w->fired[i] > w->fired[max] ? i : max;
    }
    return max;
}

static void print_counts(const rewriter *w) {
    for (size_t i = 0; i < w->rule_count; i++) {
        if (w->fired[i]) {
            fprintf(stderr, "%-16s @%-12s %8" PRIu64 " %s\n", w->run->pass,
                    w->graph->name, w->fired[i], w->rules[i].name);
        }
    }
}

static ig_status run_rules(rewriter *w) {
    ig_context *context = w->graph->module->context;
    for (ig_op *op; (op = take_op(w));) {
        IG_TRY(ig_context_poll(context));
        if (op->code == IG_OP_ERASED || erase_if_dead(w, op)) {
            continue;
        }
        if (try_rules(w, op)) {
            erase_if_dead(w, op);
        }
        if (w->total > w->limit) {
            return ig_error(&context->diag, IG_INTERNAL,
                            ig_op_location(w->graph->body.first),
                            "rewriting never ends; rule %s of pass %s fired most often",
                            w->rules[max_fired(w)].name, w->run->pass);
        }
    }
    return IG_OK;
}

ig_status ig_rewrite(ig_pass_run *run, ig_graph *graph, const ig_rule *rules,
                     size_t count) {
    rewriter w = { .run = run, .graph = graph, .rules = rules, .rule_count = count };
    ig_symbols_init(&w.symbols, graph, run->scratch);
    index_rules(&w);
    for (ig_op *op = graph->body.first; op; op = op->next) {
        enlist_with_bodies(&w, op);
    }
    w.limit = 1000 + 50 * (uint64_t)w.list.count;
    ig_status status = run_rules(&w);
    if (run->changed) { /* what lost its last use without being looked at */
        (void)ig_block_sweep(&w.symbols, &graph->body);
        ig_status learnt = ig_symbols_apply(&w.symbols, run, graph);
        status = status == IG_OK ? learnt : status;
    }
    if (run->debug & IG_DEBUG_RULES) {
        print_counts(&w);
    }
    return status;
}
