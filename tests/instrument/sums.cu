// SPDX-License-Identifier: MIT
// Two loops with a summed loop in each; the last turn of the first one sums a hundred times what the others do.
__global__ void sums(float *data, int n) {
  float x = data[threadIdx.x];
  for (int i = 0; i < n; i++) { // rows 0 to n - 1
    for (int j = 0; j < (i == n - 1 ? 1000 : 10); j++)
      x = x * .5f + j;
  }
  for (int i = 0; i < n; i++) {
    if (x < -1e30f)
      return; // its range ends with its scope
    for (int j = 0; j < 50; j++)
      x = x * .25f + j;
  }
  data[threadIdx.x] = x;
}

int main() {
  float *data;
  cudaMalloc(&data, 4096);
  cudaMemset(data, 0, 4096);
  sums<<<1, 32>>>(data, 4);
  return cudaDeviceSynchronize();
}
