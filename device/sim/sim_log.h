/* SPDX-License-Identifier: MIT */
/* The instruction log: the simulator's own record of when each clock was read, the truth that
 * tests hold captured stamps against. One text line per thread that executed such a read:
 *
 *   clock64 DEVICE GRID BX BY BZ THREAD SM PTXLINE SOURCELINE VALUE DEVICE_NS
 *   globaltimer DEVICE GRID BX BY BZ THREAD SM PTXLINE SOURCELINE VALUE DEVICE_NS
 *   grid DEVICE GRID KERNEL GX GY GZ TX TY TZ BEGIN_NS END_NS      (when a grid is done)
 *   sm DEVICE SM START_CYCLES RATE_HZ                              (at device open)
 *
 * clock64 stands for a read of %clock too, whose value is the lower half. All
 * numbers in decimal, KERNEL the mangled name, DEVICE_NS since INKMARK_SIM_EPOCH_NS with 3
 * decimals. Lines come in execution order. */
#ifndef INKMARK_SIM_LOG_H
#define INKMARK_SIM_LOG_H
#endif
