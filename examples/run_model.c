/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest program around a compiled model: prints what it takes and gives, runs it once on inputs of
 * zeros and prints how each output begins. It needs model.so, libc and libm.
 *
 *   onepass compile net.onnx -o model.so          writes model.h beside it
 *   cc -I. run_model.c ./model.so -o run_model && ./run_model
 */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

enum { MAX_TENSORS = 16 };

static void print_tensor(const char* role, const onepass_tensor_info* tensor) {
  printf("%s %s: %lld bytes, extents", role, tensor->name, (long long)tensor->size_bytes);
  for (int axis = 0; axis < tensor->rank; ++axis) printf(" %lld", (long long)tensor->dims[axis]);
  printf("\n");
}

int main(void) {
  const int input_count = onepass_model_input_count(), output_count = onepass_model_output_count();
  if (input_count > MAX_TENSORS || output_count > MAX_TENSORS) return 1;
  const void* inputs[MAX_TENSORS];
  void* outputs[MAX_TENSORS];
  for (int i = 0; i < input_count; ++i) {
    print_tensor("input", onepass_model_input(i));
    inputs[i] = calloc(1, (size_t)onepass_model_input(i)->size_bytes);
  }
  for (int i = 0; i < output_count; ++i) {
    print_tensor("output", onepass_model_output(i));
    outputs[i] = calloc(1, (size_t)onepass_model_output(i)->size_bytes);
  }
  const size_t arena_bytes = onepass_model_arena_bytes(1);
  void* arena = aligned_alloc(64, (arena_bytes + 63) / 64 * 64);
  const onepass_run run = {
      .inputs = inputs, .outputs = outputs, .arena = arena, .arena_bytes = arena_bytes, .threads = 1};
  const onepass_status status = onepass_model_run(&run); /* a null buffer is ONEPASS_BAD_ARGUMENT */
  if (status != ONEPASS_OK) fprintf(stderr, "run_model: status %d\n", (int)status);
  for (int i = 0; i < output_count; ++i) {
    const onepass_tensor_info* output = onepass_model_output(i);
    if (status == ONEPASS_OK && output->dtype == ONEPASS_F32 && output->size_bytes >= 4)
      printf("%s[0] = %g\n", output->name, (double)*(const float*)outputs[i]);
    free(outputs[i]);
  }
  for (int i = 0; i < input_count; ++i) free((void*)inputs[i]);
  free(arena);
  return status == ONEPASS_OK ? 0 : 1;
}
