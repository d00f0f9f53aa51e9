/* The device of the driver that stands in: a process of its own.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It runs kernels one at a time, as it is told.  An address that is not in memory of
 * the device faults, and so the kernel ends.  Its own libraries lie where no host has
 * its own: the program is not movable, and others are mapped from below.
 */
#include "protocol.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

static sigjmp_buf before_kernel;
static volatile sig_atomic_t raised;
static volatile uint64_t fault;

static void take_signal(int signal, siginfo_t *info, void *context) {
    (void)context;
    raised = signal;
    fault = (uint64_t)(uintptr_t)info->si_addr;
    siglongjmp(before_kernel, 1);
}

static void watch_signals(void) {
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE };
    static char stack[64 * 1024];
    stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_sigaction = take_signal,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, NULL);
    }
}

static void map_memory(void) {
    int flags = MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE;
    void *device = mmap((void *)(uintptr_t)DEVICE_BASE, DEVICE_BYTES, PROT_NONE, flags,
                        DEVICE_FILE, 0);
    void *pinned = mmap((void *)(uintptr_t)PINNED_BASE, PINNED_BYTES, PROT_NONE, flags,
                        PINNED_FILE, 0);
    if (device == MAP_FAILED || pinned == MAP_FAILED) {
        perror("stand-in device: memory");
        _exit(1);
    }
}

/* ---- requests ---- */

static void load(const request *r, reply *out) {
    void *library = dlopen(r->as.text, RTLD_NOW | RTLD_LOCAL);
    const char *name = library ? dlsym(library, "shim_architecture") : NULL;
    out->handle = (uint64_t)(uintptr_t)library;
    out->run = (uint64_t)(uintptr_t)(library ? dlsym(library, "shim_run") : NULL);
    snprintf(out->text, sizeof out->text, "%s", library ? name ? name : "" : dlerror());
}

static void find(const request *r, reply *out) {
    char name[MAX_NAME + 16];
    snprintf(name, sizeof name, "shim_kernel_%s", r->as.text);
    const shim_kernel *kernel = dlsym((void *)(uintptr_t)r->handle, name);
    out->handle = (uint64_t)(uintptr_t)kernel;
    if (kernel) {
        out->kernel = *kernel;
    }
}

static void run(request *r, reply *out) {
    const shim_kernel *kernel = (const shim_kernel *)(uintptr_t)r->kernel;
    shim_run_fn *run_kernel = NULL;
    void *parameters[SHIM_MAX_PARAMETERS];
    size_t at = 0;
    memcpy(&run_kernel, &r->handle, sizeof run_kernel);
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        parameters[i] = r->as.arguments + at;
        at += (kernel->sizes[i] + 7u) / 8 * 8;
    }
    shim_call call = { .kernel = kernel,
                       .grid = r->grid,
                       .threads = r->threads,
                       .seed = r->seed,
                       .parameters = parameters,
                       .block = &out->block,
                       .thread = &out->thread };
    raised = 0;
    if (sigsetjmp(before_kernel, 1) == 0) {
        out->end = run_kernel(&call);
    }
    out->signal = raised;
    out->fault = fault;
}

static void protect(const request *r, int allowed) {
    if (mprotect((void *)(uintptr_t)r->address, r->size, allowed) != 0) {
        perror("stand-in device: protection");
        _exit(1);
    }
}

static void serve(request *r) {
    static reply out;
    memset(&out, 0, sizeof out);
    switch (r->kind) {
    case REQUEST_OPEN:
        protect(r, PROT_READ | PROT_WRITE);
        return;
    case REQUEST_CLOSE:
        protect(r, PROT_NONE);
        return;
    case REQUEST_DROP:
        dlclose((void *)(uintptr_t)r->handle);
        return;
    case REQUEST_LOAD:
        load(r, &out);
        break;
    case REQUEST_FIND:
        find(r, &out);
        break;
    case REQUEST_RUN:
        run(r, &out);
        break;
    }
    if (send(REQUEST_FILE, &out, sizeof out, MSG_NOSIGNAL) != sizeof out) {
        _exit(0); /* the host has ended */
    }
}

/* Begins again with libraries mapped from below, where that is allowed. */
static void move_libraries(char **arguments) {
    if (!getenv("INGOT_STAND_IN_MOVED") && personality(ADDR_COMPAT_LAYOUT) != -1) {
        setenv("INGOT_STAND_IN_MOVED", "1", 1);
        execv("/proc/self/exe", arguments);
    }
}

int main(int count, char **arguments) {
    static request r;
    (void)count;
    move_libraries(arguments);
    watch_signals();
    map_memory();
    while (recv(REQUEST_FILE, &r, sizeof r, 0) > 0) {
        serve(&r);
    }
    return 0;
}
