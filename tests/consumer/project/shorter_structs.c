/* SPDX-License-Identifier: Apache-2.0
 * A program compiled against shorter structs than the library's: install_and_use.sh compiles it
 * against headers from which the last members of embert_options, embert_input, embert_output and
 * embert_tokens are cut.
 *   shorter_structs MODEL TEXT
 * Prints the pooled vector's checksum. Bytes behind the short structs must stay as they are.
 */
#include <embert/embert_inspect.h>
#include <embert/embert_run.h>
#include <embert/embert_tokenizer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A struct with guard bytes behind it, where a longer one would go on. */
#define GUARDED(type)        \
  struct {                   \
    type value;              \
    unsigned char guard[64]; \
  }
#define INIT(object)                                                                           \
  (memset(&(object), 0, sizeof(object)), memset((object).guard, 0xA5, sizeof((object).guard)), \
   (object).value.size = sizeof((object).value))

static int intact(const unsigned char* guard) {
  int i;
  for (i = 0; i < 64; ++i) {
    if (guard[i] != 0xA5) return 0;
  }
  return 1;
}

static void* allocate(size_t bytes) {
  char* memory = malloc(bytes + 63);
  return memory ? memory + (64 - (uintptr_t)memory % 64) % 64 : NULL;
}

int main(int argc, char** argv) {
  GUARDED(embert_options) options;
  GUARDED(embert_input) input;
  GUARDED(embert_output) output;
  GUARDED(embert_tokens) tokens;
  embert_model model;
  embert_engine* engine;
  static int32_t ids[512];
  static int16_t pooled[4096];
  uint32_t length;
  size_t blob_bytes, arena_bytes;
  if (argc != 3) return 2;
  FILE* file = fopen(argv[1], "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) return 2;
  blob_bytes = (size_t)ftell(file);
  rewind(file);
  void* blob = allocate(blob_bytes);
  if (!blob || fread(blob, 1, blob_bytes, file) != blob_bytes) return 2;
  fclose(file);

  INIT(options), INIT(input), INIT(output), INIT(tokens);
  if (embert_model_open(blob, blob_bytes, embert_isa_detect(), &model)) return 1;
  if (embert_options_init(&model, &options.value)) return 1;
  if (embert_arena_bytes(&model, &options.value, &arena_bytes)) return 1;
  void* arena = allocate(arena_bytes);
  if (embert_engine_init(&model, &options.value, arena, arena_bytes, &engine)) return 1;
  const embert_text text = {.text = argv[2], .text_bytes = strlen(argv[2])};
  tokens.value.capacity = 512;
  tokens.value.ids = ids;
  if (embert_tokenize(&model, &text, NULL, &tokens.value)) return 1;
  length = (uint32_t)tokens.value.length;
  input.value.ids = ids;
  input.value.lengths = &length;
  input.value.batch = 1;
  output.value.pooled = pooled;
  if (embert_run(engine, &input.value, &output.value)) return 1;
  printf("%08lx scale %08lx\n",
         (unsigned long)embert_crc32c(0, pooled, sizeof(int16_t) * embert_hidden_size(&model)),
         (unsigned long)output.value.pooled_scale.float_bits);
  fprintf(stderr, "options %u, input %u, output %u, tokens %u bytes\n",
          (unsigned)sizeof(embert_options), (unsigned)sizeof(embert_input),
          (unsigned)sizeof(embert_output), (unsigned)sizeof(embert_tokens));
  return intact(options.guard) && intact(input.guard) && intact(output.guard) &&
                 intact(tokens.guard)
             ? 0
             : 1;
}
