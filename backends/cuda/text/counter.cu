/* SPDX-License-Identifier: Apache-2.0 */
/*
 * __COUNTER__, which NVRTC does not have: 0, 1, 2 ... in the order in which it stands in the text.
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
