/* LSTM, GRU, RNN: one rnn row a direction.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ONNX packs the directions on axis 0 of every operand, has both biases in one vector
 * and its own order of gates; the row has one direction, two biases and the order i, f,
 * g, o (lstm) or r, z, n (gru).
 */
#include "compose/activation.h"
#include "compose/rnn.h"

#include "frontend/onnx/import/args.h"
#include "frontend/onnx/ops/hooks.h"

enum { X, W, R, B, LENGTHS, H0, C0, P };

typedef struct layer {
    ig_onnx_node *node;
    ig_expr *e;
    ig_rnn form; /* shared by all directions */
    uint32_t directions;
    bool is_batch_first, is_first_reverse;
    int64_t hidden;
    ig_rnn_cell kinds[2];                /* of the directions */
    ig_rnn_activation activations[2][3]; /* in the order of compose/rnn.h */
    bool has_usual[2];
} layer;

/* What ONNX has at the places of our gates, and the activations of a direction: the
 * first of them is number `first` of compose/rnn.h. */
static const struct {
    uint32_t gates, activations, first, order[4];
    const char *usual[3];
} cells[] = {
    [IG_CELL_lstm] = { 4, 3, 0, { 0, 2, 3, 1 }, { "Sigmoid", "Tanh", "Tanh" } },
    [IG_CELL_gru] = { 3, 2, 0, { 1, 0, 2 }, { "Sigmoid", "Tanh" } },
    [IG_CELL_tanh] = { 1, 1, 1, { 0 }, { "Tanh" } },
    [IG_CELL_relu] = { 1, 1, 1, { 0 }, { "Relu" } },
};

/* ---- activations ---- */

#define ACTIVATION(name, formula)                                               \
    static ig_value *name(ig_expr *e, ig_value *x, double alpha, double beta) { \
        (void)alpha, (void)beta;                                                \
        return formula;                                                         \
    }
ACTIVATION(build_relu, ig_build_relu(e, x))
ACTIVATION(build_tanh, ig_build_tanh(e, x))
ACTIVATION(build_sigmoid, ig_build_sigmoid(e, x))
ACTIVATION(build_leaky_relu, ig_compose_leaky_relu(e, x, alpha))
ACTIVATION(build_thresholded_relu, ig_compose_threshold(e, x, alpha, 0))
ACTIVATION(build_hard_sigmoid, ig_compose_hard_sigmoid(e, x, alpha, beta))
ACTIVATION(build_elu, ig_compose_elu(e, x, alpha, 1, 1))
ACTIVATION(build_softsign, ig_compose_softsign(e, x))
ACTIVATION(build_softplus, ig_build_softplus(e, x))

static ig_value *build_affine(ig_expr *e, ig_value *x, double alpha, double beta) {
    return ig_expr_with(e, IG_OP_add, ig_expr_with(e, IG_OP_mul, x, alpha), beta);
}

static ig_value *build_scaled_tanh(ig_expr *e, ig_value *x, double alpha, double beta) {
    x = ig_build_tanh(e, ig_expr_with(e, IG_OP_mul, x, beta));
    return ig_expr_with(e, IG_OP_mul, x, alpha);
}

/* Which of the two lists of numbers an activation takes the next entry of, and its
 * default without one, as ONNX Runtime does. */
static const struct {
    const char *name;
    bool takes_alpha, takes_beta;
    ig_rnn_activation usual;
} activations[] = {
    { "Relu", false, false, { build_relu, 0, 0 } },
    { "Tanh", false, false, { build_tanh, 0, 0 } },
    { "Sigmoid", false, false, { build_sigmoid, 0, 0 } },
    { "Affine", true, true, { build_affine, 0, 0 } },
    { "LeakyRelu", true, false, { build_leaky_relu, 0.01F, 0 } },
    { "ThresholdedRelu", true, false, { build_thresholded_relu, 0, 0 } },
    { "ScaledTanh", true, true, { build_scaled_tanh, 0, 0 } },
    { "HardSigmoid", true, true, { build_hard_sigmoid, 0.2F, 0.5 } },
    { "Elu", true, false, { build_elu, 1, 0 } },
    { "Softsign", false, false, { build_softsign, 0, 0 } },
    { "Softplus", false, false, { build_softplus, 0, 0 } },
};

/* Entries of a list of floats that were not taken yet. */
typedef struct numbers {
    const Onnx__AttributeProto *list; /* NULL: absent */
    size_t taken;
} numbers;

static double take_number(numbers *from, bool is_taken, double usual) {
    bool has_more = is_taken && from->list && from->taken < from->list->n_floats;
    return has_more ? (double)from->list->floats[from->taken++] : usual;
}

/* ---- attributes ---- */

static bool find_activation(ig_str name, numbers *alphas, numbers *betas,
                            ig_rnn_activation *out) {
    for (size_t i = 0; i < IG_COUNT_OF(activations); i++) {
        if (ig_str_is(name, activations[i].name)) {
            *out = activations[i].usual;
            out->alpha = take_number(alphas, activations[i].takes_alpha, out->alpha);
            out->beta = take_number(betas, activations[i].takes_beta, out->beta);
            return true;
        }
    }
    return false;
}

/* Activations of the directions, one after the other; which of these the row has. */
static void read_activations(layer *l) {
    const ig_onnx_node *node = l->node;
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, "activations", NULL);
    numbers alphas = { ig_onnx_attr(node, "activation_alpha", NULL), 0 };
    numbers betas = { ig_onnx_attr(node, "activation_beta", NULL), 0 };
    uint32_t each = cells[l->form.cell].activations;
    l->kinds[0] = l->kinds[1] = l->form.cell;
    l->has_usual[0] = l->has_usual[1] = true;
    if (!attr || attr->n_strings == 0) {
        return;
    }
    if (attr->n_strings != (size_t)each * l->directions) {
        ig_onnx_fail(node, IG_INVALID, "activations has %zu entries, expected %u",
                     attr->n_strings, each * l->directions);
        return;
    }
    for (uint32_t i = 0; i < attr->n_strings; i++) {
        ig_str name = { (const char *)attr->strings[i].data, attr->strings[i].len };
        uint32_t direction = i / each;
        ig_rnn_cell *kind = &l->kinds[direction];
        bool is_relu = *kind == IG_CELL_tanh && ig_str_is(name, "Relu");
        *kind = is_relu ? IG_CELL_relu : *kind;
        l->has_usual[direction] &= ig_str_is(name, cells[*kind].usual[i % each]);
        if (!find_activation(
                name, &alphas, &betas,
                &l->activations[direction][i % each + cells[*kind].first])) {
            ig_onnx_fail(node, IG_INVALID,
                         "activation %u, '%.*s', is not one of ONNX's", i,
                         IG_STR_ARG(name));
        }
    }
}

static void read_form(layer *l) {
    const ig_onnx_node *node = l->node;
    bool is_lstm = node->row->variant == IG_CELL_lstm;
    uint32_t way = ig_onnx_attr_choice(node, "direction",
                                       "forward reverse bidirectional");
    l->is_first_reverse = way == 1;
    l->directions = way == 2 ? 2 : 1;
    l->form = (ig_rnn){
        .cell = (ig_rnn_cell)node->row->variant,
        .clip = ig_onnx_attr_float(node, "clip", 0),
        .is_coupled = is_lstm && ig_onnx_attr_bool(node, "input_forget", false),
    };
    l->form.is_reset_first = l->form.cell == IG_CELL_gru &&
                             !ig_onnx_attr_bool(node, "linear_before_reset", false);
    read_activations(l);
}

static void read_hidden(layer *l) {
    const ig_type *r = ig_onnx_ranked_input(l->node, R, 3)->type;
    l->hidden = ig_onnx_attr_between(l->node, "hidden_size", 0, 0, INT32_MAX);
    if (ig_onnx_has_failed(l->node) || l->hidden > 0) {
        return;
    }
    if (!ig_dim_constant(l->e->module, r->dims[2], &l->hidden)) {
        ig_onnx_fail(l->node, IG_UNSUPPORTED,
                     "hidden_size is absent, and not known before it runs");
    } else if (l->hidden > INT32_MAX) {
        ig_onnx_fail(l->node, IG_INVALID,
                     "hidden_size is absent, and %lld by R, expected at most %d",
                     (long long)l->hidden, INT32_MAX);
    }
}

/* Input `index`, where there is one, has these extents: the row slices its inputs by
 * the sizes that other inputs and attributes have. */
static void guard_shape(const layer *l, uint32_t index, const ig_dim *dims,
                        uint32_t rank) {
    const ig_onnx_node *node = l->node;
    if (!ig_onnx_in(node, index)) {
        return;
    }
    const ig_value *x = ig_onnx_ranked_input(node, index, rank);
    for (uint32_t d = 0; d < rank && !ig_onnx_has_failed(node); d++) {
        const char *what = ig_arena_printf(
            node->import->arena,
            "dim %u of input %u must fit hidden_size, direction and the other inputs",
            d, index);
        ig_expr_guard_equal(l->e, x->type->dims[d], dims[d], what);
    }
}

static void guard_shapes(const layer *l) {
    const ig_type *x = l->form.x->type;
    ig_dim directions = ig_dim_of(l->directions), hidden = ig_dim_of(l->hidden);
    int64_t rows = cells[l->form.cell].gates * l->hidden;
    ig_dim gates = ig_dim_of(rows), batch = x->dims[1];
    ig_dim first = l->is_batch_first ? batch : directions;
    ig_dim second = l->is_batch_first ? directions : batch;
    guard_shape(l, W, (ig_dim[]){ directions, gates, x->dims[2] }, 3);
    guard_shape(l, R, (ig_dim[]){ directions, gates, hidden }, 3);
    guard_shape(l, B, (ig_dim[]){ directions, ig_dim_of(2 * rows) }, 2);
    guard_shape(l, H0, (ig_dim[]){ first, second, hidden }, 3);
    if (l->form.cell == IG_CELL_lstm) {
        guard_shape(l, C0, (ig_dim[]){ first, second, hidden }, 3);
        guard_shape(l, P, (ig_dim[]){ directions, ig_dim_of(3 * l->hidden) }, 2);
    }
}

static bool read_layer(layer *l) {
    ig_onnx_node *node = l->node;
    read_form(l);
    ig_onnx_float_input(node, X);
    l->form.x = ig_onnx_ranked_input(node, X, 3);
    ig_onnx_ranked_input(node, W, 3);
    read_hidden(l);
    l->is_batch_first = ig_onnx_row_has_attr(node->row, "layout") &&
                        ig_onnx_attr_bool(node, "layout", false);
    if (ig_onnx_in(node, LENGTHS) && !ig_onnx_has_failed(node)) {
        l->form.lengths = ig_expr_cast(l->e, ig_onnx_ranked_input(node, LENGTHS, 1),
                                       IG_DT_i64);
    }
    if (ig_onnx_has_failed(node)) {
        return false;
    }
    if (l->form.lengths) {
        ig_onnx_guard_extents(node, X, l->is_batch_first ? 0 : 1, LENGTHS, 0);
    }
    l->form.x = l->is_batch_first ? ig_expr_swap(l->e, l->form.x, 0, 1) : l->form.x;
    if (l->form.x) {
        guard_shapes(l);
    }
    return !ig_onnx_has_failed(node);
}

/* ---- operands of one direction ---- */

/* `count` blocks of `hidden` rows from `first` on, in the order given. */
static ig_value *order_blocks(const layer *l, ig_value *x, int64_t first,
                              const uint32_t *order, uint32_t count) {
    ig_value *parts[4];
    for (uint32_t g = 0; g < count; g++) {
        ig_dim start = ig_dim_of(first + order[g] * l->hidden);
        parts[g] = ig_expr_slice(l->e, x, 0, start, ig_dim_of(l->hidden), 1);
    }
    return ig_expr_concat(l->e, 0, parts, count);
}

static ig_value *order_gates(const layer *l, ig_value *x, int64_t first) {
    ig_rnn_cell cell = l->form.cell;
    return order_blocks(l, x, first, cells[cell].order, cells[cell].gates);
}

/* What input `index`, of `rank` axes, says of a direction; NULL when it is absent. */
static ig_value *select_direction(const layer *l, uint32_t index, uint32_t rank,
                                  uint32_t axis, uint32_t direction) {
    if (!ig_onnx_in(l->node, index)) {
        return NULL;
    }
    ig_value *x = ig_onnx_ranked_input(l->node, index, rank);
    return ig_onnx_has_failed(l->node)
               ? NULL
               : ig_expr_select(l->e, x, axis, ig_dim_of(direction));
}

static ig_value *state_of(const layer *l, uint32_t index, uint32_t direction) {
    uint32_t batch = l->is_batch_first ? 0 : 1;
    ig_value *state = select_direction(l, index, 3, 1 - batch, direction);
    if (state) {
        return state;
    }
    ig_dim dims[] = { ig_onnx_extent(l->e, l->form.x, 1), ig_dim_of(l->hidden) };
    return ig_expr_fill(l->e, (ig_dtype)l->form.x->type->dtype, 2, dims, 0);
}

static void build_direction(const layer *l, uint32_t direction,
                            ig_value *out_results[IG_RNN_RESULTS]) {
    static const uint32_t peephole_order[] = { 0, 2, 1 }; /* ONNX has i, o, f */
    bool is_lstm = l->form.cell == IG_CELL_lstm;
    ig_rnn form = l->form;
    form.is_reverse = direction == 1 || l->is_first_reverse;
    form.cell = l->kinds[direction];
    form.activations = l->has_usual[direction] ? NULL : l->activations[direction];
    form.h = state_of(l, H0, direction);
    form.c = is_lstm ? state_of(l, C0, direction) : NULL;
    form.w = order_gates(l, select_direction(l, W, 3, 0, direction), 0);
    form.r = order_gates(l, select_direction(l, R, 3, 0, direction), 0);
    ig_value *biases = select_direction(l, B, 2, 0, direction);
    if (biases) {
        form.bw = order_gates(l, biases, 0);
        form.br = order_gates(l, biases, cells[form.cell].gates * l->hidden);
    }
    ig_value *peepholes = is_lstm ? select_direction(l, P, 2, 0, direction) : NULL;
    if (peepholes) {
        form.peepholes = order_blocks(l, peepholes, 0, peephole_order, 3);
    }
    ig_compose_rnn(l->e, &form, out_results);
}

/* ---- results ---- */

/* Result `index` of all directions, side by side on a new axis. */
static ig_value *stack_directions(const layer *l, ig_value *results[2][IG_RNN_RESULTS],
                                  uint32_t index, uint32_t axis) {
    ig_value *parts[2];
    for (uint32_t i = 0; i < l->directions; i++) {
        parts[i] = ig_expr_unsqueeze(l->e, results[i][index], axis);
    }
    return ig_expr_concat(l->e, axis, parts, l->directions);
}

ig_status ig_onnx_import_rnn(ig_onnx_node *node) {
    static const int64_t batch_first[] = { 2, 0, 1, 3 };
    layer l = { .node = node, .e = node->e };
    ig_value *results[2][IG_RNN_RESULTS];
    if (!read_layer(&l)) {
        return node->e->status;
    }
    for (uint32_t i = 0; i < l.directions; i++) {
        build_direction(&l, i, results[i]);
    }
    for (uint32_t i = 0; i < node->output_count && i < IG_RNN_RESULTS; i++) {
        node->outputs[i] = stack_directions(&l, results, i, i == 0 || l.is_batch_first);
    }
    if (l.is_batch_first && node->output_count > 0) {
        node->outputs[0] = ig_expr_transpose(node->e, node->outputs[0], batch_first);
    }
    return node->e->status;
}
