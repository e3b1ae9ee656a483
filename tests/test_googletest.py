"""Test frameworks whose headers are nowhere: their tests are read as they are with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.frontends.cuda.lowering.program import lower
from cudalint.frontends.cuda.parse import ParsedUnit, ParseOptions, parse
from cudalint.program import Call

GOOGLETEST = r"""
#include <gmock/gmock-matchers.h>
#include <gmock/gmock.h>
#include <gtest/gtest-typed-test.h>
#include <gtest/gtest.h>

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <vector>

using ::testing::_;
using ::testing::ElementsAre;
namespace gt = ::testing;

class Source {
 public:
  virtual ~Source() = default;
  virtual int size(int axis) const = 0;
  virtual void close() = 0;
};
class MockSource : public Source {
 public:
  MOCK_METHOD(int, size, (int axis), (const, override));
  MOCK_METHOD(void, close, ());
};

class Buffers : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(cudaMalloc(&shared_, 64), cudaSuccess); }
  static void TearDownTestSuite() { cudaFree(shared_); }
  void SetUp() override { ASSERT_EQ(cudaMalloc(&input_, 1024), cudaSuccess) << "no memory"; }
  void TearDown() override { cudaFree(input_); }
  float *input_ = nullptr;
  static float *shared_;
};
float *Buffers::shared_ = nullptr;

MATCHER(IsEven, "") { return (arg % 2) == 0; }
MATCHER_P(IsAbove, limit, "") { *result_listener << "limit"; return arg > limit; }

TEST_F(Buffers, Many) {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) GTEST_SKIP() << "no device" << std::endl;
  SCOPED_TRACE("many");
  SCOPED_TRACE(std::string("device ") + std::to_string(device));
  std::vector<int> values = {1, 2, 3};
  EXPECT_TRUE(values.size() == 3u) << "size " << values.size();
  EXPECT_FALSE(values.empty());
  ASSERT_NE(input_, nullptr);
  EXPECT_LE(1, values[1]);
  EXPECT_LT(1, values[2]);
  EXPECT_GE(values[1], 1);
  ASSERT_GT(values[1], 1);
  EXPECT_STREQ("a", "a");
  EXPECT_STRNE("a", "b");
  EXPECT_STRCASEEQ("a", "A");
  EXPECT_FLOAT_EQ(1.0f, 1.0f);
  EXPECT_DOUBLE_EQ(1.0, 1.0);
  EXPECT_NEAR(1.0, 1.01, 0.1);
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
  EXPECT_THAT(values[1], IsEven());
  ASSERT_THAT(values[1], IsAbove(1));
  EXPECT_THAT(values, gt::Each(gt::Ge(1)));
  EXPECT_THROW(throw std::runtime_error("x"), std::runtime_error) << "none";
  EXPECT_ANY_THROW({ throw 1; });
  EXPECT_NO_THROW(values.push_back(4));
  ASSERT_NO_FATAL_FAILURE(values.pop_back());
  EXPECT_DEATH(std::abort(), "") << "alive";
  EXPECT_EXIT(std::exit(0), gt::ExitedWithCode(0), "");
  EXPECT_PRED1([](int n) { return n > 0; }, 1);
  EXPECT_PRED2([](int n, int m) { return n > m; }, 2, 1);
  if (values.empty())
    ADD_FAILURE() << "empty";
  else
    SUCCEED();
  if (values.empty()) FAIL() << "empty";
  if (values.size() > 1)
    for (int value : values) EXPECT_GT(value, 0) << value;
  else
    EXPECT_TRUE(true);
  RecordProperty("count", 3);
  EXPECT_FALSE(HasFatalFailure());
  MockSource source;
  EXPECT_CALL(source, size(_)).Times(1).WillOnce(gt::Return(3));
  EXPECT_EQ(source.size(0), 3);
  EXPECT_STREQ(gt::UnitTest::GetInstance()->current_test_info()->name(), "Many");
}

class Sizes : public ::testing::TestWithParam<std::tuple<int, bool>> {};
TEST_P(Sizes, Fit) {
  auto [count, pinned] = GetParam();
  ASSERT_GT(count, 0);
  EXPECT_EQ(std::get<1>(GetParam()), pinned);
}
INSTANTIATE_TEST_SUITE_P(All, Sizes,
                         ::testing::Combine(::testing::Values(1, 2), ::testing::Bool()),
                         [](const ::testing::TestParamInfo<Sizes::ParamType> &info) {
                           return std::to_string(info.index);
                         });

template <typename T>
class Typed : public ::testing::Test {
 public:
  using Value = T;
};
using Kinds = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Typed, Kinds);
TYPED_TEST(Typed, Copies) {
  using Value = typename TestFixture::Value;
  TypeParam *memory = nullptr;
  ASSERT_EQ(cudaSuccess, cudaMalloc(&memory, 16 * sizeof(TypeParam)));
  std::vector<Value> host(16);
  ASSERT_EQ(cudaSuccess, cudaFree(memory));
}

class Device : public ::testing::Environment {
 public:
  void SetUp() override { cudaSetDevice(0); }
  void TearDown() override { cudaDeviceReset(); }
};

static ::testing::AssertionResult fits(int count) {
  if (count < 4) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << count << " is too many";
}
TEST(Plain, Results) { EXPECT_TRUE(fits(2)); }

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::AddGlobalTestEnvironment(new Device);
  return RUN_ALL_TESTS();
}
"""
"""Compiles with GoogleTest's own headers."""


@pytest.fixture(scope="module")
def googletest(tmp_path_factory: pytest.TempPathFactory) -> ParsedUnit:
    options = ParseOptions(cache_folder=tmp_path_factory.mktemp("headers"))
    return parse("tests.cu", GOOGLETEST, options)


def test_what_tests_are_written_with_is_declared(googletest: ParsedUnit) -> None:
    assert googletest.missing_headers == ()
    assert googletest.errors == ()
    assert googletest.reading.declarations == ""


def test_the_body_of_each_test_is_a_method(googletest: ParsedUnit) -> None:
    program = lower(googletest)
    bodies = {one.name: one for one in program.functions if one.name.endswith("TestBody")}
    assert sorted(bodies) == [
        "Buffers_Many_Test::TestBody",
        "Plain_Results_Test::TestBody",
        "Sizes_Fit_Test::TestBody",
        "Typed_Copies_Test::TestBody",
    ]
    assert program.dropped == ()
    blocks = bodies["Typed_Copies_Test::TestBody"].blocks
    called = [one.name for block in blocks for one in block.operations if isinstance(one, Call)]
    assert [name for name in called if name.startswith("cuda")] == ["cudaMalloc", "cudaFree"]


@pytest.mark.parametrize("place", ["gtest", "gmock"])
def test_each_header_of_it_is_the_whole(place: str) -> None:
    folder = Path(parse.__code__.co_filename).parent / "headers" / "frameworks" / place
    others = [one for one in folder.iterdir() if one.name != f"{place}.h"]
    assert others
    assert {one.read_text() for one in others} == {f"#include <{place}/{place}.h>\n"}


CASES = """
#include <cuda_runtime.h>
#include <catch2/catch_test_macros.hpp>

TEST_CASE("one is leaked", "[leak]") {
  float *block = nullptr;
  REQUIRE(cudaMalloc(&block, 1024) == cudaSuccess);
  SECTION("set") { REQUIRE(cudaMemset(block, 0, 1024) == cudaSuccess); }
}

TEST_CASE("one is released")
{
  float *block = nullptr;
  REQUIRE(cudaMalloc(&block, 1024) == cudaSuccess);
  REQUIRE(cudaFree(block) == cudaSuccess);
}

TEMPLATE_TEST_CASE("of types", "", float, double) { CHECK(sizeof(float) < 5); }
"""


def test_a_body_behind_any_macro_is_read(tmp_path: Path) -> None:
    program = lower(parse("cases.cu", CASES, ParseOptions(cache_folder=tmp_path)))
    called = [
        (function.name, one.name)
        for function in program.functions
        for block in function.blocks
        for one in block.operations
        if isinstance(one, Call) and one.name.startswith("cuda")
    ]
    assert called == [
        ("TEST_CASE", "cudaMalloc"),
        ("TEST_CASE", "cudaMemset"),
        ("TEST_CASE", "cudaMalloc"),
        ("TEST_CASE", "cudaFree"),
    ]
    assert [one.name for one in program.functions] == [
        "TEST_CASE", "TEST_CASE", "TEMPLATE_TEST_CASE",
    ]  # fmt: skip
    assert len({one.key for one in program.functions}) == 3
