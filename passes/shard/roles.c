/* roles: the role of each input and result along the batch, for callers that join
 * calls.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     graph @main(%x: f32[B, 4], %ids: i64[N], %off: i64[B]) -> (f32[B, 12]) {
 *       %0 = bag @t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 8]
 *       %1 = concat %x, %0 {axis = 1} : f32[B, 12]
 *       ret %1
 *   becomes
 *       ret %1 {roles = [rows, key_values, offsets, rows], partners = [-1, 2, 1, -1]}
 *
 * The batch is the first extent of the first result.  A value is made sample by sample
 * (rows.c), or shared by all samples, which it is only where nothing of it depends on
 * the batch, its extents too; whatever else meets the batch mixes its rows.  Jagged
 * data is an input of ids and one that says where bags begin: offsets into the ids, or
 * the lengths key by key, whose sums are cut into a part a key; both go into bags and
 * nowhere else.  Roles are stated only where every result is made sample by sample or
 * shared: then rows of one call after those of another change no number of either.
 */
#include "ir/bag.h"
#include "ir/dim/dim.h"
#include "passes/engine/pass.h"
#include "passes/shard/rows.h"

#include <assert.h>

typedef enum value_kind {
    KIND_MIXED,
    KIND_SHARED,
    KIND_SAMPLES, /* rows are in `samples` */
    KIND_IDS,     /* of jagged data, or their weights */
    KIND_BEGINS,  /* offsets into ids */
    KIND_LENGTHS, /* key by key */
    KIND_SUMS,    /* of lengths, from 0 on */
    KIND_PART,    /* sums of one key */
} value_kind;

typedef struct known {
    value_kind kind;
    uint32_t input; /* of jagged kinds: the argument that says where bags begin */
} known;

typedef struct finder {
    ig_pass_run *run;
    ig_graph *graph;
    ig_module *module;
    ig_samples samples;
    known *of;      /* by id of a value */
    bool *is_batch; /* symbols that change when calls are put together */
    uint32_t symbols;
} finder;

static known *known_of(const finder *f, const ig_value *value) {
    return &f->of[value->id];
}

static void set_kind(const finder *f, const ig_value *value, value_kind kind,
                     uint32_t input) {
    *known_of(f, value) = (known){ kind, input };
}

/* ---- extents of the batch ---- */

static void mark_symbol(void *user, uint32_t symbol) {
    finder *f = user;
    if (symbol < f->symbols) {
        f->is_batch[symbol] = true;
    }
}

static bool mentions_batch(const finder *f, ig_dim dim) {
    for (uint32_t i = 0; i < f->symbols; i++) {
        if (f->is_batch[i] && ig_dim_mentions(f->module, dim, i)) {
            return true;
        }
    }
    return false;
}

static bool is_type_free(const finder *f, const ig_type *type, uint32_t from) {
    if (type->kind != IG_TENSOR) {
        return false;
    }
    for (uint32_t d = from; d < type->rank; d++) {
        if (mentions_batch(f, type->dims[d])) {
            return false;
        }
    }
    return true;
}

/* Does an attribute but entry 0 of slot `but` (-1: none) name an extent of the
 * batch? */
static bool are_attrs_free(const finder *f, const ig_op *op, int32_t but) {
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
        const ig_attr *attr = &op->attrs[i];
        if (attr->kind == IG_ATTR_DIM && mentions_batch(f, attr->as.dim)) {
            return false;
        }
        uint32_t first = (int32_t)i == but ? 1 : 0;
        for (uint32_t k = first; attr->kind == IG_ATTR_DIMS && k < attr->count; k++) {
            if (mentions_batch(f, attr->as.dims[k])) {
                return false;
            }
        }
    }
    return true;
}

/* ---- arguments ---- */

/* The argument under casts, or NULL. */
static const ig_value *argument_after(const finder *f, const ig_value *value) {
    for (const ig_op *op; (op = ig_def(value, IG_OP_cast));) {
        value = op->operands[0].value;
    }
    return !value->def && value->block == &f->graph->body ? value : NULL;
}

static const ig_op *sums_after(const ig_value *value) {
    for (const ig_op *op;
         (op = ig_def(value, IG_OP_cast)) || (op = ig_def(value, IG_OP_slice));) {
        value = op->operands[0].value;
    }
    return ig_def(value, IG_OP_cumsum);
}

/* An argument of jagged data; one that has another meaning already is nobody's. */
static void set_argument(finder *f, const ig_value *arg, value_kind kind,
                         uint32_t input) {
    known *is = known_of(f, arg);
    bool is_new = is->kind == KIND_SHARED;
    bool is_same = is->kind == kind && is->input == input;
    *is = is_new || is_same ? (known){ kind, input } : (known){ KIND_MIXED, 0 };
}

static void note_jagged(finder *f, const ig_op *bag, const ig_bag_feature *feature) {
    const ig_value *begins = bag->operands[feature->begins].value;
    const ig_value *first = argument_after(f, begins), *lists[2] = { NULL };
    const ig_op *sums = first ? NULL : sums_after(begins);
    value_kind kind = first ? KIND_BEGINS : KIND_LENGTHS;
    first = sums ? argument_after(f, sums->operands[0].value) : first;
    lists[0] = argument_after(f, bag->operands[feature->ids].value);
    lists[1] = feature->weights
                   ? argument_after(f, bag->operands[feature->weights].value)
                   : NULL;
    if (!first || first->type->rank != 1) {
        return; /* the bag will be seen to mix */
    }
    set_argument(f, first, kind, first->index);
    for (int i = 0; i < 2; i++) {
        if (lists[i] && lists[i]->type->rank == 1) {
            set_argument(f, lists[i], KIND_IDS, first->index);
        }
    }
}

static void find_jagged(finder *f) {
    for (const ig_op *op = f->graph->body.first; op; op = op->next) {
        for (uint32_t i = 0; op->code == IG_OP_bag && i < op->result_count; i++) {
            ig_bag_feature feature = ig_bag_feature_at(op, i);
            if (feature.begins && !feature.ends) {
                note_jagged(f, op, &feature);
            }
        }
    }
}

/* Rows of the batch, or the same for all of it. */
static void settle_argument(finder *f, const ig_value *arg) {
    known *is = known_of(f, arg);
    bool is_state = arg->index >= f->graph->body.arg_count - f->graph->state_count;
    if (is_state || arg->type->kind != IG_TENSOR) {
        is->kind = KIND_MIXED;
    } else if (is->kind == KIND_SHARED && ig_samples_have(&f->samples, arg, 1)) {
        is->kind = is_type_free(f, arg->type, 1) ? KIND_SAMPLES : KIND_MIXED;
        if (is->kind == KIND_SAMPLES) {
            ig_samples_set(&f->samples, arg, 1);
        }
    } else if (is->kind == KIND_SHARED && !is_type_free(f, arg->type, 0)) {
        is->kind = KIND_MIXED;
    }
}

/* ---- bags ---- */

/* Is it the part of key k that begins at k * B, with one sum a sample or one more? */
static bool is_part(const finder *f, const ig_op *slice) {
    const ig_attr *starts = &slice->attrs[IG_slice_starts],
                  *sizes = &slice->attrs[IG_slice_sizes],
                  *steps = &slice->attrs[IG_slice_steps];
    ig_dim counts[2] = { f->samples.count, f->samples.other };
    if (slice->operand_count > 1 || starts->kind != IG_ATTR_DIMS ||
        (steps->kind == IG_ATTR_INTS && steps->as.ints[0] != 1)) {
        return false;
    }
    for (int i = 0; i < 1 + f->samples.has_other; i++) {
        ig_dim keys = ig_dim_exact_div(f->module, starts->as.dims[0], counts[i]);
        ig_dim more = ig_dim_add(f->module, counts[i], ig_dim_of(1));
        int64_t key;
        bool is_start = ig_dim_is(starts->as.dims[0], 0) || ig_dim_known(keys, &key);
        if (is_start && (ig_dim_same(sizes->as.dims[0], counts[i]) ||
                         ig_dim_same(sizes->as.dims[0], more))) {
            return true;
        }
    }
    return false;
}

/* Do bags begin in the jagged data that the ids, and weights, are of? */
static bool is_jagged_feature(const finder *f, const ig_op *bag,
                              const ig_bag_feature *feature) {
    const known *begins = known_of(f, bag->operands[feature->begins].value),
                *ids = known_of(f, bag->operands[feature->ids].value);
    const known *weights = feature->weights
                               ? known_of(f, bag->operands[feature->weights].value)
                               : ids;
    return (begins->kind == KIND_BEGINS || begins->kind == KIND_PART) &&
           ids->kind == KIND_IDS && ids->input == begins->input &&
           weights->kind == KIND_IDS && weights->input == begins->input &&
           !feature->ends && feature->pool != IG_POOL_none;
}

static bool keeps_feature(finder *f, const ig_op *bag, uint32_t index) {
    ig_bag_feature feature = ig_bag_feature_at(bag, index);
    const ig_value *result = &bag->results[index],
                   *ids = bag->operands[feature.ids].value;
    for (uint32_t i = 0; i < feature.tables; i++) {
        if (known_of(f, bag->operands[feature.table + i].value)->kind != KIND_SHARED) {
            return false;
        }
    }
    int64_t rows = 1;
    if (!feature.begins) {
        rows = ig_samples_rows(&f->samples, ids);
        const ig_value *weights = feature.weights ? bag->operands[feature.weights].value
                                                  : ids;
        if (!rows || ig_samples_rows(&f->samples, weights) != rows) {
            return false;
        }
    } else if (!is_jagged_feature(f, bag, &feature)) {
        return false;
    }
    if (!ig_samples_have(&f->samples, result, rows) ||
        !is_type_free(f, result->type, 1)) {
        return false;
    }
    ig_samples_set(&f->samples, result, rows);
    set_kind(f, result, KIND_SAMPLES, 0);
    return true;
}

static void walk_bag(finder *f, const ig_op *bag) {
    bool is_whole = ig_attr_int(bag, IG_bag_whole, 0) != 0;
    for (uint32_t i = 0; i < bag->result_count && !is_whole; i++) {
        if (!keeps_feature(f, bag, i)) {
            set_kind(f, &bag->results[i], KIND_MIXED, 0);
        }
    }
}

/* ---- other ops ---- */

/* Jagged arguments through casts, sums of lengths, parts of these.  False: none. */
static bool walk_jagged(const finder *f, const ig_op *op) {
    known from = op->operand_count ? *known_of(f, op->operands[0].value)
                                   : (known){ KIND_MIXED, 0 };
    value_kind to = KIND_MIXED;
    if (from.kind < KIND_IDS || op->result_count != 1) {
        return false;
    }
    if (op->code == IG_OP_cast) {
        to = from.kind;
    } else if (op->code == IG_OP_cumsum && from.kind == KIND_LENGTHS &&
               ig_attr_int(op, IG_cumsum_complete, 0) &&
               !ig_attr_int(op, IG_cumsum_reverse, 0)) {
        to = KIND_SUMS;
    } else if (op->code == IG_OP_slice && from.kind == KIND_SUMS && is_part(f, op)) {
        to = KIND_PART;
    }
    set_kind(f, op->results, to, from.input);
    return true;
}

static bool are_operands(const finder *f, const ig_op *op, value_kind kind) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (known_of(f, op->operands[i].value)->kind != kind) {
            return false;
        }
    }
    return true;
}

/* Of shared values: shared, or one row that each sample gets. */
static void walk_shared(finder *f, const ig_op *op) {
    bool is_free = op->body_count == 0 && are_attrs_free(f, op, -1);
    for (uint32_t i = 0; i < op->result_count; i++) {
        is_free = is_free && is_type_free(f, op->results[i].type, 0);
    }
    if (is_free) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            set_kind(f, &op->results[i], KIND_SHARED, 0);
        }
        return;
    }
    if (op->code != IG_OP_expand || op->operand_count != 1 ||
        !are_attrs_free(f, op, IG_expand_to) ||
        !is_type_free(f, op->results->type, 1) ||
        !ig_samples_have(&f->samples, op->results, 1)) {
        return;
    }
    const ig_type *from = op->operands[0].value->type;
    if (from->rank < op->results->type->rank || ig_dim_is(from->dims[0], 1)) {
        ig_samples_set(&f->samples, op->results, 1);
        set_kind(f, op->results, KIND_SAMPLES, 0);
    }
}

/* Made sample by sample, of values made so and values that all share. */
static void walk_samples(finder *f, const ig_op *op) {
    ig_row_use use = { .operands = IG_NEW_ARRAY(f->run->scratch, int64_t,
                                                op->operand_count + 1u) };
    if (!ig_op_keeps_samples(&f->samples, op, &use) ||
        !are_attrs_free(f, op, use.dims) || !is_type_free(f, op->results->type, 1)) {
        return;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        value_kind kind = known_of(f, op->operands[i].value)->kind;
        if (kind != (use.operands[i] ? KIND_SAMPLES : KIND_SHARED)) {
            return;
        }
    }
    ig_samples_set(&f->samples, op->results, use.rows);
    set_kind(f, op->results, KIND_SAMPLES, 0);
}

static void walk_op(finder *f, const ig_op *op) {
    uint32_t effects = ig_ops[op->code].traits & (uint32_t) ~(IG_MAP | IG_MAY_TRAP);
    bool is_head = op->code == IG_OP_weight || op->code == IG_OP_table;
    for (uint32_t i = 0; i < op->result_count; i++) {
        set_kind(f, &op->results[i], is_head ? KIND_SHARED : KIND_MIXED, 0);
    }
    if (is_head || (effects & (IG_STATE | IG_TERMINATOR))) {
        return;
    }
    if (op->code == IG_OP_bag) {
        walk_bag(f, op);
    } else if (!walk_jagged(f, op)) {
        if (are_operands(f, op, KIND_SHARED)) {
            walk_shared(f, op);
        } else {
            walk_samples(f, op);
        }
    }
}

/* ---- the roles ---- */

static ig_role role_of(const finder *f, const ig_value *value) {
    static const ig_role roles[] = {
        [KIND_SHARED] = IG_ROLE_OF_shared,       [KIND_SAMPLES] = IG_ROLE_OF_rows,
        [KIND_IDS] = IG_ROLE_OF_key_values,      [KIND_BEGINS] = IG_ROLE_OF_offsets,
        [KIND_LENGTHS] = IG_ROLE_OF_key_lengths,
    };
    value_kind kind = known_of(f, value)->kind;
    bool is_row = kind != KIND_SAMPLES || ig_samples_rows(&f->samples, value) == 1;
    return kind < IG_COUNT_OF(roles) && is_row ? roles[kind] : IG_ROLE_OF_none;
}

/* Of offsets and lengths, the first input of ids that goes with them. */
static int64_t partner_of(const finder *f, const ig_value *arg) {
    const known *is = known_of(f, arg);
    if (is->kind == KIND_IDS) {
        return is->input;
    }
    for (uint32_t i = 0; is->kind > KIND_IDS && i < f->graph->body.arg_count; i++) {
        const known *other = known_of(f, f->graph->body.args[i]);
        if (other->kind == KIND_IDS && other->input == arg->index) {
            return i;
        }
    }
    return -1;
}

/* Does an input say how many rows there are: by its own, by lengths or offsets of which
 * each row has a known number, or by offsets that end with the last one's end? */
static bool says_batch(const finder *f, const ig_value *arg, int64_t role) {
    if (role == IG_ROLE_OF_rows) {
        return true;
    }
    if (role != IG_ROLE_OF_key_lengths && role != IG_ROLE_OF_offsets) {
        return false;
    }
    ig_dim extent = arg->type->dims[0], count = f->samples.count;
    int64_t keys;
    return ig_dim_known(ig_dim_exact_div(f->module, extent, count), &keys) ||
           (role == IG_ROLE_OF_offsets &&
            ig_dim_same(extent, ig_dim_add(f->module, count, ig_dim_of(1))));
}

static void state_roles(finder *f, ig_op *ret) {
    uint32_t args = f->graph->body.arg_count, count = args + ret->operand_count;
    int64_t *roles = IG_NEW_ARRAY(f->run->scratch, int64_t, count + 1u),
            *partners = IG_NEW_ARRAY(f->run->scratch, int64_t, count + 1u);
    bool says_rows = false;
    for (uint32_t i = 0; i < count; i++) {
        const ig_value *value = i < args ? f->graph->body.args[i]
                                         : ret->operands[i - args].value;
        roles[i] = role_of(f, value);
        partners[i] = i < args ? partner_of(f, value) : -1;
        says_rows = says_rows || (i < args && says_batch(f, value, roles[i]));
        bool is_good = i < args ? roles[i] != IG_ROLE_OF_none
                                : roles[i] == IG_ROLE_OF_rows ||
                                      roles[i] == IG_ROLE_OF_shared;
        if (!is_good) {
            return;
        }
    }
    ig_attr all = ig_attr_of_ints(f->module, roles, count);
    if (says_rows && !ig_attr_equal(&all, &ret->attrs[IG_ret_roles])) {
        ig_attr_set(ret, IG_ret_roles, all);
        ig_attr_set(ret, IG_ret_partners, ig_attr_of_ints(f->module, partners, count));
        f->run->changed = true;
    }
}

/* The batch, by both names that an entry guard gives it. */
static bool find_batch(finder *f, const ig_op *ret) {
    const ig_type *first = ret->operand_count ? ret->operands[0].value->type : NULL;
    if (!first || first->kind != IG_TENSOR || first->rank == 0 ||
        ig_dim_is_static(first->dims[0])) {
        return false;
    }
    f->samples.count = first->dims[0];
    for (const ig_op *op = f->graph->body.first; op; op = op->next) {
        if (op->code != IG_OP_guard || ig_attr_int(op, IG_guard_test, 0) != 0) {
            continue;
        }
        ig_dim left = op->attrs[IG_guard_left].as.dim,
               right = op->attrs[IG_guard_right].as.dim;
        bool is_left = ig_dim_same(left, f->samples.count);
        if (is_left || ig_dim_same(right, f->samples.count)) {
            f->samples.other = is_left ? right : left;
            f->samples.has_other = true;
            ig_dim_visit_symbols(f->module, f->samples.other, mark_symbol, f);
        }
    }
    ig_dim_visit_symbols(f->module, f->samples.count, mark_symbol, f);
    return true;
}

ig_status ig_pass_roles(ig_pass_run *run, ig_graph *graph) {
    finder f = { .run = run,
                 .graph = graph,
                 .module = graph->module,
                 .samples = { .module = graph->module },
                 .symbols = ig_symbol_count(graph->module) };
    ig_op *ret = graph->body.last;
    assert(ret && ret->code == IG_OP_ret && "verified: entry graphs end in ret");
    f.of = IG_NEW_ARRAY(run->scratch, known, graph->value_count + 1u);
    f.is_batch = IG_NEW_ARRAY(run->scratch, bool, f.symbols + 1u);
    ig_map_init(&f.samples.rows, run->scratch);
    if (!find_batch(&f, ret)) {
        return IG_OK;
    }
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        set_kind(&f, graph->body.args[i], KIND_SHARED, 0);
    }
    find_jagged(&f);
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        const ig_value *arg = graph->body.args[i];
        if (known_of(&f, arg)->kind >= KIND_IDS) {
            ig_dim_visit_symbols(f.module, arg->type->dims[0], mark_symbol, &f);
        }
    }
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        settle_argument(&f, graph->body.args[i]);
    }
    for (const ig_op *op = graph->body.first; op != ret; op = op->next) {
        walk_op(&f, op);
    }
    state_roles(&f, ret);
    return IG_OK;
}
