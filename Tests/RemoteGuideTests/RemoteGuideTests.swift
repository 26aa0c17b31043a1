import Foundation
import GuidePages
import Testing

/// The code of the README, the tutorial, and the guides about remote stores and the server is in files of this target, so the compiler reads it; that of
/// the server, and of async-http-client, if their traits are on.
@Suite struct RemoteGuideTests {
    /// The first lines of blocks that are parts of a manifest.
    private static let fragments = [
        "Remote": "dependencies: [",
        "WriteAStore": "dependencies: [",
        "GettingStarted":
            #"dependencies: [.package(url: "https://github.com/OWNER/strata", from: "0.1.0", traits: ["Remote"])],"#,
    ]

    @Test(
        "Every example of a guide is in a file that is compiled",
        arguments: [
            "README", "GettingStarted", "Remote", "StackMob", "MaxLeap", "Azure", "Server", "Testing", "WriteAStore",
        ])
    func compiled(name: String) throws {
        let page = try GuidePage(name)
        let fragment = Self.fragments[name]
        let missing = try page.uncompiledBlocks(except: fragment.map { [$0] } ?? [])
        #expect(missing.isEmpty, "\(name) has examples that no \(name)Guide.swift has")
        #expect(page.blocks.contains { $0.language == "swift" && $0.firstLine != fragment })
        #expect(try page.unreadModels().isEmpty, "\(name) has models that no model file of the tests has")
    }

    @Test(
        "Every example of a landing page is in a file that is compiled",
        arguments: [
            "Strata", "StrataRemote", "StrataStackMob", "StrataTesting", "StrataRemoteTesting", "StrataModelExport",
            "StrataModelFiles",
            "StrataServer",
        ])
    func landingPages(module: String) throws {
        let page = try GuidePage(landingPageOf: module)
        #expect(page.blocks.contains { $0.language == "swift" })
        #expect(try page.uncompiledBlocks().isEmpty, "\(module).md has examples that CatalogGuide.swift does not have")
    }

    @Test(
        "What the guides show of a manifest names products and traits of this package",
        arguments: ["Remote": "StrataAsyncHTTP", "GettingStarted": "StrataStackMob"])
    func manifest(page: String, product: String) throws {
        let block = try #require(try GuidePage(page).blocks.first { $0.firstLine == Self.fragments[page] })
        #expect(block.text.contains(".product(name: \"\(product)\", package: \"strata\")"))
        #expect(try PackageManifest().unknownNames(in: block.text) == [])
    }
}
