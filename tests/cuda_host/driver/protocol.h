/* Between the driver that stands in and the process that is its device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The device maps its memory and pinned memory at the addresses below, and nothing of
 * the host.  A request is a packet; RUN, LOAD and FIND have a reply.  Both ends are of
 * one build.
 */
#ifndef IG_TESTS_CUDA_HOST_PROTOCOL_H
#define IG_TESTS_CUDA_HOST_PROTOCOL_H

#include "../shim/call.h"

/* Where no library, heap or sanitizer of a host process is. */
#define DEVICE_BASE UINT64_C(0x7e9000000000)
#define DEVICE_BYTES (UINT64_C(256) << 30)
#define PINNED_BASE UINT64_C(0x7ed000000000)
#define PINNED_BYTES (UINT64_C(64) << 30)
#define REQUEST_FILE 3 /* of the device's process */
#define DEVICE_FILE 4
#define PINNED_FILE 5

enum { MAX_ARGUMENT_BYTES = 4096, MAX_NAME = 512 };

typedef enum request_kind {
    REQUEST_OPEN,  /* address, size: can be used from now on */
    REQUEST_CLOSE, /* address, size */
    REQUEST_LOAD,  /* text: path of a library */
    REQUEST_DROP,  /* handle */
    REQUEST_FIND,  /* handle of a library, text: name of a kernel */
    REQUEST_RUN
} request_kind;

typedef struct request {
    request_kind kind;
    uint64_t address, size;
    uint64_t handle, kernel; /* addresses in the device's process */
    int64_t grid;
    uint32_t threads;
    uint64_t seed;
    union {
        char text[MAX_NAME];
        unsigned char arguments[MAX_ARGUMENT_BYTES]; /* one after the other */
    } as;
} request;

typedef struct reply {
    int end;    /* shim_end */
    int signal; /* 0: none was raised */
    uint64_t fault, handle, run;
    int64_t block;
    uint32_t thread;
    shim_kernel kernel;  /* its facts */
    char text[MAX_NAME]; /* of an error; the library's architecture */
} reply;

#endif
