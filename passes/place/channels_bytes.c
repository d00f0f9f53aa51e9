/* Convolutions of bytes in groups, for channels_last.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = conv_integer %x, @w, %zx, 0 {group = 4}     x: u8 [N, 16, H, W]
 *   becomes
 *     %a = transpose (pad %x with %zx)                 [N, H', W', 16]
 *     %b = conv_quads %a, @w.groups {columns = 16, …}
 *     %c = sub %b, (mul @w.groups.sums, %zx)
 *     %1 = transpose %c
 *
 * The kernel takes four neighbours of the channels at once.  Groups of fewer are merged
 * with weights of 0 between them, and so are those that share a panel of 16 columns at
 * no cost: a group less of quads is a panel more.
 *
 * Weights are stored less their zero point, which is that of all of them.
 */
#include "passes/place/channels.h"

#include "compose/quantise.h"
#include "ir/semantics/panels.h"
#include "passes/place/pack.h"

#include <assert.h>

enum { FLIP = 128 }; /* between i8 and u8 */

typedef struct groups {
    ig_byte_groups of;
    bool has_factor; /* is x's zero point, as u8, known? */
    int64_t factor;  /* it, or 1 */
} groups;

static groups read_groups(const ig_op *op, ig_byte_groups of) {
    groups g = { .of = of };
    bool is_signed = op->operands[0].value->type->dtype == IG_DT_i8;
    ig_value *zero = op->operand_count > 2 ? op->operands[2].value : NULL;
    g.has_factor = !zero || ig_constant_i64(zero, &g.factor);
    g.factor = g.has_factor ? g.factor + (is_signed ? FLIP : 0) : 1;
    return g;
}

/* The weights less their zero point, [O, ins, taps]. */
static ig_value *centre_weights(ig_expr *e, const groups *g, ig_value *w) {
    ig_dim dims[] = { ig_dim_of(g->of.groups * g->of.merged * g->of.outs),
                      ig_dim_of(g->of.ins), ig_dim_of(g->of.taps) };
    w = ig_expr_cast(e, ig_expr_reshape(e, w, 3, dims), IG_DT_i32);
    return ig_expr_with_integer(e, IG_OP_sub, w, g->of.zero);
}

/* 1 where two groups are one: [merged, 1, merged, 1, 1]. */
static ig_value *build_identity(ig_expr *e, int64_t merged) {
    int32_t values[IG_PANEL * IG_PANEL] = { 0 };
    int64_t dims[] = { merged, 1, merged, 1, 1 };
    for (int64_t i = 0; i < merged; i++) {
        values[i * merged + i] = 1;
    }
    return ig_expr_constant(e, "groups", IG_DT_i32, 5, dims, values);
}

/* [O, ins, taps] -> [groups, merged outs, merged ins, taps], 0 between groups. */
static ig_value *merge_groups(ig_expr *e, const groups *g, ig_value *w) {
    ig_dim merged = ig_dim_of(g->of.merged), one = ig_dim_of(1);
    ig_dim apart[] = { ig_dim_of(g->of.groups), merged,
                       ig_dim_of(g->of.outs),   one,
                       ig_dim_of(g->of.ins),    ig_dim_of(g->of.taps) };
    ig_dim whole[] = { ig_dim_of(g->of.groups), ig_dim_of(g->of.merged * g->of.outs),
                       ig_dim_of(g->of.merged * g->of.ins), ig_dim_of(g->of.taps) };
    w = ig_expr_reshape(e, w, 6, apart);
    if (g->of.merged > 1) {
        ig_value *identity = build_identity(e, g->of.merged);
        w = ig_build_mul(e, w, identity);
    }
    return ig_expr_reshape(e, w, 4, whole);
}

static ig_value *build_panels(ig_expr *e, const groups *g, ig_value *w) {
    static const int64_t perm[] = { 0, 4, 2, 1, 3 };
    int64_t columns = g->of.merged * g->of.outs,
            quads = g->of.merged * g->of.ins / IG_QUAD;
    int64_t each = (columns + IG_PANEL - 1) / IG_PANEL, panels = g->of.groups * each;
    ig_dim zero = ig_dim_of(0), before[] = { zero, zero, zero, zero };
    ig_dim after[] = { zero, ig_dim_of(each * IG_PANEL - columns), zero, zero };
    ig_dim parts[] = { ig_dim_of(panels), ig_dim_of(IG_PANEL), ig_dim_of(quads),
                       ig_dim_of(IG_QUAD), ig_dim_of(g->of.taps) };
    ig_dim dims[] = { ig_dim_of(panels), ig_dim_of(g->of.taps * quads),
                      ig_dim_of(IG_PANEL), ig_dim_of(IG_QUAD) };
    w = ig_expr_cast(e, merge_groups(e, g, centre_weights(e, g, w)), IG_DT_i8);
    w = ig_expr_pad(e, w, before, after, IG_PAD_constant, 0);
    w = ig_expr_transpose(e, ig_expr_reshape(e, w, 5, parts), perm);
    return ig_expr_reshape(e, w, 4, dims);
}

/* Of each output, what x of nothing but `factor` comes to: i32 [O]. */
static ig_value *build_sums(ig_expr *e, const groups *g, ig_value *w) {
    w = ig_expr_merge_axes(e, centre_weights(e, g, w), 1, 2);
    w = ig_expr_reduce_axis(e, IG_REDUCE_sum, w, 1, false);
    return ig_expr_with_integer(e, IG_OP_mul, w, g->factor);
}

/* The weight that `build` makes of the convolution's. */
static ig_value *take_recipe(ig_pass_run *run, ig_expr *e, const ig_op *op,
                             const groups *g, const char *what,
                             ig_value *(*build)(ig_expr *, const groups *,
                                                ig_value *)) {
    const char *from = NULL;
    ig_module *module = ig_op_module(op);
    ig_value *w = ig_pack_constant(run, op->operands[1].value, &from);
    assert(w && "weights of groups of bytes are constants");
    const char *name = ig_arena_printf(run->scratch, "%s.%s.in%lld", from, what,
                                       (long long)(g->of.groups * g->of.merged));
    ig_weight *known = ig_module_weight(module, name);
    if (known && known->is_recipe) {
        return ig_make_weight(e->builder, known);
    }
    ig_op *last = ig_pack_recipes(module)->body.last;
    name = known
               ? ig_arena_printf(run->scratch, "%s.recipe%u", name, last->operand_count)
               : name;
    ig_builder b = ig_builder_before(last);
    ig_expr inside = ig_expr_of(&b);
    ig_value *value = build(&inside, g, w);
    return ig_make_weight(e->builder, ig_pack_add_recipe(run, module, name, value));
}

static ig_value *build_conv_quads(ig_expr *e, const ig_op *op, const groups *g,
                                  ig_value *x, ig_value *panels) {
    ig_conv_integer_attrs own = ig_conv_integer_attrs_of(op);
    const ig_type *w = op->operands[1].value->type;
    int64_t kernel[IG_TENSOR_RANK];
    for (uint32_t d = 2; d < w->rank; d++) {
        kernel[d - 2] = ig_dim_value(w->dims[d]);
    }
    ig_conv_quads_attrs attrs = { .kernel = { kernel, w->rank - 2u },
                                  .columns = g->of.merged * g->of.outs,
                                  .strides = own.strides,
                                  .dilations = own.dilations };
    if (g->of.groups > 1) {
        attrs.group = (ig_maybe_int)IG_SET(g->of.groups);
    }
    return ig_build_conv_quads(e, ig_channels_to_last(e, x), panels, attrs);
}

bool ig_channels_convert_bytes(ig_pass_run *run, ig_op *op) {
    ig_byte_groups of;
    if (!ig_byte_groups_of(op, &of)) {
        return false;
    }
    groups g = read_groups(op, of);
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    ig_value *panels = take_recipe(run, &e, op, &g, "quads", build_panels);
    ig_integers x = ig_compose_padded_bytes(&e, op);
    ig_value *y = build_conv_quads(&e, op, &g, x.value, panels);
    if (g.factor != 0) {
        const char *what = ig_arena_printf(run->scratch, "sums%lld",
                                           (long long)g.factor);
        ig_value *sums = take_recipe(run, &e, op, &g, what, build_sums);
        ig_value *zero = g.has_factor ? NULL
                                      : ig_expr_cast(&e, x.zero_point, IG_DT_i32);
        y = ig_build_sub(&e, y, zero ? ig_build_mul(&e, sums, zero) : sums);
    }
    ig_channels_replace(run, &e, op, y);
    return true;
}
