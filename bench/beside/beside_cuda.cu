/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls of CUDA take for a program that has a busy context of Raddle's on the same device, in
 * its own process and in the same CUDA context: each call first without, then beside it. One run
 * measures one call, so that one which waits for ever costs only itself.
 *
 * A line has milliseconds, median [least to most], the bound in quanta that docs/beside.md states,
 * and how many quanta longer the longest call took than the longest one without.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "bench/beside/busy.h"
#include "bench/peers/cuda.cuh"

enum { EXIT_MISUSED = 2, MOST_ROUNDS = 31, GEMM = 1024 };

/* What the clock of the host and its scheduler may add. */
static const double slack_ms = 1.0;

static struct {
  int rounds = 15;
  double quantum_ms = 2;
  uint32_t workers = 0; /* as many as Raddle takes unless asked */
  int seconds = 5;      /* of one half of a run, after which no further round begins */
  const char *device = "cuda:0";
} options;

static cudaStream_t stream; /* of the program's own */

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* ---- the calls ---- */

/* A call is timed between what prepares it and what puts back how it was. `round` differs in every
   call of a run. */
struct call {
  const char *name;
  double quanta; /* the bound; below 0 = there is none, for it waits several times */
  void (*begin)(void);
  void (*before)(int round);
  void (*timed)(int round);
  void (*after)(int round);
};

static void nothing_to_begin(void) {}

static void nothing_to_do(int) {}

static void finish(void) {
  CUDA_EXPECT(cudaStreamSynchronize(stream));
}

static const size_t piece = 64 << 20;
static void *memory;
static void *host_memory;
static uint32_t *cell; /* of the device */
static cudaStream_t other_stream;

static void make_cell(void) {
  cell = cuda_cells<uint32_t>(1);
}

static void allocate(int) {
  CUDA_EXPECT(cudaMalloc(&memory, piece));
}

static void release(int) {
  CUDA_EXPECT(cudaFree(memory));
}

static void allocate_async(int) {
  CUDA_EXPECT(cudaMallocAsync(&memory, 1 << 20, stream));
  finish();
}

static void release_async(int) {
  CUDA_EXPECT(cudaFreeAsync(memory, stream));
  finish();
}

static void allocate_host(int) {
  CUDA_EXPECT(cudaHostAlloc(&host_memory, 1 << 20, 0));
}

static void release_host(int) {
  CUDA_EXPECT(cudaFreeHost(host_memory));
}

static void create_stream(int) {
  CUDA_EXPECT(cudaStreamCreateWithFlags(&other_stream, cudaStreamNonBlocking));
}

static void destroy_stream(int) {
  CUDA_EXPECT(cudaStreamDestroy(other_stream));
}

static void copy_in(int round) {
  static uint32_t value;
  value = (uint32_t)round;
  CUDA_EXPECT(cudaMemcpyAsync(cell, &value, sizeof value, cudaMemcpyHostToDevice, stream));
  finish();
}

__global__ void write_cell(uint32_t *out, uint32_t value) {
  *out = value;
}

static void run_kernel(int round) {
  write_cell<<<1, CUDA_WARP, 0, stream>>>(cell, (uint32_t)round);
  cuda_launched();
  finish();
}

static void load_kernel(void) {
  make_cell();
  run_kernel(0);
}

/* With kernels that fill the device there is no room beside others. */
static void fill_device(int) {
  int sms = 0;
  CUDA_EXPECT(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  write_cell<<<16 * (unsigned)sms, 1024, 0, stream>>>(cell, 1);
  cuda_launched();
  finish();
}

static void check_cell(int round) {
  uint32_t value = 0;
  CUDA_EXPECT(cudaMemcpyAsync(&value, cell, sizeof value, cudaMemcpyDeviceToHost, stream));
  finish();
  if (value != (uint32_t)round) peer_fail("a kernel wrote something else");
}

/* ---- kernels that nobody has used yet ---- */

/* As many as there are rounds, for each is loaded when it is used first. */
template <int number> __global__ void write_number(uint32_t *out, uint32_t value) {
  *out = value + 0 * number;
}

template <int... numbers>
static void run_number(int round, std::integer_sequence<int, numbers...>) {
  static void (*const kernels[])(uint32_t *, uint32_t) = {write_number<numbers>...};
  kernels[round]<<<1, CUDA_WARP, 0, stream>>>(cell, (uint32_t)round);
  cuda_launched();
  finish();
}

static void run_new_kernel(int round) {
  run_number(round, std::make_integer_sequence<int, 2 * MOST_ROUNDS>());
}

/* ---- modules, through the driver ---- */

static const char module_text[] = ".version 6.4\n"
                                  ".target sm_75\n"
                                  ".address_size 64\n"
                                  ".visible .entry nothing() {\n"
                                  "  ret;\n"
                                  "}\n";

static struct {
  CUresult (*load)(CUmodule *, const void *);
  CUresult (*unload)(CUmodule);
  CUresult (*function)(CUfunction *, CUmodule, const char *);
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, CUstream, void **, void **);
  CUresult (*link_create)(unsigned, CUjit_option *, void **, CUlinkState *);
  CUresult (*link_add)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned,
                       CUjit_option *, void **);
  CUresult (*link_complete)(CUlinkState, void **, size_t *);
  CUresult (*link_destroy)(CUlinkState);
} driver;

static std::vector<char> binary; /* of the module, so that no round compiles */
static CUmodule module;

static void driver_expect(CUresult code, const char *call) {
  if (code == CUDA_SUCCESS) return;
  fprintf(stderr, "failed: %s: CUresult %d\n", call, (int)code);
  exit(EXIT_FAILURE);
}

template <typename function> static void find(void *library, const char *name, function *out) {
  void *symbol = dlsym(library, name);
  if (!symbol) peer_skip(name); /* of another version */
  memcpy(out, &symbol, sizeof symbol);
}

static void find_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) peer_skip("libcuda.so.1 was not found");
  find(library, "cuModuleLoadData", &driver.load);
  find(library, "cuModuleUnload", &driver.unload);
  find(library, "cuModuleGetFunction", &driver.function);
  find(library, "cuLaunchKernel", &driver.launch);
  find(library, "cuLinkCreate_v2", &driver.link_create);
  find(library, "cuLinkAddData_v2", &driver.link_add);
  find(library, "cuLinkComplete", &driver.link_complete);
  find(library, "cuLinkDestroy", &driver.link_destroy);
}

static void make_module(void) {
  CUlinkState state;
  void *made = nullptr;
  size_t size = 0;
  find_driver();
  driver_expect(driver.link_create(0, nullptr, nullptr, &state), "cuLinkCreate");
  driver_expect(driver.link_add(state, CU_JIT_INPUT_PTX, const_cast<char *>(module_text),
                                sizeof module_text, "nothing", 0, nullptr, nullptr),
                "cuLinkAddData");
  driver_expect(driver.link_complete(state, &made, &size), "cuLinkComplete");
  binary.assign(static_cast<char *>(made), static_cast<char *>(made) + size);
  driver_expect(driver.link_destroy(state), "cuLinkDestroy");
}

static void load_module(int) {
  CUfunction nothing;
  driver_expect(driver.load(&module, binary.data()), "cuModuleLoadData");
  driver_expect(driver.function(&nothing, module, "nothing"), "cuModuleGetFunction");
  driver_expect(driver.launch(nothing, 1, 1, 1, CUDA_WARP, 1, 1, 0, stream, nullptr, nullptr),
                "cuLaunchKernel");
  finish();
}

static void unload_module(int) {
  driver_expect(driver.unload(module), "cuModuleUnload");
}

/* ---- cuBLAS ---- */

/* Opened while the program runs, so that it is built without. */
static struct {
  int (*create)(void **);
  int (*set_stream)(void *, cudaStream_t);
  int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int, const float *,
               int, const float *, float *, int);
} blas;

static void *blas_handle;
static float *matrices[3];

static void find_blas(void) {
  static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
                                      "/usr/local/cuda/lib64/libcublas.so.13",
                                      "/usr/local/cuda/lib64/libcublas.so.12", "libcublas.so"};
  void *library = nullptr;
  for (const char *name : names)
    if (!library) library = dlopen(name, RTLD_NOW);
  if (!library) peer_skip("cuBLAS was not found");
  find(library, "cublasCreate_v2", &blas.create);
  find(library, "cublasSetStream_v2", &blas.set_stream);
  find(library, "cublasSgemm_v2", &blas.sgemm);
  for (float *&m : matrices)
    m = cuda_cells<float>((size_t)GEMM * GEMM);
}

static void blas_expect(int code, const char *call) {
  if (code == 0) return;
  fprintf(stderr, "failed: %s: cublasStatus %d\n", call, code);
  exit(EXIT_FAILURE);
}

static void multiply(int) {
  const float one = 1, zero = 0;
  blas_expect(blas.sgemm(blas_handle, 0, 0, GEMM, GEMM, GEMM, &one, matrices[0], GEMM, matrices[1],
                         GEMM, &zero, matrices[2], GEMM),
              "cublasSgemm");
  finish();
}

static void open_blas(int round) {
  blas_expect(blas.create(&blas_handle), "cublasCreate");
  blas_expect(blas.set_stream(blas_handle, stream), "cublasSetStream");
  multiply(round);
}

static void begin_multiplying(void) {
  find_blas();
  open_blas(0);
}

/* ---- the table ---- */

/* Raddle queues no launch behind the one that runs. So what needs its place waits for that one; what
   waits for the whole device often does for the next one, too, which comes microseconds later. */
static const call calls[] = {
    {"malloc", 0, nothing_to_begin, nothing_to_do, allocate, release},
    {"free", 2, nothing_to_begin, allocate, release, nothing_to_do},
    {"malloc_async", 1, nothing_to_begin, nothing_to_do, allocate_async, release_async},
    {"host_alloc", 0, nothing_to_begin, nothing_to_do, allocate_host, release_host},
    {"free_host", 2, nothing_to_begin, allocate_host, release_host, nothing_to_do},
    {"stream_create", 0, nothing_to_begin, nothing_to_do, create_stream, destroy_stream},
    {"stream_destroy", 0, nothing_to_begin, create_stream, destroy_stream, nothing_to_do},
    {"copy_in", 0, make_cell, nothing_to_do, copy_in, check_cell},
    {"kernel", 1, load_kernel, nothing_to_do, run_kernel, check_cell},
    {"full_kernel", 1, load_kernel, nothing_to_do, fill_device, nothing_to_do},
    {"first_use", 2, load_kernel, nothing_to_do, run_new_kernel, check_cell},
    {"module_load", 2, make_module, nothing_to_do, load_module, unload_module},
    {"module_unload", 2, make_module, load_module, unload_module, nothing_to_do},
    {"gemm", 1, begin_multiplying, nothing_to_do, multiply, nothing_to_do},
    /* Once a process, so the one without is measured in a child. */
    {"gemm_first", -1, find_blas, nothing_to_do, open_blas, nothing_to_do},
};

static bool is_once(const call *c) {
  return c->timed == open_blas;
}

/* ---- measuring ---- */

typedef std::vector<double> values;

static double middle(values v) {
  std::sort(v.begin(), v.end());
  return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

static double most(const values &v) {
  return *std::max_element(v.begin(), v.end());
}

/* Somewhere in a launch, another place each time. */
static void pass_part_of_quantum(int round) {
  double ms = options.quantum_ms * (double)(round * 7 % 16) / 16;
  struct timespec pause = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000};
  nanosleep(&pause, nullptr);
}

static values measure(const call *c, int first, int rounds) {
  values v;
  double end = now_ms() + options.seconds * 1e3;
  for (int r = first; r < first + rounds && (v.empty() || now_ms() < end); r++) {
    c->before(r);
    pass_part_of_quantum(r);
    double start = now_ms();
    c->timed(r);
    v.push_back(now_ms() - start);
    c->after(r);
  }
  return v;
}

static void begin(const call *c) {
  (void)cuda_open();
  CUDA_EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  c->begin();
  CUDA_EXPECT(cudaDeviceSynchronize());
}

/* What happens once a process, in one that ends with it. It begins before this one uses CUDA. */
static values measure_in_child(const call *c) {
  int ends[2], status = 0;
  double ms = 0;
  if (pipe(ends) != 0) peer_fail("no pipe");
  pid_t child = fork();
  if (child < 0) peer_fail("no process");
  if (child == 0) {
    begin(c);
    ms = measure(c, 0, 1)[0];
    _exit(write(ends[1], &ms, sizeof ms) == (ssize_t)sizeof ms ? 0 : EXIT_FAILURE);
  }
  close(ends[1]);
  ssize_t got = read(ends[0], &ms, sizeof ms);
  close(ends[0]);
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) exit(77); /* it has said why */
  if (got != (ssize_t)sizeof ms) peer_fail("the process without Raddle ended badly");
  return values{ms};
}

static void raddle_expect(rdl_status status, const char *what) {
  if (status == RDL_OK) return;
  fprintf(stderr, "failed: %s: %s: %s\n", what, rdl_status_name(status), rdl_error_text());
  exit(EXIT_FAILURE);
}

struct beside {
  values ms;
  double present; /* part of the time, in quanta, for which there were launches */
};

static beside measure_beside(const call *c) {
  busy *b = nullptr;
  beside result;
  raddle_expect(
      busy_start(options.device, (uint64_t)(options.quantum_ms * 1e6), options.workers, &b),
      "keeping the device busy");
  uint64_t launches = busy_launches(b);
  double start = now_ms();
  result.ms = measure(c, options.rounds, is_once(c) ? 1 : options.rounds);
  double ms = now_ms() - start;
  result.present = (double)(busy_launches(b) - launches) * options.quantum_ms / ms;
  raddle_expect(busy_stop(b), "what kept the device busy");
  return result;
}

static void tell_head(void) {
  printf("%-15s %28s   %28s %8s %8s %6s\n", "call, ms", "without", "beside", "waited", "bound",
         "there");
}

static void tell_values(const values &v) {
  printf(" %8.3f [%7.3f to %7.3f]", middle(v), *std::min_element(v.begin(), v.end()), most(v));
}

/* What waited longer than the bound says. */
static int tell(const call *c, const values &without, const beside &with) {
  double waited_ms = std::max(0.0, most(with.ms) - most(without));
  bool over = c->quanta >= 0 && waited_ms > c->quanta * options.quantum_ms + slack_ms;
  printf("%-15s", c->name);
  tell_values(without);
  printf("  ");
  tell_values(with.ms);
  printf(" %8.2f", waited_ms / options.quantum_ms);
  if (c->quanta < 0)
    printf(" %8s", "-");
  else
    printf(" %8.0f", c->quanta);
  printf(" %5.0f%%%s\n", 100 * with.present, over ? "  OVER" : "");
  return over ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run(const call *c) {
  values without;
  if (is_once(c)) without = measure_in_child(c);
  begin(c);
  if (!is_once(c)) without = measure(c, 0, options.rounds);
  beside with = measure_beside(c);
  return tell(c, without, with);
}

/* ---- command line ---- */

static int usage(void) {
  fprintf(
      stderr,
      "usage: beside-cuda CALL [--rounds R] [--quantum MS] [--workers N] [--device SELECTOR]\n"
      "       beside-cuda --list | --head\n"
      "How long the call takes without Raddle and beside it, of R calls each (15; at most %d),\n"
      "with Raddle's launches as long as MS milliseconds (2) on the device (cuda:0). Exit\n"
      "status 1: it failed, or waited longer than it may.\n",
      (int)MOST_ROUNDS);
  return EXIT_MISUSED;
}

static bool take_number(const char *text, double least, double most, double *out) {
  char *end = nullptr;
  *out = strtod(text, &end);
  return end != text && !*end && *out >= least && *out <= most;
}

static bool take_option(const char *option, const char *text) {
  double number = 0;
  bool right = text != nullptr;
  if (!right) return false;
  if (strcmp(option, "--device") == 0)
    options.device = text;
  else if (strcmp(option, "--rounds") == 0 && (right = take_number(text, 1, MOST_ROUNDS, &number)))
    options.rounds = (int)number;
  else if (strcmp(option, "--quantum") == 0 && (right = take_number(text, 0.1, 250, &number)))
    options.quantum_ms = number;
  else if (strcmp(option, "--workers") == 0 && (right = take_number(text, 1, 65536, &number)))
    options.workers = (uint32_t)number;
  else
    return false;
  return right;
}

static const call *find_call(const char *name) {
  for (const call &c : calls)
    if (strcmp(c.name, name) == 0) return &c;
  return nullptr;
}

static int list_calls(void) {
  for (const call &c : calls)
    printf("%s\n", c.name);
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  const call *wanted = argc > 1 ? find_call(argv[1]) : nullptr;
  if (argc == 2 && strcmp(argv[1], "--list") == 0) return list_calls();
  if (argc == 2 && strcmp(argv[1], "--head") == 0) {
    tell_head();
    return EXIT_SUCCESS;
  }
  for (int i = 2; wanted && i < argc; i += 2)
    if (!take_option(argv[i], i + 1 < argc ? argv[i + 1] : nullptr)) return usage();
  return wanted ? run(wanted) : usage();
}
