/* SPDX-License-Identifier: Apache-2.0
 *
 * A compiled classifier from C: reads pictures and labels in IDX form, writes one predicted class per line to
 * standard output and the accuracy to standard error.
 *
 *   onepass compile classifier.onnx -o model.so
 *   cc -O2 -I. classify.c model.so -Wl,-rpath,. -o classify
 *   ./classify images.idx labels.idx MEAN SCALE
 */
#include <stdio.h>
#include <stdlib.h>

#include "model.h" /* onepass compile writes it beside model.so */

typedef struct bytes {
  unsigned char* at;
  size_t count;
} bytes;

static void die(const char* what, const char* which) {
  fprintf(stderr, "classify: %s: %s\n", what, which);
  exit(1);
}

static bytes read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) die("cannot read", path);
  bytes result = {NULL, 0};
  size_t capacity = 1 << 20;
  for (;;) {
    result.at = realloc(result.at, capacity);
    if (result.at == NULL) die("out of memory", path);
    result.count += fread(result.at + result.count, 1, capacity - result.count, file);
    if (result.count < capacity) break;
    capacity *= 2;
  }
  fclose(file);
  return result;
}

/* Unsigned bytes behind a header of `rank` big-endian extents. Returns the first extent. */
static size_t idx_count(const bytes* idx, unsigned rank, const char* path) {
  if (idx->count < 4 + 4 * (size_t)rank || idx->at[2] != 8 || idx->at[3] != rank) die("no IDX file", path);
  const unsigned char* extent = idx->at + 4;
  return (size_t)extent[0] << 24 | (size_t)extent[1] << 16 | (size_t)extent[2] << 8 | extent[3];
}

static float number(const char* text) {
  char* end;
  const float value = strtof(text, &end);
  if (end == text || *end != '\0') die("no number", text);
  return value;
}

static size_t elements(const onepass_tensor_info* tensor) {
  return tensor->size_bytes / sizeof(float);
}

static size_t largest(const float* values, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i)
    if (values[i] > values[best]) best = i;
  return best;
}

int main(int argc, char** argv) {
  if (argc != 5) die("usage", "classify IMAGES.idx LABELS.idx MEAN SCALE");
  const bytes images = read_file(argv[1]), labels = read_file(argv[2]);
  const float mean = number(argv[3]), scale = number(argv[4]);
  const size_t count = idx_count(&images, 3, argv[1]);
  if (idx_count(&labels, 1, argv[2]) != count) die("another number of labels", argv[2]);

  const size_t pixels = elements(onepass_model_input(0)), classes = elements(onepass_model_output(0));
  if (images.count != 16 + count * pixels || labels.count != 8 + count)
    die("pictures of another size", argv[1]);
  const size_t arena_bytes = onepass_model_arena_bytes(1);
  float* input = malloc(pixels * sizeof(float));
  float* output = malloc(classes * sizeof(float));
  void* arena = aligned_alloc(64, (arena_bytes + 63) / 64 * 64);
  if (input == NULL || output == NULL || arena == NULL) die("out of memory", argv[0]);

  const void* inputs[] = {input};
  void* outputs[] = {output};
  const onepass_run run = {
      .inputs = inputs, .outputs = outputs, .arena = arena, .arena_bytes = arena_bytes, .threads = 1};
  size_t hits = 0;
  for (size_t i = 0; i < count; ++i) {
    const unsigned char* picture = images.at + 16 + i * pixels;
    for (size_t p = 0; p < pixels; ++p) input[p] = ((float)picture[p] - mean) * scale;
    if (onepass_model_run(&run) != ONEPASS_OK) die("the model refused its input", argv[1]);
    const size_t predicted = largest(output, classes);
    hits += predicted == labels.at[8 + i];
    printf("%zu\n", predicted);
  }
  fprintf(stderr, "%zu of %zu right: %.2f %%\n", hits, count, 100.0 * (double)hits / (double)count);
  free(input);
  free(output);
  free(arena);
  free(images.at);
  free(labels.at);
  return 0;
}
