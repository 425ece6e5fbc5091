/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows which language the kernels are compiled as. */
