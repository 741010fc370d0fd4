// SPDX-License-Identifier: Apache-2.0
//
// Compiles an ONNX file in this process, says what fused, and runs it once on inputs of zeros:
//
//   embed MODEL.onnx
#include <cstdio>
#include <onepass/onepass.hpp>

namespace {

void run(const char* path) {
  namespace api = onepass::api;
  std::printf("%s\n", api::explain_text(path).c_str());
  const api::Model model = api::Model::load_onnx(path);
  for (const api::Diagnostic& warning : model.warnings())
    std::fprintf(stderr, "%s: %s\n", warning.node.c_str(), warning.message.c_str());
  api::Session session(model);
  session.run();
  for (int i = 0; i < model.output_count(); ++i) {
    std::printf("%s:", model.output(i)->name);
    for (const int64_t extent : session.output_dims(i)) std::printf(" %lld", static_cast<long long>(extent));
    if (model.output(i)->dtype == ONEPASS_F32) std::printf(", first %g", session.output<float>(i)[0]);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed MODEL.onnx\n");
    return 64;
  }
  try {
    run(argv[1]);
  } catch (const onepass::api::Error& error) {
    std::fprintf(stderr, "%s", error.what());
    return error.outcome();
  }
  return 0;
}
