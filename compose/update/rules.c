/* The rules by which weights change: see update.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/update/update.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name;
    ig_update_state_shape states[IG_UPDATE_STATES];
    bool is_by_row;
} rules[IG_UPDATE_RULES] = {
#define RULE(name, first, second, is_by_row) \
    { #name, { IG_STATE_##first, IG_STATE_##second }, is_by_row },
#include "compose/update/rules.def"
#undef RULE
};

bool ig_update_rule_of(const char *name, ig_update_rule *out_rule) {
    for (int i = 0; i < IG_UPDATE_RULES; i++) {
        if (strcmp(rules[i].name, name) == 0) {
            *out_rule = (ig_update_rule)i;
            return true;
        }
    }
    return false;
}

const char *ig_update_rule_name(ig_update_rule rule) {
    return rules[rule].name;
}

ig_optimizer ig_optimizer_of(ig_update_rule rule) {
    bool is_adagrad = rule == IG_UPDATE_adagrad;
    return (ig_optimizer){ .rule = rule,
                           .epsilon = is_adagrad ? 1e-10 : 1e-8,
                           .beta1 = 0.9,
                           .beta2 = 0.999,
                           .momentum = rule == IG_UPDATE_lars ? 0.9 : 0,
                           .eta = 1e-3 };
}

ig_update_state_shape ig_optimizer_state(const ig_optimizer *how, uint32_t index) {
    assert(index < IG_UPDATE_STATES && "a rule has two states");
    bool is_plain = how->rule == IG_UPDATE_sgd && how->momentum == 0;
    return is_plain ? IG_STATE_none : rules[how->rule].states[index];
}

/* ---- parts of formulas ---- */

/* By row, or of the whole weight. */
static ig_value *reduce_row(ig_expr *e, const ig_optimizer *how, const ig_update *u,
                            ig_reduce kind, ig_value *x) {
    uint32_t rank = x ? x->type->rank : 0;
    if (rank == 0) {
        return x;
    }
    bool is_by_row = u->is_table || rules[how->rule].is_by_row;
    return is_by_row ? ig_expr_reduce_axis(e, kind, x, rank - 1, true)
                     : ig_expr_reduce(e, kind, x, NULL, 0, false);
}

static ig_value *square_of(ig_expr *e, ig_value *x) {
    return ig_build_mul(e, x, x);
}

static ig_value *norm_of(ig_expr *e, const ig_optimizer *how, const ig_update *u,
                         ig_value *x) {
    return ig_build_sqrt(e, reduce_row(e, how, u, IG_REDUCE_sum, square_of(e, x)));
}

/* share * old + (1 - share) * fresh */
static ig_value *blend_state(ig_expr *e, ig_value *old, ig_value *fresh, double share) {
    return ig_build_add(e, ig_expr_with(e, IG_OP_mul, old, share),
                        ig_expr_with(e, IG_OP_mul, fresh, 1 - share));
}

/* x / (1 - beta^step): a running mean that began at 0. */
static ig_value *correct_bias(ig_expr *e, const ig_update *u, ig_value *x,
                              double beta) {
    ig_value *step = ig_expr_cast(e, u->step, IG_DT_f64);
    ig_value *left = ig_build_pow(e, ig_expr_number(e, IG_DT_f64, beta), step);
    ig_value *share = ig_expr_number_with(e, IG_OP_sub, 1, left);
    return ig_build_div(e, x, ig_expr_like(e, share, x));
}

/* y / (sqrt(x) + epsilon) */
static ig_value *divide_by_root(ig_expr *e, const ig_optimizer *how, ig_value *y,
                                ig_value *x) {
    ig_value *root = ig_build_sqrt(e, x);
    return ig_build_div(e, y, ig_expr_with(e, IG_OP_add, root, how->epsilon));
}

static ig_value *decayed_weight(ig_expr *e, const ig_update *u) {
    return ig_build_mul(e, u->decay, u->weight);
}

/* w less rate * wd * w, where the decay is apart from the gradient. */
static ig_value *shrink_weight(ig_expr *e, const ig_optimizer *how,
                               const ig_update *u) {
    if (how->decay != IG_DECAY_decoupled) {
        return u->weight;
    }
    ig_value *share = ig_build_mul(e, u->rate, u->decay);
    return ig_build_mul(e, u->weight, ig_expr_number_with(e, IG_OP_sub, 1, share));
}

/* ---- rules ---- */

static void update_sgd(ig_expr *e, const ig_optimizer *how, ig_update *u, ig_value *g) {
    ig_value *kept = shrink_weight(e, how, u);
    if (how->momentum != 0) {
        ig_value *old = ig_expr_with(e, IG_OP_mul, u->states[0], how->momentum);
        u->states[0] = ig_build_add(e, old, g);
        ig_value *ahead = ig_expr_with(e, IG_OP_mul, u->states[0], how->momentum);
        g = how->is_nesterov ? ig_build_add(e, g, ahead) : u->states[0];
    }
    u->weight = ig_build_sub(e, kept, ig_build_mul(e, u->rate, g));
}

static void update_adagrad(ig_expr *e, const ig_optimizer *how, ig_update *u,
                           ig_value *g) {
    ig_value *kept = shrink_weight(e, how, u);
    u->states[0] = ig_build_add(e, u->states[0], square_of(e, g));
    ig_value *change = divide_by_root(e, how, ig_build_mul(e, u->rate, g),
                                      u->states[0]);
    u->weight = ig_build_sub(e, kept, change);
}

/* FBGEMM's decay of kind l2 joins the gradient's squares, but acts on the weight by the
 * row's own rate: c * w - k * g with c = 1 - k * wd. */
static void update_rowwise_adagrad(ig_expr *e, const ig_optimizer *how, ig_update *u,
                                   ig_value *g) {
    ig_value *kept = shrink_weight(e, how, u);
    ig_value *mean = reduce_row(e, how, u, IG_REDUCE_mean, square_of(e, g));
    u->states[0] = ig_build_add(e, u->states[0], mean);
    ig_value *rate = divide_by_root(e, how, u->rate, u->states[0]);
    u->weight = ig_build_sub(e, kept, ig_build_mul(e, rate, g));
}

/* The direction of Adam and of LAMB; both states go on. */
static ig_value *adam_direction(ig_expr *e, const ig_optimizer *how, ig_update *u,
                                ig_value *g) {
    ig_value *squares = square_of(e, g);
    if (ig_optimizer_state(how, 1) == IG_STATE_row) {
        squares = reduce_row(e, how, u, IG_REDUCE_mean, squares);
    }
    u->states[0] = blend_state(e, u->states[0], g, how->beta1);
    u->states[1] = blend_state(e, u->states[1], squares, how->beta2);
    return divide_by_root(e, how, correct_bias(e, u, u->states[0], how->beta1),
                          correct_bias(e, u, u->states[1], how->beta2));
}

static void update_adam(ig_expr *e, const ig_optimizer *how, ig_update *u,
                        ig_value *g) {
    ig_value *kept = shrink_weight(e, how, u);
    ig_value *change = ig_build_mul(e, u->rate, adam_direction(e, how, u, g));
    u->weight = ig_build_sub(e, kept, change);
}

/* The decay is a part of the direction, whose norm is then made that of the weight. */
static void update_lamb(ig_expr *e, const ig_optimizer *how, ig_update *u,
                        ig_value *g) {
    ig_value *way = adam_direction(e, how, u, g);
    if (how->decay == IG_DECAY_decoupled) {
        way = ig_build_add(e, way, decayed_weight(e, u));
    }
    ig_value *ratio = ig_build_div(e, norm_of(e, how, u, u->weight),
                                   norm_of(e, how, u, way));
    ig_value *change = ig_build_mul(e, ig_build_mul(e, u->rate, ratio), way);
    u->weight = ig_build_sub(e, u->weight, change);
}

static void update_lars(ig_expr *e, const ig_optimizer *how, ig_update *u,
                        ig_value *g) {
    ig_value *weight = norm_of(e, how, u, u->weight), *sum = norm_of(e, how, u, g);
    if (how->decay != IG_DECAY_none) {
        sum = ig_build_add(e, sum, ig_build_mul(e, u->decay, weight));
        g = ig_build_add(e, g, decayed_weight(e, u));
    }
    ig_value *local = ig_build_div(e, ig_expr_with(e, IG_OP_mul, weight, how->eta),
                                   sum);
    ig_value *fresh = ig_build_mul(e, ig_build_mul(e, u->rate, local), g);
    ig_value *old = ig_expr_with(e, IG_OP_mul, u->states[0], how->momentum);
    u->states[0] = ig_build_add(e, old, fresh);
    u->weight = ig_build_sub(e, u->weight, u->states[0]);
}

/* LARS reads the gradient without its decay. */
static ig_value *effective_gradient(ig_expr *e, const ig_optimizer *how,
                                    const ig_update *u) {
    ig_value *g = u->gradient;
    bool joins = how->decay == IG_DECAY_l2 && how->rule != IG_UPDATE_lars;
    return joins ? ig_build_add(e, g, decayed_weight(e, u)) : g;
}

void ig_compose_update(ig_expr *e, const ig_optimizer *how, ig_update *u) {
    ig_value *g = effective_gradient(e, how, u);
    if (!g || !u->weight) {
        return;
    }
    assert(ig_expr_is_float(u->weight) && u->rate && u->step && "the caller looked");
    assert((how->decay == IG_DECAY_none || u->decay) && "a decay has its number");
    switch (how->rule) {
    case IG_UPDATE_sgd:
        update_sgd(e, how, u, g);
        break;
    case IG_UPDATE_adagrad:
        update_adagrad(e, how, u, g);
        break;
    case IG_UPDATE_rowwise_adagrad:
        update_rowwise_adagrad(e, how, u, g);
        break;
    case IG_UPDATE_adam:
    case IG_UPDATE_partial_rowwise_adam:
        update_adam(e, how, u, g);
        break;
    case IG_UPDATE_lamb:
    case IG_UPDATE_partial_rowwise_lamb:
        update_lamb(e, how, u, g);
        break;
    case IG_UPDATE_lars:
        update_lars(e, how, u, g);
        break;
    case IG_UPDATE_RULES:
        break;
    }
}

ig_value *ig_compose_clip_factor(ig_expr *e, ig_value *const *gradients, uint32_t count,
                                 ig_value *norm) {
    ig_value *sum = NULL;
    for (uint32_t i = 0; i < count; i++) {
        ig_value *own = ig_expr_reduce(e, IG_REDUCE_sum, square_of(e, gradients[i]),
                                       NULL, 0, false);
        sum = sum ? ig_build_add(e, sum, own) : own;
    }
    ig_value *size = ig_expr_with(e, IG_OP_add, ig_build_sqrt(e, sum), 1e-6);
    return ig_expr_with(e, IG_OP_min, ig_build_div(e, norm, size), 1);
}
