// SPDX-License-Identifier: Apache-2.0
#include "zoo/topologies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "zoo/networks.h"

namespace onepass::zoo {

namespace {

struct Topology {
  const char* name;
  ir::Graph (*make)(uint64_t seed);
};

constexpr Topology k_topologies[] = {
    {"resnet18", resnet18},
    {"resnet50", resnet50},
    {"vgg16_bn", vgg16_bn},
    {"mobilenet_v2", mobilenet_v2},
    {"mobilenet_v3_large", mobilenet_v3_large},
    {"mnasnet1_0", mnasnet1_0},
    {"squeezenet1_1", squeezenet1_1},
    {"densenet121", densenet121},
    {"shufflenet_v2_x1_0", shufflenet_v2_x1_0},
    {"efficientnet_b0", efficientnet_b0},
    {"regnet_y_400mf", regnet_y_400mf},
    {"inception_v3", inception_v3},
    {"yolov5n", yolov5n},
    {"yolov8n", yolov8n},
    {"yolo11n", yolo11n},
    {"yolo_nms", yolo_nms},
};

}  // namespace

std::vector<std::string> topology_names() {
  std::vector<std::string> names;
  for (const Topology& topology : k_topologies) names.emplace_back(topology.name);
  return names;
}

ir::Graph make_topology(const std::string& name, uint64_t seed) {
  for (const Topology& topology : k_topologies)
    if (topology.name == name) return topology.make(seed);
  throw Error({.code = "unknown_topology",
               .message = fmt::format("'{}' is no topology of the zoo", name),
               .accepted = fmt::format("{}", fmt::join(topology_names(), ", "))});
}

}  // namespace onepass::zoo
