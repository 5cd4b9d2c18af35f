/* SPDX-License-Identifier: Apache-2.0
 * The library used from C99: reads a model and prints the best label of a text.
 *   consumer MODEL TEXT
 * Without arguments it only checks that the library is there.
 */
#include <embert/embert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char* what, embert_status status) {
  fprintf(stderr, "%s: %s\n", what, embert_status_name(status));
  return 1;
}

/* Memory at a 64-byte aligned address; never freed, as the model uses it to the end. */
static void* allocate(size_t bytes) {
  char* memory = malloc(bytes + 63);
  return memory ? memory + (64 - (uintptr_t)memory % 64) % 64 : NULL;
}

static void* read_file(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
  *bytes = (size_t)ftell(file);
  rewind(file);
  void* data = allocate(*bytes);
  if (!data || fread(data, 1, *bytes, file) != *bytes) return NULL;
  fclose(file);
  return data;
}

static int classify(const char* path, const char* line) {
  size_t blob_bytes, arena_bytes;
  const void* blob = read_file(path, &blob_bytes);
  if (!blob) return fail(path, EMBERT_STATUS_NULL_ARGUMENT);
  embert_model model;
  embert_engine* engine;
  const embert_text text = {.text = line, .text_bytes = strlen(line)};
  embert_label_score best;
  embert_labels labels = {.items = &best, .capacity = 1};

  /* Ten statements, each status checked. */
  embert_status status = embert_model_open(blob, blob_bytes, embert_isa_detect(), &model);
  if (status) return fail("embert_model_open", status);
  const embert_options options = embert_options_default(&model);
  status = embert_arena_bytes(&model, &options, &arena_bytes);
  if (status) return fail("embert_arena_bytes", status);
  void* arena = allocate(arena_bytes);
  status = embert_engine_init(&model, &options, arena, arena_bytes, &engine);
  if (status) return fail("embert_engine_init", status);
  status = embert_classify_text(engine, &text, &labels);
  if (status) return fail("embert_classify_text", status);

  printf("%s (logit %.3f, score %.3f, arena of %lu bytes)\n",
         embert_model_label(&model, best.label),
         (double)((float)best.logit * embert_scale_to_float(labels.scale)),
         best.score / (double)EMBERT_Q30_ONE, (unsigned long)arena_bytes);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3) return classify(argv[1], argv[2]);
  printf("embert %s, kernels: %s\n", embert_version(), embert_isa_name(embert_isa_detect()));
  embert_model model;
  const embert_status status = embert_model_open(NULL, 0, EMBERT_ISA_SCALAR, &model);
  return status == EMBERT_STATUS_NULL_ARGUMENT ? 0 : fail("embert_model_open", status);
}
