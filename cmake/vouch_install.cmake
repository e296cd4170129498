# Installs the library, its headers and tool, and the files behind find_package(vouch).
include(CMakePackageConfigHelpers)

install(TARGETS vouch EXPORT vouch_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY vouch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/generated/vouch/core/config.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vouch/core)
install(EXPORT vouch_targets NAMESPACE vouch:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/vouch)
configure_package_config_file(cmake/vouch-config.cmake.in ${PROJECT_BINARY_DIR}/vouch-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/vouch)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vouch-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vouch-config.cmake ${PROJECT_BINARY_DIR}/vouch-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/vouch)
