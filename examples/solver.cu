// SPDX-License-Identifier: MIT
// A batched constraint solver of the kind that physics engines run inside one kernel: one block per
// environment, a Newton loop whose number of iterations depends on the data. It finds the velocity
//
//     v = argmin  1/2 (v - free)' M (v - free)  +  sum of 1/2 stiff min(0, J v - bound)^2
//
// that is closest to the unconstrained one while the contacts push back.
//
//     solver [environments] [steps]            one launch a step
#include "example.h"
#include "inkmark/mark.cuh"

#include <algorithm>
#include <cmath>
#include <vector>

PROF_SECTIONS(Solver, Step, Setup, LineSearch, UpdateConstraint, HessianIncremental, UpdateGradient,
              StepLast)

constexpr int dofs = 8;
constexpr int contacts = 24;
constexpr int threads = 32; // one warp an environment: lane c owns contact c, lane d row d
constexpr int max_newton = 40;
constexpr int max_search = 12;
constexpr float tolerance = 1e-4f; // of the gradient, relative to its first

struct Environment {
  float mass[dofs][dofs], free[dofs];
  float jacobian[contacts][dofs], bound[contacts], stiff[contacts];
};
struct Solution {
  float velocity[dofs];
  int iterations;
};
struct Workspace {
  Environment env;
  float velocity[dofs], search[dofs], gradient[dofs], force[contacts];
  float hessian[dofs][dofs], factor[dofs][dofs];
};

__device__ float warp_sum(float x) {
  for (int distance = 16; distance; distance /= 2)
    x += __shfl_xor_sync(~0u, x, distance);
  return x;
}

__device__ float dot(const float *a, const float *b) {
  float sum = 0;
  for (int d = 0; d < dofs; d++)
    sum += a[d] * b[d];
  return sum;
}

// The step along `search` at which the cost is least: Newton on its derivative, which is piecewise
// linear, for contacts come and go along the way.
__device__ float line_search(const Workspace &w, int lane) {
  float slope = 0, curve = 0; // of the inertia, row by row
  if (lane < dofs) {
    float pull = 0;
    for (int d = 0; d < dofs; d++)
      pull += w.env.mass[lane][d] * (w.velocity[d] - w.env.free[d]);
    slope = w.search[lane] * pull;
    curve = w.search[lane] * dot(w.env.mass[lane], w.search);
  }
  slope = warp_sum(slope);
  curve = warp_sum(curve);
  float residual = 0, rate = 0, stiff = 0;
  if (lane < contacts) {
    residual = dot(w.env.jacobian[lane], w.velocity) - w.env.bound[lane];
    rate = dot(w.env.jacobian[lane], w.search);
    stiff = w.env.stiff[lane];
  }
  float alpha = 0;
  for (int i = 0; i < max_search; i++) {
    const float reach = residual + alpha * rate;
    const float push = reach < 0 ? stiff * rate : 0;
    const float first = slope + alpha * curve + warp_sum(push * reach);
    const float second = curve + warp_sum(push * rate);
    const float change = -first / second;
    alpha += change;
    if (fabsf(change) < 1e-6f)
      break;
  }
  return alpha;
}

// Adds or takes away the contacts that changed sides, one rank each, and factors anew.
__device__ void update_hessian(Workspace &w, int lane, unsigned changed, unsigned active) {
  for (; changed; changed &= changed - 1) {
    const int contact = __ffs(changed) - 1;
    const float *row = w.env.jacobian[contact];
    const float weight = active >> contact & 1 ? w.env.stiff[contact] : -w.env.stiff[contact];
    for (int i = lane; i < dofs * dofs; i += threads)
      w.hessian[i / dofs][i % dofs] += weight * row[i / dofs] * row[i % dofs];
  }
  __syncwarp();
  for (int column = 0; column < dofs; column++) { // Cholesky, a row a lane
    if (lane >= column && lane < dofs) {
      float sum = w.hessian[lane][column], pivot = w.hessian[column][column];
      for (int d = 0; d < column; d++) {
        sum -= w.factor[lane][d] * w.factor[column][d];
        pivot -= w.factor[column][d] * w.factor[column][d];
      }
      pivot = sqrtf(pivot);
      w.factor[lane][column] = lane == column ? pivot : sum / pivot;
    }
    __syncwarp();
  }
}

// The gradient, and the Newton direction from it. Returns the gradient's square.
__device__ float update_gradient(Workspace &w, int lane) {
  float gradient = 0;
  if (lane < dofs) {
    for (int d = 0; d < dofs; d++)
      gradient += w.env.mass[lane][d] * (w.velocity[d] - w.env.free[d]);
    for (int c = 0; c < contacts; c++)
      gradient -= w.env.jacobian[c][lane] * w.force[c];
    w.gradient[lane] = gradient;
  }
  __syncwarp();
  if (lane == 0) {
    float *x = w.search;
    for (int i = 0; i < dofs; i++) {
      x[i] = -w.gradient[i];
      for (int j = 0; j < i; j++)
        x[i] -= w.factor[i][j] * x[j];
      x[i] /= w.factor[i][i];
    }
    for (int i = dofs - 1; i >= 0; i--) {
      for (int j = i + 1; j < dofs; j++)
        x[i] -= w.factor[j][i] * x[j];
      x[i] /= w.factor[i][i];
    }
  }
  __syncwarp();
  return warp_sum(gradient * gradient);
}

// Which contacts push, as a bit each, and how hard.
__device__ unsigned update_constraint(Workspace &w, int lane) {
  float residual = 0;
  if (lane < contacts) {
    residual = dot(w.env.jacobian[lane], w.velocity) - w.env.bound[lane];
    w.force[lane] = residual < 0 ? -w.env.stiff[lane] * residual : 0;
  }
  return __ballot_sync(~0u, residual < 0);
}

__global__ void step(const Environment *environments, Solution *solutions) {
  PROF_KERNEL(Step);
  __shared__ Workspace w;
  const int lane = threadIdx.x;

  const float *from = (const float *)&environments[blockIdx.x];
  for (int i = lane; i < (int)(sizeof(Environment) / 4); i += threads)
    ((float *)&w.env)[i] = from[i];
  __syncwarp();
  if (lane < dofs)
    w.velocity[lane] = w.env.free[lane];
  for (int i = lane; i < dofs * dofs; i += threads)
    w.hessian[i / dofs][i % dofs] = w.env.mass[i / dofs][i % dofs];
  __syncwarp();
  unsigned active = update_constraint(w, lane);
  update_hessian(w, lane, active, active);
  float square = update_gradient(w, lane);
  const float enough = square * tolerance * tolerance;
  PROF_MARK(Setup, active, square);

  int iteration = 0;
  while (iteration < max_newton && square > enough) {
    PROF_ITER(iteration);

    float alpha = line_search(w, lane);
    PROF_MARK(LineSearch, alpha);

    if (lane < dofs)
      w.velocity[lane] += alpha * w.search[lane];
    __syncwarp();
    unsigned before = active;
    active = update_constraint(w, lane);
    __syncwarp();
    PROF_MARK(UpdateConstraint, active);

    update_hessian(w, lane, before ^ active, active);
    PROF_MARK(HessianIncremental);

    square = update_gradient(w, lane);
    PROF_MARK(UpdateGradient, square);

    iteration++;
    if (active == before && fabsf(alpha - 1) < 1e-5f) // a whole step among the same contacts: exact
      square = 0;
    PROF_MARK(StepLast, square);
  }

  if (lane < dofs)
    solutions[blockIdx.x].velocity[lane] = w.velocity[lane];
  if (lane == 0)
    solutions[blockIdx.x].iterations = iteration;
}

// ---- the host's side: inputs, and the same minimum found another way ----------------------------

static Environment make_environment(Random &random) {
  Environment e;
  float root[dofs][dofs];
  for (auto &row : root)
    for (float &x : row)
      x = random.between(-1, 1);
  for (int i = 0; i < dofs; i++) {
    e.free[i] = random.between(-2, 2);
    for (int j = 0; j < dofs; j++) {
      e.mass[i][j] = i == j ? 1.0f : 0.0f;
      for (int k = 0; k < dofs; k++)
        e.mass[i][j] += root[i][k] * root[j][k];
    }
  }
  for (int c = 0; c < contacts; c++) {
    e.bound[c] = random.between(-1, 0.5f);
    e.stiff[c] = random.between(1, 50);
    for (float &x : e.jacobian[c])
      x = random.between(-1, 1);
  }
  return e;
}

// How far `velocity` is from the minimum in double precision: the length of the Newton step that is
// left there. The cost is strictly convex, so only its one minimum has none.
static double distance_to_minimum(const Environment &e, const float *velocity) {
  double gradient[dofs] = {}, hessian[dofs][dofs];
  for (int i = 0; i < dofs; i++)
    for (int j = 0; j < dofs; j++) {
      hessian[i][j] = e.mass[i][j];
      gradient[i] += (double)e.mass[i][j] * ((double)velocity[j] - e.free[j]);
    }
  for (int c = 0; c < contacts; c++) {
    double residual = -e.bound[c];
    for (int d = 0; d < dofs; d++)
      residual += (double)e.jacobian[c][d] * velocity[d];
    for (int i = 0; i < dofs && residual < 0; i++) {
      gradient[i] += (double)e.stiff[c] * residual * e.jacobian[c][i];
      for (int j = 0; j < dofs; j++)
        hessian[i][j] += (double)e.stiff[c] * e.jacobian[c][i] * e.jacobian[c][j];
    }
  }
  for (int i = 0; i < dofs; i++) // Gauss-Jordan: the Hessian is positive definite, no pivoting
    for (int row = 0; row < dofs; row++) {
      const double factor = row == i ? 0 : hessian[row][i] / hessian[i][i];
      for (int j = i; j < dofs; j++)
        hessian[row][j] -= factor * hessian[i][j];
      gradient[row] -= factor * gradient[i];
    }
  double square = 0;
  for (int i = 0; i < dofs; i++)
    square += pow(gradient[i] / hessian[i][i], 2);
  return sqrt(square);
}

int main(int argc, char **argv) {
  const int count = argument(argc, argv, 1, 16), steps = argument(argc, argv, 2, 2);
  Random random = {2026};
  int least = max_newton, most = 0;
  double error = 0;
  for (int s = 0; s < steps; s++) {
    std::vector<Environment> environments(count);
    std::vector<Solution> solutions(count);
    for (Environment &e : environments)
      e = make_environment(random);
    Device<Environment> device_environments(environments.data(), count);
    Device<Solution> device_solutions(count);
    step<<<count, threads>>>(device_environments, device_solutions);
    CUDA(cudaGetLastError());
    device_solutions.copy_to(solutions.data());
    for (int i = 0; i < count; i++) {
      error = std::max(error, distance_to_minimum(environments[i], solutions[i].velocity));
      least = std::min(least, solutions[i].iterations);
      most = std::max(most, solutions[i].iterations);
    }
  }
  printf("%d environments, %d steps, %d to %d Newton iterations, at most %.1e from the minimum\n",
         count, steps, least, most, error);
  // The gradient that the tolerance leaves is worth a step of up to 1e-2 where inertia is least.
  return verdict("solver", error < 3e-2 && most < max_newton);
}
