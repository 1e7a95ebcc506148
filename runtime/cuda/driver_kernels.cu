// SPDX-License-Identifier: MIT
// libinkmark's own kernels, which it carries as PTX: what reads and ties clocks, and what measures the cost of marks,
// on devices where no marked file of nvcc's brings them.
#include "inkmark/mark_cost.cuh"

#include "inkmark/mark_clock.cuh"
