/* Putting requests together.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/join.h"

#include <string.h>

/* ---- may they be put together ---- */

static bool is_index(const ig_port *port) {
    return port->rank == 1 && (port->dtype == IG_I64 || port->dtype == IG_I32);
}

/* A role that this server knows, on a port that it fits. */
static bool is_known_role(const served *of, const ig_port *port) {
    bool has_partner = port->partner >= 0 && (size_t)port->partner < of->input_count;
    switch (port->role) {
    case IG_ROLE_ROWS:
        return port->rank > 0;
    case IG_ROLE_SHARED:
        return true;
    case IG_ROLE_KEY_LENGTHS:
    case IG_ROLE_OFFSETS:
        return is_index(port) && has_partner;
    case IG_ROLE_KEY_VALUES:
        return port->rank == 1 && has_partner && is_index(&of->inputs[port->partner]);
    case IG_ROLE_NONE:
    case IG_ROLE_COUNT:
    default:
        return false;
    }
}

/* Do its extents say how many rows a request brings? */
static bool says_rows(const served *of, const ig_port *port) {
    bool is_jagged = port->role == IG_ROLE_KEY_LENGTHS || port->role == IG_ROLE_OFFSETS;
    bool has_end = of->has_ends && port->role == IG_ROLE_OFFSETS;
    return port->role == IG_ROLE_ROWS || (is_jagged && port->keys > 0) || has_end;
}

/* Rows by one input; -1: it has no whole number. */
static int64_t rows_by(const ig_port *port, int64_t extent) {
    int64_t keys = port->role == IG_ROLE_ROWS ? 1 : port->keys;
    return keys == 0 ? extent - 1 : extent % keys == 0 ? extent / keys : -1;
}

bool joins_rows(served *of) {
    bool has_rows = false, has_offsets = false;
    of->has_ends = false;
    for (size_t i = 0; i < of->input_count; i++) {
        if (!is_known_role(of, &of->inputs[i])) {
            return false;
        }
        has_rows = has_rows || says_rows(of, &of->inputs[i]);
        has_offsets = has_offsets || of->inputs[i].role == IG_ROLE_OFFSETS;
    }
    /* The artifact states roles where some input says the rows: offsets do, of which
     * each row has no fixed number, by being one more. */
    of->has_ends = !has_rows && has_offsets;
    has_rows = has_rows || has_offsets;
    for (size_t i = 0; i < of->output_count; i++) {
        ig_port_role role = of->outputs[i].role;
        if (role != IG_ROLE_ROWS && role != IG_ROLE_SHARED) {
            return false;
        }
    }
    return has_rows && ig_program_state_count(of->program) == 0;
}

static int64_t read_index(const ig_view *from, int64_t i) {
    return from->dtype == IG_I32 ? ((const int32_t *)from->data)[i]
                                 : ((const int64_t *)from->data)[i];
}

static void write_index(ig_view *to, int64_t i, int64_t value) {
    if (to->dtype == IG_I32) {
        ((int32_t *)to->data)[i] = (int32_t)value;
    } else {
        ((int64_t *)to->data)[i] = value;
    }
}

/* Offsets begin at 0, rise, and stay within the ids; one more than rows ends at their
 * end. */
static bool are_offsets_own(const ig_view *offsets, const ig_view *ids, int64_t rows) {
    int64_t count = offsets->dims[0], before = 0;
    if (count != rows && count != rows + 1) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t now = read_index(offsets, i);
        if (now < before || now > ids->dims[0] || (i == 0 && now != 0)) {
            return false;
        }
        before = now;
    }
    /* Without rows no bag would hold ids; their neighbour's would. */
    return count == rows ? rows > 0 || ids->dims[0] == 0 : before == ids->dims[0];
}

/* Lengths are as many for each key as there are rows, and together all values. */
static bool are_lengths_own(const ig_view *lengths, const ig_view *values,
                            int64_t rows) {
    int64_t sum = 0;
    if (rows == 0 ? lengths->dims[0] != 0 : lengths->dims[0] % rows != 0) {
        return false;
    }
    for (int64_t i = 0; i < lengths->dims[0]; i++) {
        int64_t length = read_index(lengths, i);
        if (length < 0 || length > values->dims[0] - sum) {
            return false;
        }
        sum += length;
    }
    return sum == values->dims[0];
}

/* Of an input of values, also weights: as many as offsets or lengths say. */
static bool are_values_own(const served *of, const request *what, size_t i,
                           int64_t rows) {
    size_t first = (size_t)of->inputs[i].partner;
    const ig_view *begins = &what->views[first], *values = &what->views[i];
    return of->inputs[first].role == IG_ROLE_OFFSETS
               ? are_offsets_own(begins, values, rows)
               : are_lengths_own(begins, values, rows);
}

int64_t join_rows(const served *of, const request *what) {
    int64_t rows = -1;
    for (size_t i = 0; i < of->input_count; i++) {
        if (!says_rows(of, &of->inputs[i])) {
            continue;
        }
        int64_t own = rows_by(&of->inputs[i], what->views[i].dims[0]);
        if (own < 0 || (rows >= 0 && own != rows)) {
            return -1; /* the program names the error */
        }
        rows = own;
    }
    for (size_t i = 0; i < of->input_count; i++) {
        if (of->inputs[i].role == IG_ROLE_KEY_VALUES &&
            !are_values_own(of, what, i, rows)) {
            return -1;
        }
    }
    return rows;
}

bool join_fits(const served *of, const request *first, const request *next) {
    for (size_t i = 0; i < of->input_count; i++) {
        const ig_view *a = &first->views[i], *b = &next->views[i];
        ig_port_role role = of->inputs[i].role;
        uint32_t from = role == IG_ROLE_SHARED ? 0 : 1;
        if (memcmp(a->dims + from, b->dims + from,
                   (IG_MAX_RANK - from) * sizeof *a->dims) != 0) {
            return false;
        }
        bool is_same = a->data == b->data;
        if (role == IG_ROLE_SHARED && !is_same &&
            (a->dtype == IG_STR8 ||
             memcmp(a->data, b->data, (size_t)ig_view_bytes(a)) != 0)) {
            return false;
        }
        if (role == IG_ROLE_KEY_LENGTHS && first->rows && next->rows &&
            a->dims[0] / first->rows != b->dims[0] / next->rows) {
            return false;
        }
        /* Offsets with or without an end: of all requests alike. */
        if (role == IG_ROLE_OFFSETS &&
            a->dims[0] - first->rows != b->dims[0] - next->rows) {
            return false;
        }
    }
    return true;
}

/* ---- inputs ---- */

typedef struct joining {
    const served *of;
    request *const *all;
    size_t count;
    int64_t rows;
    ig_view *views;
    pool *memory;
} joining;

static size_t element_size(const ig_view *of) {
    ig_view one = { .dtype = of->dtype };
    return (size_t)ig_view_bytes(&one);
}

/* Bytes of one row. */
static size_t row_bytes(const ig_view *of) {
    ig_view row = *of;
    row.dims[0] = 1;
    return (size_t)ig_view_bytes(&row);
}

/* Memory for all elements along the first axis. */
static bool take_all(const joining *now, size_t i) {
    ig_view *to = &now->views[i];
    *to = now->all[0]->views[i];
    to->dims[0] = 0;
    for (size_t k = 0; k < now->count; k++) {
        to->dims[0] += now->all[k]->views[i].dims[0];
    }
    if (now->of->inputs[i].role == IG_ROLE_OFFSETS) { /* one end for all */
        int64_t more = now->all[0]->views[i].dims[0] - now->all[0]->rows;
        to->dims[0] -= more * ((int64_t)now->count - 1);
    }
    to->data = pool_take(now->memory, (size_t)to->dims[0] * row_bytes(to) + 1);
    return to->data != NULL;
}

/* Rows, or values of offsets: one request after the other. */
static void append_all(const joining *now, size_t i) {
    uint8_t *at = now->views[i].data;
    size_t size = row_bytes(&now->views[i]);
    for (size_t k = 0; k < now->count; k++) {
        const ig_view *from = &now->all[k]->views[i];
        size_t part = (size_t)from->dims[0] * size;
        if (part) {
            memcpy(at, from->data, part);
        }
        at += part;
    }
}

static void move_offsets(const joining *now, size_t i) {
    size_t ids = (size_t)now->of->inputs[i].partner;
    int64_t at = 0, before = 0;
    for (size_t k = 0; k < now->count; k++) {
        const request *from = now->all[k];
        bool is_last = k + 1 == now->count;
        int64_t count = is_last ? from->views[i].dims[0] : from->rows;
        for (int64_t j = 0; j < count; j++) {
            write_index(&now->views[i], at++, before + read_index(&from->views[i], j));
        }
        before += from->views[ids].dims[0];
    }
}

/* Keys of an input of lengths; 0 where there are no rows. */
static int64_t count_keys(const joining *now, size_t lengths) {
    int64_t all = 0;
    for (size_t k = 0; k < now->count; k++) {
        all += now->all[k]->views[lengths].dims[0];
    }
    return now->rows ? all / now->rows : 0;
}

/* Lengths, key by key. */
static void interleave_lengths(const joining *now, size_t i) {
    uint8_t *to = now->views[i].data;
    size_t size = element_size(&now->views[i]);
    int64_t keys = count_keys(now, i);
    for (int64_t key = 0; key < keys; key++) {
        for (size_t k = 0; k < now->count; k++) {
            const uint8_t *from = now->all[k]->views[i].data;
            size_t part = (size_t)now->all[k]->rows * size;
            if (part) {
                memcpy(to, from + (size_t)key * part, part);
            }
            to += part;
        }
    }
}

/* Values of one key of a request: how many, by its lengths. */
static int64_t count_values(const request *of, const ig_view *lengths, int64_t key) {
    int64_t sum = 0;
    for (int64_t i = key * of->rows; i < (key + 1) * of->rows; i++) {
        sum += read_index(lengths, i);
    }
    return sum;
}

static bool interleave_values(const joining *now, size_t i) {
    size_t lengths = (size_t)now->of->inputs[i].partner;
    size_t size = element_size(&now->views[i]);
    int64_t keys = count_keys(now, lengths);
    int64_t *passed = pool_take_array(now->memory, now->count, sizeof *passed);
    uint8_t *to = now->views[i].data;
    for (int64_t key = 0; passed && key < keys; key++) {
        for (size_t k = 0; k < now->count; k++) {
            const request *from = now->all[k];
            int64_t count = count_values(from, &from->views[lengths], key);
            size_t part = (size_t)count * size;
            if (part) {
                memcpy(to, (uint8_t *)from->views[i].data + (size_t)passed[k] * size,
                       part);
            }
            passed[k] += count;
            to += part;
        }
    }
    return passed != NULL;
}

static bool join_input(const joining *now, size_t i) {
    const ig_port *port = &now->of->inputs[i];
    if (port->role == IG_ROLE_SHARED) {
        now->views[i] = now->all[0]->views[i];
        return true;
    }
    if (!take_all(now, i)) {
        return false;
    }
    bool is_keyed = port->role == IG_ROLE_KEY_VALUES &&
                    now->of->inputs[port->partner].role == IG_ROLE_KEY_LENGTHS;
    if (is_keyed) {
        return interleave_values(now, i);
    }
    if (port->role == IG_ROLE_OFFSETS) {
        move_offsets(now, i);
    } else if (port->role == IG_ROLE_KEY_LENGTHS) {
        interleave_lengths(now, i);
    } else {
        append_all(now, i);
    }
    return true;
}

ig_view *join_inputs(const served *of, request *const *all, size_t count, int64_t rows,
                     pool *memory) {
    joining now = { of, all, count, rows, NULL, memory };
    now.views = pool_take_array(memory, of->input_count + 1, sizeof *now.views);
    bool is_good = now.views != NULL;
    /* Values are laid out by the lengths of requests, so the order does not matter. */
    for (size_t i = 0; is_good && i < of->input_count; i++) {
        is_good = join_input(&now, i);
    }
    return is_good ? now.views : NULL;
}

ig_view join_part(const ig_port *port, const ig_view *from, int64_t first,
                  int64_t rows) {
    ig_view own = *from;
    if (port->role == IG_ROLE_ROWS) {
        own.data = (uint8_t *)from->data + (size_t)first * row_bytes(from);
        own.dims[0] = rows;
    }
    return own;
}
