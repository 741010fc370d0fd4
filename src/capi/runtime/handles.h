// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "onepass/runtime.h"
#include "runtime/loaded_model.h"

struct onepass_loaded {
  explicit onepass_loaded(onepass::runtime::LoadedModel loaded);

  /// Shared with the sessions: they may outlive the handle.
  std::shared_ptr<const onepass::runtime::LoadedModel> model;
  std::vector<onepass_tensor_info> inputs, outputs;
};

struct onepass_session {
  onepass_session(const onepass_loaded& loaded, int threads);

  std::shared_ptr<const onepass::runtime::LoadedModel> model;
  onepass::runtime::Session session;
  bool has_run = false;
};
