// Tested with GoogleTest.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

class Blocks : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(cudaMalloc(&input_, 1024), cudaSuccess) << "no memory"; }
    void TearDown() override { EXPECT_EQ(cudaFree(input_), cudaSuccess); }
    float *input_ = nullptr;
};

TEST_F(Blocks, AreCopied) {
    float *output = nullptr;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&output, 1024)); // expect: GPU101
    ASSERT_EQ(cudaSuccess, cudaMemcpy(output, input_, 1024, cudaMemcpyDeviceToDevice));
}

TEST_F(Blocks, AreReleasedTwice) {
    float *output = nullptr;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&output, 1024));
    EXPECT_EQ(cudaSuccess, cudaMemset(output, 0, 1024));
    EXPECT_EQ(cudaSuccess, cudaFree(output));
    EXPECT_EQ(cudaSuccess, cudaFree(output)); // expect: GPU201
}

class Sizes : public ::testing::TestWithParam<int> {};

TEST_P(Sizes, AreSet) {
    char *block = nullptr;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&block, GetParam())); // expect: GPU102
    if (GetParam() < 16) return;
    EXPECT_EQ(cudaSuccess, cudaMemset(block, 0, GetParam()));
    EXPECT_EQ(cudaSuccess, cudaFree(block));
}

INSTANTIATE_TEST_SUITE_P(All, Sizes, ::testing::Values(4, 64));

template <typename T> class Typed : public ::testing::Test {};
using Kinds = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Typed, Kinds);

TYPED_TEST(Typed, AreUsedAfterwards) {
    TypeParam *block = nullptr;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&block, 16 * sizeof(TypeParam)));
    EXPECT_EQ(cudaSuccess, cudaFree(block));
    EXPECT_NE(cudaSuccess, cudaMemset(block, 0, 16 * sizeof(TypeParam))); // expect: GPU202
}

int main(int argc, char **argv) {
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
