/* Drawn requests, alone and together.  SPDX-License-Identifier: Apache-2.0
 *
 * Where the ports do not say how many keys an input of lengths has, or whether offsets
 * hold the last end, the program's form is found by trying.
 */
#include "tools/serve/model/trial.h"

#include "tools/serve/model/join.h"

#include <string.h>

enum { DRAWN = 3, MAX_KEYS = 64, FREE_EXTENT = 2, LONGEST = 3, LIMIT = 64 << 20 };
enum { SECOND = 1000000000 }; /* ns that a run may take */

typedef struct trial {
    served *of;
    pool memory;
    request all[DRAWN];
    int64_t keys;    /* of each input of lengths */
    bool has_end;    /* offsets hold the last one */
    uint32_t chance; /* state of the draw */
    ig_view *outputs[DRAWN + 1];
} trial;

/* Numbers of a linear congruence: a trial is the same each time. */
static uint32_t draw_next(trial *t, uint32_t below) {
    t->chance = t->chance * 1664525u + 1013904223u;
    return (t->chance >> 16) % below;
}

static void fill_element(trial *t, ig_view *to, int64_t i) {
    static const char *const texts[] = { "a", "", "b c" };
    uint32_t bit = draw_next(t, 2); /* also an id of any table */
    switch (to->dtype) {
    case IG_F32:
        ((float *)to->data)[i] = (float)draw_next(t, 2001) / 1000.0f - 1.0f;
        return;
    case IG_F64:
        ((double *)to->data)[i] = (double)draw_next(t, 2001) / 1000.0 - 1.0;
        return;
    case IG_STR8:
        ((const char **)to->data)[i] = texts[draw_next(t, 3)];
        return;
    case IG_F16:
    case IG_BF16: /* a number near 0, or 0 */
        ((uint16_t *)to->data)[i] = (uint16_t)(bit << 12);
        return;
    default: {
        ig_view one = { .dtype = to->dtype };
        size_t size = (size_t)ig_view_bytes(&one);
        memset((uint8_t *)to->data + (size_t)i * size, 0, size);
        memcpy((uint8_t *)to->data + (size_t)i * size, &bit, 1);
    }
    }
}

static bool take_view(trial *t, ig_view *to, const ig_port *port, int64_t first) {
    *to = (ig_view){ .dtype = (int32_t)port->dtype, .rank = port->rank };
    for (uint32_t d = 0; d < port->rank; d++) {
        to->dims[d] = port->dims[d] >= 0 ? port->dims[d] : FREE_EXTENT;
    }
    if (port->role != IG_ROLE_SHARED) {
        to->dims[0] = first;
    }
    int64_t size = ig_view_bytes(to);
    to->data = size < 0 || size > LIMIT ? NULL
                                        : pool_take(&t->memory, (size_t)size + 1);
    return to->data != NULL;
}

static void fill_view(trial *t, ig_view *to) {
    int64_t count = count_elements(to->dims, to->rank);
    for (int64_t i = 0; i < count; i++) {
        fill_element(t, to, i);
    }
}

static void put_index(ig_view *to, int64_t i, int64_t value) {
    if (to->dtype == IG_I32) {
        ((int32_t *)to->data)[i] = (int32_t)value;
    } else {
        ((int64_t *)to->data)[i] = value;
    }
}

/* Draws lengths of bags; writes them, or where bags begin.  How many values that
 * makes. */
static int64_t fill_begins(trial *t, ig_view *to, const ig_port *port, int64_t bags,
                           bool has_end) {
    int64_t sum = 0;
    for (int64_t i = 0; i < bags; i++) {
        int64_t length = draw_next(t, LONGEST);
        put_index(to, i, port->role == IG_ROLE_OFFSETS ? sum : length);
        sum += length;
    }
    if (has_end) {
        put_index(to, bags, sum);
    }
    return sum;
}

static bool draw_begins(trial *t, request *to, size_t i, int64_t *out_values) {
    const ig_port *port = &t->of->inputs[i];
    bool is_lengths = port->role == IG_ROLE_KEY_LENGTHS;
    int64_t keys = port->keys ? port->keys : is_lengths ? t->keys : 1;
    int64_t bags = to->rows * keys;
    bool has_end = !is_lengths && !port->keys && t->has_end;
    if (!take_view(t, &to->views[i], port, bags + has_end)) {
        return false;
    }
    *out_values = fill_begins(t, &to->views[i], port, bags, has_end);
    return true;
}

/* Values come after their counts. */
static bool draw_request(trial *t, request *to, int64_t rows) {
    const served *of = t->of;
    *to = (request){ .rows = rows, .served = t->of };
    to->views = pool_take_array(&t->memory, of->input_count + 1, sizeof *to->views);
    int64_t *values = pool_take_array(&t->memory, of->input_count + 1, sizeof *values);
    bool is_good = to->views && values;
    for (size_t i = 0; is_good && i < of->input_count; i++) {
        ig_port_role role = of->inputs[i].role;
        if (role == IG_ROLE_OFFSETS || role == IG_ROLE_KEY_LENGTHS) {
            is_good = draw_begins(t, to, i, &values[i]);
        }
    }
    for (size_t i = 0; is_good && i < of->input_count; i++) {
        const ig_port *port = &of->inputs[i];
        if (port->role == IG_ROLE_SHARED && to != t->all) {
            to->views[i] = t->all[0].views[i];
        } else if (port->role != IG_ROLE_OFFSETS && port->role != IG_ROLE_KEY_LENGTHS) {
            int64_t first = port->role == IG_ROLE_KEY_VALUES ? values[port->partner]
                                                             : rows;
            is_good = take_view(t, &to->views[i], port, first);
            if (is_good) {
                fill_view(t, &to->views[i]);
            }
        }
    }
    return is_good;
}

/* Copies results, so that they outlive the next run. */
static bool keep_outputs(trial *t, ig_view *outputs) {
    for (size_t i = 0; i < t->of->output_count; i++) {
        int64_t size = ig_view_bytes(&outputs[i]);
        void *copy = size < 0 ? NULL : pool_take(&t->memory, (size_t)size + 1);
        if (!copy || outputs[i].dtype == IG_STR8) { /* texts end with the next run */
            return false;
        }
        memcpy(copy, outputs[i].data, (size_t)size);
        outputs[i].data = copy;
    }
    return true;
}

static bool run_drawn(trial *t, const ig_view *inputs, size_t index) {
    ig_view *outputs = pool_take_array(&t->memory, t->of->output_count + 1,
                                       sizeof *outputs);
    t->outputs[index] = outputs;
    if (!outputs) {
        return false;
    }
    bool is_good = served_run(t->of, 0, inputs, outputs, SECOND) == IG_OK &&
                   keep_outputs(t, outputs);
    served_release(t->of);
    return is_good;
}

static bool run_alone(trial *t) {
    bool is_good = true;
    for (size_t i = 0; is_good && i < DRAWN; i++) {
        is_good = draw_request(t, &t->all[i], (int64_t)i + 1) &&
                  run_drawn(t, t->all[i].views, i);
    }
    return is_good;
}

static bool is_part_equal(const ig_port *port, const ig_view *all, int64_t first,
                          const ig_view *alone) {
    ig_view part = join_part(port, all, first, alone->dims[0]);
    int64_t size = ig_view_bytes(alone);
    return part.rank == alone->rank &&
           memcmp(part.dims, alone->dims, sizeof part.dims) == 0 &&
           memcmp(part.data, alone->data, (size_t)size) == 0;
}

static trial_verdict run_together(trial *t) {
    const served *of = t->of;
    request *all[DRAWN];
    int64_t rows = 0;
    for (size_t i = 0; i < DRAWN; i++) {
        all[i] = &t->all[i];
        rows += all[i]->rows;
    }
    const ig_view *inputs = join_inputs(of, all, DRAWN, rows, &t->memory);
    if (!inputs || !run_drawn(t, inputs, DRAWN)) {
        return TRIAL_NONE;
    }
    for (size_t k = 0; k < of->output_count; k++) {
        const ig_view *output = &t->outputs[DRAWN][k];
        int64_t first = 0;
        bool is_equal = of->outputs[k].role != IG_ROLE_ROWS || output->dims[0] == rows;
        for (size_t i = 0; is_equal && i < DRAWN; first += t->all[i++].rows) {
            is_equal = is_part_equal(&of->outputs[k], output, first, &t->outputs[i][k]);
        }
        if (!is_equal) {
            return TRIAL_DIFFERS;
        }
    }
    return TRIAL_EQUAL;
}

static bool has_role(const served *of, ig_port_role role) {
    for (size_t i = 0; i < of->input_count; i++) {
        if (of->inputs[i].role == role) {
            return true;
        }
    }
    return false;
}

trial_verdict trial_run(served *of) {
    trial_verdict verdict = TRIAL_NONE;
    int max_keys = has_role(of, IG_ROLE_KEY_LENGTHS) ? MAX_KEYS : 1;
    int max_ends = has_role(of, IG_ROLE_OFFSETS) && !of->has_ends ? 2 : 1;
    for (int i = 0; verdict == TRIAL_NONE && i < max_keys * max_ends; i++) {
        trial t = { .of = of,
                    .memory = { .limit = LIMIT },
                    .keys = 1 + i / max_ends,
                    .has_end = of->has_ends || i % max_ends,
                    .chance = 1 };
        verdict = run_alone(&t) ? run_together(&t) : TRIAL_NONE;
        pool_free(&t.memory);
    }
    return verdict;
}
