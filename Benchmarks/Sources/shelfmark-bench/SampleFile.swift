import CatalogueGenerator

/// The rows to multiply.
enum SampleFile {
  private static let sample = "Tests/CatalogTests/Resources/scan-catalogue.ndjson.gz"

  /// The file that the options name, or the project's sample if it is found from here.
  static func load(_ options: Options) throws -> CatalogueSample? {
    if options.isSynthetic { return nil }
    let candidates = [sample, "../" + sample]
    guard let path = options.from ?? candidates.first(where: Files.exists) else { return nil }
    let bytes = path.hasSuffix(".gz") ? try Subprocess.run(["gzip", "-dc", path]).output : try Files.read(path)
    return try CatalogueSample(ndjson: bytes)
  }
}

/// Writes a catalogue to standard output.
enum GenerateCommand {
  static func run(_ generator: CatalogueGenerator, _ options: Options) throws {
    let output = OutputFile()
    switch options.form {
    case "envelope": try generator.writeAnswer { try output.append($0) }
    case "gzip": try generator.writeAnswer(.gzip) { try output.append($0) }
    case "plain": try generator.writeAnswer(.plain) { try output.append($0) }
    case "ndjson": try generator.writeNDJSON { try output.append($0) }
    default: throw UsageError(description: "--form: \(options.form) is none of envelope, gzip, plain, ndjson")
    }
  }
}
