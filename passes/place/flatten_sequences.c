/* flatten_sequences: a sequence becomes two tensors, of elements and of extents.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = seq_insert %s, %x : seq<f32[s, 4]>        (%x: f32[B, 4])
 *   becomes, where %s is %e: f32[m] with %d: i64[n, 2],
 *     %2 = concat %e, (reshape %x {to = [4 * B]}) {axis = 0} : f32[m + 4 * B]
 *     %3 = concat %d, (dims {values = [[B, 4]]}) {axis = 0} : i64[n + 1, 2]
 *
 * All that kernels see are tensors whose sizes the run finds out.  Branches and loops
 * hand on both tensors, and so does the call: input or output `x` that is a sequence
 * is one of elements, `x`, and one of extents, `x.extents`, after it.
 *
 * Items of any rank, f32[*], have rows of one length all the same: the rank, the
 * extents, and ones.
 *
 * A tensor of any rank is a sequence of one item.  So is an optional, or of none.  One
 * of a sequence is that sequence and a third tensor, bool[], that says whether it is
 * there: `x.there` of the call.
 *
 * Only for targets: the interpreter has sequences.  Needs the tensor stage.
 */
#include "passes/place/flatten.h"

#include <assert.h>
#include <string.h>

enum { PARTS = 3 }; /* at most */

static bool is_sequence(const ig_value *value) {
    return value->type->kind == IG_SEQUENCE || value->type->kind == IG_OPTIONAL ||
           value->type->kind == IG_ANY;
}

ig_parts *ig_flatten_parts(const ig_flatten *f, const ig_value *sequence) {
    ig_parts *parts = ig_map_get_id(&f->parts, IG_MAP_PTR(sequence));
    assert(parts && "a sequence is made before it is used");
    return parts;
}

/* How many tensors take the place of a sequence. */
static uint32_t count_parts(const ig_type *type) {
    return type->kind == IG_OPTIONAL && type->element->kind == IG_SEQUENCE ? 3 : 2;
}

void ig_flatten_set(ig_flatten *f, const ig_value *sequence, ig_parts parts) {
    assert(is_sequence(sequence) && parts.elements && parts.extents &&
           (parts.there || count_parts(sequence->type) < 3) && "all parts");
    ig_parts *kept = IG_NEW(f->run->scratch, ig_parts);
    *kept = parts;
    ig_map_set_id(&f->parts, IG_MAP_PTR(sequence), kept);
}

/* ---- lists of values, with all parts where a sequence stood ---- */

/* The types of the parts, whose sizes are new symbols; returns how many. */
static uint32_t type_parts(const ig_flatten *f, const ig_type *sequence,
                           const ig_type **out_types) {
    const ig_type *item = sequence;
    uint32_t count = count_parts(sequence);
    while (item->element) {
        item = item->element;
    }
    ig_dim elements = ig_dim_symbol(f->module, "elements");
    ig_dim rows[] = { ig_dim_symbol(f->module, "items"),
                      ig_dim_of(ig_flatten_width(item)) };
    out_types[0] = ig_type_tensor(f->module, (ig_dtype)item->dtype, 1, &elements);
    out_types[1] = ig_type_tensor(f->module, IG_DT_i64, 2, rows);
    out_types[2] = ig_type_tensor(f->module, IG_DT_bool, 0, NULL);
    return count;
}

/* Is operand i handed on as a tensor of any rank? */
static bool is_taken_any(const ig_type *const *taken, uint32_t i) {
    return taken && taken[i] && taken[i]->kind == IG_ANY;
}

/* `taken`: the type that operand i is handed on as, where that is known. */
static uint32_t flat_operands(const ig_flatten *f, ig_expr *e, const ig_op *op,
                              const ig_type *const *taken, ig_value **out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_value *value = op->operands[i].value;
        if (!is_sequence(value) && !is_taken_any(taken, i)) {
            out[count++] = value;
            continue;
        }
        ig_parts parts = is_sequence(value) ? *ig_flatten_parts(f, value)
                                            : ig_flatten_item(e, value, taken[i]);
        parts = ig_flatten_widen(e, parts, taken ? taken[i] : value->type);
        out[count++] = parts.elements;
        out[count++] = parts.extents;
        if (parts.there) {
            out[count++] = parts.there;
        }
    }
    return count;
}

static ig_value **new_values(const ig_flatten *f, uint32_t count) {
    return IG_NEW_ARRAY(f->run->scratch, ig_value *, PARTS * count + 1u);
}

static bool has_sequences(const ig_op *op) {
    bool has = false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        has = has || is_sequence(op->operands[i].value);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        has = has || is_sequence(&op->results[i]);
    }
    return has;
}

/* Does it, or what its bodies hand on, have any? */
static bool hands_on(const ig_op *op) {
    bool has = has_sequences(op);
    for (uint32_t i = 0; i < op->body_count; i++) {
        has = has || has_sequences(op->bodies[i]->last);
    }
    return has;
}

/* ---- blocks ---- */

static ig_status flatten_block(ig_flatten *f, ig_block *block,
                               const ig_type *const *taken);

/* Arguments of `to` for those of `from`. */
static void move_args(ig_flatten *f, ig_block *from, ig_block *to, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ig_value *arg = from->args[i];
        if (!is_sequence(arg)) {
            ig_value *same = ig_block_add_arg(to, arg->type, arg->name);
            ig_value_replace(arg, same);
            continue;
        }
        const ig_type *types[PARTS];
        uint32_t parts = type_parts(f, arg->type, types);
        ig_value *elements = ig_block_add_arg(to, types[0], arg->name);
        ig_value *extents = ig_block_add_arg(to, types[1], NULL);
        ig_value *there = parts == 3 ? ig_block_add_arg(to, types[2], NULL) : NULL;
        ig_flatten_set(f, arg, (ig_parts){ elements, extents, there });
    }
}

/* The last op, with all parts of its operands as values of the types `taken`. */
static void flatten_end(ig_flatten *f, ig_block *block, const ig_type *const *taken) {
    ig_op *end = block->last;
    bool has = has_sequences(end);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        has = has || is_taken_any(taken, i);
    }
    if (!has) {
        return;
    }
    ig_value **values = new_values(f, end->operand_count);
    ig_builder b = ig_builder_before(end);
    ig_expr e = ig_expr_of(&b);
    uint32_t count = flat_operands(f, &e, end, taken, values);
    if (end->code == IG_OP_ret) {
        ig_make_ret(&b, values, count);
    } else {
        ig_make_yield(&b, values, count);
    }
    ig_op_erase(end);
}

static ig_status move_body(ig_flatten *f, ig_block *from, ig_block *to,
                           const ig_type *const *taken) {
    move_args(f, from, to, from->arg_count);
    while (from->first) {
        ig_op_move(from->first, to, NULL);
    }
    return flatten_block(f, to, taken);
}

/* Values of the op's for those of `flat`, which has all parts. */
static void move_results(ig_flatten *f, ig_op *op, ig_op *flat) {
    for (uint32_t i = 0, at = 0; i < op->result_count; i++) {
        ig_value *result = &op->results[i];
        if (!is_sequence(result)) {
            ig_value_replace(result, &flat->results[at++]);
            continue;
        }
        uint32_t count = count_parts(result->type);
        ig_value *there = count == 3 ? &flat->results[at + 2] : NULL;
        ig_flatten_set(f, result,
                       (ig_parts){ &flat->results[at], &flat->results[at + 1], there });
        at += count;
    }
}

/* The types that a body yields values as: of the results, and in a loop first whether
 * it goes on. */
static const ig_type *const *yield_types(const ig_flatten *f, const ig_op *op) {
    uint32_t first = op->code == IG_OP_loop;
    const ig_type **types = IG_NEW_ARRAY(f->run->scratch, const ig_type *,
                                         op->result_count + 1u);
    for (uint32_t i = 0; i < op->result_count; i++) {
        types[first + i] = op->results[i].type;
    }
    return types;
}

/* Those that operands are taken as: of the body's arguments in a loop. */
static const ig_type *const *operand_types(const ig_flatten *f, const ig_op *op) {
    const ig_type **types = IG_NEW_ARRAY(f->run->scratch, const ig_type *,
                                         op->operand_count + 1u);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        types[i] = op->code == IG_OP_loop ? op->bodies[0]->args[i]->type
                                          : op->operands[i].value->type;
    }
    return types;
}

/* A branch or a loop that hands on all parts. */
static ig_status flatten_flow(ig_flatten *f, ig_expr *e, ig_op *op) {
    ig_value **operands = new_values(f, op->operand_count);
    const ig_type **types = IG_NEW_ARRAY(f->run->scratch, const ig_type *,
                                         PARTS * op->result_count + 1u);
    uint32_t results = 0;
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (is_sequence(&op->results[i])) {
            results += type_parts(f, op->results[i].type, types + results);
        } else {
            types[results++] = op->results[i].type;
        }
    }
    ig_op_spec spec = { .operands = operands,
                        .operand_count = flat_operands(f, e, op, operand_types(f, op),
                                                       operands),
                        .result_types = types,
                        .result_count = results,
                        .attrs = ig_ops[op->code].attr_count ? op->attrs : NULL,
                        .body_count = op->body_count };
    ig_op *flat = ig_make_op(e->builder, (ig_opcode)op->code, &spec);
    for (uint32_t i = 0; i < op->body_count; i++) {
        IG_TRY(move_body(f, op->bodies[i], flat->bodies[i], yield_types(f, op)));
    }
    move_results(f, op, flat);
    IG_PUSH(f->run->scratch, &f->dead, op);
    return IG_OK;
}

/* Sequences of tensors, optionals of tensors or of those, tensors of any rank. */
static bool has_parts(const ig_value *value) {
    const ig_type *type = value->type;
    type = type->kind == IG_OPTIONAL ? type->element : type;
    type = type->kind == IG_SEQUENCE ? type->element : type;
    return type->kind == IG_TENSOR || type->kind == IG_ANY;
}

static ig_status check_parts(const ig_flatten *f, const ig_value *value,
                             const ig_op *op) {
    return !is_sequence(value) || has_parts(value)
               ? IG_OK
               : ig_error_hint(&f->module->context->diag, IG_UNSUPPORTED,
                               op ? ig_op_location(op) : NULL,
                               "run it with --target interpret",
                               "lists of lists cannot be compiled yet");
}

static ig_status flatten_op(ig_flatten *f, ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        IG_TRY(check_parts(f, &op->results[i], op));
    }
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    bool is_flow = op->code == IG_OP_if || op->code == IG_OP_loop;
    if (is_flow && hands_on(op)) {
        return flatten_flow(f, &e, op);
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        IG_TRY(flatten_block(f, op->bodies[i], NULL));
    }
    if (!has_sequences(op)) {
        return IG_OK;
    }
    if (!ig_flatten_fns[op->code]) {
        return ig_error_hint(
            &f->module->context->diag, IG_UNSUPPORTED, ig_op_location(op),
            "run it with --target interpret, or report the model",
            "'%s' cannot be compiled yet for sequences", ig_ops[op->code].name);
    }
    IG_PUSH(f->run->scratch, &f->dead, op);
    return ig_flatten_fns[op->code](f, &e, op);
}

static void note_known(void *user, uint32_t symbol) {
    ig_flatten *f = user;
    ig_map_set_id(&f->known, symbol, f);
}

static void know_dims(ig_flatten *f, const ig_dim *dims, uint32_t count) {
    for (uint32_t d = 0; d < count; d++) {
        ig_dim_visit_symbols(f->module, dims[d], note_known, f);
    }
}

/* The receivers of an op's values. */
static void know_results(ig_flatten *f, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!is_sequence(&op->results[i])) {
            know_dims(f, op->results[i].type->dims, op->results[i].type->rank);
        }
    }
    if (op->code == IG_OP_bind) {
        const ig_attr *symbols = &op->attrs[IG_bind_symbols];
        know_dims(f, symbols->as.dims, symbols->count);
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static ig_status flatten_block(ig_flatten *f, ig_block *block,
                               const ig_type *const *taken) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        if (!is_sequence(block->args[i])) {
            know_dims(f, block->args[i]->type->dims, block->args[i]->type->rank);
        }
    }
    for (ig_op *op = block->first, *next; op != block->last; op = next) {
        next = op->next;
        IG_TRY(flatten_op(f, op));
        know_results(f, op);
    }
    flatten_end(f, block, taken);
    return IG_OK;
}

/* ---- the call ---- */

/* Names of ports, with more after each sequence. */
static const char *const *flat_names(const ig_flatten *f, const char *const *names,
                                     ig_value *const *values, uint32_t count,
                                     const char *kind) {
    ig_arena *arena = &f->module->arena;
    const char **flat = IG_NEW_ARRAY(arena, const char *, PARTS *count + 1u);
    uint32_t to = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = names ? names[i] : NULL;
        name = name ? name : ig_arena_printf(arena, "%s_%u", kind, i);
        flat[to++] = name;
        if (is_sequence(values[i])) {
            flat[to++] = ig_arena_printf(arena, "%s.extents", name);
        }
        if (is_sequence(values[i]) && count_parts(values[i]->type) == 3) {
            flat[to++] = ig_arena_printf(arena, "%s.there", name);
        }
    }
    return flat;
}

static uint32_t value_parts(const ig_value *value) {
    return is_sequence(value) ? count_parts(value->type) : 1;
}

/* Results in place, by the numbers of flat results and arguments. */
static ig_attr flat_in_place(const ig_flatten *f, const ig_block *body,
                             const ig_attr *in_place) {
    int64_t *flat = IG_NEW_ARRAY(f->run->scratch, int64_t,
                                 PARTS * body->last->operand_count + 1u);
    uint32_t to = 0;
    for (uint32_t i = 0; i < in_place->count; i++) {
        int64_t arg = in_place->as.ints[i], at = arg < 0 ? -1 : 0;
        for (int64_t k = 0; k < arg; k++) {
            at += value_parts(body->args[k]);
        }
        uint32_t parts = value_parts(body->last->operands[i].value);
        for (uint32_t part = 0; part < parts; part++) {
            flat[to++] = at;
        }
    }
    return ig_attr_of_ints(f->module, flat, to);
}

static ig_status flatten_graph(ig_flatten *f, ig_graph *graph) {
    ig_block *body = &graph->body;
    uint32_t count = body->arg_count;
    ig_op *end = body->last;
    ig_value **results = new_values(f, end->operand_count);
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(check_parts(f, body->args[i], NULL));
    }
    for (uint32_t i = 0; i < end->operand_count; i++) {
        results[i] = end->operands[i].value;
    }
    const char *const *args = flat_names(f, graph->arg_names, body->args, count,
                                         "input");
    const char *const *names = flat_names(f, graph->result_names, results,
                                          end->operand_count, "output");
    bool has_in_place = ig_attr_is_set(end, IG_ret_in_place);
    ig_attr in_place = has_in_place
                           ? flat_in_place(f, body, &end->attrs[IG_ret_in_place])
                           : (ig_attr){ 0 };
    move_args(f, body, body, count);
    IG_TRY(flatten_block(f, body, NULL));
    if (has_in_place) {
        ig_attr_set(body->last, IG_ret_in_place, in_place);
    }
    for (size_t i = f->dead.count; i-- > 0;) {
        ig_op_erase(f->dead.items[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_block_remove_arg(body, 0);
    }
    graph->arg_names = args;
    graph->result_names = names;
    return IG_OK;
}

static bool block_has_sequences(const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        if (is_sequence(block->args[i])) {
            return true;
        }
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->body_count; i++) {
            if (block_has_sequences(op->bodies[i])) {
                return true;
            }
        }
        if (has_sequences(op)) {
            return true;
        }
    }
    return false;
}

ig_status ig_pass_flatten_sequences(ig_pass_run *run, ig_graph *graph) {
    if (!run->options->target || !block_has_sequences(&graph->body)) {
        return IG_OK;
    }
    ig_flatten f = { .run = run, .module = graph->module };
    ig_map_init(&f.parts, run->scratch);
    ig_map_init(&f.known, run->scratch);
    run->changed = true;
    return flatten_graph(&f, graph);
}
