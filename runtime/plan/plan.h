/* A plan in memory: the sections of runtime/format.h, checked, and derived fields.
 * SPDX-License-Identifier: Apache-2.0
 *
 * After ig_plan_open every number in a record is a legal index or a bounded size, every
 * expression evaluates without leaving its stack, and steps nest properly; nothing is
 * checked a second time.
 */
#ifndef IG_RUNTIME_PLAN_H
#define IG_RUNTIME_PLAN_H

#include "runtime/format.h"
#include "runtime/message.h"

#include <assert.h>

/* Dependencies of an expression or symbol. */
enum {
    IG_DEPENDS_LATE = 1,  /* on a symbol that steps set */
    IG_DEPENDS_ROWS = 2,  /* on the rows of a block */
    IG_DEPENDS_LOOSE = 4, /* on an input symbol that no size or grid depends on */
};

typedef struct ig_plan {
    const ig_plan_header *header;
#define IG_PLAN_MEMBER(name, record) \
    const record *name;              \
    uint32_t name##_count;
    IG_PLAN_SECTIONS(IG_PLAN_MEMBER)
#undef IG_PLAN_MEMBER
    uint8_t *expr_flags;   /* IG_DEPENDS_…, one an expression */
    uint8_t *symbol_flags; /* the same; LOOSE: reaches no size or grid */
    uint32_t *keys;        /* input symbols that reach a size or grid */
    uint32_t key_count;
    uint32_t *node_sizes; /* nodes of the subtree that begins there */
    int32_t *node_leaves; /* number of the input or output, or -1 */
    void *derived;        /* the memory of these */
    void *widened;        /* the plan with longer records, or NULL */
} ig_plan;

/* `bytes` (aligned to 8) is borrowed and must not change. */
ig_status ig_plan_open(const void *bytes, size_t size, ig_plan *out_plan,
                       const ig_message *message);
void ig_plan_close(ig_plan *plan);
/* IG_UNSUPPORTED, with advice about an artifact of that format. */
ig_status ig_plan_refuse_version(uint32_t version, const ig_message *message);
/* The same of one that has more than its format has here. */
ig_status ig_plan_refuse_newer(const ig_message *message);

/* Zero-terminated. */
static inline const char *ig_plan_string(const ig_plan *plan, ig_plan_text text) {
    assert(text.offset < plan->text_count && "a text was not checked");
    return plan->text + text.offset;
}

/* Of a symbol whose parts are not all known yet: nothing is made of it. */
#define IG_NO_VALUE INT64_MIN
/* False on overflow, division by zero, an exact quotient with a remainder, or where a
 * symbol has no value. */
bool ig_plan_evaluate(const ig_plan *plan, uint32_t expr, const int64_t *symbols,
                      int64_t *out_value);
/* The same, where IG_NONE means `absent`. */
bool ig_plan_evaluate_or(const ig_plan *plan, uint32_t expr, const int64_t *symbols,
                         int64_t absent, int64_t *out_value);
/* A constant expression's value; false when it depends on anything. */
bool ig_plan_expr_is_constant(const ig_plan *plan, uint32_t expr, int64_t *out_value);
static inline bool ig_plan_expr_depends(const ig_plan *plan, uint32_t expr, int flags) {
    assert((expr == IG_NONE || expr < plan->exprs_count) && "no such expression");
    return expr != IG_NONE && (plan->expr_flags[expr] & flags) != 0;
}

/* Is an extent of the output known only when the run has computed it? */
bool ig_plan_is_late_output(const ig_plan *plan, uint32_t index);
/* Is the output's buffer its own, not an input's, a constant's or another output's? */
static inline bool ig_plan_has_own_buffer(const ig_plan *plan, uint32_t index) {
    assert(index < plan->outputs_count && "the plan has no such output");
    const ig_plan_buffer *buffer = &plan->buffers[plan->outputs[index].buffer];
    return buffer->space == IG_SPACE_OUTPUT && buffer->index == index;
}

/* Is the output in an input's memory? */
static inline bool ig_plan_is_in_place(const ig_plan *plan, uint32_t index) {
    assert(index < plan->outputs_count && "the plan has no such output");
    return plan->outputs[index].in_place_of != IG_NONE;
}

/* Bits of an element; 0 for an unknown dtype. */
uint32_t ig_dtype_code_bits(uint32_t dtype);
/* "f32"; "?" for an unknown one. */
const char *ig_dtype_code_name(uint32_t dtype);

/* Bytes of a tensor; false on overflow or a negative extent. */
bool ig_dtype_code_bytes(uint32_t dtype, uint32_t rank, const int64_t *dims,
                         int64_t *out_bytes);

/* Zero-terminated text inside of the section? */
bool ig_plan_has_text(const ig_plan *plan, ig_plan_text text);

/* The checks, each in a file of its name; ig_plan_open calls them in this order. */
ig_status ig_plan_check_records(ig_plan *plan, const ig_message *message);
ig_status ig_plan_check_tree(ig_plan *plan, const ig_message *message);
ig_status ig_plan_check_steps(const ig_plan *plan, const ig_message *message);
/* Fills keys and LOOSE. */
void ig_plan_find_keys(ig_plan *plan);

#endif
