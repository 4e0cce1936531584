//go:build cgo

#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>

#define RY_DEFINE(name, params, args)            \
	static int(*p_##name) params;                \
	int ry_##name params { return p_##name ? p_##name args : RY_MISSING; }
RY_NCCL(RY_DEFINE)

static const char *(*p_error)(int);
static const char *(*p_last_error)(void *);

const char *ry_nccl_error(int result) { return p_error ? p_error(result) : "unknown error"; }
const char *ry_nccl_last_error(void) { return p_last_error ? p_last_error(NULL) : ""; }

const char *ry_nccl_open(const char *file)
{
	static char why[256];
	void *so = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		snprintf(why, sizeof why, "%s", dlerror());
		return why;
	}
#define RY_FIND(name, params, args) *(void **)&p_##name = dlsym(so, #name);
	RY_NCCL(RY_FIND)
	*(void **)&p_error = dlsym(so, "ncclGetErrorString");
	*(void **)&p_last_error = dlsym(so, "ncclGetLastError");
	return NULL;
}
