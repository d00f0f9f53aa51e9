/* LLVM at work on one module.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kernels arrive vectorised and unrolled, so four cheap passes do the rest
 * (measured: the default pipelines take twice the time for code that is no better), and
 * code generation at its default level does the rest.
 *
 * LLVM reports failures in two ways.  Diagnostics of a context become ours.  A
 * fatal error ends the process; its handler has no user data, so the name of the kernel
 * at work is in the one thread-local variable of this library.
 *
 * Compilations of small models are many, and a target machine's tables take as long as
 * the code of a small kernel: machines that are not used wait for the next compilation
 * (scripts/check-symbols knows these variables).
 */
#include "codegen/cpu/machine.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static const char passes[] =
    "sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg";

static const char *triple_of(const ig_cpu_level *level) {
    return level->is_arm64 ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu";
}

static _Thread_local const char *kernel_at_work;

static void stop_process(const char *reason) {
    fprintf(stderr, "ingot: LLVM gave up on kernel '%s': %s\n",
            kernel_at_work ? kernel_at_work : "?", reason);
    fflush(stderr);
}

/* One machine pass takes a sixth of the time of large kernels and changes none: it
 * moves chains of integer operations into mask registers.  Loop strength reduction
 * takes half of the time; emit_address.c is in its place.  LLVM has no other handle
 * for them, and an option that is not known, or was set by a host of ours, is let
 * be. */
static void disable_slow_passes(void) {
    static const char *const words[] = { "ingot", "-disable-x86-domain-reassignment",
                                         "-disable-lsr" };
    LLVMParseCommandLineOptions(3, words, "");
}

/* Once a process: LLVM's tables of targets and its handler are its globals.  After a
 * fatal error LLVM calls exit(); the handler only names the kernel. */
static void initialize_llvm(void) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    disable_slow_passes();
    LLVMResetFatalErrorHandler();
    LLVMInstallFatalErrorHandler(stop_process);
}

static pthread_once_t initialized = PTHREAD_ONCE_INIT;

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
    ig_cpu_machine *machine = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) {
        return;
    }
    char *text = LLVMGetDiagInfoDescription(info);
    (void)ig_error(&machine->context->diag, IG_INTERNAL, NULL, "kernel '%s': LLVM: %s",
                   machine->kernel, text);
    LLVMDisposeMessage(text);
}

/* ---- target machines ---- */

enum { MAX_PARKED = 4 };

typedef struct parked_target {
    const ig_cpu_level *level;
    LLVMTargetMachineRef target; /* NULL: an empty place */
} parked_target;

static pthread_mutex_t parked_lock = PTHREAD_MUTEX_INITIALIZER;
static parked_target parked[MAX_PARKED];

/* A machine of this level that waits, or NULL. */
static LLVMTargetMachineRef take_parked(const ig_cpu_level *level) {
    LLVMTargetMachineRef found = NULL;
    pthread_mutex_lock(&parked_lock);
    for (size_t i = 0; i < MAX_PARKED && !found; i++) {
        if (parked[i].level == level) {
            found = parked[i].target;
            parked[i] = (parked_target){ 0 };
        }
    }
    pthread_mutex_unlock(&parked_lock);
    return found;
}

/* Keeps the machine for whoever asks next, where there is room. */
static void park_target(const ig_cpu_level *level, LLVMTargetMachineRef target) {
    assert(level && target && "only an open one is closed");
    pthread_mutex_lock(&parked_lock);
    for (size_t i = 0; i < MAX_PARKED && target; i++) {
        if (!parked[i].target) {
            parked[i] = (parked_target){ level, target };
            target = NULL;
        }
    }
    pthread_mutex_unlock(&parked_lock);
    if (target) {
        LLVMDisposeTargetMachine(target);
    }
}

/* ---- life ---- */

/* Images refer to their own places alone: by 32 bits on x86-64; on aarch64, whose
 * common way depends on where pages begin, by the 21 bits of the tiny model. */
static ig_status open_target(ig_cpu_machine *machine) {
    LLVMTargetRef target = NULL;
    const char *triple = triple_of(machine->level);
    char *message = NULL;
    machine->target = take_parked(machine->level);
    if (machine->target) {
        return IG_OK;
    }
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        ig_status status = ig_error(&machine->context->diag, IG_UNSUPPORTED, NULL,
                                    "LLVM has no code generator for %s: %s", triple,
                                    message);
        LLVMDisposeMessage(message);
        return status;
    }
    machine->target = LLVMCreateTargetMachine(
        target, triple, machine->level->cpu, machine->level->features,
        LLVMCodeGenLevelDefault, LLVMRelocPIC,
        machine->level->is_arm64 ? LLVMCodeModelTiny : LLVMCodeModelSmall);
    return IG_OK;
}

ig_status ig_cpu_machine_open(ig_cpu_machine *machine, ig_context *context,
                              const ig_cpu_level *level) {
    *machine = (ig_cpu_machine){ .context = context, .level = level };
    pthread_once(&initialized, initialize_llvm);
    ig_status status = open_target(machine);
    if (status != IG_OK) {
        return status;
    }
    machine->llvm = LLVMContextCreate();
    machine->options = LLVMCreatePassBuilderOptions();
    machine->builder = LLVMCreateBuilderInContext(machine->llvm);
    LLVMContextSetDiagnosticHandler(machine->llvm, on_diagnostic, machine);
    return IG_OK;
}

static void drop_output(ig_cpu_machine *machine) {
    if (machine->output) {
        LLVMDisposeMemoryBuffer(machine->output);
        machine->output = NULL;
    }
    if (machine->text) {
        LLVMDisposeMessage(machine->text);
        machine->text = NULL;
    }
}

static void drop_module(ig_cpu_machine *machine) {
    drop_output(machine);
    if (machine->debug) {
        LLVMDisposeDIBuilder(machine->debug);
        machine->debug = NULL;
    }
    if (machine->module) {
        LLVMDisposeModule(machine->module);
        machine->module = NULL;
    }
}

void ig_cpu_machine_close(ig_cpu_machine *machine) {
    drop_module(machine);
    LLVMDisposeBuilder(machine->builder);
    LLVMDisposePassBuilderOptions(machine->options);
    LLVMContextDispose(machine->llvm);
    park_target(machine->level, machine->target);
    kernel_at_work = NULL;
}

/* ---- one kernel ---- */

void ig_cpu_machine_begin(ig_cpu_machine *machine, const ig_graph *kernel) {
    drop_module(machine);
    machine->kernel = kernel->name;
    kernel_at_work = kernel->name;
    machine->module = LLVMModuleCreateWithNameInContext(kernel->name, machine->llvm);
    LLVMSetTarget(machine->module, triple_of(machine->level));
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine->target);
    LLVMSetModuleDataLayout(machine->module, layout);
    LLVMDisposeTargetData(layout);
}

LLVMDIBuilderRef ig_cpu_machine_debug(ig_cpu_machine *machine) {
    assert(machine->module && !machine->debug && "a module has one such builder");
    machine->debug = LLVMCreateDIBuilder(machine->module);
    return machine->debug;
}

const char *ig_cpu_machine_print(ig_cpu_machine *machine) {
    drop_output(machine);
    machine->text = LLVMPrintModuleToString(machine->module);
    return machine->text;
}

ig_status ig_cpu_machine_verify(ig_cpu_machine *machine) {
    char *message = NULL;
    ig_status status = IG_OK;
    if (LLVMVerifyModule(machine->module, LLVMReturnStatusAction, &message)) {
        status = ig_error(&machine->context->diag, IG_INTERNAL, NULL,
                          "kernel '%s': LLVM's verifier: %s", machine->kernel, message);
    }
    LLVMDisposeMessage(message);
    return status;
}

static ig_status take_error(ig_cpu_machine *machine, const char *text) {
    return ig_error(&machine->context->diag, IG_INTERNAL, NULL, "kernel '%s': LLVM: %s",
                    machine->kernel, text);
}

ig_status ig_cpu_machine_optimize(ig_cpu_machine *machine) {
    ig_budget *budget = &machine->context->budget;
    ig_budget_enter_foreign(budget);
    LLVMErrorRef error = LLVMRunPasses(machine->module, passes, machine->target,
                                       machine->options);
    ig_budget_leave_foreign(budget);
    if (!error) {
        return IG_OK;
    }
    char *message = LLVMGetErrorMessage(error);
    ig_status status = take_error(machine, message);
    LLVMDisposeErrorMessage(message);
    return status;
}

ig_status ig_cpu_machine_assemble(ig_cpu_machine *machine, LLVMCodeGenFileType kind,
                                  ig_str *out_bytes) {
    ig_diag *diag = &machine->context->diag;
    ig_budget *budget = &machine->context->budget;
    size_t errors = diag->error_count;
    char *message = NULL;
    drop_output(machine);
    /* Comments in assembly say where loops are. */
    LLVMSetTargetMachineAsmVerbosity(machine->target, kind == LLVMAssemblyFile);
    ig_budget_enter_foreign(budget);
    LLVMBool failed = LLVMTargetMachineEmitToMemoryBuffer(
        machine->target, machine->module, kind, &message, &machine->output);
    ig_budget_leave_foreign(budget);
    if (failed) {
        ig_status status = take_error(machine, message);
        LLVMDisposeMessage(message);
        return status;
    }
    if (diag->error_count != errors) {
        return IG_INTERNAL;
    }
    *out_bytes = (ig_str){ LLVMGetBufferStart(machine->output),
                           LLVMGetBufferSize(machine->output) };
    return IG_OK;
}
