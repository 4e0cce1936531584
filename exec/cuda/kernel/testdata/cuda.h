// As much of CUDA as the kernels use, for a compiler that has none of it: only their
// syntax and types are checked with this.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(a, b) __attribute__((launch_bounds(a, b)))
#define __grid_constant__
struct uint3 { unsigned x, y, z; };
extern "C" const __device__ uint3 threadIdx, blockIdx, blockDim, gridDim;
__device__ unsigned atomicCAS_system(unsigned *, unsigned, unsigned);
__device__ unsigned long long atomicAdd(unsigned long long *, unsigned long long);
__device__ void __threadfence_system();
__device__ float __uint_as_float(unsigned);
__device__ unsigned __float_as_uint(float);
__device__ void __syncthreads();
