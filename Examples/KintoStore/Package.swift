// swift-tools-version: 6.2
import PackageDescription

// A store for Kinto as somebody else would write it, with only the public interface of Strata. The guide
// Documentation/WriteAStore.md is based on it.
let package = Package(
    name: "KintoStore",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "KintoStore", targets: ["KintoStore"])],
    dependencies: [.package(name: "Strata", path: "../..", traits: ["Remote"])],
    targets: [
        .target(name: "KintoStore", dependencies: [.product(name: "StrataRemote", package: "Strata")]),
        .testTarget(
            name: "KintoStoreTests",
            dependencies: ["KintoStore", .product(name: "StrataTesting", package: "Strata")],
            exclude: ["kinto-server.py"]),
    ],
    swiftLanguageModes: [.v6]
)
