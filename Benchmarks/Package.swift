// swift-tools-version: 6.2

import Foundation
import PackageDescription

let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// MARK: The stores that `compare` measures beside ours

/// A library that is built in where its header is found on this machine.
struct PeerLibrary {
  /// Also the name in SHELFMARK_PEERS, and in capitals what the sources ask for.
  let name: String
  let header: String
  let library: String

  var define: String { "PEER_" + name.uppercased() }

  /// SHELFMARK_PEERS is a list such as "sqlite,lmdb"; unset, it means all that are found, and empty none.
  static func isWanted(_ name: String) -> Bool {
    guard let wanted = Context.environment["SHELFMARK_PEERS"] else { return true }
    return wanted.split(separator: ",").contains { $0 == name }
  }

  /// A package manifest cannot ask whether a system library is there: a `systemLibrary` that is not ends the build. So
  /// this looks for the header itself. (SwiftPM remembers manifests: after installing a library, build once with
  /// `--manifest-cache none`.)
  var isPresent: Bool {
    ["/usr/include/", "/usr/local/include/", "/opt/homebrew/include/"].contains {
      FileManager.default.fileExists(atPath: $0 + header)
    }
  }
}

let found = [
  PeerLibrary(name: "sqlite", header: "sqlite3.h", library: "sqlite3"),
  PeerLibrary(name: "lmdb", header: "lmdb.h", library: "lmdb"),
  PeerLibrary(name: "rocksdb", header: "rocksdb/c.h", library: "rocksdb"),
  PeerLibrary(name: "leveldb", header: "leveldb/c.h", library: "leveldb"),
  PeerLibrary(name: "tkrzw", header: "tkrzw_langc.h", library: "tkrzw"),
  PeerLibrary(name: "cdb", header: "cdb.h", library: "cdb"),
].filter(\.isPresent)
let peers = found.filter { PeerLibrary.isWanted($0.name) }

/// GRDB is a package that uses the system's SQLite.
let hasGRDB = found.contains { $0.name == "sqlite" } && PeerLibrary.isWanted("grdb")

let package = Package(
  name: "shelfmark-benchmarks",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "CatalogueGenerator", targets: ["CatalogueGenerator"]),
    .executable(name: "shelfmark-bench", targets: ["shelfmark-bench"]),
    .executable(name: "compare", targets: ["compare"]),
    .executable(name: "compare-documents", targets: ["compare-documents"]),
    .executable(name: "compare-search", targets: ["compare-search"]),
    .executable(name: "compare-ordered", targets: ["compare-ordered"]),
    .executable(name: "compare-codes", targets: ["compare-codes"]),
    .executable(name: "instructions", targets: ["instructions"]),
  ],
  dependencies: [
    .package(name: "shelfmark", path: "..")
  ] + (hasGRDB ? [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")] : []),
  targets: [
    .target(
      name: "CatalogueGenerator",
      dependencies: [
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "RowFiles", package: "shelfmark"),
        .product(name: "ServerAnswers", package: "shelfmark"),
      ],
      swiftSettings: strict),
    .target(
      name: "BenchmarkSupport",
      dependencies: [
        "CatalogueGenerator",
        .product(name: "Catalog", package: "shelfmark"),
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "RowFiles", package: "shelfmark"),
        .product(name: "LogStore", package: "shelfmark"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "shelfmark-bench",
      dependencies: [
        "BenchmarkSupport", "CatalogueGenerator",
        .product(name: "Barcodes", package: "shelfmark"),
        .product(name: "Catalog", package: "shelfmark"),
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "CatalogSync", package: "shelfmark"),
        .product(name: "ServerAnswers", package: "shelfmark"),
        .product(name: "LogStore", package: "shelfmark"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "instructions",
      dependencies: [
        "BenchmarkSupport", "CatalogueGenerator",
        .product(name: "Barcodes", package: "shelfmark"),
        .product(name: "Catalog", package: "shelfmark"),
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "LogStore", package: "shelfmark"),
      ],
      swiftSettings: strict),
    .target(
      name: "CPeers",
      cSettings: peers.map { .define($0.define) },
      linkerSettings: peers.map { .linkedLibrary($0.library) }),
    .executableTarget(
      name: "compare",
      dependencies: [
        "BenchmarkSupport", "CPeers", "CatalogueGenerator",
        .product(name: "Catalog", package: "shelfmark"),
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "LogStore", package: "shelfmark"),
      ] + (hasGRDB ? [.product(name: "GRDB", package: "GRDB.swift")] : []),
      swiftSettings: strict + (hasGRDB ? [.define("PEER_GRDB")] : [])),
    .executableTarget(
      name: "compare-documents",
      dependencies: [
        "BenchmarkSupport",
        .product(name: "DocumentFormat", package: "shelfmark"),
        .product(name: "StoreMetrics", package: "shelfmark"),
        .product(name: "Documents", package: "shelfmark"),
        .product(name: "LogStore", package: "shelfmark"),
        .product(name: "Workspace", package: "shelfmark"),
      ] + (hasGRDB ? [.product(name: "GRDB", package: "GRDB.swift")] : []),
      swiftSettings: strict + (hasGRDB ? [.define("PEER_GRDB")] : [])),
    .executableTarget(
      name: "compare-search",
      dependencies: [
        "BenchmarkSupport",
        .product(name: "Catalog", package: "shelfmark"),
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "LogStore", package: "shelfmark"),
      ] + (hasGRDB ? [.product(name: "GRDB", package: "GRDB.swift")] : []),
      swiftSettings: strict + (hasGRDB ? [.define("PEER_GRDB")] : [])),
    .target(
      name: "COrderedPeers",
      cSettings: peers.map { .define($0.define) },
      linkerSettings: peers.map { .linkedLibrary($0.library) }),
    .executableTarget(
      name: "compare-ordered",
      dependencies: [
        "BenchmarkSupport", "COrderedPeers",
        .product(name: "LogStore", package: "shelfmark"),
      ],
      swiftSettings: strict),
    .target(
      name: "CCodePeers",
      cSettings: peers.map { .define($0.define) },
      linkerSettings: peers.map { .linkedLibrary($0.library) }),
    .executableTarget(
      name: "compare-codes",
      dependencies: [
        "BenchmarkSupport", "CCodePeers", "CatalogueGenerator",
        .product(name: "Barcodes", package: "shelfmark"),
        .product(name: "Catalog", package: "shelfmark"),
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "LogStore", package: "shelfmark"),
        .product(name: "ServerAnswers", package: "shelfmark"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
