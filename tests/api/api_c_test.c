/* SPDX-License-Identifier: Apache-2.0
 *
 * The C surface from C11: test_api_c FOLDER, where tiny.onnx and training.onnx lie.
 */
#include <string.h>

#include "check.h"
#include "onepass/onepass.h"

static char path_text[4][4096];

static const char* path_of(int slot, const char* folder, const char* name) {
  snprintf(path_text[slot], sizeof path_text[slot], "%s/%s", folder, name);
  return path_text[slot];
}

static void check_interface(const onepass_loaded* loaded) {
  CHECK(onepass_loaded_input_count(loaded) == 1);
  CHECK(onepass_loaded_output_count(loaded) == 1);
  const onepass_tensor_info* x = onepass_loaded_input(loaded, 0);
  const onepass_tensor_info* y = onepass_loaded_output(loaded, 0);
  NEED(x != NULL && y != NULL);
  CHECK(strcmp(x->name, "x") == 0 && strcmp(y->name, "y") == 0);
  CHECK(x->dtype == ONEPASS_F32 && x->rank == 4 && x->size_bytes == 64);
  CHECK(y->dims[0] == 1 && y->dims[1] == 2 && y->dims[2] == 4 && y->dims[3] == 4);
  CHECK(y->counted_axis == -1);
  CHECK(onepass_loaded_input(loaded, 1) == NULL && onepass_loaded_output(loaded, -1) == NULL);
  CHECK(onepass_loaded_arena_bytes(loaded, 0) == 0);
}

static void check_values(const float* x, const float* y) {
  for (int i = 0; i < 16; ++i) {
    const float first = 2.0f * x[i] + 1.0f, second = -x[i];
    CHECK(y[i] == (first > 0 ? first : 0));
    CHECK(y[16 + i] == (second > 0 ? second : 0));
  }
}

/* Owned and caller's buffers; the session outlives the handle that it was made of. Gives `loaded` up. */
static void check_runs(onepass_loaded* loaded) {
  onepass_session* session = NULL;
  onepass_diagnostics* diagnostics = NULL;
  NEED(onepass_session_create(loaded, 1, &session, &diagnostics) == ONEPASS_DONE && diagnostics == NULL);
  onepass_loaded_destroy(loaded);
  int64_t dims[ONEPASS_MAX_RANK];
  CHECK(onepass_session_output_dims(session, 0, dims) == ONEPASS_DONE && dims[1] == 2 && dims[4] == 0);
  float* x = onepass_session_input(session, 0);
  NEED(x != NULL);
  for (int i = 0; i < 16; ++i) x[i] = (float)(i - 8);
  CHECK(onepass_session_run(session, NULL) == ONEPASS_DONE);
  check_values(x, onepass_session_output(session, 0));

  float source[16], result[32];
  for (int i = 0; i < 16; ++i) source[i] = 0.25f * (float)(5 - i);
  const void* inputs[] = {source};
  void* outputs[] = {result};
  CHECK(onepass_session_run_with(session, inputs, outputs, NULL) == ONEPASS_DONE);
  check_values(source, result);
  CHECK(onepass_session_output_dims(session, 0, dims) == ONEPASS_DONE && dims[1] == 2 && dims[3] == 4);

  inputs[0] = (const char*)source + 1;
  CHECK(onepass_session_run_with(session, inputs, outputs, &diagnostics) == ONEPASS_MISUSED);
  CHECK(strstr(onepass_diagnostics_text(diagnostics), "aligned") != NULL);
  onepass_diagnostics_destroy(diagnostics);
  CHECK(onepass_session_run_with(session, NULL, outputs, NULL) == ONEPASS_MISUSED);
  CHECK(onepass_session_output_dims(session, 1, dims) == ONEPASS_MISUSED);
  CHECK(onepass_session_input(session, 1) == NULL && onepass_session_output(session, -1) == NULL);
  onepass_session_destroy(session);
}

static void check_compiled(const char* folder) {
  const char* model = path_of(0, folder, "tiny.onnx");
  const char* artefact = path_of(1, folder, "c_tiny.so");
  onepass_options* options = NULL;
  NEED(onepass_options_create(&options) == ONEPASS_DONE);
  const int64_t dims[] = {1, 1, 4, 4};
  CHECK(onepass_options_set_shape(options, "x", dims, 4) == ONEPASS_DONE);
  CHECK(onepass_options_set_exact(options, true) == ONEPASS_DONE);
  CHECK(onepass_options_set_tolerance(options, 1e-4) == ONEPASS_DONE);
  CHECK(onepass_options_set_object_cache(options, model) == ONEPASS_DONE);
  onepass_diagnostics* refused = NULL;
  CHECK(onepass_compile_file(model, options, artefact, &refused) == ONEPASS_REFUSED); /* a file, no folder */
  CHECK(strstr(onepass_diagnostics_text(refused), "bad_cache") != NULL);
  onepass_diagnostics_destroy(refused);
  CHECK(onepass_options_set_object_cache(options, path_of(3, folder, "c_objects")) == ONEPASS_DONE);
  CHECK(onepass_options_set_machine(options, model) == ONEPASS_DONE);
  CHECK(onepass_compile_file(model, options, artefact, &refused) == ONEPASS_REFUSED);
  CHECK(strstr(onepass_diagnostics_text(refused), "bad_machine") != NULL);
  onepass_diagnostics_destroy(refused);
  CHECK(onepass_options_set_machine(options, NULL) == ONEPASS_DONE);
  NEED(onepass_compile_file(model, options, artefact, NULL) == ONEPASS_DONE);
  FILE* header = fopen(path_of(2, folder, "c_tiny.h"), "r");
  NEED(header != NULL);
  fclose(header);
  onepass_loaded* loaded = NULL;
  NEED(onepass_load_artefact(artefact, &loaded, NULL) == ONEPASS_DONE);
  check_interface(loaded);
  check_runs(loaded);
  NEED(onepass_load_onnx(model, NULL, &loaded, NULL) == ONEPASS_DONE);
  check_interface(loaded);
  check_runs(loaded);
  onepass_options_destroy(options);
}

static void check_explain_and_fold(const char* folder) {
  const char* model = path_of(0, folder, "tiny.onnx");
  const char* folded = path_of(1, folder, "c_folded.onnx");
  char* text = NULL;
  NEED(onepass_explain_text(model, NULL, &text, NULL) == ONEPASS_DONE);
  CHECK(strstr(text, "conv1") != NULL && strstr(text, "bn1") != NULL);
  onepass_text_destroy(text);
  CHECK(onepass_fold_file(model, NULL, folded, NULL) == ONEPASS_DONE);
  NEED(onepass_explain_json(folded, NULL, &text, NULL) == ONEPASS_DONE);
  CHECK(text[0] == '{' && strstr(text, "BatchNormalization") == NULL);
  onepass_text_destroy(text);
}

/* The fields of the diagnostic for a BatchNormalization in training mode. */
static void check_refused_model(const char* folder) {
  const char* model = path_of(0, folder, "training.onnx");
  onepass_loaded* loaded = (onepass_loaded*)&failures;
  onepass_diagnostics* diagnostics = NULL;
  CHECK(onepass_load_onnx(model, NULL, &loaded, &diagnostics) == ONEPASS_REFUSED);
  CHECK(loaded == NULL);
  NEED(onepass_diagnostics_count(diagnostics) == 1);
  const onepass_diagnostic* d = onepass_diagnostics_at(diagnostics, 0);
  CHECK(d->severity == ONEPASS_ERROR);
  CHECK(strcmp(d->code, "training_mode_batchnorm") == 0);
  CHECK(strcmp(d->node, "bn1") == 0 && strcmp(d->op, "BatchNormalization") == 0);
  CHECK(d->opset >= 14 && d->message[0] != '\0' && d->hint[0] != '\0');
  CHECK(onepass_diagnostics_at(diagnostics, 1) == NULL);
  onepass_diagnostics_destroy(diagnostics);

  onepass_options* options = NULL;
  NEED(onepass_options_create(&options) == ONEPASS_DONE);
  CHECK(onepass_options_set_bn_assume_eval(options, true) == ONEPASS_DONE);
  NEED(onepass_load_onnx(model, options, &loaded, &diagnostics) == ONEPASS_DONE);
  NEED(onepass_diagnostics_count(diagnostics) >= 1);
  CHECK(onepass_diagnostics_at(diagnostics, 0)->severity == ONEPASS_WARNING);
  onepass_diagnostics_destroy(diagnostics);
  onepass_loaded_destroy(loaded);
  onepass_options_destroy(options);
}

/* The text of a refusal of `path`, for one call; *code is checked. */
static void check_refused_file(const char* path, const onepass_options* options, const char* code) {
  onepass_diagnostics* diagnostics = NULL;
  CHECK(onepass_compile_file(path, options, "/nowhere/never.so", &diagnostics) == ONEPASS_REFUSED);
  NEED(onepass_diagnostics_count(diagnostics) == 1);
  if (strcmp(onepass_diagnostics_at(diagnostics, 0)->code, code) != 0)
    fprintf(stderr, "%s", onepass_diagnostics_text(diagnostics));
  CHECK(strcmp(onepass_diagnostics_at(diagnostics, 0)->code, code) == 0);
  onepass_diagnostics_destroy(diagnostics);
}

static void check_refused_files(const char* folder) {
  const char* garbage = path_of(0, folder, "garbage.onnx");
  FILE* file = fopen(garbage, "w");
  NEED(file != NULL);
  fputs("this is no model", file);
  fclose(file);
  check_refused_file("/nowhere/model.onnx", NULL, "cannot_read");
  check_refused_file(garbage, NULL, "not_onnx");

  const char* tiny = path_of(1, folder, "tiny.onnx");
  onepass_options* options = NULL;
  NEED(onepass_options_create(&options) == ONEPASS_DONE);
  CHECK(onepass_options_set_target(options, "z80") == ONEPASS_DONE);
  check_refused_file(tiny, options, "unknown_target");
  check_refused_file(tiny, NULL, "cannot_write");
  onepass_options_destroy(options);
}

static void check_misuse(void) {
  onepass_diagnostics* diagnostics = NULL;
  CHECK(onepass_compile_file(NULL, NULL, NULL, &diagnostics) == ONEPASS_MISUSED);
  CHECK(onepass_diagnostics_count(diagnostics) == 1);
  onepass_diagnostics_destroy(diagnostics);
  CHECK(onepass_options_set_exact(NULL, true) == ONEPASS_MISUSED);
  CHECK(onepass_options_set_tolerance(NULL, 1e-4) == ONEPASS_MISUSED);
  onepass_options* options = NULL;
  NEED(onepass_options_create(&options) == ONEPASS_DONE);
  CHECK(onepass_options_set_fusion(options, (onepass_fusion)7) == ONEPASS_MISUSED);
  CHECK(onepass_options_set_fusion(options, ONEPASS_FUSION_FOLDED) == ONEPASS_DONE);
  CHECK(onepass_options_set_tolerance(options, 0) == ONEPASS_MISUSED);
  CHECK(onepass_options_set_tolerance(options, 1) == ONEPASS_MISUSED);
  CHECK(onepass_options_set_residual(options, ONEPASS_RESIDUAL_SPLIT) == ONEPASS_DONE);
  CHECK(onepass_options_set_overridable(options, true) == ONEPASS_DONE);
  const int64_t dims[] = {1, 0};
  CHECK(onepass_options_set_shape(options, "x", dims, 2) == ONEPASS_MISUSED);
  CHECK(onepass_options_set_shape(options, "x", dims, 9) == ONEPASS_MISUSED);
  onepass_options_destroy(options);
  CHECK(onepass_session_run(NULL, NULL) == ONEPASS_MISUSED);
  CHECK(onepass_diagnostics_count(NULL) == 0 && onepass_diagnostics_text(NULL)[0] == '\0');
  CHECK(onepass_loaded_input_count(NULL) == 0 && onepass_loaded_target(NULL) == NULL);
  onepass_loaded_destroy(NULL);
  onepass_session_destroy(NULL);
  onepass_text_destroy(NULL);
}

int main(int argc, char** argv) {
  NEED(argc == 2);
  CHECK(strchr(onepass_version(), '.') != NULL);
  check_misuse();
  check_compiled(argv[1]);
  check_explain_and_fold(argv[1]);
  check_refused_model(argv[1]);
  check_refused_files(argv[1]);
  return failures == 0 ? 0 : 1;
}
