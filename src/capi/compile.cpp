// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/files.h"
#include "capi/options.h"
#include "capi/runtime/guard.h"
#include "capi/runtime/handles.h"
#include "driver/explain.h"
#include "driver/version.h"
#include "onnx/writer.h"

namespace {

using namespace onepass;
using capi::expect;
using capi::guard;

static_assert(std::string_view(driver::k_version) == ONEPASS_VERSION);

void write_header(const driver::Program& program, const std::filesystem::path& artefact) {
  write_file(std::filesystem::path(artefact).replace_extension(".h").string(),
             driver::artefact_header(program, artefact.stem().string()));
}

char* copy_of(const std::string& text) {
  auto copy = std::make_unique<char[]>(text.size() + 1);
  std::memcpy(copy.get(), text.c_str(), text.size() + 1);
  return copy.release();
}

using Printer = std::string (*)(const report::Explanation&);

onepass_outcome explain(const char* model_path, const onepass_options* options, char** text,
                        onepass_diagnostics** diagnostics, Printer print) {
  if (text != nullptr) *text = nullptr;
  return guard(diagnostics, [&] {
    expect(model_path != nullptr && text != nullptr, "model_path or text is NULL");
    const driver::CompileOptions compile = capi::compile_options(options);
    const driver::Network network = driver::read_network(model_path, compile);
    *text = copy_of(print(driver::explain_network(network, compile)));
  });
}

}  // namespace

onepass_outcome onepass_compile_file(const char* model_path, const onepass_options* options,
                                     const char* output_path, onepass_diagnostics** diagnostics) {
  return guard(diagnostics, [&] {
    expect(model_path != nullptr && output_path != nullptr, "model_path or output_path is NULL");
    const driver::CompileOptions compile = capi::compile_options(options);
    const driver::Network network = driver::read_network(model_path, compile);
    driver::Program program = driver::plan_network(network, compile);
    driver::write_artefact(network, program, compile, output_path);
    write_header(program, output_path);
    capi::hand_out(std::move(program.journal.warnings), diagnostics);
  });
}

onepass_outcome onepass_load_onnx(const char* model_path, const onepass_options* options,
                                  onepass_loaded** loaded, onepass_diagnostics** diagnostics) {
  if (loaded != nullptr) *loaded = nullptr;
  return guard(diagnostics, [&] {
    expect(model_path != nullptr && loaded != nullptr, "model_path or loaded is NULL");
    const driver::CompileOptions compile = capi::compile_options(options);
    const driver::Network network = driver::read_network(model_path, compile);
    driver::Program program = driver::plan_network(network, compile);
    auto handle = std::make_unique<onepass_loaded>(driver::load_program(network, program, compile));
    capi::hand_out(std::move(program.journal.warnings), diagnostics);
    *loaded = handle.release();
  });
}

onepass_outcome onepass_fold_file(const char* model_path, const onepass_options* options,
                                  const char* output_path, onepass_diagnostics** diagnostics) {
  return guard(diagnostics, [&] {
    expect(model_path != nullptr && output_path != nullptr, "model_path or output_path is NULL");
    const driver::CompileOptions compile = capi::compile_options(options);
    driver::Folded folded = driver::fold_network(driver::read_network(model_path, compile), compile);
    onnx::write_model(folded.graph, output_path);
    capi::hand_out(std::move(folded.journal.warnings), diagnostics);
  });
}

onepass_outcome onepass_explain_text(const char* model_path, const onepass_options* options, char** text,
                                     onepass_diagnostics** diagnostics) {
  return explain(model_path, options, text, diagnostics, report::to_text);
}

onepass_outcome onepass_explain_json(const char* model_path, const onepass_options* options, char** text,
                                     onepass_diagnostics** diagnostics) {
  return explain(model_path, options, text, diagnostics, report::to_json);
}

void onepass_text_destroy(char* text) {
  delete[] text;
}
