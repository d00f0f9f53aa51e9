# The stand-ins for CUDA: libcuda.so.1, its device's program, and libnvrtc.so.13.
# SPDX-License-Identifier: Apache-2.0
set(folder ${CMAKE_CURRENT_LIST_DIR})
file(GLOB driver CONFIGURE_DEPENDS ${folder}/driver/*.c)
list(REMOVE_ITEM driver ${folder}/driver/device.c)

# They are no subject of tests: no sanitizer, whose memory the device would map, too.
set(options ${INGOT_WARNINGS} -D_GNU_SOURCE -fno-sanitize=all -fvisibility=hidden)
add_library(cuda_driver MODULE ${driver} ${folder}/nvrtc/build.c)
add_library(cuda_nvrtc MODULE ${folder}/nvrtc/nvrtc.c ${folder}/nvrtc/build.c)
add_executable(cuda_device ${folder}/driver/device.c)
set_target_properties(cuda_driver PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1 NO_SONAME OFF)
set_target_properties(cuda_nvrtc PROPERTIES OUTPUT_NAME nvrtc SUFFIX .so.13)
set_target_properties(cuda_device PROPERTIES OUTPUT_NAME cuda-device
    POSITION_INDEPENDENT_CODE OFF)
target_compile_options(cuda_device PRIVATE -fno-pie)
target_link_options(cuda_device PRIVATE -no-pie) # where no host has anything
target_link_options(cuda_driver PRIVATE -Wl,-soname,libcuda.so.1)
target_link_libraries(cuda_driver PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(cuda_device PRIVATE m ${CMAKE_DL_LIBS})
foreach(target cuda_driver cuda_nvrtc cuda_device)
    target_compile_options(${target} PRIVATE ${options})
    target_link_options(${target} PRIVATE -fno-sanitize=all)
    target_compile_definitions(${target} PRIVATE INGOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    set_target_properties(${target} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unit/cuda
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unit/cuda)
endforeach()
add_custom_target(cuda_stand_ins ALL DEPENDS cuda_driver cuda_nvrtc cuda_device)
