// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/hidden_errors.hpp"

#include <cmath>

#include "converter/reference/float_model.hpp"

namespace embert::convert {
namespace {

// Texts that run together: bounds the memory of all layers' hidden states.
constexpr std::size_t kLayerTextsTogether = 8;

struct Powers {
  double error = 0, state = 0;
};

void add_powers(const std::vector<float>& floats, const TextVectors& integers, Powers& powers) {
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto real = static_cast<double>(floats[i]);
    const double error = integers.values[i] * integers.scale - real;
    powers.error += error * error;
    powers.state += real * real;
  }
}

}  // namespace

std::vector<double> hidden_errors(const FloatSource& source, IntegerModel& integers,
                                  const HiddenTexts& texts) {
  const std::vector<ModelBatch> of_floats = cut_batch(texts.floats, kLayerTextsTogether),
                                of_integers = cut_batch(texts.integers, kLayerTextsTogether);
  std::vector<Powers> powers;
  for (std::size_t part = 0; part < of_floats.size(); ++part) {
    const ForwardOutput output =
        source.floats.forward_batch(of_floats[part], nullptr, {.hidden_states = true});
    const std::vector<TextVectors> states = integers.hidden_states(of_integers[part]);
    powers.resize(states.size());
    for (std::size_t l = 0; l < states.size(); ++l) {
      add_powers(output.hidden_states[l], states[l], powers[l]);
    }
  }
  std::vector<double> errors;
  for (const Powers& one : powers) {
    errors.push_back(one.state > 0 ? std::sqrt(one.error / one.state) : 0);
  }
  return errors;
}

}  // namespace embert::convert
