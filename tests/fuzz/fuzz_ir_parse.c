/* Fuzzes the reader of IR text: no crash, and what is accepted survives a round trip.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Text that is read must print, must be read again, and must then print the same; and
 * what the reader accepts the verifier accepts, types included.
 */
#include "ir/parse/read.h"
#include "ir/verify/verify.h"
#include "tests/fuzz/reach.h"
#include "tests/fuzz/report.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *name_of_op(size_t i) {
    return ig_ops[i].name;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    ig_fuzz_reach_begin(IG_OP_COUNT, name_of_op);
    return 0;
}

/* The reader bounds how deep blocks nest. */
static void reach_ops(const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        ig_fuzz_reach(op->code);
        for (uint32_t i = 0; i < op->body_count; i++) {
            reach_ops(op->bodies[i]);
        }
    }
}

static const char *print(ig_module *module) {
    ig_writer writer;
    ig_writer_init(&writer, &module->arena);
    ig_print_module(module, &writer);
    return writer.data;
}

static void check_round_trip(ig_context *context, ig_module *module) {
    const char *first = print(module);
    ig_module *again = NULL;
    ig_status status = ig_parse_module(context, NULL, ig_str_of(first), &again);
    ig_fuzz_expect(status == IG_OK, "the printed text cannot be read", first,
                   ig_status_name(status));
    const char *second = print(again);
    ig_fuzz_expect(strcmp(first, second) == 0, "printed otherwise", first, second);
    ig_module_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ig_context context = { .limits = ig_limits_default,
                           .diag.sink = ig_fuzz_note_internal };
    ig_module *module = NULL;
    ig_str text = { (const char *)data, size };
    if (ig_parse_module(&context, NULL, text, &module) == IG_OK) {
        ig_fuzz_expect(ig_verify_module(module) == IG_OK, "accepted, but not legal", "",
                       "");
        check_round_trip(&context, module);
        for (size_t i = 0; i < module->graphs.count; i++) {
            reach_ops(&module->graphs.items[i]->body);
        }
        ig_module_destroy(module);
    }
    return 0;
}
