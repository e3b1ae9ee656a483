/* GoogleMock: mocks are what they stand for; what is expected of them is not. */
#ifndef CUDALINT_GMOCK_H
#define CUDALINT_GMOCK_H
#include <gtest/gtest.h>

namespace testing {
namespace internal {
struct AnyAction {
  template <class T> operator T() const;
};
struct Expectations {
  template <class... T> Expectations &With(const T &...);
  template <class... T> Expectations &Times(const T &...);
  template <class... T> Expectations &InSequence(const T &...);
  template <class... T> Expectations &After(const T &...);
  template <class... T> Expectations &WillOnce(const T &...);
  template <class... T> Expectations &WillRepeatedly(const T &...);
  template <class... T> Expectations &WillByDefault(const T &...);
  template <class... T> Expectations &RetiresOnSaturation(const T &...);
};
Expectations Expected();
}  // namespace internal
template <class T> struct NiceMock : T {
  using T::T;
};
template <class T> struct StrictMock : T {
  using T::T;
};
template <class T> struct NaggyMock : T {
  using T::T;
};
struct InSequence {
  InSequence();
  ~InSequence();
};
template <class... T> internal::AnyAction Return(const T &...);
template <class... T> internal::AnyAction Invoke(const T &...);
template <class... T> internal::AnyAction DoAll(const T &...);
template <class... T> internal::AnyAction Throw(const T &...);
template <class... T> int AtLeast(const T &...);
template <class... T> int AtMost(const T &...);
template <class... T> int Exactly(const T &...);
}  // namespace testing

#define CUDALINT_FIRST_THREE(one, two, three, ...) one two three
#define CUDALINT_OF(...) CUDALINT_FIRST_THREE(__VA_ARGS__, , , )
#define MOCK_METHOD(result, name, parameters, ...) \
  result name parameters __VA_OPT__(CUDALINT_OF __VA_ARGS__)
#define EXPECT_CALL(object, call) ::testing::internal::Expected()
#define ON_CALL(object, call) ::testing::internal::Expected()
#define MATCHER(name, description) \
  ::testing::internal::AnyMatcher name(); \
  template <class arg_type> \
  bool name##Matches(const arg_type &arg, ::testing::internal::Listener *result_listener)
#define MATCHER_P(name, given, description) \
  template <class given##_type> ::testing::internal::AnyMatcher name(const given##_type &); \
  template <class arg_type, class given##_type> \
  bool name##Matches( \
      const arg_type &arg, const given##_type &given, \
      ::testing::internal::Listener *result_listener)
#endif
