// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Strata",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Strata", targets: ["Strata"]),
        .executable(name: "Gazetteer", targets: ["Gazetteer"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]
        ),
        .target(name: "StrataModel"),
        .target(name: "StrataQuery", dependencies: ["StrataModel"]),
        .target(name: "StrataStore", dependencies: ["StrataQuery"]),
        .target(name: "StrataSQLite", dependencies: ["StrataStore", "CSQLite"]),
        .target(name: "Strata", dependencies: ["StrataSQLite"]),
        .executableTarget(
            name: "Gazetteer",
            dependencies: [
                "Strata",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: [.copy("Resources/GeoNames")]
        ),
        .testTarget(name: "GazetteerTests", dependencies: ["Gazetteer"]),
        .testTarget(name: "StrataSQLiteTests", dependencies: ["StrataSQLite", "CSQLite"]),
    ],
    swiftLanguageModes: [.v6]
)
