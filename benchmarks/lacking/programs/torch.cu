// An extension of PyTorch.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>
#include <torch/extension.h>
#include <vector>

#define CHECK_INPUT(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")

template <typename scalar_t>
__global__ void twice(const scalar_t *__restrict__ in, scalar_t *__restrict__ out, int n) {
    extern __shared__ unsigned char raw[];
    scalar_t *tile = reinterpret_cast<scalar_t *>(raw);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        tile[threadIdx.x] = in[i];
        out[i] = tile[threadIdx.x] * scalar_t(2);
    }
}

template <typename scalar_t>
__global__ void rows( // expect: GPU301
    torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> in) {
    __shared__ float large[20000];
    large[threadIdx.x] = in[threadIdx.x][0];
}

torch::Tensor forward(torch::Tensor input) {
    CHECK_INPUT(input);
    auto output = torch::empty_like(input);
    const int n = input.numel();
    int *counter = nullptr;
    cudaMalloc(&counter, sizeof(int)); // expect: GPU101
    AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "forward", ([&] {
        twice<scalar_t><<<(n + 255) / 256, 256>>>( // expect: GPU305
            input.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), n);
    }));
    return output;
}

at::Tensor workspace(const at::Tensor &boxes, float threshold) {
    TORCH_CHECK(boxes.dim() == 2, "boxes has wrong dimensions");
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    int64_t *mask = nullptr;
    C10_CUDA_CHECK(cudaMallocAsync( // expect: GPU103
        &mask, boxes.size(0) * 64 * sizeof(int64_t), stream));
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(boxes.scalar_type(), "workspace", [&] {
        scalar_t *copy = nullptr;
        C10_CUDA_CHECK(cudaMalloc(&copy, sizeof(scalar_t) * 4096)); // expect: GPU101
        twice<scalar_t><<<1, 2048, 4096, stream>>>( // expect: GPU304
            boxes.data_ptr<scalar_t>(), copy, 1);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        rows<scalar_t><<<1, 128>>>(
            boxes.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
    });
    auto options = torch::TensorOptions().dtype(torch::kInt64).device(boxes.device());
    at::Tensor order = at::empty({boxes.size(0)}, boxes.options().dtype(at::kLong));
    C10_CUDA_CHECK(cudaFreeAsync(mask, stream));
    C10_CUDA_CHECK(cudaFreeAsync(mask, stream)); // expect: GPU201
    return order;
}

TORCH_LIBRARY(example, m) {
    m.def("workspace", &workspace);
    m.def("kept", [](at::Tensor values) {
        void *device = nullptr;
        C10_CUDA_CHECK(cudaMalloc(&device, values.numel())); // expect: GPU101
        C10_CUDA_CHECK(cudaMemset(device, 0, values.numel()));
    });
}
