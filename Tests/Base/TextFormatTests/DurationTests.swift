import Testing
import TextFormat

@Suite struct DurationTests {
  @Test func `a duration is a number of each unit`() {
    let duration = Duration.seconds(3) + .nanoseconds(456_789_123)
    #expect(duration.seconds == 3.456789123)
    #expect(duration.microseconds == 3_456_789)
    #expect(duration.nanoseconds == 3_456_789_123)
  }

  @Test func `a duration below zero is cut towards zero`() {
    let duration = Duration.microseconds(-1_234_567)
    #expect(duration.seconds == -1.234567)
    #expect(duration.nanoseconds == -1_234_567_000)
  }

  @Test func `what 64 bits do not hold is cut to what they do`() {
    #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    #expect(Duration.seconds(Int64.min).microseconds == .min)
    let largest = Duration.nanoseconds(Int64.max)
    #expect(largest.nanoseconds == .max && (largest + .nanoseconds(1)).nanoseconds == .max)
  }
}
