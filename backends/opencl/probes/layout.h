/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of 32 and 64-bit members as host and device share them, read by both compilers: every
 * member's place and every size must be the same. Needs rdl_u32 and rdl_u64. */
struct layout_words {
  rdl_u32 a, b, c;
};
struct layout_mixed {
  rdl_u32 a;
  rdl_u32 pad;
  rdl_u64 b;
  rdl_u32 c[3];
  rdl_u32 d;
};
struct layout_loose { /* no padding of ours */
  rdl_u32 a;
  rdl_u64 b;
  rdl_u32 c;
  rdl_u64 d[2];
  rdl_u32 e;
};
struct layout_nested {
  rdl_u32 a;
  struct layout_words b;
  struct layout_loose c;
  rdl_u32 d;
};
union layout_frame {
  struct layout_words a;
  rdl_u32 w[3];
};
union layout_wide_frame {
  struct layout_loose a;
  rdl_u32 w[12];
};

/* X(type, member) */
#define LAYOUTS(X)                                                                                 \
  X(struct layout_words, a)                                                                        \
  X(struct layout_words, b)                                                                        \
  X(struct layout_words, c)                                                                        \
  X(struct layout_mixed, a)                                                                        \
  X(struct layout_mixed, b)                                                                        \
  X(struct layout_mixed, c)                                                                        \
  X(struct layout_mixed, d)                                                                        \
  X(struct layout_loose, a)                                                                        \
  X(struct layout_loose, b)                                                                        \
  X(struct layout_loose, c)                                                                        \
  X(struct layout_loose, d)                                                                        \
  X(struct layout_loose, e)                                                                        \
  X(struct layout_nested, b)                                                                       \
  X(struct layout_nested, c)                                                                       \
  X(struct layout_nested, d)                                                                       \
  X(union layout_frame, a.c)                                                                       \
  X(union layout_frame, w[2])                                                                      \
  X(union layout_wide_frame, a.e)                                                                  \
  X(union layout_wide_frame, w[11])
