// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/files.h"
#include "loops/tiles.h"
#include "plan/channel_rows.h"
#include "plan/lowering.h"

namespace onepass::plan {

namespace {

constexpr int64_t k_weights_alignment_bytes = 64;
constexpr size_t k_hashed_bytes = 4096;  ///< of a weight: enough to tell most apart

/// Plain values laid out under `map`, halo and tail lanes zero.
std::vector<float> lay_out(std::span<const float> plain, const kernels::FeatureMap& map) {
  std::vector<float> memory(map.elems(), 0.0F);
  size_t i = 0;
  for (int64_t n = 0; n < map.n; ++n)
    for (int64_t c = 0; c < map.c; ++c)
      for (int64_t y = 0; y < map.h; ++y)
        for (int64_t x = 0; x < map.w; ++x)
          memory[n * map.batch_stride + c / map.block * map.plane_stride +
                 (y + map.halo.top) * map.row_stride + (x + map.halo.left) * map.block + c % map.block] =
              plain[i++];
  return memory;
}

const char* name(Form form) {
  constexpr const char* k_names[] = {"plain", "padded", "blocked", "rows"};
  return k_names[static_cast<int>(form)];
}

}  // namespace

kernels::FeatureMap Lowering::map(ir::ValueId value, Form form) const {
  if (form == Form::rows) return channel_rows(graph_, value).value().map;
  const kernels::FeatureMap own = map_of(
      graph_.value(value).type, form, halos_[value.index][static_cast<int>(form)], target_, options_.storage);
  return form == Form::blocked ? placed_map(value, own) : own;
}

int32_t Lowering::read(ir::ValueId value, Form form) {
  auto& slots = buffers_[value.index];
  int32_t& slot = slots[static_cast<int>(form)];
  if (slot >= 0) return slot;
  if (graph_.is_constant(value)) return slot = constant(value, form);
  const Form native = forms_[value.index];
  const bool same_bytes = options_.storage == loops::Scalar::f32 && form != Form::padded &&
                          native != Form::padded && blocked_is_plain(graph_.value(value).type, target_) &&
                          halos_[value.index][static_cast<int>(Form::blocked)].empty();
  if (same_bytes) return slot = slots[static_cast<int>(native)];
  return slot = convert(value, native, form);
}

int32_t Lowering::write(ir::ValueId value, Form form) {
  const ir::Value& v = graph_.value(value);
  const bool plain = form == Form::plain;
  Buffer buffer{.name = plain ? v.name : fmt::format("{} {}", v.name, name(form)), .value = value};
  buffer.size_bytes =
      plain ? ir::element_count(v.type.dims) * ir::size_bytes(v.type.dtype) : map(value, form).bytes();
  if (!plain) buffer.map = map(value, form);
  if (form == Form::blocked && placement_.placed(value)) put_inside(buffer, placement_.of_value[value.index]);
  const bool written_plain = form == (forms_[value.index] == Form::rows ? Form::rows : Form::plain);
  if (written_plain && plain_.placed(value)) {
    put_plain_inside(buffer, plain_.of_value[value.index]);
  } else if (plain && output_of_[value.index] >= 0) {
    buffer.space = BufferSpace::output;
    buffer.index = output_of_[value.index];
  }
  return buffers_[value.index][static_cast<int>(form)] = add_buffer(std::move(buffer));
}

int32_t Lowering::convert(ir::ValueId value, Form from, Form to) {
  const int32_t src = buffers_[value.index][static_cast<int>(from)];
  require(src >= 0, "a value is written before it is read");
  const kernels::LayoutSpec spec{map(value, from), map(value, to)};
  const int32_t dst = write(value, to);
  launch(-1, fmt::format("layout of '{}' to {}", graph_.value(value).name, name(to)), spec, {src}, dst);
  return dst;
}

int32_t Lowering::constant(ir::ValueId value, Form form) {
  const ir::Value& v = graph_.value(value);
  if (form == Form::plain)
    return add_weights(v.name, std::span(v.constant.bytes(), static_cast<size_t>(v.constant.size_bytes())));
  const kernels::FeatureMap layout = map(value, form);
  const std::vector<float> values = lay_out(v.constant.data<float>(), layout);
  if (layout.scalar == loops::Scalar::f32) return add_weights(v.name, values);
  std::vector<uint16_t> halves;
  for (const float element : values)
    halves.push_back(static_cast<uint16_t>(loops::pack_bf16(std::bit_cast<uint32_t>(element), 0)));
  return add_weights(v.name, std::as_bytes(std::span(halves)));
}

int32_t Lowering::add_buffer(Buffer buffer) {
  plan_.buffers.push_back(std::move(buffer));
  return static_cast<int32_t>(plan_.buffers.size() - 1);
}

int32_t Lowering::add_weights(const std::string& name, std::span<const float> values) {
  return add_weights(name, std::as_bytes(values));
}

int32_t Lowering::add_weights(const std::string& name, std::span<const std::byte> bytes) {
  std::vector<std::byte>& image = plan_.weights;
  const uint64_t hash = hash_bytes(bytes.first(std::min<size_t>(bytes.size(), k_hashed_bytes)), bytes.size());
  const auto [first, last] = weights_by_hash_.equal_range(hash);
  for (auto found = first; found != last; ++found) {
    const Buffer& known = plan_.buffers[found->second];
    if (known.size_bytes == static_cast<int64_t>(bytes.size()) &&
        std::equal(bytes.begin(), bytes.end(), image.begin() + known.offset_bytes))
      return found->second;
  }
  const auto offset = static_cast<int64_t>(image.size());
  image.insert(image.end(), bytes.begin(), bytes.end());
  image.resize((image.size() + k_weights_alignment_bytes - 1) / k_weights_alignment_bytes *
               k_weights_alignment_bytes);
  const int32_t buffer = add_buffer({.name = name,
                                     .space = BufferSpace::weights,
                                     .size_bytes = static_cast<int64_t>(bytes.size()),
                                     .offset_bytes = offset});
  weights_by_hash_.emplace(hash, buffer);
  return buffer;
}

}  // namespace onepass::plan
