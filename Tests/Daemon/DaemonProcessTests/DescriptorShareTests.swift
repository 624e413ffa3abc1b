import Testing

@testable import DaemonProcess

/// How many users' documents are open at once, where few files may be.
@Suite struct DescriptorShareTests {
  @Test func `few descriptors mean fewer users at once, and never none`() throws {
    let plain = try configuration(["--http-maximum-connections", "16"])
    var last = 0
    for limit in [72, 96, 128, 256, 512, 1024, 20_000, .max] {
      let users = DescriptorLimit.users(plain, limit: limit)
      #expect(users.workers >= 1 && users.documents >= 4, "\(limit): \(users)")
      #expect(users.workers + users.documents >= last, "\(limit): \(users)")
      last = users.workers + users.documents
      // The least of them are within the reserve.
      if last > 5 { #expect(last * DescriptorLimit.descriptorsPerUser + 16 + DescriptorLimit.reserve <= limit) }
    }
    let all = DescriptorLimit.users(plain, limit: 1024)
    #expect(all.workers == 16 && all.documents == 32)
  }
}
