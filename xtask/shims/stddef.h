/* Just enough of the C library's headers to parse CUDA's, so that the bindings do
   not depend on which compiler's headers a machine has. Our own text. */
#pragma once
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#define NULL ((void*)0)
