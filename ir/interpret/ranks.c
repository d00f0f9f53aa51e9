/* The interpreter of many ranks: programs side by side that meet at collectives.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rank 0   ops ─▶ all_to_all ─▶ ops ─▶ reduce_scatter ─▶ ops ─▶ ret
 *     rank 1   ops ─▶     │      ─▶ ops ─▶       │        ─▶ ops ─▶ ret
 *
 * All run up to their next collective, one after the other; there each gets its results
 * from the operands of all.  No transport, no threads: transports are tested against
 * it.
 */
#include "ir/interpret/interpret.h"

#include "base/checked.h"
#include "ir/fold/fold.h"
#include "ir/interpret/run.h"
#include "ir/shard.h"

#include <string.h>

typedef struct world {
    ig_run *runs;      /* by rank */
    const ig_op **ops; /* the position of each */
    uint32_t count;
    uint32_t begun; /* runs to be ended */
} world;

/* A list of one rank's that travels, and how much of it is whose. */
typedef struct parcel {
    const ig_tensor *list, *counts; /* counts: NULL where all of it goes to all */
    int64_t inner;                  /* elements of one index of the list */
} parcel;

static const ig_tensor *operand_of(const world *w, uint32_t rank, uint32_t index) {
    return ig_run_slot(&w->runs[rank], w->ops[rank]->operands[index].value)->tensor;
}

static parcel parcel_of(const world *w, uint32_t rank, uint32_t pair) {
    uint32_t first = pair * ig_list_stride(w->ops[rank]);
    bool has_counts = ig_list_stride(w->ops[rank]) > 1;
    parcel p = { operand_of(w, rank, first),
                 has_counts ? operand_of(w, rank, first + 1) : NULL, 1 };
    for (uint32_t d = 1; d < p.list->rank; d++) {
        p.inner *= p.list->dims[d];
    }
    return p;
}

static int64_t count_for(const parcel *p, uint32_t rank) {
    return ig_tensor_get_i64(p->counts, rank);
}

/* The first index of the list that is `rank`'s. */
static int64_t first_for(const parcel *p, uint32_t rank) {
    int64_t first = 0;
    for (uint32_t r = 0; r < rank; r++) {
        first += count_for(p, r);
    }
    return first;
}

/* ---- agreement of ranks ---- */

#define RANK_ERROR(w, rank, ...)                         \
    ig_error(&(w)->runs[rank].context->diag, IG_INVALID, \
             ig_op_location((w)->ops[rank]), __VA_ARGS__)

static const char *name_of(const ig_op *op) {
    return op->code == IG_OP_ret ? "its end" : ig_ops[op->code].name;
}

/* Lists with counts may have other extents along their first axis. */
static bool are_alike(const parcel *a, const parcel *b) {
    uint32_t first = a->counts ? 1 : 0, rank = a->list->rank;
    return a->list->dtype == b->list->dtype && rank == b->list->rank &&
           memcmp(a->list->dims + first, b->list->dims + first,
                  (rank - first) * sizeof *a->list->dims) == 0;
}

static ig_status check_alike(const world *w, uint32_t rank) {
    const ig_op *first = w->ops[0], *op = w->ops[rank];
    if (op->code != first->code || op->operand_count != first->operand_count) {
        return RANK_ERROR(
            w, rank,
            "rank %u is at %s of %u operands, and rank 0 at %s of %u; all "
            "ranks must be given programs of one model and plan",
            rank, name_of(op), op->operand_count, name_of(first), first->operand_count);
    }
    if (op->code == IG_OP_ret) {
        return IG_OK;
    }
    if (ig_list_stride(op) != ig_list_stride(first)) {
        return RANK_ERROR(w, rank, "%s: rank %u knows what comes, or rank 0 does",
                          name_of(op), rank);
    }
    for (uint32_t i = 0; i < ig_list_count(op); i++) {
        parcel a = parcel_of(w, 0, i), b = parcel_of(w, rank, i);
        if (!are_alike(&a, &b)) {
            return RANK_ERROR(
                w, rank,
                "%s: operand %u of rank %u is not of the type that it has "
                "on rank 0",
                name_of(op), i * ig_list_stride(op), rank);
        }
    }
    return IG_OK;
}

/* Is the world of the op, where it states one, that which runs? */
static ig_status check_world(const world *w, uint32_t rank) {
    int64_t ranks = ig_op_world(w->ops[rank]);
    return ranks == 0 || ranks == w->count
               ? IG_OK
               : RANK_ERROR(w, rank, "%s: rank %u is one of %lld, and %u run",
                            name_of(w->ops[rank]), rank, (long long)ranks, w->count);
}

/* Counts of each rank's list: one a rank, none negative, all of the list. */
static ig_status check_counts(const world *w, uint32_t rank, uint32_t pair) {
    parcel p = parcel_of(w, rank, pair);
    const char *name = name_of(w->ops[rank]);
    if (p.counts->count != (int64_t)w->count) {
        return RANK_ERROR(w, rank, "%s: rank %u has counts for %lld ranks, not %u",
                          name, rank, (long long)p.counts->count, w->count);
    }
    int64_t left = p.list->dims[0];
    for (uint32_t r = 0; r < w->count; r++) {
        int64_t count = count_for(&p, r);
        if (count < 0 || count > left) {
            return RANK_ERROR(w, rank,
                              "%s: rank %u has %lld for rank %u, of %lld that are left",
                              name, rank, (long long)count, r, (long long)left);
        }
        left -= count;
    }
    return left == 0 ? IG_OK
                     : RANK_ERROR(w, rank, "%s: rank %u has %lld that are for no rank",
                                  name, rank, (long long)left);
}

/* What rank `to` gets; results in the order of the op's, in `eval`'s memory. */
typedef ig_status (*collective_fn)(const world *w, ig_eval *eval, uint32_t to,
                                   ig_tensor *out);
static const collective_fn collectives[IG_OP_COUNT];

/* Is the collective one that all ranks are at?  Its halves are for graphs that are to
 * be compiled. */
static ig_status check_meeting(const world *w) {
    const ig_op *op = w->ops[0];
    bool is_end = op->code == IG_OP_ret;
    bool is_started = op->code == IG_OP_reduce_scatter && op->operand_count % 2;
    if (!is_end && (!collectives[op->code] || is_started)) {
        return RANK_ERROR(w, 0, "%s: interpret the graph before resolve_shapes",
                          name_of(w->ops[0]));
    }
    for (uint32_t rank = 1; rank < w->count; rank++) {
        IG_TRY(check_alike(w, rank));
    }
    for (uint32_t rank = 0; rank < w->count; rank++) {
        IG_TRY(check_world(w, rank));
    }
    bool has_counts = !is_end && ig_list_stride(op) > 1;
    for (uint32_t pair = 0; has_counts && pair < ig_list_count(op); pair++) {
        for (uint32_t rank = 0; rank < w->count; rank++) {
            IG_TRY(check_counts(w, rank, pair));
        }
    }
    return IG_OK;
}

/* ---- the collectives ---- */

static ig_status alloc_list(const world *w, ig_eval *eval, uint32_t to,
                            const ig_tensor *like, int64_t count, ig_tensor *out) {
    int64_t dims[IG_TENSOR_RANK];
    memcpy(dims, like->dims, sizeof dims);
    dims[0] = count;
    return ig_eval_alloc(eval, w->ops[to], like->dtype, like->rank, dims, out);
}

/* A count that the rank knew must equal the received one. */
static ig_status check_known(const world *w, uint32_t to, uint32_t pair,
                             const ig_tensor *came) {
    uint32_t stride = ig_list_stride(w->ops[to]);
    for (uint32_t from = 0; stride == 3 && from < w->count; from++) {
        int64_t known = ig_tensor_get_i64(operand_of(w, to, pair * 3 + 2), from);
        if (known != ig_tensor_get_i64(came, from)) {
            return RANK_ERROR(w, to,
                              "all_to_all: %lld of list %u come from rank %u, and rank "
                              "%u knows of %lld",
                              (long long)ig_tensor_get_i64(came, from), pair, from, to,
                              (long long)known);
        }
    }
    return IG_OK;
}

static ig_status collect_parts(const world *w, ig_eval *eval, uint32_t to,
                               ig_tensor *out) {
    for (uint32_t pair = 0; pair < ig_list_count(w->ops[to]); pair++, out += 2) {
        int64_t count = 0, at = 0, ranks = w->count;
        parcel own = parcel_of(w, to, pair);
        for (uint32_t from = 0; from < w->count; from++) {
            parcel p = parcel_of(w, from, pair);
            count += count_for(&p, to);
        }
        IG_TRY(alloc_list(w, eval, to, own.list, count, &out[0]));
        IG_TRY(ig_eval_alloc(eval, w->ops[to], IG_DT_i64, 1, &ranks, &out[1]));
        for (uint32_t from = 0; from < w->count; from++) {
            parcel p = parcel_of(w, from, pair);
            int64_t came = count_for(&p, to);
            ig_tensor_set_i64(&out[1], from, came);
            ig_span_copy(&out[0], at * p.inner, p.list, first_for(&p, to) * p.inner,
                         came * p.inner);
            at += came;
        }
        IG_TRY(check_known(w, to, pair, &out[1]));
    }
    return IG_OK;
}

static ig_status reduce_pair(const world *w, ig_eval *eval, uint32_t to, uint32_t pair,
                             ig_tensor *out) {
    parcel own = parcel_of(w, to, pair);
    for (uint32_t from = 0; from < w->count; from++) {
        parcel p = parcel_of(w, from, pair);
        for (uint32_t r = 0; r < w->count; r++) {
            if (count_for(&p, r) != count_for(&own, r)) {
                return RANK_ERROR(w, to,
                                  "reduce_scatter: for rank %u there are %lld on rank "
                                  "%u and %lld on rank %u",
                                  r, (long long)count_for(&own, r), to,
                                  (long long)count_for(&p, r), from);
            }
        }
    }
    int64_t first = first_for(&own, to) * own.inner;
    IG_TRY(alloc_list(w, eval, to, own.list, count_for(&own, to), out));
    for (int64_t i = 0; i < out->count; i++) {
        double total = 0;
        for (uint32_t from = 0; from < w->count; from++) {
            total += ig_tensor_get_f64(operand_of(w, from, pair * 2), first + i);
        }
        ig_tensor_set_f64(out, i, total);
    }
    return IG_OK;
}

static ig_status reduce_parts(const world *w, ig_eval *eval, uint32_t to,
                              ig_tensor *out) {
    for (uint32_t pair = 0; pair < ig_list_count(w->ops[to]); pair++) {
        IG_TRY(reduce_pair(w, eval, to, pair, &out[pair]));
    }
    return IG_OK;
}

static ig_status add_all(const world *w, ig_eval *eval, uint32_t to, ig_tensor *out) {
    for (uint32_t i = 0; i < w->ops[to]->operand_count; i++) {
        const ig_tensor *own = operand_of(w, to, i);
        IG_TRY(
            ig_eval_alloc(eval, w->ops[to], own->dtype, own->rank, own->dims, &out[i]));
        for (int64_t k = 0; k < own->count; k++) {
            double total = 0;
            for (uint32_t from = 0; from < w->count; from++) {
                total += ig_tensor_get_f64(operand_of(w, from, i), k);
            }
            ig_tensor_set_f64(&out[i], k, total);
        }
    }
    return IG_OK;
}

static ig_status join_all(const world *w, ig_eval *eval, uint32_t to, ig_tensor *out) {
    for (uint32_t i = 0; i < w->ops[to]->operand_count; i++) {
        const ig_tensor *own = operand_of(w, to, i);
        int64_t count;
        if (!ig_mul_i64(own->dims[0], (int64_t)w->count, &count)) {
            return RANK_ERROR(w, to, "all_gather: operand %u is too large", i);
        }
        IG_TRY(alloc_list(w, eval, to, own, count, &out[i]));
        for (uint32_t from = 0; from < w->count; from++) {
            ig_span_copy(&out[i], from * own->count, operand_of(w, from, i), 0,
                         own->count);
        }
    }
    return IG_OK;
}

static const collective_fn collectives[IG_OP_COUNT] = {
    [IG_OP_all_reduce] = add_all,
    [IG_OP_all_gather] = join_all,
    [IG_OP_all_to_all] = collect_parts,
    [IG_OP_reduce_scatter] = reduce_parts,
};

static ig_status give_results(const world *w, uint32_t to, ig_cell *cell) {
    ig_run *run = &w->runs[to];
    const ig_op *op = w->ops[to];
    ig_tensor *out;
    ig_eval eval = { .arena = &cell->arena,
                     .scratch = &run->scratch,
                     .context = run->context };
    IG_TRY(ig_cell_tensors(run, cell, op->result_count, &out));
    IG_TRY(collectives[op->code](w, &eval, to, out));
    IG_TRY(ig_cell_account(run, cell, op, out, op->result_count));
    for (uint32_t i = 0; i < op->result_count; i++) {
        IG_TRY(ig_run_check_result(run, op, &op->results[i], &out[i]));
        ig_slot from = { &out[i], cell };
        ig_slot_share(run, ig_run_slot(run, &op->results[i]), &from);
    }
    return IG_OK;
}

/* Every rank gets its results; only then may operands go. */
static ig_status meet_ranks(const world *w) {
    for (uint32_t to = 0; to < w->count; to++) {
        ig_cell *cell;
        IG_TRY(ig_cell_create(&w->runs[to], &cell));
        ig_status status = give_results(w, to, cell);
        ig_cell_drop(&w->runs[to], cell); /* unless a result holds it */
        IG_TRY(status);
    }
    for (uint32_t rank = 0; rank < w->count; rank++) {
        ig_run_release_dead(&w->runs[rank], w->ops[rank]);
        w->ops[rank] = w->ops[rank]->next;
    }
    return IG_OK;
}

/* ---- all ranks ---- */

static ig_status begin_all(world *w, const ig_graph *const *graphs,
                           const ig_tensor *const *inputs) {
    for (uint32_t rank = 0; rank < w->count; rank++) {
        w->begun++;
        IG_TRY(ig_run_begin(&w->runs[rank], graphs[rank], inputs[rank]));
        w->ops[rank] = graphs[rank]->body.first;
    }
    return IG_OK;
}

static ig_status run_all(world *w) {
    for (;;) {
        for (uint32_t rank = 0; rank < w->count; rank++) {
            IG_TRY(ig_run_ops(&w->runs[rank], &w->ops[rank]));
        }
        IG_TRY(check_meeting(w));
        if (w->ops[0]->code == IG_OP_ret) {
            return IG_OK;
        }
        IG_TRY(meet_ranks(w));
    }
}

ig_status ig_interpret_ranks(const ig_graph *const *graphs, uint32_t count,
                             const ig_tensor *const *inputs, ig_arena *arena,
                             ig_tensor *const *outputs) {
    world w = { .count = count };
    ig_arena memory; /* of a result with room for all ranks */
    ig_arena_init(&memory, NULL);
    w.runs = IG_NEW_ARRAY(&memory, ig_run, count);
    w.ops = IG_NEW_ARRAY(&memory, const ig_op *, count);
    ig_status status = begin_all(&w, graphs, inputs);
    status = status == IG_OK ? run_all(&w) : status;
    for (uint32_t rank = 0; status == IG_OK && rank < count; rank++) {
        status = ig_run_end(&w.runs[rank], arena, outputs[rank]);
    }
    for (uint32_t rank = 0; rank < w.begun; rank++) {
        ig_run_fini(&w.runs[rank]);
    }
    ig_arena_fini(&memory);
    return status;
}
