/* What values with their channels first are made of, when those were last before.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 64, 28, 28]
 *     %2 = relu %1
 *   becomes
 *     %1 = relu %0 : f32[B, 28, 28, 64]
 *     %2 = transpose %1 {perm = [0, 3, 1, 2]} : f32[B, 64, 28, 28]
 *
 * for elementwise ops, pads, concats, pools, reductions, slices, look-ups along an
 * axis, axes of space that change places, reshapes that make space one axis or part it,
 * norms of groups, and those that deal channels out to space:
 * all operands were brought back so, or turning them moves nothing.
 */
#include "passes/place/channels.h"

#include "ir/semantics/window.h"

#include <assert.h>
#include <string.h>

enum { MAX_OPERANDS = 4 }; /* of an elementwise op */

/* What `value`, channels first, was before; NULL: it was not brought back. */
static ig_value *before_turn(const ig_value *value) {
    const ig_op *op = ig_def(value, IG_OP_transpose);
    uint32_t rank = value->type->rank;
    if (!op || rank < 3) {
        return NULL;
    }
    const int64_t *perm = op->attrs[IG_transpose_perm].as.ints;
    bool is_turn = perm[0] == 0 && perm[1] == rank - 1;
    for (uint32_t d = 2; d < rank; d++) {
        is_turn = is_turn && perm[d] == d - 1;
    }
    return is_turn ? op->operands[0].value : NULL;
}

/* Where axis `d` of a value with channels first is in one with channels last. */
static uint32_t turn_axis(uint32_t d, uint32_t rank) {
    return d == 0 ? 0 : d == 1 ? rank - 1 : d - 1;
}

/* Entries by axis, channels first, as those of channels last. */
static void turn_dims(const ig_dim *from, uint32_t rank, ig_dim *out) {
    for (uint32_t d = 0; d < rank; d++) {
        out[turn_axis(d, rank)] = from[d];
    }
}

/* ---- elementwise ---- */

/* Does bringing channels last leave the elements in order, for a value broadcast to
 * `rank` axes? */
static bool turns_freely(const ig_type *type, uint32_t rank) {
    assert(rank >= 3 && rank >= type->rank && "axes of space after the channels");
    uint32_t missing = rank - type->rank;
    bool has_channels = missing < 2 && !ig_dim_is(type->dims[1 - missing], 1);
    bool has_space = false;
    for (uint32_t d = missing < 2 ? 2 : missing; d < rank; d++) {
        has_space = has_space || !ig_dim_is(type->dims[d - missing], 1);
    }
    return !has_channels || !has_space;
}

/* `value` for an op on values with channels last. */
static ig_value *turn_value(ig_expr *e, ig_value *value, uint32_t rank) {
    ig_value *before = value->type->rank == rank ? before_turn(value) : NULL;
    ig_dim dims[IG_TENSOR_RANK], turned[IG_TENSOR_RANK];
    uint32_t missing = rank - value->type->rank;
    if (before || value->type->rank == 0) {
        return before ? before : value;
    }
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = d < missing ? ig_dim_of(1) : value->type->dims[d - missing];
    }
    turn_dims(dims, rank, turned);
    return ig_expr_reshape(e, value, rank, turned);
}

static ig_value *map_of_turn(ig_builder *b, ig_op *op) {
    if (!(ig_ops[op->code].traits & IG_MAP) || op->result_count != 1 ||
        op->operand_count > MAX_OPERANDS) {
        return NULL;
    }
    uint32_t rank = op->results->type->rank, turned = 0;
    if (rank < 3) { /* values without space axes are not turned */
        return NULL;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *x = op->operands[i].value;
        bool is_turned = x->type->rank == rank && before_turn(x);
        if (!is_turned && x->type->rank > 0 && !turns_freely(x->type, rank)) {
            return NULL;
        }
        turned += is_turned;
    }
    if (turned == 0) {
        return NULL;
    }
    ig_value *operands[MAX_OPERANDS];
    ig_expr e = ig_expr_of(b);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        operands[i] = turn_value(&e, op->operands[i].value, rank);
    }
    ig_value *y = ig_expr_make(&e, (ig_opcode)op->code, operands, op->operand_count,
                               op->attrs);
    return ig_channels_to_first(&e, y);
}

/* By numbers, or by vectors along the channels; it is still a row here. */
static ig_value *dequantize_of_turn(ig_builder *b, ig_op *op) {
    ig_value *x = before_turn(op->operands[0].value);
    ig_dequantize_attrs attrs = ig_dequantize_attrs_of(op);
    bool can_turn = x && !attrs.block.is_set;
    for (uint32_t i = 1; i < op->operand_count; i++) {
        uint32_t rank = op->operands[i].value->type->rank;
        can_turn = can_turn && (rank == 0 || (rank == 1 && attrs.axis.is_set));
    }
    if (!can_turn) {
        return NULL;
    }
    if (attrs.axis.is_set) {
        int64_t rank = x->type->rank, axis = attrs.axis.value;
        attrs.axis.value = turn_axis((uint32_t)(axis < 0 ? axis + rank : axis),
                                     (uint32_t)rank);
    }
    ig_expr e = ig_expr_of(b);
    ig_value *zero = op->operand_count > 2 ? op->operands[2].value : NULL;
    ig_value *y = ig_build_dequantize(&e, x, op->operands[1].value, zero, attrs);
    return ig_channels_to_first(&e, y);
}

/* ---- ops that move elements ---- */

static ig_value *pad_of_turn(ig_builder *b, ig_op *op) {
    ig_value *x = before_turn(op->operands[0].value);
    if (!x || op->operand_count > 2 || !ig_attr_is_set(op, IG_pad_before)) {
        return NULL;
    }
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    uint32_t rank = x->type->rank;
    turn_dims(op->attrs[IG_pad_before].as.dims, rank, before);
    turn_dims(op->attrs[IG_pad_after].as.dims, rank, after);
    ig_pad_attrs attrs = ig_pad_attrs_of(op);
    attrs.before = (ig_dims){ before, rank };
    attrs.after = (ig_dims){ after, rank };
    ig_value *value = op->operand_count > 1 ? op->operands[1].value : NULL;
    ig_expr e = ig_expr_of(b);
    return ig_channels_to_first(&e, ig_build_pad(&e, x, value, NULL, NULL, attrs));
}

static ig_value *concat_of_turns(ig_builder *b, ig_op *op) {
    ig_module *module = ig_op_module(op);
    int64_t axis = ig_attr_int(op, IG_concat_axis, 0);
    uint32_t rank = op->results->type->rank;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!before_turn(op->operands[i].value)) {
            return NULL;
        }
    }
    ig_value **values = IG_NEW_ARRAY(&module->arena, ig_value *, op->operand_count);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        values[i] = before_turn(op->operands[i].value);
    }
    axis = axis < 0 ? axis + rank : axis;
    ig_expr e = ig_expr_of(b);
    ig_value *y = ig_expr_concat(&e, turn_axis((uint32_t)axis, rank), values,
                                 op->operand_count);
    return ig_channels_to_first(&e, y);
}

static ig_value *slice_of_turn(ig_builder *b, ig_op *op) {
    ig_value *x = before_turn(op->operands[0].value);
    if (!x || op->operand_count > 1) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    ig_dim starts[IG_TENSOR_RANK], sizes[IG_TENSOR_RANK];
    int64_t steps[IG_TENSOR_RANK];
    turn_dims(op->attrs[IG_slice_starts].as.dims, rank, starts);
    turn_dims(op->attrs[IG_slice_sizes].as.dims, rank, sizes);
    const ig_attr *by = &op->attrs[IG_slice_steps];
    for (uint32_t d = 0; d < rank; d++) {
        steps[turn_axis(d, rank)] = by->kind == IG_ATTR_NONE ? 1 : by->as.ints[d];
    }
    ig_expr e = ig_expr_of(b);
    return ig_channels_to_first(&e, ig_expr_slices(&e, x, starts, sizes, steps));
}

/* Rows that ids of one axis choose. */
static ig_value *gather_of_turn(ig_builder *b, ig_op *op) {
    ig_value *x = before_turn(op->operands[0].value);
    if (!x || op->operands[1].value->type->rank != 1) {
        return NULL;
    }
    int64_t axis = ig_attr_int(op, IG_gather_axis, 0);
    uint32_t rank = x->type->rank;
    axis = axis < 0 ? axis + rank : axis;
    ig_gather_attrs attrs = ig_gather_attrs_of(op);
    attrs.axis = turn_axis((uint32_t)axis, rank);
    ig_expr e = ig_expr_of(b);
    ig_value *y = ig_build_gather(&e, x, op->operands[1].value, attrs);
    return ig_channels_to_first(&e, y);
}

/* Axes of space that change places. */
static ig_value *transpose_of_turn(ig_builder *b, ig_op *op) {
    ig_value *x = before_turn(op->operands[0].value);
    const int64_t *perm = op->attrs[IG_transpose_perm].as.ints;
    int64_t turned[IG_TENSOR_RANK];
    if (!x || perm[0] != 0 || perm[1] != 1) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    for (uint32_t d = 0; d < rank; d++) {
        turned[turn_axis(d, rank)] = turn_axis((uint32_t)perm[d], rank);
    }
    ig_expr e = ig_expr_of(b);
    return ig_channels_to_first(&e, ig_expr_transpose(&e, x, turned));
}

/* Rows are chosen where they lie, before axes in front of the last change places: what
 * an id chooses stays whole. */
static ig_value *gather_of_transpose(ig_builder *b, ig_op *op) {
    const ig_op *turn = ig_def(op->operands[0].value, IG_OP_transpose);
    const ig_type *type = op->operands[0].value->type;
    if (!turn || type->rank < 2 || op->operands[1].value->type->rank != 1) {
        return NULL;
    }
    const int64_t *perm = turn->attrs[IG_transpose_perm].as.ints;
    int64_t last = type->rank - 1, axis = ig_attr_int(op, IG_gather_axis, 0);
    axis = axis < 0 ? axis + type->rank : axis;
    if (perm[last] != last || axis == last) {
        return NULL;
    }
    ig_gather_attrs attrs = ig_gather_attrs_of(op);
    attrs.axis = perm[axis];
    ig_expr e = ig_expr_of(b);
    ig_value *y = ig_build_gather(&e, turn->operands[0].value, op->operands[1].value,
                                  attrs);
    return ig_expr_transpose(&e, y, perm);
}

/* [N, C, s…] to [N, C, product of s]. */
static ig_value *reshape_of_turn(ig_builder *b, ig_op *op) {
    ig_module *module = ig_op_module(op);
    ig_value *x = before_turn(op->operands[0].value);
    const ig_type *to = op->results->type, *from = op->operands[0].value->type;
    if (!x || op->operand_count > 1 || to->rank != 3 || from->rank < 4 ||
        ig_dim_equal(module, to->dims[0], from->dims[0]) != IG_YES ||
        ig_dim_equal(module, to->dims[1], from->dims[1]) != IG_YES) {
        return NULL;
    }
    ig_dim dims[3] = { to->dims[0], to->dims[2], to->dims[1] };
    ig_expr e = ig_expr_trying(b);
    ig_value *y = ig_expr_reshape(&e, x, 3, dims);
    return y ? ig_channels_to_first(&e, y) : NULL;
}

/* [N, C, product of s] to [N, C, s…]. */
static ig_value *split_of_turn(ig_builder *b, ig_op *op) {
    ig_module *module = ig_op_module(op);
    ig_value *x = before_turn(op->operands[0].value);
    const ig_type *to = op->results->type, *from = op->operands[0].value->type;
    ig_dim dims[IG_TENSOR_RANK];
    if (!x || op->operand_count > 1 || from->rank != 3 || to->rank < 4 ||
        ig_dim_equal(module, to->dims[0], from->dims[0]) != IG_YES ||
        ig_dim_equal(module, to->dims[1], from->dims[1]) != IG_YES) {
        return NULL;
    }
    turn_dims(to->dims, to->rank, dims);
    ig_expr e = ig_expr_trying(b);
    ig_value *y = ig_expr_reshape(&e, x, to->rank, dims);
    return y ? ig_channels_to_first(&e, y) : NULL;
}

/* Parts of the channels that go into space: a reshape that parts them, a transpose, and
 * a reshape that joins parts with axes of space, as depth to space and transposed
 * convolutions have it. */
typedef struct shuffle {
    const ig_type *from, *parted, *to;
    const int64_t *perm;
    uint32_t space, parts; /* axes of space; parts of the channels */
} shuffle;

static bool read_shuffle(const ig_op *op, shuffle *out, ig_value **out_x) {
    const ig_op *turn = ig_def(op->operands[0].value, IG_OP_transpose);
    const ig_op *part = turn ? ig_def(turn->operands[0].value, IG_OP_reshape) : NULL;
    ig_module *module = ig_op_module(op);
    *out_x = part ? before_turn(part->operands[0].value) : NULL;
    if (!*out_x || op->operand_count > 1 || part->operand_count > 1) {
        return false;
    }
    *out = (shuffle){ .from = part->operands[0].value->type,
                      .parted = part->results->type,
                      .to = op->results->type,
                      .perm = turn->attrs[IG_transpose_perm].as.ints };
    if (out->from->rank != out->to->rank || out->parted->rank <= out->from->rank) {
        return false;
    }
    out->space = out->from->rank - 2u;
    out->parts = out->parted->rank - 1u - out->space;
    bool is_shuffle = out->perm[0] == 0 && ig_dim_equal(module, out->to->dims[0],
                                                        out->from->dims[0]) == IG_YES;
    for (uint32_t d = 0; d <= out->space; d++) {
        uint32_t own = d == 0 ? 0 : 1 + d, at = d == 0 ? 0 : out->parts + d;
        is_shuffle = is_shuffle && ig_dim_equal(module, out->parted->dims[at],
                                                out->from->dims[own]) == IG_YES;
    }
    return is_shuffle;
}

/* Where axis `at` of the parted value is when space comes first. */
static int64_t place_part(const shuffle *s, int64_t at) {
    int64_t parts = s->parts, space = s->space;
    return at == 0 ? 0 : at <= parts ? space + at : at - parts;
}

/* How many of the transposed axes from `first` on are axis `axis` of the result; 0:
 * they are not, or not with their own axis of space. */
static uint32_t count_joined(ig_module *module, const shuffle *s, uint32_t first,
                             uint32_t axis) {
    ig_dim product = ig_dim_of(1);
    uint32_t own = 0, others = 0;
    for (uint32_t i = first; i < s->parted->rank; i++) {
        uint32_t at = (uint32_t)s->perm[i];
        product = ig_dim_mul(module, product, s->parted->dims[at]);
        own += at > s->parts && at - s->parts == axis - 1;
        others += at > s->parts && at - s->parts != axis - 1;
        bool is_whole = others == 0 && own == (axis > 1) &&
                        ig_dim_equal(module, product, s->to->dims[axis]) == IG_YES;
        if (is_whole) {
            return i + 1 - first;
        }
    }
    return 0;
}

static ig_value *shuffle_of_turn(ig_builder *b, ig_op *op) {
    shuffle s;
    ig_value *x;
    ig_module *module = ig_op_module(op);
    if (!read_shuffle(op, &s, &x)) {
        return NULL;
    }
    uint32_t rank = s.parted->rank, channels = count_joined(module, &s, 1, 1);
    uint32_t at = 1 + channels, to = 1;
    int64_t perm[IG_TENSOR_RANK] = { 0 };
    ig_dim dims[IG_TENSOR_RANK], turned[IG_TENSOR_RANK];
    for (uint32_t axis = 2; channels && axis < s.to->rank; axis++) {
        uint32_t count = count_joined(module, &s, at, axis);
        for (uint32_t i = 0; i < count; i++) {
            perm[to++] = place_part(&s, s.perm[at++]);
        }
        channels = count ? channels : 0;
    }
    if (channels == 0 || at != rank) {
        return NULL;
    }
    for (uint32_t i = 1; i <= channels; i++) {
        perm[to++] = place_part(&s, s.perm[i]);
    }
    for (uint32_t i = 0; i < rank; i++) {
        dims[place_part(&s, i)] = s.parted->dims[i];
    }
    turn_dims(s.to->dims, s.to->rank, turned);
    ig_expr e = ig_expr_trying(b);
    ig_value *y = ig_expr_transpose(&e, ig_expr_reshape(&e, x, rank, dims), perm);
    y = ig_expr_reshape(&e, y, s.to->rank, turned);
    return y ? ig_channels_to_first(&e, y) : NULL;
}

/* ---- pools and reductions ---- */

static ig_ints with_one(ig_ints from, int64_t *to, uint32_t space) {
    if (from.count == 0) {
        return from;
    }
    memcpy(to, from.items, space * sizeof *to);
    to[space] = 1;
    return (ig_ints){ to, space + 1 };
}

static ig_dims with_none(ig_dims from, ig_dim *to, uint32_t space) {
    if (from.count == 0) {
        return from;
    }
    memcpy(to, from.items, space * sizeof *to);
    to[space] = ig_dim_of(0);
    return (ig_dims){ to, space + 1 };
}

/* Channels are one axis of space more, along which windows have one element. */
static ig_value *pool_of_turn(ig_builder *b, ig_op *op) {
    ig_value *x = before_turn(op->operands[0].value);
    uint32_t rank = x ? x->type->rank : 0, space = rank - 2;
    if (!x || space + 1 > IG_WINDOW_RANK || ig_attr_int(op, IG_pool_ceil_mode, 0)) {
        return NULL;
    }
    int64_t kernel[IG_WINDOW_RANK], strides[IG_WINDOW_RANK], dilations[IG_WINDOW_RANK];
    ig_dim before[IG_WINDOW_RANK], after[IG_WINDOW_RANK];
    ig_pool_attrs attrs = ig_pool_attrs_of(op);
    attrs.kernel = with_one(attrs.kernel, kernel, space);
    attrs.strides = with_one(attrs.strides, strides, space);
    attrs.dilations = with_one(attrs.dilations, dilations, space);
    attrs.before = with_none(attrs.before, before, space);
    attrs.after = with_none(attrs.after, after, space);
    ig_expr e = ig_expr_of(b);
    ig_value *y = ig_build_pool(&e, ig_expr_unsqueeze(&e, x, 1), attrs);
    return ig_channels_to_first(&e, ig_expr_squeeze(&e, y, 1));
}

static ig_value *reduce_of_turn(ig_builder *b, ig_op *op) {
    ig_value *x = before_turn(op->operands[0].value);
    const ig_attr *axes = &op->attrs[IG_reduce_axes];
    if (!x || op->operand_count > 1 || axes->kind == IG_ATTR_NONE || axes->count == 0) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    int64_t turned[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < axes->count; i++) {
        int64_t axis = axes->as.ints[i];
        turned[i] = turn_axis((uint32_t)(axis < 0 ? axis + rank : axis), rank);
    }
    ig_expr e = ig_expr_of(b);
    ig_reduce kind = (ig_reduce)ig_attr_int(op, IG_reduce_op, 0);
    ig_value *y = ig_expr_reduce(&e, kind, x, turned, axes->count, true);
    y = ig_channels_to_first(&e, y);
    const ig_type *type = op->results->type;
    return ig_attr_int(op, IG_reduce_keep, 0)
               ? y
               : ig_expr_reshape(&e, y, type->rank, type->dims);
}

/* ---- norms ---- */

/* x, channels last, in `groups` groups that are normalised; brought back. */
static ig_value *normalise_groups(ig_expr *e, ig_value *x, int64_t groups,
                                  const ig_op *norm) {
    double epsilon = ig_attr_float(norm, IG_layer_norm_epsilon, 0);
    ig_group_norm_last_attrs attrs = { .groups = groups, .epsilon = epsilon };
    return ig_build_group_norm_last(e, x, attrs);
}

/* Rows of f32 [N, groups, …] that are normalised, without factors; *out_groups of
 * them. */
static bool is_plain_norm(const ig_op *norm, const ig_value *x, int64_t *out_groups) {
    const ig_type *type = norm->results->type;
    int64_t channels;
    return type->rank == 3 && type->dtype == IG_DT_f32 && norm->operand_count == 1 &&
           ig_attr_int(norm, IG_layer_norm_axis, 0) == 2 &&
           !ig_attr_int(norm, IG_layer_norm_rms, 0) &&
           ig_dim_known(type->dims[1], out_groups) && *out_groups > 0 &&
           ig_dim_known(x->type->dims[x->type->rank - 1u], &channels) && channels > 0 &&
           channels % *out_groups == 0;
}

/* Each channel by itself. */
static ig_value *norm_of_turn(ig_builder *b, ig_op *op) {
    ig_value *x = before_turn(op->operands[0].value);
    int64_t groups;
    if (!x || !is_plain_norm(op, x, &groups)) {
        return NULL;
    }
    ig_expr e = ig_expr_of(b);
    return ig_channels_to_first(&e, normalise_groups(&e, x, groups, op));
}

enum { MAX_FACTORS = 2 };

/* What follows a norm of groups: sums and products with a number for each. */
typedef struct factors {
    const ig_op *ops[MAX_FACTORS];
    uint32_t count;
} factors;

/* The layer norm that `value` is made of. */
static const ig_op *find_norm(const ig_value *value, factors *out) {
    const ig_op *op = value->def;
    out->count = 0;
    while (op && (op->code == IG_OP_add || op->code == IG_OP_mul) &&
           out->count < MAX_FACTORS) {
        const ig_type *type = op->operands[1].value->type;
        if (type->rank != 2 || !ig_dim_is(type->dims[1], 1)) {
            return NULL;
        }
        out->ops[out->count++] = op;
        op = op->operands[0].value->def;
    }
    return op && op->code == IG_OP_layer_norm ? op : NULL;
}

/* Each group is a row (compose/norm.c): a reshape to those, and one back. */
static ig_value *group_norm_of_turn(ig_builder *b, ig_op *op) {
    factors own;
    const ig_op *norm = find_norm(op->operands[0].value, &own);
    const ig_op *rows = norm ? ig_def(norm->operands[0].value, IG_OP_reshape) : NULL;
    ig_value *x = rows ? before_turn(rows->operands[0].value) : NULL;
    ig_module *module = ig_op_module(op);
    int64_t groups;
    if (!x || !is_plain_norm(norm, x, &groups) ||
        op->results->type != rows->operands[0].value->type ||
        ig_dim_equal(module, norm->results->type->dims[0], x->type->dims[0]) !=
            IG_YES) {
        return NULL;
    }
    ig_expr e = ig_expr_of(b);
    ig_dim channels = x->type->dims[x->type->rank - 1u];
    ig_dim dims[] = { ig_dim_of(groups),
                      ig_dim_exact_div(module, channels, ig_dim_of(groups)) };
    ig_value *y = normalise_groups(&e, x, groups, norm);
    while (own.count > 0) {
        const ig_op *next = own.ops[--own.count];
        ig_value *each = ig_expr_expand(&e, next->operands[1].value, 2, dims);
        y = ig_expr_map2(&e, (ig_opcode)next->code, y, ig_expr_flatten(&e, each));
    }
    return ig_channels_to_first(&e, y);
}

const ig_rule ig_channels_rules[] = {
    RULE(pad, pad_of_turn),
    RULE(concat, concat_of_turns),
    RULE(slice, slice_of_turn),
    RULE(gather, gather_of_turn),
    RULE(transpose, transpose_of_turn),
    RULE(gather, gather_of_transpose),
    RULE(reshape, reshape_of_turn),
    RULE(reshape, shuffle_of_turn),
    RULE(reshape, split_of_turn),
    RULE(reshape, group_norm_of_turn),
    RULE(layer_norm, norm_of_turn),
    RULE(pool, pool_of_turn),
    RULE(reduce, reduce_of_turn),
    RULE(dequantize, dequantize_of_turn),
    RULE_OF_ANY(map_of_turn),
};

const size_t ig_channels_rule_count = sizeof ig_channels_rules /
                                      sizeof *ig_channels_rules;
