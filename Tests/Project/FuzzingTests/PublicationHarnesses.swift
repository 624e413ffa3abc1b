import Bytes
import CatalogRows
import Cryptography
import PublicationFormat
import Zstd

/// The small files of a publication: head, keys, probe, times, and the files of signify.
@Sendable func fuzzPublication(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let kind = input.byte() % 7
  let rest = Array(input.rest)
  switch kind {
  case 0:
    guard let head = try? PublicationHead(json: rest) else { return }
    // What was read can be written, if it is not too long, and is the same.
    guard let json = try? head.json() else { return }
    require((try? PublicationHead(json: json)) == head, "head: another one when read")
  case 1:
    guard let list = try? KeyList(json: rest) else { return }
    require((try? KeyList(json: list.json)) == list, "keys: others when read")
  case 2:
    guard let probe = try? PublicationProbe(json: rest) else { return }
    require((try? PublicationProbe(json: probe.json)) == probe, "probe: another one when read")
  case 3: _ = ActivationTime(String(decoding: rest, as: UTF8.self))
  case 4:
    guard let (_, message) = try? SignifySignature.embedded(in: rest) else { return }
    require(message.count < max(1, rest.count), "signature: a message that was not there")
  case 5: _ = try? SignifyPublicKey(rest)
  default: _ = try? SignifySecretKey(rest)
  }
}

/// Groups of rows and of codes, tops and pages of a base, and deltas.
@Sendable func fuzzGroups(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let kind = input.byte() % 5
  let rest = Array(input.rest)
  switch kind {
  case 0: _ = try? BaseFile.Top(rest)
  case 1: _ = try? BaseFile.Part.groups(ofPage: rest)
  case 2:
    guard let codes = try? CodeGroup.codes(rest) else { return }
    let again = try? CodeGroup.codes(CodeGroup.bytes(codes))
    require(again?.elementsEqual(codes) { $0.key == $1.key && $0.group == $1.group } == true, "codes: others when read")
  case 3: try? DeltaFile.forEachGroup(of: rest, from: 1, to: 2) { try check($0) }
  default: if let group = try? RowGroupReader(rest) { try? check(group) }
  }
}

/// Checks that rows that were read are the same when they are written and read once more.
private func check(_ group: RowGroupReader) throws {
  var first = Copier()
  try group.forEachEntry(into: &first)
  let written = first.writer.finish()
  var second = Copier()
  do { try RowGroupReader(written).forEachEntry(into: &second) } catch { fatalError("group: \(error) when read again") }
  require(second.writer.finish() == written, "group: other rows when read again")
}

/// Writes the rows of a group into another one.
private struct Copier: RowGroupSink {
  var writer = RowGroupWriter()

  mutating func entry(_ id: RawSpan) { writer.entry(id) }
  mutating func product(_ row: borrowing ProductRow) { writer.product(row) }
  mutating func relation(_ row: borrowing RelationRow) { writer.relation(row) }
  mutating func code(_ row: borrowing CodeRow) { writer.code(row) }
}

/// A frame of zstd.
@Sendable func fuzzZstd(_ bytes: [UInt8]) {
  guard let decompressor = try? ZstdDecompressor(),
    let text = try? decompressor.decompress(bytes, limit: 1 << 16)
  else { return }
  require(text.count <= 1 << 16, "zstd: more than the limit")
}
