/* The backend that generates no code.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_NULL_NULL_H
#define IG_CODEGEN_NULL_NULL_H

#include "codegen/backend.h"

extern const ig_backend ig_backend_null;

#endif
