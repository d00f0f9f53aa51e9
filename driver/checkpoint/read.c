/* Tensors of a checkpoint of torch.distributed, as values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/platform/context_map.h"
#include "driver/values/argument.h"
#include "frontend/torch/checkpoint/checkpoint.h"
#include "ingot/values.h"

typedef struct reading {
    ig_context *context;
    const char *folder;
    ig_module *module; /* keeps the files mapped */
    ig_arguments *arguments;
    ig_checkpoint checkpoint;
} reading;

static ig_status read_metadata(reading *r) {
    char why[256];
    ig_arena *arena = &r->arguments->arena;
    ig_file_map *map = ig_module_add_map(r->module);
    const char *path = ig_arena_printf(arena, "%s/.metadata", r->folder);
    ig_status status = ig_context_map(r->context, path, map, why);
    if (status != IG_OK) {
        return ig_error(&r->context->diag, status, &(ig_location){ .file = path },
                        "the checkpoint cannot be read: %s", why);
    }
    return ig_checkpoint_read(r->module, arena, path, (ig_str){ map->data, map->size },
                              &r->checkpoint);
}

static ig_status read_tensor(reading *r, const ig_checkpoint_tensor *tensor) {
    ig_arena *arena = &r->arguments->arena;
    ig_tensor value = {
        .kind = IG_TENSOR, .dtype = tensor->dtype->ir, .rank = tensor->rank, .count = 1
    };
    if (value.dtype == IG_DT_COUNT || tensor->dtype->is_complex ||
        tensor->dtype->is_quantised) {
        return IG_OK; /* nothing that is trained has such a type */
    }
    for (uint32_t i = 0; i < tensor->rank; i++) {
        value.dims[i] = tensor->extents[i];
        value.count *= tensor->extents[i];
    }
    value.data = ig_arena_alloc(arena, (size_t)ig_tensor_bytes(&value) + 1);
    IG_TRY(ig_checkpoint_copy(&r->checkpoint, tensor, value.data));
    ig_arguments_add(r->arguments,
                     ig_arena_printf(arena, "%.*s", IG_STR_ARG(tensor->name)), &value);
    return IG_OK;
}

/* Counters; of what else there is nothing is told. */
static ig_status read_object(reading *r, const ig_checkpoint_object *object) {
    ig_arena *arena = &r->arguments->arena;
    ig_tensor value = { .kind = IG_TENSOR, .count = 1 };
    int64_t integer;
    double real;
    IG_TRY(ig_checkpoint_count(&r->checkpoint, object, &value.dtype, &integer, &real));
    if (value.dtype != IG_DT_COUNT) {
        const void *number = value.dtype == IG_DT_i64 ? (const void *)&integer : &real;
        value.data = ig_arena_copy(arena, number, sizeof integer);
        ig_arguments_add(r->arguments,
                         ig_arena_printf(arena, "%.*s", IG_STR_ARG(object->name)),
                         &value);
    }
    return IG_OK;
}

static ig_status read_all(void *arguments) {
    reading *r = arguments;
    r->module = ig_module_create(r->context, "checkpoint");
    IG_TRY(read_metadata(r));
    for (size_t i = 0; i < r->checkpoint.tensors.count; i++) {
        IG_TRY(read_tensor(r, &r->checkpoint.tensors.items[i]));
    }
    for (size_t i = 0; i < r->checkpoint.objects.count; i++) {
        IG_TRY(read_object(r, &r->checkpoint.objects.items[i]));
    }
    return IG_OK;
}

ig_status ig_checkpoint_open(ig_context *context, const char *folder,
                             ig_arguments **out_arguments) {
    reading r = { .context = context, .folder = folder };
    *out_arguments = NULL;
    r.arguments = ig_arguments_create(context);
    if (!r.arguments) {
        return ig_error(&context->diag, IG_LIMIT, NULL, "memory ran out");
    }
    ig_status status = ig_driver_guard(context, read_all, &r);
    if (r.module) {
        ig_module_destroy(r.module);
    }
    if (status != IG_OK) {
        ig_arguments_close(r.arguments);
        return ig_driver_settle(context, status);
    }
    *out_arguments = r.arguments;
    return IG_OK;
}
