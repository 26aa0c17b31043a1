import ChildProcesses
import Foundation
import SnippetCompiler
import StrataModel
import Testing

@testable import StrataModelFiles

/// The names that the generator refuses, against the members that the compiled module has.
@Suite struct GeneratedNameTests {
    private struct SymbolGraph: Decodable {
        struct Symbol: Decodable {
            struct Identifier: Decodable { let precise: String }
            struct Names: Decodable { let title: String }
            struct Kind: Decodable { let identifier: String }
            let identifier: Identifier
            let names: Names
            let kind: Kind
            let pathComponents: [String]
        }
        struct Relationship: Decodable {
            let kind: String
            let source: String
            let target: String
        }
        let symbols: [Symbol]
        let relationships: [Relationship]

        /// The names of the public properties of a type.
        func properties(of type: String) -> Set<String> {
            guard let id = symbols.first(where: { $0.pathComponents == [type] })?.identifier.precise else { return [] }
            let members = Set(relationships.filter { $0.kind == "memberOf" && $0.target == id }.map(\.source))
            return Set(
                symbols.filter { members.contains($0.identifier.precise) && $0.kind.identifier.hasSuffix(".property") }
                    .map(\.names.title))
        }
    }

    /// What `swift-symbolgraph-extract` says of the module Strata.
    private func symbolGraph() throws -> SymbolGraph {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-symbols-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "swift-symbolgraph-extract", "-module-name", "Strata", "-I", try SnippetCompiler.findModules().path,
            "-Xcc", "-fmodule-map-file=\(SnippetCompiler.sqliteModuleMap.path)", "-target", SnippetCompiler.target,
            "-minimum-access-level", "public", "-output-dir", folder.path,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        return try JSONDecoder().decode(
            SymbolGraph.self, from: try Data(contentsOf: folder.appending(path: "Strata.symbols.json")))
    }

    @Test func aPropertyOfEveryManagedObjectCannotBeTheNameOfAnAttribute() throws {
        let graph = try symbolGraph()
        let members = graph.properties(of: "ManagedObject")
        #expect(members.contains("objectID") && members.contains("survivor"))
        // A class may have members of its own in place of those of an extension of the protocol.
        let replaceable = graph.properties(of: "ManagedObjectProtocol")
        #expect(replaceable.isSuperset(of: ["id", "version", "description"]))
        let missing = members.subtracting(replaceable).filter { !$0.hasPrefix("_") }
            .subtracting(ReservedNames.members)
        #expect(missing.isEmpty, "\(missing.sorted())")
        #expect(ReservedNames.members.isDisjoint(with: replaceable.subtracting(["keys"])))
    }
}
