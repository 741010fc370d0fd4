// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace onepass::inside {

/// term(begin) + ... + term(end - 1), halves added as a balanced tree: the order in which the reference
/// interpreter sums.
template <class E, class Term>
E pairwise_sum(int64_t begin, int64_t end, const Term& term) {
  constexpr int64_t k_leaf = 32;
  if (end - begin > k_leaf) {
    const int64_t middle = begin + (end - begin) / 2;
    return pairwise_sum<E>(begin, middle, term) + pairwise_sum<E>(middle, end, term);
  }
  E sum = 0;
  for (int64_t i = begin; i < end; ++i) sum += term(i);
  return sum;
}

}  // namespace onepass::inside
