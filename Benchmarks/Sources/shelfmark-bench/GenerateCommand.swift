import BenchmarkSupport
import CatalogueGenerator

/// Writes a catalogue to standard output.
enum GenerateCommand {
  static func run(_ generator: CatalogueGenerator, _ options: Options) throws {
    let output = OutputFile()
    switch options.form {
    case "envelope": try generator.writeAnswer { try output.append($0) }
    case "gzip": try generator.writeAnswer(.gzip) { try output.append($0) }
    case "plain": try generator.writeAnswer(.plain) { try output.append($0) }
    case "ndjson": try generator.writeNDJSON { try output.append($0) }
    default: throw UsageError("--form: \(options.form) is none of envelope, gzip, plain, ndjson")
    }
  }
}
