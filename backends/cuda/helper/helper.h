/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raddle-cuda-helper LIBRARY OPTION...: compiles its standard input with the NVRTC at the path
 * LIBRARY. Its exit status says what its standard output is.
 */
#ifndef RDL_CUDA_HELPER_H
#define RDL_CUDA_HELPER_H

#define RDL_CU_HELPER_MADE   0 /* the cubin, or PTX where there is no cubin */
#define RDL_CU_HELPER_ERRORS 3 /* the compiler's log */
#define RDL_CU_HELPER_FAILED 4 /* a sentence for the user */

#endif
