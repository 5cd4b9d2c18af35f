// SPDX-License-Identifier: Apache-2.0
// All contracts, for the table of the kernels (dispatch.hpp) and their declarations (variants.hpp).
#pragma once

#include "kernels/contracts/activation.hpp"
#include "kernels/contracts/context.hpp"
#include "kernels/contracts/convert_rows.hpp"
#include "kernels/contracts/crc32c.hpp"
#include "kernels/contracts/dot_rows.hpp"
#include "kernels/contracts/embedding.hpp"
#include "kernels/contracts/gemm.hpp"
#include "kernels/contracts/layernorm.hpp"
#include "kernels/contracts/qkv.hpp"
#include "kernels/contracts/quantize.hpp"
#include "kernels/contracts/residual.hpp"
#include "kernels/contracts/scores.hpp"
#include "kernels/contracts/softmax.hpp"
