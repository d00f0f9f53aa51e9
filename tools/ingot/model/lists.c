/* Lists as programs take and give them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/lists.h"

#include <stdlib.h>
#include <string.h>

static void *lend(results *owner, size_t count, size_t size) {
    owner->made =
        need(realloc(owner->made, (owner->made_count + 1) * sizeof *owner->made));
    void *block = need(calloc(count + 1, size));
    owner->made[owner->made_count++] = block;
    return block;
}

static bool refuse(message *why, const char *name, const char *what) {
    snprintf(why->text, sizeof why->text, "'%s' is a list %s", name, what);
    return false;
}

/* ---- in ---- */

static bool is_plain_item(const ig_argument *item, const char *dtype, uint32_t rank) {
    return item->kind == IG_ARGUMENT_TENSOR && item->rank == rank &&
           strcmp(item->dtype, dtype) == 0 && element_bits(dtype) % 8 == 0;
}

/* `list` as the ports from `port` on take it. */
static bool flatten_list(const model *m, size_t port, const ig_argument *list,
                         ig_argument *out, results *owner, message *why) {
    ig_port elements = ig_program_input(m->program, port);
    ig_port extents = ig_program_input(m->program, port + 1);
    const char *dtype = ig_dtype_text((int32_t)elements.dtype);
    uint32_t rank = extents.dims[1] > 0 ? (uint32_t)extents.dims[1] : 0;
    size_t bytes = 0, count = 0;
    for (size_t i = 0; i < list->item_count; i++) {
        if (!is_plain_item(&list->items[i], dtype, rank)) {
            return refuse(why, elements.name,
                          "of items that the program does not take");
        }
        bytes += list->items[i].size;
        count += element_count(&list->items[i]);
    }
    char *data = lend(owner, bytes, 1);
    int64_t *dims = lend(owner, 3, sizeof *dims);
    int64_t *rows = lend(owner, list->item_count * rank, sizeof *rows);
    size_t at = 0;
    for (size_t i = 0; i < list->item_count; i++) {
        const ig_argument *item = &list->items[i];
        if (item->size > 0) {
            memcpy(data + at, item->data, item->size);
        }
        at += item->size;
        for (uint32_t d = 0; d < rank; d++) {
            rows[i * rank + d] = item->dims[d];
        }
    }
    dims[0] = (int64_t)count;
    dims[1] = (int64_t)list->item_count;
    dims[2] = rank;
    out[0] = (ig_argument){
        .dtype = dtype, .rank = 1, .dims = dims, .data = data, .size = bytes
    };
    out[1] = (ig_argument){ .dtype = "i64",
                            .rank = 2,
                            .dims = dims + 1,
                            .data = rows,
                            .size = list->item_count * rank * sizeof *rows };
    return true;
}

bool lists_to_tensors(const model *m, call *io, results *owner, message *why) {
    size_t ports = ig_program_input_count(m->program), to = 0;
    ig_argument *flat = lend(owner, ports, sizeof *flat);
    for (size_t i = 0; i < io->count; i++) {
        const ig_argument *value = &io->inputs[i];
        bool is_list = value->kind != IG_ARGUMENT_TENSOR;
        if (to + is_list >= ports) {
            return refuse(why, "an input", "that the program does not take");
        }
        if (!is_list) {
            flat[to++] = *value;
        } else if (flatten_list(m, to, value, flat + to, owner, why)) {
            to += 2;
        } else {
            return false;
        }
    }
    io->inputs = need(realloc(io->inputs, (ports + 1) * sizeof *io->inputs));
    memcpy(io->inputs, flat, to * sizeof *flat);
    io->count = to;
    return true;
}

/* ---- out ---- */

/* Is the output behind `index` the extents of its items? */
static bool is_list_output(const model *m, size_t index) {
    if (index + 1 >= ig_program_output_count(m->program)) {
        return false;
    }
    const char *name = ig_program_output(m->program, index).name;
    const char *next = ig_program_output(m->program, index + 1).name;
    size_t length = strlen(name);
    return strncmp(name, next, length) == 0 && strcmp(next + length, ".extents") == 0;
}

/* A list, or where the model says so an optional. */
static ig_argument_kind kind_of_output(const model *m, size_t index) {
    const char *type = model_output_type(m, index);
    return strncmp(type, "opt<", 4) == 0 ? IG_ARGUMENT_OPTIONAL : IG_ARGUMENT_LIST;
}

static bool gather_list(const char *name, const ig_argument *from, ig_argument *out,
                        results *owner, message *why) {
    size_t count = (size_t)from[1].dims[0], rank = (size_t)from[1].dims[1], at = 0;
    size_t width = element_bits(from->dtype) / 8;
    const int64_t *rows = from[1].data;
    ig_argument *items = lend(owner, count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        items[i] = (ig_argument){ .dtype = from->dtype,
                                  .rank = (uint32_t)rank,
                                  .dims = rows + i * rank,
                                  .data = (const char *)from->data + at };
        items[i].size = element_count(&items[i]) * width;
        at += items[i].size;
        if (at > from->size) {
            return refuse(why, name, "of fewer elements than its extents say");
        }
    }
    *out = (ig_argument){ .kind = IG_ARGUMENT_LIST,
                          .dtype = from->dtype,
                          .items = items,
                          .item_count = count };
    return true;
}

bool lists_from_tensors(const model *m, results *io, message *why) {
    size_t to = 0;
    for (size_t i = 0; i < io->count; i++, to++) {
        bool is_list = is_list_output(m, i);
        ig_argument pair[] = { io->items[i], io->items[i + is_list] };
        io->items[to] = pair[0];
        if (!is_list) {
            continue;
        }
        if (!gather_list(model_output_name(m, to), pair, &io->items[to], io, why)) {
            return false;
        }
        io->items[to].kind = kind_of_output(m, to);
        i++;
    }
    io->count = to;
    return true;
}
