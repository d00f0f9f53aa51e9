/* The interpreter's symbols: bound where a value first shows them, checked ever after.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A dim that is one symbol without a value takes the extent it meets; any other dim
 * must evaluate to it.  Bindings of a body are undone when the body is left, so the
 * next trip of a loop, or the other branch, may bind them anew.
 */
#include "ir/interpret/run.h"

#include <assert.h>
#include <stdio.h>

/* ---- values of symbols ---- */

static void bind_symbol(ig_run *run, uint32_t symbol, int64_t value) {
    run->symbols[symbol] = value;
    run->bound[run->bound_count++] = symbol;
}

void ig_run_unbind(ig_run *run, uint32_t count) {
    while (run->bound_count > count) {
        run->symbols[run->bound[--run->bound_count]] = IG_SYMBOL_UNBOUND;
    }
}

typedef struct readiness {
    const ig_run *run;
    bool is_ready;
} readiness;

static void look_at_symbol(void *user, uint32_t symbol) {
    readiness *state = user;
    state->is_ready &= state->run->symbols[symbol] != IG_SYMBOL_UNBOUND;
}

bool ig_run_dim(const ig_run *run, ig_dim dim, int64_t *out_value) {
    readiness state = { run, true };
    if (ig_dim_constant(run->module, dim, out_value)) {
        return true;
    }
    ig_dim_visit_symbols(run->module, dim, look_at_symbol, &state);
    return state.is_ready && ig_dim_evaluate(run->module, dim, run->symbols, out_value);
}

/* Symbols defined as an expression get its value as soon as it has one; definitions
 * mention earlier symbols only. */
static void bind_defined(ig_run *run) {
    for (uint32_t i = 0; run->has_defined && i < run->symbol_count; i++) {
        const ig_symbol *symbol = ig_symbol_at(run->module, i);
        int64_t value;
        if (ig_symbol_is_defined(symbol) && run->symbols[i] == IG_SYMBOL_UNBOUND &&
            ig_run_dim(run, symbol->defined, &value)) {
            bind_symbol(run, i, value);
        }
    }
}

/* ---- checking a tensor against its type ---- */

/* Finds a mismatch: fills in `expected` and returns the axis, or -1. */
static int64_t match_extents(ig_run *run, const ig_type *type, const ig_tensor *tensor,
                             int64_t *out_expected) {
    bool has_bound = false;
    for (uint32_t i = 0; i < type->rank; i++) {
        ig_dim dim = type->dims[i];
        if (ig_dim_as_symbol(run->module, dim)) {
            uint32_t symbol = ig_symbol_index(run->module, dim);
            if (run->symbols[symbol] == IG_SYMBOL_UNBOUND) {
                bind_symbol(run, symbol, tensor->dims[i]);
                has_bound = true;
            }
        }
    }
    if (has_bound) {
        bind_defined(run);
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        *out_expected = -1; /* "has no value" */
        if (!ig_run_dim(run, type->dims[i], out_expected) ||
            *out_expected != tensor->dims[i]) {
            return i;
        }
    }
    return -1;
}

static bool is_like(const ig_type *type, const ig_tensor *tensor) {
    bool is_tensor = tensor->kind == IG_TENSOR || tensor->kind == IG_TABLE;
    return is_tensor && tensor->dtype == (ig_dtype)type->dtype &&
           (tensor->rank == type->rank || type->kind == IG_ANY);
}

/* A sequence is what its items are; an empty one fits every element type.  Recursion is
 * as deep as host types nest, which readers bound by limits.graph_depth. */
static bool has_kind(const ig_type *type, const ig_tensor *tensor) {
    if (type->kind != IG_SEQUENCE && type->kind != IG_OPTIONAL) {
        return is_like(type, tensor);
    }
    bool is_good = tensor->kind == (ig_kind)type->kind;
    for (int64_t i = 0; is_good && i < tensor->count; i++) {
        is_good = has_kind(type->element, &tensor->items[i]);
    }
    return is_good;
}

static bool is_host(const ig_tensor *tensor) {
    return tensor->kind == IG_SEQUENCE || tensor->kind == IG_OPTIONAL;
}

/* "f32[3, 13]", cut where it does not fit; of a sequence, its first item. */
static void describe_tensor(const ig_tensor *tensor, char *text, size_t size) {
    size_t at = 0;
    for (; tensor && is_host(tensor) && at < size; tensor = tensor->items) {
        const char *kind = tensor->kind == IG_SEQUENCE ? "a sequence" : "an optional";
        at += (size_t)snprintf(text + at, size - at, "%s of %lld items%s", kind,
                               (long long)tensor->count,
                               tensor->count ? ", first " : "");
        if (tensor->count == 0) {
            return;
        }
    }
    if (at >= size) {
        return;
    }
    at += (size_t)snprintf(text + at, size - at, "%s[", ig_dtypes[tensor->dtype].name);
    for (uint32_t i = 0; i < tensor->rank && at < size; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s%lld", i ? ", " : "",
                               (long long)tensor->dims[i]);
    }
    if (at < size) {
        snprintf(text + at, size - at, "]");
    }
}

/* A wrong type from an infer hook is a defect of ours; other types came with the
 * graph. */
ig_status ig_run_check_result(ig_run *run, const ig_op *op, const ig_value *value,
                              const ig_tensor *tensor) {
    char given[256];
    int64_t expected;
    ig_status status = ig_ops[op->code].infer ? IG_INTERNAL : IG_INVALID;
    if (!has_kind(value->type, tensor)) {
        describe_tensor(tensor, given, sizeof given);
        return ig_error(&run->context->diag, status, ig_op_location(op),
                        "%s: value %u turned out to be %s, which is not its type",
                        ig_ops[op->code].name, value->index, given);
    }
    if (value->type->kind != IG_TENSOR) {
        return IG_OK;
    }
    int64_t axis = match_extents(run, value->type, tensor, &expected);
    if (axis < 0) {
        return IG_OK;
    }
    describe_tensor(tensor, given, sizeof given);
    return ig_error(&run->context->diag, status, ig_op_location(op),
                    "%s: value %u turned out to be %s; by its type extent %lld is %lld",
                    ig_ops[op->code].name, value->index, given, (long long)axis,
                    (long long)expected);
}

/* ---- inputs ---- */

static const char *input_name(const ig_run *run, uint32_t index) {
    const char *const *names = run->graph->arg_names;
    const char *name = names ? names[index] : run->graph->body.args[index]->name;
    return name ? name : "?";
}

static void print_dim(const ig_run *run, ig_dim dim, ig_arena *arena,
                      const char **out) {
    ig_writer writer;
    ig_writer_init(&writer, arena);
    ig_dim_print(run->module, dim, &writer);
    *out = writer.data;
}

/* Where a symbol got its value, for messages: of the first input that has it. */
static const char *origin_of(const ig_run *run, uint32_t index, ig_dim dim) {
    const ig_symbol *symbol = ig_dim_as_symbol(run->module, dim);
    for (uint32_t i = 0; symbol && i < index; i++) {
        const ig_type *type = run->graph->body.args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_dim_same(type->dims[d], dim)) {
                return ig_arena_printf(&run->module->arena, "input '%s'",
                                       input_name(run, i));
            }
        }
    }
    return symbol && symbol->origin ? symbol->origin : "the inputs before it";
}

static ig_status wrong_extent(ig_run *run, uint32_t index, const ig_tensor *tensor,
                              int64_t axis, int64_t expected) {
    const char *text;
    ig_dim dim = run->graph->body.args[index]->type->dims[axis];
    print_dim(run, dim, &run->module->arena, &text);
    if (ig_dim_is_static(dim)) {
        return ig_error(&run->context->diag, IG_INVALID, NULL,
                        "input '%s': extent %lld is %lld, expected %s",
                        input_name(run, index), (long long)axis,
                        (long long)tensor->dims[axis], text);
    }
    return ig_error(&run->context->diag, IG_INVALID, NULL,
                    "input '%s': extent %lld is %lld, expected %s, which is %lld by %s",
                    input_name(run, index), (long long)axis,
                    (long long)tensor->dims[axis], text, (long long)expected,
                    origin_of(run, index, dim));
}

/* Checks the facts of a symbol against its bound value. */
static ig_status check_symbols(ig_run *run, uint32_t index, const ig_type *type) {
    for (uint32_t i = 0; i < type->rank; i++) {
        const ig_symbol *symbol = ig_dim_as_symbol(run->module, type->dims[i]);
        int64_t value;
        if (!symbol || !ig_run_dim(run, type->dims[i], &value)) {
            continue;
        }
        bool is_multiple = symbol->multiple <= 1 || value % symbol->multiple == 0;
        if (value < symbol->min || value > symbol->max || !is_multiple) {
            return ig_error(
                &run->context->diag, IG_INVALID, NULL,
                "input '%s': extent %u is %lld, expected %lld to %lld%s%.0lld",
                input_name(run, index), i, (long long)value, (long long)symbol->min,
                (long long)symbol->max,
                symbol->multiple > 1 ? " and a multiple of " : "",
                symbol->multiple > 1 ? (long long)symbol->multiple : 0);
        }
    }
    return IG_OK;
}

static ig_status check_memory(ig_run *run, uint32_t index, const ig_tensor *tensor) {
    int64_t count = 1;
    bool is_good = tensor->rank <= IG_TENSOR_RANK && (tensor->data || !tensor->count);
    for (uint32_t i = 0; is_good && i < tensor->rank; i++) {
        is_good = tensor->dims[i] >= 0 &&
                  !__builtin_mul_overflow(count, tensor->dims[i], &count);
    }
    bool is_tensor = tensor->kind == IG_TENSOR || tensor->kind == IG_TABLE;
    if (!is_tensor || (is_good && count == tensor->count)) {
        return IG_OK;
    }
    return ig_error(&run->context->diag, IG_INVALID, NULL,
                    "input '%s': its extents and its number of elements do not agree",
                    input_name(run, index));
}

static ig_status check_kind(ig_run *run, uint32_t index, const ig_tensor *tensor) {
    const ig_type *type = run->graph->body.args[index]->type;
    if (has_kind(type, tensor)) {
        return IG_OK;
    }
    char given[256];
    describe_tensor(tensor, given, sizeof given);
    const ig_type *item = type;
    while (item->element) {
        item = item->element;
    }
    const char *kind = type->kind == IG_OPTIONAL   ? "an optional of "
                       : type->kind == IG_SEQUENCE ? "a sequence of "
                                                   : "";
    return ig_error(&run->context->diag, IG_INVALID, NULL,
                    "input '%s' is %s, expected %s%s of rank %u",
                    input_name(run, index), given, kind, ig_dtypes[item->dtype].name,
                    item->rank);
}

/* Two rounds: the first binds the symbols it can, so that an expression may come before
 * the input that gives its symbols. */
ig_status ig_run_bind_inputs(ig_run *run, const ig_tensor *inputs) {
    const ig_block *body = &run->graph->body;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        int64_t expected;
        IG_TRY(check_memory(run, i, &inputs[i]));
        IG_TRY(check_kind(run, i, &inputs[i]));
        if (body->args[i]->type->kind == IG_TENSOR) {
            (void)match_extents(run, body->args[i]->type, &inputs[i], &expected);
        }
    }
    for (uint32_t i = 0; i < body->arg_count; i++) {
        int64_t expected, axis = -1;
        if (body->args[i]->type->kind == IG_TENSOR) {
            axis = match_extents(run, body->args[i]->type, &inputs[i], &expected);
        }
        if (axis >= 0) {
            return wrong_extent(run, i, &inputs[i], axis, expected);
        }
        IG_TRY(check_symbols(run, i, body->args[i]->type));
        ig_run_slot(run, body->args[i])->tensor = &inputs[i];
    }
    return IG_OK;
}

/* ---- guards ---- */

ig_status ig_run_check_guard(ig_run *run, const ig_op *guard) {
    ig_dim left = guard->attrs[IG_guard_left].as.dim,
           right = guard->attrs[IG_guard_right].as.dim;
    bool is_equal = ig_attr_int(guard, IG_guard_test, 0) == 0;
    const char *message = ig_attr_str(guard, IG_guard_message);
    int64_t a, b;
    if (!ig_run_dim(run, left, &a) || !ig_run_dim(run, right, &b)) {
        return ig_error(&run->context->diag, IG_INVALID, ig_op_location(guard),
                        "guard: an extent has no value here: no input gives it one");
    }
    if (is_equal ? a == b : a <= b) {
        return IG_OK;
    }
    ig_writer origins;
    ig_writer_init(&origins, &run->module->arena);
    ig_dim_print_origins(run->module, left, right, &origins);
    const char *left_text, *right_text;
    print_dim(run, left, &run->module->arena, &left_text);
    print_dim(run, right, &run->module->arena, &right_text);
    return ig_error(&run->context->diag, IG_INVALID, ig_op_location(guard),
                    "%s%s: %s is %lld, %s is %lld",
                    message ? message : "extents disagree",
                    ig_writer_str(&origins).data, left_text, (long long)a, right_text,
                    (long long)b);
}

ig_status ig_run_bind_symbols(ig_run *run, const ig_op *op) {
    const ig_attr *symbols = &op->attrs[IG_bind_symbols];
    const ig_tensor *vector = ig_run_slot(run, op->operands[0].value)->tensor;
    if (vector->kind != IG_TENSOR || vector->count != (int64_t)symbols->count) {
        return ig_error(&run->context->diag, IG_INVALID, ig_op_location(op),
                        "bind: %u symbols, but another number of values",
                        symbols->count);
    }
    for (uint32_t i = 0; i < symbols->count; i++) {
        uint32_t index = ig_symbol_index(run->module, symbols->as.dims[i]);
        const ig_symbol *symbol = ig_symbol_at(run->module, index);
        int64_t value = ig_tensor_get_i64(vector, i);
        bool is_new = run->symbols[index] == IG_SYMBOL_UNBOUND;
        bool is_apart = !is_new && run->symbols[index] != value;
        if (value < symbol->min || value > symbol->max || is_apart) {
            return ig_error(&run->context->diag, IG_INVALID, ig_op_location(op),
                            "%s: %lld cannot be %s",
                            symbol->origin ? symbol->origin : symbol->name,
                            (long long)value, symbol->name);
        }
        if (is_new) {
            bind_symbol(run, index, value);
        }
    }
    bind_defined(run);
    return IG_OK;
}
