/* GoogleTest: how tests and assertions are written. A failed assertion ends the path: what a test
   that has failed leaves behind is nobody's concern. */
#ifndef CUDALINT_GTEST_H
#define CUDALINT_GTEST_H
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace testing {
class Message {
 public:
  Message();
  template <class T> Message &operator<<(const T &);
  Message &operator<<(std::ostream &(*)(std::ostream &));
  std::string GetString() const;
};

class AssertionResult {
 public:
  template <class T> explicit AssertionResult(const T &);
  operator bool() const;
  AssertionResult operator!() const;
  const char *message() const;
  const char *failure_message() const;
  template <class T> AssertionResult &operator<<(const T &);
};
AssertionResult AssertionSuccess();
AssertionResult AssertionFailure();
AssertionResult AssertionFailure(const Message &);

namespace internal {
struct Ignored {
  template <class T> const Ignored &operator<<(const T &) const;
  const Ignored &operator<<(std::ostream &(*)(std::ostream &)) const;
};
struct Failure : Ignored {
  [[noreturn]] Failure();
};
struct Voidify {
  void operator&(const Ignored &) const;
};
struct AnyMatcher {
  template <class T> operator T() const;
};
struct AnyGenerator {};
struct Listener {
  template <class T> Listener &operator<<(const T &);
};
template <class Value> bool Matches(const Value &, const AnyMatcher &);
template <class Value, class Other> bool Matches(const Value &, const Other &);
template <class... T> bool Holds(const T &...);
bool SameText(const char *, const char *);
bool SameTextInAnyCase(const char *, const char *);
bool AlmostEqual(double, double);
bool Near(double, double, double);
}  // namespace internal

class Test {
 public:
  virtual ~Test();
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  static void SetUpTestCase();
  static void TearDownTestCase();
  static bool HasFatalFailure();
  static bool HasNonfatalFailure();
  static bool HasFailure();
  static bool IsSkipped();
  template <class T> static void RecordProperty(const std::string &, const T &);

 protected:
  Test();
  virtual void SetUp();
  virtual void TearDown();

 private:
  virtual void TestBody() = 0;
};

template <typename T> class WithParamInterface {
 public:
  typedef T ParamType;
  virtual ~WithParamInterface();
  static const ParamType &GetParam();
};
template <typename T> class TestWithParam : public Test, public WithParamInterface<T> {};
template <typename T> struct TestParamInfo {
  T param;
  std::size_t index;
};
struct PrintToStringParamName {
  template <class T> std::string operator()(const TestParamInfo<T> &) const;
};
template <typename... T> struct Types {};
template <typename A, typename B> constexpr bool StaticAssertTypeEq();

class Environment {
 public:
  virtual ~Environment();
  virtual void SetUp();
  virtual void TearDown();
};
Environment *AddGlobalTestEnvironment(Environment *);

class TestPartResult {
 public:
  enum Type { kSuccess, kNonFatalFailure, kFatalFailure, kSkip };
  Type type() const;
  const char *file_name() const;
  int line_number() const;
  const char *summary() const;
  const char *message() const;
  bool passed() const;
  bool failed() const;
};
class TestResult {
 public:
  bool Passed() const;
  bool Failed() const;
  bool Skipped() const;
  int total_part_count() const;
  const TestPartResult &GetTestPartResult(int) const;
};
class TestInfo {
 public:
  const char *test_suite_name() const;
  const char *test_case_name() const;
  const char *name() const;
  const char *type_param() const;
  const char *value_param() const;
  const TestResult *result() const;
};
class TestSuite;
class UnitTest;
class TestEventListener {
 public:
  virtual ~TestEventListener();
  virtual void OnTestProgramStart(const UnitTest &);
  virtual void OnTestIterationStart(const UnitTest &, int);
  virtual void OnEnvironmentsSetUpStart(const UnitTest &);
  virtual void OnEnvironmentsSetUpEnd(const UnitTest &);
  virtual void OnTestStart(const TestInfo &);
  virtual void OnTestPartResult(const TestPartResult &);
  virtual void OnTestEnd(const TestInfo &);
  virtual void OnEnvironmentsTearDownStart(const UnitTest &);
  virtual void OnEnvironmentsTearDownEnd(const UnitTest &);
  virtual void OnTestIterationEnd(const UnitTest &, int);
  virtual void OnTestProgramEnd(const UnitTest &);
};
typedef TestEventListener EmptyTestEventListener;
class TestEventListeners {
 public:
  void Append(TestEventListener *);
  TestEventListener *Release(TestEventListener *);
  TestEventListener *default_result_printer() const;
};
class UnitTest {
 public:
  static UnitTest *GetInstance();
  int Run();
  const TestInfo *current_test_info() const;
  TestEventListeners &listeners();
  int random_seed() const;
  bool Passed() const;
  bool Failed() const;
};

void InitGoogleTest();
void InitGoogleTest(int *, char **);
void InitGoogleMock();
void InitGoogleMock(int *, char **);
std::string TempDir();
template <class T> std::string PrintToString(const T &);
template <class T> bool Value(const T &, const internal::AnyMatcher &);

template <class... T> internal::AnyGenerator Values(const T &...);
template <class... T> internal::AnyGenerator ValuesIn(const T &...);
template <class T> internal::AnyGenerator ValuesIn(std::initializer_list<T>);
template <class... T> internal::AnyGenerator Range(const T &...);
template <class... T> internal::AnyGenerator Combine(const T &...);
internal::AnyGenerator Bool();

template <class T> using Matcher = internal::AnyMatcher;
typedef internal::Listener MatchResultListener;
#define CUDALINT_MATCHER(name) template <class... T> internal::AnyMatcher name(const T &...);
CUDALINT_MATCHER(A)
CUDALINT_MATCHER(AllOf)
CUDALINT_MATCHER(AnyOf)
CUDALINT_MATCHER(Contains)
CUDALINT_MATCHER(ContainsRegex)
CUDALINT_MATCHER(DoubleEq)
CUDALINT_MATCHER(DoubleNear)
CUDALINT_MATCHER(Each)
CUDALINT_MATCHER(ElementsAre)
CUDALINT_MATCHER(ElementsAreArray)
CUDALINT_MATCHER(EndsWith)
CUDALINT_MATCHER(Eq)
CUDALINT_MATCHER(Field)
CUDALINT_MATCHER(FloatEq)
CUDALINT_MATCHER(FloatNear)
CUDALINT_MATCHER(Ge)
CUDALINT_MATCHER(Gt)
CUDALINT_MATCHER(HasSubstr)
CUDALINT_MATCHER(IsEmpty)
CUDALINT_MATCHER(IsNull)
CUDALINT_MATCHER(Le)
CUDALINT_MATCHER(Lt)
CUDALINT_MATCHER(MatchesRegex)
CUDALINT_MATCHER(Ne)
CUDALINT_MATCHER(Not)
CUDALINT_MATCHER(NotNull)
CUDALINT_MATCHER(Optional)
CUDALINT_MATCHER(Pair)
CUDALINT_MATCHER(Pointee)
CUDALINT_MATCHER(Pointwise)
CUDALINT_MATCHER(Property)
CUDALINT_MATCHER(SizeIs)
CUDALINT_MATCHER(StartsWith)
CUDALINT_MATCHER(StrEq)
CUDALINT_MATCHER(ThrowsMessage)
CUDALINT_MATCHER(Truly)
CUDALINT_MATCHER(UnorderedElementsAre)
CUDALINT_MATCHER(WhenSorted)
#undef CUDALINT_MATCHER
static const internal::AnyMatcher _;
}  // namespace testing

int RUN_ALL_TESTS();

/* Tests: a class for each, as in GoogleTest itself. */
#define CUDALINT_TEST(suite, name, fixture) \
  class suite##_##name##_Test : public fixture { \
    void TestBody(); \
  }; \
  void suite##_##name##_Test::TestBody()
#define GTEST_TEST(suite, name) CUDALINT_TEST(suite, name, ::testing::Test)
#define TEST(suite, name) CUDALINT_TEST(suite, name, ::testing::Test)
#define TEST_F(fixture, name) CUDALINT_TEST(fixture, name, fixture)
#define TEST_P(fixture, name) CUDALINT_TEST(fixture, name, fixture)
#define TYPED_TEST(suite, name) \
  template <typename CudalintType> class suite##_##name##_Test : public suite<CudalintType> { \
    typedef suite<CudalintType> TestFixture; \
    typedef CudalintType TypeParam; \
    void TestBody(); \
  }; \
  template <typename CudalintType> void suite##_##name##_Test<CudalintType>::TestBody()
#define TYPED_TEST_P(suite, name) TYPED_TEST(suite, name)
#define TYPED_TEST_SUITE(...)
#define TYPED_TEST_CASE(...)
#define TYPED_TEST_SUITE_P(...)
#define TYPED_TEST_CASE_P(...)
#define REGISTER_TYPED_TEST_SUITE_P(...)
#define REGISTER_TYPED_TEST_CASE_P(...)
#define INSTANTIATE_TYPED_TEST_SUITE_P(...)
#define INSTANTIATE_TYPED_TEST_CASE_P(...)
#define INSTANTIATE_TEST_SUITE_P(...)
#define INSTANTIATE_TEST_CASE_P(...)
#define GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(...)
#define FRIEND_TEST(suite, name) friend class suite##_##name##_Test

/* Assertions: expressions, to which a message may be added. */
#define CUDALINT_EXPECT(holds) \
  (holds) ? (void)0 : ::testing::internal::Voidify() & ::testing::internal::Failure()
#define CUDALINT_DO(...) \
  if (true) { __VA_ARGS__ } else ::testing::internal::Ignored()
#define CUDALINT_THROWS(...) CUDALINT_DO(try { __VA_ARGS__; } catch (...) {})
#define CUDALINT_THROWS_NOT(...) \
  CUDALINT_DO(try { __VA_ARGS__; } catch (...) { ::testing::internal::Failure(); })
#define CUDALINT_IN_ANOTHER_PROCESS(...) \
  if (false) { __VA_ARGS__; } else ::testing::internal::Ignored()

#define GTEST_FAIL() ::testing::internal::Failure()
#define GTEST_FAIL_AT(file, line) ::testing::internal::Failure()
#define FAIL() ::testing::internal::Failure()
#define ADD_FAILURE() ::testing::internal::Failure()
#define ADD_FAILURE_AT(file, line) ::testing::internal::Failure()
#define GTEST_SUCCEED() ::testing::internal::Ignored()
#define SUCCEED() ::testing::internal::Ignored()
#define GTEST_SKIP() return ::testing::internal::Voidify() & ::testing::internal::Ignored()
#define SCOPED_TRACE(message) ::testing::internal::Ignored() << (message)

#define EXPECT_TRUE(condition) CUDALINT_EXPECT(condition)
#define EXPECT_FALSE(condition) CUDALINT_EXPECT(!(condition))
#define EXPECT_EQ(one, other) CUDALINT_EXPECT((one) == (other))
#define EXPECT_NE(one, other) CUDALINT_EXPECT((one) != (other))
#define EXPECT_LE(one, other) CUDALINT_EXPECT((one) <= (other))
#define EXPECT_LT(one, other) CUDALINT_EXPECT((one) < (other))
#define EXPECT_GE(one, other) CUDALINT_EXPECT((one) >= (other))
#define EXPECT_GT(one, other) CUDALINT_EXPECT((one) > (other))
#define EXPECT_STREQ(one, other) CUDALINT_EXPECT(::testing::internal::SameText(one, other))
#define EXPECT_STRNE(one, other) CUDALINT_EXPECT(!::testing::internal::SameText(one, other))
#define EXPECT_STRCASEEQ(one, other) \
  CUDALINT_EXPECT(::testing::internal::SameTextInAnyCase(one, other))
#define EXPECT_STRCASENE(one, other) \
  CUDALINT_EXPECT(!::testing::internal::SameTextInAnyCase(one, other))
#define EXPECT_FLOAT_EQ(one, other) CUDALINT_EXPECT(::testing::internal::AlmostEqual(one, other))
#define EXPECT_DOUBLE_EQ(one, other) CUDALINT_EXPECT(::testing::internal::AlmostEqual(one, other))
#define EXPECT_NEAR(one, other, error) \
  CUDALINT_EXPECT(::testing::internal::Near(one, other, error))
#define EXPECT_THAT(value, matcher) CUDALINT_EXPECT(::testing::internal::Matches(value, matcher))
#define EXPECT_PRED1(holds, ...) CUDALINT_EXPECT((holds)(__VA_ARGS__))
#define EXPECT_PRED2(holds, ...) CUDALINT_EXPECT((holds)(__VA_ARGS__))
#define EXPECT_PRED3(holds, ...) CUDALINT_EXPECT((holds)(__VA_ARGS__))
#define EXPECT_PRED_FORMAT1(...) CUDALINT_EXPECT(::testing::internal::Holds(__VA_ARGS__))
#define EXPECT_PRED_FORMAT2(...) CUDALINT_EXPECT(::testing::internal::Holds(__VA_ARGS__))
#define EXPECT_PRED_FORMAT3(...) CUDALINT_EXPECT(::testing::internal::Holds(__VA_ARGS__))
#define EXPECT_THROW(statement, exception) CUDALINT_THROWS(statement)
#define EXPECT_ANY_THROW(statement) CUDALINT_THROWS(statement)
#define EXPECT_NO_THROW(statement) CUDALINT_THROWS_NOT(statement)
#define EXPECT_NO_FATAL_FAILURE(statement) CUDALINT_DO(statement;)
#define EXPECT_DEATH(statement, matcher) CUDALINT_IN_ANOTHER_PROCESS(statement)
#define EXPECT_DEATH_IF_SUPPORTED(statement, matcher) CUDALINT_IN_ANOTHER_PROCESS(statement)
#define EXPECT_EXIT(statement, predicate, matcher) CUDALINT_IN_ANOTHER_PROCESS(statement)

#define ASSERT_TRUE(condition) EXPECT_TRUE(condition)
#define ASSERT_FALSE(condition) EXPECT_FALSE(condition)
#define ASSERT_EQ(one, other) EXPECT_EQ(one, other)
#define ASSERT_NE(one, other) EXPECT_NE(one, other)
#define ASSERT_LE(one, other) EXPECT_LE(one, other)
#define ASSERT_LT(one, other) EXPECT_LT(one, other)
#define ASSERT_GE(one, other) EXPECT_GE(one, other)
#define ASSERT_GT(one, other) EXPECT_GT(one, other)
#define ASSERT_STREQ(one, other) EXPECT_STREQ(one, other)
#define ASSERT_STRNE(one, other) EXPECT_STRNE(one, other)
#define ASSERT_STRCASEEQ(one, other) EXPECT_STRCASEEQ(one, other)
#define ASSERT_STRCASENE(one, other) EXPECT_STRCASENE(one, other)
#define ASSERT_FLOAT_EQ(one, other) EXPECT_FLOAT_EQ(one, other)
#define ASSERT_DOUBLE_EQ(one, other) EXPECT_DOUBLE_EQ(one, other)
#define ASSERT_NEAR(one, other, error) EXPECT_NEAR(one, other, error)
#define ASSERT_THAT(value, matcher) EXPECT_THAT(value, matcher)
#define ASSERT_PRED1(holds, ...) EXPECT_PRED1(holds, __VA_ARGS__)
#define ASSERT_PRED2(holds, ...) EXPECT_PRED2(holds, __VA_ARGS__)
#define ASSERT_PRED3(holds, ...) EXPECT_PRED3(holds, __VA_ARGS__)
#define ASSERT_PRED_FORMAT1(...) EXPECT_PRED_FORMAT1(__VA_ARGS__)
#define ASSERT_PRED_FORMAT2(...) EXPECT_PRED_FORMAT2(__VA_ARGS__)
#define ASSERT_PRED_FORMAT3(...) EXPECT_PRED_FORMAT3(__VA_ARGS__)
#define ASSERT_THROW(statement, exception) CUDALINT_THROWS(statement)
#define ASSERT_ANY_THROW(statement) CUDALINT_THROWS(statement)
#define ASSERT_NO_THROW(statement) CUDALINT_THROWS_NOT(statement)
#define ASSERT_NO_FATAL_FAILURE(statement) CUDALINT_DO(statement;)
#define ASSERT_DEATH(statement, matcher) CUDALINT_IN_ANOTHER_PROCESS(statement)
#define ASSERT_DEATH_IF_SUPPORTED(statement, matcher) CUDALINT_IN_ANOTHER_PROCESS(statement)
#define ASSERT_EXIT(statement, predicate, matcher) CUDALINT_IN_ANOTHER_PROCESS(statement)
#endif
