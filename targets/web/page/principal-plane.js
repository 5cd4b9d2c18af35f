// SPDX-License-Identifier: Apache-2.0
// The plane in which vectors differ most: the first two principal components (Pearson 1901), by power
// iteration from a fixed start, so that the same sentences give the same map.

const ITERATIONS = 50;

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

function unit(vector) {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** The direction of most variance among centred vectors, at right angles to `others`. */
function component(centred, size, others) {
  let axis = unit(Array.from({ length: size }, (_, i) => Math.sin(i + 1 + others.length)));
  for (let turn = 0; turn < ITERATIONS; ++turn) {
    const next = new Array(size).fill(0);
    for (const vector of centred) {
      const share = dot(axis, vector);
      for (let i = 0; i < size; ++i) next[i] += share * vector[i];
    }
    for (const other of others) {
      const share = dot(next, other);
      for (let i = 0; i < size; ++i) next[i] -= share * other[i];
    }
    axis = unit(next);
  }
  return axis;
}

/** `named` has the vector of each name that place() is asked for. */
export function principalPlane(vectors, named) {
  const size = vectors[0]?.length ?? 0;
  const mean = Array.from({ length: size }, (_, i) => vectors.reduce((sum, vector) => sum + vector[i], 0) / vectors.length);
  const centred = vectors.map((vector) => Array.from(vector, (value, i) => value - mean[i]));
  const first = component(centred, size, []);
  const second = component(centred, size, [first]);
  const placeOf = (vector) => {
    const moved = Array.from(vector, (value, i) => value - (mean[i] ?? 0));
    return size === 0 ? [0, 0] : [dot(moved, first), dot(moved, second)];
  };
  return { placeOf, place: (name) => placeOf(named.get(name)) };
}
