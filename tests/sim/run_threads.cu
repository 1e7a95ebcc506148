/* SPDX-License-Identifier: MIT */
/* Host threads: their own device and last error, a copy that gets in while another thread's kernel
 * runs, and fork. */
#include <cuda_runtime.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

__global__ void count(int *values, int rounds)
{
  for (int i = 0; i < rounds; i++) atomicAdd(&values[threadIdx.x], 1);
}

__global__ void wait_for(volatile int *flag)
{
  while (!*flag) {
  }
}

enum { THREADS = 4, ROUNDS = 50 };

static void *work(void *argument)
{
  const int id = (int)(long)argument;
  int *values, result[32];
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaMalloc(&values, sizeof result));
  OK(cudaMemsetAsync(values, 0, sizeof result, stream));
  for (int i = 0; i < ROUNDS; i++) {
    count<<<1, 32, 0, stream>>>(values, id + 1);
    if (i % 8 == id) OK(cudaStreamSynchronize(stream));
  }
  OK(cudaMemcpyAsync(result, values, sizeof result, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 32; i++) CHECK_EQUAL(result[i], ROUNDS * (id + 1));
  OK(cudaFree(values));
  OK(cudaStreamDestroy(stream));
  return NULL;
}

static int *flag_on_device, *data;

/* The kernel of the main thread spins until this thread's copy has reached it. */
static void *release(void *argument)
{
  (void)argument;
  usleep(100000);
  cudaStream_t stream;
  const int one = 1;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaMemcpyAsync(flag_on_device, &one, 4, cudaMemcpyHostToDevice, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK_EQUAL(cudaFree((void *)1), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaPeekAtLastError(), cudaErrorInvalidValue); /* this thread's, nobody else's */
  return NULL;
}

static void test_copy_gets_in(void)
{
  pthread_t thread;
  OK(cudaMalloc(&flag_on_device, 128));
  OK(cudaMemset(flag_on_device, 0, 128));
  OK(cudaDeviceSynchronize());
  wait_for<<<1, 1>>>(flag_on_device);
  CHECK_EQUAL(pthread_create(&thread, NULL, release, NULL), 0);
  OK(cudaDeviceSynchronize());
  pthread_join(thread, NULL);
  OK(cudaGetLastError());
}

static volatile int told;

static void CUDART_CB tell(void *argument) { told = (int)(long)argument; }

/* Nobody waits for the stream: the host function runs all the same, after the kernel. */
static void test_unwaited_host_function(void)
{
  count<<<1, 32>>>(flag_on_device, 10);
  OK(cudaLaunchHostFunc(0, tell, (void *)3L));
  for (int i = 0; i < 100000 && !told; i++) usleep(10000);
  CHECK_EQUAL(told, 3);
  OK(cudaDeviceSynchronize());
}

static volatile int stop;

static void *keep_busy(void *argument)
{
  (void)argument;
  while (!stop) {
    int result;
    count<<<1, 32>>>(data, 100);
    cudaMemcpy(&result, data, 4, cudaMemcpyDeviceToHost);
  }
  return NULL;
}

/* Forks while another thread works; the child has the same memory and goes on alone. */
static void test_fork(void)
{
  pthread_t thread;
  OK(cudaMalloc(&data, 128));
  OK(cudaMemset(data, 0, 128));
  CHECK_EQUAL(pthread_create(&thread, NULL, keep_busy, NULL), 0);
  for (int i = 0; i < 5; i++) {
    usleep(5000);
    const pid_t child = fork();
    if (!child) {
      int before = -1, after = -1, *fresh;
      alarm(1800);
      int bad = cudaMemcpy(&before, data, 4, cudaMemcpyDeviceToHost) != cudaSuccess;
      count<<<1, 32>>>(data, 7);
      bad |= cudaMemcpy(&after, data, 4, cudaMemcpyDeviceToHost) != cudaSuccess;
      bad |= cudaMalloc(&fresh, 64) != cudaSuccess;
      _exit(bad || after != before + 7);
    }
    int status = -1;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
  }
  stop = 1;
  pthread_join(thread, NULL);
  OK(cudaDeviceSynchronize());
}

int main(void)
{
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    CHECK_EQUAL(pthread_create(&threads[i], NULL, work, (void *)i), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  test_copy_gets_in();
  test_unwaited_host_function();
  test_fork();
  return check_result();
}
