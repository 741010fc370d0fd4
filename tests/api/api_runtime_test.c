/* SPDX-License-Identifier: Apache-2.0
 *
 * onepass/runtime.h, linked with the loader alone: test_api_runtime MODEL.so
 */
#include <string.h>

#include "check.h"
#include "onepass/runtime.h"

static void check_run(const onepass_loaded* loaded) {
  onepass_session* session = NULL;
  NEED(onepass_session_create(loaded, 2, &session, NULL) == ONEPASS_DONE);
  float* x = onepass_session_input(session, 0);
  NEED(x != NULL);
  for (int i = 0; i < 16; ++i) x[i] = (float)(i - 8);
  CHECK(onepass_session_run(session, NULL) == ONEPASS_DONE);
  const float* y = onepass_session_output(session, 0);
  for (int i = 0; i < 16; ++i) {
    const float first = 2.0f * x[i] + 1.0f, second = -x[i];
    CHECK(y[i] == (first > 0 ? first : 0));
    CHECK(y[16 + i] == (second > 0 ? second : 0));
  }
  onepass_session_destroy(session);
}

static void check_refusal(const char* path) {
  onepass_loaded* loaded = (onepass_loaded*)&failures;
  onepass_diagnostics* diagnostics = NULL;
  CHECK(onepass_load_artefact(path, &loaded, &diagnostics) == ONEPASS_REFUSED);
  CHECK(loaded == NULL);
  NEED(onepass_diagnostics_count(diagnostics) == 1);
  CHECK(strcmp(onepass_diagnostics_at(diagnostics, 0)->code, "cannot_load") == 0);
  CHECK(strstr(onepass_diagnostics_text(diagnostics), path) != NULL);
  onepass_diagnostics_destroy(diagnostics);
}

int main(int argc, char** argv) {
  NEED(argc == 2);
  onepass_loaded* loaded = NULL;
  NEED(onepass_load_artefact(argv[1], &loaded, NULL) == ONEPASS_DONE);
  CHECK(strncmp(onepass_loaded_target(loaded), "x86-64-", 7) == 0);
  check_run(loaded);
  onepass_loaded_destroy(loaded);
  check_refusal("/nowhere/model.so");
  return failures == 0 ? 0 : 1;
}
