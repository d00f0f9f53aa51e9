# What `cmake --install` puts where.  SPDX-License-Identifier: Apache-2.0

set(headers status.h tree.h kernel.h runtime.h store.h)
if(NOT INGOT_RUNTIME_ONLY)
    list(APPEND headers ingot.h)
endif()
foreach(header ${headers})
    if(EXISTS ${PROJECT_SOURCE_DIR}/include/ingot/${header})
        install(FILES include/ingot/${header}
                DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot)
    endif()
endforeach()

foreach(target ingot-runtime ingot-runtime-static ingot ingot-llvm ingot-tool)
    if(TARGET ${target})
        install(TARGETS ${target})
    endif()
endforeach()

set(packages ingot-runtime)
if(TARGET ingot)
    list(APPEND packages ingot)
endif()
# From the .pc file up to the prefix, so that an installed tree may be moved.
file(RELATIVE_PATH INGOT_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(package ${packages})
    configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
