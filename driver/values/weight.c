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
    for (const char *at = name; at; at = strchr(at, '.')) {
        at += at != name;
        if (strncmp(at, part, size) == 0 && (at[size] == '.' || !at[size])) {
            return true;
        }
    }
    return false;
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
