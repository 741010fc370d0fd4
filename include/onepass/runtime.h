/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading and running compiled models in this process: the part of the C surface that needs no compiler.
 * Link onepass::runtime (the loader alone) or onepass::onepass (which has all of it), not both.
 *
 *   diagnostics   what a call had to say
 *   loaded        a model in memory, and what it takes and gives
 *   session       memory and threads for its runs
 *
 * Every function is since 0.1. Functions, enumerators and field meanings stay; new fields come at the end of
 * structs that only the library creates. Nothing prints, exits, aborts or lets a C++ exception out.
 *
 * Ownership: what a _create or _load function makes belongs to the caller, who gives it to the _destroy
 * function of its kind; destroying NULL does nothing. Other pointers are borrowed from the handle they were
 * asked of and live as long as it. Strings are UTF-8 and end in NUL.
 *
 * Threads: calls on different handles never disturb each other. On one handle, functions that take it as
 * const may run at the same time; the others need it to themselves.
 */
#ifndef ONEPASS_RUNTIME_H
#define ONEPASS_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "onepass/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "major.minor.patch" of the library that is linked. Static storage. No errors. */
const char* onepass_version(void);

/* How a call ended; the numbers that a shell sees from the command line are these too. */
typedef enum onepass_outcome {
  ONEPASS_DONE = 0,
  ONEPASS_MISUSED = 1,  /* the call breaks the contract below: a null handle, an index out of range */
  ONEPASS_REFUSED = 2,  /* the model, the file or an option is at fault: the diagnostics say what to mend */
  ONEPASS_FAILED = 3,   /* onepass is at fault: please report the diagnostics */
  ONEPASS_NO_MEMORY = 4 /* there may be no diagnostics then */
} onepass_outcome;

/* ---- Diagnostics ----------------------------------------------------------------------------------------
 *
 * Functions that can be refused end in `onepass_diagnostics** diagnostics`. It may be NULL. Otherwise it
 * receives NULL when there is nothing to say, or a new handle: errors when the outcome is not ONEPASS_DONE,
 * warnings (a BatchNormalization with placeholder statistics) when it is. The old value is not read. */
typedef struct onepass_diagnostics onepass_diagnostics;

typedef enum onepass_severity { ONEPASS_NOTE = 0, ONEPASS_WARNING = 1, ONEPASS_ERROR = 2 } onepass_severity;

/* What was found. Strings that do not apply are "", never NULL. */
typedef struct onepass_diagnostic {
  onepass_severity severity;
  const char* code;     /* stable, e.g. "unsupported_operator"; the list is in docs/api.md */
  const char* message;  /* one sentence, with the shape or attribute in hand */
  const char* node;     /* the name of the node in the user's own file */
  const char* op;       /* ONNX operator */
  int32_t opset;        /* 0: unknown */
  const char* accepted; /* what would be accepted */
  const char* hint;     /* how to mend it */
} onepass_diagnostic;

/* Number of diagnostics; 0 for NULL. All unsupported nodes of a model come at once. No errors. */
size_t onepass_diagnostics_count(const onepass_diagnostics* diagnostics);

/* Diagnostic i in [0, count); NULL when i is out of range. No other errors. */
const onepass_diagnostic* onepass_diagnostics_at(const onepass_diagnostics* diagnostics, size_t i);

/* One line for each, as the command line prints them; "" for NULL. No errors. */
const char* onepass_diagnostics_text(const onepass_diagnostics* diagnostics);

void onepass_diagnostics_destroy(onepass_diagnostics* diagnostics);

/* ---- Loaded models --------------------------------------------------------------------------------------
 *
 * A compiled model in this process. All functions but destroy are const and thread-safe. */
typedef struct onepass_loaded onepass_loaded;

/* Maps the model.so at `path` (a path: system library folders are not searched) and checks its format. The
 * file's code runs in this process: load files that you trust. On any outcome but ONEPASS_DONE *loaded is
 * NULL.
 * MISUSED: path or loaded is NULL. REFUSED: cannot_load, not_an_artefact, wrong_version,
 * foreign_target (compiled for a CPU class that this host does not execute). NO_MEMORY. */
onepass_outcome onepass_load_artefact(const char* path, onepass_loaded** loaded,
                                      onepass_diagnostics** diagnostics);

/* Sessions of the model stay usable; the mapping goes with the last of them. */
void onepass_loaded_destroy(onepass_loaded* loaded);

/* CPU class that the model was compiled for, e.g. "x86-64-v4"; NULL for NULL. No other errors. */
const char* onepass_loaded_target(const onepass_loaded* loaded);

/* Numbers of graph inputs and outputs; 0 for NULL. No other errors. */
int onepass_loaded_input_count(const onepass_loaded* loaded);
int onepass_loaded_output_count(const onepass_loaded* loaded);

/* Name, element type, extents and bytes of input or output i, in the order of the ONNX file. Row-major; for a
 * feature map dims are n c h w, e.g. f32[1,3,224,224]. On counted_axis (-1: none) the extent depends on data
 * and dims holds its upper bound. NULL when loaded is NULL or i is out of range. No other errors. */
const onepass_tensor_info* onepass_loaded_input(const onepass_loaded* loaded, int i);
const onepass_tensor_info* onepass_loaded_output(const onepass_loaded* loaded, int i);

/* Bytes of working memory that a session with `threads` threads takes beside its input and output buffers; 0
 * when loaded is NULL or threads is not in [1, ONEPASS_MAX_THREADS]. No other errors. */
size_t onepass_loaded_arena_bytes(const onepass_loaded* loaded, int threads);

/* ---- Sessions -------------------------------------------------------------------------------------------
 *
 * Memory and threads for one run at a time. For runs side by side make a session for each. A session keeps
 * its model alive. */
typedef struct onepass_session onepass_session;

enum { ONEPASS_MAX_THREADS = 256 };

/* A session with `threads` threads in [1, ONEPASS_MAX_THREADS]; 1 starts none and uses the calling one. The
 * result of a run is the same for any number, bit for bit. On any outcome but ONEPASS_DONE *session is NULL.
 * MISUSED: loaded or session is NULL, threads is out of range. FAILED: the system grants no thread.
 * NO_MEMORY. */
onepass_outcome onepass_session_create(const onepass_loaded* loaded, int threads, onepass_session** session,
                                       onepass_diagnostics** diagnostics);

void onepass_session_destroy(onepass_session* session);

/* The session's own buffer for input i: info->size_bytes bytes, aligned to 64, kept between runs, zero at
 * first. The caller fills it. NULL when session is NULL or i is out of range. No other errors. */
void* onepass_session_input(onepass_session* session, int i);

/* The session's own buffer for output i after onepass_session_run: info->size_bytes bytes, aligned to 64,
 * overwritten by the next run. NULL when session is NULL or i is out of range. No other errors. */
const void* onepass_session_output(const onepass_session* session, int i);

/* Computes all outputs from the session's own inputs into its own outputs. Allocates nothing unless it is
 * refused.
 * MISUSED: session is NULL. REFUSED: bad_input (an index operand of the model, e.g. of a Gather, is out of
 * range). NO_MEMORY (for the diagnostics). */
onepass_outcome onepass_session_run(onepass_session* session, onepass_diagnostics** diagnostics);

/* The same on the caller's buffers, without a copy: one pointer for each input and output in the order of the
 * model, each to info->size_bytes bytes aligned to an element. Inputs are only read; no output overlaps
 * anything else. The arrays need not outlive the call. A list of no pointers may be NULL.
 * MISUSED: session, a needed list or a pointer in it is NULL, or a buffer is not aligned to an element.
 * REFUSED: bad_input as above. NO_MEMORY. */
onepass_outcome onepass_session_run_with(onepass_session* session, const void* const* inputs,
                                         void* const* outputs, onepass_diagnostics** diagnostics);

/* Extents of output i as the last run made them: dims[0 .. info->rank), the rest is 0. They differ from
 * info->dims on counted_axis alone. Before the first run they are info->dims.
 * MISUSED: session or dims is NULL, i is out of range. */
onepass_outcome onepass_session_output_dims(const onepass_session* session, int i,
                                            int64_t dims[ONEPASS_MAX_RANK]);

#ifdef __cplusplus
}
#endif

#endif
