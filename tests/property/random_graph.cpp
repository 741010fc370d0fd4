// SPDX-License-Identifier: Apache-2.0
#include "property/random_graph.h"

#include "property/blocks.h"

namespace onepass::test {

namespace {

struct Weighted {
  Block block;
  int weight;
};

constexpr Weighted k_blocks[] = {{conv, 6},
                                 {conv_batch_norm_activation, 10},
                                 {residual, 9},
                                 {shared_weights, 2},
                                 {transposed_conv, 1},
                                 {head, 3},
                                 {activation, 5},
                                 {batch_norm, 3},
                                 {affine, 5},
                                 {binary, 5},
                                 {decomposed, 3},
                                 {gate, 3},
                                 {pool, 5},
                                 {concat, 5},
                                 {split, 2},
                                 {slice, 2},
                                 {pad, 3},
                                 {transpose, 2},
                                 {reshape, 3},
                                 {upsample, 2},
                                 {reduce, 1},
                                 {rearrange, 3},
                                 {spatial_gate, 1}};

Block pick_block(Random& random) {
  int total = 0;
  for (const Weighted& entry : k_blocks) total += entry.weight;
  int64_t ticket = random.below(total);
  for (const Weighted& entry : k_blocks) {
    ticket -= entry.weight;
    if (ticket < 0) return entry.block;
  }
  return conv;
}

void add_inputs(NetworkBuilder& net) {
  Random& random = net.random;
  const int64_t extent = random.chance(0.15) ? 21 : 13;
  const ir::Shape dims = {random.chance(0.3) ? 2 : 1,
                          random.pick(std::vector<int64_t>{1, 3, 3, 5, 8, 16, 19}), random.between(3, extent),
                          random.between(3, extent)};
  net.input(dims);
  if (random.chance(0.3)) net.input(dims);
}

/// Everything that nobody reads, and sometimes a value inside, or a second name for an output.
void add_outputs(NetworkBuilder& net) {
  std::vector<Item> inside;
  const std::vector<Item> items = net.items();
  int outputs = 0;
  for (const Item& item : items) {
    if (item.name[0] != 'v') continue;
    inside.push_back(item);
    if (net.is_read(item.name)) continue;
    net.output(item.name);
    ++outputs;
  }
  if (outputs == 0) net.output("\"first input\" = x0");
  if (!inside.empty() && net.random.chance(0.5)) net.output("inside = " + net.random.pick(inside).name);
}

}  // namespace

std::string random_graph(uint32_t seed) {
  NetworkBuilder net(seed);
  add_inputs(net);
  const int64_t blocks = net.random.between(3, 8);
  for (int64_t b = 0; b < blocks; ++b) pick_block(net.random)(net);
  add_outputs(net);
  return graph_text(without_unread(net.statements()));
}

}  // namespace onepass::test
