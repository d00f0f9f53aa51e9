/* Stands in for NVRTC where there is none: an image is the text that it is made of.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The image says in its first line what was asked for, "cubin
 * --gpu-architecture=sm_80", and holds the source behind it.  A source that contains
 * "no_such_thing" is refused.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVRTC(name, parameters) \
    __attribute__((visibility("default"))) int name parameters;
#include "codegen/cuda/nvrtc.def"
#undef NVRTC

typedef struct program {
    char *source, *image;
    char architecture[64];
} program;

int nvrtcCreateProgram(void **out, const char *source, const char *name,
                       int header_count, const char *const *headers,
                       const char *const *header_names) {
    (void)name, (void)header_count, (void)headers, (void)header_names;
    program *made = calloc(1, sizeof *made);
    made->source = strdup(source);
    *out = made;
    return 0;
}

int nvrtcDestroyProgram(void **held) {
    program *p = *held;
    free(p->source);
    free(p->image);
    free(p);
    *held = NULL;
    return 0;
}

int nvrtcCompileProgram(void *held, int count, const char *const *options) {
    program *p = held;
    snprintf(p->architecture, sizeof p->architecture, "%s", count ? options[0] : "");
    return strstr(p->source, "no_such_thing") != NULL;
}

int nvrtcGetProgramLogSize(void *held, size_t *size) {
    (void)held;
    *size = sizeof "no_such_thing";
    return 0;
}

int nvrtcGetProgramLog(void *held, char *log) {
    (void)held;
    memcpy(log, "no_such_thing", sizeof "no_such_thing");
    return 0;
}

static int make_image(program *p, const char *kind, size_t *size) {
    size_t room = strlen(p->source) + sizeof p->architecture + 16;
    free(p->image);
    p->image = calloc(1, room);
    snprintf(p->image, room, "%s %s\n%s", kind, p->architecture, p->source);
    *size = strlen(p->image) + 1;
    return 0;
}

static int copy_image(const program *p, char *to) {
    memcpy(to, p->image, strlen(p->image) + 1);
    return 0;
}

int nvrtcGetPTXSize(void *held, size_t *size) {
    return make_image(held, "ptx", size);
}

int nvrtcGetPTX(void *held, char *text) {
    return copy_image(held, text);
}

int nvrtcGetCUBINSize(void *held, size_t *size) {
    return make_image(held, "cubin", size);
}

int nvrtcGetCUBIN(void *held, char *bytes) {
    return copy_image(held, bytes);
}

int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return 0;
}
