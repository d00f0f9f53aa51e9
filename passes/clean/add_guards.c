/* add_guards: assumptions of ops about extents become guards.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = add %x, %y : f32[bcast(B, C)]           %x: f32[B], %y: f32[C]
 *   becomes
 *     guard eq(bcast(B, C), bcast(C, B)) "add: B and C do not broadcast"
 *     %0 = add %x, %y : f32[bcast(B, C)]
 *
 * An infer hook takes extents for equal that are not provably different: whoever made
 * the op emitted a guard, with words of its own, or left it to this pass.  Without one
 * compiled code would read past the shorter operand.  Graphs of importers and of text
 * get theirs once (ig_module_want_guards).  A guard is put before the op that needs it,
 * in its block, so a branch that is not taken is not judged; one that was made before
 * is not made again.
 *
 * Results that text gives extents of the inputs (an `if` that yields f32[B] for
 * f32[C]) are held to the yields of their bodies in the same way.
 *
 * Keeps: everything else.
 */
#include "passes/engine/pass.h"

#include "base/silence.h"
#include "ir/semantics/check.h"
#include "ir/text/text.h"

#include <assert.h>

typedef struct adder {
    ig_pass_run *run;
    ig_module *module;
    ig_claims claims; /* of the op that is looked at */
    ig_claims known;  /* guards of the block and those around it */
    bool *is_bound;   /* symbols that a shape of the graph's inputs gives */
    bool *is_defined; /* those that values before the op give as well */
    uint32_t symbol_count;
    const bool *wanted; /* of the dim that is looked at: the symbols that it may have */
    bool has_unknown;   /* whether it has others */
} adder;

/* ---- guards that there are ---- */

static bool is_known(const adder *a, const ig_claim *claim) {
    for (size_t i = 0; i < a->known.items.count; i++) {
        const ig_claim *k = &a->known.items.items[i];
        bool is_same = ig_dim_same(k->left, claim->left) &&
                       ig_dim_same(k->right, claim->right);
        bool is_turned = ig_dim_same(k->left, claim->right) &&
                         ig_dim_same(k->right, claim->left);
        bool is_enough = k->kind == IG_CLAIM_EQUAL || k->kind == claim->kind;
        if (is_enough && (is_same || (is_turned && k->kind != IG_CLAIM_NOT_ABOVE))) {
            return true;
        }
    }
    return false;
}

static void remember_claim(adder *a, ig_claim claim) {
    IG_PUSH(a->run->scratch, &a->known.items, claim);
}

static void remember_guard(adder *a, const ig_op *guard) {
    bool is_equal = ig_attr_int(guard, IG_guard_test, IG_GUARD_eq) == IG_GUARD_eq;
    remember_claim(a, (ig_claim){ guard->attrs[IG_guard_left].as.dim,
                                  guard->attrs[IG_guard_right].as.dim,
                                  is_equal ? IG_CLAIM_EQUAL : IG_CLAIM_NOT_ABOVE });
}

/* ---- guards ---- */

/* "add: B and C do not broadcast" */
static const char *words_of(const adder *a, const ig_op *op, const ig_claim *claim) {
    static const char *const middles[] = { " and ", " and ", " is more than " };
    static const char *const ends[] = { " are not equal", " do not broadcast", "" };
    ig_writer text;
    ig_writer_init(&text, a->run->scratch);
    ig_put(&text, "%s: ", ig_ops[op->code].name);
    ig_dim_print(a->module, claim->left, &text);
    ig_put(&text, "%s", middles[claim->kind]);
    ig_dim_print(a->module, claim->right, &text);
    ig_put(&text, "%s", ends[claim->kind]);
    return text.data;
}

/* The guard that checks the claim. */
static ig_claim guard_of(const adder *a, const ig_claim *claim) {
    ig_dim left = claim->left, right = claim->right;
    if (claim->kind != IG_CLAIM_BROADCAST) {
        return *claim;
    }
    return (ig_claim){ ig_dim_bcast(a->module, left, right),
                       ig_dim_bcast(a->module, right, left), IG_CLAIM_EQUAL };
}

static void add_guard(adder *a, ig_builder *builder, const ig_op *op,
                      const ig_claim *claim) {
    ig_claim guard = guard_of(a, claim);
    if (is_known(a, &guard)) {
        return;
    }
    bool is_order = guard.kind == IG_CLAIM_NOT_ABOVE;
    ig_attr attrs[IG_guard_attr_count] = {
        [IG_guard_left] = ig_attr_of_dim(guard.left),
        [IG_guard_right] = ig_attr_of_dim(guard.right),
        [IG_guard_test] = ig_attr_of_enum(is_order ? IG_GUARD_le : IG_GUARD_eq),
        [IG_guard_message] = ig_attr_of_str(a->module,
                                            ig_str_of(words_of(a, op, claim))),
    };
    (void)ig_make(builder, IG_OP_guard, 0, NULL, attrs);
    remember_claim(a, guard);
    remember_claim(a, *claim);
    a->run->changed = true;
}

/* ---- symbols ---- */

static void look_for_unknown(void *user, uint32_t symbol) {
    adder *a = user;
    a->has_unknown |= symbol >= a->symbol_count || !a->wanted[symbol];
}

/* Are all symbols of the dim in the set? */
static bool is_of(adder *a, const bool *set, ig_dim dim) {
    a->wanted = set;
    a->has_unknown = false;
    ig_dim_visit_symbols(a->module, dim, look_for_unknown, a);
    return !a->has_unknown;
}

/* A value gives the symbols that are extents of its own. */
static void define_symbols(const adder *a, const ig_type *type, bool *out) {
    for (uint32_t d = 0; d < type->rank; d++) {
        bool is_symbol = ig_dim_as_symbol(a->module, type->dims[d]) != NULL;
        uint32_t symbol = is_symbol ? ig_symbol_index(a->module, type->dims[d]) : 0;
        if (is_symbol && symbol < a->symbol_count) {
            out[symbol] = true;
        }
    }
}

/* ---- claims of ops ---- */

/* Of an extent that the op itself finds (topk's, of an operand) the op makes its
 * own. */
static void add_guards_before(adder *a, ig_op *op) {
    ig_builder builder = ig_builder_before(op);
    for (size_t i = 0; i < a->claims.items.count; i++) {
        const ig_claim *claim = &a->claims.items.items[i];
        if (is_of(a, a->is_defined, claim->left) &&
            is_of(a, a->is_defined, claim->right) && !is_known(a, claim)) {
            add_guard(a, &builder, op, claim);
        }
    }
    a->claims.items.count = 0;
}

/* That `given` has the extents that are written for it, where these are numbers or what
 * the inputs' shapes tell: nothing that an op or a body defines. */
static void claim_type(adder *a, const ig_type *given, const ig_type *written) {
    bool is_plain = given->kind == IG_TENSOR && written->kind == IG_TENSOR;
    for (uint32_t d = 0; is_plain && d < written->rank && given->rank == written->rank;
         d++) {
        bool is_fresh = ig_dim_mentions_since(a->module, given->dims[d],
                                              a->symbol_count);
        if (!is_fresh && is_of(a, a->is_bound, written->dims[d])) {
            (void)ig_claim_equal(a->module, given->dims[d], written->dims[d]);
        }
    }
}

/* In a body an op that cannot be typed is the branch's own affair. */
static void claim_operands(adder *a, ig_op *op) {
    ig_infer_hook hook = ig_ops[op->code].infer;
    if (!hook || !op->result_count) {
        return;
    }
    const ig_type **types = IG_NEW_ARRAY(a->run->scratch, const ig_type *,
                                         op->result_count);
    ig_silence silence = ig_silence_begin(a->module->context);
    ig_status status = hook(op, types);
    ig_silence_end(&silence);
    for (uint32_t i = 0; status == IG_OK && i < op->result_count; i++) {
        claim_type(a, types[i], op->results[i].type);
    }
}

/* A branch yields results of its op, a loop's body these or the values of the next
 * trip.  Other bodies are of rows or elements. */
static void claim_yields(adder *a, const ig_op *yield) {
    const ig_op *op = yield->block->parent;
    if (op->code != IG_OP_if && op->code != IG_OP_loop) {
        return;
    }
    uint32_t first = yield->operand_count - op->result_count; /* a loop's condition */
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *given = ig_op_operand(yield, first + i)->type;
        claim_type(a, given, op->results[i].type);
        if (first + 1 + i < yield->block->arg_count) {
            claim_type(a, given, yield->block->args[first + 1 + i]->type);
        }
    }
}

static void claim_carried(adder *a, const ig_op *loop) {
    for (uint32_t i = 0; i < loop->operand_count; i++) {
        claim_type(a, ig_op_operand(loop, i)->type, loop->bodies[0]->args[i]->type);
    }
}

/* ---- the walk ---- */

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void walk_block(adder *a, ig_block *block) {
    size_t outer = a->known.items.count;
    for (uint32_t i = 0; i < block->arg_count; i++) {
        define_symbols(a, block->args[i]->type, a->is_defined);
    }
    for (ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_guard) {
            remember_guard(a, op);
        } else if (op->code == IG_OP_yield) {
            claim_yields(a, op);
        } else if (op->code == IG_OP_loop) {
            claim_carried(a, op);
        } else {
            claim_operands(a, op);
        }
        add_guards_before(a, op);
        for (uint32_t i = 0; i < op->result_count; i++) {
            define_symbols(a, op->results[i].type, a->is_defined);
        }
        for (uint32_t i = 0; i < op->body_count && op->code != IG_OP_fused; i++) {
            walk_block(a, op->bodies[i]);
        }
    }
    a->known.items.count = outer;
}

static void find_bound(adder *a, const ig_graph *graph) {
    a->is_bound = IG_NEW_ARRAY(a->run->scratch, bool, a->symbol_count + 1);
    a->is_defined = IG_NEW_ARRAY(a->run->scratch, bool, a->symbol_count + 1);
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        define_symbols(a, graph->body.args[i]->type, a->is_bound);
    }
}

static void add_to_graph(ig_pass_run *run, ig_graph *graph) {
    ig_module *module = graph->module;
    adder a = { .run = run, .module = module, .symbol_count = ig_symbol_count(module) };
    a.claims.arena = run->scratch;
    find_bound(&a, graph);
    ig_claims_collect(module, &a.claims);
    walk_block(&a, &graph->body);
    ig_claims_collect(module, NULL);
}

/* All graphs at once, so that the module is settled. */
ig_status ig_pass_add_guards(ig_pass_run *run, ig_graph *graph) {
    ig_module *module = graph->module;
    if (!ig_module_wants_guards(module)) {
        return IG_OK;
    }
    for (size_t i = 0; i < module->graphs.count; i++) {
        ig_graph *each = module->graphs.items[i];
        if (each->is_entry && each->stage == IG_STAGE_TENSOR) {
            add_to_graph(run, each);
        }
    }
    ig_module_settle_guards(module);
    return IG_OK;
}
