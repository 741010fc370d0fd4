// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "compile_options.h"
#include "emit/emit.h"
#include "loops/printer.h"
#include "verbs.h"

namespace onepass::tool {

namespace {

struct Arguments {
  std::string model, output;
  std::string emit = "shared";
  CompileArguments compile;
};

std::string loops_text(const plan::Plan& plan) {
  std::string text;
  for (const loops::LoopNest& nest : plan.kernels) text += loops::print(nest) + "\n";
  return text;
}

std::string header_path(const std::string& output) {
  return std::filesystem::path(output).replace_extension(".h").string();
}

void write_shared(const driver::Network& network, const driver::Program& program,
                  const driver::CompileOptions& options, const std::string& output) {
  driver::write_artefact(network, program, options, output);
  write_file(header_path(output),
             driver::artefact_header(program, std::filesystem::path(output).stem().string()));
  fmt::print("{}: {} bytes, {} launches, arena {} bytes for one thread, needs libc and libm\n", output,
             std::filesystem::file_size(output), program.plan.launches.size(), program.plan.arena_bytes);
  if (!options.exact) fmt::print("{}\n", budget::summary(program.budget));
}

int compile(const Arguments& arguments) {
  const driver::CompileOptions options = to_options(arguments.compile);
  const driver::Network network = driver::read_network(arguments.model, options);
  tune_first(network, options, arguments.compile);
  const driver::Program program = driver::plan_network(network, options);
  for (const Diagnostic& warning : program.journal.warnings) fmt::print(stderr, "{}\n", to_string(warning));
  const plan::Plan& plan = program.plan;
  if (arguments.emit == "shared") {
    write_shared(network, program, options, arguments.output);
  } else if (arguments.emit == "obj") {
    write_file(arguments.output, emit::compile_object(plan.kernels, *plan.target));
  } else if (arguments.emit == "llvm-ir") {
    write_file(arguments.output, emit::llvm_ir(plan.kernels, *plan.target));
  } else if (arguments.emit == "asm") {
    write_file(arguments.output, emit::assembly(plan.kernels, *plan.target));
  } else if (arguments.emit == "c") {
    write_file(arguments.output, emit::c_source(plan.kernels));
  } else {
    write_file(arguments.output, loops_text(plan));
  }
  return 0;
}

}  // namespace

void add_compile(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("compile", "compile MODEL into a shared object that needs libc and libm alone");
  verb->add_option("model", arguments->model, "ONNX file")->required();
  verb->add_option("-o,--output", arguments->output, "file to write; model.h appears beside a shared object")
      ->required();
  verb->add_option("--emit", arguments->emit, "what to write; all but shared hold the kernels alone")
      ->check(CLI::IsMember({"shared", "obj", "llvm-ir", "asm", "c", "loops"}))
      ->capture_default_str();
  add_compile_options(*verb, arguments->compile);
  verb->callback([arguments, &exit_code] { exit_code = compile(*arguments); });
}

}  // namespace onepass::tool
