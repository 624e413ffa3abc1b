import BenchmarkSupport
import CatalogueGenerator

/// Which rows are measured, in words that a child process understands too.
struct SourceSpec: Sendable {
  enum Kind: Equatable, Sendable {
    /// Made from the project's sample, or from a file with rows.
    case generated(from: String?)
    case synthetic
    /// The rows of a directory as they are.
    case real(directory: String)
  }

  var kind = Kind.generated(from: nil)
  var productCount = 1_000_000
  var seed: UInt64 = 1

  init(_ kind: Kind, productCount: Int, seed: UInt64) {
    self.kind = kind
    self.productCount = productCount
    self.seed = seed
  }

  /// What ``arguments`` wrote.
  init(_ arguments: [String]) throws {
    guard arguments.count == 4, let count = Int(arguments[2]), let seed = UInt64(arguments[3]) else {
      throw UsageError("a source has four words")
    }
    switch arguments[0] {
    case "synthetic": kind = .synthetic
    case "real": kind = .real(directory: arguments[1])
    default: kind = .generated(from: arguments[1].isEmpty ? nil : arguments[1])
    }
    productCount = count
    self.seed = seed
  }

  var arguments: [String] {
    let words: [String] =
      switch kind {
      case .generated(let path): ["generated", path ?? ""]
      case .synthetic: ["synthetic", ""]
      case .real(let directory): ["real", directory]
      }
    return words + ["\(productCount)", "\(seed)"]
  }

  func load() throws -> any CatalogueSource {
    switch kind {
    case .synthetic: CatalogueGenerator(productCount: productCount, seed: seed)
    case .generated(let path):
      CatalogueGenerator(productCount: productCount, seed: seed, sample: try SampleFile.load(path))
    case .real(let directory): try RealCatalogue(directory, seed: seed)
    }
  }
}
