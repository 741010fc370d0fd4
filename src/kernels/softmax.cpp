// SPDX-License-Identifier: Apache-2.0
//
// Three passes over each line: its greatest value; exp(x - greatest) into dst, and their sum; the division.
// LogSoftmax stores nothing in the second pass. A NaN anywhere, or an infinite greatest value, reaches the
// sum as NaN and from there the whole line. Where neighbouring lines are contiguous (or lines are short),
// lanes are lines; else they are elements of one line, added in a fixed order.
#include <limits>
#include <vector>

#include "base/diagnostic.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"
#include "kernels/vector_math.h"
#include "kernels/vector_terms.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::Value;
using namespace terms;

constexpr int64_t k_chains = 4;   ///< vectors at work together: enough to hide the latency of exp
constexpr int64_t k_chunk = 128;  ///< terms of one running sum

using Active = std::optional<int>;

/// What the two ways to go over lines share. Registers have a slot for each vector at work.
struct Softmax {
  Softmax(const std::string& name, const SoftmaxSpec& s, const targets::Target& target)
      : spec(s),
        lanes(target.vector_lanes),
        b(name),
        src(input_map(b, "src", s.src)),
        dst(output_map(b, "dst", s.dst)),
        greatest(b.registers("greatest", {loops::Scalar::f32, lanes}, k_chains)),
        exponential(b.registers("exponential", {loops::Scalar::f32, lanes}, k_chains)),
        part(b.registers("part", {loops::Scalar::f32, lanes}, k_chains)),
        sum(b.registers("sum", {loops::Scalar::f32, lanes}, k_chains)) {}

  /// exp(x - greatest), stored unless the result is a logarithm.
  Value term(int64_t slot, const Affine& index, int64_t stride, Active active) {
    const Value shifted = sub(load(src, index, stride, active), b.read(greatest, slot));
    b.assign(exponential, slot, exp_of_negative(shifted));
    if (!spec.log) store(index, stride, b.read(exponential, slot), active);
    return b.read(exponential, slot);
  }

  /// What the last pass multiplies with, or subtracts.
  Value divisor(const Value& total) const { return spec.log ? log(total) : div(number(1, total), total); }

  void divide(int64_t slot, const Affine& index, int64_t stride, Active active) {
    const Value divisor = b.read(sum, slot);
    const Value result = spec.log
                             ? sub(sub(load(src, index, stride, active), b.read(greatest, slot)), divisor)
                             : mul(load(dst, index, stride, active), divisor);
    store(index, stride, result, active);
  }

  Value load(loops::BufferId buffer, const Affine& index, int64_t stride, Active active) const {
    return stride == 1 ? b.load(buffer, index, lanes, active)
                       : b.load_strided(buffer, index, lanes, stride, active);
  }

  void store(const Affine& index, int64_t stride, const Value& value, Active active) {
    if (stride == 1) return b.store(dst, index, value, active);
    b.store_strided(dst, index, value, stride, active);
  }

  const SoftmaxSpec& spec;
  const int lanes;
  loops::Builder b;
  const loops::BufferId src, dst;
  const loops::RegisterId greatest, exponential, part, sum;
};

// ---- lanes are lines --------------------------------------------------------------------------------------

/// `planes` times `lines` lines: line l of plane p starts at p * plane_stride + l * line_stride, its elements
/// are `step` apart.
struct Lines {
  int64_t planes, plane_stride;
  int64_t lines, line_stride;
  int64_t extent, step;
};

/// Short lines in gathers cost less than vectors that are mostly empty.
bool gathers(const SoftmaxSpec& spec, int lanes) {
  return 2 * spec.src.c <= lanes && 2 * spec.src.n >= lanes;
}

Lines lines_of(const SoftmaxSpec& spec) {
  const FeatureMap& map = spec.src;
  if (map.w == 1)
    return {.planes = 1, .plane_stride = 0, .lines = map.n, .line_stride = map.c, .extent = map.c, .step = 1};
  return {.planes = map.n,
          .plane_stride = map.c * map.w,
          .lines = map.w,
          .line_stride = 1,
          .extent = map.c,
          .step = map.w};
}

/// Vectors of lines that are at work together; the last one may be in part.
struct Strip {
  Affine begin;  ///< index of the first line's first element
  int64_t whole;
  int rest;
};

class LanesAreLines {
 public:
  LanesAreLines(Softmax& softmax, const Lines& lines) : s_(softmax), b_(softmax.b), lines_(lines) {}

  void build() {
    const int64_t width = s_.lanes * k_chains;
    const int64_t strips = (lines_.lines + width - 1) / width;
    const int64_t left = lines_.lines % width;
    const RowGrid grid{.blocks = lines_.planes, .rows = strips, .row_work_elems = lines_.extent * width};
    for_each_row(b_, grid, [&](const RowPosition& row) {
      const Affine begin = row.channel_block * lines_.plane_stride + row.y * (width * lines_.line_stride);
      const auto full = [&] { write_strip({begin, k_chains, 0}); };
      const auto last = [&] { write_strip({begin, left / s_.lanes, static_cast<int>(left % s_.lanes)}); };
      if (left == 0) return full();
      if (strips == 1) return last();
      b_.when(loops::Compare::eq, row.y, strips - 1, last, full);
    });
  }

 private:
  void write_strip(const Strip& strip) {
    const int64_t stride = lines_.line_stride;
    each_vector(strip, [&](int64_t slot, const Affine& at, Active active) {
      b_.assign(s_.greatest, slot, s_.load(s_.src, at, stride, active));
    });
    each_element(1, lines_.extent, [&](const Affine& offset) {
      each_vector(strip, [&](int64_t slot, const Affine& at, Active active) {
        const Value x = s_.load(s_.src, at + offset, stride, active);
        b_.assign(s_.greatest, slot, max(x, b_.read(s_.greatest, slot)));
      });
    });
    sum_terms(strip);
    each_vector(strip, [&](int64_t slot, const Affine&, Active) {
      b_.assign(s_.sum, slot, s_.divisor(b_.read(s_.sum, slot)));
    });
    each_element(0, lines_.extent, [&](const Affine& offset) {
      each_vector(strip, [&](int64_t slot, const Affine& at, Active active) {
        s_.divide(slot, at + offset, stride, active);
      });
    });
  }

  /// sum = the terms, added chunk by chunk.
  void sum_terms(const Strip& strip) {
    clear(strip, s_.sum);
    const int64_t whole = lines_.extent / k_chunk * k_chunk;
    if (whole > 0)
      b_.loop("chunk", 0, whole, k_chunk, [&](Affine chunk) {
        clear(strip, s_.part);
        add_terms(strip, s_.part, chunk, chunk + k_chunk);
        each_vector(strip, [&](int64_t slot, const Affine&, Active) {
          b_.assign(s_.sum, slot, add(b_.read(s_.sum, slot), b_.read(s_.part, slot)));
        });
      });
    if (whole < lines_.extent) add_terms(strip, s_.sum, whole, lines_.extent);
  }

  void add_terms(const Strip& strip, loops::RegisterId into, const Affine& begin, const Affine& end) {
    each_element(begin, end, [&](const Affine& offset) {
      each_vector(strip, [&](int64_t slot, const Affine& at, Active active) {
        const Value term = s_.term(slot, at + offset, lines_.line_stride, active);
        b_.assign(into, slot, add(b_.read(into, slot), term));
      });
    });
  }

  void clear(const Strip& strip, loops::RegisterId reg) {
    each_vector(strip, [&](int64_t slot, const Affine&, Active) {
      b_.assign(reg, slot, loops::constant(0, s_.lanes));
    });
  }

  template <class Body>
  void each_element(const Affine& begin, const Affine& end, Body body) {
    if (begin == end) return;
    b_.loop("element", begin, end, 1, [&](Affine element) { body(element * lines_.step); });
  }

  template <class Body>
  void each_vector(const Strip& strip, Body body) {
    const int64_t step = s_.lanes * lines_.line_stride;
    for (int64_t slot = 0; slot < strip.whole; ++slot) body(slot, strip.begin + slot * step, Active{});
    if (strip.rest > 0) body(strip.whole, strip.begin + strip.whole * step, Active{strip.rest});
  }

  Softmax& s_;
  loops::Builder& b_;
  const Lines lines_;
};

// ---- lanes are elements of a line -------------------------------------------------------------------------

class LanesAreElements {
 public:
  explicit LanesAreElements(Softmax& softmax) : s_(softmax), b_(softmax.b), extent_(softmax.spec.src.c) {}

  void build() {
    const RowGrid grid{.rows = s_.spec.src.n, .row_work_elems = extent_};
    for_each_row(b_, grid, [&](const RowPosition& row) { write_line(row.y * extent_); });
  }

 private:
  void write_line(const Affine& line) {
    constexpr double k_lowest = -std::numeric_limits<double>::infinity();
    fill(s_.greatest, k_lowest);
    each_vector(line, [&](int64_t slot, const Affine& at, Active active) {
      const Value x = or_else(s_.load(s_.src, at, 1, active), active, k_lowest);
      b_.assign(s_.greatest, slot, max(x, b_.read(s_.greatest, slot)));
    });
    const Value greatest = across(s_.greatest, max);
    spread(s_.greatest, greatest);
    fill(s_.sum, 0);
    each_vector(line, [&](int64_t slot, const Affine& at, Active active) {
      const Value term = or_else(s_.term(slot, at, 1, active), active, 0);
      b_.assign(s_.sum, slot, add(b_.read(s_.sum, slot), term));
    });
    spread(s_.sum, s_.divisor(across(s_.sum, add)));
    each_vector(line, [&](int64_t slot, const Affine& at, Active active) { s_.divide(slot, at, 1, active); });
  }

  /// All vectors of a line, in turn over the chains.
  template <class Body>
  void each_vector(const Affine& line, Body body) {
    const int64_t width = s_.lanes * k_chains;
    const int64_t whole = extent_ / width * width;
    if (whole > 0)
      b_.loop("element", 0, whole, width, [&](Affine element) {
        for (int64_t slot = 0; slot < k_chains; ++slot)
          body(slot, line + element + slot * s_.lanes, Active{});
      });
    for (int64_t slot = 0, at = whole; at < extent_; ++slot, at += s_.lanes) {
      const int64_t left = extent_ - at;
      body(slot, line + at, left < s_.lanes ? Active{static_cast<int>(left)} : Active{});
    }
  }

  void fill(loops::RegisterId reg, double value) { spread(reg, loops::constant(value, s_.lanes)); }

  void spread(loops::RegisterId reg, const Value& value) {
    b_.assign(reg, 0, value);
    for (int64_t slot = 1; slot < k_chains; ++slot) b_.assign(reg, slot, b_.read(reg));
  }

  /// All lanes of all slots, joined in pairs; each lane of the result is the same.
  template <class Join>
  Value across(loops::RegisterId reg, Join join) {
    Value result = join(join(b_.read(reg, 0), b_.read(reg, 1)), join(b_.read(reg, 2), b_.read(reg, 3)));
    for (int half = s_.lanes / 2; half > 0; half /= 2) {
      std::vector<int> turned(s_.lanes);
      for (int lane = 0; lane < s_.lanes; ++lane) turned[lane] = (lane + half) % s_.lanes;
      result = join(result, loops::shuffle(result, result, turned));
    }
    return result;
  }

  Value or_else(const Value& value, Active active, double otherwise) const {
    if (!active) return value;
    return loops::select(loops::Compare::lt, loops::lane_index(s_.lanes),
                         loops::constant_i32(*active, s_.lanes), value, loops::constant(otherwise, s_.lanes));
  }

  Softmax& s_;
  loops::Builder& b_;
  const int64_t extent_;
};

bool is_one_run(const FeatureMap& map) {
  return map.block == 1 && map.h == 1 && map.offset == 0 && map.scalar == loops::Scalar::f32 &&
         map_is_contiguous(map);
}

}  // namespace

loops::LoopNest softmax(const std::string& name, const SoftmaxSpec& spec, const targets::Target& target) {
  require(is_one_run(spec.src) && spec.src == spec.dst, "softmax maps are plain, without gaps, and the same");
  Softmax shared(name, spec, target);
  if (spec.src.w > 1 || gathers(spec, target.vector_lanes)) {
    LanesAreLines(shared, lines_of(spec)).build();
  } else {
    LanesAreElements(shared).build();
  }
  return shared.b.finish();
}

Estimate estimate_softmax(const SoftmaxSpec& spec) {
  constexpr double k_flops_per_element = 25;  // exp is 20; the greatest value, the sum, the division
  const double flops = k_flops_per_element * static_cast<double>(spec.dst.values());
  return {.flops = flops,
          .executed_flops = flops,
          .pointwise_flops = flops,
          .bytes_read = value_bytes(spec.src),
          .bytes_written = value_bytes(spec.dst)};
}

}  // namespace onepass::kernels
