import Foundation
import LogStore
import Sealing
import Storage

/// Whether the tests of stores use sealed ones: if the environment variable `SHELFMARK_SEALED` is `1`. The same suites run
/// with it and without.
package let testsAreSealed = ProcessInfo.processInfo.environment["SHELFMARK_SEALED"] == "1"

/// The key of sealed stores in tests.
package let testKey = makeTestKey(7)

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
    StoreLocation(directory, name: name, environment: environment).opening(with: testKey, sealsNew: testsAreSealed)
  }
}
