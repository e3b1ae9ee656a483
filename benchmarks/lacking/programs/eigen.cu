// Matrices of Eigen on the host, what is computed of them on the device.
#include <Eigen/Dense>
#include <cuda_runtime.h>
#include <iostream>
#include <stdexcept>
#include <vector>

__global__ void scale(float *values, int count, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] *= factor;
}

__global__ void turn(const Eigen::Vector3f *points, Eigen::Vector3f *turned,
                     Eigen::Matrix3f rotation, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) turned[i] = rotation * points[i];
}

Eigen::MatrixXf scaled(const Eigen::MatrixXf &matrix, float factor) {
    const size_t bytes = matrix.size() * sizeof(float);
    float *device = nullptr;
    if (cudaMalloc(&device, bytes) != cudaSuccess) // expect: GPU103
        throw std::runtime_error("memory");
    if (cudaMemcpy(device, matrix.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess)
        throw std::runtime_error("copy");
    scale<<<(matrix.size() + 255) / 256, 256>>>(device, matrix.size(), factor);
    Eigen::MatrixXf result(matrix.rows(), matrix.cols());
    if (cudaMemcpy(result.data(), device, bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
        throw std::runtime_error("copy");
    cudaFree(device);
    return result;
}

void rotate(const std::vector<Eigen::Vector3f> &points, const Eigen::Matrix3f &rotation) {
    Eigen::Vector3f *device = nullptr, *turned = nullptr;
    cudaMalloc(&device, points.size() * sizeof(Eigen::Vector3f));
    cudaMalloc(&turned, points.size() * sizeof(Eigen::Vector3f)); // expect: GPU101
    cudaMemcpy(device, points.data(), points.size() * sizeof(Eigen::Vector3f),
               cudaMemcpyHostToDevice);
    turn<<<(points.size() + 255) / 256, 256>>>(device, turned, rotation, points.size());
    std::vector<Eigen::Vector3f> back(points.size());
    cudaMemcpy(back.data(), turned, points.size() * sizeof(Eigen::Vector3f),
               cudaMemcpyDeviceToHost);
    cudaFree(device);
}

class Solver {
public:
    explicit Solver(const Eigen::VectorXd &right) : right_(right) {
        cudaMalloc(&residual_, right.size() * sizeof(double));
        cudaMalloc(&direction_, right.size() * sizeof(double)); // expect: GPU105
    }
    Solver(const Solver &) = delete;
    ~Solver() { cudaFree(residual_); }
    double norm() const {
        Eigen::VectorXd host(right_.size());
        cudaMemcpy(host.data(), residual_, right_.size() * sizeof(double), cudaMemcpyDeviceToHost);
        return (host - right_).norm();
    }

private:
    Eigen::VectorXd right_;
    double *residual_ = nullptr;
    double *direction_ = nullptr;
};

float total(const Eigen::ArrayXf &values) {
    float *device;
    if (values.rows() == 0) return 0;
    cudaMalloc(&device, values.size() * sizeof(float)); // expect: GPU102
    cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    if ((values > 3.0f).all()) {
        std::cout << values.transpose() << "\n";
        return values.sum();
    }
    Eigen::Map<const Eigen::ArrayXf> map(values.data(), values.size());
    float sum = map.square().sum();
    cudaFree(device);
    return sum;
}

int main() {
    Eigen::MatrixXf matrix = Eigen::MatrixXf::Random(4, 4);
    Eigen::MatrixXf result = scaled(matrix, 2.0f);
    Solver solver(Eigen::VectorXd::Ones(16));
    float *left;
    cudaMalloc(&left, 4096); // expect: GPU102
    if ((result - matrix * 2).cwiseAbs().maxCoeff() > 1e-3f) return 1;
    rotate({Eigen::Vector3f::Ones()}, Eigen::Matrix3f::Identity());
    std::cout << result << total(Eigen::ArrayXf::Ones(4)) << solver.norm() << std::endl;
    cudaFree(left);
    cudaFree(left); // expect: GPU201
    return 0;
}
