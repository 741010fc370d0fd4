// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/graph.h"

namespace onepass::passes {

// The passes of pipeline.cpp. Each returns whether it changed the graph; the graph is typed.

/// Removes nodes that hand on their input: Identity, Dropout, Cast to the same type, Reshape, Expand, Slice,
/// Pad, Transpose, Tile and Concat that move nothing. One that connects a graph output with a graph input, a
/// constant or another graph output stays, so that every output has its own producer.
bool eliminate_identity(ir::Graph& graph);

/// One spelling per meaning: Sum, Min and Max of many operands become chains of two, Transpose pairs one
/// Transpose, a ReduceMean over h and w a GlobalAveragePool, and the mask of a Dropout a constant.
bool normalise(ir::Graph& graph);

/// Computes nodes of constants, and Shape of a static type. A result of more than `max_bytes` is kept as a
/// node, unless it is smaller than the operands that it replaces. A node that computes a graph output stays.
bool fold_constants(ir::Graph& graph, int64_t max_bytes);

/// Removes nodes whose outputs nobody reads.
bool eliminate_dead_code(ir::Graph& graph);

}  // namespace onepass::passes
