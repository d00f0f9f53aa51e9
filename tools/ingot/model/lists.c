/* Lists as programs take and give them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/lists.h"

#include <stdlib.h>
#include <string.h>

enum { ANY_ROW = 33 }; /* of an item of any rank: the rank, 32 extents, then ones */

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

/* ---- which ports are those of a list ---- */

/* Is `other` the name of a part of `name`? */
static bool is_part(const char *name, const char *other, const char *part) {
    size_t length = strlen(name);
    return strncmp(name, other, length) == 0 && strcmp(other + length, part) == 0;
}

static const char *input_name(const model *m, size_t port) {
    return port < ig_program_input_count(m->program)
               ? ig_program_input(m->program, port).name
               : "";
}

static const char *output_name(const model *m, size_t port) {
    return port < ig_program_output_count(m->program)
               ? ig_program_output(m->program, port).name
               : "";
}

/* ---- in ---- */

static bool is_plain_item(const ig_argument *item, const char *dtype, uint32_t width) {
    bool fits = item->rank == width || (width == ANY_ROW && item->rank < ANY_ROW);
    return item->kind == IG_ARGUMENT_TENSOR && fits &&
           strcmp(item->dtype, dtype) == 0 && element_bits(dtype) % 8 == 0;
}

/* The row of extents of an item. */
static void fill_row(const ig_argument *item, uint32_t width, int64_t *row) {
    bool is_any = width == ANY_ROW;
    for (uint32_t d = 0; d < width; d++) {
        uint32_t axis = d - is_any;
        row[d] = is_any && d == 0    ? (int64_t)item->rank
                 : axis < item->rank ? item->dims[axis]
                                     : 1;
    }
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
        fill_row(item, rank, rows + i * rank);
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

/* An optional of a list is there or not, which the port after the list's two says. */
static bool flatten_optional(const model *m, size_t port, const ig_argument *optional,
                             ig_argument *out, results *owner, message *why) {
    static const ig_argument none = { .kind = IG_ARGUMENT_LIST };
    const ig_argument *list = optional->item_count ? optional->items : &none;
    bool *is_there = lend(owner, 1, sizeof *is_there);
    if (list->kind != IG_ARGUMENT_LIST) {
        return refuse(why, input_name(m, port),
                      "of a kind that the program does not take");
    }
    *is_there = optional->item_count > 0;
    out[2] = (ig_argument){ .dtype = "bool", .data = is_there, .size = 1 };
    return flatten_list(m, port, list, out, owner, why);
}

bool lists_to_tensors(const model *m, call *io, results *owner, message *why) {
    size_t ports = ig_program_input_count(m->program), to = 0;
    ig_argument *flat = lend(owner, ports, sizeof *flat);
    for (size_t i = 0; i < io->count; i++) {
        const ig_argument *value = &io->inputs[i];
        const ig_argument only = { .kind = IG_ARGUMENT_LIST,
                                   .items = value,
                                   .item_count = 1 };
        bool is_any = is_part(input_name(m, to), input_name(m, to + 1), ".extents");
        if (is_any && value->kind == IG_ARGUMENT_TENSOR) {
            value = &only; /* a tensor of any rank */
        }
        bool is_list = value->kind != IG_ARGUMENT_TENSOR;
        if (to + is_list >= ports) {
            return refuse(why, "an input", "that the program does not take");
        }
        bool is_deep = is_part(input_name(m, to), input_name(m, to + 2), ".there");
        if (!is_list) {
            flat[to++] = *value;
        } else if (!is_deep && flatten_list(m, to, value, flat + to, owner, why)) {
            to += 2;
        } else if (is_deep && flatten_optional(m, to, value, flat + to, owner, why)) {
            to += 3;
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

/* A list as the model declares the output: it, an optional, or its only item,
 * which is a tensor of any rank. */
static bool settle_kind(const model *m, size_t index, ig_argument *list, message *why) {
    const char *type = model_output_type(m, index);
    bool is_tensor = strncmp(type, "seq<", 4) != 0 && strncmp(type, "opt<", 4) != 0;
    if (is_tensor && list->item_count != 1) {
        return refuse(why, model_output_name(m, index), "that is not one tensor");
    }
    if (is_tensor) {
        *list = list->items[0];
    } else if (type[0] == 'o') {
        list->kind = IG_ARGUMENT_OPTIONAL;
    }
    return true;
}

static bool gather_list(const char *name, const ig_argument *from, ig_argument *out,
                        results *owner, message *why) {
    size_t count = (size_t)from[1].dims[0], rank = (size_t)from[1].dims[1], at = 0;
    size_t width = element_bits(from->dtype) / 8;
    const int64_t *rows = from[1].data;
    ig_argument *items = lend(owner, count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        const int64_t *row = rows + i * rank;
        bool is_any = rank == ANY_ROW;
        if (is_any && (row[0] < 0 || row[0] >= ANY_ROW)) {
            return refuse(why, name, "of items of more dimensions than there may be");
        }
        items[i] = (ig_argument){ .dtype = from->dtype,
                                  .rank = (uint32_t)(is_any ? (size_t)row[0] : rank),
                                  .dims = row + is_any,
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

/* The list `value`, as the optional that holds it or not. */
static void hold_list(const ig_argument *there, ig_argument *value, results *owner) {
    ig_argument *held = lend(owner, 1, sizeof *held);
    *held = *value;
    *value = (ig_argument){ .kind = IG_ARGUMENT_OPTIONAL,
                            .items = held,
                            .item_count = *(const bool *)there->data };
}

bool lists_from_tensors(const model *m, results *io, message *why) {
    size_t to = 0;
    for (size_t i = 0; i < io->count; i++, to++) {
        const char *name = output_name(m, i);
        bool is_list = is_part(name, output_name(m, i + 1), ".extents");
        bool is_deep = is_list && is_part(name, output_name(m, i + 2), ".there");
        ig_argument parts[] = { io->items[i], io->items[i + is_list],
                                io->items[i + 2 * is_deep] };
        io->items[to] = parts[0];
        if (!is_list) {
            continue;
        }
        if (!gather_list(model_output_name(m, to), parts, &io->items[to], io, why)) {
            return false;
        }
        if (is_deep) {
            hold_list(&parts[2], &io->items[to], io);
        } else if (!settle_kind(m, to, &io->items[to], why)) {
            return false;
        }
        i += is_list + is_deep;
    }
    io->count = to;
    return true;
}
