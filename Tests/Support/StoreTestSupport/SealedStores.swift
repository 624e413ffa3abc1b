import Foundation
import LogStore
import Sealing
import Storage

/// Whether the tests of stores use sealed ones: if the environment variable `SHELFMARK_SEALED` is `1`, or `chacha` for
/// the algorithm of processors without instructions for AES. The same suites run with it and without.
package let testsAreSealed = ["1", "chacha"].contains(ProcessInfo.processInfo.environment["SHELFMARK_SEALED"])

/// The algorithm of new sealed stores in tests; `nil` for the one of this processor.
package let testAlgorithm: AuthenticatedCipher.Algorithm? =
  ProcessInfo.processInfo.environment["SHELFMARK_SEALED"] == "chacha" ? .chaCha20Poly1305 : nil

/// The key of sealed stores in tests.
package let testKey = makeTestKey(7)

/// Another one, which tests of another data key seal with.
package let otherTestKey = makeTestKey(9)

/// Returns a key that is the same in each run.
package func makeTestKey(_ byte: UInt8) -> DataKey {
  do { return try DataKey(SecretBytes(copying: [UInt8](repeating: byte, count: 32))) } catch {
    fatalError("a key for tests: \(error)")
  }
}

extension StoreLocation {
  /// Returns the location of a store in a test, which is sealed if the suite runs with sealed stores. It has a key in any
  /// case, as a clear store ignores it.
  package static func test(
    _ directory: any StorageDirectory, name: String, environment: StoreEnvironment = .system
  ) -> StoreLocation {
    var location = StoreLocation(directory, name: name, environment: environment)
      .opening(with: testKey, sealsNew: testsAreSealed)
    location.keys.algorithm = testAlgorithm
    location.keys.former = [otherTestKey]
    return location
  }
}
