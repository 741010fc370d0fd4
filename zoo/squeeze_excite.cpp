// SPDX-License-Identifier: Apache-2.0
#include "zoo/squeeze_excite.h"

namespace onepass::zoo {

ValueId squeeze_excite(Builder& net, ValueId x, const std::string& prefix, const SqueezeExcite& shape) {
  ValueId gate = net.global_avgpool(x, prefix + ".avgpool");
  gate = net.conv(gate, prefix + ".fc1", shape.squeeze, same_window(1), {.has_bias = true});
  gate = (net.*shape.inner)(gate, prefix + ".activation");
  gate = net.conv(gate, prefix + ".fc2", net.channels(x), same_window(1), {.has_bias = true});
  gate = (net.*shape.gate)(gate, prefix + ".scale_activation");
  return net.scale(x, gate, prefix + ".mul");
}

}  // namespace onepass::zoo
