//go:build cgo

#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>

#define RL_DEFINE(lib, name, symbol, params, args)                                       \
	static int(*p_##name) params;                                                        \
	int rl_##name params { return p_##name ? p_##name args : RL_MISSING; }
RL_FUNCTIONS(RL_DEFINE)

const char *rl_open(int lib, const char *file)
{
	static char why[256];
	void *so = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		snprintf(why, sizeof why, "%s", dlerror());
		return why;
	}
#define RL_FIND(l, name, symbol, params, args) \
	if (l == lib) *(void **)&p_##name = dlsym(so, symbol);
	RL_FUNCTIONS(RL_FIND)
	return NULL;
}

int rl_launch(handle f, handle stream, unsigned blocks, unsigned threads, unsigned shared, int overlap, void *param)
{
	rl_launch_attr attr = {6}; // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
	rl_launch_config c = {blocks, 1, 1, threads, 1, 1, shared, stream, &attr, 0};
	attr.value.number = 1;
	c.nattrs = overlap ? 1 : 0;
	return rl_cuLaunchKernelEx(&c, f, &param, NULL);
}

int rl_import(uint64_t *h, int fd) { return rl_cuMemImportFromShareableHandle(h, (void *)(uintptr_t)fd, 1); }
