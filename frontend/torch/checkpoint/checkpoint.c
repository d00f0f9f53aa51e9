/* Checkpoints of sharded modules.  SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/checkpoint/checkpoint.h"

#include "base/checked.h"
#include "base/map.h"
#include "base/silence.h"
#include "base/platform/context_map.h"
#include "base/platform/platform.h"
#include "frontend/torch/pickle/pickle.h"

#include <string.h>

#define FAIL(c, status, ...)                                                   \
    ig_error(&(c)->context->diag, status, &(ig_location){ .file = (c)->path }, \
             __VA_ARGS__)

enum { PAIRS = 2048 }; /* chunks of a tensor up to which each is held against each */

/* ---- the pickle of what there is ---- */

/* Classes of the writer, and the form of its paths and dates: none is looked into. */
static bool is_of_writer(void *user, ig_str module, ig_str name) {
    (void)user;
    (void)name;
    return ig_str_starts(module, "torch") || ig_str_is(module, "pathlib") ||
           ig_str_is(module, "datetime");
}

static ig_status refuse_tensor(const ig_checkpoint *c, ig_str name, const char *what) {
    return FAIL(c, IG_INVALID, "the checkpoint's tensor '%.*s' %s", IG_STR_ARG(name),
                what);
}

/* A torch.Size, or another tuple, of numbers from 0 on. */
static bool read_extents(const ig_py *value, uint32_t *rank,
                         int64_t out[IG_TENSOR_RANK]) {
    bool is_good = value && value->kind == IG_PY_TUPLE &&
                   value->as.list.count <= IG_TENSOR_RANK;
    *rank = is_good ? (uint32_t)value->as.list.count : 0;
    for (uint32_t i = 0; is_good && i < *rank; i++) {
        const ig_py *item = value->as.list.items[i];
        is_good = item->kind == IG_PY_INT && item->as.i >= 0;
        out[i] = is_good ? item->as.i : 0;
    }
    return is_good;
}

/* The first of the tensor's properties. */
static const ig_torch_dtype_info *read_dtype(const ig_py *properties) {
    const ig_py *state = properties && properties->kind == IG_PY_OBJECT
                             ? properties->as.object.state
                             : NULL;
    const ig_py *dtype = properties ? ig_py_get(properties, "dtype") : NULL;
    if (state && state->kind == IG_PY_TUPLE && state->as.list.count > 0) {
        dtype = state->as.list.items[0];
    }
    return dtype && dtype->kind == IG_PY_DTYPE ? dtype->as.dtype : NULL;
}

static bool count_box(const int64_t *extents, uint32_t rank, int64_t *out) {
    *out = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (!ig_mul_i64(*out, extents[i], out)) {
            return false;
        }
    }
    return true;
}

static bool read_chunk(const ig_py *value, const ig_checkpoint_tensor *tensor,
                       ig_checkpoint_chunk *out) {
    uint32_t begin_rank, rank;
    bool is_good = read_extents(ig_py_get(value, "offsets"), &begin_rank, out->begin) &&
                   read_extents(ig_py_get(value, "sizes"), &rank, out->extents) &&
                   begin_rank == tensor->rank && rank == tensor->rank;
    for (uint32_t i = 0; is_good && i < rank; i++) {
        is_good = out->extents[i] <= tensor->extents[i] &&
                  out->begin[i] <= tensor->extents[i] - out->extents[i];
    }
    return is_good;
}

static bool do_overlap(const ig_checkpoint_chunk *a, const ig_checkpoint_chunk *b,
                       uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++) {
        if (a->begin[i] >= b->begin[i] + b->extents[i] ||
            b->begin[i] >= a->begin[i] + a->extents[i]) {
            return false;
        }
    }
    return true;
}

/* All elements, each once. */
static bool is_covered(const ig_checkpoint_tensor *tensor) {
    int64_t all, sum = 0, own;
    if (!count_box(tensor->extents, tensor->rank, &all)) {
        return false;
    }
    for (size_t i = 0; i < tensor->chunk_count; i++) {
        if (!count_box(tensor->chunks[i].extents, tensor->rank, &own) ||
            !ig_add_i64(sum, own, &sum)) {
            return false;
        }
        for (size_t k = 0; own > 0 && tensor->chunk_count <= PAIRS && k < i; k++) {
            if (do_overlap(&tensor->chunks[i], &tensor->chunks[k], tensor->rank)) {
                return false;
            }
        }
    }
    return sum == all;
}

static ig_status read_tensor(ig_checkpoint *c, ig_str name, const ig_py *value) {
    const ig_py *chunks = ig_py_get(value, "chunks");
    ig_checkpoint_tensor tensor = {
        .name = name, .dtype = read_dtype(ig_py_get(value, "properties"))
    };
    if (!chunks) { /* of bytes */
        IG_PUSH(c->arena, &c->objects, (ig_checkpoint_object){ .name = name });
        return IG_OK;
    }
    if (!tensor.dtype || chunks->kind != IG_PY_LIST ||
        !read_extents(ig_py_get(value, "size"), &tensor.rank, tensor.extents)) {
        return refuse_tensor(c, name, "has no type that is known here");
    }
    tensor.chunk_count = chunks->as.list.count;
    tensor.chunks = IG_NEW_ARRAY(c->arena, ig_checkpoint_chunk, tensor.chunk_count + 1);
    for (size_t i = 0; i < tensor.chunk_count; i++) {
        if (!read_chunk(chunks->as.list.items[i], &tensor, &tensor.chunks[i])) {
            return refuse_tensor(c, name, "has a chunk beyond its extents");
        }
    }
    if (!is_covered(&tensor)) {
        return refuse_tensor(c, name, "is not covered once by its chunks");
    }
    IG_PUSH(c->arena, &c->tensors, tensor);
    return IG_OK;
}

/* The chunk that begins there; NULL for `begin` is a whole tensor. */
static ig_checkpoint_chunk *find_chunk(const ig_checkpoint_tensor *tensor,
                                       const ig_py *begin) {
    int64_t at[IG_TENSOR_RANK] = { 0 };
    uint32_t rank = tensor->rank;
    if (begin && begin->kind != IG_PY_NONE &&
        (!read_extents(begin, &rank, at) || rank != tensor->rank)) {
        return NULL;
    }
    for (size_t i = 0; i < tensor->chunk_count; i++) {
        if (memcmp(tensor->chunks[i].begin, at, rank * sizeof *at) == 0) {
            return &tensor->chunks[i];
        }
    }
    return NULL;
}

/* The position of a chunk: file, first byte, bytes. */
static bool read_span(const ig_py *position, ig_checkpoint_chunk *out) {
    const ig_py *file = ig_py_get(position, "relative_path"),
                *offset = ig_py_get(position, "offset"),
                *size = ig_py_get(position, "length");
    if (!file || file->kind != IG_PY_STR || !offset || offset->kind != IG_PY_INT ||
        !size || size->kind != IG_PY_INT || offset->as.i < 0 || size->as.i < 0) {
        return false;
    }
    out->file = file->as.text;
    out->offset = offset->as.i;
    out->size = size->as.i;
    return true;
}

static ig_status read_position(ig_checkpoint *c, const ig_map *names,
                               const ig_map *objects, const ig_py *index,
                               const ig_py *position) {
    const ig_py *name = ig_py_get(index, "fqn");
    bool is_named = name && name->kind == IG_PY_STR;
    const ig_checkpoint_tensor *tensor = is_named ? ig_map_get(names, name->as.text)
                                                  : NULL;
    ig_checkpoint_object *object = is_named ? ig_map_get(objects, name->as.text) : NULL;
    if (tensor) {
        ig_checkpoint_chunk *chunk = find_chunk(tensor, ig_py_get(index, "offset"));
        return chunk && read_span(position, chunk)
                   ? IG_OK
                   : refuse_tensor(c, tensor->name, "has a chunk without a position");
    }
    return !object || read_span(position, &object->chunk)
               ? IG_OK
               : refuse_tensor(c, object->name, "has no position");
}

static ig_status read_all(ig_checkpoint *c, const ig_py *root) {
    const ig_py *tensors = ig_py_get(root, "state_dict_metadata");
    const ig_py *entries = ig_py_get(root, "storage_data");
    if (!tensors || tensors->kind != IG_PY_DICT || !entries ||
        entries->kind != IG_PY_DICT) {
        return FAIL(c, IG_INVALID,
                    "it is not the metadata of a torch.distributed checkpoint");
    }
    for (size_t i = 0; i < tensors->as.dict.count; i++) {
        const ig_py *name = tensors->as.dict.keys[i];
        if (name->kind == IG_PY_STR) {
            IG_TRY(read_tensor(c, name->as.text, tensors->as.dict.values[i]));
        }
    }
    ig_map names;
    ig_map_init(&names, c->arena);
    for (size_t i = c->tensors.count; i-- > 0;) { /* of equal ones the first counts */
        ig_map_set(&names, c->tensors.items[i].name, &c->tensors.items[i]);
    }
    ig_map objects;
    ig_map_init(&objects, c->arena);
    for (size_t i = c->objects.count; i-- > 0;) {
        ig_map_set(&objects, c->objects.items[i].name, &c->objects.items[i]);
    }
    for (size_t i = 0; i < entries->as.dict.count; i++) {
        IG_TRY(read_position(c, &names, &objects, entries->as.dict.keys[i],
                             entries->as.dict.values[i]));
    }
    return IG_OK;
}

ig_status ig_checkpoint_read(ig_module *module, ig_arena *arena, const char *path,
                             ig_str metadata, ig_checkpoint *out) {
    *out = (ig_checkpoint){
        .context = module->context, .module = module, .arena = arena, .path = path
    };
    ig_pickle_set *set = IG_NEW(arena, ig_pickle_set);
    ig_pickle_options options = { .file = path,
                                  .name = ".metadata",
                                  .storage_prefix = "",
                                  .storage_suffix = "",
                                  .is_allowed = is_of_writer };
    ig_py *root = NULL;
    ig_pickle_set_init_bare(set, module->context, arena);
    IG_TRY(ig_pickle_read(set, metadata, &options, &root));
    return read_all(out, root);
}

/* ---- the chunks ---- */

static ig_status open_file(ig_checkpoint *c, ig_str name, ig_str *out_bytes) {
    char why[128];
    for (size_t i = 0; i < c->files.count; i++) {
        if (ig_str_equal(c->files.items[i].name, name)) {
            *out_bytes = c->files.items[i].bytes;
            return IG_OK;
        }
    }
    ig_file_map *map = ig_module_add_map(c->module);
    ig_status status = ig_context_map_beneath(c->context, c->path, name, map, why);
    if (status != IG_OK) {
        return FAIL(c, status, "its file '%.*s' cannot be read: %s", IG_STR_ARG(name),
                    why);
    }
    *out_bytes = (ig_str){ map->data, map->size };
    IG_PUSH(c->arena, &c->files, (ig_checkpoint_file){ name, *out_bytes });
    return IG_OK;
}

/* Reads an archive of torch.save. */
static ig_status read_saved(ig_checkpoint *c, ig_arena *arena, const char *file,
                            ig_str bytes, ig_py **out) {
    ig_archive *archive = IG_NEW(arena, ig_archive);
    ig_pickle_set *set = IG_NEW(arena, ig_pickle_set);
    ig_archive_entry *entry;
    ig_str text;
    IG_TRY(ig_archive_open(archive, c->context, arena, file, bytes));
    archive->base = -1;
    ig_pickle_set_init(set, archive);
    IG_TRY(ig_archive_need(archive, IG_STR("data.pkl"), &entry));
    IG_TRY(ig_archive_read_text(archive, entry, &text));
    ig_pickle_options options = { .file = file,
                                  .name = "data.pkl",
                                  .storage_prefix = "data/",
                                  .storage_suffix = "" };
    return ig_pickle_read(set, text, &options, out);
}

static bool fits_chunk(const ig_py_tensor *saved, const ig_checkpoint_tensor *tensor,
                       const ig_checkpoint_chunk *chunk) {
    return saved && !saved->sparse && !saved->is_conj && !saved->is_neg &&
           saved->dtype == tensor->dtype && saved->rank == tensor->rank &&
           memcmp(saved->sizes, chunk->extents, tensor->rank * sizeof(int64_t)) == 0;
}

/* Elements of the box, row-major, to their places among the tensor's. */
static void place_rows(const ig_checkpoint_tensor *tensor,
                       const ig_checkpoint_chunk *chunk, const char *from, char *to) {
    size_t width = tensor->dtype->bits / 8u;
    uint32_t last = tensor->rank ? tensor->rank - 1 : 0;
    int64_t run = tensor->rank ? chunk->extents[last] : 1, at[IG_TENSOR_RANK] = { 0 };
    int64_t count;
    if (!count_box(chunk->extents, tensor->rank, &count) || count == 0) {
        return;
    }
    for (int64_t done = 0; done < count; done += run) {
        int64_t position = 0;
        for (uint32_t i = 0; i < tensor->rank; i++) {
            position = position * tensor->extents[i] + chunk->begin[i] + at[i];
        }
        memcpy(to + (size_t)position * width, from, (size_t)run * width);
        from += (size_t)run * width;
        for (uint32_t i = last; i > 0 && ++at[i - 1] == chunk->extents[i - 1]; i--) {
            at[i - 1] = 0;
        }
    }
}

/* Reads the archive at a chunk's place; `arena` is for it alone. */
static ig_status read_chunk_value(ig_checkpoint *c, ig_arena *arena, ig_str name,
                                  const ig_checkpoint_chunk *chunk,
                                  const char **out_file, ig_py **out_value) {
    ig_str held = { 0 };
    if (!chunk->file.data) {
        return refuse_tensor(c, name, "has a chunk without a position");
    }
    IG_TRY(open_file(c, chunk->file, &held));
    if ((uint64_t)chunk->offset > held.size ||
        (uint64_t)chunk->size > held.size - (uint64_t)chunk->offset) {
        return refuse_tensor(c, name, "has a chunk beyond the end of its file");
    }
    ig_str bytes = { held.data + chunk->offset, (size_t)chunk->size };
    *out_file = ig_arena_printf(arena, "%s: %.*s", c->path, IG_STR_ARG(chunk->file));
    return read_saved(c, arena, *out_file, bytes, out_value);
}

static ig_status copy_chunk(ig_checkpoint *c, ig_arena *arena,
                            const ig_checkpoint_tensor *tensor,
                            const ig_checkpoint_chunk *chunk, char *to) {
    const char *file = NULL;
    ig_py *value = NULL;
    ig_archive_span span;
    IG_TRY(read_chunk_value(c, arena, tensor->name, chunk, &file, &value));
    const ig_py_tensor *saved = value->kind == IG_PY_TENSOR ? value->as.tensor : NULL;
    if (!fits_chunk(saved, tensor, chunk)) {
        return refuse_tensor(c, tensor->name,
                             "has a chunk of another type in its file");
    }
    IG_TRY(ig_py_tensor_bytes(c->context, arena, saved, &(ig_location){ .file = file },
                              &span));
    place_rows(tensor, chunk, span.bytes.data, to);
    return IG_OK;
}

ig_status ig_checkpoint_copy(ig_checkpoint *checkpoint,
                             const ig_checkpoint_tensor *tensor, char *to) {
    ig_status status = IG_OK;
    for (size_t i = 0; i < tensor->chunk_count && status == IG_OK; i++) {
        ig_arena arena;
        ig_arena_init(&arena, &checkpoint->context->budget);
        status = copy_chunk(checkpoint, &arena, tensor, &tensor->chunks[i], to);
        ig_arena_fini(&arena);
    }
    return status;
}

/* An object whose pickle is refused, of classes that nobody knows, is no number. */
ig_status ig_checkpoint_count(ig_checkpoint *checkpoint,
                              const ig_checkpoint_object *object, ig_dtype *out_dtype,
                              int64_t *out_integer, double *out_real) {
    ig_arena arena;
    const char *file = NULL;
    ig_py *value = NULL;
    ig_arena_init(&arena, &checkpoint->context->budget);
    ig_silence silence = ig_silence_begin(checkpoint->context);
    ig_status status = read_chunk_value(checkpoint, &arena, object->name,
                                        &object->chunk, &file, &value);
    ig_silence_end(&silence);
    bool is_integer = status == IG_OK && value->kind == IG_PY_INT;
    bool is_real = status == IG_OK && value->kind == IG_PY_FLOAT;
    *out_dtype = is_integer ? IG_DT_i64 : is_real ? IG_DT_f64 : IG_DT_COUNT;
    *out_integer = is_integer ? value->as.i : 0;
    *out_real = is_real ? value->as.f : 0;
    ig_arena_fini(&arena);
    return status == IG_LIMIT ? status : IG_OK;
}
