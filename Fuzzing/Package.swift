// swift-tools-version: 6.2

import PackageDescription

// The modules of the project, compiled once more through symbolic links: a fuzzer sees only the branches of code that was
// built for it. Same targets, same settings, and besides them coverage, AddressSanitizer, and assertions in a release
// build. Only a root package may have such flags, which is one reason why this is a package of its own.

/// What makes code fuzzable.
let instrumented: [SwiftSetting] = [
  .unsafeFlags(["-sanitize=fuzzer,address", "-assert-config", "Debug", "-enable-testing"])
]

let instrumentedC: [CSetting] = [.unsafeFlags(["-fsanitize=fuzzer-no-link,address"])]

let strict: [SwiftSetting] = instrumented + [.strictMemorySafety(), .treatAllWarnings(as: .error)]

let library: [SwiftSetting] = strict + [.enableUpcomingFeature("InternalImportsByDefault")]

let lifetimes: [SwiftSetting] = library + [.enableExperimentalFeature("Lifetimes")]

let package = Package(
  name: "shelfmark-fuzzing",
  platforms: [.macOS(.v26)],
  targets: [
    .target(name: "CChecksum", cSettings: instrumentedC),
    .target(name: "CStorage", cSettings: instrumentedC),
    .target(name: "CDaemon", cSettings: instrumentedC),
    .target(name: "CLibcrypto", cSettings: instrumentedC),
    .target(name: "CSealing", cSettings: instrumentedC),
    .target(
      name: "CSearchTables", exclude: ["LICENSE-UNICODE.txt", "README.md"], cSettings: instrumentedC),
    .target(name: "CTextEncoding", cSettings: instrumentedC),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CStemmer", providers: [.apt(["libstemmer-dev"])]),
    .target(name: "Bytes", dependencies: ["CChecksum"], swiftSettings: lifetimes),
    .target(name: "RecordFormat", dependencies: ["Bytes", "CChecksum"], swiftSettings: lifetimes),
    .target(name: "Storage", dependencies: ["Bytes", "CStorage", "Platform"], swiftSettings: lifetimes),
    .target(
      name: "LogStore", dependencies: ["Bytes", "CSealing", "Platform", "RecordFormat", "Sealing", "Storage"],
      swiftSettings: lifetimes),
    .target(name: "Sealing", dependencies: ["CSealing"], swiftSettings: library),
    .target(name: "Gzip", dependencies: ["CZlib"], swiftSettings: library),
    .target(name: "Zstd", dependencies: ["CZstd"], swiftSettings: library),
    .target(name: "Platform", swiftSettings: library),
    .target(name: "Essentials", swiftSettings: library),
    .target(name: "TextFormat", swiftSettings: library),
    .target(
      name: "Cryptography", dependencies: ["CLibcrypto", "Essentials", "TextFormat"], swiftSettings: library),
    .target(name: "SearchText", dependencies: ["Bytes", "CSearchTables", "CStemmer"], swiftSettings: lifetimes),
    .target(name: "JSONFormat", dependencies: ["TextFormat"], swiftSettings: library),
    .target(name: "Barcodes", dependencies: ["Bytes", "TextFormat"], swiftSettings: library),
    .target(name: "CatalogRows", dependencies: ["Barcodes", "JSONFormat"], swiftSettings: library),
    .target(
      name: "Catalog",
      dependencies: [
        "Barcodes", "Bytes", "CatalogRows", "DocumentFormat", "JSONFormat", "LogStore", "Platform", "SearchText",
        "TextFormat",
      ],
      swiftSettings: lifetimes),
    .target(
      name: "DocumentFormat", dependencies: ["Bytes", "Essentials", "JSONFormat", "TextFormat"],
      swiftSettings: lifetimes),
    .target(
      name: "Documents", dependencies: ["Bytes", "DocumentFormat", "Essentials", "LogStore", "Platform"],
      swiftSettings: lifetimes),
    .target(
      name: "ServerAnswers",
      dependencies: ["Barcodes", "Bytes", "CatalogRows", "Gzip", "JSONFormat", "Platform", "TextFormat"],
      swiftSettings: library),
    .target(
      name: "RowFiles",
      dependencies: [
        "Barcodes", "Bytes", "CatalogRows", "DocumentFormat", "Essentials", "Gzip", "JSONFormat", "Platform",
        "ServerAnswers", "TextFormat",
      ],
      swiftSettings: library),
    .target(
      name: "CatalogFiles",
      dependencies: ["Barcodes", "Catalog", "CatalogRows", "LogStore", "RowFiles", "ServerAnswers"],
      swiftSettings: library),
    .target(
      name: "CatalogSync", dependencies: ["Catalog", "LogStore", "ServerAnswers"], swiftSettings: library),
    .target(
      name: "PublicationFormat",
      dependencies: [
        "Barcodes", "Bytes", "CatalogRows", "Cryptography", "DocumentFormat", "Essentials", "JSONFormat",
        "TextFormat", "Zstd",
      ],
      swiftSettings: lifetimes),
    .target(
      name: "RemoteLists", dependencies: ["DocumentFormat", "Documents", "Essentials", "LogStore", "TextFormat"],
      swiftSettings: library),
    .target(
      name: "Workspace",
      dependencies: [
        "Barcodes", "Bytes", "Catalog", "CatalogSync", "DocumentFormat", "Documents", "LogStore", "Platform",
        "RemoteLists", "Sealing", "Storage", "TextFormat",
      ],
      swiftSettings: library),
    // Without the trait PostgreSQL: how rows are written, not what asks a server.
    .target(
      name: "RowSources", dependencies: ["CTextEncoding", "JSONFormat", "Platform", "Zstd"], swiftSettings: library),
    .target(
      name: "CatalogSources",
      dependencies: [
        "Barcodes", "Catalog", "CatalogFiles", "CatalogRows", "CatalogSync", "Essentials", "JSONFormat", "LogStore",
        "Platform", "RowFiles", "RowSources", "ServerAnswers", "TextFormat",
      ],
      swiftSettings: library),
    // What decodes, without what opens: that needs packages of others.
    .target(
      name: "ScanInputs", dependencies: ["CDaemon", "JSONFormat", "Platform", "TextFormat"], swiftSettings: library),
    .target(name: "CProcessSupport"),
    .target(name: "RandomTestSupport", swiftSettings: strict),
    .target(
      name: "StoreTestSupport",
      dependencies: [
        "Bytes", "CProcessSupport", "LogStore", "RandomTestSupport", "RecordFormat", "Sealing", "Storage",
      ],
      swiftSettings: strict),

    .target(name: "CFuzzer"),
    .executableTarget(
      name: "shelfmark-fuzz",
      dependencies: [
        "Barcodes", "Bytes", "CFuzzer", "Catalog", "CatalogRows", "CatalogSources", "Cryptography", "DocumentFormat",
        "Documents", "Gzip", "JSONFormat", "LogStore", "PublicationFormat", "RecordFormat", "RowFiles", "RowSources",
        "ScanInputs", "Sealing", "ServerAnswers", "Storage", "StoreTestSupport", "Workspace", "Zstd",
      ],
      exclude: ["HarnessTests.swift"],
      swiftSettings: strict,
      // The linker that comes with the toolchain: GNU gold fails on what the sanitizer adds.
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
  ],
  swiftLanguageModes: [.v6]
)
