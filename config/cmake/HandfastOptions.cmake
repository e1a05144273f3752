# Build options, warnings, sanitizers and the helper that declares one library per folder.
option(HANDFAST_TESTS "Build the tests" ON)
option(HANDFAST_WITH_ACTORS "Build what needs CAF (off for the thread sanitizer)" ON)
set(HANDFAST_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")

find_program(HANDFAST_CCACHE ccache)
if(HANDFAST_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HANDFAST_CCACHE})
  # Precompiled headers and ccache agree only with these two settings.
  set(ENV{CCACHE_SLOPPINESS} "pch_defines,time_macros")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${HANDFAST_CCACHE})
endif()

# Assertions stay on in every build type (HANDFAST_ASSERT does not depend on NDEBUG).
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fstack-protector-strong)
if(HANDFAST_SANITIZE)
  add_compile_options(-fsanitize=${HANDFAST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HANDFAST_SANITIZE})
endif()

# handfast_library(name SOURCES ... LINK ... [PCH header...]): one folder, one static library, includes rooted at the source root.
function(handfast_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PCH" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_PCH)
    target_precompile_headers(${name} PRIVATE ${ARG_PCH})
  endif()
endfunction()
