# The flags of every target of ours, as one interface target.
#
# -ffp-contract=off: a*b + c is two roundings unless the source writes std::fma, on every compiler and
# instruction set. -ffast-math never appears. -std=c++20 is written out because CMAKE_CXX_STANDARD would carry
# over to nvcc, whose C++20 flag CMake 3.25 does not know.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(vouch_flags INTERFACE)
target_compile_options(vouch_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -Wnon-virtual-dtor -ffp-contract=off -fno-math-errno -Wno-psabi>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:-O3>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${VOUCH_WERROR}>>:-Werror>)
if(VOUCH_SANITIZE)
  # g++ 12 sees uninitialised members in its own <regex> once that is instrumented.
  target_compile_options(vouch_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${VOUCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    -Wno-maybe-uninitialized>)
  target_link_options(vouch_flags INTERFACE -fsanitize=${VOUCH_SANITIZE})
  target_compile_definitions(vouch_flags INTERFACE VOUCH_SANITIZED=1)
endif()
