/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in front of an image: what NVRTC lacks or takes amiss, and kernels that the backend
 * uses itself.
 *
 * __COUNTER__: 0, 1, 2 ... in the order in which it stands in the text.
 *
 * Each use looks for the least number that is not taken, by halves, and takes it. A number is taken
 * when rdl_is_taken has a body for it, which rdl_take<N> brings with it; until then its type is
 * unknown and the requirement does not hold. `Place` makes each use a function of its own, or the
 * compiler would give the answer of the one before.
 */
#ifndef __COUNTER__

#pragma nv_diag_suppress 1301 /* the friend is meant to be no template */

template <unsigned N> struct rdl_number {
  friend __device__ constexpr auto rdl_is_taken(rdl_number<N>);
};
template <unsigned N> struct rdl_take {
  friend __device__ constexpr auto rdl_is_taken(rdl_number<N>) {
    return N;
  }
};

template <class Place, unsigned From, unsigned End> __device__ consteval unsigned rdl_next_number() {
  if constexpr (From + 1u == End) {
    rdl_take<From> take;
    (void)take;
    return From;
  } else {
    constexpr unsigned middle = From + (End - From) / 2u;
    constexpr bool taken = requires(rdl_number<middle - 1u> number) { rdl_is_taken(number); };
    if constexpr (taken)
      return rdl_next_number<Place, middle, End>();
    else
      return rdl_next_number<Place, From, middle>();
  }
}

#define __COUNTER__ (rdl_next_number<decltype([] {}), 0u, 65536u>())

#endif

/*
 * Many small transfers between the host's locked pages, where they are listed first, and the device
 * (transfer.c): a block moves a piece.
 */
struct rdl_cu_piece {
  unsigned long long there;
  unsigned at, bytes;
};
static_assert(sizeof(rdl_cu_piece) == 16, "as the host lists them");

template <class Word>
static __device__ void rdl_cu_move(unsigned char *to, const unsigned char *from, unsigned bytes) {
  for (unsigned k = threadIdx.x; k < bytes / sizeof(Word); k += blockDim.x)
    ((Word *)to)[k] = ((const Word *)from)[k];
}

static __device__ void rdl_cu_move_piece(unsigned char *to, const unsigned char *from,
                                         unsigned bytes) {
  unsigned odd = (unsigned)((unsigned long long)to | (unsigned long long)from) | bytes;
  if (odd % 8u == 0)
    rdl_cu_move<unsigned long long>(to, from, bytes);
  else if (odd % 4u == 0)
    rdl_cu_move<unsigned>(to, from, bytes);
  else
    rdl_cu_move<unsigned char>(to, from, bytes);
}

extern "C" __global__ void rdl_scatter(unsigned char *pages) {
  const rdl_cu_piece piece = ((const rdl_cu_piece *)pages)[blockIdx.x];
  rdl_cu_move_piece((unsigned char *)piece.there, pages + piece.at, piece.bytes);
}

extern "C" __global__ void rdl_gather(unsigned char *pages) {
  const rdl_cu_piece piece = ((const rdl_cu_piece *)pages)[blockIdx.x];
  rdl_cu_move_piece(pages + piece.at, (const unsigned char *)piece.there, piece.bytes);
}

/*
 * A member with the name of one of CUDA's mathematical functions, before a `<`: some of these are
 * templates, and the compiler takes `self->round < n` for the beginning of one's arguments. So the
 * members, and all else in the text, have other names than these. What the functions do has its own
 * words in the dialect. The last ones are functions that a task file may well define itself.
 */
#define abs RDL_NAME_abs
#define acos RDL_NAME_acos
#define acosh RDL_NAME_acosh
#define asin RDL_NAME_asin
#define asinh RDL_NAME_asinh
#define atan RDL_NAME_atan
#define atan2 RDL_NAME_atan2
#define atanh RDL_NAME_atanh
#define cbrt RDL_NAME_cbrt
#define ceil RDL_NAME_ceil
#define copysign RDL_NAME_copysign
#define cos RDL_NAME_cos
#define cosh RDL_NAME_cosh
#define erf RDL_NAME_erf
#define erfc RDL_NAME_erfc
#define exp RDL_NAME_exp
#define exp2 RDL_NAME_exp2
#define expm1 RDL_NAME_expm1
#define fabs RDL_NAME_fabs
#define fdim RDL_NAME_fdim
#define floor RDL_NAME_floor
#define fma RDL_NAME_fma
#define fmax RDL_NAME_fmax
#define fmin RDL_NAME_fmin
#define fmod RDL_NAME_fmod
#define fpclassify RDL_NAME_fpclassify
#define frexp RDL_NAME_frexp
#define hypot RDL_NAME_hypot
#define ilogb RDL_NAME_ilogb
#define isfinite RDL_NAME_isfinite
#define isgreater RDL_NAME_isgreater
#define isgreaterequal RDL_NAME_isgreaterequal
#define isinf RDL_NAME_isinf
#define isless RDL_NAME_isless
#define islessequal RDL_NAME_islessequal
#define islessgreater RDL_NAME_islessgreater
#define isnan RDL_NAME_isnan
#define isnormal RDL_NAME_isnormal
#define isunordered RDL_NAME_isunordered
#define ldexp RDL_NAME_ldexp
#define lgamma RDL_NAME_lgamma
#define llrint RDL_NAME_llrint
#define llround RDL_NAME_llround
#define log RDL_NAME_log
#define log10 RDL_NAME_log10
#define log1p RDL_NAME_log1p
#define log2 RDL_NAME_log2
#define logb RDL_NAME_logb
#define lrint RDL_NAME_lrint
#define lround RDL_NAME_lround
#define max RDL_NAME_max
#define min RDL_NAME_min
#define modf RDL_NAME_modf
#define nearbyint RDL_NAME_nearbyint
#define nextafter RDL_NAME_nextafter
#define nexttoward RDL_NAME_nexttoward
#define pow RDL_NAME_pow
#define remainder RDL_NAME_remainder
#define remquo RDL_NAME_remquo
#define rint RDL_NAME_rint
#define round RDL_NAME_round
#define scalbln RDL_NAME_scalbln
#define scalbn RDL_NAME_scalbn
#define signbit RDL_NAME_signbit
#define sin RDL_NAME_sin
#define sinh RDL_NAME_sinh
#define sqrt RDL_NAME_sqrt
#define tan RDL_NAME_tan
#define tanh RDL_NAME_tanh
#define tgamma RDL_NAME_tgamma
#define trunc RDL_NAME_trunc
#define malloc RDL_NAME_malloc
#define free RDL_NAME_free
#define memcpy RDL_NAME_memcpy
#define memset RDL_NAME_memset
#define clock RDL_NAME_clock
