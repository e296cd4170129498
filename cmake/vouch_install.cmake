# Installs the library, its headers and tool, and the files behind find_package(vouch).
#
# The shared library needs nothing at the consumer's. The static one names what to link: OpenMP's runtime, zlib and,
# built with CUDA, the CUDA runtime, which is installed beside it so that consumers need no CUDA toolkit.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vouch)
set(VOUCH_PRIVATE_LIBDIR ${CMAKE_INSTALL_LIBDIR}/vouch)
set(VOUCH_STATIC_BOOL true)
set(VOUCH_STATIC_CUDA_BOOL ${VOUCH_CUDA_BOOL})
if(BUILD_SHARED_LIBS)
  set(VOUCH_STATIC_BOOL false)
  set(VOUCH_STATIC_CUDA_BOOL false)
endif()

install(TARGETS vouch EXPORT vouch_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY vouch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/generated/vouch/core/config.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vouch/core)
if(VOUCH_STATIC_CUDA_BOOL)
  install(FILES $<TARGET_FILE:CUDA::cudart_static> DESTINATION ${VOUCH_PRIVATE_LIBDIR})
endif()

install(EXPORT vouch_targets NAMESPACE vouch:: DESTINATION ${package_dir})
configure_package_config_file(cmake/vouch-config.cmake.in ${PROJECT_BINARY_DIR}/vouch-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS VOUCH_PRIVATE_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vouch-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vouch-config.cmake ${PROJECT_BINARY_DIR}/vouch-config-version.cmake
  DESTINATION ${package_dir})
