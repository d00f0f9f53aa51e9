# Builds the runtime for aarch64 with Debian's gcc-aarch64-linux-gnu; qemu-user runs it.
# SPDX-License-Identifier: Apache-2.0
#
#     cmake --preset aarch64 && cmake --build build/aarch64
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
