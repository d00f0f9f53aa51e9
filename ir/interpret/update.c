/* bag_update in the interpreter: rows of tables, one after the other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Results begin as copies of weights and states; the body then renews each row that
 * occurs, in place.  It sees rows as tensors of their own, which are borrowed from
 * here.
 */
#include "ir/bag.h"

#include "ir/interpret/run.h"
#include "ir/tensor/span.h"

#include <assert.h>
#include <string.h>

enum { STATES = 8, ROWS = 2 + STATES };

/* One table, or the op's data for all of them. */
typedef struct update {
    ig_run *run;
    const ig_op *op;
    uint32_t states, arg_count;
    ig_bag_update_table at;
    ig_tensor *now;         /* weight and states, which become the results */
    ig_tensor own[ROWS];    /* rows: weight, gradient, states */
    ig_slot *args, *yields; /* of the body */
} update;

static const ig_tensor *operand_of(const update *u, uint32_t index) {
    return ig_run_slot(u->run, u->op->operands[index].value)->tensor;
}

static ig_status fail_update(const update *u, ig_status status, const char *what) {
    return ig_error(&u->run->context->diag, status, ig_op_location(u->op),
                    "bag_update: %s", what);
}

/* The number of the gradient that a place takes, and its factor. */
static ig_status read_position(const update *u, int64_t position, int64_t *out_gradient,
                               double *out_factor) {
    const ig_tensor *bags = u->at.bags ? operand_of(u, u->at.bags) : NULL;
    const ig_tensor *factors = u->at.factors ? operand_of(u, u->at.factors) : NULL;
    bool is_good = position >= 0 && (!bags || position < bags->count) &&
                   (!factors || position < factors->count);
    *out_gradient = is_good && bags ? ig_tensor_get_i64(bags, position) : position;
    *out_factor = is_good && factors ? ig_tensor_get_f64(factors, position) : 1;
    is_good = is_good && *out_gradient >= 0 &&
              *out_gradient < operand_of(u, u->at.gradients)->dims[0];
    return is_good ? IG_OK
                   : fail_update(u, IG_INVALID, "a position without a gradient");
}

/* Adds what occurrence `k` brings to the row of gradients. */
static ig_status add_gradient(update *u, int64_t k) {
    const ig_tensor *from = operand_of(u, u->at.gradients);
    ig_tensor *sum = &u->own[1];
    int64_t position = ig_tensor_get_i64(operand_of(u, u->at.positions), k), index;
    double factor;
    IG_TRY(read_position(u, position, &index, &factor));
    for (int64_t c = 0; c < sum->count; c++) {
        double g = ig_tensor_get_f64(from, index * sum->count + c);
        ig_tensor_set_f64(sum, c, ig_tensor_get_f64(sum, c) + factor * g);
    }
    return IG_OK;
}

/* The row's tensor among the body's: the gradient is second. */
static ig_tensor *own_row(update *u, uint32_t index) {
    return &u->own[index + (index > 0)];
}

static ig_status make_row(update *u, int64_t row) {
    for (uint32_t i = 0; i <= u->states; i++) {
        ig_tensor *own = own_row(u, i);
        ig_span_copy(own, 0, &u->now[i], row * own->count, own->count);
    }
    ig_status status = ig_run_body(u->run, u->op, u->args, u->yields);
    for (uint32_t i = 0; i <= u->states; i++) {
        const ig_tensor *next = u->yields[i].tensor;
        if (status == IG_OK) {
            ig_span_copy(&u->now[i], row * next->count, next, 0, next->count);
        }
        ig_slot_release(u->run, &u->yields[i]);
    }
    return status;
}

/* The rows of a table, each from its first to its last occurrence. */
static ig_status make_rows(update *u) {
    const ig_tensor *rows = operand_of(u, u->at.rows);
    int64_t end = 0, row;
    for (int64_t k = 0; k < rows->count; k = end) {
        row = ig_tensor_get_i64(rows, k);
        if (row < 0) {
            return IG_OK;
        }
        if (row >= u->now[0].dims[0]) {
            return fail_update(u, IG_INVALID, "a row beyond the table's");
        }
        memset(u->own[1].data, 0, (size_t)ig_tensor_bytes(&u->own[1]));
        for (end = k; end < rows->count && ig_tensor_get_i64(rows, end) == row; end++) {
            IG_TRY(add_gradient(u, end));
        }
        IG_TRY(make_row(u, row));
    }
    return IG_OK;
}

/* The body's rows, of the extents that the tables have. */
static ig_status start_rows(update *u, ig_cell *cell) {
    for (uint32_t i = 0; i < 2 + u->states; i++) {
        const ig_tensor *whole = operand_of(u, i < 2 ? 0 : i - 1);
        int64_t dims[] = { 1, whole->dims[1] };
        if (ig_tensor_alloc(&cell->arena, NULL, whole->dtype, 2, dims, &u->own[i]) !=
            IG_OK) {
            return fail_update(u, IG_LIMIT, "no memory for a row");
        }
        u->args[i] = (ig_slot){ .tensor = &u->own[i] };
    }
    uint32_t first = ig_bag_update_scalars(u->op);
    for (uint32_t i = first; i < u->op->operand_count; i++) {
        u->args[2 + u->states + i - first].tensor = operand_of(u, i);
    }
    return IG_OK;
}

static ig_status copy_operand(update *u, ig_cell *cell, uint32_t operand,
                              ig_tensor *out) {
    const ig_tensor *from = operand_of(u, operand);
    if (ig_tensor_alloc(&cell->arena, u->run->context, from->dtype, from->rank,
                        from->dims, out) != IG_OK) {
        return fail_update(u, IG_LIMIT, "no memory for a table");
    }
    ig_span_copy(out, 0, from, 0, from->count);
    return IG_OK;
}

static ig_status make_tables(update *u, ig_cell *cell, ig_tensor *results) {
    uint32_t own = 1 + u->states;
    IG_TRY(start_rows(u, cell));
    for (uint32_t t = 0; t < ig_bag_update_tables(u->op); t++) {
        u->at = ig_bag_update_at(u->op, t);
        u->now = &results[(size_t)t * own];
        for (uint32_t i = 0; i < own; i++) {
            IG_TRY(copy_operand(u, cell, u->at.weight + i, &u->now[i]));
            if (u->now[i].dims[1] != own_row(u, i)->count) {
                return fail_update(u, IG_INVALID, "rows of several lengths");
            }
        }
        IG_TRY(make_rows(u));
    }
    return IG_OK;
}

static ig_status give_tables(update *u, ig_cell *cell, ig_tensor *results) {
    IG_TRY(ig_cell_account(u->run, cell, u->op, results, u->op->result_count));
    for (uint32_t i = 0; i < u->op->result_count; i++) {
        ig_slot from = { &results[i], cell };
        IG_TRY(ig_run_check_result(u->run, u->op, &u->op->results[i], &results[i]));
        ig_slot_share(u->run, ig_run_slot(u->run, &u->op->results[i]), &from);
    }
    return IG_OK;
}

static ig_status run_update(update *u, ig_cell *cell) {
    ig_tensor *results;
    size_t slots = u->arg_count + 1 + u->states;
    IG_TRY(ig_cell_tensors(u->run, cell, u->op->result_count, &results));
    u->args = ig_arena_try_alloc(&cell->arena, slots * sizeof *u->args);
    if (!u->args) {
        return fail_update(u, IG_LIMIT, "no memory for its rows");
    }
    memset(u->args, 0, slots * sizeof *u->args);
    u->yields = u->args + u->arg_count;
    IG_TRY(make_tables(u, cell, results));
    return give_tables(u, cell, results);
}

ig_status ig_run_bag_update(ig_run *run, const ig_op *op) {
    update u = { .run = run,
                 .op = op,
                 .states = ig_bag_update_states(op),
                 .arg_count = op->bodies[0]->arg_count };
    assert(u.states <= STATES && "infer wants few states");
    ig_cell *cell;
    IG_TRY(ig_cell_create(run, &cell));
    ig_status status = run_update(&u, cell);
    ig_cell_drop(run, cell); /* unless a result holds it */
    return status;
}
