// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/contracts/crc32c.hpp"
#include "runtime/model/model.hpp"

namespace embert {

/// Checks a blob of unknown origin, once and for all: after EMBERT_STATUS_OK everything that
/// Model's functions return lies inside the blob and keeps the bounds with which the kernels'
/// arithmetic can not overflow.
embert_status check_blob(const uint8_t* blob, size_t blob_bytes, Crc32cFn crc32c);

}  // namespace embert
