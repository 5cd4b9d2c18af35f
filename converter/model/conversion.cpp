// SPDX-License-Identifier: Apache-2.0
#include "converter/model/conversion.hpp"

namespace embert::convert {

const char* precision_name(Precision precision) {
  switch (precision) {
    case Precision::kFast:
      return "fast";
    case Precision::kBalanced:
      return "balanced";
    case Precision::kHigh:
      return "high";
  }
  return "";
}

const char* calibration_source_name(CalibrationSource source) {
  switch (source) {
    case CalibrationSource::kBuiltinText:
      return "built-in text";
    case CalibrationSource::kTextFile:
      return "text file";
    case CalibrationSource::kIdFile:
      return "id file";
    case CalibrationSource::kRandomIds:
      return "random ids";
  }
  return "";
}

}  // namespace embert::convert
