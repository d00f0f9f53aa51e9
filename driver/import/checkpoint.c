/* A module's weights, taken from a checkpoint.  SPDX-License-Identifier: Apache-2.0 */
#include "driver/import/checkpoint.h"

#include "base/checked.h"
#include "base/platform/context_map.h"
#include "base/platform/platform.h"
#include "frontend/torch/checkpoint/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGN = 64 };

/* A weight, and the tensor that it becomes. */
typedef struct given {
    ig_weight *weight;
    const ig_checkpoint_tensor *tensor;
    size_t offset, size; /* in the file */
} given;

typedef struct giver {
    ig_context *context;
    ig_arena arena;
    ig_module *module;
    const char *path; /* of the metadata */
    ig_checkpoint checkpoint;
    IG_VEC(given) all;
    size_t bytes;
} giver;

#define FAIL(g, status, ...)                                                   \
    ig_error(&(g)->context->diag, status, &(ig_location){ .file = (g)->path }, \
             __VA_ARGS__)

/* ---- which becomes what ---- */

static bool ends_in(ig_str name, ig_str end) {
    size_t before = name.size - end.size;
    return name.size > end.size && name.data[before - 1] == '.' &&
           memcmp(name.data + before, end.data, end.size) == 0;
}

/* 2: the same name; 1: one is the other's end; 0. */
static int match_names(ig_str a, ig_str b) {
    return ig_str_equal(a, b) ? 2 : ends_in(a, b) || ends_in(b, a);
}

/* NULL: the checkpoint has none. */
static ig_status find_tensor(giver *g, const ig_weight *weight,
                             const ig_checkpoint_tensor **out) {
    int best = 0;
    bool is_double = false;
    *out = NULL;
    for (size_t i = 0; i < g->checkpoint.tensors.count; i++) {
        const ig_checkpoint_tensor *tensor = &g->checkpoint.tensors.items[i];
        int match = match_names(tensor->name, ig_str_of(weight->name));
        is_double = match && match == best ? true : match > best ? false : is_double;
        *out = match > best ? tensor : *out;
        best = match > best ? match : best;
    }
    return is_double
               ? FAIL(g, IG_INVALID,
                      "the checkpoint has several tensors that may be weight '%s'",
                      weight->name)
               : IG_OK;
}

static ig_status check_type(giver *g, const ig_weight *weight,
                            const ig_checkpoint_tensor *tensor) {
    const ig_type *type = weight->data.type;
    bool is_equal = ig_type_is_static(type) && type->dtype == tensor->dtype->ir &&
                    type->rank == tensor->rank && ig_dtypes[type->dtype].bits % 8 == 0;
    for (uint32_t i = 0; is_equal && i < type->rank; i++) {
        is_equal = ig_dim_value(type->dims[i]) == tensor->extents[i];
    }
    return is_equal
               ? IG_OK
               : FAIL(g, IG_INVALID,
                      "the checkpoint's tensor '%.*s' has another type than weight "
                      "'%s' of the model",
                      IG_STR_ARG(tensor->name), weight->name);
}

static ig_status add_weight(giver *g, ig_weight *weight) {
    given one = { .weight = weight, .offset = g->bytes };
    if (weight->is_recipe) {
        return IG_OK;
    }
    IG_TRY(find_tensor(g, weight, &one.tensor));
    if (!one.tensor) {
        return IG_OK;
    }
    IG_TRY(check_type(g, weight, one.tensor));
    one.size = ig_dtypes[weight->data.type->dtype].bits / 8u;
    for (uint32_t i = 0; i < one.tensor->rank; i++) {
        if (!ig_mul_size(one.size, (size_t)one.tensor->extents[i], &one.size)) {
            return FAIL(g, IG_LIMIT, "weight '%s' is too large", weight->name);
        }
    }
    IG_PUSH(&g->arena, &g->all, one);
    return ig_add_size(g->bytes, ig_align_up(one.size, ALIGN), &g->bytes)
               ? IG_OK
               : FAIL(g, IG_LIMIT, "the weights are too large");
}

/* ---- the elements ---- */

/* A file that has no name, of so many bytes that are there; -1 and errno. */
static int open_nameless(size_t bytes) {
    const char *folder = secure_getenv("TMPDIR");
    int file = open(folder && *folder ? folder : "/var/tmp",
                    O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int reason = file < 0 ? errno : posix_fallocate(file, 0, (off_t)bytes);
    if (reason && file >= 0) {
        close(file);
    }
    errno = reason;
    return reason ? -1 : file;
}

static ig_status copy_all(giver *g, char *to) {
    for (size_t i = 0; i < g->all.count; i++) {
        const given *one = &g->all.items[i];
        IG_TRY(ig_checkpoint_copy(&g->checkpoint, one->tensor, to + one->offset));
    }
    return IG_OK;
}

/* Room for all weights, which the module keeps whatever happens next. */
static ig_status make_room(giver *g, char **out_room) {
    ig_file_map *map = ig_module_add_map(g->module);
    int file = open_nameless(g->bytes);
    if (file < 0) {
        return FAIL(
            g, IG_IO,
            "there is no room for %zu bytes of weights in TMPDIR or /var/tmp: %s",
            g->bytes, strerror(errno));
    }
    struct stat facts = { 0 };
    (void)fstat(file, &facts);
    char *room = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (room == MAP_FAILED) {
        return FAIL(g, IG_LIMIT, "%zu bytes of weights cannot be mapped", g->bytes);
    }
    *map = (ig_file_map){ .data = room,
                          .size = g->bytes,
                          .base = room,
                          .base_size = g->bytes,
                          .device = facts.st_dev,
                          .inode = facts.st_ino };
    map->mtime_ns = (uint64_t)facts.st_ctim.tv_sec * 1000000000u +
                    (uint64_t)facts.st_ctim.tv_nsec;
    *out_room = room;
    return IG_OK;
}

static void point_weights(giver *g, const char *room) {
    for (size_t i = 0; i < g->all.count; i++) {
        const given *one = &g->all.items[i];
        assert(one->offset + one->size <= g->bytes && "the file has all weights");
        one->weight->data.bytes = room + one->offset;
        one->weight->data.size = (int64_t)one->size;
        one->weight->data.is_splat = false;
        one->weight->data.file = NULL;
    }
}

static ig_status give_elements(giver *g) {
    char *room = NULL;
    IG_TRY(make_room(g, &room));
    IG_TRY(copy_all(g, room));
    (void)mprotect(room, g->bytes, PROT_READ);
    point_weights(g, room);
    return IG_OK;
}

static ig_status give_weights(giver *g, ig_str metadata) {
    IG_TRY(ig_checkpoint_read(g->module, &g->arena, g->path, metadata, &g->checkpoint));
    for (size_t i = 0; i < g->module->weights.count; i++) {
        IG_TRY(add_weight(g, g->module->weights.items[i]));
    }
    if (g->all.count == 0) {
        return FAIL(g, IG_INVALID,
                    "none of its %zu tensors has the name of a weight of the model",
                    g->checkpoint.tensors.count);
    }
    return g->bytes ? give_elements(g) : IG_OK;
}

ig_status ig_import_checkpoint(ig_module *module, const char *folder) {
    giver g = { .context = module->context, .module = module };
    char why[256];
    ig_file_map *map = ig_module_add_map(module);
    ig_arena_init(&g.arena, &module->context->budget);
    g.path = ig_arena_printf(&g.arena, "%s/.metadata", folder);
    ig_status status = ig_context_map(module->context, g.path, map, why);
    if (status != IG_OK) {
        status = FAIL(&g, status, "the checkpoint cannot be read: %s", why);
    } else {
        status = give_weights(&g, (ig_str){ map->data, map->size });
    }
    ig_arena_fini(&g.arena);
    return status;
}
