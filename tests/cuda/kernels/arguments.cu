// arguments.cu - one parameter of every kind.
struct pair {
  int first, second;
};
extern "C" __global__ void arguments_all(const int* narrow, const double* real, const pair* pairs, int a, unsigned b,
                                         long long c, unsigned long long d, float e, double f, bool g, double* out) {
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  out[0] = narrow[0], out[1] = real[0], out[2] = pairs[1].second, out[3] = a, out[4] = b;
  out[5] = static_cast<double>(c), out[6] = static_cast<double>(d), out[7] = e, out[8] = f, out[9] = g;
}
extern "C" __global__ void arguments_none() {}
