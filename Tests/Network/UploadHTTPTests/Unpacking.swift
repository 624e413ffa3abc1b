import Foundation
import StoreTestSupport

/// The bytes that `gzip` unpacks from a request's body: another program than the one that packed it.
///
/// - Parameters:
///   - bytes: The packed bytes.
///   - folder: Where the file for `gzip` is written.
func unpacked(_ bytes: [UInt8], in folder: TemporaryDirectory) throws -> [UInt8] {
  try folder.write(bytes, to: "body.gz")
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["gzip", "-dc", folder.path + "/body.gz"]
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return Array(data)
}
