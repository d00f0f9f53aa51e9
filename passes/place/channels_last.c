/* channels_last: convolutions, and ops between them, take channels last.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = conv %0, @w, @b : f32[B, 64, 28, 28]               w: f32[64, 32, 3, 3]
 *     %2 = relu %1
 *   becomes
 *     %1 = transpose %0 {perm = [0, 2, 3, 1]}
 *     %2 = conv_panels %1, @w.conv1 {kernel = [3, 3], columns = 64}
 *     %3 = relu (add %2, @b) : f32[B, 28, 28, 64]
 *     %4 = transpose %3 {perm = [0, 3, 1, 2]} : f32[B, 64, 28, 28]
 *
 * A pixel's channels are then contiguous: a convolution is a matrix product over
 * windows (lower/cpu/conv_panels.c), with weights in panels, and a depthwise one goes
 * over channels in vectors (conv_channels.c), which takes its padding in too, and the
 * widening of bytes.  A convolution over panels takes them in too where a tap's
 * channels are enough for a run of their own: the zeros are not in memory then.
 * Transposes sink through ops between convolutions (channels_sink.c) until they meet
 * and cancel; those at the ends of the graph stay.
 *
 * Weights that are computed are packed by the run, where that pays, and where there is
 * more to sum up than one pass of the product takes: up to there the schedule of those
 * that stay (lower/serial/conv.c) sums in the same order.  So a layer gives the same
 * bits whether its weights are constants or arguments.
 *
 * A product at single pixels between channels that are few, with no other convolution
 * near it, stays as it is: the two transposes would take longer than they save.
 *
 * Those of f16 and bf16 are f32's between casts, of the weights by their recipe.
 * Convolutions of bytes in groups become conv_quads (channels_bytes.c).  Others that
 * are not f32, or of few channels a group, stay as they are.
 *
 * Needs decompose.  Keeps the results, but for the order of sums.
 */
#include "passes/place/channels.h"

#include "ir/families.h"
#include "ir/semantics/panels.h"
#include "ir/semantics/window.h"
#include "passes/place/pack.h"

#include <assert.h>
#include <string.h>

enum {
    FEW_COLUMNS = 4,       /* a panel of 16 of which fewer are used does not pay */
    FEW_CHANNELS = 4,      /* the same of vectors */
    PAYING_CHANNELS = 32,  /* of a group, for packing in each run, */
    PAYING_POSITIONS = 64, /* and of the result */
    PAYING_PRODUCTS = 64,  /* of a channel, for turning it from and to its place */
    PAYING_VECTORS = 32,   /* bytes, of rows of an image that are not turned */
    NEIGHBOURS = 64,       /* of a convolution on its own, at most */
    PAYING_RUN = 16,       /* of neighbours, for windows that see zeros not in memory */
};

ig_value *ig_channels_to_last(ig_expr *e, ig_value *x) {
    assert(x->type->rank > 2 && "images, channels and space");
    return ig_expr_move_axis(e, x, 1, x->type->rank - 1);
}

ig_value *ig_channels_to_first(ig_expr *e, ig_value *x) {
    assert(x->type->rank > 2 && "images, space and channels");
    return ig_expr_move_axis(e, x, x->type->rank - 1, 1);
}

void ig_channels_replace(ig_pass_run *run, ig_expr *e, ig_op *op, ig_value *y) {
    y = ig_channels_to_first(e, y);
    if (y->type != op->results->type) {
        ig_value_retype(y, op->results->type);
    }
    y->name = op->results->name;
    ig_value_replace(op->results, y);
    ig_op_erase(op);
    run->changed = true;
}

/* ---- which convolutions ---- */

typedef struct convolution {
    ig_op *op;
    int64_t group, outs, ins; /* of a group */
    uint32_t space;
    bool is_winograd;
} convolution;

static bool has_padding(const ig_op *op) {
    return ig_attr_is_set(op, IG_conv_before) || ig_attr_is_set(op, IG_conv_after);
}

/* The op over panels has its window as attributes, of 31 bits. */
static bool has_small_window(const ig_type *w) {
    bool is_small = true;
    for (uint32_t d = 2; d < w->rank; d++) {
        int64_t extent = ig_dim_value(w->dims[d]);
        is_small = is_small && extent >= 1 && extent <= INT32_MAX;
    }
    return is_small;
}

static bool read_convolution(ig_op *op, convolution *out) {
    const ig_type *x = op->operands[0].value->type, *w = op->operands[1].value->type;
    bool is_float = x->dtype == IG_DT_f32 || ig_pack_is_narrow((ig_dtype)x->dtype);
    if (op->code != IG_OP_conv || !is_float || has_padding(op) ||
        ig_attr_int(op, IG_conv_transposed, 0) || !ig_type_is_static(w) ||
        !has_small_window(w) || 2 * x->rank > IG_WINDOW_RANK + 4) {
        return false;
    }
    int64_t group = ig_attr_int(op, IG_conv_group, 1);
    *out = (convolution){ .op = op,
                          .group = group,
                          .outs = ig_dim_value(w->dims[0]) / group,
                          .ins = ig_dim_value(w->dims[1]),
                          .space = x->rank - 2 };
    return out->outs > 0 && out->ins > 0;
}

static bool is_depthwise(const convolution *c) {
    return c->group >= FEW_CHANNELS && c->ins == 1 && c->outs == 1;
}

/* Has the window one element? */
static bool is_point(const convolution *c) {
    bool is_point = true;
    const ig_type *w = c->op->operands[1].value->type;
    for (uint32_t d = 2; d < w->rank; d++) {
        is_point = is_point && ig_dim_is(w->dims[d], 1);
    }
    return is_point;
}

/* Are panels full enough? */
static bool fills_panels(const convolution *c) {
    int64_t few = c->group > 1 ? IG_PANEL / 2 : is_point(c) ? 1 : FEW_COLUMNS;
    return c->outs >= few;
}

/* Has the result so few positions that vectors along them are not full? */
static bool has_few_positions(const convolution *c) {
    const ig_type *y = c->op->results->type;
    int64_t positions = 0;
    ig_dim all = ig_dim_product(ig_op_module(c->op), y->dims + 2, c->space);
    return ig_dim_constant(ig_op_module(c->op), all, &positions) &&
           positions < PAYING_POSITIONS;
}

/* For computed weights: is a weight packed by a run used often enough? */
static bool pays_each_run(const convolution *c) {
    ig_module *module = ig_op_module(c->op);
    const ig_type *w = c->op->operands[1].value->type;
    int64_t taps = ig_dim_value(ig_dim_product(module, w->dims + 2, c->space));
    if (is_depthwise(c)) {
        return false;
    }
    if (taps * c->ins > IG_PANEL_PASS) {
        return true;
    }
    return taps > 1 && c->ins >= PAYING_CHANNELS && !has_few_positions(c);
}

/* ---- convolutions on their own ---- */

/* Ops that depend on each other. */
typedef struct company {
    const ig_op *ops[NEIGHBOURS];
    uint32_t count, rank; /* rank: of images */
} company;

static bool is_constant_op(const ig_op *op) {
    return op->code == IG_OP_const || op->code == IG_OP_weight;
}

/* False for what channels last would be good for, and where there is no more room. */
static bool add_op(company *all, const ig_op *op) {
    if (!op || is_constant_op(op) || op->result_count == 0) {
        return true;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->ops[i] == op) {
            return true;
        }
    }
    bool is_turn = op->code == IG_OP_transpose && op->results->type->rank == all->rank;
    if (is_turn || op->body_count > 0 || all->count == NEIGHBOURS ||
        ig_op_family(op) == IG_FAMILY_conv || ig_op_family(op) == IG_FAMILY_pool ||
        op->code == IG_OP_conv_panels || op->code == IG_OP_conv_channels ||
        op->code == IG_OP_conv_winograd) {
        return false;
    }
    all->ops[all->count++] = op;
    return true;
}

static bool add_users(company *all, const ig_value *value) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        if (!add_op(all, use->user)) {
            return false;
        }
    }
    return true;
}

/* Is no other convolution, pool or turn of channels within reach? */
static bool is_alone(const ig_op *conv) {
    company all = { .ops = { conv }, .count = 1, .rank = conv->results->type->rank };
    for (uint32_t i = 0; i < all.count; i++) {
        const ig_op *op = all.ops[i];
        for (uint32_t k = 0; k < op->operand_count; k++) {
            const ig_value *x = op->operands[k].value;
            bool is_constant = x->def && is_constant_op(x->def);
            if (!add_op(&all, x->def) || (!is_constant && !add_users(&all, x))) {
                return false;
            }
        }
        for (uint32_t k = 0; k < op->result_count; k++) {
            if (!add_users(&all, &op->results[k])) {
                return false;
            }
        }
    }
    return !conv->block->parent;
}

/* Is it a product of many positions and so few channels that turning those twice takes
 * longer than lower/serial/conv.c loses? */
static bool is_better_off(const ig_target *target, const convolution *c) {
    const ig_value *w = c->op->operands[1].value;
    bool is_product = c->group == 1 && is_point(c) && w->def && is_constant_op(w->def);
    const ig_attr *strides = &c->op->attrs[IG_conv_strides];
    for (uint32_t d = 0; d < strides->count; d++) {
        is_product = is_product && strides->as.ints[d] == 1;
    }
    double products = (double)c->ins * (double)c->outs;
    double turned = (double)c->ins + (double)c->outs;
    return is_product && products <= PAYING_PRODUCTS * turned &&
           target->vector_bytes >= PAYING_VECTORS && !has_few_positions(c) &&
           is_alone(c->op);
}

/* ---- weights ---- */

/* [group * outs, ins, k…] -> panels [group * ceil(outs / 16), k… * ins, 16]. */
static ig_value *build_panels(ig_expr *e, const convolution *c, ig_value *w) {
    uint32_t rank = w->type->rank + 1;
    int64_t each = (c->outs + IG_PANEL - 1) / IG_PANEL, perm[IG_TENSOR_RANK];
    ig_dim dims[IG_TENSOR_RANK], before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    before[0] = before[1] = after[0] = ig_dim_of(0);
    after[1] = ig_dim_of(each * IG_PANEL - c->outs);
    dims[0] = ig_dim_of(c->group);
    dims[1] = ig_dim_of(c->outs);
    for (uint32_t d = 2; d < rank; d++) {
        dims[d] = w->type->dims[d - 1];
        before[d] = after[d] = ig_dim_of(0);
    }
    w = ig_expr_reshape(e, w, rank, dims);
    w = ig_expr_pad(e, w, before, after, IG_PAD_constant, 0);
    dims[0] = ig_dim_of(c->group * each);
    dims[1] = ig_dim_of(IG_PANEL);
    w = ig_expr_reshape(e, w, rank, dims);
    perm[0] = 0;
    for (uint32_t d = 3; d < rank; d++) {
        perm[d - 2] = d;
    }
    perm[rank - 2] = 2; /* channels after taps, then columns */
    perm[rank - 1] = 1;
    w = ig_expr_transpose(e, w, perm);
    ig_dim depth = ig_dim_product(e->module, w->type->dims + 1, rank - 2);
    ig_dim panels[3] = { dims[0], depth, dims[1] };
    return ig_expr_reshape(e, w, 3, panels);
}

/* [C, 1, k…] -> [k…, C]. */
static ig_value *build_taps(ig_expr *e, ig_value *w) {
    return ig_expr_move_axis(e, ig_expr_squeeze(e, w, 1), 0, w->type->rank - 2);
}

static ig_value *build_packed(ig_expr *e, const convolution *c, ig_value *w) {
    return is_depthwise(c)  ? build_taps(e, w)
           : c->is_winograd ? build_panels(e, c, ig_channels_winograd_weights(e, w))
                            : build_panels(e, c, w);
}

/* A convolution of f16 or bf16 as one of f32 whose operands are widened; `op` goes. */
static ig_op *widen_op(ig_pass_run *run, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    ig_value *operands[3];
    for (uint32_t i = 0; i < op->operand_count; i++) {
        operands[i] = ig_expr_cast(&e, op->operands[i].value, IG_DT_f32);
    }
    ig_value *wide = ig_build_conv(&e, operands[0], operands[1],
                                   op->operand_count > 2 ? operands[2] : NULL,
                                   ig_conv_attrs_of(op));
    ig_value *y = ig_expr_cast(&e, wide, (ig_dtype)op->results->type->dtype);
    y->name = op->results->name;
    ig_value_replace(op->results, y);
    ig_op_erase(op);
    run->changed = true;
    return wide->def;
}

/* The packed weights as a weight of the module; NULL where they are not constant, or
 * another weight has their name. */
static ig_weight *pack_constant(ig_pass_run *run, const convolution *c) {
    const char *from = NULL;
    ig_module *module = ig_op_module(c->op);
    ig_value *w = ig_pack_constant(run, c->op->operands[1].value, &from);
    if (!w) {
        return NULL;
    }
    const char *name =
        is_depthwise(c) ? ig_arena_printf(run->scratch, "%s.channels", from)
        : c->is_winograd
            ? ig_arena_printf(run->scratch, "%s.winograd", from)
            : ig_arena_printf(run->scratch, "%s.conv%lld", from, (long long)c->group);
    ig_weight *known = ig_module_weight(module, name);
    if (known) {
        return known->is_recipe ? known : NULL; /* else the model's own */
    }
    ig_builder b = ig_builder_before(ig_pack_recipes(module)->body.last);
    ig_expr e = ig_expr_of(&b);
    return ig_pack_add_recipe(run, module, name, build_packed(&e, c, w));
}

/* NULL: the convolution is better off as it is. */
static ig_value *pack_weights(ig_pass_run *run, ig_expr *e, const convolution *c) {
    ig_weight *weight = pack_constant(run, c);
    if (weight) {
        return ig_make_weight(e->builder, weight);
    }
    return pays_each_run(c) ? build_packed(e, c, c->op->operands[1].value) : NULL;
}

/* ---- convolutions ---- */

/* The op that pads x with zeros, along space alone, or NULL. */
static const ig_op *find_padding(const convolution *c) {
    const ig_op *pad = ig_def(c->op->operands[0].value, IG_OP_pad);
    if (!pad || pad->operand_count > 1 || !ig_attr_is_set(pad, IG_pad_before) ||
        ig_attr_int(pad, IG_pad_mode, IG_PAD_constant) != IG_PAD_constant) {
        return NULL;
    }
    bool is_space = true;
    for (uint32_t d = 0; d < 2; d++) {
        is_space = is_space && ig_dim_is(pad->attrs[IG_pad_before].as.dims[d], 0) &&
                   ig_dim_is(pad->attrs[IG_pad_after].as.dims[d], 0);
    }
    return is_space ? pad : NULL;
}

/* Are the zeros of `pad` better not in memory?  Its taps are bits of a word then. */
static bool pays_without_zeros(const convolution *c, const ig_op *pad) {
    const ig_type *x = pad->operands[0].value->type;
    const ig_type *w = c->op->operands[1].value->type;
    int64_t taps = 1;
    for (uint32_t d = 2; d < x->rank; d++) {
        int64_t before, after, extent = ig_dim_value(w->dims[d]);
        if (!ig_dim_known(pad->attrs[IG_pad_before].as.dims[d], &before) ||
            !ig_dim_known(pad->attrs[IG_pad_after].as.dims[d], &after) || before < 0 ||
            after < 0 || extent > IG_PADDED_TAPS / taps) {
            return false;
        }
        taps *= extent;
    }
    return c->ins >= PAYING_RUN && ig_dim_is_static(x->dims[1]);
}

/* The image; its padding is attributes where that pays. */
static ig_value *take_image(const convolution *c, ig_dims *before, ig_dims *after) {
    const ig_op *pad = find_padding(c);
    if (!pad || !pays_without_zeros(c, pad)) {
        return c->op->operands[0].value;
    }
    *before = (ig_dims){ pad->attrs[IG_pad_before].as.dims + 2, c->space };
    *after = (ig_dims){ pad->attrs[IG_pad_after].as.dims + 2, c->space };
    return pad->operands[0].value;
}

static ig_value *build_conv_winograd(ig_expr *e, const convolution *c,
                                     ig_value *panels) {
    ig_conv_winograd_attrs attrs = { .columns = c->outs };
    ig_value *x = take_image(c, &attrs.before, &attrs.after);
    return ig_build_conv_winograd(e, ig_channels_to_last(e, x), panels, attrs);
}

static ig_value *build_conv_panels(ig_expr *e, const convolution *c, ig_value *panels) {
    ig_conv_attrs own = ig_conv_attrs_of(c->op);
    const ig_type *w = c->op->operands[1].value->type;
    int64_t kernel[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < c->space; d++) {
        kernel[d] = ig_dim_value(w->dims[d + 2]);
    }
    ig_conv_panels_attrs attrs = { .kernel = { kernel, c->space },
                                   .columns = c->outs,
                                   .strides = own.strides,
                                   .dilations = own.dilations };
    if (c->group > 1) {
        attrs.group = (ig_maybe_int)IG_SET(c->group);
    }
    ig_value *x = take_image(c, &attrs.before, &attrs.after);
    return ig_build_conv_panels(e, ig_channels_to_last(e, x), panels, attrs);
}

/* The op that makes floats of bytes, less one zero point and nothing else, or NULL. */
static const ig_op *find_widening(const ig_value *x) {
    double scale = 0;
    const ig_op *op = ig_def(x, IG_OP_dequantize);
    bool is_plain =
        op && op->operand_count == 3 && op->results->type->dtype == IG_DT_f32 &&
        op->operands[1].value->type->rank == 0 &&
        op->operands[2].value->type->rank == 0 &&
        op->operands[2].value->type->dtype == op->operands[0].value->type->dtype &&
        ig_constant_f64(op->operands[1].value, &scale);
    ig_dtype dtype = is_plain ? (ig_dtype)op->operands[0].value->type->dtype
                              : IG_DT_f32;
    return scale == 1 && (dtype == IG_DT_u8 || dtype == IG_DT_i8) ? op : NULL;
}

static ig_value *build_conv_channels(ig_expr *e, const convolution *c, ig_value *w) {
    ig_conv_attrs own = ig_conv_attrs_of(c->op);
    ig_conv_channels_attrs attrs = { .strides = own.strides,
                                     .dilations = own.dilations };
    const ig_op *pad = find_padding(c);
    ig_value *x = c->op->operands[0].value;
    if (pad) {
        x = pad->operands[0].value;
        attrs.before = (ig_dims){ pad->attrs[IG_pad_before].as.dims + 2, c->space };
        attrs.after = (ig_dims){ pad->attrs[IG_pad_after].as.dims + 2, c->space };
    }
    const ig_op *bytes = find_widening(x);
    x = bytes ? bytes->operands[0].value : x;
    return ig_build_conv_channels(e, ig_channels_to_last(e, x), w,
                                  bytes ? bytes->operands[2].value : NULL, attrs);
}

static bool convert_op(ig_pass_run *run, ig_op *op) {
    convolution c;
    if (!read_convolution(op, &c) || (!is_depthwise(&c) && !fills_panels(&c)) ||
        is_better_off(run->options->target, &c)) {
        return false;
    }
    if (op->operands[0].value->type->dtype != IG_DT_f32) {
        return ig_pack_is_constant(op->operands[1].value) &&
               convert_op(run, widen_op(run, op));
    }
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    c.is_winograd = ig_channels_takes_winograd(run, op);
    ig_value *w = pack_weights(run, &e, &c);
    if (!w) {
        return false;
    }
    ig_value *y = is_depthwise(&c) ? build_conv_channels(&e, &c, w)
                  : c.is_winograd  ? build_conv_winograd(&e, &c, w)
                                   : build_conv_panels(&e, &c, w);
    if (op->operand_count > 2) {
        y = ig_build_add(&e, y, op->operands[2].value);
    }
    ig_channels_replace(run, &e, op, y);
    return true;
}

/* A convolution of bytes, taken apart (compose/integers.c)? */
static bool is_integer_product(const ig_op *op) {
    return op->code == IG_OP_matmul_integer && op->results->type->rank > 2;
}

/* Converts a block; true when one of its convolutions has channels last now. */
static bool convert_block(ig_pass_run *run, ig_block *block) {
    bool has_any = false;
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            has_any |= convert_block(run, op->bodies[i]);
        }
        ig_kernel_family family = ig_op_family(op);
        has_any |= family == IG_FAMILY_conv_panels ||
                   family == IG_FAMILY_conv_channels || is_integer_product(op);
        has_any |= op->code == IG_OP_conv && convert_op(run, op);
        has_any |= op->code == IG_OP_conv_integer && ig_channels_convert_bytes(run, op);
    }
    return has_any;
}

ig_status ig_pass_channels_last(ig_pass_run *run, ig_graph *graph) {
    const ig_target *target = run->options->target;
    if (!target || !target->has_channels_last || strcmp(graph->name, "weights") == 0 ||
        !convert_block(run, &graph->body)) {
        return IG_OK;
    }
    return ig_rewrite(run, graph, ig_channels_rules, ig_channels_rule_count);
}
