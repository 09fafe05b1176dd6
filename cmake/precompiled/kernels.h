// As standard.h, for sources of vector code.
#pragma once

#include "cmake/precompiled/standard.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
