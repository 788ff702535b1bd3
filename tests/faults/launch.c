// A plain client of ROCr: loads a code object, launches one of its kernels with one pointer, and waits for the
// completion signal. Usage: launch FILE KERNEL CASE. Nothing handles the GPU's errors: what ROCr does is seen.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(call)                                                       \
  do {                                                                    \
    hsa_status_t s_ = (call);                                             \
    if (s_ != HSA_STATUS_SUCCESS && s_ != HSA_STATUS_INFO_BREAK) {        \
      const char *t_ = "";                                                \
      hsa_status_string(s_, &t_);                                         \
      printf("program: %s: %#x %s\n", #call, s_, t_);                              \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t kernargs, device;

static hsa_status_t agent(hsa_agent_t a, void *unused) {
  (void)unused;
  hsa_device_type_t type;
  CHECK(hsa_agent_get_info(a, HSA_AGENT_INFO_DEVICE, &type));
  if (type == HSA_DEVICE_TYPE_GPU && !gpu.handle) gpu = a;
  if (type == HSA_DEVICE_TYPE_CPU && !cpu.handle) cpu = a;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool(hsa_amd_memory_pool_t p, void *out) {
  uint32_t flags;
  hsa_amd_segment_t segment;
  CHECK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  CHECK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
  if (out == &kernargs && !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)) return HSA_STATUS_SUCCESS;
  *(hsa_amd_memory_pool_t *)out = p;
  return HSA_STATUS_INFO_BREAK;
}

static void queue_error(hsa_status_t status, hsa_queue_t *queue, void *data) {
  (void)queue, (void)data;
  const char *text = "";
  hsa_status_string(status, &text);
  printf("program: the queue stopped: %s\n", text);
  fflush(stdout);
  _exit(3);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const char *what = argv[3];
  CHECK(hsa_init());
  CHECK(hsa_iterate_agents(agent, NULL));
  CHECK(hsa_amd_agent_iterate_memory_pools(cpu, pool, &kernargs));
  CHECK(hsa_amd_agent_iterate_memory_pools(gpu, pool, &device));

  FILE *f = fopen(argv[1], "rb");
  if (!f) return perror(argv[1]), 2;
  char *bytes = malloc(1 << 22);
  size_t size = fread(bytes, 1, 1 << 22, f);
  fclose(f);
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  CHECK(hsa_code_object_reader_create_from_memory(bytes, size, &reader));
  CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
  CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
  CHECK(hsa_executable_freeze(executable, NULL));
  char name[256];
  snprintf(name, sizeof name, "%s.kd", argv[2]);
  hsa_executable_symbol_t symbol;
  CHECK(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
  uint64_t object;
  uint32_t lds, scratch, argument_bytes;
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &lds));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &scratch));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &argument_bytes));

  hsa_queue_t *queue;
  CHECK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, queue_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
  hsa_signal_t done;
  CHECK(hsa_signal_create(1, 0, NULL, &done));
  void **arguments, *memory;
  CHECK(hsa_amd_memory_pool_allocate(kernargs, 4096, 0, (void **)&arguments));
  CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, arguments));
  memset(arguments, 0, 4096);
  CHECK(hsa_amd_memory_pool_allocate(device, 4096, 0, &memory));
  if (strcmp(what, "null")) arguments[0] = memory;

  int full = !strcmp(what, "overflow");
  for (int i = 0; i < (full ? 70 : 1); i++) {
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_kernel_dispatch_packet_t *p = (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
    memset((char *)p + 4, 0, sizeof *p - 4);
    p->workgroup_size_x = p->grid_size_x = 64;
    p->workgroup_size_y = p->grid_size_y = p->workgroup_size_z = p->grid_size_z = 1;
    p->group_segment_size = !strcmp(what, "lds") ? 1 << 20 : lds;
    p->private_segment_size = !strcmp(what, "scratch") ? 1 << 22 : scratch;
    p->kernel_object = strcmp(what, "object") ? object : 0;
    p->kernarg_address = arguments;
    p->completion_signal = done;
    uint32_t setup = 1;
    if (full && i % 64 == 0) {
      // Nothing behind this one begins, neither before nor after its slot is written again.
      hsa_barrier_and_packet_t *b = (hsa_barrier_and_packet_t *)p;
      memset((char *)b + 4, 0, sizeof *b - 4);
      CHECK(hsa_signal_create(1, 0, NULL, &b->dep_signal[0]));
      setup = 0;
    }
    uint32_t header = (setup ? HSA_PACKET_TYPE_KERNEL_DISPATCH : HSA_PACKET_TYPE_BARRIER_AND) << HSA_PACKET_HEADER_TYPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    __atomic_store_n((uint32_t *)p, header | setup << 16, __ATOMIC_RELEASE);
    if (!full || i == 69) hsa_signal_store_screlease(queue->doorbell_signal, index);
  }
  hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  printf("program: went on\n");
  return 0;
}
