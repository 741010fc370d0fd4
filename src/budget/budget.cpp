// SPDX-License-Identifier: Apache-2.0
#include "budget/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "budget/layers.h"
#include "budget/parallel.h"
#include "budget/sample.h"
#include "budget/screening.h"
#include "budget/sensitivity.h"
#include "ir/random_tensor.h"

namespace onepass::budget {

namespace {

using ir::NodeId;

const std::string& key_of(const ir::Graph& graph, NodeId node) {
  return graph.value(graph.node(node).outputs.at(0)).name;
}

std::vector<ir::Tensor> seeded_frame(const ir::Graph& graph, double least, double most) {
  std::vector<ir::Tensor> frame;
  for (ir::ValueId input : graph.inputs()) {
    const ir::TensorType& type = graph.value(input).type;
    const bool is_float = type.dtype == ir::DType::f32 || type.dtype == ir::DType::f64;
    const double low = is_float ? least : 0;
    const double high = is_float ? most : type.dtype == ir::DType::u8 ? 256 : 2;
    frame.push_back(ir::random_tensor(type.dtype, type.dims, frame.size() + 1, low, high));
  }
  return frame;
}

/// Values that bf16 cannot hold would come back as infinity or NaN.
bool splits_into_parts(const ir::Tensor& tensor) {
  constexpr float k_greatest_bf16 = 3.38e38F;
  const std::span<const float> values = tensor.data<float>();
  return std::all_of(values.begin(), values.end(), [](float v) { return std::fabs(v) <= k_greatest_bf16; });
}

/// Leaves the kernels of a layer that `keep` accepts.
template <class Keep>
void keep_kernels(ProductLayer& layer, const Keep& keep) {
  for (size_t k = layer.kernels.size(); k-- > 0;) {
    if (keep(layer.kernels[k])) continue;
    const auto at = static_cast<std::ptrdiff_t>(k);
    layer.kernels.erase(layer.kernels.begin() + at);
    layer.predicted_ns.erase(layer.predicted_ns.begin() + at);
    layer.errors.erase(layer.errors.begin() + at);
    layer.sampled.erase(layer.sampled.begin() + at);
  }
}

bool uses_parts(const kernels::KernelChoice& kernel) {
  return std::holds_alternative<kernels::ConvAmxChoice>(kernel);
}

/// One network and target with its budget.
class Assigner {
 public:
  Assigner(const ir::Graph& graph, const targets::Target& target, const Options& options)
      : graph_(graph), target_(target), options_(options), budget_(options.tolerance / k_margin) {}

  Assignment run();

 private:
  bool needs_measuring() const;
  void collect_frames();
  void measure();
  void refine();
  void refine(ProductLayer& layer, double sensitivity);
  Allocation allocate_checked();
  Allocation allocate_to_floor();
  double joint(std::map<ir::NodeId, double> error_of) const;
  std::map<ir::NodeId, double> fixed_errors() const;
  double checked(const std::vector<size_t>& chosen) const;
  std::vector<Layer> abstract() const;
  void report(const Allocation& allocation);
  void add_map_rounding(std::map<NodeId, double>& error_of) const;
  void round_maps(const Allocation& allocation);
  void explain(size_t chooser, const Layer& layer, size_t from, size_t to);

  const ir::Graph& graph_;
  const targets::Target& target_;
  const Options& options_;
  double budget_;
  std::vector<ProductLayer> layers_;
  std::vector<size_t> choosers_;  ///< layers with more than one kernel
  std::vector<Reference> references_;
  double beyond_ = 1;                  ///< of the most sensitive frame likely, over the references
  std::vector<double> sensitivities_;  ///< of choosers
  double predicted_ = 0;
  Assignment result_;
};

bool Assigner::needs_measuring() const {
  // Below the default every digit counts; above it, whatever rounds like f32 is taken for granted.
  if (options_.tolerance < k_default_tolerance) return !choosers_.empty();
  return std::any_of(layers_.begin(), layers_.end(), gains_from_loose);
}

void Assigner::collect_frames() {
  constexpr double k_contrast_of_pictures = 2;  // over noise: detectors see nothing in it
  if (options_.frames.empty())
    for (const auto& [low, high] : options_.ranges)
      references_.emplace_back(graph_, seeded_frame(graph_, low, high), k_contrast_of_pictures);
  std::vector<NodeId> nodes;
  for (const ProductLayer& layer : layers_) nodes.push_back(layer.node);
  const Screening screening = screen(graph_, options_.frames, nodes, {.threads = options_.threads});
  for (size_t frame : screening.frames) references_.emplace_back(graph_, options_.frames[frame]);
  beyond_ = screening.beyond;
}

void Assigner::measure() {
  std::vector<NodeId> nodes;
  bool known = true;
  for (size_t chooser : choosers_) {
    nodes.push_back(layers_[chooser].node);
    const auto found = options_.known.find(key_of(graph_, nodes.back()));
    known = known && found != options_.known.end();
    sensitivities_.push_back(known ? found->second : 0);
  }
  if (!known) {
    std::fill(sensitivities_.begin(), sensitivities_.end(), 0.0);
    for (const Reference& reference : references_) {
      const std::vector<double> of_frame =
          sensitivities(graph_, reference, nodes, {.threads = options_.threads});
      for (size_t i = 0; i < nodes.size(); ++i)
        sensitivities_[i] = std::max(sensitivities_[i], beyond_ * of_frame[i]);
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    result_.sensitivities[key_of(graph_, nodes[i])] = sensitivities_[i];
}

/// Sampled errors in place of declared ones, where they can matter.
void Assigner::refine() {
  in_parallel(static_cast<int>(choosers_.size()), options_.threads, [&](int i) {
    refine(layers_[choosers_[static_cast<size_t>(i)]], sensitivities_[static_cast<size_t>(i)]);
  });
}

void Assigner::refine(ProductLayer& layer, double sensitivity) {
  constexpr double k_negligible = 0.02;  // of an equal share of the budget
  const ir::Tensor& src = references_.front().value(graph_.node(layer.node).inputs[0]);
  const Operands operands = operands_of(graph_, layer.node, layer.family, src);
  const bool splits = splits_into_parts(src) && splits_into_parts(*operands.weights);
  const double share = budget_ / std::sqrt(static_cast<double>(choosers_.size()));
  // Phases take other weights than the node has: their declared errors stand.
  const bool samples = graph_.node(layer.node).op != ir::Op::ConvTranspose;
  if (!splits) keep_kernels(layer, [](const auto& kernel) { return !uses_parts(kernel); });
  for (size_t k = 0; k < layer.kernels.size(); ++k) {
    if (!samples || sensitivity * layer.errors[k] < k_negligible * share) continue;
    const auto sampled = sampled_error(layer.kernels[k], operands, target_);
    if (!sampled) continue;
    layer.errors[k] = *sampled;
    layer.sampled[k] = true;
  }
}

std::vector<Layer> Assigner::abstract() const {
  std::vector<Layer> layers;
  for (size_t i = 0; i < choosers_.size(); ++i)
    layers.push_back(to_layer(graph_, layers_[choosers_[i]], sensitivities_[i]));
  return layers;
}

/// The error at the outputs with the errors of several layers at once.
double Assigner::joint(std::map<NodeId, double> error_of) const {
  constexpr double k_visible = 1e-4;  // the reference rounds to f32 itself: smaller errors are magnified
  double greatest = 0;
  for (const auto& [node, error] : error_of) greatest = std::max(greatest, error);
  if (greatest == 0) return 0;
  const double factor = std::max(1.0, k_visible / greatest);
  for (auto& [node, error] : error_of) error *= factor;
  constexpr double k_affordable_flops = 1e10;
  const int draws = run_flops(graph_) < k_affordable_flops ? 2 : 1;
  std::vector<double> effects(references_.size() * static_cast<size_t>(draws));
  in_parallel(static_cast<int>(effects.size()), options_.threads, [&](int i) {
    effects[static_cast<size_t>(i)] =
        references_[static_cast<size_t>(i / draws)].effect(error_of, 1000 + static_cast<uint64_t>(i % draws));
  });
  double worst = 0;
  for (size_t frame = 0; frame < references_.size(); ++frame) {
    double sum = 0;
    for (int draw = 0; draw < draws; ++draw)
      sum += effects[frame * static_cast<size_t>(draws) + static_cast<size_t>(draw)];
    worst = std::max(worst, beyond_ * sum / draws / factor);
  }
  return worst;
}

/// The declared errors of the layers that have no choice.
std::map<NodeId, double> Assigner::fixed_errors() const {
  std::map<NodeId, double> error_of;
  for (const ProductLayer& layer : layers_)
    if (layer.kernels.size() == 1) error_of[layer.node] = layer.errors.front();
  return error_of;
}

/// The joint error with the chosen kernels, fixed layers included.
double Assigner::checked(const std::vector<size_t>& chosen) const {
  std::map<NodeId, double> error_of = fixed_errors();
  for (size_t i = 0; i < choosers_.size(); ++i)
    error_of[layers_[choosers_[i]].node] = layers_[choosers_[i]].errors[chosen[i]];
  return joint(std::move(error_of));
}

/// Allocates, and again with less where all errors together, those of the fixed layers too, come to more than
/// the layers one by one.
Allocation Assigner::allocate_checked() {
  constexpr int k_most_rounds = 4;
  constexpr double k_closer = 0.97;
  const std::vector<Layer> layers = abstract();
  double allowed = budget_, fixed = -1;
  for (int round = 0;; ++round) {
    const Allocation allocation = allocate(layers, allowed);
    const double together = checked(allocation.chosen);
    predicted_ = std::max(allocation.predicted, together);
    if (predicted_ <= budget_ || !allocation.holds) return allocation;
    if (fixed < 0) fixed = joint(fixed_errors());
    const double free = budget_ * budget_ - fixed * fixed, own = together * together - fixed * fixed;
    const bool again = round + 1 < k_most_rounds && free > 0 && own > 0;
    allowed = again ? k_closer * allocation.predicted * std::sqrt(std::min(1.0, free / own)) : 0;
  }
}

/// Where direct sums everywhere do not hold the budget either, float arithmetic itself is the limit: then
/// the layers together may put as much at the outputs as direct sums would, and parts of less than f32 are
/// out: one figure for all outputs cannot tell which of them could bear more.
Allocation Assigner::allocate_to_floor() {
  Allocation allocation = allocate_checked();
  if (predicted_ <= budget_) return allocation;
  const std::vector<size_t> direct(choosers_.size(), 0);
  double one_by_one = 0;
  for (const Layer& layer : abstract())
    one_by_one = std::hypot(one_by_one, contribution(layer, layer.candidates.front()));
  const double floor = std::max(one_by_one, checked(direct));
  result_.report.floor = floor;
  if (floor <= budget_) return allocation;
  budget_ = floor;
  for (size_t chooser : choosers_)
    keep_kernels(layers_[chooser], [](const auto& kernel) { return !is_loose(algorithm_of(kernel)); });
  return allocate_checked();
}

void Assigner::explain(size_t chooser, const Layer& layer, size_t from, size_t to) {
  const ProductLayer& product = layers_[chooser];
  const auto algorithm = [&](size_t k) { return algorithm_of(product.kernels[k]); };
  result_.report.demotions.push_back(
      {.node = layer.name,
       .from = algorithm(from),
       .to = algorithm(to),
       .reason = fmt::format("{} would put {:.2g} at the outputs, {} puts {:.2g}, of {:.2g} for all layers; "
                             "predicted {:.1f} us instead of {:.1f}",
                             name(algorithm(from)), contribution(layer, layer.candidates[from]),
                             name(algorithm(to)), contribution(layer, layer.candidates[to]), budget_,
                             product.predicted_ns[to] / 1e3, product.predicted_ns[from] / 1e3)});
}

void Assigner::report(const Allocation& allocation) {
  result_.report.measured = true;
  result_.report.predicted = predicted_;
  result_.report.holds = predicted_ <= options_.tolerance / k_margin;
  const std::vector<Layer> layers = abstract();
  for (size_t i = 0; i < layers.size(); ++i) {
    const ProductLayer& product = layers_[choosers_[i]];
    const size_t chosen = allocation.chosen[i];
    const Algorithm algorithm = algorithm_of(product.kernels[chosen]);
    result_.policies[key_of(graph_, product.node)] = policy_for(algorithm);
    const double part = contribution(layers[i], layers[i].candidates[chosen]) / budget_;
    result_.report.layers.push_back({.node = layers[i].name,
                                     .algorithm = algorithm,
                                     .error = product.errors[chosen],
                                     .sampled = product.sampled[chosen],
                                     .sensitivity = sensitivities_[i],
                                     .share = part * part,
                                     .predicted_us = product.predicted_ns[chosen] / 1e3});
    if (chosen != allocation.fastest[i]) explain(choosers_[i], layers[i], allocation.fastest[i], chosen);
  }
}

/// What rounding every map to bf16 adds: a layer that rounds its operands itself reads them as it would, the
/// others read rounded ones, and the sum of a residual is rounded again.
void Assigner::add_map_rounding(std::map<NodeId, double>& error_of) const {
  for (auto& [node, error] : error_of)
    if (error < k_round_bf16) error = std::hypot(error, k_round_bf16);
  for (NodeId node : graph_.topological_order()) {
    const ir::Op op = graph_.node(node).op;
    if (op != ir::Op::Add && op != ir::Op::Sub && op != ir::Op::Mul) continue;
    const auto& inputs = graph_.node(node).inputs;
    const bool computed = std::none_of(inputs.begin(), inputs.end(),
                                       [&](ir::ValueId input) { return graph_.is_constant(input); });
    if (computed) error_of[node] = std::sqrt(2.0) * k_round_bf16;
  }
}

/// Maps in bf16 where the budget bears it.
void Assigner::round_maps(const Allocation& allocation) {
  if (options_.tolerance < k_bf16_tolerance || !result_.report.holds) return;
  std::map<NodeId, double> error_of = fixed_errors();
  for (size_t i = 0; i < choosers_.size(); ++i)
    error_of[layers_[choosers_[i]].node] = layers_[choosers_[i]].errors[allocation.chosen[i]];
  add_map_rounding(error_of);
  const double together = joint(std::move(error_of));
  if (together > options_.tolerance / k_margin) return;
  result_.report.bf16_maps = true;
  result_.report.predicted = std::max(predicted_, together);
}

Assignment Assigner::run() {
  result_.report.tolerance = options_.tolerance;
  layers_ = product_layers(graph_, target_, options_.tolerance >= k_bf16_tolerance);
  for (size_t l = 0; l < layers_.size(); ++l)
    if (layers_[l].kernels.size() > 1) choosers_.push_back(l);
  if (!needs_measuring()) return std::move(result_);
  collect_frames();
  measure();
  refine();
  const Allocation allocation = allocate_to_floor();
  report(allocation);
  round_maps(allocation);
  return std::move(result_);
}

}  // namespace

Assignment assign(const ir::Graph& graph, const targets::Target& target, const Options& options) {
  return Assigner(graph, target, options).run();
}

std::string summary(const Report& report) {
  if (!report.measured)
    return fmt::format("error budget {:.2g}: only algorithms as accurate as a direct sum are at choice",
                       report.tolerance);
  std::string counts;
  for (Algorithm algorithm : k_algorithms) {
    const auto count = std::count_if(report.layers.begin(), report.layers.end(),
                                     [&](const LayerReport& layer) { return layer.algorithm == algorithm; });
    if (count > 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", name(algorithm), count);
  }
  const std::string verdict =
      report.holds ? "holds with a margin of 2"
                   : fmt::format("more than half of it; direct sums everywhere: {:.2g}", report.floor);
  return fmt::format("error budget {:.2g}: predicted {:.2g} at the outputs ({}); {}{}; {} demoted",
                     report.tolerance, report.predicted, verdict, counts,
                     report.bf16_maps ? ", maps in bf16" : "", report.demotions.size());
}

}  // namespace onepass::budget
