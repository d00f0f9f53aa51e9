/* Runs an artifact on raw inputs, where there is nothing but the runtime.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     run_artifact ARTIFACT DIR
 *
 * DIR/shapes: for each input a line, its extents; DIR/input_N: its bytes.  Writes
 * DIR/output_N, and prints the level.
 */
#include <ingot/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 64, LINE_BYTES = 256 };

static int fail(const char *what) {
    fprintf(stderr, "run_artifact: %s\n", what);
    return 1;
}

static FILE *open_part(const char *folder, const char *kind, size_t index,
                       const char *mode) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s_%zu", folder, kind, index);
    return fopen(path, mode);
}

static int read_input(const char *folder, size_t index, FILE *shapes, ig_view *out) {
    char line[LINE_BYTES], *rest = line;
    FILE *file = open_part(folder, "input", index, "rb");
    if (!file || !fgets(line, sizeof line, shapes)) {
        return 0;
    }
    for (out->rank = 0; out->rank < IG_MAX_RANK; out->rank++) {
        char *end;
        out->dims[out->rank] = strtoll(rest, &end, 10);
        if (end == rest) {
            break;
        }
        rest = end;
    }
    size_t size = (size_t)ig_view_bytes(out);
    out->data = aligned_alloc(64, (size + 127) / 64 * 64);
    int is_read = out->data && fread(out->data, 1, size, file) == size;
    fclose(file);
    return is_read;
}

int main(int argc, char **argv) {
    char message[512] = "", path[1024];
    ig_view inputs[MAX] = { 0 }, outputs[MAX] = { 0 };
    ig_program *program;
    ig_session *session;
    ig_program_options options = { .size = sizeof options,
                                   .message = message,
                                   .message_size = sizeof message };
    if (argc != 3 || ig_program_open(argv[1], &options, &program) != IG_OK) {
        return fail(argc == 3 ? message : "run_artifact ARTIFACT DIR");
    }
    snprintf(path, sizeof path, "%s/shapes", argv[2]);
    FILE *shapes = fopen(path, "r");
    size_t count = ig_program_input_count(program);
    for (size_t i = 0; i < count; i++) {
        inputs[i].dtype = (int32_t)ig_program_input(program, i).dtype;
        if (i == MAX || !shapes || !read_input(argv[2], i, shapes, &inputs[i])) {
            return fail("an input is not there");
        }
    }
    ig_session_options with = { .size = sizeof with,
                                .message = message,
                                .message_size = sizeof message,
                                .threads = 2 };
    if (ig_session_create(program, &with, &session) != IG_OK ||
        ig_session_run(session, inputs, count, outputs,
                       ig_program_output_count(program)) != IG_OK) {
        return fail(message[0] ? message : "the run fails");
    }
    for (size_t i = 0; i < ig_program_output_count(program); i++) {
        FILE *file = open_part(argv[2], "output", i, "wb");
        size_t size = (size_t)ig_view_bytes(&outputs[i]);
        if (!file || fwrite(outputs[i].data, 1, size, file) != size || fclose(file)) {
            return fail("an output cannot be written");
        }
    }
    puts(ig_runtime_level());
    ig_session_destroy(session);
    ig_program_close(program);
    return 0;
}
