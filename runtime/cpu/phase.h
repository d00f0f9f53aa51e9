/* Runs the launches of one phase.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_CPU_PHASE_H
#define IG_RUNTIME_CPU_PHASE_H

#include "runtime/device.h"

void ig_phase_run(const ig_phase *phase, const ig_team *team);

#endif
