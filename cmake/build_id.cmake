# The build id: version and a hash of every source that shapes what is compiled.
# SPDX-License-Identifier: Apache-2.0
#
# Cache keys hold it, so two different compilers never share an entry.  It is a header of
# its own (#include "ingot_build_id.h", seen by driver/ and codegen/ only), rewritten when
# it changes and not otherwise.

set(INGOT_BUILD_ID_DIR ${PROJECT_BINARY_DIR}/generated/build_id)
add_custom_target(ingot_build_id
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR}
            -D VERSION=${PROJECT_VERSION} -D OUTPUT=${INGOT_BUILD_ID_DIR}/ingot_build_id.h
            -P ${PROJECT_SOURCE_DIR}/cmake/write_build_id.cmake
    BYPRODUCTS ${INGOT_BUILD_ID_DIR}/ingot_build_id.h
    COMMENT "" VERBATIM)

function(ig_uses_build_id target)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
        target_include_directories(${target} PRIVATE ${INGOT_BUILD_ID_DIR})
        add_dependencies(${target} ingot_build_id)
    endif()
endfunction()
