#include "config/loader.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

using namespace handfast;
using namespace handfast::config;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Validation, FindsNothingWrongWithTheDefaults) {
  EXPECT_THAT(validate(settings{}), IsEmpty());
}

TEST(Validation, RefusesADoorOpenToOthersAndNamesKeyAndRemedy) {
  settings values;
  values.listen.http = {"0.0.0.0", 7311};
  EXPECT_THAT(validate(values),
              ElementsAre(AllOf(HasSubstr("listen.http: 0.0.0.0:7311"),
                                HasSubstr("insecure = true"), HasSubstr("127.0.0.1"))));
}

TEST(Validation, AcceptsADoorOpenToOthersIfInsecure) {
  settings values;
  values.listen.native = {"::", 7310};
  values.insecure = true;
  EXPECT_THAT(validate(values), IsEmpty());
}

TEST(Validation, AcceptsDoorsThatAreOff) {
  settings values;
  values.listen.native = {};
  values.listen.http = {};
  EXPECT_THAT(validate(values), IsEmpty());
}

TEST(Validation, RefusesTwoDoorsAtOneAddressUnlessTheSystemChooses) {
  settings values;
  values.listen.http = values.listen.native;
  EXPECT_THAT(validate(values), ElementsAre(HasSubstr("listen.http: 127.0.0.1:7310")));
  values.listen.http.port = values.listen.native.port = 0;
  EXPECT_THAT(validate(values), IsEmpty());
}

TEST(Validation, WantsSegmentsAndFramesThatHoldAMessage) {
  settings values;
  values.store.segment_size = limits::mib;
  values.limits.frame = limits::mib;
  EXPECT_THAT(validate(values),
              ElementsAre(AllOf(HasSubstr("store.segment_size: 1MiB"), HasSubstr("4160KiB")),
                          AllOf(HasSubstr("limits.frame: 1MiB"), HasSubstr("limits.body"))));
  values.limits.body = 512 * limits::kib;
  EXPECT_THAT(validate(values), IsEmpty());
}
