// As much of CUDA as the kernels here and in exec/probe use, for a compiler that has none
// of it: only their syntax and types are checked with this.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(a, b) __attribute__((launch_bounds(a, b)))
#define __grid_constant__
struct uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
__device__ inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
__device__ inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
__device__ inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
extern "C" const __device__ uint3 threadIdx, blockIdx, blockDim, gridDim;
__device__ unsigned atomicCAS_system(unsigned *, unsigned, unsigned);
__device__ unsigned long long atomicAdd(unsigned long long *, unsigned long long);
__device__ void __threadfence_system();
__device__ float __uint_as_float(unsigned);
__device__ unsigned __float_as_uint(float);
__device__ int __popc(unsigned);
__device__ int __any_sync(unsigned, int);
__device__ void __syncwarp(unsigned mask = ~0u);
__device__ int __syncthreads_or(int);
__device__ inline unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
__device__ void __syncthreads();
