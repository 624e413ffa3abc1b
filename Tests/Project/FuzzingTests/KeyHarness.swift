import Bytes
import Sealing
@testable import Workspace

/// The keys of a user: a file with some bytes changed, decoded, opened with the right key and passphrase, and written
/// again.
///
/// First byte: bit 0 asks for a checksum that fits, bit 1 for other bytes altogether.
@Sendable func fuzzKeys(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  var file = KeySample.bytes
  if choice & 2 != 0 {
    file = Array((Array(input.rest) + file[min(input.rest.count, file.count)...]).prefix(KeySample.bytes.count + 1))
  } else {
    for _ in 0..<32 where !input.rest.isEmpty {
      // Most bytes of a file are zero, and nothing but the first 512 of a page says much.
      let place = input.number(below: 1024)
      file[place < 512 ? place : 4096 + place - 512] = input.byte()
    }
  }
  if choice & 1 != 0, file.count >= 4096 {
    file.store(UInt32(0), at: 12)
    let checksum = Checksum.of(file.rawSpan.slice(0, 4096))
    file.store(checksum, at: 12)
  }
  let keys: KeyFile
  do { keys = try KeyFile(file, path: "user.keys") } catch { return refused(error) }
  require(keys.bytes == file, "keys: other bytes when written")
  var passes = 0
  for wrapping in keys.wrappings {
    guard let cost = wrapping.cost else { continue }
    require(cost.passes <= 64 && cost.memory <= 1 << 20, "keys: a passphrase costs \(cost)")
    passes += Int(cost.passes) * Int(cost.memory)
  }
  // What is allowed may take minutes; here a few milliseconds are enough.
  for material in KeySample.materials where material.kind == .raw || passes <= 1 << 14 {
    do {
      let opened = try keys.unlock(with: material)
      require(opened.current.id == KeySample.dataKeyID, "keys: another data key")
      require(opened.former?.id == KeySample.formerID, "keys: another former key")
      for mark in try keys.marks(opened.current) { fatalError("keys: a mark that nobody wrote: \(mark)") }
      for state in KeyFile.State.allCases {
        let next = try keys.setting(state, opened.current)
        require(
          try KeyFile(next.bytes, path: "user.keys").unlock(with: material).wrapping == opened.wrapping, "keys: lost")
      }
    } catch let error as KeyError { refused(error) } catch { fatalError("keys: an error of another type: \(error)") }
  }
  for wrapping in keys.wrappings {
    do {
      let next = try keys.removing(wrapping.id)
      require((try? KeyFile(next.bytes, path: "user.keys"))?.bytes == next.bytes, "keys: not read again")
    } catch { refused(error) }
  }
}

private func refused(_ error: KeyError) { _ = "\(error)" }

/// A file of keys with a raw key, a passphrase and a former data key.
private enum KeySample {
  static let bytes: [UInt8] = {
    var bytes = decoded(header) + [UInt8](repeating: 0, count: 112) + decoded(wrappings)
    bytes += repeatElement(0, count: 8192 - bytes.count)
    return bytes
  }()

  static let materials: [KeyMaterial] = {
    do {
      return [
        .raw(try SecretBytes(copying: [UInt8](repeating: 1, count: 32))),
        .passphrase(try SecretBytes(copying: Array("fuzz".utf8))),
      ]
    } catch { fatalError("no memory for keys: \(error)") }
  }()

  /// The ids as the unchanged file has them.
  static let dataKeyID = Array(bytes[16..<32])
  static let formerID = Array(bytes[48..<64])

  private static func decoded(_ text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private static let header = """
    5348454c464b455901000000f8690913bacefd713b3df55894e080e1a52a82f501401e18240a06000202000000000000588c89fcf49bbabd
    e0144edbb449be68a97cd0aa8fb1f9432866779b763ec50f796189107fdf7f00d2b302122cb316f36dd865944ecb3d46f986d513d784ac11
    b50cc22c5be3d12c3f33115b0000000043bd226360df05260bbc1f0640c78644
    """

  private static let wrappings = """
    ed0a47c6e5ce0212010000000000000001401e18240a0600a5d929567b36f337e00b07ff8d99be3c0000000000000000cd61c99bfd505d97
    cab602bc0de5139e4464bc5c650ad9f9278137fecd6bc3ab93b5cac6086c8335336c3d2c70c6075bd1b14b4cd503606bd422c71fedd4d278
    e97bbc20c44fcde997d8332700000000a0e7ee797ecce96a020000000000000002401e18240a0600766b02f626e26ff3e13db30d174df286
    0100000008000000b9b4c1379d4f0de181c571b0cba69c9a764f5125c8014e9b942abdbd3782db77c8247ec108fac7c8974cb7529bf584fa
    ca2ebc6d8554d763daf01eff1b7942448684065d03b9f5270424a63a00000000
    """
}
