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

static bool is_text(const char *name) {
    return ends_in(name, ".txt") || ends_in(name, ".tsv");
}

static bool list_folder(feed *f, const char *folder) {
    DIR *all = opendir(folder);
    if (!all) {
        complain(0, "%s: %s", folder, strerror(errno));
        return false;
    }
    for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
        if (ends_in(entry->d_name, ".npz") || is_text(entry->d_name)) {
            names_add(&f->paths, text_of("%s/%s", folder, entry->d_name));
        }
    }
    closedir(all);
    names_sort(&f->paths);
    if (f->paths.count == 0) {
        complain(0, "%s: there is no .npz, .txt or .tsv file in the folder", folder);
    }
    return f->paths.count > 0;
}

bool feed_open(feed *f, ig_context *context, const trainer *t, const char *from,
               int64_t batch) {
    struct stat facts;
    *f = (feed){
        .context = context, .t = t, .batch = batch, .modulo = t->given->modulo
    };
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
    if (f->is_text) {
        criteo_close(&f->text);
        f->is_text = false;
    }
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
    f->row = 0;
    f->rows = -1;
    if (ig_arguments_open(f->context, f->file_name, &f->file) != IG_OK) {
        return false;
    }
    for (size_t i = 0; i < f->t->data_count; i++) {
        const char *name = model_input_name(&f->t->m, i);
        f->arrays[i] = find_array(f, name);
        if (!f->arrays[i] && !trainer_has(f->t, i)) {
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

/* ---- Criteo's text ---- */

static bool open_text(feed *f) {
    int64_t rows[CRITEO_IDS];
    if (f->batch == 0 || !f->modulo || !criteo_read_rows(f->modulo, rows)) {
        complain(0,
                 "%s: Criteo's text needs --batch N and --modulo N or N,N,… (26 "
                 "numbers)",
                 f->file_name);
        return false;
    }
    f->is_text = criteo_open(&f->text, f->file_name, rows, (size_t)f->batch);
    return f->is_text;
}

static ig_argument array_of(feed *f, size_t index, const char *dtype, const void *data,
                            size_t columns) {
    int64_t *dims = f->dims[index];
    size_t count = f->text.count, width = strcmp(dtype, "f32") == 0 ? 4 : 8;
    dims[0] = (int64_t)count;
    dims[1] = (int64_t)columns;
    return (ig_argument){ .dtype = dtype,
                          .rank = columns > 0 ? 2 : 1,
                          .dims = dims,
                          .data = data,
                          .size = width * count * (columns > 0 ? columns : 1) };
}

/* Ids of all features, one feature after the other, as a KeyedJaggedTensor has
 * them. */
static ig_argument list_of(feed *f, size_t index, const int64_t *all) {
    ig_argument list = array_of(f, index, "i64", all, 0);
    f->dims[index][0] *= CRITEO_IDS;
    list.size *= CRITEO_IDS;
    return list;
}

/* Gives an input its array, by its type and, of lists of ids, its name; `column` counts
 * the lists of one feature so far.  False: it is nothing of the text. */
static bool give_text_input(feed *f, size_t index, size_t *column) {
    const char *name = model_input_name(&f->t->m, index);
    const char *type = model_input_type(&f->t->m, index);
    const criteo *c = &f->text;
    ig_argument *out = &f->t->with.inputs[index];
    bool is_matrix = strchr(type, ',') != NULL;
    if (strncmp(type, "f32[", 4) == 0 && index + 1 == f->t->data_count) {
        *out = array_of(f, index, "f32", c->labels, is_matrix ? 1 : 0);
    } else if (strncmp(type, "f32[", 4) == 0 && is_matrix) {
        *out = array_of(f, index, "f32", c->dense, CRITEO_COUNTS);
    } else if (strncmp(type, "i64[", 4) != 0) {
        return false;
    } else if (is_matrix) {
        *out = array_of(f, index, "i64", c->ids, CRITEO_IDS);
    } else if (ends_in(name, ".values") || ends_in(name, ".lengths")) {
        *out = list_of(f, index, ends_in(name, ".values") ? c->columns : c->lengths);
    } else if (*column < CRITEO_IDS) {
        *out = array_of(f, index, "i64", c->columns + (*column)++ * c->count, 0);
    } else {
        return false;
    }
    return true;
}

static bool give_text(feed *f) {
    size_t column = 0;
    for (size_t i = 0; i < f->t->data_count; i++) {
        if (!trainer_has(f->t, i) && !give_text_input(f, i, &column)) {
            complain(0,
                     "%s: Criteo's text has nothing for input '%s' (%s): it has f32 "
                     "[N, 13] counts and i64 [N, 26] ids, or [N] of each feature",
                     f->file_name, model_input_name(&f->t->m, i),
                     model_input_type(&f->t->m, i));
            return false;
        }
    }
    return true;
}

/* ---- all files ---- */

static bool open_next(feed *f) {
    f->file_name = f->paths.items[f->next++];
    return is_text(f->file_name) ? open_text(f) : open_file(f);
}

bool feed_next(feed *f, bool *out_has) {
    *out_has = true;
    for (;;) {
        if (f->is_text && !criteo_next(&f->text)) {
            return false;
        }
        if (f->is_text && f->text.count > 0) {
            return give_text(f);
        }
        if (f->file && f->row < f->rows) {
            give_batch(f);
            return true;
        }
        close_file(f);
        *out_has = f->next < f->paths.count;
        if (!*out_has) {
            return true;
        }
        if (!open_next(f)) {
            return false;
        }
    }
}
