/* NCCL's header wants the runtime API for two types only, which are the driver's. */
#pragma once
#define CUDART_VERSION 13050
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
#include <stddef.h>
