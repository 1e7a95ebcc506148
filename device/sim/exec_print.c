/* SPDX-License-Identifier: MIT */
/* Functions that the device's runtime brings: vprintf, __assertfail, malloc, free. */
#include "exec_lanes.h"

#define PRINT_BYTES 4096

static sim_print_fn *print_function;
static void *print_user;

void sim_set_print(sim_print_fn *print, void *user) {
  print_function = print;
  print_user = user;
}

void sim_print(const char *text, size_t bytes) {
  if (print_function != NULL) {
    print_function(print_user, text, bytes);
  } else {
    fwrite(text, 1, bytes, stdout);
  }
}

typedef struct printer {
  sim_warp *warp;
  const sim_insn *insn;
  uint32_t lane;
  uint64_t values; /* where the next argument lies */
  char text[PRINT_BYTES];
  size_t used;
  int count;
} printer;

static bool next_value(printer *p, size_t bytes, uint64_t *value) {
  const uint8_t *at;
  p->values = (p->values + bytes - 1) / bytes * bytes;
  at = sim_reach(p->warp, p->insn, p->lane, SIM_GENERIC, p->values, bytes);
  if (at == NULL) {
    return false;
  }
  *value = 0;
  memcpy(value, at, bytes);
  p->values += bytes;
  return true;
}

static void flush(printer *p) {
  sim_print(p->text, p->used);
  p->used = 0;
}

static void put(printer *p, const char *text, size_t bytes) {
  while (bytes != 0) {
    size_t part = bytes < sizeof p->text - p->used ? bytes : sizeof p->text - p->used;
    memcpy(p->text + p->used, text, part);
    p->used += part;
    text += part;
    bytes -= part;
    if (p->used == sizeof p->text) {
      flush(p);
    }
  }
}

static void put_formatted(printer *p, int length, const char *text, size_t size) {
  put(p, text, length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1);
}

/* "%-8.3", with what '*' stands for: the flags and numbers are checked, then the C library formats.
 * 0 when it is absurd, -1 after an error; else its length. */
static int read_spec(printer *p, const char **format, char spec[48], bool *wide) {
  size_t used = 0, width = 0;
  const char *f = *format + 1;
  uint64_t value;
  spec[used++] = '%';
  for (; *f != '\0' && strchr("-+ #0123456789.*", *f) != NULL; f++) {
    if (*f == '*') {
      if (!next_value(p, 4, &value)) {
        return -1;
      }
      used += (size_t)snprintf(spec + used, 8, "%d", (int)(value % 1000));
    } else {
      spec[used++] = *f;
      width = *f >= '0' && *f <= '9' ? width * 10 + (size_t)(*f - '0') : 0;
    }
    if (used > 24 || width > 1000) {
      *format = f + 1;
      return 0;
    }
  }
  for (*wide = false; *f != '\0' && strchr("lhzjt", *f) != NULL; f++) {
    *wide |= *f != 'h';
  }
  *format = f;
  return (int)used;
}

static bool put_string(printer *p, const char *spec, bool plain, uint64_t address) {
  char out[2048];
  const char *text = sim_reach_string(p->warp, p->insn, p->lane, address);
  if (text == NULL) {
    return false;
  }
  if (plain) {
    put(p, text, strlen(text));
  } else {
    put_formatted(p, snprintf(out, sizeof out, spec, text), out, sizeof out);
  }
  return true;
}

/* One conversion; what is none prints nothing. False after an error. */
static bool convert(printer *p, const char **format) {
  char spec[48], out[2048], kind;
  bool wide;
  int used = read_spec(p, format, spec, &wide), length;
  uint64_t value;
  if (used <= 0) {
    return used == 0;
  }
  kind = **format;
  *format += kind != '\0';
  if (kind == '\0' || strchr("diouxXcfeEgGaAFps", kind) == NULL) {
    return true;
  }
  p->count++;
  if (strchr("diouxX", kind) != NULL) {
    if (!next_value(p, wide ? 8 : 4, &value)) {
      return false;
    }
    value = !wide && (kind == 'd' || kind == 'i') ? (uint64_t)(int64_t)(int32_t)value : value;
    snprintf(spec + used, 8, "ll%c", kind);
    length = snprintf(out, sizeof out, spec, (long long)value);
  } else {
    if (!next_value(p, kind == 'c' ? 4 : 8, &value)) {
      return false;
    }
    snprintf(spec + used, 8, "%c", kind);
    switch (kind) {
      case 'c': length = snprintf(out, sizeof out, spec, (int)value); break;
      case 'p': length = snprintf(out, sizeof out, spec, (void *)(uintptr_t)value); break;
      case 's': return put_string(p, spec, used == 1, value);
      default: length = snprintf(out, sizeof out, spec, sim_f64(value)); break;
    }
  }
  put_formatted(p, length, out, sizeof out);
  return true;
}

static int print(sim_warp *warp, const sim_insn *insn, uint32_t lane, uint64_t format_address,
                 uint64_t values) {
  printer p = {.warp = warp, .insn = insn, .lane = lane, .values = values};
  const char *format = sim_reach_string(warp, insn, lane, format_address);
  while (format != NULL && *format != '\0') {
    const char *percent = strchr(format, '%');
    put(&p, format, percent == NULL ? strlen(format) : (size_t)(percent - format));
    if (percent == NULL) {
      break;
    }
    format = percent;
    if (percent[1] == '%') {
      put(&p, "%", 1);
      format += 2;
    } else if (!convert(&p, &format)) {
      return -1;
    }
  }
  flush(&p);
  return p.count;
}

/* Argument i of the call, as the caller stored it. */
static uint64_t argument(const sim_warp *warp, const sim_insn *insn, uint32_t lane, unsigned i) {
  const int32_t *list = warp->block->grid->kernel->module->program->rows + insn->list;
  const uint8_t *stack = warp->local + warp->local_stride * lane + warp->local_base[lane];
  uint64_t value = 0;
  if (i < insn->list_count) {
    size_t bytes = list[2 * i + 1] < 8 ? (size_t)list[2 * i + 1] : 8;
    memcpy(&value, stack + list[2 * i], bytes);
  }
  return value;
}

static void give_result(sim_warp *warp, const sim_insn *insn, uint32_t lane, uint64_t value) {
  const int32_t *list = warp->block->grid->kernel->module->program->rows + insn->list2;
  uint8_t *stack = warp->local + warp->local_stride * lane + warp->local_base[lane];
  if (insn->list2_count != 0) {
    memcpy(stack + list[0], &value, list[1] < 8 ? (size_t)list[1] : 8);
  }
}

static void assert_failed(sim_warp *warp, const sim_insn *insn, uint32_t lane) {
  const char *text[3] = {0};
  static const unsigned order[3] = {0, 1, 3}; /* message, file, function; 2 is the line */
  for (int i = 0; i < 3; i++) {
    text[i] = sim_reach_string(warp, insn, lane, argument(warp, insn, lane, order[i]));
    if (text[i] == NULL) {
      return;
    }
  }
  sim_fault(warp, insn, lane, SIM_ASSERT, "%.120s:%u: %.80s: assertion `%.150s' failed", text[1],
            (unsigned)argument(warp, insn, lane, 2), text[2], text[0]);
}

void sim_call_builtin(sim_warp *warp, const sim_insn *insn, uint32_t lanes,
                      const sim_function *function) {
  sim_device *device = warp->block->sm->device;
  SIM_EACH_LANE(l, lanes) {
    switch (function->builtin) {
      case SIM_B_VPRINTF:
        give_result(warp, insn, l,
                    (uint64_t)(int64_t)print(warp, insn, l, argument(warp, insn, l, 0),
                                             argument(warp, insn, l, 1)));
        break;
      case SIM_B_ASSERTFAIL: assert_failed(warp, insn, l); break;
      case SIM_B_MALLOC:
        give_result(warp, insn, l, (uint64_t)(uintptr_t)sim_heap_alloc(
                                       device, argument(warp, insn, l, 0)));
        break;
      case SIM_B_FREE: {
        void *pointer = (void *)(uintptr_t)argument(warp, insn, l, 0);
        if (pointer != NULL && !sim_heap_free(device, pointer)) {
          sim_fault(warp, insn, l, SIM_ILLEGAL_ADDRESS, "free of %p, which malloc did not give",
                    pointer);
        }
        break;
      }
      default:
        sim_fault(warp, insn, l, SIM_UNSUPPORTED,
                  "a call of '%.100s', which the simulated device does not have", function->name);
        break;
    }
    if (device->failed) {
      return;
    }
  }
}
