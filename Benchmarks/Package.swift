// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "shelfmark-benchmarks",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "CatalogueGenerator", targets: ["CatalogueGenerator"]),
    .executable(name: "shelfmark-bench", targets: ["shelfmark-bench"]),
  ],
  dependencies: [
    .package(name: "shelfmark", path: "..")
  ],
  targets: [
    .target(
      name: "CatalogueGenerator",
      dependencies: [
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "CatalogWire", package: "shelfmark"),
      ],
      swiftSettings: strict),
    .target(
      name: "BenchmarkSupport",
      dependencies: [
        "CatalogueGenerator",
        .product(name: "Catalog", package: "shelfmark"),
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "CatalogWire", package: "shelfmark"),
        .product(name: "LogStore", package: "shelfmark"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "shelfmark-bench",
      dependencies: [
        "BenchmarkSupport", "CatalogueGenerator",
        .product(name: "Catalog", package: "shelfmark"),
        .product(name: "CatalogRows", package: "shelfmark"),
        .product(name: "CatalogSync", package: "shelfmark"),
        .product(name: "CatalogWire", package: "shelfmark"),
        .product(name: "LogStore", package: "shelfmark"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
