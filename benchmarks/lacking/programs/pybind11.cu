// A module of Python, by pybind11.
#include <cuda_runtime.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <stdexcept>
#include <string>
namespace py = pybind11;

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

py::array_t<float> sums(py::array_t<float> a, py::array_t<float> b) {
    py::buffer_info left = a.request(), right = b.request();
    if (left.ndim != 1 || right.ndim != 1) throw std::runtime_error("one dimension");
    int n = static_cast<int>(left.shape[0]);
    auto result = py::array_t<float>(n);
    py::buffer_info out = result.request();
    float *da, *db, *dc;
    check(cudaMalloc(&da, n * sizeof(float))); // expect: GPU103
    check(cudaMalloc(&db, n * sizeof(float))); // expect: GPU103
    check(cudaMalloc(&dc, n * sizeof(float))); // expect: GPU101
    check(cudaMemcpy(da, left.ptr, n * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpy(db, static_cast<float *>(right.ptr), n * sizeof(float),
                     cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    check(cudaMemcpy(out.ptr, dc, n * sizeof(float), cudaMemcpyDeviceToHost));
    cudaFree(da);
    cudaFree(db);
    return result;
}

class Pool {
public:
    explicit Pool(size_t bytes) { check(cudaMalloc(&memory_, bytes)); } // expect: GPU105
    Pool(const Pool &) = delete;
    ~Pool() {}
    void fill(py::array_t<float, py::array::c_style | py::array::forcecast> values) {
        auto view = values.unchecked<1>();
        check(cudaMemcpy(memory_, values.data(), view.size() * sizeof(float),
                         cudaMemcpyHostToDevice));
    }
    py::bytes read(size_t bytes) {
        std::string host(bytes, 0);
        void *copy;
        check(cudaMalloc(&copy, bytes)); // expect: GPU101
        {
            py::gil_scoped_release release;
            check(cudaMemcpy(&host[0], copy, bytes, cudaMemcpyDeviceToHost));
        }
        return py::bytes(host);
    }

private:
    void *memory_ = nullptr;
};

py::object owned(size_t bytes) {
    void *memory = nullptr;
    check(cudaMalloc(&memory, bytes));
    return py::capsule(memory, [](void *last) { cudaFree(last); });
}

PYBIND11_MODULE(example, m) {
    m.doc() = "an example";
    m.def("sums", &sums, py::arg("a"), py::arg("b"));
    m.def("owned", &owned);
    py::class_<Pool>(m, "Pool")
        .def(py::init<size_t>())
        .def("fill", &Pool::fill)
        .def("read", &Pool::read);
    m.def("kept", [](py::array_t<double> values) {
        double *device = nullptr;
        check(cudaMalloc(&device, values.size() * sizeof(double))); // expect: GPU101
        check(cudaMemset(device, 0, values.size() * sizeof(double)));
    });
}
