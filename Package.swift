// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Strata",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Strata", targets: ["Strata"]),
        .library(name: "StrataQuery", targets: ["StrataQuery"]),
        .library(name: "StrataModelFiles", targets: ["StrataModelFiles"]),
        .executable(name: "strata", targets: ["StrataTool"]),
        .executable(name: "strata-generate", targets: ["strata-generate"]),
        .executable(name: "Gazetteer", targets: ["Gazetteer"]),
        .plugin(name: "StrataPlugin", targets: ["StrataPlugin"]),
        .plugin(name: "StrataGenerateCommand", targets: ["StrataGenerateCommand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
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
        .target(name: "StrataModelFiles", dependencies: ["StrataModel", "StrataQuery", .product(name: "Yams", package: "Yams")]),
        .executableTarget(
            name: "strata-generate",
            dependencies: [
                "StrataModelFiles",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .plugin(name: "StrataPlugin", capability: .buildTool(), dependencies: ["strata-generate"]),
        .plugin(
            name: "StrataGenerateCommand",
            capability: .command(
                intent: .custom(
                    verb: "strata-generate",
                    description: "Writes the Swift classes of a target's model files into the target's folder."
                ),
                permissions: [
                    .writeToPackageDirectory(reason: "It writes the generated classes into the target's folder.")
                ]
            ),
            dependencies: ["strata-generate"]
        ),
        // Its product is `strata`. A target of that name would be the same as `Strata` on a disk that does not tell cases apart.
        .executableTarget(
            name: "StrataTool",
            dependencies: [
                "StrataModelFiles",
                "StrataSQLite",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "Gazetteer",
            dependencies: [
                "Strata",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: [.copy("Resources/GeoNames")],
            plugins: ["StrataPlugin"]
        ),
        .executableTarget(name: "CrashProbe", dependencies: ["Strata"], path: "Tests/CrashProbe"),
        .testTarget(name: "GazetteerTests", dependencies: ["Gazetteer"]),
        .target(name: "CCounters", path: "Tests/CCounters"),
        .target(name: "SeededRandom", path: "Tests/SeededRandom"),
        .executableTarget(
            name: "AllocationProbe", dependencies: ["Strata", "CCounters"], path: "Tests/AllocationProbe"),
        .executableTarget(
            name: "GateProbe", dependencies: ["Strata", "CCounters"], path: "Tests/GateProbe",
            plugins: ["StrataPlugin"]),
        .testTarget(
            name: "ProcessTests",
            dependencies: ["Strata", "StrataTool", "CrashProbe", "AllocationProbe", "GateProbe", "SeededRandom"],
            exclude: ["Gates/thresholds.json"]),
        .testTarget(name: "ReadmeTests", dependencies: ["Strata"], plugins: ["StrataPlugin"]),
        .testTarget(name: "StrataTests", dependencies: ["Strata", "SeededRandom"]),
        .testTarget(name: "TypedPredicateTests", dependencies: ["Strata"], plugins: ["StrataPlugin"]),
        .testTarget(name: "NegativeCompileTests", dependencies: ["Strata"]),
        .testTarget(name: "StrataSQLiteTests", dependencies: ["StrataSQLite", "CSQLite", "SeededRandom"]),
        .testTarget(
            name: "StrataQueryTests", dependencies: ["StrataQuery", "StrataTool", "SeededRandom"],
            resources: [.copy("Vectors")]),
        .testTarget(name: "StrataModelTests", dependencies: ["StrataModel", "SeededRandom"]),
        .testTarget(name: "StrataModelFilesTests", dependencies: ["StrataModelFiles"]),
        .testTarget(name: "ConsumerTests"),
    ],
    swiftLanguageModes: [.v6]
)
