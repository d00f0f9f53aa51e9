# Images of the kernels in this folder, as generated code would be: unit/kernels/*.bin.
# SPDX-License-Identifier: Apache-2.0
#
# Only .text is taken, so a kernel with relocations or read-only data fails the build.
file(GLOB kernel_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
set(kernel_folder ${PROJECT_BINARY_DIR}/unit/kernels)
file(MAKE_DIRECTORY ${kernel_folder})
set(kernel_images)
set(kernel_flags -fcf-protection=none)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(kernel_flags)
endif()
foreach(source ${kernel_sources})
    get_filename_component(name ${source} NAME_WE)
    set(object ${kernel_folder}/${name}.o)
    set(image ${kernel_folder}/${name}.bin)
    add_custom_command(OUTPUT ${image}
        COMMAND ${CMAKE_C_COMPILER} -std=c11 -Wall -Wextra -Werror -O1 -ffreestanding -fPIC
                -fno-stack-protector -fno-asynchronous-unwind-tables -fno-unwind-tables ${kernel_flags}
                -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include
                -c ${source} -o ${object}
        COMMAND sh -c "! ${CMAKE_OBJDUMP} -r ${object} | grep R_"
        COMMAND sh -c "! ${CMAKE_OBJDUMP} -h ${object} | grep rodata"
        COMMAND ${CMAKE_OBJCOPY} -O binary -j .text ${object} ${image}
        DEPENDS ${source} ${CMAKE_CURRENT_LIST_DIR}/kernel.h
                ${PROJECT_SOURCE_DIR}/include/ingot/kernel.h
        COMMENT "Kernel ${name}.bin" VERBATIM)
    list(APPEND kernel_images ${image})
endforeach()
add_custom_target(test_kernels DEPENDS ${kernel_images})
