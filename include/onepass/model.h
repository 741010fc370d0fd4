/* SPDX-License-Identifier: Apache-2.0
 *
 * The C ABI of a compiled model (model.so). Every function is exported by the shared object itself, which
 * needs libc and libm alone. Nothing allocates, prints or keeps state: any number of threads may run one
 * model at a time, each with its own arena and buffers.
 */
#ifndef ONEPASS_MODEL_H
#define ONEPASS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ONEPASS_MAX_RANK = 8 };

typedef enum onepass_status {
  ONEPASS_OK = 0,
  ONEPASS_BAD_ARGUMENT = 1,  /* a null pointer, a wrong count, or threads < 1 */
  ONEPASS_BAD_ALIGNMENT = 2, /* the arena is not 64-byte aligned, or a buffer not aligned to its element */
  ONEPASS_ARENA_TOO_SMALL = 3,
  ONEPASS_BAD_INPUT = 4,  /* an index operand is out of range */
  ONEPASS_UNSUPPORTED = 5 /* the model uses AMX tiles, and the operating system does not give leave to */
} onepass_status;

/* Numbers of ONNX TensorProto.DataType. */
typedef enum onepass_dtype {
  ONEPASS_F32 = 1,
  ONEPASS_U8 = 2,
  ONEPASS_I8 = 3,
  ONEPASS_I32 = 6,
  ONEPASS_I64 = 7,
  ONEPASS_BOOL = 9,
  ONEPASS_F64 = 11
} onepass_dtype;

/* A graph input or output. Row-major. On a counted axis (-1: none) dims holds the upper bound. */
typedef struct onepass_tensor_info {
  const char* name;
  onepass_dtype dtype;
  int32_t rank;
  int64_t dims[ONEPASS_MAX_RANK];
  int64_t size_bytes;
  int32_t counted_axis;
} onepass_tensor_info;

/* A host's own thread pool: calls task(context, i) once for every i in [0, count), on any threads, and
 * returns when all are done. At most `threads` of the run may execute at the same time. */
typedef void (*onepass_parallel_for)(void* pool, int count, void (*task)(void* context, int i),
                                     void* context);

typedef struct onepass_run {
  const void* const* inputs; /* one buffer per input, size_bytes each; never written */
  void* const* outputs;      /* one buffer per output, size_bytes each */
  void* arena; /* 64-byte aligned, onepass_model_arena_bytes(threads) bytes; contents are irrelevant */
  size_t arena_bytes;
  int threads;                       /* 1 uses the calling thread alone */
  onepass_parallel_for parallel_for; /* required when threads > 1 */
  void* pool;
  int64_t (*output_dims)[ONEPASS_MAX_RANK]; /* may be null: receives the actual extents of each output */
  int first_launch,
      end_launch;      /* 0, 0: all launches; otherwise only [first, end), for measuring and parity */
  const void* weights; /* null: those in the model; else a copy of them, 64-byte aligned, on pages of the
                          caller's choice: large pages make big models faster */
} onepass_run;

int onepass_model_input_count(void);
int onepass_model_output_count(void);
/* Null when i is out of range. */
const onepass_tensor_info* onepass_model_input(int i);
const onepass_tensor_info* onepass_model_output(int i);
/* Bytes of arena that a run with `threads` threads needs; 0 when threads < 1. */
size_t onepass_model_arena_bytes(int threads);
/* The weights inside the model, for a caller who copies them; *bytes receives their size. */
const void* onepass_model_weights(size_t* bytes);
/* Computes the outputs. The result does not depend on the number of threads, bit for bit. */
onepass_status onepass_model_run(const onepass_run* run);

#ifdef __cplusplus
}
#endif

#endif
