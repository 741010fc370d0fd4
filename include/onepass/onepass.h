/* SPDX-License-Identifier: Apache-2.0
 *
 * The C surface of onepass: compile an ONNX model into a file or into this process, fold it, explain it.
 * Running it, diagnostics, ownership and thread rules are in onepass/runtime.h. Link onepass::onepass.
 *
 * A model file is untrusted: whatever it holds, a call ends with an outcome. Every function is since 0.1.
 */
#ifndef ONEPASS_ONEPASS_H
#define ONEPASS_ONEPASS_H

#include <stdbool.h>

#include "onepass/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Options --------------------------------------------------------------------------------------------
 *
 * What the verbs of the command line take. A new handle holds the defaults, and where a function takes
 * options, NULL stands for them. Setters may be called in any order, again replaces. No setter is
 * thread-safe; compiling with one handle from several threads is. */
typedef struct onepass_options onepass_options;

/* MISUSED: options is NULL. NO_MEMORY: *options is NULL. */
onepass_outcome onepass_options_create(onepass_options** options);
void onepass_options_destroy(onepass_options* options);

/* CPU class: "native" (default: the most capable that this host executes), "x86-64-v3", "x86-64-v4". An
 * unknown name is refused by the function that compiles (unknown_target, which lists the names).
 * MISUSED: a null pointer. NO_MEMORY: the option is unchanged. */
onepass_outcome onepass_options_set_target(onepass_options* options, const char* name);

typedef enum onepass_fusion {
  ONEPASS_FUSION_OFF = 0,            /* one kernel for each node */
  ONEPASS_FUSION_FOLDED = 1,         /* rewrites alone, e.g. BatchNormalization into weights */
  ONEPASS_FUSION_ON = 2,             /* default: rewrites, and chains as one kernel where that pays */
  ONEPASS_FUSION_AS_INT = 0x7fffffff /* no value: any int may be passed, and is refused where it is none */
} onepass_fusion;

/* MISUSED: options is NULL, fusion is none of the three. */
onepass_outcome onepass_options_set_fusion(onepass_options* options, onepass_fusion fusion);

typedef enum onepass_residual {
  ONEPASS_RESIDUAL_SPLIT = 0,          /* y = conv(x) + skip: always two launches */
  ONEPASS_RESIDUAL_PROVEN = 1,         /* default: one launch where it is shown to give the same bits */
  ONEPASS_RESIDUAL_AS_INT = 0x7fffffff /* as above */
} onepass_residual;

/* MISUSED: options is NULL, residual is neither. */
onepass_outcome onepass_options_set_residual(onepass_options* options, onepass_residual residual);

/* Binds the extents of graph input `input`, e.g. n c h w = {1, 3, 320, 320}, where the file leaves them open.
 * Extents are elements, at least 1; rank is in [1, ONEPASS_MAX_RANK]. A name that the model lacks is refused
 * by the function that compiles (unknown_input), as are extents that contradict the file.
 * MISUSED: a null pointer, rank or an extent out of range. NO_MEMORY: the option is unchanged. */
onepass_outcome onepass_options_set_shape(onepass_options* options, const char* input, const int64_t* dims,
                                          int rank);

/* true: every sum is taken in order, so no Winograd. Default false: results within 1e-5 of the reference,
 * relative to max(1, the largest output). MISUSED: options is NULL. */
onepass_outcome onepass_options_set_exact(onepass_options* options, bool exact);

/* The error that the compiled model may make, relative to max(1, the largest output); default 1e-5. Each
 * convolution gets the fastest algorithm such that the error predicted at the outputs stays below half of it
 * (docs/numerics.md). Without effect where exact sums are asked for.
 * MISUSED: options is NULL, tolerance is not in (0, 1). */
onepass_outcome onepass_options_set_tolerance(onepass_options* options, double tolerance);

/* true: BatchNormalization in training mode is read as inference mode, with a warning. Default false: it is
 * refused (training_mode_batchnorm). MISUSED: options is NULL. */
onepass_outcome onepass_options_set_bn_assume_eval(onepass_options* options, bool assume_eval);

/* true: initializers that are also graph inputs stay inputs of the compiled model, and nothing that depends
 * on them is folded. Default false: they are constants. MISUSED: options is NULL. */
onepass_outcome onepass_options_set_overridable(onepass_options* options, bool overridable);

/* Folder where kernels compiled before are kept and looked up, made if it is absent; NULL or "" (default):
 * none. The result has the same bytes either way. Processes and threads may share it; what it holds is code
 * that will run, so nobody else may be able to write it. At most 256 MiB stay. A folder that cannot be made
 * or written is refused by the function that compiles (bad_cache).
 * MISUSED: options is NULL. NO_MEMORY: the option is unchanged. */
onepass_outcome onepass_options_set_object_cache(onepass_options* options, const char* folder);

/* File that `onepass calibrate` has written: measured cost figures in the place of the target's nominal ones;
 * NULL or "" (default): none. The result depends on what the file holds, and keeps its hash. The function
 * that compiles refuses a file that cannot be read (cannot_read), is no such description or has no figures of
 * the target (bad_machine). MISUSED: options is NULL. NO_MEMORY: the option is unchanged. */
onepass_outcome onepass_options_set_machine(onepass_options* options, const char* path);

/* ---- Compiling ------------------------------------------------------------------------------------------
 *
 * `model_path` is an ONNX file, opset 7 to 28, with float32 feature maps. Weights in external files are read
 * only from inside its folder. Each function is thread-safe, reads the file anew and gives the same result
 * for the same model, options and (for "native") host.
 *
 * "The model is refused" stands for REFUSED with the codes that docs/api.md lists under "Reading a model":
 * the file is absent, no ONNX, damaged, of another opset, or holds what is not supported, by node name. */

/* Compiles into the shared object `output_path`, which needs libc and libm alone, and writes its C header
 * beside it: the same path with the last extension replaced by .h. Each appears by rename, whole or not at
 * all; when the header cannot be written, the shared object may already be there.
 * MISUSED: a path is NULL. REFUSED: the model is refused; unknown_target; linker_missing (ld.lld is not on
 * PATH); cannot_write. FAILED. NO_MEMORY. */
onepass_outcome onepass_compile_file(const char* model_path, const onepass_options* options,
                                     const char* output_path, onepass_diagnostics** diagnostics);

/* Compiles into this process: the code of onepass_compile_file, through a temporary file that is gone on
 * return. On any outcome but ONEPASS_DONE *loaded is NULL.
 * MISUSED: model_path or loaded is NULL. REFUSED: the model is refused; unknown_target; foreign_target (this
 * host does not execute it); linker_missing; cannot_write, cannot_load (the temporary folder). FAILED.
 * NO_MEMORY. */
onepass_outcome onepass_load_onnx(const char* model_path, const onepass_options* options,
                                  onepass_loaded** loaded, onepass_diagnostics** diagnostics);

/* Applies the rewrites and writes plain ONNX for any other runtime: standard operators, the same graph inputs
 * and outputs. w' = w * gamma / sqrt(var + eps), b' = (b - mean) * gamma / sqrt(var + eps) + beta, in double,
 * rounded once. The target and the residual option play no part.
 * MISUSED: a path is NULL. REFUSED: the model is refused; cannot_write. FAILED. NO_MEMORY. */
onepass_outcome onepass_fold_file(const char* model_path, const onepass_options* options,
                                  const char* output_path, onepass_diagnostics** diagnostics);

/* What compiling would do: chains, splits with the condition that kept each, launches, bytes and predicted
 * time unfused, folded and fused, in the node names of the file. As text for reading, or as one JSON object
 * with the keys model, target, chains, single, splits, warnings, costs (docs/api.md). Warnings are part of
 * it. *text is new and goes to onepass_text_destroy; NULL on any outcome but ONEPASS_DONE.
 * MISUSED: model_path or text is NULL. REFUSED: the model is refused; unknown_target. FAILED. NO_MEMORY. */
onepass_outcome onepass_explain_text(const char* model_path, const onepass_options* options, char** text,
                                     onepass_diagnostics** diagnostics);
onepass_outcome onepass_explain_json(const char* model_path, const onepass_options* options, char** text,
                                     onepass_diagnostics** diagnostics);

void onepass_text_destroy(char* text);

#ifdef __cplusplus
}
#endif

#endif
