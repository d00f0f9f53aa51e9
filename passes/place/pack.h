/* The second factor of a product, as `pack` understands it, and its builder.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_PACK_H
#define IG_PASSES_PLACE_PACK_H

#include "passes/engine/pass.h"

typedef struct ig_pack_matrix {
    ig_weight *weight;
    ig_value *computed; /* in @weights, in place of a weight as stored */
    const char *name;   /* of that value, or NULL: the weight's */
    bool is_transposed; /* stored [N, K] */
    bool is_narrow;     /* f16 or bf16 */
    bool is_widened;    /* by the recipe already */
    bool is_opened;     /* `computed` is an argument of the graph itself */
    int64_t k, n;
    /* Of 8-bit integers: (weight - zeros) * row_scale * scale; each may be NULL. */
    ig_value *row_scale, *scale; /* K numbers; N or one */
    const uint8_t *zeros;        /* as the weight's dtype, whole panels of columns */
} ig_pack_matrix;

/* Sets weight, n and k from the op that reads a matrix; false when it has no elements,
 * or is no matrix of known extents.  is_transposed is known by then. */
bool ig_pack_take_weight(const ig_op *def, ig_pack_matrix *out);
/* A 2-D transpose. */
bool ig_pack_swaps_two(const ig_op *op);
/* Is `value`, a matrix of f32, a weight of 8-bit integers less zero points, times
 * scales?  Turns is_transposed, and sets all but is_narrow and is_widened. */
bool ig_pack_read_quantised(const ig_pass_run *run, ig_value *value,
                            ig_pack_matrix *out);

/* ---- recipes ---- */

/* The graph of recipes; its ret grows by one value per recipe. */
ig_graph *ig_pack_recipes(ig_module *module);
/* `value`, of known extents, in that graph, where only constants go into it (else NULL,
 * and nothing was built); *out_name: for weights made of it, its own if it is one. */
ig_value *ig_pack_constant(ig_pass_run *run, ig_value *value, const char **out_name);
/* Can it? */
bool ig_pack_is_constant(ig_value *value);
/* f16 or bf16? */
bool ig_pack_is_narrow(ig_dtype dtype);
/* The weight `name` whose value is `value`, of that graph. */
ig_weight *ig_pack_add_recipe(ig_pass_run *run, ig_module *module, const char *name,
                              ig_value *value);

/* ---- products ---- */

/* The first factor as rows of K; narrow floats in f32. */
ig_value *ig_pack_merge_rows(ig_builder *b, ig_value *x);
/* `product` has the elements of the op's result, perhaps in rows: it takes the op's
 * place.  Ops that only made the second factor ready go too. */
void ig_pack_replace_product(ig_op *op, ig_builder *b, ig_value *product);

/* Chains of quads (ir/semantics/chains.h) and the extra quads of a panel; 0: none. */
typedef struct ig_pack_chains {
    int64_t chain, extra;
} ig_pack_chains;

/* pack_chains.c: the chains that take least time: dims[0] panels of dims[1] quads. */
ig_pack_chains ig_pack_choose_chains(ig_pass_run *run, const int8_t *panels,
                                     const int64_t dims[2]);

/* pack_integer.c: a matmul_integer becomes a product with panels of quads; false where
 * this form of it does not, and nothing was built. */
bool ig_pack_integer(ig_pass_run *run, ig_op *op);
/* pack_bytes.c: one of two computed matrices is made ready for its schedule. */
bool ig_pack_bytes(ig_pass_run *run, ig_op *op);

#endif
