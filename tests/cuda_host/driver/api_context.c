/* Calls about devices and contexts.  SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 8 };

static context *primary[MAX_DEVICES];

static int device_count(void) {
    int64_t count = given("INGOT_STAND_IN_DEVICES", 1);
    return (int)(count < MAX_DEVICES ? count : MAX_DEVICES);
}

/* Devices have other numbers than ordinals, so that one is not taken for the other. */
static bool is_device(int device) {
    return device >= 40 && device < 40 + device_count();
}

/* ---- the driver ---- */

EXPORT_CALL(cuInit, (unsigned flags), (flags), FREELY) {
    if (flags != 0) {
        return INVALID_VALUE;
    }
    return device_count() ? start_device() : NO_DEVICE;
}

EXPORT_CALL(cuDriverGetVersion, (int *version), (version), FREELY) {
    *version = 13000;
    return SUCCESS;
}

static const char *name_error(int error) {
    static const struct {
        int error;
        const char *name;
    } names[] = {
        { SUCCESS, "no error" },
        { INVALID_VALUE, "invalid argument" },
        { OUT_OF_MEMORY, "out of memory" },
        { NOT_INITIALISED, "initialization error" },
        { NO_DEVICE, "no CUDA-capable device is detected" },
        { INVALID_DEVICE, "invalid device ordinal" },
        { INVALID_IMAGE, "device kernel image is invalid" },
        { INVALID_CONTEXT, "invalid device context" },
        { NO_BINARY_FOR_GPU,
          "no kernel image is available for execution on the device" },
        { INVALID_PTX, "a PTX JIT compilation failed" },
        { INVALID_HANDLE, "invalid resource handle" },
        { NOT_FOUND, "named symbol not found" },
        { NOT_READY, "device not ready" },
        { ILLEGAL_ADDRESS, "an illegal memory access was encountered" },
        { OUT_OF_RESOURCES, "too many resources requested for launch" },
        { LAUNCH_FAILED, "unspecified launch failure" },
        { NOT_SUPPORTED, "operation not supported" },
        { CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing" },
        { CAPTURE_INVALIDATED,
          "operation failed due to a previous error during capture" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].error == error) {
            return names[i].name;
        }
    }
    return "unknown error";
}

/* These two take no turn, as they are called where another call has failed. */
__attribute__((visibility("default"))) int cuGetErrorString(int error,
                                                            const char **text);
int cuGetErrorString(int error, const char **text) {
    *text = name_error(error);
    return SUCCESS;
}

__attribute__((visibility("default"))) int cuGetErrorName(int error, const char **text);
int cuGetErrorName(int error, const char **text) {
    return cuGetErrorString(error, text);
}

/* ---- devices ---- */

EXPORT_CALL(cuDeviceGetCount, (int *count), (count), STARTED) {
    *count = device_count();
    return SUCCESS;
}

EXPORT_CALL(cuDeviceGet, (int *device, int ordinal), (device, ordinal), STARTED) {
    *device = 40 + ordinal;
    return is_device(*device) ? SUCCESS : INVALID_DEVICE;
}

EXPORT_CALL(cuDeviceGetName, (char *name, int size, int device), (name, size, device),
            STARTED) {
    snprintf(name, (size_t)size, "a stand-in for a GPU");
    return is_device(device) ? SUCCESS : INVALID_DEVICE;
}

EXPORT_CALL(cuDeviceTotalMem_v2, (size_t * bytes, int device), (bytes, device),
            STARTED) {
    *bytes = (size_t)given("INGOT_STAND_IN_MEMORY", (int64_t)4 << 30);
    return is_device(device) ? SUCCESS : INVALID_DEVICE;
}

EXPORT_CALL(cuDeviceGetUuid_v2, (unsigned char uuid[16], int device), (uuid, device),
            STARTED) {
    memset(uuid, device, 16);
    return is_device(device) ? SUCCESS : INVALID_DEVICE;
}

void get_capability(int *out_major, int *out_minor) {
    const char *named = getenv("INGOT_STAND_IN_CAPABILITY");
    if (!named || sscanf(named, "%d.%d", out_major, out_minor) != 2) {
        *out_major = 9;
        *out_minor = 0;
    }
}

EXPORT_CALL(cuDeviceGetAttribute, (int *value, int attribute, int device),
            (value, attribute, device), STARTED) {
    static const struct {
        int attribute, value;
    } facts[] = {
        { 1, 1024 },                          /* threads a block */
        { 2, 1024 },                          /* and along x */
        { 5, 0x7fffffff }, { 8, 48 << 10 },   /* shared bytes a block */
        { 10, 32 },                           /* lanes of a warp */
        { 12, 65536 },                        /* registers a block */
        { 16, 132 },                          /* multiprocessors */
        { 19, 1 },                            /* memory of the host can be mapped */
        { 31, 1 },                            /* kernels beside each other */
        { 38, 50 << 20 },                     /* second cache */
        { 39, 2048 },                         /* threads a multiprocessor */
        { 40, 3 },                            /* engines of copies */
        { 41, 1 },                            /* one space of addresses */
        { 81, 228 << 10 }, { 97, 227 << 10 }, /* shared bytes a block on request */
        { 115, 1 },                           /* pools */
    };
    int major, minor;
    get_capability(&major, &minor);
    *value = attribute == 75 ? major : attribute == 76 ? minor : 0;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        *value = facts[i].attribute == attribute ? facts[i].value : *value;
    }
    return is_device(device) ? SUCCESS : INVALID_DEVICE;
}

/* ---- contexts ---- */

static context *make_context(int device) {
    context *c = make_object(OBJECT_CONTEXT, sizeof *c, NULL);
    c->device = device;
    c->users = 1;
    c->null_stream = make_stream(c, 0);
    return c;
}

static const char *const kinds[] = {
    [OBJECT_STREAM] = "stream",        [OBJECT_EVENT] = "event",
    [OBJECT_MODULE] = "module",        [OBJECT_FUNCTION] = NULL,
    [OBJECT_EXEC] = "graph",           [OBJECT_POOL] = "pool",
    [OBJECT_BLOCK] = "block of memory"
};

static void drop_left(object *o, const context *c) {
    bool is_caller_s = kinds[o->kind] && (void *)o != (void *)c->null_stream;
    counts.left += is_caller_s;
    if (is_caller_s && o->kind == OBJECT_BLOCK) {
        say("a block of %zu bytes is left when its context goes",
            ((block *)(void *)o)->size);
    } else if (is_caller_s) {
        say("a %s is left when its context goes", kinds[o->kind]);
    }
    if (is_caller_s && !may_be_left && !c->error) {
        abort(); /* closing has no other way to tell it */
    }
    if (o->kind == OBJECT_BLOCK) {
        close_block((block *)(void *)o);
        drop_block((block *)(void *)o);
    } else if (o->kind == OBJECT_STREAM) {
        drop_stream((stream *)(void *)o);
    } else {
        drop_object(o);
    }
}

/* A stream takes what it captured with it, so each search begins anew. */
static object *find_left(const context *c, bool with_events) {
    object *o = objects;
    while (o && (o->context != c || (o->kind == OBJECT_EVENT && !with_events))) {
        o = o->next;
    }
    return o;
}

static void destroy_context(context *c) {
    for (int with_events = 0; with_events < 2; with_events++) { /* work may name them */
        object *o;
        while ((o = find_left(c, with_events)) != NULL) {
            drop_left(o, c);
        }
    }
    drop_object(c);
}

EXPORT_CALL(cuDevicePrimaryCtxRetain, (void **out, int device), (out, device),
            STARTED) {
    if (!is_device(device)) {
        return INVALID_DEVICE;
    }
    context **held = &primary[device - 40];
    if (*held) {
        (*held)->users++;
    } else {
        *held = make_context(device);
    }
    *out = *held;
    return SUCCESS;
}

EXPORT_CALL(cuDevicePrimaryCtxRelease_v2, (int device), (device), STARTED) {
    context *c = is_device(device) ? primary[device - 40] : NULL;
    if (!c) {
        return INVALID_CONTEXT;
    }
    if (--c->users == 0) {
        finish_all(c);
        destroy_context(c);
        primary[device - 40] = NULL;
    }
    return SUCCESS;
}

EXPORT_CALL(cuDevicePrimaryCtxGetState, (int device, unsigned *flags, int *is_active),
            (device, flags, is_active), STARTED) {
    *flags = 0;
    *is_active = is_device(device) && primary[device - 40];
    return is_device(device) ? SUCCESS : INVALID_DEVICE;
}

EXPORT_CALL(cuCtxCreate_v2, (void **out, unsigned flags, int device),
            (out, flags, device), STARTED) {
    if (flags != 0 || !is_device(device)) {
        return INVALID_VALUE;
    }
    *out = make_context(device);
    return push_context(*out);
}

EXPORT_CALL(cuCtxDestroy_v2, (void *handle), (handle), STARTED) {
    context *c = find_object(OBJECT_CONTEXT, handle);
    if (!c) {
        return INVALID_CONTEXT;
    }
    if (current_context() == c) {
        pop_context();
    }
    finish_all(c);
    destroy_context(c);
    return SUCCESS;
}

EXPORT_CALL(cuCtxPushCurrent_v2, (void *handle), (handle), STARTED) {
    context *c = find_object(OBJECT_CONTEXT, handle);
    return c ? push_context(c) : INVALID_CONTEXT;
}

/* Works in a context that is dead, too. */
EXPORT_CALL(cuCtxPopCurrent_v2, (void **out), (out), STARTED) {
    context *c = pop_context();
    if (out) {
        *out = c;
    }
    return c ? SUCCESS : INVALID_CONTEXT;
}

EXPORT_CALL(cuCtxGetCurrent, (void **out), (out), STARTED) {
    *out = current_context();
    return SUCCESS;
}

EXPORT_CALL(cuCtxSetCurrent, (void *handle), (handle), STARTED) {
    context *c = find_object(OBJECT_CONTEXT, handle);
    if (handle && !c) {
        return INVALID_CONTEXT;
    }
    pop_context();
    return c ? push_context(c) : SUCCESS;
}

EXPORT_CALL(cuCtxGetDevice, (int *out), (out), IN_CONTEXT) {
    *out = current_context()->device;
    return SUCCESS;
}

EXPORT_CALL(cuCtxSynchronize, (void), (), IN_CONTEXT | NOT_IN_CAPTURE) {
    counts.waits++;
    return finish_all(current_context());
}
