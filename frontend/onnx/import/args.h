/* The arguments of a node, as import functions read them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An import function reads arguments, calls compose/ or ir/build/, gives the result:
 *
 *     ig_status ig_onnx_import_celu(ig_onnx_node *node) {
 *         ig_value *x = ig_onnx_float_input(node, 0);
 *         double alpha = ig_onnx_attr_float(node, "alpha", 1);
 *         return ig_onnx_give(node, ig_compose_celu(node->e, x, alpha));
 *     }
 *
 * The inputs that a row requires are there, and all inputs are tensors, before its
 * function is called (rows HOST take sequences too).  The first failure stays in
 * node->e->status.  An accessor that fails still gives something harmless (the value,
 * axis 0, an empty list), so that only a function that reads the types of built
 * values, or that counts on a list's length, has to ask ig_onnx_has_failed.
 */
#ifndef IG_FRONTEND_ONNX_IMPORT_ARGS_H
#define IG_FRONTEND_ONNX_IMPORT_ARGS_H

#include "frontend/onnx/import/import.h"

bool ig_onnx_has_failed(const ig_onnx_node *node);

/* ---- inputs ---- */

/* Is an input there that is required after optional ones, which its row cannot say?
 * false: reported. */
bool ig_onnx_needs_input(const ig_onnx_node *node, uint32_t index);
/* Extent `axis` of an operand, whose rank is the file's: 1, and the node has failed,
 * where it has no such axis. */
ig_dim ig_onnx_extent(ig_expr *e, const ig_value *x, uint32_t axis);
ig_dim ig_onnx_extent_of(ig_expr *e, const ig_type *type, uint32_t axis);
/* An input that must have floating-point elements. */
ig_value *ig_onnx_float_input(const ig_onnx_node *node, uint32_t index);
/* An input that must have `rank` axes. */
ig_value *ig_onnx_ranked_input(const ig_onnx_node *node, uint32_t index, uint32_t rank);
/* A list that must have `count` entries, which the run checks where it is open; `what`
 * says so.  NULL when the node has failed. */
ig_value *ig_onnx_list_input(const ig_onnx_node *node, uint32_t index, ig_dim count,
                             const char *what);
/* A value of one element as a scalar: files give [1] too. */
ig_value *ig_onnx_scalar_input(const ig_onnx_node *node, uint32_t index);
/* The same as i64. */
ig_value *ig_onnx_count_input(const ig_onnx_node *node, uint32_t index);
/* Integers as i64, each of 0 .. count - 1: the run refuses others, by the name of their
 * place, before anything is computed from them. */
ig_value *ig_onnx_index_among(const ig_onnx_node *node, ig_value *index, ig_dim count);
/* Is the input a constant, or shape arithmetic that is understood? */
bool ig_onnx_is_known(const ig_onnx_node *node, uint32_t index);
/* The shape that an integer vector holds, as far as it is known. */
bool ig_onnx_shape(const ig_onnx_node *node, uint32_t index, ig_dims_value *out);

/* The rank that the file says output `index` has, where that is one of the model. */
bool ig_onnx_declared_rank(const ig_onnx_node *node, uint32_t index,
                           uint32_t *out_rank);

/* ---- attributes; attr.c has those that cannot fail ---- */

/* An integer of [min, max]. */
int64_t ig_onnx_attr_between(const ig_onnx_node *node, const char *name, int64_t absent,
                             int64_t min, int64_t max);
bool ig_onnx_attr_bool(const ig_onnx_node *node, const char *name, bool absent);
/* The position of a string in `names`, "constant edge reflect"; 0 when absent. */
uint32_t ig_onnx_attr_choice(const ig_onnx_node *node, const char *name,
                             const char *names);
/* An element type by ONNX's number; 0 is `absent`, or an error where that is
 * IG_DT_COUNT. */
ig_dtype ig_onnx_attr_dtype(const ig_onnx_node *node, const char *name,
                            ig_dtype absent);
/* A list; no items (NULL) when absent. */
ig_ints ig_onnx_attr_list(const ig_onnx_node *node, const char *name);
/* A list that has `count` entries when it is there. */
ig_ints ig_onnx_attr_list_of(const ig_onnx_node *node, const char *name,
                             uint32_t count);

/* ---- axes; in files they count from the end when negative ---- */

uint32_t ig_onnx_axis_of(const ig_onnx_node *node, int64_t axis, uint32_t rank);
uint32_t ig_onnx_axis_attr(const ig_onnx_node *node, const char *name, int64_t absent,
                           uint32_t rank);
/* Integers of an attribute or, where the row has none, of input `index`; no items
 * (NULL) when both are absent. */
ig_ints ig_onnx_list(const ig_onnx_node *node, const char *attr, uint32_t index);
/* The same as axes, of which none may be given twice. */
ig_ints ig_onnx_axes(const ig_onnx_node *node, const char *attr, uint32_t index,
                     uint32_t rank);

/* ---- ends ---- */

/* Output 0, and the node's status; a failure when `value` is NULL. */
ig_status ig_onnx_give(ig_onnx_node *node, ig_value *value);
/* As many results as the node has outputs, of the op whose first one is `first`. */
ig_status ig_onnx_give_results(ig_onnx_node *node, ig_value *first);

#endif
