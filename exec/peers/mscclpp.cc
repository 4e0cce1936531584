// Times MSCCL++, a peer of railyard's kernels at small sizes, and runs plans that
// `railyard export --to mscclpp` wrote in MSCCL++'s own executor. In the columns of `railyard baseline`.
//
//   P=/path/to/mscclpp      # github.com/microsoft/mscclpp, built with -DMSCCLPP_BUILD_EXT_NCCL=ON in $P/build
//   g++ -std=c++20 -O2 -I$P/include -I$P/build/include -I/usr/local/cuda/include mscclpp.cc -o mscclpp
//     -L$P/build/lib -lmscclpp_nccl -lmscclpp_collectives -lmscclpp -L/usr/local/cuda/lib64 -lcudart -Wl,-rpath,$P/build/lib
//   ./mscclpp -g 2 -d float32,bfloat16 -b 1024 -e 67108864 --run NAME > peers.csv    # its own all-reduce and all-gather
//   ./mscclpp -g 2 -b 1024 -e 67108864 two_shot.json ring.json    # plans, in one buffer or two as they say
//
// One process a GPU; 5 warm-ups, then 20 operations in a CUDA graph that is replayed 20 times back
// to back with events between the replays, the first replay not counted; the slowest GPU's time
// counts, the median over replays is time_us. Every element is checked once for each size, outside
// the timed loop. Sizes are rounded down to 16 bytes a rank, as nccl-tests does. NVLink multicast stays
// off. What MSCCL++ cannot do is a row whose error says why; a size that a plan is not for is left out. More
// ranks than GPUs share them, by turns: then results are checked and nothing is timed. Every row says when
// it was measured and in which run.

#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mscclpp/core.hpp>
#include <mscclpp/executor.hpp>
#include <mscclpp/ext/nccl/nccl.h>
#include <mscclpp/gpu_utils.hpp>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarmup = 5, kIterations = 20, kReplays = 20, kMaxGPUs = 16, kText = 200;

// What all processes see.
struct Shared {
  pthread_barrier_t barrier;
  mscclpp::UniqueId id;
  ncclUniqueId ncclId;
  float times[kMaxGPUs][kReplays];
  size_t wrong[kMaxGPUs];
  bool failed[kMaxGPUs];
  char why[kMaxGPUs][kText];
};

struct Args {
  int gpus = 2;
  size_t begin = 1024, end = 64 << 20;
  std::vector<bool> types = {false};  // whether bfloat16
  std::string run;                    // what rows say of the run they are from
  std::vector<std::string> plans;
};

#define CUDA(call)                                                                        \
  do {                                                                                    \
    cudaError_t e = (call);                                                               \
    if (e != cudaSuccess) throw std::runtime_error(std::string(#call ": ") + cudaGetErrorString(e)); \
  } while (0)

void nccl(ncclResult_t r) {
  if (r != ncclSuccess) throw std::runtime_error(ncclGetErrorString(r));
}

// Element is a small whole number in the type that is sent.
struct Element {
  bool bfloat16;
  size_t bytes() const { return bfloat16 ? 2 : 4; }
  void put(void* at, size_t i, float v) const {
    uint32_t bits;
    memcpy(&bits, &v, 4);
    if (bfloat16) static_cast<uint16_t*>(at)[i] = bits >> 16;  // exact: few bits are used
    else static_cast<float*>(at)[i] = v;
  }
  bool is(const void* at, size_t i, float v) const {
    unsigned char want[4];
    put(want, 0, v);
    return !memcmp(static_cast<const char*>(at) + i * bytes(), want, bytes());
  }
};

float value(int rank, size_t i) { return float(rank + 1) * float(i % 5 + 1); }

// Collective says how many bytes a rank gives and gets of a size, and what element i of its result is.
struct Collective {
  std::string name;
  std::function<size_t(size_t)> in, out;
  std::function<float(int rank, size_t i, size_t block)> result;  // block: elements of a rank's part
};

Collective collective(const std::string& name, int n) {
  auto whole = [](size_t s) { return s; };
  auto part = [n](size_t s) { return s / n; };
  float sum = float(n * (n + 1) / 2);
  if (name == "allreduce") return {"all_reduce", whole, whole, [sum](int, size_t i, size_t) { return sum * float(i % 5 + 1); }};
  if (name == "allgather") return {"all_gather", part, whole, [](int, size_t i, size_t b) { return value(int(i / b), i % b); }};
  if (name == "reducescatter") return {"reduce_scatter", whole, part, [sum](int r, size_t i, size_t b) { return sum * float((r * b + i) % 5 + 1); }};
  if (name == "alltoall") return {"all_to_all", whole, whole, [](int r, size_t i, size_t b) { return value(int(i / b), r * b + i % b); }};
  throw std::runtime_error("collective " + name + " is not known");
}

// now is the second in UTC.
std::string now() {
  char text[32];
  time_t t = time(nullptr);
  tm utc;
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
  return text;
}

struct Rank {
  int rank;
  const Args& args;
  Shared* shared;
  Element element;
  cudaStream_t stream;
  std::shared_ptr<mscclpp::Communicator> comm;
  ncclComm_t ncclComm;
  std::shared_ptr<char> in, out;  // for all sizes: what is mapped by peers stays where it is

  static int devices() {
    int n;
    CUDA(cudaGetDeviceCount(&n));
    return n;
  }

  void barrier() { pthread_barrier_wait(&shared->barrier); }

  // together says whether all ranks could do it; what they could not is a line on standard error.
  bool together(const std::function<void()>& f) {
    shared->failed[rank] = false;
    try {
      f();
    } catch (const std::exception& e) {
      shared->failed[rank] = true;
      snprintf(shared->why[rank], kText, "%s", e.what());
      fprintf(stderr, "rank %d: %s\n", rank, e.what());
    }
    barrier();
    bool ok = std::none_of(shared->failed, shared->failed + args.gpus, [](bool b) { return b; });
    barrier();
    return ok;
  }

  size_t wrong(const Collective& c, const std::function<void()>& run, char* in, char* out, size_t size) {
    size_t block = size / args.gpus / element.bytes();
    std::vector<char> host(std::max(c.in(size), c.out(size)));
    for (size_t i = 0; i < c.in(size) / element.bytes(); i++) element.put(host.data(), i, value(rank, i));
    CUDA(cudaMemset(out, 0xFF, c.out(size)));
    CUDA(cudaMemcpy(in, host.data(), c.in(size), cudaMemcpyHostToDevice));
    barrier();
    run();
    CUDA(cudaStreamSynchronize(stream));
    barrier();
    CUDA(cudaMemcpy(host.data(), out, c.out(size), cudaMemcpyDeviceToHost));
    size_t bad = 0;
    for (size_t i = 0; i < c.out(size) / element.bytes(); i++) bad += !element.is(host.data(), i, c.result(rank, i, block));
    return bad;
  }

  void replays(const std::function<void()>& run, float* times) {
    for (int i = 0; i < kWarmup; i++) run();
    CUDA(cudaStreamSynchronize(stream));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < kIterations; i++) run();
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    cudaEvent_t marks[kReplays + 2];
    for (auto& m : marks) CUDA(cudaEventCreate(&m));
    barrier();
    for (int i = 0; i <= kReplays; i++) {
      CUDA(cudaEventRecord(marks[i], stream));
      CUDA(cudaGraphLaunch(exec, stream));
    }
    CUDA(cudaEventRecord(marks[kReplays + 1], stream));
    CUDA(cudaStreamSynchronize(stream));
    for (int i = 0; i < kReplays; i++) {
      CUDA(cudaEventElapsedTime(&times[i], marks[i + 1], marks[i + 2]));
      times[i] *= 1e3f / kIterations;
    }
    for (auto& m : marks) CUDA(cudaEventDestroy(m));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    barrier();
  }

  // row checks and times one operation, in one buffer or in two; rank 0 prints it.
  void row(const Collective& c, const std::string& algo, const std::string& proto, size_t size, bool inPlace,
           const std::function<void(char* in, char* out)>& operation) {
    char *from = in.get(), *to = out.get();
    if (inPlace) {  // a rank's part lies at its place in the whole
      from = to + (c.in(size) < c.out(size) ? rank * c.in(size) : 0);
      to += c.out(size) < c.in(size) ? rank * c.out(size) : 0;
    }
    auto run = [&] { operation(from, to); };
    if (!together([&] { run(); CUDA(cudaStreamSynchronize(stream)); })) {  // connects
      if (rank == 0) refused(c, algo, proto, size);
      barrier();
      return;
    }
    shared->wrong[rank] = wrong(c, run, from, to, size);
    if (args.gpus <= devices()) replays(run, shared->times[rank]);
    else barrier();
    if (rank == 0) print(c, algo, proto, size);
    barrier();
  }

  void heading(const Collective& c, const std::string& algo, const std::string& proto, size_t size) {
    printf("%s,%d,%s,%s,symmetric,graph,%s,%zu,", c.name.c_str(), args.gpus, algo.c_str(), proto.c_str(), element.bfloat16 ? "bfloat16" : "float32", size);
  }

  // refused is a row of an operation that failed: in the words of the first rank where it did.
  void refused(const Collective& c, const std::string& algo, const std::string& proto, size_t size) {
    std::string why = "failed";
    for (int g = args.gpus; g-- > 0;)
      if (shared->failed[g]) why = shared->why[g];
    for (char& ch : why)
      if (strchr(",\"\n\r", ch)) ch = ' ';  // of CSV
    heading(c, algo, proto, size);
    printf(",,,,,,%s,%s,%s\n", args.run.c_str(), now().c_str(), why.c_str());
    fflush(stdout);
  }

  void print(const Collective& c, const std::string& algo, const std::string& proto, size_t size) {
    std::vector<float> t(kReplays, 0);
    size_t bad = 0;
    for (int g = 0; g < args.gpus; g++) {
      bad += shared->wrong[g];
      for (int i = 0; i < kReplays; i++) t[i] = std::max(t[i], shared->times[g][i]);
    }
    std::sort(t.begin(), t.end());
    auto percent = [&](int p) { return t[std::max(0, (kReplays * p + 99) / 100 - 1)]; };
    heading(c, algo, proto, size);
    double us = percent(50), alg = double(size) / us / 1e3, n = args.gpus;
    double bus = alg * (c.name == "all_reduce" ? 2 : 1) * (n - 1) / n;
    if (args.gpus <= devices()) printf("%.3f,%.3f,%.3f,%.3f,%.3f", us, percent(95), percent(99), alg, bus);
    else printf(",,,,");
    printf(",%zu,%s,%s,\n", bad, args.run.c_str(), now().c_str());
    fflush(stdout);
  }

  // sizes are powers of two from the first, in whole 16 bytes for each rank.
  std::vector<size_t> sizes() const {
    std::vector<size_t> out;
    for (size_t s = args.begin; s <= args.end; s *= 2) out.push_back(s - s % (16 * args.gpus));
    return out;
  }

  void natives() {
    ncclDataType_t type = element.bfloat16 ? ncclBfloat16 : ncclFloat32;
    for (size_t s : sizes()) {
      row(collective("allreduce", args.gpus), "native", "mscclpp", s, false, [&](char* in, char* out) {
        nccl(ncclAllReduce(in, out, s / element.bytes(), type, ncclSum, ncclComm, stream));
      });
      row(collective("allgather", args.gpus), "native", "mscclpp", s, false, [&](char* in, char* out) {
        nccl(ncclAllGather(in, out, s / args.gpus / element.bytes(), type, ncclComm, stream));
      });
    }
  }

  void plan(const std::string& file) {
    mscclpp::ExecutionPlan p(file, rank);
    Collective c = collective(p.collective(), args.gpus);
    auto type = element.bfloat16 ? mscclpp::DataType::BFLOAT16 : mscclpp::DataType::FLOAT32;
    for (size_t s : sizes()) {
      if (s < p.minMessageSize() || s > p.maxMessageSize()) continue;
      mscclpp::Executor executor(comm);
      row(c, std::filesystem::path(file).stem(), "mscclpp_plan", s, p.isInPlace(), [&](char* in, char* out) {
        executor.execute(rank, in, out, c.in(s), c.out(s), type, p, stream);
      });
    }
  }

  void main() {
    CUDA(cudaSetDevice(rank % devices()));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (rank == 0) {
      shared->id = mscclpp::TcpBootstrap::createUniqueId();
      nccl(ncclGetUniqueId(&shared->ncclId));
    }
    barrier();
    auto bootstrap = std::make_shared<mscclpp::TcpBootstrap>(rank, args.gpus);
    bootstrap->initialize(shared->id);
    comm = std::make_shared<mscclpp::Communicator>(bootstrap);
    in = mscclpp::GpuBuffer<char>(args.end).memory();
    out = mscclpp::GpuBuffer<char>(args.end).memory();
    if (args.plans.empty()) nccl(ncclCommInitRank(&ncclComm, args.gpus, shared->ncclId, rank));
    for (bool bfloat16 : args.types) {
      element.bfloat16 = bfloat16;
      if (args.plans.empty()) natives();
      for (auto& p : args.plans) together([&] { plan(p); });
    }
    barrier();
  }
};

Args parse(int argc, char** argv) {
  Args a;
  for (int i = 1; i < argc; i++) {
    std::string flag = argv[i];
    if (flag[0] != '-') {
      a.plans.push_back(flag);
      continue;
    }
    std::string v = i + 1 < argc ? argv[++i] : "";
    if (flag == "-g") a.gpus = atoi(v.c_str());
    else if (flag == "-b") a.begin = strtoull(v.c_str(), nullptr, 10);
    else if (flag == "-e") a.end = strtoull(v.c_str(), nullptr, 10);
    else if (flag == "-d" && v == "float32") a.types = {false};
    else if (flag == "-d" && v == "bfloat16") a.types = {true};
    else if (flag == "-d" && v == "float32,bfloat16") a.types = {false, true};
    else if (flag == "--run") a.run = v;
    else throw std::runtime_error("usage: mscclpp [-g GPUS] [-b BYTES] [-e BYTES] [-d float32|bfloat16|float32,bfloat16] [--run NAME] [PLAN.json …]");
  }
  if (a.gpus < 2 || a.gpus > kMaxGPUs || a.begin < size_t(16 * a.gpus) || a.begin > a.end)
    throw std::runtime_error("2 to 16 GPUs; sizes of at least 16 bytes a GPU, ascending");
  return a;
}

int main(int argc, char** argv) try {
  setenv("MSCCLPP_FORCE_DISABLE_NVLS", "1", 1);
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  setenv("MSCCLPP_NCCL_SYMMETRIC_MEMORY", "1", 0);  // all ranks use the same buffers
  Args args = parse(argc, argv);
  auto* shared = static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  pthread_barrierattr_t attr;
  pthread_barrierattr_init(&attr);
  pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attr, args.gpus);
  printf("collective,gpus,algo,proto,registration,launch,dtype,size_bytes,time_us,p95_us,p99_us,algbw_GBps,busbw_GBps,wrong,run,at,error\n");
  fflush(stdout);
  std::vector<pid_t> ranks;
  for (int r = 0; r < args.gpus; r++) {
    if (pid_t pid = fork()) {
      ranks.push_back(pid);
      continue;
    }
    try {
      Rank{r, args, shared, {}, {}, {}, {}, {}, {}}.main();
    } catch (const std::exception& e) {
      fprintf(stderr, "rank %d: %s\n", r, e.what());
      _exit(1);
    }
    _exit(0);
  }
  bool failed = false;
  for (int status; wait(&status) > 0;) {
    if (status == 0) continue;
    failed = true;
    for (pid_t p : ranks) kill(p, SIGKILL);  // they would wait for it for ever
  }
  return failed;
} catch (const std::exception& e) {
  fprintf(stderr, "%s\n", e.what());
  return 2;
}
