# SPDX-License-Identifier: Apache-2.0
# Variant sources and the compiler flags of their cluster. A variant file is the only place compiled with its
# flags, and all that it includes has internal linkage, so that no such code can be picked for the baseline.
set(variant_sources)
