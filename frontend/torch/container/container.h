/* Lists, tuples, sets, dicts and texts: what programs do with them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One function does one thing, whoever asks for it: ig_ts_op_list_append is named by a
 * row of container.def, for the operator aten::append of archives, and by the table of
 * methods of plain Python (python/method.c), which calls it with ig_ts_container_run.
 * Content is reached through ig_ts_list_at and ig_ts_dict_at, which refuse a container
 * whose content two branches do not agree about.
 */
#ifndef IG_FRONTEND_TORCH_CONTAINER_CONTAINER_H
#define IG_FRONTEND_TORCH_CONTAINER_CONTAINER_H

#include "frontend/torch/builtin/builtin.h"

/* The functions of the rows; one that several rows name is declared several times. */
#define OP(schema, hook, ...) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torch/container/container.def"
#include "frontend/torch/container/text_rare.def"
#undef OP

/* Runs such a function on values, without a row; *out is None where it gives nothing.
 * `name` is for messages. */
ig_status ig_ts_container_run(ig_ts_eval *eval, const char *name, ig_ts_op_hook hook,
                              const ig_ts_value *values, uint32_t count,
                              ig_ts_value *out);

/* ---- arguments ---- */

ig_status ig_ts_list_at(ig_ts_call *call, uint32_t index, ig_ts_list **out_list);
ig_status ig_ts_dict_at(ig_ts_call *call, uint32_t index, ig_ts_dict **out_dict);
/* Is it a key that a dict can be asked for at import? */
bool ig_ts_is_key(const ig_ts_value *key);
ig_status ig_ts_known_key(ig_ts_eval *eval, const ig_ts_value *key);

/* Arguments 1, 2, 3 as start, end, step of a slice of `count` items. */
ig_status ig_ts_slice_range(ig_ts_call *call, int64_t count, int64_t *out_start,
                            int64_t *out_step, int64_t *out_trips);

/* ---- making them ---- */

/* A list that nobody else sees. */
ig_ts_list *ig_ts_list_of(ig_ts_eval *eval, const ig_ts_value *items, size_t count);
ig_ts_value ig_ts_pair_of(ig_ts_eval *eval, ig_ts_value a, ig_ts_value b);

/* Sorts items by their keys, known numbers or texts; `keys` may be the items. */
ig_status ig_ts_sort(ig_ts_eval *eval, ig_ts_value *items, ig_ts_value *keys,
                     size_t count, bool reverse);

/* ---- equality (equal.c) ---- */

/* Python's ==, item by item: known, of the run, or a tensor. */
ig_status ig_ts_values_equal(ig_ts_eval *eval, const ig_ts_value *a,
                             const ig_ts_value *b, ig_ts_value *out);
/* `item in container`, of a list, tuple, set, dict or text. */
ig_status ig_ts_contains(ig_ts_eval *eval, const ig_ts_value *item,
                         const ig_ts_value *container, ig_ts_value *out);
/* not *value, which the two above give. */
ig_status ig_ts_negate(ig_ts_eval *eval, ig_ts_value *value);

/* ---- sets, which are lists here (set.c) ---- */

static inline bool ig_ts_is_set(const ig_ts_value *value) {
    return value->kind == IG_TS_LIST && value->as.list->is_set;
}
/* Makes a list a set: keeps the first of equal items. */
ig_status ig_ts_unite(ig_ts_eval *eval, ig_ts_list *list);
/* a | b, a & b, a - b. */
ig_status ig_ts_join_sets(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                          const ig_ts_value *b, ig_ts_value *out);
ig_status ig_ts_op_set_add(ig_ts_call *call);
ig_status ig_ts_op_set_discard(ig_ts_call *call);
ig_status ig_ts_op_set_remove(ig_ts_call *call);
ig_status ig_ts_op_set_update(ig_ts_call *call); /* by a list */

/* ---- texts (text.c) ---- */

/* Appends a value as str() has it. */
ig_status ig_ts_str_write(ig_ts_eval *eval, ig_writer *w, const ig_ts_value *value);

#endif
