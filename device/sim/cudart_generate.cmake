# SPDX-License-Identifier: MIT
# Reads the CUDA headers and writes two files into OUT: cudart_error_names.inc (the error enum as a
# table) and cudart_unsupported.c (a weak entry point for every function of the runtime API, so that
# a program that uses one which is not simulated links, starts, and is told so when it calls it).
# Usage: cmake -D CUDA_INCLUDE=... -D OUT=... -P cudart_generate.cmake
file(STRINGS ${CUDA_INCLUDE}/driver_types.h lines REGEX "^ *cuda(Success|Error[A-Za-z0-9]*) *= *[0-9]+")
set(names "")
foreach(line IN LISTS lines)
  string(REGEX MATCH "cuda[A-Za-z0-9]+" name "${line}")
  string(REGEX REPLACE "^[^=]*= *([0-9]+).*" "\\1" code "${line}")
  string(APPEND names "RT_ERROR(${name}, ${code})\n")
endforeach()
file(WRITE ${OUT}/cudart_error_names.inc "${names}")

set(functions "")
foreach(header cuda_runtime_api.h cuda_profiler_api.h cuda_gl_interop.h cuda_egl_interop.h cuda_vdpau_interop.h)
  if(EXISTS ${CUDA_INCLUDE}/${header})
    # declarations may name the function on the line after CUDARTAPI
    file(READ ${CUDA_INCLUDE}/${header} text)
    string(REGEX MATCHALL "CUDARTAPI[ \n]+cuda[A-Za-z0-9_]+[ \n]*\\(" declared "${text}")
    string(REGEX MATCHALL "__CUDART_API_PT[DS][SZ]\\(cuda[A-Za-z0-9_]+\\)" per_thread "${text}")
    foreach(one IN LISTS declared)
      string(REGEX REPLACE "^CUDARTAPI[ \n]+(cuda[A-Za-z0-9_]+).*" "\\1" name "${one}")
      list(APPEND functions ${name})
    endforeach()
    foreach(one IN LISTS per_thread)
      string(REGEX REPLACE ".*\\((cuda[A-Za-z0-9_]+)\\)" "\\1" name "${one}")
      if(one MATCHES "PTDS")
        list(APPEND functions ${name}_ptds)
      else()
        list(APPEND functions ${name}_ptsz)
      endif()
    endforeach()
  endif()
endforeach()
# not in the public headers, but exported by the real library
list(APPEND functions __cudaGetProcAddress __cudaRegisterHostVar __cudaRegisterUnifiedTable
  __cudaRegisterTexture __cudaRegisterSurface cudaGetExportTable)
list(REMOVE_DUPLICATES functions)
list(SORT functions)

set(text "/* Made by cudart_generate.cmake from the CUDA headers. */\n")
string(APPEND text "_Noreturn void rt_refuse(const char *format, ...);\n")
string(APPEND text "#define STUB(name) __attribute__((weak, visibility(\"default\"))) void name(void); \\\n")
string(APPEND text "  void name(void) { rt_refuse(#name \" is not simulated\"); }\n")
foreach(name IN LISTS functions)
  string(APPEND text "STUB(${name})\n")
endforeach()
file(WRITE ${OUT}/cudart_unsupported.c "${text}")
