/* SPDX-License-Identifier: Apache-2.0
 * A plugin for QEMU's user-mode emulators that counts executed instructions, in total and by
 * function where the program has symbols. Only the documented interface is used
 * (docs/devel/tcg-plugins.rst, version 1), and declared here, because distributions do not ship
 * qemu-plugin.h.
 *
 *   cc -O2 -shared -fPIC -o libcount_instructions.so count_instructions.c
 *   qemu-aarch64 -cpu cortex-a76 -plugin ./libcount_instructions.so -d plugin PROGRAM
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { kInlineAddU64 = 0 };

int qemu_plugin_version = 1;
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t,
                                                              struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* tb, int op, void* counter,
                                              uint64_t value);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*at_exit)(qemu_plugin_id_t, void*),
                                    void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn* insn);
void qemu_plugin_outs(const char* text);

enum { kMaxFunctions = 65536 };
static struct Function {
  const char* name;
  uint64_t count;
} functions[kMaxFunctions];
static size_t function_count;

static struct Function* function_named(const char* name) {
  for (size_t i = 0; i < function_count; ++i) {
    if (strcmp(functions[i].name, name) == 0) return &functions[i];
  }
  if (function_count == kMaxFunctions) return &functions[0];
  const size_t bytes = strlen(name) + 1;
  char* copy = malloc(bytes);
  if (copy == NULL) return &functions[0];
  memcpy(copy, name, bytes);
  functions[function_count].name = copy;
  return &functions[function_count++];
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const char* name = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(tb, 0));
  struct Function* function = function_named(name != NULL && name[0] != 0 ? name : "(no symbol)");
  qemu_plugin_register_vcpu_tb_exec_inline(tb, kInlineAddU64, &function->count,
                                           qemu_plugin_tb_n_insns(tb));
}

static void print_counts(qemu_plugin_id_t id, void* data) {
  (void)id;
  (void)data;
  char line[512];
  uint64_t total = 0;
  for (size_t i = 0; i < function_count; ++i) {
    total += functions[i].count;
    snprintf(line, sizeof(line), "%14llu %s\n", (unsigned long long)functions[i].count,
             functions[i].name);
    qemu_plugin_outs(line);
  }
  snprintf(line, sizeof(line), "%14llu total\n", (unsigned long long)total);
  qemu_plugin_outs(line);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, print_counts, NULL);
  return 0;
}
