/* Batches of training data: see feed.h.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/train/feed.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_in(const char *name, const char *end) {
    size_t a = strlen(name), b = strlen(end);
    return a > b && strcmp(name + a - b, end) == 0;
}

static bool list_folder(feed *f, const char *folder) {
    DIR *all = opendir(folder);
    if (!all) {
        complain(0, "%s: %s", folder, strerror(errno));
        return false;
    }
    for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
        if (ends_in(entry->d_name, ".npz")) {
            names_add(&f->paths, text_of("%s/%s", folder, entry->d_name));
        }
    }
    closedir(all);
    names_sort(&f->paths);
    if (f->paths.count == 0) {
        complain(0, "%s: there is no .npz file in the folder", folder);
    }
    return f->paths.count > 0;
}

bool feed_open(feed *f, ig_context *context, const trainer *t, const char *from,
               int64_t batch) {
    struct stat facts;
    *f = (feed){ .context = context, .t = t, .batch = batch };
    f->arrays = need(calloc(t->data_count + 1, sizeof *f->arrays));
    f->dims = need(calloc(t->data_count + 1, sizeof *f->dims));
    if (stat(from, &facts) != 0) {
        complain(0, "%s: %s", from, strerror(errno));
        return false;
    }
    if (S_ISDIR(facts.st_mode)) {
        return list_folder(f, from);
    }
    names_add(&f->paths, text_of("%s", from));
    return true;
}

static void close_file(feed *f) {
    ig_arguments_close(f->file);
    f->file = NULL;
}

void feed_close(feed *f) {
    close_file(f);
    names_free(&f->paths);
    free(f->arrays);
    free(f->dims);
}

void feed_rewind(feed *f) {
    close_file(f);
    f->next = 0;
}

/* ---- one file ---- */

static const ig_argument *find_array(const feed *f, const char *name) {
    for (size_t i = 0; i < ig_arguments_count(f->file); i++) {
        if (strcmp(ig_arguments_name(f->file, i), name) == 0) {
            return ig_arguments_at(f->file, i);
        }
    }
    return NULL;
}

/* All arrays of a file that is cut have as many rows. */
static bool count_rows(feed *f, const char *name, const ig_argument *array) {
    int64_t rows = array->rank ? array->dims[0] : -1;
    if (f->batch == 0) {
        f->rows = 1;
        return true;
    }
    if (rows < 0 || (f->rows >= 0 && rows != f->rows)) {
        complain(
            0,
            "%s: '%s' has %lld rows and others have %lld: without --batch a file is "
            "one batch",
            f->file_name, name, (long long)rows, (long long)f->rows);
        return false;
    }
    f->rows = rows;
    return true;
}

static bool open_file(feed *f) {
    f->file_name = f->paths.items[f->next++];
    f->row = 0;
    f->rows = -1;
    if (ig_arguments_open(f->context, f->file_name, &f->file) != IG_OK) {
        return false;
    }
    for (size_t i = 0; i < f->t->data_count; i++) {
        const char *name = model_input_name(&f->t->m, i);
        f->arrays[i] = find_array(f, name);
        if (!f->arrays[i] && !f->t->memory[i]) {
            complain(0, "%s: there is no array '%s', an input of the model (%s)",
                     f->file_name, name, model_input_type(&f->t->m, i));
            return false;
        }
        if (f->arrays[i] && !count_rows(f, name, f->arrays[i])) {
            return false;
        }
    }
    return true;
}

/* Rows row … row + count of an array. */
static ig_argument cut_rows(feed *f, size_t index, int64_t count) {
    ig_argument part = *f->arrays[index];
    size_t row_bytes = f->rows ? part.size / (size_t)f->rows : 0;
    memcpy(f->dims[index], part.dims, part.rank * sizeof *part.dims);
    f->dims[index][0] = count;
    part.dims = f->dims[index];
    part.data = (const char *)part.data + (size_t)f->row * row_bytes;
    part.size = (size_t)count * row_bytes;
    return part;
}

static void give_batch(feed *f) {
    int64_t left = f->rows - f->row, count = f->batch < left ? f->batch : left;
    for (size_t i = 0; i < f->t->data_count; i++) {
        if (f->arrays[i]) {
            f->t->with.inputs[i] = f->batch ? cut_rows(f, i, count) : *f->arrays[i];
        }
    }
    f->row += f->batch ? count : 1;
}

bool feed_next(feed *f, bool *out_has) {
    while (!f->file || f->row >= f->rows) {
        close_file(f);
        *out_has = f->next < f->paths.count;
        if (!*out_has) {
            return true;
        }
        if (!open_file(f)) {
            return false;
        }
    }
    *out_has = true;
    give_batch(f);
    return true;
}
