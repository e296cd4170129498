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
# g++ 12 sees uninitialised members in its own <regex> once that is instrumented.
set(VOUCH_SANITIZER_FLAGS -fno-omit-frame-pointer -fno-sanitize-recover=all -Wno-maybe-uninitialized)
if(VOUCH_SANITIZE)
  target_compile_options(vouch_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${VOUCH_SANITIZE};${VOUCH_SANITIZER_FLAGS}>")
  target_link_options(vouch_flags INTERFACE -fsanitize=${VOUCH_SANITIZE})
  target_compile_definitions(vouch_flags INTERFACE VOUCH_SANITIZED=1)
endif()

# precompile(TARGET headers...): a third of the work on most sources is the standard library's headers, which are compiled
# once a target. Caches of compilers do better without; there, and by make lint, a header that a source leaves out is found.
function(precompile target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    # g++ 12 forgets that those headers are the system's, whose strings it misunderstands where they are moved.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>")
  endif()
endfunction()
set(VOUCH_STANDARD_HEADERS <algorithm> <array> <bit> <cmath> <complex> <cstdint> <cstring> <functional> <limits> <memory>
  <mutex> <numeric> <optional> <span> <string> <utility> <vector>)
