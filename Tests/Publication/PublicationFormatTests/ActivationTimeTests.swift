import PublicationFormat
import Testing

struct ActivationTimeTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", ActivationTime.instant(0)), ("2026-12-31T22:00:00Z", .instant(1_798_754_400)),
    ("2026-12-31T23:00+01:00", .instant(1_798_754_400)), ("2026-12-31 16:30:00-05:30", .instant(1_798_754_400)),
    ("2026-12-31T22:00:00", .local(1_798_754_400)), ("2026-12-31 22:00", .local(1_798_754_400)),
    ("2028-02-29 00:00", .local(1_835_395_200)),
  ])
  func `a date with a time is an instant, or local`(text: String, time: ActivationTime) {
    #expect(ActivationTime(text) == time)
  }

  @Test(arguments: [
    "", "tomorrow", "2026-12-31", "22:00", "2026-02-30 10:00", "2027-02-29 10:00", "2026-13-01 10:00",
    "2026-12-31T24:00",
    "2026-12-31T22:60", "2026-12-31T22:00:60", "2026-12-31T22:00z", "2026-12-31T22:00:00Z ", "2026-12-31T22:00+0100",
    "2026-12-31T22:00+15:00", "2026-12-31T22:00 UTC", "26-12-31 22:00", "2026-12-31T22:00:00.5Z", "２０２６-12-31 22:00",
    "+2026-12-31 22:00", "0000-12-31 22:00",
  ])
  func `anything else is refused`(text: String) {
    #expect(ActivationTime(text) == nil)
  }
}
