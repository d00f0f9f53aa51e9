/* Tests of types and of the interpreters, written as IR text.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     CHECK_VALUE("%0 = const {value = f32[2] [1, -1]}\n%1 = relu %0\nret %1",
 *                 "f32[2] [1, 0]");
 *
 * What a case gives is text too: values, types, or "INVALID: message".
 */
#ifndef IG_TESTS_UNIT_IR_FOLD_CASE_H
#define IG_TESTS_UNIT_IR_FOLD_CASE_H

#include "base/writer.h"
#include "ir/interpret/interpret.h"
#include "ir/tensor/element.h"
#include "ir/parse/read.h"
#include "ir/verify/verify.h"

#include "tests/unit/unit.h"

#include <math.h>

typedef struct fold_case {
    ig_context context;
    ig_arena arena; /* of texts and tensors */
    ig_module *module;
    ig_graph *graph;   /* @main */
    char message[512]; /* the first error */
} fold_case;

static inline void keep_first_error(void *user, const ig_diagnostic *diagnostic) {
    fold_case *c = user;
    if (diagnostic->severity == IG_ERROR && !c->message[0]) {
        snprintf(c->message, sizeof c->message, "%s: %s",
                 ig_status_name(diagnostic->status), diagnostic->message);
    }
}

/* `head` stands before the graph (weights), `args` between its parentheses. */
static inline bool case_start(fold_case *c, const char *head, const char *args,
                              const char *statements) {
    memset(c, 0, sizeof *c);
    c->context.limits = ig_limits_default;
    c->context.diag = (ig_diag){ .sink = keep_first_error, .user = c };
    ig_arena_init(&c->arena, NULL);
    const char *text = ig_arena_printf(&c->arena,
                                       "module @t {\n%s\ngraph @main(%s) {\n%s\n}\n}\n",
                                       head, args, statements);
    if (ig_parse_module(&c->context, "case", ig_str_of(text), &c->module) != IG_OK) {
        c->module = NULL;
        return false;
    }
    c->graph = ig_module_graph(c->module, "main");
    return true;
}

static inline void case_finish(fold_case *c) {
    if (c->module) {
        ig_module_destroy(c->module);
    }
    ig_arena_fini(&c->arena);
}

static inline void put_tensor(const ig_tensor *tensor, ig_writer *out) {
    if (tensor->kind == IG_SEQUENCE || tensor->kind == IG_OPTIONAL) {
        ig_put(out, tensor->kind == IG_SEQUENCE ? "seq(" : "opt(");
        for (int64_t i = 0; i < tensor->count; i++) {
            ig_put(out, i ? ", " : "");
            put_tensor(&tensor->items[i], out);
        }
        ig_put(out, ")");
        return;
    }
    ig_put(out, "%s[", ig_dtypes[tensor->dtype].name);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        ig_put(out, "%s%lld", i ? ", " : "", (long long)tensor->dims[i]);
    }
    ig_put(out, "] [");
    for (int64_t i = 0; i < tensor->count; i++) {
        ig_put(out, i ? ", " : "");
        if (isnan(ig_tensor_get_f64(tensor, i))) {
            ig_put(out, "nan"); /* which of them is not ours to say */
        } else {
            ig_element_print(tensor->dtype, tensor->data, i, out);
        }
    }
    ig_put(out, "]");
}

/* Runs @main and prints its outputs, separated by "; ". */
static inline const char *case_run(fold_case *c, const ig_tensor *inputs) {
    ig_tensor outputs[16];
    ig_writer out;
    ig_writer_init(&out, &c->arena);
    ig_status status = ig_interpret(c->graph, inputs, &c->arena, outputs);
    if (status != IG_OK) {
        ig_put(&out, "%s", c->message[0] ? c->message : ig_status_name(status));
        return out.data;
    }
    ig_put(&out, "%s", "");
    for (uint32_t i = 0; i < c->graph->body.last->operand_count; i++) {
        ig_put(&out, i ? "; " : "");
        put_tensor(&outputs[i], &out);
    }
    return out.data;
}

static inline void check_value(const char *head, const char *statements,
                               const char *expected) {
    fold_case c;
    const char *got = c.message;
    if (case_start(&c, head, "", statements)) {
        got = case_run(&c, NULL);
    }
    CHECK_MSG(strcmp(got, expected) == 0, "\n%s\n  got      %s\n  expected %s",
              statements, got, expected);
    case_finish(&c);
}

/* The types that @main returns, or the error that infer reports. */
static inline void check_type(const char *args, const char *statements,
                              const char *expected) {
    fold_case c;
    const char *got = c.message;
    if (case_start(&c, "", args, statements)) {
        ig_writer out;
        ig_writer_init(&out, &c.arena);
        const ig_op *ret = c.graph->body.last;
        for (uint32_t i = 0; i < ret->operand_count; i++) {
            ig_put(&out, i ? "; " : "");
            ig_print_type(c.module, ret->operands[i].value->type, &out);
        }
        got = out.data;
    }
    CHECK_MSG(strcmp(got, expected) == 0, "\n%s\n%s\n  got      %s\n  expected %s",
              args, statements, got, expected);
    case_finish(&c);
}

/* One line a case: statements that end in `ret`, and what they give. */
#define CHECK_VALUE(statements, expected) check_value("", statements, expected)
#define CHECK_VALUE_OF(head, statements, expected) \
    check_value(head, statements, expected)
#define CHECK_TYPE(args, statements, expected) check_type(args, statements, expected)

/* Tables of cases. */
typedef struct fold_row {
    const char *statements, *expected;
} fold_row;

static inline void check_rows(const fold_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        check_value("", rows[i].statements, rows[i].expected);
    }
}
#define CHECK_ROWS(rows) check_rows(rows, IG_COUNT_OF(rows))

#endif
