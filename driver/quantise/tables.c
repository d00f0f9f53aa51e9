/* Embedding tables with fewer bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups become bags first, so that it does not matter how an exporter wrote them;
 * then each table that only bags read is made anew.
 */
#include "driver/quantise/quantise.h"

#include "driver/compile/compile.h"
#include "ir/bag.h"
#include "ir/data.h"
#include "ir/dim/dim.h"
#include "ir/interpret/interpret.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From the fewest bits to the most. */
static const struct table_format {
    const char *name;
    ig_dtype dtype;
    int bits;
} formats[] = { { "int2", IG_DT_u2, 2 },
                { "int4", IG_DT_u4, 4 },
                { "int8", IG_DT_u8, 8 },
                { "f16", IG_DT_f16, 16 } };

/* "GLOB=int4", "int4", "GLOB=0.01": a format, or a bound of the error. */
typedef struct table_wish {
    const char *pattern;
    const struct table_format *format; /* NULL: the narrowest within `bound` */
    double bound;
    bool is_used;
} table_wish;

typedef struct tables_call {
    ig_module *module;
    const char *const *texts;
    size_t count;
    ig_compile_options options;
    ig_graph *graph;
    table_wish *wishes;
    IG_VEC(ig_quantize_table) tables;
} tables_call;

/* ---- wishes ---- */

static ig_status read_wish(const tables_call *call, const char *text, table_wish *out) {
    ig_arena *arena = &call->module->arena;
    const char *equals = strrchr(text, '='), *what = equals ? equals + 1 : text;
    char *end = NULL;
    *out = (table_wish){ .pattern = "*" };
    if (equals) {
        out->pattern = ig_arena_copy(arena, text, (size_t)(equals - text));
    }
    for (size_t i = 0; i < IG_COUNT_OF(formats); i++) {
        if (strcmp(what, formats[i].name) == 0) {
            out->format = &formats[i];
            return IG_OK;
        }
    }
    out->bound = strtod(what, &end);
    return end != what && !*end && out->bound > 0
               ? IG_OK
               : ig_error(
                     &call->module->context->diag, IG_INVALID, NULL,
                     "tables as '%s': expected int8, int4, int2, f16 or a bound of the error such as 0.01",
                     text);
}

/* The last that names the table, or NULL. */
static table_wish *wish_for(const tables_call *call, const char *name) {
    table_wish *last = NULL;
    for (size_t i = 0; i < call->count; i++) {
        if (fnmatch(call->wishes[i].pattern, name, 0) == 0) {
            last = &call->wishes[i];
            last->is_used = true;
        }
    }
    return last;
}

/* ---- one table ---- */

static const char *refuse_table(const ig_op *weight) {
    const ig_type *type = weight->results->type;
    if (type->kind != IG_TENSOR || !ig_dtype_is_float((ig_dtype)type->dtype) ||
        ig_dtypes[type->dtype].bits < 16) {
        return "its rows are quantised already";
    }
    for (const ig_use *use = weight->results->uses; use; use = use->next) {
        const ig_op *bag = use->user;
        if (bag->code != IG_OP_bag) {
            return "other ops than look-ups read it";
        }
        for (uint32_t i = 0; i < bag->result_count; i++) {
            ig_bag_feature f = ig_bag_feature_at(bag, i);
            if (bag->results[i].type->dtype != bag->results[0].type->dtype ||
                f.tables > 1) {
                return "it is looked up together with tables of another kind";
            }
        }
    }
    return NULL;
}

static bool is_table(const ig_op *op) {
    const ig_type *type = op->code == IG_OP_weight ? op->results->type : NULL;
    for (const ig_use *use = type && type->rank == 2 ? op->results->uses : NULL; use;
         use = use->next) {
        for (uint32_t i = 0;
             use->user->code == IG_OP_bag && i < use->user->result_count; i++) {
            ig_bag_feature f = ig_bag_feature_at(use->user, i);
            uint32_t operand = (uint32_t)(use - use->user->operands);
            if (operand >= f.table && operand < f.table + f.tables) {
                return true;
            }
        }
    }
    return false;
}

static bool round_row(const struct table_format *format, const float *row, int64_t dim,
                      uint8_t *out, float *back) {
    if (format->bits == 16) {
        ig_tensor halves = {
            .kind = IG_TENSOR, .dtype = IG_DT_f16, .count = dim, .data = out
        };
        bool is_good = true;
        for (int64_t i = 0; i < dim; i++) {
            ig_tensor_set_f64(&halves, i, (double)row[i]);
            back[i] = (float)ig_tensor_get_f64(&halves, i);
            is_good = is_good && isfinite(back[i]);
        }
        return is_good;
    }
    if (!ig_quant_row(row, dim, format->bits, out)) {
        return false;
    }
    ig_quant_row_back(out, dim, format->bits, back);
    return true;
}

static int64_t row_bytes(const struct table_format *format, int64_t dim) {
    return format->bits == 16 ? 2 * dim : 4 + (dim * format->bits + 7) / 8;
}

/* All rows; false where the format does not hold them. */
static bool round_table(const struct table_format *format, const ig_tensor *from,
                        ig_arena *arena, uint8_t *out, ig_quantize_error *error) {
    int64_t dim = from->dims[1], stride = row_bytes(format, dim);
    float *row = IG_NEW_ARRAY(arena, float, (size_t)dim);
    float *back = IG_NEW_ARRAY(arena, float, (size_t)dim);
    quant_error sum = { 0 };
    for (int64_t r = 0; r < from->dims[0]; r++) {
        for (int64_t i = 0; i < dim; i++) {
            row[i] = (float)ig_tensor_get_f64(from, r * dim + i);
        }
        if (!round_row(format, row, dim, out + r * stride, back)) {
            return false;
        }
        for (int64_t i = 0; i < dim; i++) {
            quant_error_add(&sum, (double)row[i], (double)back[i]);
        }
    }
    *error = quant_error_of(&sum);
    return true;
}

static ig_value *make_table(tables_call *call, const ig_op *weight,
                            const struct table_format *format, const ig_tensor *from,
                            const uint8_t *bytes) {
    ig_module *module = call->module;
    const char *name = ig_attr_str(weight, IG_weight_name);
    ig_rows rows = { .format = IG_ROW_F16 };
    ig_dim dims[] = { ig_dim_of(from->dims[0]), ig_dim_of(from->dims[1]) };
    const ig_type *type = format->bits == 16
                              ? ig_type_tensor(module, IG_DT_f16, 2, dims)
                              : ig_type_table(module, format->dtype, rows, dims[0],
                                              dims[1]);
    ig_data data = { .type = type,
                     .bytes = bytes,
                     .size = from->dims[0] * row_bytes(format, from->dims[1]) };
    name = ig_arena_printf(&module->arena, "%s.%s", name, format->name);
    ig_builder b = ig_builder_before(call->graph->body.first);
    return ig_make_weight(&b, ig_module_add_weight(module, name, &data));
}

/* Results stay of the dtype that they were of. */
static void replace_table(ig_op *weight, ig_value *by) {
    while (weight->results->uses) {
        ig_use *use = weight->results->uses;
        ig_dtype dtype = (ig_dtype)use->user->results->type->dtype;
        if (!ig_attr_is_set(use->user, IG_bag_to)) {
            ig_attr_set(use->user, IG_bag_to, ig_attr_of_dtype(dtype));
        }
        ig_use_set(use, by);
    }
}

static const char *round_weight(tables_call *call, ig_op *weight,
                                const table_wish *wish, ig_quantize_table *out) {
    ig_arena *arena = &call->module->arena;
    ig_tensor from;
    const ig_weight *item = ig_module_weight(call->module,
                                             ig_attr_str(weight, IG_weight_name));
    if (item->is_recipe || !ig_type_is_static(item->data.type) ||
        ig_tensor_of_data(&item->data, arena, call->module->context, &from) != IG_OK) {
        return "its number of rows is not known";
    }
    out->rows = from.dims[0];
    out->dim = from.dims[1];
    out->bytes = ig_tensor_bytes(&from);
    if (from.count == 0) {
        return "it is empty";
    }
    const char *why = "its values do not fit 16 bits";
    for (size_t i = 0; i < IG_COUNT_OF(formats); i++) {
        const struct table_format *format = wish->format ? wish->format : &formats[i];
        size_t size = (size_t)(from.dims[0] * row_bytes(format, from.dims[1]));
        uint8_t *bytes = ig_arena_zalloc(arena, size);
        bool is_good = round_table(format, &from, arena, bytes, &out->error);
        if (is_good && (wish->format || out->error.rms <= wish->bound)) {
            out->dtype = format->name;
            out->quantized_bytes = (int64_t)size;
            replace_table(weight, make_table(call, weight, format, &from, bytes));
            return NULL;
        }
        why = is_good ? "no format has an error that small" : why;
        if (wish->format) {
            break;
        }
    }
    return why;
}

/* ---- the module ---- */

static void take_table(tables_call *call, ig_op *weight) {
    const char *name = ig_attr_str(weight, IG_weight_name);
    const table_wish *wish = wish_for(call, name);
    double none = (double)NAN;
    ig_quantize_table table = {
        .name = name, .dtype = "", .why = "", .error = { none, none, none }
    };
    if (!wish) {
        return;
    }
    const char *why = refuse_table(weight);
    why = why ? why : round_weight(call, weight, wish, &table);
    table.why = why ? why : "";
    IG_PUSH(&call->module->arena, &call->tables, table);
}

static ig_status check_wishes(const tables_call *call) {
    for (size_t i = 0; i < call->count; i++) {
        if (!call->wishes[i].is_used && strcmp(call->wishes[i].pattern, "*") != 0) {
            return ig_error(&call->module->context->diag, IG_INVALID, NULL,
                            "no table that is looked up is called '%s'",
                            call->wishes[i].pattern);
        }
    }
    return IG_OK;
}

static ig_status quantise_tables(void *arguments) {
    tables_call *call = arguments;
    ig_module *module = call->module;
    ig_pass_options options = { .torch_empty = call->options.torch_empty,
                                .clamp_ids = call->options.clamp_ids };
    call->wishes = IG_NEW_ARRAY(&module->arena, table_wish, call->count);
    for (size_t i = 0; i < call->count; i++) {
        IG_TRY(read_wish(call, call->texts[i], &call->wishes[i]));
    }
    IG_TRY(ig_passes_run(module, &options, ig_pipeline_clean));
    IG_TRY(ig_passes_run(module, &options, ig_pipeline_understand));
    call->graph = (ig_graph *)(uintptr_t)ig_entry_of(module);
    if (!call->graph) {
        return ig_error(&module->context->diag, IG_INVALID, NULL,
                        "the module has no entry graph");
    }
    IG_VEC(ig_op *) weights = { 0 }; /* new ones are among them */
    for (ig_op *op = call->graph->body.first; op; op = op->next) {
        if (is_table(op)) {
            IG_PUSH(&module->arena, &weights, op);
        }
    }
    for (size_t i = 0; i < weights.count; i++) {
        IG_TRY(ig_context_poll(module->context));
        ig_context_progress(module->context, "quantise tables", i, weights.count);
        take_table(call, weights.items[i]);
    }
    IG_TRY(check_wishes(call));
    return ig_passes_run(module, &options, "dce");
}

ig_status ig_module_quantize_tables(ig_module *module, const char *const *formats_of,
                                    size_t count, const ig_compile_options *options,
                                    const ig_quantize_table **out_tables,
                                    size_t *out_count) {
    tables_call call = { .module = module, .texts = formats_of, .count = count };
    ig_options_take(module->context, &call.options, sizeof call.options, options);
    ig_status status = ig_driver_guard(module->context, quantise_tables, &call);
    *out_tables = status == IG_OK ? call.tables.items : NULL;
    *out_count = status == IG_OK ? call.tables.count : 0;
    return ig_driver_settle(module->context, status);
}
