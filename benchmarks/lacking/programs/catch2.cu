// Tested with Catch2.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cuda_runtime.h>
#include <vector>

TEST_CASE("is copied", "[copy]") {
    float *device = nullptr;
    REQUIRE(cudaMalloc(&device, 1024) == cudaSuccess);
    SECTION("from zero") {
        REQUIRE(cudaMemset(device, 0, 1024) == cudaSuccess);
        float *more = nullptr;
        REQUIRE(cudaMalloc(&more, 1024) == cudaSuccess); // expect: GPU101
    }
    SECTION("to the host") {
        std::vector<float> host(256);
        CHECK(cudaMemcpy(host.data(), device, 1024, cudaMemcpyDeviceToHost) == cudaSuccess);
        REQUIRE(host[0] == Catch::Approx(1.0f));
    }
    REQUIRE(cudaFree(device) == cudaSuccess);
}

TEST_CASE("is released twice") {
    float *device = nullptr;
    REQUIRE(cudaMalloc(&device, 1024) == cudaSuccess);
    cudaFree(device);
    REQUIRE(cudaFree(device) == cudaSuccess); // expect: GPU201
}
