# Writes version.cpp for the commit at hand; run by the build with VERSION, SOURCE_DIR and OUTPUT. Touches the file only when
# something changed, so that a build without a new commit compiles nothing.
find_program(GIT git)
set(COMMIT unknown)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --short=10 HEAD
    OUTPUT_VARIABLE found RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} diff-index --quiet HEAD -- RESULT_VARIABLE changed ERROR_QUIET)
    set(COMMIT ${found})
    if(changed)
      string(APPEND COMMIT "+")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "runtime/cli/version.hpp"

namespace handfast::cli {

std::string_view version() { return "@VERSION@"; }
std::string_view commit() { return "@COMMIT@"; }

} // namespace handfast::cli
]])
