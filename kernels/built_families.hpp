// SPDX-License-Identifier: Apache-2.0
// The families of this build beside BERT; the CMake option EMBERT_FAMILIES chooses them.
#pragma once

namespace embert {

#ifndef EMBERT_FAMILY_ROBERTA
#define EMBERT_FAMILY_ROBERTA 1
#endif
#ifndef EMBERT_FAMILY_MPNET
#define EMBERT_FAMILY_MPNET 1
#endif
#ifndef EMBERT_FAMILY_ELECTRA
#define EMBERT_FAMILY_ELECTRA 1
#endif
#ifndef EMBERT_FAMILY_ALBERT
#define EMBERT_FAMILY_ALBERT 1
#endif
#ifndef EMBERT_FAMILY_MOBILEBERT
#define EMBERT_FAMILY_MOBILEBERT 1
#endif
#ifndef EMBERT_FAMILY_MODERNBERT
#define EMBERT_FAMILY_MODERNBERT 1
#endif
#ifndef EMBERT_FAMILY_STATIC
#define EMBERT_FAMILY_STATIC 1
#endif

inline constexpr bool kHasRoberta = EMBERT_FAMILY_ROBERTA != 0;
inline constexpr bool kHasMpnet = EMBERT_FAMILY_MPNET != 0;
inline constexpr bool kHasElectra = EMBERT_FAMILY_ELECTRA != 0;
inline constexpr bool kHasAlbert = EMBERT_FAMILY_ALBERT != 0;
inline constexpr bool kHasMobileBert = EMBERT_FAMILY_MOBILEBERT != 0;
inline constexpr bool kHasModernBert = EMBERT_FAMILY_MODERNBERT != 0;
inline constexpr bool kHasStatic = EMBERT_FAMILY_STATIC != 0;

}  // namespace embert
