import UploadQueue

/// A body of `multipart/form-data` (RFC 7578): a document and files as the fields of a form.
///
/// The boundary contains the random bits of the upload's id, so a field contains it by chance as rarely as two ids are
/// equal.
struct UploadForm {
  private let boundary: String
  private var parts: [UploadBody.Part] = []

  init(_ upload: Upload) { boundary = "shelfmark-\(upload.id.text)" }

  /// Adds the field `payload`.
  mutating func add(_ json: UploadJSON) {
    add(#"name="payload""#, "application/json", .bytes(json.bytes))
  }

  /// Adds a file under its name.
  mutating func add(_ file: FileReference, name: String = "file", contentType: String = "application/octet-stream") {
    let fileName = String(file.path.split(separator: "/").last ?? "file")
    add(#"name="\#(Self.quoted(name))"; filename="\#(Self.quoted(fileName))""#, contentType, .file(file))
  }

  private mutating func add(_ disposition: String, _ type: String, _ content: UploadBody.Part) {
    // The type came from a store, which others may write: it cannot begin another header.
    let type = String(String.UnicodeScalarView(type.unicodeScalars.filter { $0.value >= 0x20 }))
    let head = "--\(boundary)\r\nContent-Disposition: form-data; \(disposition)\r\nContent-Type: \(type)\r\n\r\n"
    parts += [.bytes(Array(((parts.isEmpty ? "" : "\r\n") + head).utf8)), content]
  }

  var body: UploadBody {
    UploadBody(
      type: "multipart/form-data; boundary=\(boundary)", parts + [.bytes(Array("\r\n--\(boundary)--\r\n".utf8))])
  }

  private static func quoted(_ text: String) -> String {
    text.replacing("\\", with: "%5C").replacing("\"", with: "%22").replacing("\r", with: "%0D")
      .replacing("\n", with: "%0A")
  }
}
