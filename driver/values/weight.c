/* The content of a module's weights, for callers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"
#include "driver/values/argument.h"
#include "driver/values/weight.h"
#include "ir/data.h"
#include "ir/interpret/interpret.h"

#include <string.h>

enum { LISTED_WEIGHTS = 16 };

bool ig_name_has_part(const char *name, const char *part) {
    size_t size = strlen(part);
    const char *at = name, *dot;
    while (strncmp(at, part, size) != 0 || (at[size] != '.' && at[size])) {
        if ((dot = strchr(at, '.')) == NULL) {
            return false;
        }
        at = dot + 1;
    }
    return true;
}

static const char *list_names(const ig_module *module, ig_arena *arena) {
    ig_writer out;
    size_t count = module->weights.count;
    ig_writer_init(&out, arena);
    for (size_t i = 0; i < count && i < LISTED_WEIGHTS; i++) {
        ig_put(&out, "%s'%s'", i ? ", " : "", module->weights.items[i]->name);
    }
    if (count == 0) {
        ig_put(&out, "none");
    }
    if (count > LISTED_WEIGHTS) {
        ig_put(&out, " and %zu more", count - LISTED_WEIGHTS);
    }
    return out.data;
}

typedef struct weight_call {
    ig_module *module;
    const char *name;
    ig_arena *arena;
    const ig_weight *weight;
    ig_argument *value;
} weight_call;

static ig_status find_weight(weight_call *call) {
    const ig_module *module = call->module;
    size_t found = 0;
    call->weight = ig_module_weight(module, call->name);
    if (call->weight) {
        return IG_OK;
    }
    for (size_t i = 0; *call->name && i < module->weights.count; i++) {
        if (ig_name_has_part(module->weights.items[i]->name, call->name)) {
            call->weight = module->weights.items[i];
            found++;
        }
    }
    ig_location where = { .file = module->path };
    return found == 1 ? IG_OK
                      : ig_error(&module->context->diag, IG_INVALID, &where,
                                 "%s weight of the model is '%s'; it has %s",
                                 found ? "more than one" : "no", call->name,
                                 list_names(module, call->arena));
}

static ig_status read_weight(void *arguments) {
    weight_call *call = arguments;
    ig_tensor tensor;
    IG_TRY(find_weight(call));
    if (call->weight->is_recipe) {
        ig_location where = { .file = call->module->path };
        return ig_error(&call->module->context->diag, IG_UNSUPPORTED, &where,
                        "weight '%s' is computed when the model is compiled; the "
                        "model holds no content of it",
                        call->weight->name);
    }
    IG_TRY(ig_tensor_of_data(&call->weight->data, call->arena, call->module->context,
                             &tensor));
    call->value = IG_NEW(call->arena, ig_argument);
    ig_argument_of_tensor(call->arena, &tensor, call->value);
    return IG_OK;
}

ig_status ig_module_weight_value(ig_module *module, const char *name,
                                 const ig_argument **out_weight,
                                 const char **out_name) {
    weight_call call = { .module = module,
                         .name = name,
                         .arena = ig_driver_results(module) };
    ig_status status = ig_driver_guard(module->context, read_weight, &call);
    *out_weight = status == IG_OK ? call.value : NULL;
    if (out_name) {
        *out_name = status == IG_OK ? call.weight->name : NULL;
    }
    return ig_driver_settle(module->context, status);
}

typedef struct set_call {
    ig_module *module;
    const char *name;
    const ig_argument *value;
} set_call;

static ig_status refuse_value(const set_call *call, const char *format) {
    ig_location where = { .file = call->module->path };
    return ig_error(&call->module->context->diag, IG_INVALID, &where, format,
                    call->name);
}

/* One that is computed is nobody's to set. */
static ig_weight *find_named(const set_call *call) {
    for (size_t i = 0; i < call->module->weights.count; i++) {
        ig_weight *weight = call->module->weights.items[i];
        if (!weight->is_recipe && strcmp(weight->name, call->name) == 0) {
            return weight;
        }
    }
    return NULL;
}

static ig_status set_weight(void *arguments) {
    set_call *call = arguments;
    ig_arena *arena = &call->module->arena;
    ig_weight *weight = find_named(call);
    ig_tensor tensor;
    if (!weight) {
        return refuse_value(call, "the model has no weight '%s'");
    }
    IG_TRY(ig_argument_to_tensor(call->module->context, arena, call->value, &tensor));
    const ig_type *type = weight->data.type;
    bool is_like = (uint32_t)tensor.dtype == type->dtype && tensor.rank == type->rank &&
                   type->kind == IG_TENSOR && ig_type_is_static(type);
    for (uint32_t i = 0; is_like && i < type->rank; i++) {
        is_like = ig_dim_value(type->dims[i]) == tensor.dims[i];
    }
    if (!is_like) {
        return refuse_value(call, "weight '%s' has another dtype or other extents");
    }
    char *bytes = ig_arena_alloc(arena, call->value->size + 1);
    memcpy(bytes, call->value->data, call->value->size);
    weight->data.bytes = bytes;
    weight->data.size = (int64_t)call->value->size;
    weight->data.is_splat = false;
    weight->data.file = NULL;
    return IG_OK;
}

ig_status ig_module_set_weight(ig_module *module, const char *name,
                               const ig_argument *value) {
    set_call call = { .module = module, .name = name, .value = value };
    return ig_driver_settle(module->context,
                            ig_driver_guard(module->context, set_weight, &call));
}
