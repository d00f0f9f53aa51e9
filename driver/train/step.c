/* A module that is one step of training another one.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     inputs            of the model; LABEL; step, rates, decays; states; weights
 *     forward           the model, its loss
 *     backward          gradients of the loss (passes/grad) by weights; for tables that
 *                       only bags read, by the bags' results instead: no gradient of
 *                       a whole table is ever made
 *     update            compose/update: weights and states after the step, which are in
 *                       the memory of those before it
 *
 * Names are resolved first, on the module as imported; arguments keep their places
 * through the pipelines.
 */
#include "compose/loss.h"
#include "driver/host.h"
#include "driver/outputs.h"
#include "driver/train/training.h"
#include "ingot/train.h"
#include "passes/grad/grad.h"

#include <assert.h>
#include <fnmatch.h>
#include <string.h>

typedef ig_train_weight trained;
typedef ig_training training;

static ig_status refuse_name(const training *t, const char *hint, const char *format,
                             const char *name) {
    return ig_error_hint(&t->module->context->diag, IG_INVALID, NULL, hint, format,
                         name);
}

/* ---- named values ---- */

static ig_status read_words(training *t) {
    ig_diag *diag = &t->module->context->diag;
    size_t count = t->options.optimizer_count;
    if (count == 0) {
        return refuse_name(t, "PATTERN=RULE(KEY=NUMBER,…)", "no optimizer is named%s",
                           "");
    }
    IG_TRY(ig_train_read_loss(diag, t->arena, t->options.loss, &t->loss));
    t->groups = IG_NEW_ARRAY(t->arena, ig_train_group, count);
    for (size_t i = 0; i < count; i++) {
        IG_TRY(ig_train_read_group(diag, t->arena, t->options.optimizers[i],
                                   &t->groups[i]));
    }
    return IG_OK;
}

static bool is_trainable(const ig_type *type) {
    return type->kind == IG_TENSOR &&
           (type->dtype == IG_DT_f32 || type->dtype == IG_DT_f64);
}

/* Updates of fewer bits would have to be rounded at random. */
static bool is_narrow(const ig_type *type) {
    return ig_type_has_floats(type) && ig_dtypes[type->dtype].bits < 32;
}

/* The group that changes the weight of this name; the number of groups: none.  Patterns
 * are for the weights that training changes; inputs, and constants of the model, change
 * where a group has their very name. */
static uint32_t find_group(training *t, const char *name, const ig_type *type,
                           bool is_parameter) {
    uint32_t i = 0, count = (uint32_t)t->options.optimizer_count;
    while (i < count && strcmp(t->groups[i].pattern, name) != 0 &&
           !(is_parameter && fnmatch(t->groups[i].pattern, name, 0) == 0)) {
        i++;
    }
    if (i < count && is_narrow(type) && strcmp(t->groups[i].pattern, "*") != 0) {
        t->narrow = name;
    }
    if (i == count || !is_trainable(type)) {
        return count;
    }
    t->groups[i].is_met = true;
    return i;
}

static void add_trained(training *t, const trained *one) {
    if (one->group < t->options.optimizer_count) {
        IG_PUSH(t->arena, &t->trained, *one);
    }
}

/* The model's results depend on it, as far as the graph tells. */
static bool is_read(const training *t, const char *name) {
    for (const ig_op *op = t->graph->body.first; op; op = op->next) {
        if ((op->code == IG_OP_weight || op->code == IG_OP_table) &&
            strcmp(ig_attr_str(op, IG_weight_name), name) == 0) {
            return op->results->uses != NULL;
        }
    }
    return false;
}

static ig_status find_trained(training *t) {
    bool knows = ig_module_knows_parameters(t->module);
    uint32_t own = t->graph->body.arg_count - t->graph->state_count;
    for (uint32_t i = 0; i < own; i++) {
        trained one = { .name = ig_module_input_name(t->module, i), .argument = i };
        one.type = t->graph->body.args[i]->type;
        one.group = find_group(t, one.name, one.type, false);
        add_trained(t, &one);
    }
    for (size_t i = 0; i < t->module->weights.count; i++) {
        const ig_weight *weight = t->module->weights.items[i];
        bool is_parameter = !weight->is_recipe && (weight->is_parameter || !knows);
        trained one = { .name = weight->name, .type = weight->type, .is_weight = true };
        if (is_read(t, one.name)) {
            one.group = find_group(t, one.name, one.type, is_parameter);
            add_trained(t, &one);
        }
    }
    if (t->narrow) {
        return ig_error_hint(
            &t->module->context->diag, IG_UNSUPPORTED, NULL,
            "cast it to f32 before training, or name it in no optimizer",
            "'%s' has fewer bits than f32: its updates would have to be "
            "rounded at random",
            t->narrow);
    }
    for (size_t i = 0; i < t->options.optimizer_count; i++) {
        if (!t->groups[i].is_met) {
            return refuse_name(t, "`ingot inspect` lists them; f32 and f64 are trained",
                               "no weight or input that can be trained is called '%s'",
                               t->groups[i].pattern);
        }
    }
    return IG_OK;
}

/* ---- arguments ---- */

static uint32_t add_argument(training *t, const char *name, ig_dtype dtype,
                             uint32_t rank, const ig_dim *dims) {
    return ig_graph_add_input(t->graph, name,
                              ig_type_tensor(t->module, dtype, rank, dims));
}

/* Like the output; of classes without their axis.  Extents that are not known yet are
 * the label's own until the loss is made. */
static void add_label(training *t) {
    const ig_type *type = t->graph->body.last->operands[t->output].value->type;
    bool is_classes = t->loss.kind == IG_LOSS_KIND_cross_entropy;
    uint32_t rank = 0, axis = type->rank > 1 ? 1 : 0;
    ig_dim dims[IG_TENSOR_RANK];
    int64_t extent;
    for (uint32_t i = 0; i < type->rank; i++) {
        bool is_known = ig_dim_constant(t->module, type->dims[i], &extent);
        if (!is_classes || i != axis) {
            dims[rank++] = is_known ? type->dims[i]
                                    : ig_dim_symbol(t->module, t->loss.label);
        }
    }
    t->label = add_argument(t, t->loss.label,
                            is_classes ? IG_DT_i64 : (ig_dtype)type->dtype, rank, dims);
}

/* An opened weight by its name. */
static void find_argument(const training *t, trained *w) {
    uint32_t count = t->graph->body.arg_count;
    for (uint32_t a = count - t->graph->opened_count; w->is_weight && a < count; a++) {
        bool is_it = strcmp(ig_module_input_name(t->module, a), w->name) == 0;
        w->argument = is_it ? a : w->argument;
    }
}

static void find_arguments(training *t) {
    for (size_t i = 0; i < t->trained.count; i++) {
        find_argument(t, &t->trained.items[i]);
    }
}

/* Before its argument's index is known: by its name. */
static bool may_have_rows(training *t, trained *w) {
    find_argument(t, w);
    return ig_train_has_rows(t, w);
}

/* In front of the opened weights, which come last. */
static void add_states(training *t) {
    ig_input_list inputs = { 0 };
    uint32_t at = t->graph->body.arg_count - t->graph->opened_count;
    for (size_t i = 0; i < t->trained.count; i++) {
        trained *w = &t->trained.items[i];
        ig_dim dims[IG_TENSOR_RANK];
        for (uint32_t s = 0; s < IG_UPDATE_STATES; s++) {
            ig_update_state_shape shape = ig_optimizer_state(&t->groups[w->group].how,
                                                             s);
            memcpy(dims, w->type->dims, w->type->rank * sizeof *dims);
            if (shape == IG_STATE_row && w->type->rank > 0) {
                dims[w->type->rank - 1] = ig_dim_of(1);
            }
            if (shape != IG_STATE_none) {
                ig_input one = {
                    ig_arena_printf(t->arena, "%s.momentum%u", w->name, s + 1),
                    ig_type_with_dims(t->module, w->type, w->type->rank, dims)
                };
                w->states[s] = at + (uint32_t)inputs.count;
                IG_PUSH(t->arena, &inputs, one);
            }
        }
        if (t->options.accumulate > 1 && !may_have_rows(t, w)) {
            ig_input sum = { ig_arena_printf(t->arena, "%s.momentum%u", w->name,
                                             IG_UPDATE_STATES + 1u),
                             w->type };
            w->sum = at + (uint32_t)inputs.count;
            IG_PUSH(t->arena, &inputs, sum);
        }
    }
    ig_graph_insert_inputs(t->graph, at, &inputs);
}

static void carry_states(training *t, uint32_t first) {
    uint32_t count = t->carried_count = t->graph->state_count;
    uint32_t *slots[] = { &t->label, &t->step, &t->rates, &t->decays };
    t->carried = IG_NEW_ARRAY(t->arena, ig_train_carried, count);
    ig_train_carry_states(t->graph, first, t->carried);
    for (size_t i = 0; i < IG_COUNT_OF(slots); i++) {
        *slots[i] -= *slots[i] > 0 ? count : 0;
    }
}

static void add_arguments(training *t) {
    ig_dim count = ig_dim_of((int64_t)t->options.optimizer_count);
    uint32_t first_state = t->graph->body.arg_count - t->graph->state_count;
    if (t->loss.label && t->part != IG_TRAIN_PREDICT) {
        add_label(t);
    }
    if (t->part != IG_TRAIN_STEP) {
        carry_states(t, first_state);
        ig_train_apply_states(t->graph, t->carried, t->carried_count);
        return;
    }
    t->step = add_argument(t, "step", IG_DT_i64, 0, NULL);
    t->rates = add_argument(t, "rates", IG_DT_f64, 1, &count);
    t->decays = add_argument(t, "decays", IG_DT_f64, 1, &count);
    carry_states(t, first_state);
}

/* The weights as open_weights takes them, which puts them after all arguments. */
static ig_status open_weights(training *t) {
    ig_writer list;
    ig_writer_init(&list, t->arena);
    for (size_t i = 0; i < t->trained.count; i++) {
        if (t->trained.items[i].is_weight) {
            ig_put(&list, "%s%s", list.size ? "," : "", t->trained.items[i].name);
        }
    }
    if (list.size == 0) {
        return IG_OK;
    }
    t->passes.open_weights = ig_writer_str(&list).data;
    return ig_passes_run(t->module, &t->passes, "open_weights");
}

/* ---- the loss ---- */

static ig_value *argument_at(const training *t, uint32_t index) {
    return t->graph->body.args[index];
}

/* The label with the extents of the output: the run checks them. */
static ig_value *label_like(training *t, ig_dim const *dims, uint32_t rank) {
    ig_value *label = argument_at(t, t->label);
    const char *what =
        ig_arena_printf(&t->module->arena,
                        "the label '%s' must have the extents of the output "
                        "'%s'",
                        t->loss.label, ig_module_output_name(t->module, t->output));
    for (uint32_t i = 0; i < rank; i++) {
        ig_make_guard_equal(t->e.builder, label->type->dims[i], dims[i], what);
    }
    return ig_expr_reshape(&t->e, label, rank, dims);
}

static ig_value *class_loss(training *t, ig_value *y) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0, axis = y->type->rank > 1 ? 1 : 0;
    for (uint32_t i = 0; i < y->type->rank; i++) {
        if (i != axis) {
            dims[rank++] = y->type->dims[i];
        }
    }
    ig_softmax_attrs along = { .axis = axis, .log = true };
    ig_class_loss l = { .log = ig_build_softmax(&t->e, y, along),
                        .target = label_like(t, dims, rank),
                        .total = IG_LOSS_mean };
    return ig_compose_class_loss(&t->e, &l, NULL);
}

static ig_value *make_loss(training *t, ig_value *y) {
    ig_expr *e = &t->e;
    if (t->loss.kind == IG_LOSS_KIND_total) {
        return ig_compose_reduce_loss(e, y, IG_LOSS_sum);
    }
    if (t->loss.kind == IG_LOSS_KIND_cross_entropy) {
        return class_loss(t, y);
    }
    ig_value *label = label_like(t, y->type->dims, y->type->rank);
    ig_value *each = t->loss.kind == IG_LOSS_KIND_bce ? ig_compose_bce(e, y, label)
                     : t->loss.kind == IG_LOSS_KIND_mse
                         ? ig_compose_squared_error(e, y, label)
                         : ig_compose_bce_logits(e, y, label, NULL);
    return ig_compose_reduce_loss(e, each, IG_LOSS_mean);
}

/* ---- gradients ---- */

typedef ig_train_values value_list;

/* By these gradients are wanted, in the order in which they are taken. */
static void list_wanted(training *t, value_list *wanted) {
    for (size_t i = 0; i < t->trained.count; i++) {
        trained *w = &t->trained.items[i];
        w->is_rows = ig_train_has_rows(t, w);
        w->gradients = 1;
        if (w->is_rows) {
            w->gradients = ig_train_list_rows(t, w, wanted);
        } else {
            IG_PUSH(t->arena, wanted, argument_at(t, w->argument));
        }
    }
}

static ig_status make_gradients(training *t) {
    value_list wanted = { 0 };
    list_wanted(t, &wanted);
    double share = ig_train_share(t) * ig_train_call_share(t);
    ig_value *seed = share == 1 ? NULL
                                : ig_expr_number(&t->e, (ig_dtype)t->total->type->dtype,
                                                 share);
    ig_gradient_of what = { .y = t->total,
                            .seed = seed,
                            .wanted = wanted.items,
                            .wanted_count = (uint32_t)wanted.count };
    ig_value **gradients = IG_NEW_ARRAY(t->arena, ig_value *, wanted.count);
    IG_TRY(ig_gradients(t->e.builder, &what, gradients));
    ig_value **next = gradients;
    for (size_t i = 0; i < t->trained.count; i++) {
        trained *w = &t->trained.items[i];
        if (w->is_rows) {
            ig_train_join_rows(t, w, next);
        } else {
            w->gradient = *next;
        }
        next += w->gradients;
    }
    return t->e.status;
}

/* ---- the update ---- */

static void clip_gradients(training *t) {
    value_list dense = { 0 };
    for (size_t i = 0; i < t->trained.count; i++) {
        trained *w = &t->trained.items[i];
        if (!w->is_rows) {
            w->gradient = ig_train_clamp(t, w, w->gradient);
            IG_PUSH(t->arena, &dense, w->gradient);
        }
    }
    if (t->options.clip_norm <= 0 || dense.count == 0) {
        return;
    }
    ig_dtype dtype = (ig_dtype)dense.items[0]->type->dtype;
    ig_value *norm = ig_expr_number(&t->e, dtype, t->options.clip_norm);
    ig_value *factor = ig_compose_clip_factor(&t->e, dense.items, (uint32_t)dense.count,
                                              norm);
    for (size_t i = 0; i < t->trained.count; i++) {
        trained *w = &t->trained.items[i];
        if (!w->is_rows) {
            ig_value *own = ig_expr_like(&t->e, factor, w->gradient);
            w->gradient = ig_build_mul(&t->e, w->gradient, own);
        }
    }
}

static ig_value *value_of_group(training *t, uint32_t list, const trained *w) {
    ig_value *number = ig_expr_select(&t->e, argument_at(t, list), 0,
                                      ig_dim_of(w->group));
    return ig_expr_cast(&t->e, number, (ig_dtype)w->type->dtype);
}

static void update_weight(training *t, trained *w) {
    const ig_optimizer *how = &t->groups[w->group].how;
    ig_update u = { .weight = argument_at(t, w->argument),
                    .gradient = w->gradient,
                    .rate = value_of_group(t, t->rates, w),
                    .step = t->update,
                    .decay = value_of_group(t, t->decays, w) };
    for (uint32_t s = 0; s < IG_UPDATE_STATES; s++) {
        u.states[s] = w->states[s] ? argument_at(t, w->states[s]) : NULL;
    }
    ig_compose_update(&t->e, how, &u);
    w->next = u.weight;
    memcpy(w->next_states, u.states, sizeof u.states);
    ig_train_keep(t, w);
}

/* Do the tables change in one op? */
static bool are_alike(const trained *a, const trained *b) {
    return a->group == b->group && a->type->dtype == b->type->dtype &&
           ig_dim_same(a->type->dims[1], b->type->dims[1]) &&
           !a->rows.bags == !b->rows.bags && !a->rows.factors == !b->rows.factors;
}

/* Tables that change as `first` does, which no table before it does. */
static void update_tables(training *t, trained *first) {
    trained *end = t->trained.items + t->trained.count;
    IG_VEC(ig_update_table) tables = { 0 };
    IG_VEC(trained *) which = { 0 };
    for (trained *w = first; w < end; w++) {
        if (!w->is_rows || w->next || !are_alike(w, first)) {
            continue;
        }
        w->rows.weight = argument_at(t, w->argument);
        for (uint32_t s = 0; s < IG_UPDATE_STATES; s++) {
            w->rows.states[s] = w->states[s] ? argument_at(t, w->states[s]) : NULL;
        }
        IG_PUSH(t->arena, &tables, w->rows);
        IG_PUSH(t->arena, &which, w);
    }
    ig_update_numbers numbers = { .rate = value_of_group(t, t->rates, first),
                                  .step = argument_at(t, t->step),
                                  .decay = value_of_group(t, t->decays, first) };
    ig_compose_update_tables(&t->e, &t->groups[first->group].how, &numbers,
                             tables.items, (uint32_t)tables.count);
    for (size_t i = 0; i < which.count; i++) {
        which.items[i]->next = tables.items[i].weight;
        memcpy(which.items[i]->next_states, tables.items[i].states,
               sizeof tables.items[i].states);
    }
}

static void update_all(training *t) {
    for (size_t i = 0; i < t->trained.count; i++) {
        trained *w = &t->trained.items[i];
        if (!w->is_rows) {
            update_weight(t, w);
        } else if (!w->next) {
            update_tables(t, w);
        }
    }
}

/* ---- results ---- */

typedef struct results {
    value_list values;
    IG_VEC(const char *) names;
    IG_VEC(int64_t) in_place;
} results;

static void add_result(training *t, results *r, ig_value *value, const char *name,
                       int64_t in_place) {
    IG_PUSH(t->arena, &r->values, value);
    IG_PUSH(t->arena, &r->names,
            (const char *)ig_arena_printf(&t->module->arena, "%s", name));
    IG_PUSH(t->arena, &r->in_place, in_place);
}

static void return_step(training *t, ig_value *y, const char *output) {
    results r = { 0 };
    const ig_op *ret = t->graph->body.last;
    add_result(t, &r, t->total, "loss", -1);
    add_result(t, &r, y, output, -1);
    for (uint32_t i = 0; i < t->carried_count && t->part == IG_TRAIN_STEP; i++) {
        const ig_train_carried *one = &t->carried[i];
        ig_value *next = t->carried_next ? t->carried_next[i]
                                         : ret->operands[one->result].value;
        add_result(t, &r, next, one->name, one->argument);
    }
    for (size_t i = 0; i < t->trained.count && t->part == IG_TRAIN_STEP; i++) {
        const trained *w = &t->trained.items[i];
        add_result(t, &r, w->next, w->name, w->argument);
        for (uint32_t s = 0; s < IG_UPDATE_STATES; s++) {
            if (w->states[s]) {
                const char *name = ig_module_input_name(t->module, w->states[s]);
                add_result(t, &r, w->next_states[s], name, w->states[s]);
            }
        }
        if (w->sum) {
            const char *name = ig_module_input_name(t->module, w->sum);
            add_result(t, &r, w->next_sum, name, w->sum);
        }
    }
    uint32_t count = (uint32_t)r.values.count;
    ig_graph_return(t->graph, r.values.items, r.names.items, count);
    ig_attr positions = ig_attr_of_ints(t->module, r.in_place.items, count);
    ig_attr_set(t->graph->body.last, IG_ret_in_place, positions);
}

/* ---- the whole ---- */

/* Training begins with these weights, learning rates and decays. */
static ig_status return_initial(training *t) {
    uint32_t states = t->graph->state_count + t->carried_count;
    const char **names = IG_NEW_ARRAY(t->arena, const char *,
                                      t->trained.count + states);
    size_t count = 0;
    for (; count < states; count++) {
        names[count] = t->carried_count ? t->carried[count].name
                                        : t->graph->states[count];
    }
    for (size_t i = 0; i < t->trained.count; i++) {
        if (t->trained.items[i].is_weight) {
            names[count++] = t->trained.items[i].name;
        }
    }
    ig_train_initial what = { .weights = names,
                              .weight_count = count,
                              .groups = t->groups,
                              .group_count = t->options.optimizer_count };
    IG_TRY(ig_train_keep_initial(t->module, t->graph, &what));
    return ig_passes_run(t->module, &t->passes, ig_pipeline_clean);
}

static ig_status build_part(training *t) {
    ig_op *ret = t->graph->body.last;
    const char *output = ig_module_output_name(t->module, t->output);
    ig_builder builder = ig_builder_before(ret);
    ig_value *y = ret->operands[t->output].value;
    t->e = ig_expr_of(&builder);
    t->total = make_loss(t, y);
    IG_TRY(t->e.status);
    if (t->part == IG_TRAIN_STEP) {
        IG_TRY(make_gradients(t));
        ig_train_reduce(t);
        ig_train_gather(t);
        clip_gradients(t);
        update_all(t);
    } else {
        ig_train_reduce(t);
    }
    IG_TRY(t->e.status);
    return_step(t, ret->operands[t->output].value, output);
    return IG_OK;
}

static bool is_stored(const ig_value *value) {
    return value->def &&
           (value->def->code == IG_OP_weight || value->def->code == IG_OP_const);
}

/* An export for inference has lost what training needs: the user is told, as far as the
 * graph shows it. */
static void tell_of_inference(const training *t) {
    const ig_op *first = NULL;
    size_t count = 0;
    for (const ig_op *op = t->graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_batch_norm && is_stored(op->operands[3].value)) {
            first = first ? first : op;
            count++;
        }
    }
    if (first) {
        ig_warn(&t->module->context->diag, ig_op_location(first),
                "%zu batch norms apply statistics that are stored: the model was "
                "exported for inference, where dropout is gone too; export it in "
                "training mode, or these statistics stay as they are",
                count);
    }
}

static ig_status find_all(training *t) {
    t->graph = (ig_graph *)ig_entry_of(t->module);
    if (!t->graph) {
        return refuse_name(t, NULL, "the module has no entry graph%s", "");
    }
    if (t->graph->opened_count > 0) {
        return ig_error(&t->module->context->diag, IG_UNSUPPORTED, NULL,
                        "training of a model with opened weights");
    }
    IG_TRY(read_words(t));
    IG_TRY(ig_graph_find_output(t->graph, t->loss.output, &t->output));
    return find_trained(t);
}

/* Look-ups become bags, and tables this rank's parts of them. */
static ig_status understand_model(training *t) {
    IG_TRY(ig_passes_run(t->module, &t->passes, ig_pipeline_branches));
    IG_TRY(ig_passes_run(t->module, &t->passes, ig_pipeline_understand));
    return t->options.plan ? ig_train_divide(t) : IG_OK;
}

/* Weights alone, or their description. */
static ig_status end_early(training *t) {
    if (t->part == IG_TRAIN_INITIAL) {
        return return_initial(t);
    }
    ig_train_put(t, t->description);
    return IG_OK;
}

static ig_status make_part(void *arguments) {
    training *t = arguments;
    bool is_last = t->part == IG_TRAIN_INITIAL || t->part == IG_TRAIN_NONE;
    IG_TRY(find_all(t));
    if (is_last && !t->options.plan) {
        return end_early(t);
    }
    if (t->part == IG_TRAIN_STEP) {
        tell_of_inference(t);
    }
    if (t->part != IG_TRAIN_STEP) {
        ig_train_drop_nothing(t);
    }
    add_arguments(t);
    IG_TRY(open_weights(t));
    IG_TRY(ig_passes_run(t->module, &t->passes, ig_pipeline_clean));
    if (t->part == IG_TRAIN_PREDICT && !t->options.plan) {
        return IG_OK;
    }
    IG_TRY(understand_model(t));
    if (is_last) {
        return end_early(t);
    }
    if (t->part == IG_TRAIN_PREDICT) {
        return ig_passes_run(t->module, &t->passes, ig_pipeline_grad);
    }
    if (t->part == IG_TRAIN_STEP) {
        add_states(t);
        ig_train_index_draws(t);
    }
    find_arguments(t);
    IG_TRY(build_part(t));
    return ig_passes_run(t->module, &t->passes, ig_pipeline_grad);
}

static ig_status run_part(training *t, const ig_train_options *options,
                          const ig_compile_options *compile) {
    ig_module *module = t->module;
    ig_compile_options how;
    t->arena = ig_driver_results(module);
    ig_options_take(module->context, &t->options, sizeof t->options, options);
    ig_options_take(module->context, &how, sizeof how, compile);
    t->passes = (ig_pass_options){ .torch_empty = how.torch_empty,
                                   .clamp_ids = how.clamp_ids };
    return ig_driver_settle(module->context,
                            ig_driver_guard(module->context, make_part, t));
}

ig_status ig_train_make(ig_module *module, const ig_train_options *options,
                        const ig_compile_options *compile, ig_train_part part) {
    training t = { .module = module, .part = part };
    return run_part(&t, options, compile);
}

ig_status ig_train_describe_module(ig_module *module, const ig_train_options *options,
                                   const ig_compile_options *compile, ig_writer *out) {
    training t = { .module = module, .part = IG_TRAIN_NONE, .description = out };
    return run_part(&t, options, compile);
}

ig_status ig_module_train(ig_module *module, const ig_train_options *options,
                          const ig_compile_options *compile) {
    return ig_train_make(module, options, compile, IG_TRAIN_STEP);
}

typedef struct reading {
    ig_context *context;
    const char *text;
    ig_train_group group;
} reading;

static ig_status read_optimizer(void *arguments) {
    reading *r = arguments;
    return ig_train_read_group(&r->context->diag, &ig_driver_of(r->context)->arena,
                               r->text, &r->group);
}

ig_status ig_optimizer_read(ig_context *context, const char *text, double *out_rate,
                            double *out_decay) {
    reading r = { .context = context, .text = text };
    ig_status status = ig_driver_settle(context,
                                        ig_driver_guard(context, read_optimizer, &r));
    *out_rate = r.group.rate;
    *out_decay = r.group.decay;
    return status;
}
