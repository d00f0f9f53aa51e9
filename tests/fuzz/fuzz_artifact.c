/* Artifacts of any bytes are opened, or refused, cleanly.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The hashes of plan and code are made right before opening, or nothing behind them
 * would ever be reached.  A program that opens gets a session and a binding; it is not
 * run, because its code is trusted and here it is noise.
 */
#include "base/checked.h"
#include "driver/artifact/write.h"
#include "ingot/runtime.h"
#include "runtime/program/program.h"
#include "tests/fuzz/reach.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 20, MAX_MEMORY = 64 << 20, MAX_PORTS = 16 };

static const char *name_of_step(size_t i) {
    static const char *const names[] = {
#define STEP_NAME(name, meaning) #name,
        IG_PLAN_STEPS(STEP_NAME)
#undef STEP_NAME
    };
    return names[i];
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    ig_fuzz_reach_begin(IG_STEP_COUNT, name_of_step);
    return 0;
}

static void *allocate_little(void *user, size_t size, size_t alignment) {
    (void)user;
    return size > MAX_MEMORY ? NULL
                             : aligned_alloc(alignment, ig_align_up(size, alignment));
}

static void release_little(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    free(memory);
}

static void rehash(ig_str entry, size_t hash_at) {
    size_t hashed = hash_at + sizeof(ig_hash128);
    if (entry.size >= hashed) {
        ig_hash128 hash = ig_artifact_hash(entry.data + hashed, entry.size - hashed);
        memcpy((char *)(uintptr_t)entry.data + hash_at, &hash, sizeof hash);
    }
}

static void rehash_all(char *bytes, size_t size) {
    ig_container container;
    ig_message message = { NULL, 0, NULL };
    ig_str entry;
    if (ig_container_open((ig_str){ bytes, size }, &container, &message) != IG_OK) {
        return;
    }
    if (ig_container_find(&container, IG_ENTRY_PLAN, &entry)) {
        rehash(entry, offsetof(ig_plan_header, hash));
    }
    if (ig_container_find(&container, IG_ENTRY_CODE "cpu-v2", &entry)) {
        rehash(entry, offsetof(ig_code_header, hash));
    }
}

/* Every node of the signature tree lies inside of it, leaves are ports. */
static void walk_tree(const ig_program *program) {
    size_t count = ig_program_node_count(program);
    for (size_t i = 0; i < count; i++) {
        ig_tree_node node = ig_program_node(program, i);
        size_t ports = ig_program_input_count(program);
        size_t max = ig_program_output_count(program);
        max = max > ports ? max : ports;
        if (node.size == 0 || node.size > count - i || node.child_count >= node.size ||
            node.leaf >= (int64_t)max ||
            strlen(node.name) + strlen(node.text) > MAX_BYTES) {
            abort();
        }
    }
}

/* Small inputs of the right types, as far as the program tells them. */
static void bind_something(ig_program *program, ig_session *session) {
    static int64_t memory[1024];
    size_t inputs = ig_program_input_count(program);
    size_t outputs = ig_program_output_count(program);
    if (inputs > MAX_PORTS || outputs > MAX_PORTS) {
        return;
    }
    ig_view in[MAX_PORTS], out[MAX_PORTS];
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    for (int64_t extent = 0; extent < 4; extent++) {
        for (size_t i = 0; i < inputs; i++) {
            ig_port port = ig_program_input(program, i);
            in[i] = (ig_view){ .data = memory,
                               .dtype = (int32_t)port.dtype,
                               .rank = port.rank,
                               .capacity = sizeof memory };
            for (uint32_t axis = 0; axis < port.rank; axis++) {
                in[i].dims[axis] = port.dims[axis] < 0 ? extent : port.dims[axis];
            }
        }
        ig_status status = ig_session_bind(session, in, inputs, out, outputs);
        if (status != IG_OK && ig_session_error(session)[0] == 0) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > MAX_BYTES) {
        return -1;
    }
    char *bytes = aligned_alloc(64, ig_align_up(size + 1, 64));
    if (!bytes) {
        return -1;
    }
    memcpy(bytes, data, size);
    rehash_all(bytes, size);
    char why[256] = "";
    ig_program_options options = { .size = sizeof options,
                                   .message = why,
                                   .message_size = sizeof why };
    ig_session_options room = { .size = sizeof room,
                                .allocate = allocate_little,
                                .release = release_little };
    ig_program *program = NULL;
    ig_session *session = NULL;
    if (ig_program_open_memory(bytes, size, &options, &program) != IG_OK) {
        if (why[0] == 0 || program) {
            abort();
        }
    } else if (ig_session_create(program, &room, &session) == IG_OK) {
        walk_tree(program);
        for (uint32_t i = 0; i < program->plan.steps_count; i++) {
            ig_fuzz_reach(program->plan.steps[i].kind);
        }
        bind_something(program, session);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    free(bytes);
    return 0;
}
