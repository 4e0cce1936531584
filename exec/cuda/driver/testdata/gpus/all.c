// Every entry point of libcuda, libnvrtc and libnccl succeeds and does nothing; those that
// fake.c has do more.
#include "../../shim.h"

#define NOTHING(lib, name, symbol, params, args)             \
	__attribute__((weak)) int nothing_##name params __asm__(symbol); \
	int nothing_##name params { return 0; }
RL_FUNCTIONS(NOTHING)
#undef RL_MISSING

#define handle nccl_handle
#include "../../../../nccl/shim.h"
#define NOTHING_OF_NCCL(name, params, args)                 \
	__attribute__((weak)) int nothing_##name params __asm__(#name); \
	int nothing_##name params { return 0; }
RY_NCCL(NOTHING_OF_NCCL)
