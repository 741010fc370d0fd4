// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/activation.h"
#include "loops/builder.h"

namespace onepass::kernels {

/// f(x) as loop-language operations, from the formula in ir/activation_formulas.h. Every lane is computed
/// alike; the bound on the error is the `ulp` column of activations.def.
loops::Value apply_activation(const ir::Activation& activation, loops::Value x);

/// Elementary functions on f32 vectors for all inputs, NaN and infinities as in C's libm.
loops::Value exp(loops::Value x);
loops::Value exp_of_negative(loops::Value x);                ///< exp for x <= 0
loops::Value div_by_1_to_2(loops::Value a, loops::Value b);  ///< a / b for 1 <= b <= 2, within 1 ulp
loops::Value expm1(loops::Value x);                          ///< exp(x) - 1; -0 gives +0
loops::Value log(loops::Value x);
loops::Value tanh(loops::Value x);
loops::Value erf(loops::Value x);
loops::Value log1p_of_exp(loops::Value x);  ///< log(1 + exp(x)), without overflow
loops::Value normal_cdf(loops::Value x);    ///< (1 + erf(x / sqrt(2))) / 2, accurate in the lower tail too

}  // namespace onepass::kernels
