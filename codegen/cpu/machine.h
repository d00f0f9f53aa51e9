/* LLVM at work on one module: passes, code, text; its errors as ours.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_CPU_MACHINE_H
#define IG_CODEGEN_CPU_MACHINE_H

#include "codegen/cpu/level.h"
#include "codegen/cpu/llvm_shim.h"
#include "ir/graph.h"

/* One LLVM context and target machine, used for kernel after kernel.  Whatever LLVM
 * allocated hangs here, so that an unwinding arena leaks nothing. */
typedef struct ig_cpu_machine {
    ig_context *context;
    const ig_cpu_level *level;
    LLVMContextRef llvm;
    LLVMTargetMachineRef target;
    LLVMPassBuilderOptionsRef options;
    LLVMBuilderRef builder;
    LLVMModuleRef module;       /* of the kernel at work, or NULL */
    LLVMDIBuilderRef debug;     /* of it, where it has debug information, or NULL */
    LLVMMemoryBufferRef output; /* the last output, or NULL */
    char *text;                 /* LLVM IR printed last, or NULL */
    const char *kernel;         /* its name, for messages */
} ig_cpu_machine;

/* On failure `machine` is closed already and a diagnostic was given. */
ig_status ig_cpu_machine_open(ig_cpu_machine *machine, ig_context *context,
                              const ig_cpu_level *level);
void ig_cpu_machine_close(ig_cpu_machine *machine);

/* Drops the last kernel and makes an empty module for `kernel`. */
void ig_cpu_machine_begin(ig_cpu_machine *machine, const ig_graph *kernel);
/* A builder of debug information for the module. */
LLVMDIBuilderRef ig_cpu_machine_debug(ig_cpu_machine *machine);
/* The module as LLVM IR; valid until the next call. */
const char *ig_cpu_machine_print(ig_cpu_machine *machine);
/* LLVM's verifier; a complaint is a defect of the emitters. */
ig_status ig_cpu_machine_verify(ig_cpu_machine *machine);
ig_status ig_cpu_machine_optimize(ig_cpu_machine *machine);
/* Assembly or an object; the bytes are the machine's until the next call. */
ig_status ig_cpu_machine_assemble(ig_cpu_machine *machine, LLVMCodeGenFileType kind,
                                  ig_str *out_bytes);

#endif
