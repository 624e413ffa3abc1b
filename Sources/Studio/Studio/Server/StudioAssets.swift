import Bytes
import CStudio
import Essentials
import TextFormat

#if DEBUG
#endif

/// The files of the pages: those of `Sources/Studio/Studio/Web`, embedded in the program.
///
/// In a debug build the environment variable `SHELFMARK_STUDIO_WEB` may name a folder whose files are served instead.
package enum StudioAssets {
  /// A file.
  package struct Asset: Sendable {
    /// The name below the folder: `index.html`, `pages/scan.js`.
    package let name: String
    /// The contents.
    package let bytes: [UInt8]
    /// A strong entity tag, from the contents.
    let entityTag: String

    init(name: String, bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
      let sum = Checksum.of(bytes)
      entityTag = "\"\(String(sum, radix: 16))-\(bytes.count)\""
    }

    /// The media type, by the ending of the name.
    package var contentType: String {
      switch name.split(separator: ".").last {
      case "html": "text/html; charset=utf-8"
      case "css": "text/css; charset=utf-8"
      case "js": "text/javascript; charset=utf-8"
      case "svg": "image/svg+xml"
      default: "application/octet-stream"
      }
    }
  }

  /// The embedded files by name.
  package static let embedded: [String: Asset] = {
    var assets: [String: Asset] = [:]
    for index in 0..<studio_asset_count() {
      // The table and its bytes are part of the program and are never freed; they are copied here.
      let entry = unsafe studio_asset_at(index)
      let name = unsafe String(cString: entry.name)
      let bytes = unsafe Array(UnsafeBufferPointer(start: entry.bytes, count: entry.byte_count))
      assets[name] = Asset(name: name, bytes: bytes)
    }
    return assets
  }()

  /// The file with a name; `nil` if there is none.
  static func asset(named name: String) -> Asset? {
    #if DEBUG
    if let folder = ProcessInfo.processInfo.environment["SHELFMARK_STUDIO_WEB"], !name.contains("..") {
      guard let data = FileManager.default.contents(atPath: folder + "/" + name) else { return nil }
      return Asset(name: name, bytes: Array(data))
    }
    #endif
    return embedded[name]
  }
}
