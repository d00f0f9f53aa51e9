/* A host that compiles a model in memory and runs it.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cc -O2 jit.c $(pkg-config --cflags --libs ingot) -o jit
 *     ./jit                 a model written as IR text
 *     ./jit model.onnx      a model read into memory, on zeros
 */
#include <ingot/ingot.h>
#include <ingot/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4, MAX = 64 };

static const char small_model[] =
    "module @small {\n"
    "  symbol B {min = 0}\n"
    "  graph @main(%x: f32[B, 3]) -> (f32[B, 3] \"y\") {\n"
    "    %0 = relu %x : f32[B, 3]\n"
    "    %1 = add %0, %x : f32[B, 3]\n"
    "    ret %1\n"
    "  }\n"
    "}\n";

static char *read_file(const char *path, size_t *out_size) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *out_size = (size_t)ftell(file);
        rewind(file);
        bytes = malloc(*out_size + 1);
        if (bytes && fread(bytes, 1, *out_size, file) != *out_size) {
            *out_size = 0; /* the import will say that it is no model */
        }
    }
    if (file) {
        fclose(file);
    }
    return bytes;
}

/* Open extents become BATCH; reals count up from -1, whole numbers are zero. */
static int fill(const ig_program *program, ig_view *inputs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ig_port port = ig_program_input(program, i);
        size_t elements = 1;
        inputs[i] = (ig_view){ .dtype = port.dtype, .rank = port.rank };
        for (uint32_t d = 0; d < port.rank; d++) {
            inputs[i].dims[d] = port.dims[d] < 0 ? BATCH : port.dims[d];
            elements *= (size_t)inputs[i].dims[d];
        }
        inputs[i].data = calloc(elements + 1, 8);
        for (size_t k = 0; inputs[i].data && port.dtype == IG_F32 && k < elements;
             k++) {
            ((float *)inputs[i].data)[k] = (float)k / 4 - 1;
        }
        if (!inputs[i].data) {
            return 0;
        }
    }
    return 1;
}

static ig_status run(ig_program *program) {
    static ig_view inputs[MAX], outputs[MAX]; /* capacity 0: the session's memory */
    size_t ins = ig_program_input_count(program);
    size_t outs = ig_program_output_count(program);
    ig_session *session = NULL;
    if (ins > MAX || outs > MAX || !fill(program, inputs, ins)) {
        return IG_LIMIT;
    }
    ig_status status = ig_session_create(program, NULL, &session);
    if (status == IG_OK) {
        status = ig_session_run(session, inputs, ins, outputs, outs);
        if (status != IG_OK) {
            fprintf(stderr, "jit: %s\n", ig_session_error(session));
        }
    }
    for (size_t i = 0; i < outs && status == IG_OK; i++) {
        ig_port port = ig_program_output(program, i);
        printf("%s: %s, first element %g\n", port.name, port.type,
               port.dtype == IG_F32 ? (double)*(float *)outputs[i].data : 0.0);
    }
    for (size_t i = 0; i < ins; i++) {
        free(inputs[i].data);
    }
    ig_session_destroy(session);
    return status;
}

int main(int argc, char **argv) {
    size_t size = sizeof small_model - 1;
    char *file = argc > 1 ? read_file(argv[1], &size) : NULL;
    const char *model = argc > 1 ? file : small_model;
    ig_context *context = ig_context_create(NULL);
    ig_module *module = NULL;
    ig_program *program = NULL;
    ig_status status = IG_IO;
    if (model && context) {
        status = ig_import_memory(context, model, size, argv[1], NULL, &module);
    }
    if (status == IG_OK) {
        status = ig_compile(module, NULL, &program);
    }
    if (status != IG_OK) {
        fprintf(stderr, "jit: %s\n", model ? ig_context_messages(context) : "no file");
    } else {
        status = run(program);
    }
    ig_program_close(program); /* outlives the module if it must */
    ig_module_close(module);
    ig_context_destroy(context);
    free(file);
    return status == IG_OK ? 0 : 1;
}
