/* Checkpoints as torch.distributed.checkpoint writes them.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     FOLDER/__0_0.distcp      tensors as torch.save writes them, one after another
 *     FOLDER/.metadata         a pickle: tensors, their chunks, the position of each
 *
 * All of it is written into a folder beside, synced, and renamed: a process that is
 * killed leaves no half of one under FOLDER's name.  Its folder has a lock, by which
 * the next writer knows the remains of a dead one.
 */
#include "base/platform/platform.h"
#include "base/platform/platform_errno.h"
#include "driver/artifact/write.h"
#include "driver/values/argument.h"
#include "frontend/torch/pickle/dtypes.h"
#include "ingot/values.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTIAL ".partial-"
static const char data_name[] = "__0_0.distcp", metadata_name[] = ".metadata";

/* A tensor, and the position of its bytes in the file of data. */
typedef struct stored {
    const char *path; /* keys of nested dicts, a '/' between them */
    const char *name; /* a '.' instead */
    const ig_argument *value;
    const ig_torch_dtype_info *dtype;
    uint64_t offset, size;
} stored;

typedef struct writing {
    ig_context *context;
    const char *folder;
    const ig_argument *values;
    const char *const *names;
    size_t count;
    ig_arena arena;
    stored *all;
    IG_VEC(ig_file_part) parts;
    char *partial; /* malloc: the folder that is written; NULL: none */
    int lock;      /* its handle, or -1 */
} writing;

static ig_status report_fault(const writing *w, ig_status status, const char *what,
                              const char *why) {
    ig_location where = { .file = w->folder };
    return ig_error(&w->context->diag, status, &where, "%s: %s", what, why);
}

/* ---- pickles: opcodes of protocol 2 ---- */

static void put_text(ig_writer *w, const char *text) {
    uint32_t size = (uint32_t)strlen(text);
    ig_put_char(w, 'X');
    ig_put_bytes(w, &size, sizeof size);
    ig_put_bytes(w, text, size);
}

static void put_integer(ig_writer *w, int64_t number) {
    ig_put_bytes(w, "\x8a\x08", 2); /* LONG1 of 8 bytes */
    ig_put_bytes(w, &number, sizeof number);
}

static void put_global(ig_writer *w, const char *module, const char *name) {
    ig_put(w, "c%s\n%s\n", module, name);
}

/* An instance without its state. */
static void put_object(ig_writer *w, const char *module, const char *class_name) {
    put_global(w, module, class_name);
    ig_put_bytes(w, ")\x81", 2);
}

/* An instance whose fields follow, up to end_fields. */
static void begin_fields(ig_writer *w, const char *module, const char *class_name) {
    put_object(w, module, class_name);
    ig_put_bytes(w, "}(", 2);
}

static void end_fields(ig_writer *w) {
    ig_put_bytes(w, "ub", 2);
}

static void put_tuple(ig_writer *w, const int64_t *numbers, uint32_t count) {
    ig_put_char(w, '(');
    for (uint32_t i = 0; i < count; i++) {
        put_integer(w, numbers[i]);
    }
    ig_put_char(w, 't');
}

/* A torch.Size; NULL for numbers: zeros. */
static void put_size(ig_writer *w, const int64_t *numbers, uint32_t count) {
    static const int64_t zeros[IG_TENSOR_RANK];
    put_global(w, "torch", "Size");
    put_tuple(w, numbers ? numbers : zeros, count);
    ig_put_bytes(w, "\x85R", 2);
}

/* ---- tensors, as torch.save ---- */

static void put_tensor(ig_writer *w, const stored *s) {
    int64_t strides[IG_TENSOR_RANK], count = 1;
    for (uint32_t i = s->value->rank; i-- > 0;) {
        strides[i] = count;
        count *= s->value->dims[i];
    }
    ig_put_bytes(w, "\x80\x02", 2);
    put_global(w, "torch._utils", "_rebuild_tensor_v2");
    ig_put_bytes(w, "((", 2);
    put_text(w, "storage");
    put_global(w, "torch", s->dtype->storage);
    put_text(w, "0");
    put_text(w, "cpu");
    put_integer(w, count);
    ig_put_bytes(w, "tQ", 2);
    put_integer(w, 0);
    put_tuple(w, s->value->dims, s->value->rank);
    put_tuple(w, strides, s->value->rank);
    ig_put_char(w, '\x89'); /* False: it needs no gradient */
    put_global(w, "collections", "OrderedDict");
    ig_put_bytes(w, ")RtR.", 5);
}

/* Its archive's parts, after those there are; bytes of the tensor are borrowed. */
static void pack_tensor(writing *w, stored *s, uint64_t offset) {
    ig_writer pickle;
    ig_file_part *parts;
    size_t count;
    ig_writer_init(&pickle, &w->arena);
    put_tensor(&pickle, s);
    const ig_artifact_entry entries[] = {
        { .name = IG_STR("archive/data.pkl"), .data = ig_writer_str(&pickle) },
        { .name = IG_STR("archive/byteorder"), .data = IG_STR("little") },
        { .name = IG_STR("archive/data/0"),
          .data = { s->value->data, s->value->size } },
        { .name = IG_STR("archive/version"), .data = IG_STR("3\n") },
    };
    ig_artifact_repack(&w->arena, entries, IG_COUNT_OF(entries), &parts, &count);
    s->offset = offset;
    for (size_t i = 0; i < count; i++) {
        IG_PUSH(&w->arena, &w->parts, parts[i]);
        s->size += parts[i].size;
    }
}

/* ---- the metadata ---- */

static const char metadata_module[] = "torch.distributed.checkpoint.metadata";

static void put_properties(ig_writer *w, const ig_torch_dtype_info *dtype) {
    put_object(w, metadata_module, "TensorProperties");
    ig_put_char(w, '(');
    put_global(w, "torch", dtype->name);
    put_global(w, "torch.serialization", "_get_layout");
    put_text(w, "torch.strided");
    ig_put_bytes(w, "\x85R\x89", 3);
    put_global(w, metadata_module, "_MEM_FORMAT_ENCODING");
    put_integer(w, 0); /* contiguous */
    ig_put_bytes(w, "\x85R\x89tb", 5);
}

static void put_tensor_metadata(ig_writer *w, const stored *s) {
    begin_fields(w, metadata_module, "TensorStorageMetadata");
    put_text(w, "properties");
    put_properties(w, s->dtype);
    put_text(w, "size");
    put_size(w, s->value->dims, s->value->rank);
    put_text(w, "chunks");
    ig_put_char(w, ']');
    begin_fields(w, metadata_module, "ChunkStorageMetadata");
    put_text(w, "offsets");
    put_size(w, NULL, s->value->rank);
    put_text(w, "sizes");
    put_size(w, s->value->dims, s->value->rank);
    end_fields(w);
    ig_put_char(w, 'a');
    end_fields(w);
}

/* Keys of nested dicts. */
static void put_path(writing *w, ig_writer *to, const stored *s) {
    ig_put_char(to, '(');
    for (const char *at = s->path; *at;) {
        size_t size = strcspn(at, "/");
        put_text(to, ig_arena_printf(&w->arena, "%.*s", (int)size, at));
        at += size + (at[size] == '/');
    }
    ig_put_char(to, 't');
}

static void put_position(ig_writer *w, const stored *s) {
    begin_fields(w, metadata_module, "MetadataIndex");
    put_text(w, "fqn");
    put_text(w, s->name);
    put_text(w, "offset");
    put_size(w, NULL, s->value->rank);
    put_text(w, "index");
    put_integer(w, 0);
    end_fields(w);
    begin_fields(w, "torch.distributed.checkpoint.filesystem", "_StorageInfo");
    put_text(w, "relative_path");
    put_text(w, data_name);
    put_text(w, "offset");
    put_integer(w, (int64_t)s->offset);
    put_text(w, "length");
    put_integer(w, (int64_t)s->size);
    put_text(w, "transform_descriptors");
    ig_put_char(w, 'N');
    end_fields(w);
}

static ig_str make_metadata(writing *w) {
    ig_writer out;
    ig_writer_init(&out, &w->arena);
    ig_put_bytes(&out, "\x80\x02", 2);
    begin_fields(&out, metadata_module, "Metadata");
    put_text(&out, "state_dict_metadata");
    ig_put_bytes(&out, "}(", 2);
    for (size_t i = 0; i < w->count; i++) {
        put_text(&out, w->all[i].name);
        put_tensor_metadata(&out, &w->all[i]);
    }
    ig_put_char(&out, 'u');
    put_text(&out, "planner_data");
    ig_put_bytes(&out, "}(", 2);
    for (size_t i = 0; i < w->count; i++) {
        put_text(&out, w->all[i].name);
        put_path(w, &out, &w->all[i]);
    }
    ig_put_char(&out, 'u');
    put_text(&out, "storage_data");
    ig_put_bytes(&out, "}(", 2);
    for (size_t i = 0; i < w->count; i++) {
        put_position(&out, &w->all[i]);
    }
    ig_put_char(&out, 'u');
    put_text(&out, "storage_meta");
    ig_put_char(&out, 'N');
    put_text(&out, "version");
    put_text(&out, "1.0.0");
    end_fields(&out);
    ig_put_char(&out, '.');
    return ig_writer_str(&out);
}

/* ---- folders ---- */

/* Removes a folder of files alone, whose handle this takes over. */
static void remove_folder(int handle, const char *path) {
    DIR *all = fdopendir(handle);
    for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)unlinkat(dirfd(all), entry->d_name, 0);
        }
    }
    (void)rmdir(path);
    if (all) {
        closedir(all);
    } else {
        close(handle);
    }
}

static int open_locked(const char *path) {
    int handle = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (handle >= 0 && flock(handle, LOCK_EX | LOCK_NB) != 0) {
        close(handle);
        handle = -1;
    }
    return handle;
}

/* Removes the folders that killed writers have left beside it. */
static void remove_stale(writing *w, const char *parent) {
    DIR *all = opendir(parent);
    for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
        const char *mark = strstr(entry->d_name, PARTIAL);
        if (mark && strspn(mark + strlen(PARTIAL), "0123456789") ==
                        strlen(mark + strlen(PARTIAL))) {
            char *path = ig_arena_printf(&w->arena, "%s/%s", parent, entry->d_name);
            int handle = open_locked(path);
            if (handle >= 0) {
                remove_folder(handle, path);
            }
        }
    }
    if (all) {
        closedir(all);
    }
}

/* "a/b" -> "a", "b" -> ".", "/b" -> "/". */
static const char *parent_of(writing *w) {
    const char *slash = strrchr(w->folder, '/');
    return !slash               ? "."
           : slash == w->folder ? "/"
                                : ig_arena_printf(&w->arena, "%.*s",
                                                  (int)(slash - w->folder), w->folder);
}

static ig_status open_partial(writing *w) {
    size_t size = strlen(w->folder) + sizeof PARTIAL + 24;
    char *path = malloc(size);
    if (!path) {
        return report_fault(w, IG_LIMIT, "cannot write", "memory ran out");
    }
    (void)snprintf(path, size, "%s" PARTIAL "%ld", w->folder, (long)getpid());
    if (mkdir(path, 0777) != 0) {
        int reason = errno;
        free(path);
        return report_fault(w, IG_IO, "cannot write", strerror(reason));
    }
    w->partial = path;
    w->lock = open_locked(path);
    return w->lock >= 0 ? IG_OK
                        : report_fault(w, IG_IO, "cannot write", strerror(errno));
}

static ig_status sync_path(writing *w, const char *path) {
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    bool is_good = handle >= 0 && fsync(handle) == 0;
    int reason = errno;
    if (handle >= 0) {
        close(handle);
    }
    return is_good ? IG_OK : report_fault(w, IG_IO, "cannot sync", strerror(reason));
}

static ig_status write_file(writing *w, const char *name, const ig_file_part *parts,
                            size_t count) {
    char why[128];
    char *path = ig_arena_printf(&w->arena, "%s/%s", w->partial, name);
    ig_status status = ig_file_publish(path, parts, count, why);
    if (status != IG_OK) {
        return report_fault(w, status, "cannot write", why);
    }
    return sync_path(w, path);
}

/* ---- the whole ---- */

static ig_status take_tensors(writing *w) {
    uint64_t offset = 0;
    w->all = IG_NEW_ARRAY(&w->arena, stored, w->count + 1);
    for (size_t i = 0; i < w->count; i++) {
        const ig_argument *value = &w->values[i];
        ig_dtype dtype;
        bool is_tensor = value->kind == IG_ARGUMENT_TENSOR &&
                         value->rank <= IG_TENSOR_RANK &&
                         ig_dtype_parse(ig_str_of(value->dtype), &dtype);
        stored *s = &w->all[i];
        *s = (stored){ .path = w->names[i],
                       .name = ig_arena_strdup(&w->arena, w->names[i]),
                       .value = value,
                       .dtype = is_tensor ? ig_torch_dtype_of_ir(dtype) : NULL };
        if (!s->dtype) {
            return ig_error(&w->context->diag, IG_UNSUPPORTED,
                            &(ig_location){ .file = w->folder },
                            "'%s' is not a tensor of a type that torch has", s->path);
        }
        for (char *at = (char *)(uintptr_t)s->name; *at; at++) {
            *at = *at == '/' ? '.' : *at;
        }
        pack_tensor(w, s, offset);
        offset += s->size;
    }
    return IG_OK;
}

static ig_status write_checkpoint(void *arguments) {
    writing *w = arguments;
    char why[128];
    const char *parent = parent_of(w);
    if (ig_file_exists(w->folder)) {
        return report_fault(w, IG_INVALID, "cannot write",
                            "there is something of that name");
    }
    ig_status status = ig_folder_create(parent, why);
    if (status != IG_OK) {
        return report_fault(w, status, "cannot write", why);
    }
    remove_stale(w, parent);
    IG_TRY(take_tensors(w));
    IG_TRY(open_partial(w));
    IG_TRY(write_file(w, data_name, w->parts.items, w->parts.count));
    ig_str metadata = make_metadata(w);
    IG_TRY(write_file(w, metadata_name, &(ig_file_part){ metadata.data, metadata.size },
                      1));
    IG_TRY(sync_path(w, w->partial));
    if (rename(w->partial, w->folder) != 0) {
        return report_fault(w, IG_IO, "cannot write", strerror(errno));
    }
    free(w->partial);
    w->partial = NULL;
    return sync_path(w, parent);
}

ig_status ig_checkpoint_write(ig_context *context, const char *folder,
                              const ig_argument *tensors, const char *const *names,
                              size_t count) {
    writing w = { .context = context,
                  .folder = folder,
                  .values = tensors,
                  .names = names,
                  .count = count,
                  .lock = -1 };
    ig_arena_init(&w.arena, &context->budget);
    ig_status status = ig_driver_guard(context, write_checkpoint, &w);
    if (w.partial && w.lock >= 0) {
        remove_folder(w.lock, w.partial);
    } else if (w.lock >= 0) {
        close(w.lock);
    }
    free(w.partial);
    ig_arena_fini(&w.arena);
    return ig_driver_settle(context, status);
}
