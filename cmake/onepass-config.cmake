# SPDX-License-Identifier: Apache-2.0

# onepass::onepass   compile, fold, explain, load and run: include/onepass/onepass.h
# onepass::runtime   load and run alone: include/onepass/runtime.h; link one of the two
# onepass::tool      the command line
include(${CMAKE_CURRENT_LIST_DIR}/onepass-targets.cmake)
