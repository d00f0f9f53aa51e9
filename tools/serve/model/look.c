/* Reading folders of models.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_CONFIG = 1 << 20, PATH_SIZE = 4096 };

static const char *const files[] = { "model.ingot", "model.onnx", "model.pt",
                                     "model.pt2" };

bool stamps_equal(const stamp *a, const stamp *b) {
    return a->size == b->size && a->changed_ns == b->changed_ns &&
           a->inode == b->inode && a->device == b->device;
}

bool is_model_name(const char *name) {
    return *name && *name != '.' && strlen(name) <= 255 && !strchr(name, '/');
}

IG_PRINTF(2, 3)
static void write_path(char path[PATH_SIZE], const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(path, PATH_SIZE, format, args);
    va_end(args);
}

static bool stamp_file(const char *path, stamp *out) {
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return false;
    }
    *out = (stamp){ .size = facts.st_size,
                    .changed_ns = facts.st_mtim.tv_sec * 1000000000LL +
                                  facts.st_mtim.tv_nsec,
                    .inode = (int64_t)facts.st_ino,
                    .device = (int64_t)facts.st_dev };
    return true;
}

/* The text of a small file; NULL: errno says why not. */
static char *read_small_file(const char *path, size_t *out_size) {
    int from = open(path, O_RDONLY | O_CLOEXEC);
    char *text = from < 0 ? NULL : malloc(LARGEST_CONFIG);
    ssize_t size = text ? read(from, text, LARGEST_CONFIG) : -1;
    int failed = errno;
    if (from >= 0) {
        close(from);
    }
    if (size < 0 || size == LARGEST_CONFIG) {
        free(text);
        errno = size < 0 ? failed : EFBIG;
        return NULL;
    }
    *out_size = (size_t)size;
    return text;
}

/* Grows a list by one zeroed element; NULL: memory ran out. */
static void *grow_list(void *items, size_t *count, size_t size) {
    char **list = items;
    char *grown = realloc(*list, (*count + 1) * size);
    if (!grown) {
        return NULL;
    }
    *list = grown;
    return memset(grown + (*count)++ * size, 0, size);
}

static int compare_versions(const void *a, const void *b) {
    const found_version *x = a, *y = b;
    return (x->id < y->id) - (x->id > y->id);
}

static int compare_models(const void *a, const void *b) {
    return strcmp(((const found_model *)a)->name, ((const found_model *)b)->name);
}

/* Folders are versions when their names are numbers from 1 on. */
static int64_t read_version(const char *name) {
    char *end;
    errno = 0;
    long long version = strtoll(name, &end, 10);
    return *name >= '1' && *name <= '9' && !*end && !errno ? version : 0;
}

static void find_file(const char *folder, const char *wanted, found_version *out) {
    char path[PATH_SIZE];
    size_t count = wanted ? 1 : sizeof files / sizeof *files;
    for (size_t i = 0; i < count && !out->path; i++) {
        write_path(path, "%s/%lld/%s", folder, (long long)out->id,
                   wanted ? wanted : files[i]);
        if (stamp_file(path, &out->model)) {
            out->path = strdup(path);
        }
    }
}

/* The file that config.json names in place of model.*, and the stamp of its script; a
 * broken config is told later. */
static char *name_file(const char *folder, const found_model *model,
                       stamp *out_script) {
    model_config config;
    char words[WORDS], path[PATH_SIZE];
    char *file = NULL;
    if (model->config &&
        config_read(&config, model->config, model->config_size, words)) {
        file = config.file && !strchr(config.file, '/') ? strdup(config.file) : NULL;
        write_path(path, "%s/%s", folder, config.script ? config.script : "");
        stamp_file(path, out_script);
    }
    if (model->config) {
        config_free(&config);
    }
    return file;
}

static void read_config_file(const char *folder, found_model *out, stamp *out_stamp) {
    char path[PATH_SIZE];
    write_path(path, "%s/config.json", folder);
    if (!stamp_file(path, out_stamp)) {
        return;
    }
    out->config = read_small_file(path, &out->config_size);
    if (!out->config && asprintf(&out->reason, "%s: %s", path, strerror(errno)) < 0) {
        out->reason = NULL;
    }
}

static void read_model_folder(const char *folder, const char *name, found_list *out) {
    found_model *model = grow_list(&out->models, &out->count, sizeof *model);
    DIR *at = model ? opendir(folder) : NULL;
    if (!model || !(model->name = strdup(name))) {
        out->count -= model ? 1 : 0;
    } else {
        stamp config = { 0 }, script = { 0 };
        read_config_file(folder, model, &config);
        char *file = name_file(folder, model, &script);
        for (struct dirent *entry; at && (entry = readdir(at));) {
            int64_t value = read_version(entry->d_name);
            found_version *version = value ? grow_list(&model->versions, &model->count,
                                                       sizeof *version)
                                           : NULL;
            if (version) {
                *version =
                    (found_version){ .id = value, .config = config, .script = script };
                find_file(folder, file, version);
            }
        }
        free(file);
        if (model->count > 1) {
            qsort(model->versions, model->count, sizeof *model->versions,
                  compare_versions);
        }
    }
    if (at) {
        closedir(at);
    }
}

static void read_folder(const char *folder, found_list *out) {
    DIR *at = opendir(folder);
    for (struct dirent *entry; at && (entry = readdir(at));) {
        char path[PATH_SIZE];
        struct stat facts;
        write_path(path, "%s/%s", folder, entry->d_name);
        if (is_model_name(entry->d_name) && stat(path, &facts) == 0 &&
            S_ISDIR(facts.st_mode)) {
            read_model_folder(path, entry->d_name, out);
        }
    }
    if (at) {
        closedir(at);
    }
}

/* "resnet" of "models/resnet.onnx" and of "resnet/model.onnx". */
static char *name_of_file(const char *path) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    if (slash && slash > path && length == 5 && strncmp(base, "model", 5) == 0) {
        const char *end = slash;
        for (base = slash; base > path && base[-1] != '/';) {
            base--;
        }
        length = (size_t)(end - base);
    }
    return strndup(base, length);
}

static void read_one_file(const char *path, const char *name, found_list *out) {
    found_model *model = grow_list(&out->models, &out->count, sizeof *model);
    if (!model) {
        return;
    }
    model->name = name ? strdup(name) : name_of_file(path);
    model->versions = calloc(1, sizeof *model->versions);
    if (!model->name || !model->versions) {
        free(model->name);
        free(model->versions);
        out->count--;
        return;
    }
    model->count = 1;
    model->versions->id = 1;
    if (stamp_file(path, &model->versions->model)) {
        model->versions->path = strdup(path);
    }
}

void look_at(const char *path, const char *name, found_list *out) {
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        read_folder(path, out);
    } else {
        read_one_file(path, name, out);
    }
    if (out->count > 1) {
        qsort(out->models, out->count, sizeof *out->models, compare_models);
    }
}

void look_free(found_list *of) {
    for (size_t i = 0; i < of->count; i++) {
        for (size_t k = 0; k < of->models[i].count; k++) {
            free(of->models[i].versions[k].path);
        }
        free(of->models[i].versions);
        free(of->models[i].name);
        free(of->models[i].config);
        free(of->models[i].reason);
    }
    free(of->models);
    *of = (found_list){ 0 };
}
