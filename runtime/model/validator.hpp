// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/contracts/crc32c.hpp"
#include "runtime/model/model.hpp"

namespace embert {

/// Validates a blob of unknown origin. After EMBERT_STATUS_OK everything that the functions of
/// model.hpp return lies inside the blob, and its values keep the bounds with which the kernels'
/// arithmetic can not overflow. Code below needs no further checks.
embert_status check_blob(const uint8_t* blob, size_t blob_bytes, Crc32cFn crc32c);

}  // namespace embert
