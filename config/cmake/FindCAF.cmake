# Debian 12 ships CAF 0.17.6 without a CMake package. Defines CAF::core, CAF::io and CAF::openssl.
find_path(CAF_INCLUDE_DIR caf/actor_system.hpp)
find_library(CAF_CORE_LIBRARY caf_core)
find_library(CAF_IO_LIBRARY caf_io)
find_library(CAF_OPENSSL_LIBRARY caf_openssl)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF REQUIRED_VARS CAF_CORE_LIBRARY CAF_IO_LIBRARY CAF_INCLUDE_DIR)

foreach(part core io openssl)
  string(TOUPPER ${part} upper)
  if(CAF_${upper}_LIBRARY AND NOT TARGET CAF::${part})
    add_library(CAF::${part} UNKNOWN IMPORTED)
    # A message type without an id becomes a compile error; Debian's build left the check off, but it is header-only.
    set_target_properties(CAF::${part} PROPERTIES
      IMPORTED_LOCATION ${CAF_${upper}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR}
      INTERFACE_COMPILE_DEFINITIONS CAF_ENABLE_TYPE_ID_CHECKS)
  endif()
endforeach()
