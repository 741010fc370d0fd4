// SPDX-License-Identifier: Apache-2.0
//
// onepass VERB ...: one file per verb; results go to stdout, messages to stderr.
#include <fmt/format.h>

#include <cstdio>

#include "base/diagnostic.h"
#include "verbs.h"

namespace {

int run(int argc, char** argv) {
  using namespace onepass::tool;
  CLI::App app("Fuses the operators of a vision network and proves that it stays the same network.",
               "onepass");
  app.require_subcommand(1);
  int exit_code = k_ok;
  add_compile(app, exit_code);
  add_run(app, exit_code);
  add_verify(app, exit_code);
  add_explain(app, exit_code);
  add_bench(app, exit_code);
  add_fold(app, exit_code);
  add_calibrate(app, exit_code);
  add_catalogue(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? k_ok : k_usage;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const onepass::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return onepass::tool::k_refused;
  } catch (const std::exception& error) {
    fmt::print(stderr, "onepass failed: {}\n", error.what());
    return onepass::tool::k_own_fault;
  }
}
