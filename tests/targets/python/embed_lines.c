/* SPDX-License-Identifier: Apache-2.0
 *
 * embed_lines MODEL.emb < LINES > VECTORS: float32 vectors of the lines, one after the other.
 * test_portable_wheels.py links it to the library of a wheel where no Python can be had.
 */
#include <stdio.h>
#include <stdlib.h>

#include "targets/hosted/embert_hosted.h"

enum { MAX_BYTES = 1 << 20, MAX_LINES = 10000 };

static char bytes[MAX_BYTES];
static uint64_t offsets[MAX_LINES + 1];

static int failed(const char* what) {
  fprintf(stderr, "embed_lines: %s\n", what);
  return 1;
}

/* Splits the input into lines without their ends. Returns their number. */
static size_t read_lines(void) {
  size_t count = 0, used = 0;
  int byte;
  while ((byte = getchar()) != EOF && used < MAX_BYTES && count < MAX_LINES) {
    if (byte == '\n') {
      offsets[++count] = used;
    } else {
      bytes[used++] = (char)byte;
    }
  }
  return count;
}

int main(int argc, char** argv) {
  const size_t count = read_lines();
  const embert_hosted_texts texts = {
      .size = sizeof(texts), .count = count, .bytes = bytes, .offsets = offsets};
  const embert_hosted_options options = {.size = sizeof(options), .threads = 2};
  embert_hosted* model = NULL;
  size_t width = 0;
  void* vectors;

  if (argc != 2) return failed("usage: embed_lines MODEL.emb");
  if (embert_hosted_open(argv[1], &options, &model) != EMBERT_HOSTED_OK) {
    return failed(embert_hosted_error());
  }
  if (embert_hosted_vector_bytes(model, NULL, &width) != EMBERT_HOSTED_OK) {
    return failed(embert_hosted_error());
  }
  vectors = malloc(count * width); /* [count][width] bytes */
  if (vectors == NULL) return failed("no memory");
  if (embert_hosted_embed(model, &texts, NULL, vectors, count * width) != EMBERT_HOSTED_OK) {
    return failed(embert_hosted_error());
  }
  if (fwrite(vectors, width, count, stdout) != count) return failed("cannot write");
  free(vectors);
  embert_hosted_close(model);
  return 0;
}
