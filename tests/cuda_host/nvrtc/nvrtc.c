/* Stands in for NVRTC where there is none: the C++ compiler of this machine compiles
 * the text behind the host shim.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A cubin is then a library of this machine, with the architecture's name in it.  PTX
 * is a text that names the entries and holds the source; the driver that stands in
 * compiles it as the real one would.
 */
#include "build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVRTC(name, parameters) \
    __attribute__((visibility("default"))) int name parameters;
#include "codegen/cuda/nvrtc.def"
#undef NVRTC

/* nvrtcResult */
enum { SUCCESS = 0, INVALID_INPUT = 3, INVALID_OPTION = 5, COMPILATION = 6 };

typedef struct program {
    char *source, *ptx;
    const char *architecture; /* "sm_80", "compute_90" */
    build made;
} program;

static const char *const numbers[] = { "75",  "80",   "86",  "87",   "88",  "89",
                                       "90",  "90a",  "100", "100a", "103", "103a",
                                       "110", "110a", "120", "120a", "121" };
static char names[2 * sizeof numbers / sizeof *numbers][16];

/* Of the option's value, which does not stay; NULL: NVRTC knows none such. */
static const char *find_architecture(const char *value) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(names[2 * i], sizeof *names, "sm_%s", numbers[i]);
        snprintf(names[2 * i + 1], sizeof *names, "compute_%s", numbers[i]);
        for (size_t k = 2 * i; k < 2 * i + 2; k++) {
            if (strcmp(value, names[k]) == 0) {
                return names[k];
            }
        }
    }
    return NULL;
}

static bool take_option(program *p, const char *option) {
    static const char *const known[] = {
        "--std=",          "--fmad=",
        "--maxrregcount=", "--gpu-architecture=",
        "-lineinfo",       "--device-as-default-execution-space"
    };
    if (strncmp(option, known[3], strlen(known[3])) == 0) {
        p->architecture = find_architecture(option + strlen(known[3]));
        return p->architecture != NULL;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strncmp(option, known[i], strlen(known[i])) == 0) {
            return true;
        }
    }
    return false;
}

int nvrtcCreateProgram(void **out, const char *source, const char *name,
                       int header_count, const char *const *headers,
                       const char *const *header_names) {
    (void)name, (void)headers, (void)header_names;
    if (header_count != 0) {
        return INVALID_INPUT;
    }
    program *made = calloc(1, sizeof *made);
    made->source = strdup(source);
    *out = made;
    return SUCCESS;
}

int nvrtcDestroyProgram(void **held) {
    program *p = *held;
    free(p->source);
    free(p->ptx);
    build_drop(&p->made);
    free(p);
    *held = NULL;
    return SUCCESS;
}

int nvrtcCompileProgram(void *held, int count, const char *const *options) {
    program *p = held;
    p->architecture = "compute_75";
    for (int i = 0; i < count; i++) {
        if (!take_option(p, options[i])) {
            p->made.log = malloc(strlen(options[i]) + 100);
            sprintf(p->made.log, "nvrtc: error: invalid value in option (%s)\n",
                    options[i]);
            return INVALID_OPTION;
        }
    }
    p->made = build_library(p->source, p->architecture);
    return p->made.bytes ? SUCCESS : COMPILATION;
}

int nvrtcGetProgramLogSize(void *held, size_t *size) {
    const program *p = held;
    *size = p->made.log ? strlen(p->made.log) + 1 : 1;
    return SUCCESS;
}

int nvrtcGetProgramLog(void *held, char *log) {
    const program *p = held;
    strcpy(log, p->made.log ? p->made.log : "");
    return SUCCESS;
}

/* ---- results ---- */

typedef struct lines {
    char *start, *end;
} lines;

static void put_entry(void *user, const char *name, size_t length, unsigned max) {
    lines *out = user;
    out->end += sprintf(out->end, ".visible .entry %.*s(\n)%s\n", (int)length, name,
                        max ? ", bounded" : "");
}

/* "//" begins what real PTX does not have. */
static char *make_ptx(const program *p) {
    const char *number = strchr(p->architecture, '_') + 1;
    lines out = { calloc(1, 3 * strlen(p->source) + 1000), NULL };
    out.end = out.start + sprintf(out.start,
                                  "// a stand-in: the source is behind the entries\n"
                                  ".version 9.0\n.target sm_%s\n.address_size 64\n\n",
                                  number);
    build_list_kernels(p->source, put_entry, &out);
    sprintf(out.end, "// source\n%s", p->source);
    return out.start;
}

int nvrtcGetPTXSize(void *held, size_t *size) {
    program *p = held;
    free(p->ptx);
    p->ptx = make_ptx(p);
    *size = strlen(p->ptx) + 1;
    return SUCCESS;
}

int nvrtcGetPTX(void *held, char *text) {
    const program *p = held;
    strcpy(text, p->ptx);
    return SUCCESS;
}

/* 0 for an architecture that is virtual, as with the real one. */
int nvrtcGetCUBINSize(void *held, size_t *size) {
    const program *p = held;
    *size = strncmp(p->architecture, "sm_", 3) == 0 ? p->made.size : 0;
    return SUCCESS;
}

int nvrtcGetCUBIN(void *held, char *bytes) {
    const program *p = held;
    memcpy(bytes, p->made.bytes, p->made.size);
    return SUCCESS;
}

int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return SUCCESS;
}
