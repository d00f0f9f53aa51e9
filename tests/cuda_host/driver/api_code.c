/* Calls about modules, kernels and launches.  SPDX-License-Identifier: Apache-2.0
 *
 * An image is a library that the NVRTC that stands in has made, its PTX, which is
 * compiled here, or a real cubin, whose launches are checked and then do nothing.
 */
#include "../nvrtc/build.h"
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- images ---- */

/* Code for sm_XY runs on X.Z with Z at least Y, with "a" on X.Y alone; PTX on all that
 * are not older. */
static bool runs_here(const char *architecture, bool is_ptx) {
    int major = 0, minor = 0;
    unsigned level = 0;
    char end = '\0';
    const char *digits = strchr(architecture, '_');
    get_capability(&major, &minor);
    if (!digits || sscanf(digits, "_%u%c", &level, &end) < 1) {
        return false;
    }
    int x = (int)level / 10, y = (int)level % 10;
    if (end == 'a') {
        return x == major && y == minor;
    }
    return is_ptx ? 10 * major + minor >= (int)level : x == major && y <= minor;
}

/* The device's process opens it by a file that does not stay. */
static int load_library(module *m, const void *bytes, size_t size, bool is_ptx) {
    request r = { .kind = REQUEST_LOAD };
    reply out;
    snprintf(r.as.text, sizeof r.as.text, "/tmp/ingot-stand-in-XXXXXX");
    int file = mkstemp(r.as.text);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size) {
        say("no room for code in /tmp");
        return OUT_OF_MEMORY;
    }
    close(file);
    send_request(&r, sizeof r, &out);
    unlink(r.as.text);
    if (!out.handle || !out.run) {
        say("an image that cannot be loaded: %s", out.text);
        return INVALID_IMAGE;
    }
    m->handle = out.handle;
    m->run = out.run;
    return runs_here(out.text, is_ptx) ? SUCCESS : NO_BINARY_FOR_GPU;
}

static int load_ptx(module *m, const char *text) {
    static const char mark[] = "// source\n", target[] = ".target sm_";
    const char *source = strstr(text, mark), *number = strstr(text, target);
    char architecture[SHIM_ARCHITECTURE_SIZE];
    if (!source || !number) {
        say("PTX of another NVRTC than the one that stands in");
        return INVALID_PTX;
    }
    snprintf(architecture, sizeof architecture, "compute_%.*s",
             (int)strcspn(number + sizeof target - 1, "\n,"),
             number + sizeof target - 1);
    build made = build_library(source + sizeof mark - 1, architecture);
    int error = made.bytes ? load_library(m, made.bytes, made.size, true) : INVALID_PTX;
    build_drop(&made);
    return error;
}

static int load_cubin(module *m, const void *image) {
    m->cubin_bytes = elf_bytes(image);
    m->cubin = malloc(m->cubin_bytes);
    memcpy(m->cubin, image, m->cubin_bytes);
    say("a real cubin: its launches are checked and do nothing");
    return SUCCESS;
}

static void drop_module(module *m) {
    for (object *o = objects, *next; o; o = next) {
        next = o->next;
        if (o->kind == OBJECT_FUNCTION && ((function *)(void *)o)->module == m) {
            drop_object(o);
        }
    }
    if (m->handle) {
        request r = { .kind = REQUEST_DROP, .handle = m->handle };
        send_request(&r, offsetof(request, as), NULL);
    }
    free(m->cubin);
    drop_object(m);
}

static int load_image(void **out, const void *image) {
    module *m = make_object(OBJECT_MODULE, sizeof *m, current_context());
    size_t size = elf_bytes(image);
    int error;
    if (size == 0) {
        error = memcmp(image, "//", 2) == 0 || memcmp(image, ".version", 8) == 0
                    ? load_ptx(m, image)
                    : INVALID_IMAGE;
    } else {
        error = is_cubin(image) ? load_cubin(m, image)
                                : load_library(m, image, size, false);
    }
    if (error) {
        drop_module(m);
        m = NULL;
    }
    *out = m;
    return error;
}

EXPORT_CALL(cuModuleLoadData, (void **out, const void *image), (out, image),
            IN_CONTEXT | NOT_IN_CAPTURE) {
    return load_image(out, image);
}

EXPORT_CALL(cuModuleLoadDataEx,
            (void **out, const void *image, unsigned count, int *options,
             void **values),
            (out, image, count, options, values), IN_CONTEXT | NOT_IN_CAPTURE) {
    (void)count, (void)options, (void)values;
    return load_image(out, image);
}

/* Kernels of it that are queued find no code. */
EXPORT_CALL(cuModuleUnload, (void *handle), (handle), IN_CONTEXT | NOT_IN_CAPTURE) {
    module *m = find_ours(OBJECT_MODULE, handle);
    if (!m) {
        return INVALID_HANDLE;
    }
    int error = finish_all(current_context());
    drop_module(m);
    return error;
}

/* ---- kernels ---- */

static bool find_facts(function *f) {
    const module *m = f->module;
    request r = { .kind = REQUEST_FIND, .handle = m->handle };
    reply out;
    if (m->cubin) {
        return read_cubin(m->cubin, m->cubin_bytes, f->name, &f->facts, &f->shared);
    }
    snprintf(r.as.text, sizeof r.as.text, "%s", f->name);
    send_request(&r, sizeof r, &out);
    f->kernel = out.handle;
    f->facts = out.kernel;
    return f->kernel != 0;
}

EXPORT_CALL(cuModuleGetFunction, (void **out, void *handle, const char *name),
            (out, handle, name), IN_CONTEXT) {
    module *m = find_ours(OBJECT_MODULE, handle);
    function *f = m ? make_object(OBJECT_FUNCTION, sizeof *f, current_context()) : NULL;
    *out = NULL;
    if (!f) {
        return INVALID_HANDLE;
    }
    f->module = m;
    snprintf(f->name, sizeof f->name, "%s", name);
    if (!find_facts(f)) {
        drop_object(f);
        return NOT_FOUND;
    }
    *out = f;
    return SUCCESS;
}

/* 0: most threads, 1: shared bytes, 3: local bytes, 4: registers, 6: level. */
EXPORT_CALL(cuFuncGetAttribute, (int *out, int attribute, void *handle),
            (out, attribute, handle), IN_CONTEXT) {
    const function *f = find_ours(OBJECT_FUNCTION, handle);
    if (!f) {
        return INVALID_HANDLE;
    }
    unsigned max = f->facts.max_threads ? f->facts.max_threads : SHIM_MAX_THREADS;
    *out = attribute == 0 ? (int)max : attribute == 1 ? (int)f->shared : 0;
    return SUCCESS;
}

EXPORT_CALL(cuFuncSetAttribute, (void *handle, int attribute, int value),
            (handle, attribute, value), IN_CONTEXT) {
    (void)attribute, (void)value;
    return find_ours(OBJECT_FUNCTION, handle) ? SUCCESS : INVALID_HANDLE;
}

/* ---- launches ---- */

/* Each argument of its own number of bytes, from 8 to 8. */
static int take_arguments(work *w, void *const *parameters) {
    const shim_kernel *facts = &w->function->facts;
    for (unsigned i = 0; i < facts->parameter_count; i++) {
        w->argument_bytes += (facts->sizes[i] + 7u) / 8 * 8;
    }
    if (w->argument_bytes > MAX_ARGUMENT_BYTES || !parameters) {
        return w->argument_bytes ? INVALID_VALUE : SUCCESS;
    }
    unsigned char *to = w->arguments = calloc(1, w->argument_bytes + 1);
    for (unsigned i = 0; to && i < facts->parameter_count; i++) {
        memcpy(to, parameters[i], facts->sizes[i]);
        to += (facts->sizes[i] + 7u) / 8 * 8;
    }
    return to ? SUCCESS : OUT_OF_MEMORY;
}

static int check_launch(const function *f, uint32_t threads, unsigned shared) {
    if (threads > SHIM_MAX_THREADS) {
        return INVALID_VALUE;
    }
    if (f->facts.max_threads && threads > f->facts.max_threads) {
        say("kernel '%s' is for %u threads a block, not %u", f->name,
            f->facts.max_threads, threads);
        return OUT_OF_RESOURCES;
    }
    return f->shared + shared > 227u << 10 ? OUT_OF_RESOURCES : SUCCESS;
}

/* Along x alone, and no shared bytes beyond the kernel's own. */
EXPORT_CALL(cuLaunchKernel,
            (void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
             unsigned block_x, unsigned block_y, unsigned block_z,
             unsigned shared_bytes, void *on, void **parameters, void **extra),
            (handle, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
             on, parameters, extra),
            IN_CONTEXT) {
    function *f = find_ours(OBJECT_FUNCTION, handle);
    stream *s = find_stream(on);
    bool is_plain = grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1 &&
                    shared_bytes == 0 && !extra && grid_x - 1 < 0x7fffffff &&
                    block_x > 0;
    if (!f || !s || !is_plain) {
        return f && s ? INVALID_VALUE : INVALID_HANDLE;
    }
    work w = { .kind = WORK_LAUNCH, .function = f, .grid = grid_x, .threads = block_x };
    int error = check_launch(f, block_x, shared_bytes);
    error = error ? error : take_arguments(&w, parameters);
    error = error ? error : enqueue(s, &w);
    if (error) {
        free(w.arguments);
    } else if (!s->capture) {
        count_work(&w, false);
    }
    return error;
}

/* CUDA_KERNEL_NODE_PARAMS, of version 2. */
typedef struct node_parameters {
    void *function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    void *kernel, *context;
} node_parameters;

EXPORT_CALL(cuGraphExecKernelNodeSetParams_v2,
            (void *handle, void *of, const node_parameters *p), (handle, of, p),
            IN_CONTEXT) {
    exec *e = find_ours(OBJECT_EXEC, handle);
    const node *n = find_object(OBJECT_NODE, of);
    function *f = find_ours(OBJECT_FUNCTION, p->function);
    bool is_good = e && n && f && n->index < e->graph->count &&
                   e->graph->nodes[n->index]->work.kind == WORK_LAUNCH &&
                   e->graph->users == 1; /* it does not run */
    if (!is_good) {
        return INVALID_VALUE;
    }
    work *w = &e->graph->nodes[n->index]->work;
    work changed = {
        .kind = WORK_LAUNCH, .function = f, .grid = p->grid[0], .threads = p->block[0]
    };
    int error = check_launch(f, p->block[0], p->shared);
    error = error ? error : take_arguments(&changed, p->parameters);
    if (!error) {
        free(w->arguments);
        *w = changed;
    }
    return error;
}
