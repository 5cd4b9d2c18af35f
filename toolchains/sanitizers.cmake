# SPDX-License-Identifier: Apache-2.0
# EMBERT_SANITIZE: compile and link everything with sanitizers, and let the first finding end the program.
set(EMBERT_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=: address, undefined, thread, or a list with commas")
if(EMBERT_SANITIZE)
  add_compile_options(-fsanitize=${EMBERT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${EMBERT_SANITIZE})
endif()
