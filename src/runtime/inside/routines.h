// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/kernel_abi.h"

// The plain routines. Each is a KernelFunction of its own name; operands are dense row-major, inputs first.
// plan/routine_call*.cpp writes their parameters.
//
// params[0]  work     units of the whole launch
// params[1]  step     units that one slice takes: slices = ceil(work / step)
// params[2..]         the routine's own, listed at each as (name, name[count], ...). A double is its bit
// pattern.
//                     Strides and offsets count elements. At most 16 axes, at least one.
//
// Axis tables, where named: for every axis in order `entries of the axis` values.
extern "C" {

using onepass::Call;

// dst[i0, i1, ...] = src[offset + i0 * strides[0] + ...]; the name's number is the element size in bytes.
// Operands src, dst; unit: an element. (offset, rank, dims[rank], strides[rank])
void onepass_copy_1(const Call* call, int64_t begin, int64_t end);
void onepass_copy_4(const Call* call, int64_t begin, int64_t end);
void onepass_copy_8(const Call* call, int64_t begin, int64_t end);

// Generated kernels in turn; params points to an artefact::StripesRecord instead. Operands are those of all
// members that lie outside; a slice is a stripe.
void onepass_stripes(const Call* call, int64_t begin, int64_t end);

// dst[i0, i1, ...] = src[table0[i0] + table1[i1] + ...], or the fill value where an entry is negative.
// Operands src, dst; unit: a row along the last axis. (fill bits, rank, dims[rank], tables[sum of dims])
void onepass_index_copy_1(const Call* call, int64_t begin, int64_t end);
void onepass_index_copy_4(const Call* call, int64_t begin, int64_t end);
void onepass_index_copy_8(const Call* call, int64_t begin, int64_t end);

// The same with the fill value read from an operand. Operands src, fill, dst. (rank, dims[rank], tables[sum
// of dims])
void onepass_index_copy_filled_1(const Call* call, int64_t begin, int64_t end);
void onepass_index_copy_filled_4(const Call* call, int64_t begin, int64_t end);
void onepass_index_copy_filled_8(const Call* call, int64_t begin, int64_t end);

// Parts of a tensor along one axis. Concat: operands part0, part1, ..., dst. Split: operands src, part0, ...
// Unit: one part's share of one row. (count, row_bytes, part_bytes[count], part_starts[count])
void onepass_concat(const Call* call, int64_t begin, int64_t end);
void onepass_split(const Call* call, int64_t begin, int64_t end);

// dst = src, which may be the same memory, with parts along one axis replaced. Operands src, part0, part1,
// ..., dst; unit: a row. (count, row_bytes, part_bytes[count], part_starts[count])
void onepass_replace_parts(const Call* call, int64_t begin, int64_t end);

// dst row (o, i) = src row (o, indices[i]). An index outside [-extent, extent) is bad input.
// Operands src, indices, dst; unit: a row of dst. (extent, index count, row_bytes)
void onepass_gather_i64(const Call* call, int64_t begin, int64_t end);
void onepass_gather_i32(const Call* call, int64_t begin, int64_t end);

// Operands src, dst; unit: a line along the axis. (extent, stride of the axis)
void onepass_softmax_f32(const Call* call, int64_t begin, int64_t end);
void onepass_log_softmax_f32(const Call* call, int64_t begin, int64_t end);

// Operands src, dst; unit: a channel of an image. (channels, plane elems, size, double alpha, double beta,
// double bias)
void onepass_lrn_f32(const Call* call, int64_t begin, int64_t end);

// Operands src, dst; unit: an element of dst. (kept rank, kept dims, kept strides, reduced rank, reduced
// dims, reduced strides), strides of the source. onepass_reduce_<mean|sum|max|min|prod>_<f32|i64|i32>.
#define ONEPASS_REDUCE(name, function, type_name, type) \
  void onepass_reduce_##name##_##type_name(const Call* call, int64_t begin, int64_t end);
#include "runtime/inside/reduce.def"
#undef ONEPASS_REDUCE

// Operands src, positions; unit: a line along the axis. (extent, stride of the axis, last of equals)
void onepass_arg_max_f32(const Call* call, int64_t begin, int64_t end);
void onepass_arg_max_i64(const Call* call, int64_t begin, int64_t end);
void onepass_arg_max_i32(const Call* call, int64_t begin, int64_t end);
void onepass_arg_max_i8(const Call* call, int64_t begin, int64_t end);
void onepass_arg_max_u8(const Call* call, int64_t begin, int64_t end);

// Operands src, values, positions; unit: a line along the axis. (extent, stride of the axis, k, largest).
// Best first, the lower position first among equals; NaN is above every number.
void onepass_top_k_f32(const Call* call, int64_t begin, int64_t end);
void onepass_top_k_i64(const Call* call, int64_t begin, int64_t end);
void onepass_top_k_i32(const Call* call, int64_t begin, int64_t end);

// Operands boxes, scores, rows, count; one slice; scratch: 4 bytes per box. Rows behind the count are zero.
// (batches, classes, boxes, bound of rows, most per class, double iou threshold, double score threshold,
// has score threshold, center form)
void onepass_non_max_suppression_f32(const Call* call, int64_t begin, int64_t end);

// Linear and cubic. Operands src, dst; unit: a row along the last axis; scratch: rank rows of dst.
// (double extrapolation value, rank, then for each axis: extent, taps, offsets[extent * taps], double
// weights[extent * taps]); an entry whose first offset is negative lies outside the crop.
void onepass_resize_f32(const Call* call, int64_t begin, int64_t end);

// Operands src, dst; unit: an element; no parameters. onepass_cast_<from>_<to>.
#define ONEPASS_CAST(from_name, from, to_name, to) \
  void onepass_cast_##from_name##_##to_name(const Call* call, int64_t begin, int64_t end);
#include "runtime/inside/cast.def"
#undef ONEPASS_CAST

// Operands condition (bool), yes, no, dst; unit: an element of dst. (rank, dims[rank], strides of the three
// inputs, 0 where they are broadcast)
void onepass_where_1(const Call* call, int64_t begin, int64_t end);
void onepass_where_4(const Call* call, int64_t begin, int64_t end);
void onepass_where_8(const Call* call, int64_t begin, int64_t end);

// Operands x0, x1, ..., dst with dst = f(...f(f(x0, x1), x2)...); unit: an element of dst. More than two
// where f keeps the element type. (operand count, rank, dims[rank], strides[rank] of each).
// onepass_<name>_<type>.
#define ONEPASS_BINARY(name, function, type_name, type, result) \
  void onepass_##name##_##type_name(const Call* call, int64_t begin, int64_t end);
#include "runtime/inside/binary.def"
#undef ONEPASS_BINARY

// Operands src, dst; unit: an element. (alpha, beta): doubles for float types. onepass_<name>_<type>.
#define ONEPASS_UNARY(name, function, type_name, type) \
  void onepass_##name##_##type_name(const Call* call, int64_t begin, int64_t end);
#include "runtime/inside/unary.def"
#undef ONEPASS_UNARY

// Min(high, Max(x, low)) with bounds read from operands; a NaN bound bounds nothing. Operands src, [low,]
// [high,] dst; unit: an element. (has low, has high)
void onepass_clip_between_f32(const Call* call, int64_t begin, int64_t end);
void onepass_clip_between_f64(const Call* call, int64_t begin, int64_t end);
void onepass_clip_between_i64(const Call* call, int64_t begin, int64_t end);
void onepass_clip_between_i32(const Call* call, int64_t begin, int64_t end);
void onepass_clip_between_i8(const Call* call, int64_t begin, int64_t end);
void onepass_clip_between_u8(const Call* call, int64_t begin, int64_t end);

// Operands a, b, dst; unit: a row of a matrix of dst. (columns, depth, step of a along k, step of b along k,
// step of b along n, rows, step of a along m, batch rank, batch dims, batch strides of a, batch strides of b)
void onepass_matmul_f32(const Call* call, int64_t begin, int64_t end);

// dst = alpha * a b + beta * c. Operands a, b, [c,] dst; unit: a row of dst. (columns, depth, step of a along
// k, step of b along k, step of b along n, step of a along m, double alpha, double beta, has c, step of c
// along m, step of c along n)
void onepass_gemm_f32(const Call* call, int64_t begin, int64_t end);

// A window is (src[3], kernel[3], strides[3], dilations[3], pads[3], dst[3]) over d h w.
// Operands src, weights, [bias,] dst. (src channels of a group, dst channels of a group, groups, has bias,
// window). Unit: a row of dst; conv_transpose: a channel of an image.
void onepass_conv_f32(const Call* call, int64_t begin, int64_t end);
void onepass_conv_transpose_f32(const Call* call, int64_t begin, int64_t end);

// Operands src, dst, [indices]; unit: a row of dst. (has indices, column-major indices, window)
void onepass_max_pool_f32(const Call* call, int64_t begin, int64_t end);
void onepass_max_pool_i8(const Call* call, int64_t begin, int64_t end);
void onepass_max_pool_u8(const Call* call, int64_t begin, int64_t end);
// Operands src, dst; unit: a row of dst. (count includes pads, end pads[3], window)
void onepass_average_pool_f32(const Call* call, int64_t begin, int64_t end);

// (x - mean) / sqrt(variance + epsilon) * scale + bias with statistics for every element of an image.
// Operands x, scale, bias, mean, variance, dst; unit: an element. (elements of an image, double epsilon)
void onepass_batch_normalization_elements_f32(const Call* call, int64_t begin, int64_t end);
// The same with statistics for every channel; unit: a channel of an image. (channels, elements of a channel,
// double epsilon)
void onepass_batch_normalization_channels_f32(const Call* call, int64_t begin, int64_t end);

}  // extern "C"
