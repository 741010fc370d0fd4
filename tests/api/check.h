/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ONEPASS_TESTS_API_CHECK_H
#define ONEPASS_TESTS_API_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* Counts and reports; the program goes on. */
static int failures = 0;

static void check_at(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "line %d: %s\n", line, what);
}

/* Ends the program: what follows would have no sense. */
static void need_at(int holds, const char* what, int line) {
  check_at(holds, what, line);
  if (!holds) exit(1);
}

#define CHECK(condition) check_at((condition), #condition, __LINE__)
#define NEED(condition) need_at((condition), #condition, __LINE__)

#endif
