// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "patterns/join.h"

namespace onepass::test {

/// `join ANCHOR NEXT legal RULE` or `join ANCHOR NEXT refused RULE C2`; RULE "-" means that no rule applies.
struct JoinLine {
  std::string anchor, next, verdict, rule, condition;
};

/// One text case:
///
///   case conv_batchnorm_C3_overridable
///     expect refused conv_batchnorm C3      # also: applied PATTERN N, nodes OP..., warning CODE...,
///     expect nodes Conv BatchNormalization  # reason WORDS, origins NODE NAME..., outputs NAME...
///     option stop_after 1                   # also: disabled PATTERN, max_folded_bytes N, max_steps N,
///     residual split untyped                               # no shape inference and no execution: a graph
///     that inference refuses
///   graph g { ... }
struct Case {
  std::string file;  ///< "src/patterns/conv_batchnorm.graph"
  std::string name;
  std::string graph;
  std::vector<std::vector<std::string>> expectations;  ///< words behind `expect`
  std::vector<std::vector<std::string>> options;
  std::vector<JoinLine> joins;
  bool untyped = false;
};

inline void PrintTo(const Case& text_case, std::ostream* out) {
  *out << text_case.file << " " << text_case.name;
}

/// All cases of the *.graph files in a folder of the source tree, in file order.
std::vector<Case> load_cases(const std::string& folder);

/// Expects that are `expect VERB FIRST ...`.
bool expects(const Case& text_case, const std::string& verb, const std::string& first);

}  // namespace onepass::test
