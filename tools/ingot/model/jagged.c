/* Inputs that say where bags begin.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/jagged.h"

static jagged by_role(const model *m, size_t index) {
    ig_port port = ig_program_input(m->program, index);
    jagged_form form = port.role == IG_ROLE_KEY_LENGTHS ? JAGGED_LENGTHS
                       : port.role != IG_ROLE_OFFSETS   ? JAGGED_NONE
                       : port.keys                      ? JAGGED_BEGINS
                                                        : JAGGED_OFFSETS;
    return port.partner >= 0 && form != JAGGED_NONE
               ? (jagged){ form, (size_t)port.partner, port.keys }
               : (jagged){ 0 };
}

/* A KeyedJaggedTensor's children are keys, values, lengths and weights. */
static jagged of_kjt(const model *m, size_t at, size_t index) {
    ig_tree_node keys = model_node(m, at + 1);
    size_t values_at = at + 1 + keys.size;
    ig_tree_node values = model_node(m, values_at);
    ig_tree_node lengths = model_node(m, values_at + values.size);
    bool is_it = lengths.leaf == (int32_t)index && values.leaf >= 0;
    return is_it ? (jagged){ JAGGED_LENGTHS, (size_t)values.leaf, keys.child_count }
                 : (jagged){ 0 };
}

jagged jagged_of(const model *m, size_t index) {
    jagged found = { 0 };
    if (m->program && !m->ahead && !model_has_lists(m)) {
        found = by_role(m, index);
    }
    ig_tree_node root = model_node(m, 0);
    size_t end = 1;
    for (int64_t i = 0; i < root.integer; i++) {
        end += model_node(m, end).size;
    }
    for (size_t at = 1; at < end && found.form == JAGGED_NONE; at++) {
        found = model_node(m, at).kind == IG_TREE_KJT ? of_kjt(m, at, index) : found;
    }
    return found;
}
