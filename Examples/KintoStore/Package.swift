// swift-tools-version: 6.2
import PackageDescription

// A store for Kinto as somebody else would write it, with only the public interface of Strata. Documentation/WriteAStore.md
// first writes the dialect of Shelf, an invented service; its section "A service of today: Kinto" shows what this package adds.
let package = Package(
    name: "KintoStore",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "KintoStore", targets: ["KintoStore"])],
    dependencies: [.package(name: "Strata", path: "../..", traits: ["Remote"])],
    targets: [
        .target(name: "KintoStore", dependencies: [.product(name: "StrataRemote", package: "Strata")]),
        .testTarget(
            name: "KintoStoreTests",
            dependencies: ["KintoStore", .product(name: "StrataRemoteTesting", package: "Strata")],
            exclude: ["kinto-server.py"]),
    ],
    swiftLanguageModes: [.v6]
)
