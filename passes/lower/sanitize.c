/* sanitize: kernels check where they load and store.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     launch %x, %y {kernel = @map, …, params = [B]}
 *     kernel @map(%x: &f32, %y: &f32, %B: i64) { … %3 = load %x, %i : f32<16> … }
 *   becomes
 *     launch %x, %y {kernel = @map, …, params = [B, 0, 0, 4*B, 4*B, 0], checks}
 *     kernel @map(%x: &f32, %y: &f32, %B: i64, %xb: i64, %yb: i64,
 *             %xs: i64, %ys: i64, %scratch: i64) {
 *       … %good = 0 <= %from and %from <= %xs - 64
 *       … %3 = load %x, %i, where(%good, 16, 0) : f32<16> …
 *       the last access that was not good is reported
 *
 * The extent of an operand, in bytes, is two further params: the bytes before its start
 * (more than 0 only in views with negative strides), and all of it; and so is the size
 * of the scratch memory.  Every buffer value of a kernel comes from one operand, array
 * or scratch, at some distance in bytes; where an access starts is computed modulo
 * 2^64, as its address is.  An access that leaves its memory is not done: a load gives
 * zeros.
 *
 * Checks are straight code: a branch at each access would cost more to compile than all
 * of the kernel.  The three words that would be reported (base/access.h) are always
 * written, each to one of two places: one for accesses that were good, and one that the
 * kernel's end looks at.
 *
 * Arrays of the kernel's own and scratch memory are filled first, so that a read before
 * any write gives NaN.
 *
 * Needs: a lowered plan for CPUs.  Keeps: the results of kernels, launches, buffers.
 */
#include "base/access.h"
#include "ir/build/expr.h"
#include "passes/lower/lower.h"

#include <assert.h>

/* The position of a buffer value in its memory: all are i64 values. */
typedef struct area {
    ig_value *from;   /* its distance from the start of that memory, in bytes */
    ig_value *size;   /* of that memory */
    ig_value *number; /* which memory it is, as reports say it */
    bool is_input;    /* of the launch: nobody stores there */
} area;

enum { RECORD_WORDS = 3, RECORD_GOOD = 0, RECORD_BAD = 1, RECORD_SLOTS = 2 };
_Static_assert(RECORD_GOOD == 0, "its slot is the zero that is at hand");

typedef struct checker {
    ig_pass_run *run;
    ig_graph *kernel;
    ig_map areas;   /* buffer value -> place */
    ig_map numbers; /* constant + 1 -> its value, at the head */
    ig_map ends;    /* param and bytes -> the last begin of an access, at the head */
    ig_builder head;
    ig_value *zero;
    ig_value *record[RECORD_WORDS]; /* of accesses: word i at record[i][slot] */
    uint32_t buffer_count, in_count;
    uint32_t first_param; /* argument number of the first further param */
    bool has_scratch;     /* which is filled */
} checker;

/* ---- numbers ---- */

/* At the kernel's head, where every block sees it. */
static ig_value *number_of(checker *c, int64_t number) {
    uint64_t key = (uint64_t)number + 1;
    ig_value *known = ig_map_get_id(&c->numbers, key);
    if (!known) {
        known = k_i64(&c->head, number);
        ig_map_set_id(&c->numbers, key, known);
    }
    return known;
}

/* ---- places ---- */

static const area *area_of(const checker *c, const ig_value *buffer) {
    const area *known = ig_map_get_id(&c->areas, IG_MAP_PTR(buffer));
    assert(known && "a buffer is placed before its uses");
    return known;
}

static void set_area(checker *c, const ig_value *buffer, area at) {
    area *own = IG_NEW(c->run->scratch, area);
    *own = at;
    ig_map_set_id(&c->areas, IG_MAP_PTR(buffer), own);
}

/* The further params: bytes in front of each operand, bytes of each, bytes of
 * scratch. */
static ig_value *front_of(const checker *c, uint32_t operand) {
    return c->kernel->body.args[c->first_param + operand];
}

static ig_value *size_of(const checker *c, uint32_t operand) {
    return front_of(c, c->buffer_count + operand);
}

static void place_arguments(checker *c) {
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        set_area(
            c, c->kernel->body.args[i],
            (area){ front_of(c, i), size_of(c, i), number_of(c, i), i < c->in_count });
    }
}

static int64_t element_bytes(const ig_value *buffer) {
    return (ig_dtypes[buffer->type->dtype].bits + 7) / 8;
}

static area place_array(checker *c, const ig_op *op) {
    int64_t count = ig_attr_int(op, IG_local_count, 0);
    return (area){ .from = c->zero,
                   .size = number_of(c, count * element_bytes(op->results)),
                   .number = number_of(c, IG_ACCESS_LOCAL) };
}

static area place_scratch(checker *c, const ig_op *op) {
    return (area){ .from = number_of(c, ig_attr_int(op, IG_scratch_offset, 0)),
                   .size = size_of(c, c->buffer_count),
                   .number = number_of(c, IG_ACCESS_SCRATCH) };
}

/* Fills an array with numbers that are NaN in every float and no index, so that a read
 * before any write shows. */
static void fill_array(checker *c, ig_builder *b, ig_value *array, ig_value *bytes) {
    enum { BYTE = -9, PAIR = 0x7ff7 }; /* 0x7ff7 as two bytes ends in 0xf7, -9 */
    int64_t unit = element_bytes(array) > 1 ? 2 : 1;
    ig_dtype dtype = unit == 2 ? IG_DT_i16 : IG_DT_i8;
    ig_value *count = k_div(b, bytes, number_of(c, unit));
    ig_value *filling = k_const(b, dtype, unit == 2 ? PAIR : BYTE);
    ig_value *room = k_reinterpret(b, array, dtype);
    k_loop loop = k_loop_open(b, c->zero, count, number_of(c, 1), NULL, 0);
    k_store(&loop.b, filling, room, loop.index);
    k_loop_close(&loop, NULL, 0);
}

/* Scratch memory is filled once, by the kernel's head. */
static void fill_scratch(checker *c) {
    const ig_type *type = ig_type_buffer(c->kernel->module, IG_DT_i16, 0, NULL);
    ig_op_spec spec = { .result_types = &type, .result_count = 1 };
    ig_expr e = ig_expr_of(&c->head);
    ig_op *all = ig_build_scratch_op(&e, &spec, (ig_scratch_attrs){ .offset = 0 });
    fill_array(c, &c->head, all->results, size_of(c, c->buffer_count));
    c->has_scratch = true;
}

static area place_offset(checker *c, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    area at = *area_of(c, op->operands[0].value);
    at.from = k_add(
        &b, at.from,
        k_mul(&b, op->operands[1].value, number_of(c, element_bytes(op->results))));
    return at;
}

/* An operand chosen by number: its size is a param chosen by the same number. */
static area place_chosen(checker *c, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    const ig_value *first = op->operands[0].value;
    ig_value *number = op->operands[1].value;
    return (area){ .from = k_param_at(&b, front_of(c, first->index), number),
                   .size = k_param_at(&b, size_of(c, first->index), number),
                   .number = k_add(&b, number_of(c, first->index), number) };
}

/* ---- checks ---- */

/* One access: `bytes` from byte `from` of its memory on. */
typedef struct access {
    const area *at;
    ig_value *from, *bytes;
    ig_value *is_good;
    bool is_store;
} access;

/* Where an access of so many bytes must have begun: the same for all such accesses of
 * an operand, and then computed once. */
static ig_value *end_of(checker *c, ig_builder *b, const access *a) {
    const ig_value *size = a->at->size;
    int64_t bytes;
    bool is_param = !size->def && !size->block->parent;
    if (!is_param || !ig_constant_i64(a->bytes, &bytes)) {
        return k_sub(b, a->at->size, a->bytes);
    }
    uint64_t key = (uint64_t)size->index << IG_ACCESS_STORE_BIT | (uint64_t)bytes;
    ig_value *known = ig_map_get_id(&c->ends, key);
    if (!known) {
        known = k_sub(&c->head, a->at->size, number_of(c, bytes));
        ig_map_set_id(&c->ends, key, known);
    }
    return known;
}

/* 0 <= first and last + bytes <= size: the access is inside. */
static ig_value *lies_inside(checker *c, ig_builder *b, const access *a,
                             ig_value *first, ig_value *last) {
    ig_value *end = end_of(c, b, a);
    ig_value *ends_inside = k_compare(b, IG_OP_le, last, end);
    ig_value *begins_inside = k_compare(b, IG_OP_ge, first, c->zero);
    return k_binary(b, IG_OP_and, begins_inside, ends_inside);
}

static ig_value *byte_of(checker *c, ig_builder *b, const ig_op *op, uint32_t operand,
                         const area *at) {
    ig_value *unit = number_of(c, element_bytes(op->operands[operand].value));
    return k_add(b, at->from, k_mul(b, op->operands[operand + 1].value, unit));
}

/* A load or store of consecutive elements, all or the first `count` of them. */
static access check_run(checker *c, const ig_op *op, uint32_t operand, uint32_t lanes) {
    ig_builder b = ig_builder_before((ig_op *)(uintptr_t)op);
    const ig_value *buffer = op->operands[operand].value;
    const area *at = area_of(c, buffer);
    access a = { .at = at, .from = byte_of(c, &b, op, operand, at) };
    ig_value *all = number_of(c, lanes), *unit = number_of(c, element_bytes(buffer));
    ig_value *count = ig_op_operand(op, operand + 2);
    if (!count) {
        a.bytes = k_mul(&b, all, unit);
        a.is_good = lies_inside(c, &b, &a, a.from, a.from);
        return a;
    }
    a.bytes = k_mul(&b, k_max(&b, k_min(&b, count, all), c->zero), unit);
    ig_value *is_inside = lies_inside(c, &b, &a, a.from, a.from);
    ig_value *is_nothing = k_compare(&b, IG_OP_le, count, c->zero);
    a.is_good = k_binary(&b, IG_OP_or, is_nothing, is_inside);
    return a;
}

/* One element a lane. */
static access check_lanes(checker *c, const ig_op *op) {
    ig_builder b = ig_builder_before((ig_op *)(uintptr_t)op);
    const area *at = area_of(c, op->operands[0].value);
    ig_value *index = op->operands[1].value;
    uint32_t lanes = index->type->lanes;
    ig_value *unit = number_of(c, element_bytes(op->operands[0].value));
    ig_value *bytes = k_binary(&b, IG_OP_mul, index, k_splat(&b, unit, lanes));
    bytes = k_binary(&b, IG_OP_add, bytes, k_splat(&b, at->from, lanes));
    ig_value *first = k_hreduce(&b, IG_REDUCE_min, bytes);
    ig_value *last = k_hreduce(&b, IG_REDUCE_max, bytes);
    access a = { .at = at, .bytes = unit };
    a.from = k_where(&b, k_compare(&b, IG_OP_lt, first, c->zero), first, last);
    a.is_good = lies_inside(c, &b, &a, first, last);
    return a;
}

/* Writes the report of the access to one of two places, by whether it is good. */
static void note_access(checker *c, ig_builder *b, const access *a) {
    int64_t fixed = IG_ACCESS_OUTSIDE | (int64_t)a->is_store << IG_ACCESS_STORE_BIT;
    ig_value *scale = number_of(c, INT64_C(1) << IG_ACCESS_BYTES_BIT);
    ig_value *touched = k_mul(b, a->bytes, scale);
    ig_value *word = k_add(b, number_of(c, fixed), touched);
    ig_value *words[RECORD_WORDS] = { k_add(b, word, a->at->number), a->from,
                                      a->at->size };
    ig_value *slot = k_where(b, a->is_good, c->zero, number_of(c, RECORD_BAD));
    for (int i = 0; i < RECORD_WORDS; i++) {
        k_store(b, words[i], c->record[i], slot);
    }
}

/* The count of the access when it is good, else 0. */
static ig_value *good_count(const checker *c, ig_builder *b, const access *a,
                            ig_value *count) {
    return k_where(b, a->is_good, count, c->zero);
}

static void start_record(checker *c) {
    for (int i = 0; i < RECORD_WORDS; i++) {
        c->record[i] = k_local(c->kernel, IG_DT_i64, RECORD_SLOTS);
    }
    k_store(&c->head, c->zero, c->record[0], number_of(c, RECORD_BAD));
}

static void report_record(checker *c) {
    ig_builder b = ig_builder_before(c->kernel->body.last);
    ig_value *words[RECORD_WORDS];
    for (int i = 0; i < RECORD_WORDS; i++) {
        words[i] = k_load(&b, c->record[i], number_of(c, RECORD_BAD), 1);
    }
    k_if branch = k_if_open(&b, k_compare(&b, IG_OP_ne, words[0], c->zero), NULL, 0);
    k_report(&branch.then, words[0], words[1], words[2]);
    k_if_close(&branch, NULL, NULL);
}

static ig_value *count_of(checker *c, const ig_op *op, uint32_t operand,
                          uint32_t lanes) {
    ig_value *given = ig_op_operand(op, operand);
    return given ? given : number_of(c, lanes);
}

static ig_status check_load(checker *c, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    uint32_t lanes = op->results[0].type->lanes;
    access a = check_run(c, op, 0, lanes);
    note_access(c, &b, &a);
    ig_value *count = good_count(c, &b, &a, count_of(c, op, 2, lanes));
    ig_value *load = k_load_count(&b, op->operands[0].value, op->operands[1].value,
                                  lanes, count);
    ig_value_replace(op->results, load);
    ig_op_erase(op);
    return IG_OK;
}

/* Gathers have no count: the access where it is good, else zeros. */
static ig_status check_load_at(checker *c, ig_op *op) {
    access a = check_lanes(c, op);
    ig_builder b = ig_builder_before(op);
    const ig_type *type = op->results[0].type;
    note_access(c, &b, &a);
    k_if branch = k_if_open(&b, a.is_good, &type, 1);
    ig_value_replace(op->results, branch.results[0]);
    ig_op_move(op, branch.then.block, NULL);
    ig_value *none = k_const_vector(&branch.other, (ig_dtype)type->dtype, type->lanes,
                                    0);
    ig_value *value = op->results;
    k_if_close(&branch, &value, &none);
    return IG_OK;
}

static ig_status fail_kernel(const checker *c, const ig_op *op, const char *what) {
    return ig_error(&c->kernel->module->context->diag, IG_INTERNAL, ig_op_location(op),
                    "kernel '%s': %s: %s", c->kernel->name, ig_ops[op->code].name,
                    what);
}

static ig_status check_store(checker *c, ig_op *op) {
    if (area_of(c, op->operands[1].value)->is_input) {
        return fail_kernel(c, op, "writes into an input of its launch");
    }
    ig_builder b = ig_builder_before(op);
    uint32_t lanes = op->operands[0].value->type->lanes;
    access a = check_run(c, op, 1, lanes);
    a.is_store = true;
    note_access(c, &b, &a);
    ig_value *count = good_count(c, &b, &a, count_of(c, op, 3, lanes));
    k_store_count(&b, op->operands[0].value, op->operands[1].value,
                  op->operands[2].value, count);
    ig_op_erase(op);
    return IG_OK;
}

/* ---- the walk: one row per op that makes a place or goes to one ---- */

static ig_status place_local_op(checker *c, ig_op *op) {
    area at = place_array(c, op);
    set_area(c, op->results, at);
    ig_builder b = ig_builder_before(op->next);
    fill_array(c, &b, op->results, at.size);
    return IG_OK;
}

static ig_status place_scratch_op(checker *c, ig_op *op) {
    set_area(c, op->results, place_scratch(c, op));
    if (!c->has_scratch) {
        fill_scratch(c);
    }
    return IG_OK;
}

static ig_status place_offset_op(checker *c, ig_op *op) {
    set_area(c, op->results, place_offset(c, op));
    return IG_OK;
}

static ig_status place_chosen_op(checker *c, ig_op *op) {
    set_area(c, op->results, place_chosen(c, op));
    return IG_OK;
}

static ig_status place_reinterpret_op(checker *c, ig_op *op) {
    if (op->results[0].type->kind == IG_BUFFER) {
        set_area(c, op->results, *area_of(c, op->operands[0].value));
    }
    return IG_OK;
}

typedef ig_status (*check_fn)(checker *c, ig_op *op);

static const check_fn checks[IG_OP_COUNT] = {
    [IG_OP_load] = check_load,
    [IG_OP_load_at] = check_load_at,
    [IG_OP_store] = check_store,
    [IG_OP_offset] = place_offset_op,
    [IG_OP_reinterpret] = place_reinterpret_op,
    [IG_OP_local] = place_local_op,
    [IG_OP_scratch] = place_scratch_op,
    [IG_OP_buffer_at] = place_chosen_op,
};

/* ---- loops and branches that carry buffers ----
 *
 *     %r = for … %buffer (%i, %b) { … yield %b2 }
 *   becomes
 *     %r, … = for … %buffer, %from, %size, %number (%i, %b, %f, %s, %n) {
 *       … yield %b2, %f2, %s2, %n2 }
 */

enum { AREA_PARTS = 3 };

static uint32_t count_carried(const ig_op *op) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < op->result_count; i++) {
        count += op->body_count > 0 && op->results[i].type->kind == IG_BUFFER;
    }
    return count;
}

static void put_area(const checker *c, const ig_value *buffer, ig_value **out) {
    const area *at = area_of(c, buffer);
    out[0] = at->from;
    out[1] = at->size;
    out[2] = at->number;
}

/* The buffers among `values`, whose places are `parts`, three each. */
static void take_areas(checker *c, ig_value *const *values, uint32_t count,
                       ig_value *const *parts) {
    for (uint32_t i = 0; i < count; i++) {
        if (values[i]->type->kind == IG_BUFFER) {
            set_area(c, values[i], (area){ parts[0], parts[1], parts[2], false });
            parts += AREA_PARTS;
        }
    }
}

/* Copies `count` operands of `op`; those from `first` on that are buffers bring their
 * places, after all operands.  Returns how many there are. */
static uint32_t widen_operands(const checker *c, const ig_op *op, uint32_t first,
                               ig_value **out) {
    uint32_t count = op->operand_count;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        out[i] = op->operands[i].value;
        if (i >= first && out[i]->type->kind == IG_BUFFER) {
            put_area(c, out[i], &out[count]);
            count += AREA_PARTS;
        }
    }
    return count;
}

static ig_op *create_wider(checker *c, ig_op *op, uint32_t carried) {
    const ig_type *i64 = c->zero->type;
    uint32_t parts = AREA_PARTS * carried, results = op->result_count + parts;
    ig_value **operands = IG_NEW_ARRAY(c->run->scratch, ig_value *,
                                       op->operand_count + parts);
    const ig_type **types = IG_NEW_ARRAY(c->run->scratch, const ig_type *, results);
    for (uint32_t i = 0; i < results; i++) {
        types[i] = i < op->result_count ? op->results[i].type : i64;
    }
    bool is_loop = op->code == IG_OP_for;
    ig_op_spec spec = { .operands = operands,
                        .operand_count = op->operand_count,
                        .result_types = types,
                        .result_count = results,
                        .body_count = op->body_count,
                        .attrs = op->attrs,
                        .loc = op->loc,
                        .origins = op->origins };
    spec.operand_count = widen_operands(c, op, is_loop ? 3 : op->operand_count,
                                        operands);
    ig_op *wider = ig_op_create(c->kernel, (ig_opcode)op->code, &spec);
    ig_op_insert(wider, op->block, op);
    return wider;
}

/* The body of the wider op, with an argument for each part of a place. */
static void move_body(checker *c, ig_block *from, ig_block *to, uint32_t parts) {
    uint32_t count = from->arg_count;
    for (uint32_t i = 0; i < count; i++) {
        ig_value *arg = ig_block_add_arg(to, from->args[i]->type, from->args[i]->name);
        ig_value_replace(from->args[i], arg);
    }
    for (uint32_t i = 0; count > 0 && i < parts; i++) {
        (void)ig_block_add_arg(to, c->zero->type, NULL);
    }
    take_areas(c, to->args, count, to->args + count);
    while (from->first) {
        ig_op_move(from->first, to, NULL);
    }
}

static void take_results(checker *c, ig_op *op, ig_op *wider) {
    ig_value **values = IG_NEW_ARRAY(c->run->scratch, ig_value *, wider->result_count);
    for (uint32_t i = 0; i < wider->result_count; i++) {
        values[i] = &wider->results[i];
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value_replace(&op->results[i], values[i]);
    }
    take_areas(c, values, op->result_count, values + op->result_count);
}

static ig_op *widen_op(checker *c, ig_op *op, uint32_t carried) {
    ig_op *wider = create_wider(c, op, carried);
    for (uint32_t i = 0; i < op->body_count; i++) {
        move_body(c, op->bodies[i], wider->bodies[i], AREA_PARTS * carried);
    }
    take_results(c, op, wider);
    ig_op_erase(op);
    return wider;
}

/* Positions of the values that a body yields, known once its ops are checked. */
static void widen_yield(checker *c, ig_block *body, uint32_t carried) {
    ig_op *yield = body->last;
    ig_value **values = IG_NEW_ARRAY(c->run->scratch, ig_value *,
                                     yield->operand_count + AREA_PARTS * carried);
    uint32_t count = widen_operands(c, yield, 0, values);
    ig_builder b = ig_builder_before(yield);
    ig_make_yield(&b, values, count);
    ig_op_erase(yield);
}

static ig_status check_ops(checker *c, ig_op *first);

static ig_status check_bodies(checker *c, ig_op *op) {
    uint32_t carried = count_carried(op);
    op = carried > 0 ? widen_op(c, op, carried) : op;
    for (uint32_t i = 0; i < op->body_count; i++) {
        IG_TRY(check_ops(c, op->bodies[i]->first));
        if (carried > 0) {
            widen_yield(c, op->bodies[i], carried);
        }
    }
    return IG_OK;
}

/* An op and those after it.  Recursion is as deep as bodies nest, which readers bound
 * by limits.graph_depth. */
static ig_status check_ops(checker *c, ig_op *first) {
    for (ig_op *op = first, *next; op; op = next) {
        next = op->next;
        check_fn check = checks[op->code];
        IG_TRY(check ? check(c, op) : op->body_count ? check_bodies(c, op) : IG_OK);
    }
    return IG_OK;
}

/* Blocks of sums as the loads and stores that they come to.  Recursion as above. */
static void expand_blocks(ig_block *block) {
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            expand_blocks(op->bodies[i]);
        }
        if (op->code == IG_OP_dot4_block) {
            ig_builder b = ig_builder_before(op);
            k_expand_block(&b, op);
            ig_op_erase(op);
        }
    }
}

static ig_status check_kernel(ig_pass_run *run, ig_graph *kernel, const ig_op *launch) {
    const ig_type *i64 = ig_type_vector(kernel->module, IG_DT_i64, 1);
    uint32_t outs = (uint32_t)ig_attr_int(launch, IG_launch_outs, 0);
    checker c = { .run = run,
                  .kernel = kernel,
                  .buffer_count = launch->operand_count,
                  .in_count = launch->operand_count - outs,
                  .first_param = kernel->body.arg_count };
    ig_map_init(&c.areas, run->scratch);
    ig_map_init(&c.numbers, run->scratch);
    ig_map_init(&c.ends, run->scratch);
    for (uint32_t i = 0; i < 2 * c.buffer_count + 1; i++) {
        (void)ig_block_add_arg(&kernel->body, i64, NULL);
    }
    ig_op *first = kernel->body.first;
    c.head = ig_builder_before(first);
    c.zero = number_of(&c, 0);
    start_record(&c);
    place_arguments(&c);
    expand_blocks(&kernel->body);
    IG_TRY(check_ops(&c, first));
    report_record(&c);
    return IG_OK;
}

/* ---- launches ---- */

/* The extent of an operand, from its start: strides may be negative. */
typedef struct reach {
    ig_dim front, size; /* bytes in front of the start; all bytes */
} reach;

static ig_dim bytes_of(ig_module *module, ig_dim elements, ig_dtype dtype) {
    ig_dim bits = ig_dim_mul(module, elements, ig_dim_of(ig_dtypes[dtype].bits));
    return ig_dim_ceil_div(module, bits, ig_dim_of(8));
}

/* Nothing at all when an extent is 0. */
static reach reach_of_view(ig_module *module, const ig_type *type,
                           const ig_dim *strides) {
    ig_dim zero = ig_dim_of(0), one = ig_dim_of(1);
    ig_dim front = zero, after = one, any = one;
    for (uint32_t d = 0; d < type->rank; d++) {
        ig_dim last = ig_dim_max(module, ig_dim_sub(module, type->dims[d], one), zero);
        ig_dim step = ig_dim_mul(module, last, strides[d]);
        ig_dim back = ig_dim_min(module, step, zero);
        front = ig_dim_sub(module, front, back);
        after = ig_dim_add(module, after, ig_dim_sub(module, step, back));
        any = ig_dim_mul(module, any, ig_dim_min(module, type->dims[d], one));
    }
    ig_dim all = ig_dim_mul(module, ig_dim_add(module, front, after), any);
    return (reach){ bytes_of(module, front, (ig_dtype)type->dtype),
                    bytes_of(module, all, (ig_dtype)type->dtype) };
}

static reach reach_of(const ig_op *launch, uint32_t operand, ig_arena *arena) {
    ig_module *module = ig_op_module(launch);
    const ig_value *value = launch->operands[operand].value;
    const ig_type *type = value->type;
    ig_dtype dtype = (ig_dtype)type->dtype;
    ig_row_layout layout;
    int64_t dim;
    if (ig_def(value, IG_OP_view)) {
        return reach_of_view(module, type, ig_lower_strides(arena, value));
    }
    if (type->kind == IG_TABLE && ig_dim_constant(module, type->dims[1], &dim) &&
        ig_row_layout_of(type->rows, ig_dtypes[dtype].bits, dim, &layout)) {
        ig_dim stride = ig_dim_of(layout.stride);
        return (reach){ ig_dim_of(0), ig_dim_mul(module, type->dims[0], stride) };
    }
    return (reach){ ig_dim_of(0),
                    bytes_of(module, ig_type_count(module, type), dtype) };
}

static void add_sizes(ig_pass_run *run, ig_op *launch) {
    const ig_attr *params = &launch->attrs[IG_launch_params];
    uint32_t before = params->kind == IG_ATTR_DIMS ? params->count : 0;
    uint32_t operands = launch->operand_count, count = before + 2 * operands + 1;
    ig_dim *dims = IG_NEW_ARRAY(run->scratch, ig_dim, count);
    for (uint32_t i = 0; i < before; i++) {
        dims[i] = params->as.dims[i];
    }
    for (uint32_t i = 0; i < operands; i++) {
        reach r = reach_of(launch, i, run->scratch);
        dims[before + i] = r.front;
        dims[before + operands + i] = r.size;
    }
    dims[count - 1] = ig_dim_of(ig_attr_int(launch, IG_launch_scratch, 0));
    ig_attr_set(launch, IG_launch_params,
                ig_attr_of_dims(ig_op_module(launch), dims, count));
    ig_attr_set(launch, IG_launch_checks, ig_attr_of_bool(true));
    run->changed = true;
}

static ig_status check_launch(ig_pass_run *run, ig_map *done, ig_op *launch) {
    ig_module *module = ig_op_module(launch);
    ig_graph *kernel = ig_module_graph(module, ig_attr_str(launch, IG_launch_kernel));
    assert(kernel && "verified");
    add_sizes(run, launch);
    if (ig_map_get_id(done, IG_MAP_PTR(kernel))) {
        return IG_OK;
    }
    ig_map_set_id(done, IG_MAP_PTR(kernel), kernel);
    return check_kernel(run, kernel, launch);
}

static ig_status check_launches(ig_pass_run *run, ig_map *done, ig_block *block) {
    for (ig_op *op = block->first; op; op = op->next) {
        bool is_plain = op->code == IG_OP_launch &&
                        !ig_attr_is_set(op, IG_launch_checks);
        IG_TRY(is_plain ? check_launch(run, done, op) : IG_OK);
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(check_launches(run, done, op->bodies[i]));
        }
    }
    return IG_OK;
}

ig_status ig_pass_sanitize(ig_pass_run *run, ig_graph *graph) {
    const ig_target *target = run->options->target;
    ig_map done;
    if (target && !target->has_checked_kernels) {
        return ig_error(&graph->module->context->diag, IG_UNSUPPORTED, NULL,
                        "checked kernels for %s: only those of CPUs can be checked",
                        target->name);
    }
    ig_map_init(&done, run->scratch);
    return check_launches(run, &done, &graph->body);
}
