/* Calibration data from files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/quantize/data.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which files ---- */

static void add_path(data_paths *to, char *path) {
    to->items = need(realloc(to->items, (to->count + 1) * sizeof *to->items));
    to->items[to->count++] = path;
}

void data_paths_free(data_paths *which) {
    for (size_t i = 0; i < which->count; i++) {
        free(which->items[i]);
    }
    free(which->items);
    *which = (data_paths){ 0 };
}

static bool is_folder(const char *path) {
    struct stat what;
    return stat(path, &what) == 0 && S_ISDIR(what.st_mode);
}

/* "set_2" before "set_10". */
static int compare_paths(const void *a, const void *b) {
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static ig_status list_folder(const char *folder, data_paths *out) {
    DIR *opened = opendir(folder);
    if (!opened) {
        complain(0, "%s: cannot read: %s", folder, strerror(errno));
        return IG_IO;
    }
    bool has_values = false;
    for (const struct dirent *entry; (entry = readdir(opened));) {
        char *path = text_of("%s/%s", folder, entry->d_name);
        bool is_hidden = entry->d_name[0] == '.';
        bool is_value = text_ends(path, ".npy") || text_ends(path, ".pb") ||
                        strcmp(entry->d_name, "values.json") == 0;
        has_values |= is_value;
        if (!is_hidden && (text_ends(path, ".npz") || is_folder(path))) {
            add_path(out, path);
        } else {
            free(path);
        }
    }
    closedir(opened);
    if (!out->count && has_values) {
        add_path(out, text_of("%s", folder));
    }
    return IG_OK;
}

ig_status data_list(const char *calibration, data_paths *out) {
    *out = (data_paths){ 0 };
    if (!is_folder(calibration)) {
        if (access(calibration, R_OK) != 0) {
            complain(0, "%s: cannot read: %s", calibration, strerror(errno));
            return IG_IO;
        }
        add_path(out, text_of("%s", calibration));
        return IG_OK;
    }
    ig_status status = list_folder(calibration, out);
    if (status == IG_OK && !out->count) {
        complain(0,
                 "%s: there is no calibration data in it: neither .npz files nor "
                 "folders with input_0.npy, input_1.npy …",
                 calibration);
        status = IG_INVALID;
    }
    if (out->count) {
        qsort(out->items, out->count, sizeof *out->items, compare_paths);
    }
    return status;
}

/* ---- labels ---- */

static bool is_input(const model *m, const char *name) {
    for (size_t i = 0; i < model_input_count(m); i++) {
        if (strcmp(model_input_name(m, i), name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_label(const settings *given, const model *m, const char *name) {
    return given->labels ? strcmp(name, given->labels) == 0
                         : !is_input(m, name) && (strcmp(name, "labels") == 0 ||
                                                  strcmp(name, "label") == 0);
}

static ig_status read_label_file(const settings *given, const model *m,
                                 const char *folder, ig_arguments **out) {
    const char *names[] = { given->labels ? given->labels : "labels", "label" };
    ig_status status = IG_OK;
    for (size_t i = 0; i < (given->labels ? 1 : 2) && !*out && status == IG_OK; i++) {
        char *text = text_of("@%s/%s.npy", folder, names[i]);
        if (access(text + 1, F_OK) == 0) {
            status = ig_arguments_parse(m->context, text, NULL, out);
        }
        free(text);
    }
    return status;
}

static ig_status find_labels(const settings *given, const model *m, const char *path,
                             calibration_data *data, size_t sample) {
    const ig_arguments *archive = data->samples[sample].archive;
    for (size_t k = 0; archive && k < ig_arguments_count(archive); k++) {
        if (is_label(given, m, ig_arguments_name(archive, k))) {
            data->labels[sample] = *ig_arguments_at(archive, k);
        }
    }
    ig_arguments **owner = &data->label_owners[sample];
    ig_status status = archive ? IG_OK : read_label_file(given, m, path, owner);
    if (status == IG_OK && *owner) {
        data->labels[sample] = *ig_arguments_at(*owner, 0);
    }
    if (status == IG_OK && given->labels && !data->labels[sample].dtype) {
        complain(0, "%s: there are no labels called '%s' in it", path, given->labels);
        status = IG_INVALID;
    }
    return status;
}

/* ---- calls ---- */

static void keep_part(calibration_data *data, void *memory) {
    size_t count = data->part_count + 1;
    data->parts = need(realloc(data->parts, count * sizeof *data->parts));
    data->parts[data->part_count++] = memory;
}

/* Rows first … first + rows of a tensor, which stays where it is. */
static void cut_rows(calibration_data *data, const ig_argument *from, int64_t first,
                     int64_t rows, ig_argument *out) {
    int64_t *dims = need(malloc((from->rank + 1) * sizeof *dims));
    keep_part(data, dims);
    memcpy(dims, from->dims, from->rank * sizeof *dims);
    size_t row = from->size / (size_t)from->dims[0];
    dims[0] = rows;
    *out = *from;
    out->dims = dims;
    out->data = (const char *)from->data + (size_t)first * row;
    out->size = (size_t)rows * row;
}

/* The number of a type's first extent, "f32[8, 13]"; -1: it is open. */
static int64_t first_extent(const char *type) {
    const char *at = strchr(type, '[');
    char *end = NULL;
    long long extent = at ? strtoll(at + 1, &end, 10) : -1;
    return at && end != at + 1 ? extent : -1;
}

/* Rows of a call: --batch, or the model's fixed extent; 0: the arrays are one
 * call. */
static int64_t rows_of_call(const settings *given, const model *m, const call *with) {
    int64_t rows = 0, all = 0;
    for (size_t i = 0; i < with->count; i++) {
        const ig_argument *x = &with->inputs[i];
        if (x->kind != IG_ARGUMENT_TENSOR || x->rank == 0 || x->dims[0] == 0 ||
            x->size % (size_t)x->dims[0] || (all && x->dims[0] != all)) {
            return 0;
        }
        int64_t extent = first_extent(model_input_type(m, i));
        all = x->dims[0];
        rows = extent > 0 ? extent : rows;
    }
    rows = rows ? rows : given->batch_size;
    return rows > 0 && rows < all && (all % rows == 0 || given->batch_size) ? rows : 0;
}

static void add_batch(calibration_data *data, const ig_quantize_batch *batch) {
    size_t count = data->batch_count + 1;
    data->batches = need(realloc(data->batches, count * sizeof *data->batches));
    data->batches[data->batch_count++] = *batch;
}

static ig_status add_sample(const settings *given, const model *m, const char *path,
                            calibration_data *data, size_t sample) {
    const call *with = &data->samples[sample].with;
    const ig_argument *labels = data->labels[sample].dtype ? &data->labels[sample]
                                                           : NULL;
    int64_t rows = rows_of_call(given, m, with);
    int64_t all = rows ? with->inputs[0].dims[0] : 0;
    if (!rows) {
        add_batch(data,
                  &(ig_quantize_batch){ with->inputs, with->count, labels, path });
        return IG_OK;
    }
    if (labels && (labels->rank == 0 || labels->dims[0] != all)) {
        complain(0, "%s: expected one label for each of %lld rows", path,
                 (long long)all);
        return IG_INVALID;
    }
    for (int64_t first = 0; first < all; first += rows) {
        int64_t left = all - first < rows ? all - first : rows;
        ig_argument *inputs = need(calloc(with->count + 1, sizeof *inputs));
        keep_part(data, inputs);
        for (size_t i = 0; i < with->count; i++) {
            cut_rows(data, &with->inputs[i], first, left, &inputs[i]);
        }
        if (labels) {
            cut_rows(data, labels, first, left, &inputs[with->count]);
        }
        add_batch(data,
                  &(ig_quantize_batch){ inputs, with->count,
                                        labels ? &inputs[with->count] : NULL, path });
    }
    return IG_OK;
}

ig_status data_bind(const settings *given, const model *m, const data_paths *paths,
                    bound_inputs *first, calibration_data *out) {
    settings how = *given;
    ig_status status = IG_OK;
    *out = (calibration_data){ 0 };
    out->samples = need(calloc(paths->count + 1, sizeof *out->samples));
    out->labels = need(calloc(paths->count + 1, sizeof *out->labels));
    out->label_owners = need(calloc(paths->count + 1, sizeof(ig_arguments *)));
    out->sample_count = paths->count;
    how.batch_size = 0; /* cuts arrays, and says nothing of extents */
    for (size_t i = 0; i < paths->count && status == IG_OK; i++) {
        how.inputs_from = paths->items[i];
        if (i == 0) {
            out->samples[0] = *first;
            *first = (bound_inputs){ 0 };
        }
        status = bind_inputs(&how, m, NULL, &out->samples[i]);
        if (status == IG_OK) {
            status = find_labels(given, m, paths->items[i], out, i);
        }
        if (status == IG_OK) {
            status = add_sample(given, m, paths->items[i], out, i);
        }
        if (status != IG_OK) {
            note(given, "in %s", paths->items[i]);
        }
    }
    return status;
}

void data_free(calibration_data *which) {
    for (size_t i = 0; i < which->sample_count; i++) {
        bound_inputs_free(&which->samples[i]);
        ig_arguments_close(which->label_owners[i]);
    }
    for (size_t i = 0; i < which->part_count; i++) {
        free(which->parts[i]);
    }
    free(which->parts);
    free(which->samples);
    free(which->labels);
    free(which->label_owners);
    free(which->batches);
    *which = (calibration_data){ 0 };
}
