/* cse: computes equal things once.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = relu %x : f32[4]
 *     %1 = relu %x : f32[4]
 *     %2 = add %0, %1 : f32[4]
 *   becomes
 *     %0 = relu %x : f32[4]
 *     %1 = add %0, %0 : f32[4]
 *
 * Two ops are equal when code, operands, attributes and result types are; operands of
 * an op that commutes may be exchanged.  An op is replaced by an equal one that comes
 * before it in its block or in a block around it, so the table is a stack of scopes: a
 * block takes its entries away when it ends.  A guard that repeats one before it goes.
 * Ops with bodies, and what touches state, stay.
 *
 * Keeps: order, and everything that is not repeated.
 */
#include "passes/engine/pass.h"

#include <string.h>

typedef struct entry {
    ig_op *op;
    uint64_t hash;
    struct entry *next; /* of the same bucket, newest first */
} entry;

typedef struct table {
    ig_pass_run *run;
    entry **buckets;
    size_t mask;
    IG_VEC(entry *) scope;
} table;

/* ---- equality ---- */

static bool can_merge(const ig_op *op) {
    uint32_t barred = IG_TERMINATOR | IG_STATE | IG_HOST;
    return !op->body_count && !(ig_ops[op->code].traits & barred);
}

static bool does_commute(const ig_op *op) {
    return op->operand_count >= 2 && (ig_ops[op->code].traits & IG_COMMUTE);
}

/* A guard's message does not affect its check. */
static bool slot_counts(const ig_op *op, uint32_t slot) {
    return op->code != IG_OP_guard || slot != IG_guard_message;
}

/* Payloads are interned, so their address identifies them; a constant's is not. */
static uint64_t hash_attr(const ig_attr *attr, uint64_t seed) {
    if (attr->kind != IG_ATTR_DATA) {
        return ig_hash_bytes(attr, sizeof(*attr), seed);
    }
    const ig_data *data = attr->as.data;
    size_t size = data->bytes ? ig_data_stored_bytes(data) : 0;
    return ig_hash_bytes(size ? data->bytes : "", size < 256 ? size : 256, seed);
}

static uint64_t hash_op(const ig_op *op) {
    uint64_t hash = op->code;
    uint64_t first = does_commute(op) ? op->operands[0].value->id : 0;
    uint64_t second = does_commute(op) ? op->operands[1].value->id : 0;
    uint64_t pair[2] = { first < second ? first : second,
                         first < second ? second : first };
    hash = ig_hash_bytes(pair, sizeof(pair), hash);
    for (uint32_t i = does_commute(op) ? 2 : 0; i < op->operand_count; i++) {
        uint64_t id = op->operands[i].value->id;
        hash = ig_hash_bytes(&id, sizeof(id), hash);
    }
    for (uint32_t slot = 0; slot < ig_ops[op->code].attr_count; slot++) {
        hash = slot_counts(op, slot) ? hash_attr(&op->attrs[slot], hash) : hash;
    }
    return hash;
}

static bool has_equal_operands(const ig_op *a, const ig_op *b) {
    uint32_t from = 0;
    if (does_commute(a)) {
        const ig_value *p = a->operands[0].value, *q = a->operands[1].value;
        const ig_value *r = b->operands[0].value, *s = b->operands[1].value;
        if (!(p == r && q == s) && !(p == s && q == r)) {
            return false;
        }
        from = 2;
    }
    for (uint32_t i = from; i < a->operand_count; i++) {
        if (a->operands[i].value != b->operands[i].value) {
            return false;
        }
    }
    return true;
}

static bool is_equal(const ig_op *a, const ig_op *b) {
    if (a->code != b->code || a->operand_count != b->operand_count ||
        a->result_count != b->result_count || !has_equal_operands(a, b)) {
        return false;
    }
    for (uint32_t slot = 0; slot < ig_ops[a->code].attr_count; slot++) {
        if (slot_counts(a, slot) && !ig_attr_equal(&a->attrs[slot], &b->attrs[slot])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->result_count; i++) {
        if (a->results[i].type != b->results[i].type) {
            return false;
        }
    }
    return true;
}

/* ---- scopes ---- */

static ig_op *find_equal(const table *t, const ig_op *op, uint64_t hash) {
    for (const entry *e = t->buckets[hash & t->mask]; e; e = e->next) {
        if (e->hash == hash && is_equal(e->op, op)) {
            return e->op;
        }
    }
    return NULL;
}

static void add_entry(table *t, ig_op *op, uint64_t hash) {
    entry *e = IG_NEW(t->run->scratch, entry);
    *e = (entry){ .op = op, .hash = hash, .next = t->buckets[hash & t->mask] };
    t->buckets[hash & t->mask] = e;
    IG_PUSH(t->run->scratch, &t->scope, e);
}

static void leave_scope(table *t, size_t depth) {
    while (t->scope.count > depth) {
        const entry *e = IG_POP(&t->scope);
        t->buckets[e->hash & t->mask] = e->next;
    }
}

static void merge_op(table *t, ig_op *op) {
    uint64_t hash = hash_op(op);
    ig_op *known = find_equal(t, op, hash);
    if (!known) {
        add_entry(t, op, hash);
        return;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!known->results[i].name) {
            known->results[i].name = op->results[i].name;
        }
        ig_value_replace(&op->results[i], &known->results[i]);
    }
    ig_op_erase(op);
    t->run->changed = true;
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void merge_block(table *t, ig_block *block) {
    size_t depth = t->scope.count;
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            merge_block(t, op->bodies[i]);
        }
        if (can_merge(op)) {
            merge_op(t, op);
        }
    }
    leave_scope(t, depth);
}

ig_status ig_pass_cse(ig_pass_run *run, ig_graph *graph) {
    size_t size = 64;
    while (size < graph->op_count) {
        size *= 2;
    }
    table t = { .run = run,
                .mask = size - 1,
                .buckets = IG_NEW_ARRAY(run->scratch, entry *, size) };
    merge_block(&t, &graph->body);
    return IG_OK;
}
