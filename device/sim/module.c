/* SPDX-License-Identifier: MIT */
/* A program on a device: storage of its globals, kernels with their shared memory laid out, and
 * the rows of constants that differ from kernel to kernel. */
#include <stdlib.h>
#include <string.h>

#include "exec.h"

/* Value of a symbol in the address space that it lives in. */
static uint64_t address_of(const sim_module *module, int32_t index) {
  const sim_program *program = module->program;
  const sim_symbol *symbol = sim_program_symbol(program, index);
  if (symbol->function >= 0) {
    return SIM_FUNCTION_BASE + (uint64_t)(uint32_t)symbol->function * SIM_FUNCTION_STEP;
  }
  return (uint64_t)(uintptr_t)module->addresses[symbol->forward];
}

static bool place_globals(sim_module *module, sim_error *error) {
  const sim_program *program = module->program;
  for (size_t i = 0; i < program->symbol_count; i++) {
    const sim_symbol *symbol = &program->symbols[i];
    uint64_t known;
    if (symbol->forward != (int32_t)i || symbol->function >= 0 || !symbol->defined ||
        (symbol->space != SIM_GLOBAL && symbol->space != SIM_CONST)) {
      continue;
    }
    module->addresses[i] = sim_memory_alloc(module->device, symbol->bytes, symbol->align);
    if (module->addresses[i] == NULL) {
      sim_error_set(error, SIM_NO_MEMORY, "no memory for '%s', %llu bytes", symbol->name,
                    (unsigned long long)symbol->bytes);
      return false;
    }
    known = symbol->init_bytes < symbol->bytes ? symbol->init_bytes : symbol->bytes;
    memset(module->addresses[i], 0, symbol->bytes);
    if (known != 0) {
      memcpy(module->addresses[i], symbol->init, known);
    }
  }
  return true;
}

static void fill_relocs(sim_module *module) {
  const sim_program *program = module->program;
  for (size_t i = 0; i < program->symbol_count; i++) {
    const sim_symbol *symbol = &program->symbols[i];
    for (size_t k = 0; module->addresses[i] != NULL && k < symbol->reloc_count; k++) {
      const sim_reloc *reloc = &symbol->relocs[k];
      uint64_t value = (address_of(module, reloc->symbol) + reloc->addend) >> reloc->shift;
      memcpy(module->addresses[i] + reloc->offset, &value, reloc->bytes);
    }
  }
}

sim_module *sim_module_load(sim_device *device, const sim_program *program, sim_error *error) {
  sim_module *module = calloc(1, sizeof *module);
  if (error != NULL) {
    *error = (sim_error){.kind = SIM_OK};
  }
  if (module != NULL) {
    module->device = device;
    module->program = program;
    module->addresses = calloc(program->symbol_count + 1, sizeof *module->addresses);
    module->next = device->modules;
    device->modules = module;
  }
  if (module == NULL || module->addresses == NULL) {
    sim_error_set(error, SIM_NO_MEMORY, "no memory to load a module");
    sim_module_unload(module);
    return NULL;
  }
  if (!place_globals(module, error)) {
    sim_module_unload(module);
    return NULL;
  }
  fill_relocs(module);
  return module;
}

bool sim_module_owns(const sim_module *module, const void *pointer) {
  const uintptr_t at = (uintptr_t)pointer;
  for (size_t i = 0; i < module->program->symbol_count; i++) {
    const uintptr_t begin = (uintptr_t)module->addresses[i];
    if (begin != 0 && at >= begin && at - begin < module->program->symbols[i].bytes) {
      return true;
    }
  }
  return false;
}

static void free_kernel(sim_kernel *kernel) {
  free(kernel->places);
  free(kernel->constants);
  free(kernel->own_rows);
  free(kernel);
}

void sim_module_unload(sim_module *module) {
  sim_module **link;
  if (module == NULL) {
    return;
  }
  for (link = &module->device->modules; *link != NULL; link = &(*link)->next) {
    if (*link == module) {
      *link = module->next;
      break;
    }
  }
  while (module->kernels != NULL) {
    sim_kernel *kernel = module->kernels;
    module->kernels = kernel->next;
    free_kernel(kernel);
  }
  for (size_t i = 0; module->addresses != NULL && i < module->program->symbol_count; i++) {
    if (module->addresses[i] != NULL) {
      sim_memory_free(module->device, module->addresses[i]);
    }
  }
  free(module->addresses);
  free(module);
}

void *sim_module_symbol(sim_module *module, const char *name, size_t *bytes) {
  const sim_program *program = module->program;
  for (size_t i = 0; i < program->symbol_count; i++) {
    const sim_symbol *symbol = &program->symbols[i];
    if (module->addresses[i] != NULL && strcmp(symbol->name, name) == 0) {
      if (bytes != NULL) {
        *bytes = symbol->bytes;
      }
      return module->addresses[i];
    }
  }
  return NULL;
}

/* ---- what a kernel reaches ---- */

typedef struct walk {
  sim_kernel *kernel;
  uint8_t *state; /* of each function: 0 not seen, 1 being walked, 2 done */
  uint64_t *need; /* bytes of call frames from it on */
  int32_t *todo;
  size_t todo_count;
  bool open_ended; /* recursion or calls through pointers: the depth is not known */
} walk;

static bool note_shared(sim_kernel *kernel, int32_t index) {
  const sim_symbol *symbol = sim_program_symbol(kernel->module->program, index);
  uint64_t offset;
  for (size_t i = 0; i < kernel->place_count; i++) {
    if (kernel->places[i].symbol == symbol->forward) {
      return true;
    }
  }
  if (!SIM_GROW(kernel->places, kernel->place_capacity, kernel->place_count)) {
    return false;
  }
  if (!symbol->defined) { /* dynamic: behind all static ones */
    kernel->dynamic_align = symbol->align > kernel->dynamic_align ? symbol->align
                                                                  : kernel->dynamic_align;
    offset = UINT64_MAX;
  } else {
    offset = (kernel->static_shared + symbol->align - 1) / symbol->align * symbol->align;
    kernel->static_shared = offset + symbol->bytes;
  }
  kernel->places[kernel->place_count++] =
      (sim_shared_place){.symbol = symbol->forward, .offset = offset};
  return true;
}

static void push(walk *w, int32_t function) {
  if (w->state[function] == 0) {
    w->state[function] = 1;
    w->todo[w->todo_count++] = function;
  }
}

/* Everything reachable; a kernel that calls through pointers reaches every function whose address
 * is taken. */
static bool reach(walk *w, const sim_program *program, bool *indirect) {
  *indirect = false;
  push(w, (int32_t)(w->kernel->function - program->functions));
  while (w->todo_count != 0) {
    const sim_function *function = &program->functions[w->todo[--w->todo_count]];
    if (function->indirect && !*indirect) {
      *indirect = true;
      for (size_t i = 0; i < program->function_count; i++) {
        const sim_symbol *symbol = &program->symbols[program->functions[i].symbol];
        if (symbol->address_taken && symbol->forward == program->functions[i].symbol) {
          push(w, (int32_t)i);
        }
      }
    }
    for (size_t i = 0; i < function->use_count; i++) {
      const sim_symbol *symbol = sim_program_symbol(program, function->uses[i]);
      if (symbol->function >= 0) {
        push(w, symbol->function);
      } else if (symbol->space == SIM_SHARED && !note_shared(w->kernel, function->uses[i])) {
        return false;
      }
    }
  }
  return true;
}

/* Frame bytes of the deepest chain of direct calls, by relaxation; stops growing unless there is
 * recursion. */
static void measure_stack(walk *w, const sim_program *program) {
  bool changed = true;
  for (unsigned round = 0; changed; round++) {
    changed = false;
    if (round > 64) {
      w->open_ended = true;
      return;
    }
    for (size_t i = 0; i < program->function_count; i++) {
      const sim_function *function = &program->functions[i];
      uint64_t deepest = 0;
      for (size_t k = 0; w->state[i] != 0 && k < function->use_count; k++) {
        const sim_symbol *symbol = sim_program_symbol(program, function->uses[k]);
        if (symbol->function >= 0 && w->need[symbol->function] > deepest) {
          deepest = w->need[symbol->function];
        }
      }
      if (w->state[i] != 0 && function->frame_bytes + deepest > w->need[i]) {
        w->need[i] = function->frame_bytes + deepest;
        changed = true;
      }
    }
  }
}

static bool measure(sim_kernel *kernel) {
  const sim_program *program = kernel->module->program;
  size_t count = program->function_count;
  walk w = {.kernel = kernel, .state = calloc(count, 1), .need = calloc(count, sizeof *w.need),
            .todo = calloc(count, sizeof *w.todo)};
  bool good = w.state != NULL && w.need != NULL && w.todo != NULL, indirect = false;
  kernel->dynamic_align = 16;
  good = good && reach(&w, program, &indirect);
  if (good) {
    uint64_t total = 0;
    measure_stack(&w, program);
    for (size_t i = 0; i < count; i++) {
      total += w.state[i] != 0 ? program->functions[i].frame_bytes : 0;
    }
    kernel->stack_bytes = w.open_ended || indirect
                              ? total + 65536
                              : w.need[kernel->function - program->functions];
    kernel->stack_bytes = (kernel->stack_bytes + 31) / 16 * 16;
  }
  free(w.state);
  free(w.need);
  free(w.todo);
  return good;
}

sim_kernel *sim_module_kernel(sim_module *module, const char *name) {
  const sim_program *program = module->program;
  for (sim_kernel *kernel = module->kernels; kernel != NULL; kernel = kernel->next) {
    if (strcmp(kernel->function->name, name) == 0) {
      return kernel;
    }
  }
  for (size_t i = 0; i < program->function_count; i++) {
    const sim_function *function = &program->functions[i];
    sim_kernel *kernel;
    if (!function->entry || !function->body || strcmp(function->name, name) != 0 ||
        program->symbols[function->symbol].forward != function->symbol) {
      continue;
    }
    kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL) {
      return NULL;
    }
    kernel->module = module;
    kernel->function = function;
    if (!measure(kernel)) {
      free_kernel(kernel);
      return NULL;
    }
    kernel->next = module->kernels;
    module->kernels = kernel;
    return kernel;
  }
  return NULL;
}

void sim_kernel_limits(const sim_kernel *kernel, size_t *shared_bytes, size_t *local_bytes,
                       uint32_t *max_threads, size_t *parameter_bytes, int *parameters) {
  const sim_function *function = kernel->function;
  if (shared_bytes != NULL) {
    *shared_bytes = kernel->static_shared;
  }
  if (local_bytes != NULL) {
    *local_bytes = function->frame_bytes;
  }
  if (max_threads != NULL) {
    *max_threads = function->max_threads;
  }
  if (parameter_bytes != NULL) {
    *parameter_bytes = function->parameter_bytes;
  }
  if (parameters != NULL) {
    *parameters = (int)function->parameter_count;
  }
}

sim_dim3 sim_kernel_cluster(const sim_kernel *kernel) { return kernel->function->cluster; }

bool sim_kernel_parameter(const sim_kernel *kernel, int index, size_t *offset, size_t *bytes) {
  const sim_function *function = kernel->function;
  if (index < 0 || (size_t)index >= function->parameter_count) {
    return false;
  }
  *offset = function->parameters[index].offset;
  *bytes = function->parameters[index].bytes;
  return true;
}

static uint64_t constant_value(const sim_kernel *kernel, const sim_constant *constant) {
  const sim_symbol *symbol = sim_program_symbol(kernel->module->program, constant->symbol);
  uint64_t base = 0;
  if (symbol->function < 0 && symbol->space == SIM_SHARED) {
    for (size_t i = 0; i < kernel->place_count; i++) {
      if (kernel->places[i].symbol == symbol->forward) {
        base = kernel->places[i].offset;
      }
    }
    if (base == UINT64_MAX) {
      base = (kernel->static_shared + kernel->dynamic_align - 1) / kernel->dynamic_align *
             kernel->dynamic_align;
    }
    return base + constant->value;
  }
  return address_of(kernel->module, constant->symbol) + constant->value;
}

/* Makes the kernel's table of constant rows, once. */
bool sim_kernel_prepare(sim_kernel *kernel, sim_error *error) {
  const sim_program *program = kernel->module->program;
  size_t own = 0;
  if (kernel->constants != NULL) {
    return true;
  }
  for (size_t i = 0; i < program->constant_count; i++) {
    own += program->constants[i].symbol != SIM_NO_SYMBOL;
  }
  kernel->own_rows = calloc(own + 1, sizeof *kernel->own_rows);
  kernel->constants = calloc(program->constant_count + 1, sizeof *kernel->constants);
  if (kernel->own_rows == NULL || kernel->constants == NULL) {
    free(kernel->own_rows);
    free(kernel->constants);
    kernel->own_rows = NULL;
    kernel->constants = NULL;
    sim_error_set(error, SIM_NO_MEMORY, "no memory for the constants of '%s'",
                  kernel->function->name);
    return false;
  }
  own = 0;
  for (size_t i = 0; i < program->constant_count; i++) {
    const sim_constant *constant = &program->constants[i];
    kernel->constants[i] = program->constant_rows[i];
    if (constant->symbol != SIM_NO_SYMBOL) {
      uint64_t value = constant_value(kernel, constant);
      for (int lane = 0; lane < SIM_LANES; lane++) {
        kernel->own_rows[own][lane] = value;
      }
      kernel->constants[i] = kernel->own_rows[own++];
    }
  }
  return true;
}
