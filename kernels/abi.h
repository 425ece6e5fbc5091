/* SPDX-License-Identifier: Apache-2.0 */
/* The structures that the host and the device both read: fixed-width members and explicit padding.
 */
