# What `cmake --install` puts where, and the target `uninstall`, which takes it away.
# SPDX-License-Identifier: Apache-2.0


set(headers status.h log.h tree.h kernel.h runtime.h program.h profile.h view.h dlpack.h
            custom.h trainer.h)
if(NOT INGOT_RUNTIME_ONLY)
    list(APPEND headers ingot.h module.h compile.h values.h defect.h page.h shard.h grad.h stored.h train.h
                        store.h id_map.h quantize.h dynamic.h lookahead.h interp.h group.h)
endif()
foreach(header ${headers})
    if(EXISTS ${PROJECT_SOURCE_DIR}/include/ingot/${header})
        install(FILES include/ingot/${header}
                DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot)
    endif()
endforeach()

if(NOT INGOT_RUNTIME_ONLY) # of C++ programs
    install(FILES include/ingot/deploy.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot)
    install(DIRECTORY include/ingot/deploy
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot)
endif()

foreach(target ingot-runtime ingot-runtime-static ingot-train ingot-store ingot-lookahead ingot-interp ingot-group
        ingot)
    if(TARGET ${target})
        target_include_directories(${target} INTERFACE
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        install(TARGETS ${target} EXPORT ingot-targets)
    endif()
endforeach()
foreach(target ingot-llvm ingot-tool ingot-serve)
    if(TARGET ${target})
        install(TARGETS ${target})
    endif()
endforeach()
# Opened from beside their library:
foreach(plugin store-lmdb store-redis interp-cpython interp-process interp-lua
        capture observe watch text image cuda custom)
    if(TARGET ingot-${plugin})
        install(TARGETS ingot-${plugin} DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endforeach()
foreach(program ingot-worker ingot-interp-child) # their libraries look beside themselves
    if(TARGET ${program})
        install(TARGETS ${program} DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endforeach()

# find_package(ingot): the targets ingot::ingot and ingot::ingot-runtime.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ingot)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ingot-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(EXPORT ingot-targets NAMESPACE ingot:: DESTINATION ${package_folder}
        FILE ingot-config.cmake)
install(FILES ${PROJECT_BINARY_DIR}/ingot-config-version.cmake
        DESTINATION ${package_folder})

# The manual and completions come from the tool's own tables of options.
if(TARGET ingot-tool)
    set(texts ${PROJECT_BINARY_DIR}/texts)
    file(MAKE_DIRECTORY ${texts})
    add_custom_command(OUTPUT ${texts}/ingot.1 ${texts}/ingot.bash ${texts}/_ingot
                              ${texts}/ingot.fish
        COMMAND ingot-tool --man > ${texts}/ingot.1
        COMMAND ingot-tool --completion bash > ${texts}/ingot.bash
        COMMAND ingot-tool --completion zsh > ${texts}/_ingot
        COMMAND ingot-tool --completion fish > ${texts}/ingot.fish
        DEPENDS ingot-tool COMMENT "Writing the manual and completions" VERBATIM)
    add_custom_target(texts ALL DEPENDS ${texts}/ingot.1)
    install(FILES ${texts}/ingot.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${texts}/ingot.bash RENAME ingot
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${texts}/_ingot DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${texts}/ingot.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# A .pc file each library that programs link.  From it up to the prefix, so that an
# installed tree may be moved.
file(RELATIVE_PATH INGOT_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(libraries
    "ingot-runtime||Runs models that Ingot has compiled"
    "ingot|ingot-runtime|Compiles trained models into small, fast programs"
    "ingot-train|ingot-runtime|Trains what Ingot has compiled a step of"
    "ingot-store||Rows of embedding tables, wherever they lie"
    "ingot-lookahead|ingot-runtime ingot-store|Runs models whose tables lie in stores"
    "ingot-interp||Interpreters of Python and Lua in one process"
    "ingot-group||Ranks that run one model together")
foreach(row ${libraries})
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 INGOT_PC_NAME)
    list(GET row 1 needs)
    list(GET row 2 INGOT_PC_WORDS)
    string(REGEX REPLACE "([a-z-]+)" "\\1 = ${PROJECT_VERSION}" INGOT_PC_NEEDS "${needs}")
    string(REPLACE "${PROJECT_VERSION} " "${PROJECT_VERSION}, " INGOT_PC_NEEDS
        "${INGOT_PC_NEEDS}")
    if(TARGET ${INGOT_PC_NAME})
        configure_file(cmake/library.pc.in ${INGOT_PC_NAME}.pc @ONLY)
        install(FILES ${PROJECT_BINARY_DIR}/${INGOT_PC_NAME}.pc
                DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    endif()
endforeach()

install(FILES LICENSE README.md CHANGELOG.md SECURITY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(NOT INGOT_RUNTIME_ONLY)
    install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md"
            PATTERN images EXCLUDE)
    install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
            -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
    COMMENT "Removing what was installed last" VERBATIM)
