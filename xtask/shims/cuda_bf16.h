#pragma once
#define __CUDA_BF16_TYPES_EXIST__ 1
