import CatalogueGenerator

/// The rows to multiply.
package enum SampleFile {
  private static let sample = "Tests/Catalogue/CatalogTests/Resources/scan-catalogue.ndjson.gz"

  /// The file `path`, or the project's sample if it is found from here.
  package static func load(_ path: String?) throws -> CatalogueSample? {
    let candidates = [sample, "../" + sample]
    guard let path = path ?? candidates.first(where: Files.exists) else { return nil }
    return try CatalogueSample(ndjson: Files.unpacked(path))
  }
}

extension Files {
  /// The contents of a file, unpacked where its name ends in `.gz`.
  package static func unpacked(_ path: String) throws -> [UInt8] {
    path.hasSuffix(".gz") ? try Subprocess.run(["gzip", "-dc", path]).output : try read(path)
  }
}
