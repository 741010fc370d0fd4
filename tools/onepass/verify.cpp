// SPDX-License-Identifier: Apache-2.0
//
// onepass verify MODEL: the compiled network beside the network as read, frame by frame.
#include "verify_print.h"

#include "compile_options.h"
#include "driver/subject.h"
#include "progress.h"
#include "verbs.h"
#include "verify/verify.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace onepass::tool {

namespace {

struct VerifyArguments {
  std::string model;
  CompileArguments compile;
  std::vector<std::string> frames;
  std::vector<std::string> images;  ///< --image, for every input that holds pictures
  std::string preprocessing, artefact;
  int random = 0, count = 0, threads = 2;
  uint64_t seed = 1;
  std::vector<double> range = {-1, 1};
  bool json = false, per_group = false, strict = false;
};

verify::PreprocessByInput preprocessing(const VerifyArguments& arguments, const ir::Graph& graph) {
  verify::PreprocessByInput result;
  const std::string sidecar =
      arguments.preprocessing.empty() ? verify::sidecar_path(arguments.model) : arguments.preprocessing;
  const bool asked = !arguments.preprocessing.empty();
  if (asked || std::filesystem::exists(sidecar)) result = verify::read_preprocessing(sidecar);
  if (!arguments.images.empty())
    for (const ir::ValueId input : graph.inputs())
      result[graph.value(input).name] = verify::parse_preprocess(arguments.images.back());
  return result;
}

verify::FrameOptions frame_options(const VerifyArguments& arguments, const ir::Graph& graph) {
  constexpr int k_default_count = 200;
  verify::FrameOptions options{.paths = arguments.frames, .seed = arguments.seed};
  options.count = arguments.random > 0  ? arguments.random
                  : arguments.count > 0 ? arguments.count
                                        : k_default_count;
  options.low = arguments.range.at(0);
  options.high = arguments.range.at(1);
  if (!options.paths.empty()) options.preprocessing = preprocessing(arguments, graph);
  return options;
}

int verify_model(const VerifyArguments& arguments) {
  driver::CompileOptions options = to_options(arguments.compile);
  options.preprocessing = arguments.preprocessing;
  const driver::Network network = driver::read_network(arguments.model, options);
  tune_first(network, options, arguments.compile);
  const driver::Program program = driver::plan_network(network, options);
  const verify::Frames frames(network.model.graph, frame_options(arguments, network.model.graph));
  const runtime::LoadedModel model = arguments.artefact.empty()
                                         ? driver::load_program(network, program, options)
                                         : runtime::LoadedModel(arguments.artefact);
  const verify::Subject subject = driver::make_subject(network, program, model);
  verify::VerifyReport report;
  {
    Progress progress("verify");
    report = verify::run_verify(subject, frames,
                                {.tolerance = to_tolerance(arguments.compile),
                                 .strict = arguments.strict,
                                 .per_group = arguments.per_group,
                                 .threads = arguments.threads,
                                 .on_progress = [&](int done, int total) { progress.show(done, total); }});
  }
  // A framework that used other statistics differs from this network, folded or not.
  for (const Diagnostic& warning : program.journal.warnings) fmt::print(stderr, "{}\n", to_string(warning));
  if (arguments.json) {
    print_json(arguments.model, frames, report);
  } else {
    print_text(arguments.model, frames, report);
  }
  return report.parity() ? k_ok : k_check_failed;
}

void add_frame_options(CLI::App& verb, VerifyArguments& a) {
  CLI::Option* frames = verb.add_option("--frames", a.frames, "pictures, folders of pictures or IDX files");
  verb.add_option("--random", a.random, "N frames of seeded noise")
      ->check(CLI::PositiveNumber)
      ->excludes(frames);
  verb.add_option("--count", a.count, "number of frames (default 200)")->check(CLI::PositiveNumber);
  verb.add_option("--seed", a.seed, "of noise, crops and brightness");
  verb.add_option("--range", a.range, "of noise: LOW HIGH")->expected(2);
  verb.add_option("--image", a.images,
                  "mean=127,scale=0.0078125,order=rgb|bgr|gray,resize=stretch|letterbox");
  verb.add_option("--preprocessing", a.preprocessing, "a file in the form of MODEL.json");
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("verify", "proves that the compiled network gives the same answers");
  const auto arguments = std::make_shared<VerifyArguments>();
  verb->add_option("MODEL", arguments->model, "an ONNX file")->required();
  add_frame_options(*verb, *arguments);
  verb->add_option("--artefact", arguments->artefact, "the model.so to prove, instead of compiling");
  verb->add_option("--threads", arguments->threads, "frames compared at once")->check(CLI::Range(1, 256));
  verb->add_flag("--per-group", arguments->per_group, "compares the result of every group on every frame");
  verb->add_flag("--strict", arguments->strict, "parity at the network's own float accuracy does not count");
  verb->add_flag("--json", arguments->json, "prints JSON");
  add_compile_options(*verb, arguments->compile);
  verb->callback([arguments, &exit_code] { exit_code = verify_model(*arguments); });
}

}  // namespace onepass::tool
