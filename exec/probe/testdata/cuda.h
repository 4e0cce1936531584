// What NVRTC defines by itself, for clang's CUDA front end, which here has no CUDA.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
struct uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
__device__ inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
__device__ inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
__device__ inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct Index { unsigned x, y, z; };
extern __device__ const Index threadIdx, blockIdx, blockDim, gridDim;
__device__ void __syncthreads();
__device__ int __syncthreads_or(int);
__device__ inline unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
