// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "verify/preprocess.h"

namespace onepass::verify {

struct FrameOptions {
  /// Pictures, folders of pictures (searched through, in the order of names) and IDX files of pictures.
  /// None: seeded noise, uniform in [low, high).
  std::vector<std::string> paths;
  int count = 200;
  uint64_t seed = 1;
  double low = -1, high = 1;
  PreprocessByInput preprocessing;  ///< inputs that are not named take Preprocess{}
};

/// What a network is fed. Every picture comes whole once, evenly chosen when there are more than frames; then
/// seeded crops and changes of brightness follow. Thread-safe.
class Frames {
 public:
  /// Throws Error("no_frames" | "cannot_read" | "bad_input").
  Frames(const ir::Graph& graph, FrameOptions options);

  int count() const { return options_.count; }
  std::string name(int frame) const;
  /// One tensor per graph input. A batch of n takes n pictures.
  std::vector<ir::Tensor> at(int frame) const;

 private:
  struct Source {
    std::string path;
    int64_t offset_bytes = -1;  ///< in an IDX file; -1: a picture
    int width = 0, height = 0;
  };
  void add(const std::string& path);
  void add_idx(const std::string& path);
  Image load(const Source& source) const;
  size_t source_of(int64_t picture) const;
  Image picture(int64_t number) const;
  ir::Tensor pictures(const ir::Value& input, int frame) const;

  const ir::Graph& graph_;
  FrameOptions options_;
  std::vector<Source> sources_;
  int64_t pictures_per_frame_ = 1;
};

/// Element i = low + (high - low) * s_i / 2^32 rounded to f32, s_i+1 = 1664525 s_i + 1013904223 mod 2^32,
/// s_0 the successor of 12345.
ir::Tensor lcg_tensor(const ir::Shape& shape, double low, double high);

/// The labels of an IDX file.
std::vector<int> read_idx_labels(const std::string& path);

}  // namespace onepass::verify
