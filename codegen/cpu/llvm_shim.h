/* The LLVM C API as this folder sees it: headers, version, and a small vocabulary.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Only codegen/cpu includes llvm-c.  What differs between LLVM versions belongs here
 * and nowhere else.  The `l_` helpers keep emission at one line a thought.
 */
#ifndef IG_CODEGEN_CPU_LLVM_SHIM_H
#define IG_CODEGEN_CPU_LLVM_SHIM_H

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <llvm/Config/llvm-config.h>

#if LLVM_VERSION_MAJOR < 19
#error "LLVM 19 or newer is needed"
#endif

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What values are called in printed LLVM IR; the empty name lets LLVM number them. */
#define L_UNNAMED ""

static inline LLVMValueRef l_i64(LLVMContextRef llvm, int64_t value) {
    return LLVMConstInt(LLVMInt64TypeInContext(llvm), (unsigned long long)value, 1);
}

static inline bool l_is_vector(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static inline unsigned l_lanes(LLVMTypeRef type) {
    return l_is_vector(type) ? LLVMGetVectorSize(type) : 1;
}

static inline LLVMTypeRef l_element(LLVMTypeRef type) {
    return l_is_vector(type) ? LLVMGetElementType(type) : type;
}

/* `element` as a scalar or as a vector of `lanes`. */
static inline LLVMTypeRef l_vector(LLVMTypeRef element, unsigned lanes) {
    return lanes > 1 ? LLVMVectorType(element, lanes) : element;
}

/* The integer type of as many bits and lanes as `type`. */
static inline LLVMTypeRef l_as_int(LLVMTypeRef type) {
    LLVMTypeRef element = l_element(type);
    LLVMContextRef llvm = LLVMGetTypeContext(type);
    unsigned bits = 0;
    LLVMTypeKind kind = LLVMGetTypeKind(element);
    if (kind == LLVMIntegerTypeKind) {
        bits = LLVMGetIntTypeWidth(element);
    } else {
        bits = kind == LLVMDoubleTypeKind ? 64 : kind == LLVMFloatTypeKind ? 32 : 16;
    }
    return l_vector(LLVMIntTypeInContext(llvm, bits), l_lanes(type));
}

/* One value in every lane of `type`; a scalar when `type` is one. */
static inline LLVMValueRef l_splat_const(LLVMTypeRef type, LLVMValueRef scalar) {
    enum { MAX = 4096 };
    if (!l_is_vector(type)) {
        return scalar;
    }
    LLVMValueRef lanes[MAX];
    unsigned count = l_lanes(type);
    for (unsigned i = 0; i < count && i < MAX; i++) {
        lanes[i] = scalar;
    }
    return LLVMConstVector(lanes, count);
}

/* An integer or real constant in every lane of `type`. */
static inline LLVMValueRef l_int(LLVMTypeRef type, int64_t value) {
    return l_splat_const(type,
                         LLVMConstInt(l_element(type), (unsigned long long)value, 1));
}

static inline LLVMValueRef l_real(LLVMTypeRef type, double value) {
    return l_splat_const(type, LLVMConstReal(l_element(type), value));
}

/* Puts a scalar into every lane of a vector of `lanes`. */
static inline LLVMValueRef l_splat(LLVMBuilderRef b, LLVMValueRef scalar,
                                   unsigned lanes) {
    if (lanes <= 1) {
        return scalar;
    }
    LLVMTypeRef element = LLVMTypeOf(scalar);
    LLVMContextRef llvm = LLVMGetTypeContext(element);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(llvm);
    LLVMTypeRef type = LLVMVectorType(element, lanes);
    LLVMValueRef first = LLVMBuildInsertElement(b, LLVMGetPoison(type), scalar,
                                                LLVMConstInt(i32, 0, 0), L_UNNAMED);
    return LLVMBuildShuffleVector(b, first, LLVMGetPoison(type),
                                  LLVMConstNull(LLVMVectorType(i32, lanes)), L_UNNAMED);
}

/* Calls the intrinsic `name`, overloaded on `types`. */
static inline LLVMValueRef l_intrinsic(LLVMBuilderRef b, const char *name,
                                       LLVMTypeRef *types, size_t type_count,
                                       LLVMValueRef *args, unsigned arg_count) {
    LLVMModuleRef module =
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInsertBlock(b)));
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(module, id, types, type_count);
    LLVMTypeRef type = LLVMIntrinsicGetType(llvm, id, types, type_count);
    return LLVMBuildCall2(b, type, callee, args, arg_count, L_UNNAMED);
}

/* A one-type intrinsic of up to three operands of that type. */
static inline LLVMValueRef l_call1(LLVMBuilderRef b, const char *name, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    return l_intrinsic(b, name, &type, 1, &x, 1);
}

static inline LLVMValueRef l_call2(LLVMBuilderRef b, const char *name, LLVMValueRef x,
                                   LLVMValueRef y) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[] = { x, y };
    return l_intrinsic(b, name, &type, 1, args, 2);
}

/* New block at the end of the function that is being built. */
static inline LLVMBasicBlockRef l_block(LLVMBuilderRef b, const char *name) {
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b));
    return LLVMAppendBasicBlockInContext(LLVMGetTypeContext(LLVMTypeOf(function)),
                                         function, name);
}

static inline LLVMValueRef l_phi(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef value,
                                 LLVMBasicBlockRef from) {
    LLVMValueRef phi = LLVMBuildPhi(b, type, L_UNNAMED);
    LLVMAddIncoming(phi, &value, &from, 1);
    return phi;
}

#endif
