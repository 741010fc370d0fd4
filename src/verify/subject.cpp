// SPDX-License-Identifier: Apache-2.0
#include "verify/subject.h"

#include <algorithm>
#include <cstring>

#include "base/diagnostic.h"

namespace onepass::verify {

namespace {

/// Row-major bytes under the actual extents: a counted axis is the first, so that its rows are a prefix.
ir::Tensor take(const ir::TensorType& type, ir::Shape dims, const std::byte* from) {
  require(type.counted_axis <= 0 || dims == type.dims ||
              std::all_of(type.dims.begin(), type.dims.begin() + type.counted_axis,
                          [](int64_t d) { return d == 1; }),
          "rows of a counted axis are a prefix");
  ir::Tensor tensor(type.dtype, std::move(dims));
  if (tensor.size_bytes() > 0) std::memcpy(tensor.bytes(), from, static_cast<size_t>(tensor.size_bytes()));
  return tensor;
}

ir::Tensor gather(const ir::TensorType& type, const Layout& layout, const std::byte* from) {
  ir::Tensor tensor(type.dtype, type.dims);
  const auto* elements = reinterpret_cast<const float*>(from);
  float* to = tensor.data<float>().data();
  require(layout.n * layout.c * layout.h * layout.w == tensor.size(), "a layout holds the value");
  for (int64_t n = 0; n < layout.n; ++n)
    for (int64_t c = 0; c < layout.c; ++c)
      for (int64_t y = 0; y < layout.h; ++y) {
        const float* row = elements + layout.origin + n * layout.batch_stride +
                           c / layout.block * layout.plane_stride + y * layout.row_stride + c % layout.block;
        for (int64_t x = 0; x < layout.w; ++x) *to++ = row[x * layout.block];
      }
  return tensor;
}

const std::byte* address(runtime::Session& session, const artefact::OperandRecord& place) {
  switch (place.space) {
    case artefact::Space::arena:
      return static_cast<const std::byte*>(session.arena()) + place.offset_bytes;
    case artefact::Space::input:
      return static_cast<const std::byte*>(session.input(place.index)) + place.offset_bytes;
    case artefact::Space::output:
      return static_cast<const std::byte*>(session.output(place.index)) + place.offset_bytes;
    case artefact::Space::weights:
      break;
  }
  throw InternalError("a probe reads the arena, an input or an output");
}

/// Reads probes on the way through one run.
class Reader {
 public:
  Reader(const Subject& subject, runtime::Session& session) : subject_(subject), session_(session) {}

  void want(const Probe& probe, ir::Tensor* to) { wanted_.push_back({&probe, to}); }

  void run() {
    const auto earlier = [](const auto& a, const auto& b) { return a.first->launch < b.first->launch; };
    std::sort(wanted_.begin(), wanted_.end(), earlier);
    int32_t done = 0;
    for (const auto& [probe, to] : wanted_) {
      session_.run_launches(done, probe->launch);
      done = probe->launch;
      *to = read(*probe);
    }
  }

 private:
  ir::Tensor read(const Probe& probe) {
    const ir::TensorType& type = subject_.reference->value(probe.value).type;
    const std::byte* from = address(session_, probe.place);
    if (probe.layout) return gather(type, *probe.layout, from);
    ir::Shape dims = type.dims;
    if (probe.count) {
      int64_t extent = 0;
      std::memcpy(&extent, address(session_, *probe.count), sizeof(extent));
      int64_t& bound = dims[static_cast<size_t>(type.counted_axis)];
      require(extent >= 0 && extent <= bound, "a count keeps its bound");
      bound = extent;
    }
    return take(type, std::move(dims), from);
  }

  const Subject& subject_;
  runtime::Session& session_;
  std::vector<std::pair<const Probe*, ir::Tensor*>> wanted_;
};

}  // namespace

FusedRun run_fused(const Subject& subject, runtime::Session& session, const std::vector<ir::Tensor>& inputs,
                   bool with_groups) {
  const ir::Graph& graph = *subject.reference;
  for (size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(session.input(static_cast<int>(i)), inputs[i].bytes(),
                static_cast<size_t>(inputs[i].size_bytes()));
  FusedRun result;
  session.run();
  for (size_t o = 0; o < graph.outputs().size(); ++o) {
    const ir::TensorType& type = graph.value(graph.outputs()[o].value).type;
    result.outputs.push_back(take(type, session.output_dims(static_cast<int>(o)),
                                  static_cast<const std::byte*>(session.output(static_cast<int>(o)))));
  }
  Reader reader(subject, session);
  result.choices.resize(subject.selections.size());
  result.selection_inputs.resize(subject.selections.size());
  for (size_t s = 0; s < subject.selections.size(); ++s) {
    const Selection& selection = subject.selections[s];
    result.selection_inputs[s].resize(selection.inputs.size());
    for (size_t i = 0; i < selection.inputs.size(); ++i)
      reader.want(selection.inputs[i], &result.selection_inputs[s][i]);
    reader.want(selection.choice, &result.choices[s]);
  }
  result.groups.resize(with_groups ? subject.groups.size() : 0);
  for (size_t g = 0; g < result.groups.size(); ++g) reader.want(subject.groups[g], &result.groups[g]);
  reader.run();
  return result;
}

}  // namespace onepass::verify
