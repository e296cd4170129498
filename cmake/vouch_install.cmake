# Installs the library, its headers and tool, and the files behind find_package(vouch).
#
# The shared library needs nothing at the consumer's. The static one names what to link: OpenMP's runtime, zlib and,
# built with CUDA, the CUDA runtime, which is installed beside it so that consumers need no CUDA toolkit.
#
# Three components: the tool, development, and the modules over libraries of others' licences, which no package carries.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vouch)
set(VOUCH_PRIVATE_LIBDIR ${CMAKE_INSTALL_LIBDIR}/vouch)
set(VOUCH_STATIC_BOOL true)
set(VOUCH_STATIC_CUDA_BOOL ${VOUCH_CUDA_BOOL})
if(BUILD_SHARED_LIBS)
  set(VOUCH_STATIC_BOOL false)
  set(VOUCH_STATIC_CUDA_BOOL false)
endif()

set(VOUCH_INSTALLED_COMPONENTS interval ${VOUCH_COMPONENTS})
list(TRANSFORM VOUCH_INSTALLED_COMPONENTS PREPEND vouch_ OUTPUT_VARIABLE component_targets)
install(TARGETS vouch ${component_targets} EXPORT vouch_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
list(TRANSFORM VOUCH_LEFT_OUT REPLACE "(.+)" "PATTERN;vouch/\\1;EXCLUDE" OUTPUT_VARIABLE without)
install(DIRECTORY include/vouch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${without})
install(FILES ${PROJECT_BINARY_DIR}/generated/vouch/core/config.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vouch/core)
if(VOUCH_STATIC_CUDA_BOOL)
  install(FILES $<TARGET_FILE:CUDA::cudart_static> DESTINATION ${VOUCH_PRIVATE_LIBDIR})
endif()

# The tool, and what of the benchmarks was built; make build makes the tool alone.
if(VOUCH_TOOL)
  install(TARGETS vouch_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  if(TARGET vouch_bench_tool)
    install(TARGETS vouch_bench_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool OPTIONAL)
  endif()
  if(NOT CMAKE_CROSSCOMPILING)
    set(share ${CMAKE_INSTALL_DATADIR})
    install(FILES ${VOUCH_MANUAL}/vouch.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
    install(FILES ${VOUCH_MANUAL}/vouch DESTINATION ${share}/bash-completion/completions COMPONENT tool)
    install(FILES ${VOUCH_MANUAL}/_vouch DESTINATION ${share}/zsh/site-functions COMPONENT tool)
    install(FILES ${VOUCH_MANUAL}/vouch.fish DESTINATION ${share}/fish/vendor_completions.d COMPONENT tool)
  endif()
  install(FILES LICENSE docs/licences.md docs/contract.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
  install(DIRECTORY docs/schema DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
  get_property(backends GLOBAL PROPERTY VOUCH_BACKENDS)
  foreach(module vouch_peers_cuda vouch_peers_quantlib)
    if(TARGET ${module})
      install(TARGETS ${module} LIBRARY DESTINATION ${VOUCH_PRIVATE_LIBDIR} COMPONENT tool OPTIONAL)
    endif()
  endforeach()
  foreach(module vouch_peers_cholmod ${backends})
    if(TARGET ${module})
      install(TARGETS ${module} LIBRARY DESTINATION ${VOUCH_PRIVATE_LIBDIR} COMPONENT modules OPTIONAL)
    endif()
  endforeach()
endif()

install(EXPORT vouch_targets NAMESPACE vouch:: DESTINATION ${package_dir})
# For pkg-config. What a static library needs is named at once: pkg-config --static is rarely remembered.
set(VOUCH_PC_LIBS "-lvouch")
if(VOUCH_STATIC_BOOL)
  string(APPEND VOUCH_PC_LIBS " $<$<BOOL:${VOUCH_CUDA_BOOL}>:-L\${libdir}/vouch -lcudart_static -lpthread -lrt >"
    "-lz $<$<BOOL:${VOUCH_MPFR_BOOL}>:-lmpfr >-ldl ${OpenMP_CXX_FLAGS} -lstdc++ -lm")
endif()
file(RELATIVE_PATH VOUCH_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/vouch.pc.in ${PROJECT_BINARY_DIR}/vouch.pc.generate @ONLY)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/vouch.pc INPUT ${PROJECT_BINARY_DIR}/vouch.pc.generate)
install(FILES ${PROJECT_BINARY_DIR}/vouch.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/vouch-config.cmake.in ${PROJECT_BINARY_DIR}/vouch-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS VOUCH_PRIVATE_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vouch-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vouch-config.cmake ${PROJECT_BINARY_DIR}/vouch-config-version.cmake
  DESTINATION ${package_dir})

# cpack -G DEB: the packages vouch and libvouch-dev.
set(CPACK_PACKAGE_VENDOR "The Vouch maintainers")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${CPACK_PACKAGE_VENDOR})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "linear systems solved fast, with an answer that is checked")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL tool development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME vouch)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION math)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libvouch-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS zlib1g-dev)
if(VOUCH_MPFR_BOOL)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libmpfr-dev")
endif()
set(CPACK_STRIP_FILES ON)
include(CPack)
