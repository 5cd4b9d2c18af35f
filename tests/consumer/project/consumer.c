/* SPDX-License-Identifier: Apache-2.0
 * The library used from C99: reads a model and prints the best label of a text.
 *   consumer MODEL TEXT
 * Without arguments it only checks that the library is there.
 */
#include <embert/embert.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char* what, embert_status status) {
  fprintf(stderr, "%s: %s\n", what, embert_status_name(status));
  return 1;
}

/* The file at a 64-byte aligned address; never freed, as the model uses it to the end. */
static void* read_file(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
  *bytes = (size_t)ftell(file);
  rewind(file);
  char* memory = malloc(*bytes + 63);
  if (!memory) return NULL;
  char* data = memory + (64 - (uintptr_t)memory % 64) % 64;
  if (fread(data, 1, *bytes, file) != *bytes) return NULL;
  fclose(file);
  return data;
}

static int classify(const char* path, const char* text, size_t text_bytes) {
  size_t blob_bytes;
  const void* blob = read_file(path, &blob_bytes);
  if (!blob) return fail(path, EMBERT_STATUS_NULL_ARGUMENT);

  embert_model model;
  embert_status status = embert_model_open(blob, blob_bytes, embert_isa_detect(), &model);
  if (status) return fail("embert_model_open", status);

  embert_options options = embert_options_default(&model);
  size_t arena_bytes;
  status = embert_arena_bytes(&model, &options, &arena_bytes);
  if (status) return fail("embert_arena_bytes", status);
  char* memory = malloc(arena_bytes + 63);
  void* arena = memory + (64 - (uintptr_t)memory % 64) % 64;
  embert_engine* engine;
  status = embert_engine_init(&model, &options, arena, arena_bytes, &engine);
  if (status) return fail("embert_engine_init", status);

  int32_t ids[512];
  embert_tokens encoding = {0};
  encoding.capacity = 512;
  encoding.ids = ids;
  status = embert_tokenize(&model, text, text_bytes, NULL, 0, NULL, &encoding);
  if (status) return fail("embert_tokenize", status);

  embert_model_info info;
  embert_model_get_info(&model, &info);
  int32_t* logits = malloc(info.num_labels * sizeof *logits);
  const uint32_t length = (uint32_t)encoding.length;
  embert_input input = {0};
  input.ids = ids;
  input.lengths = &length;
  input.batch = 1;
  embert_scale scale;
  status = embert_classify(engine, &input, logits, &scale);
  if (status) return fail("embert_classify", status);

  uint32_t best = 0;
  for (uint32_t i = 1; i < info.num_labels; ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  printf("%s (logit %.3f, arena of %lu bytes)\n", embert_model_label(&model, best),
         (double)((float)logits[best] * embert_scale_to_float(scale)), (unsigned long)arena_bytes);
  free(logits);
  free(memory);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3) {
    size_t text_bytes = 0;
    while (argv[2][text_bytes]) ++text_bytes;
    return classify(argv[1], argv[2], text_bytes);
  }
  printf("embert %s, kernels: %s\n", embert_version(), embert_isa_name(embert_isa_detect()));
  embert_model model;
  const embert_status status = embert_model_open(NULL, 0, EMBERT_ISA_SCALAR, &model);
  return status == EMBERT_STATUS_NULL_ARGUMENT ? 0 : fail("embert_model_open", status);
}
