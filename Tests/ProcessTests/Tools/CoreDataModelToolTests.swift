import Foundation
import Testing

struct CoreDataModelToolTests {
    private static let contents = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
            <entity name="User" representedClassName="User" syncable="YES">
                <attribute name="name" attributeType="String"/>
                <attribute name="petName" optional="YES" attributeType="String"/>
            </entity>
        </model>
        """

    /// A folder with a model of one version.
    private static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let version = folder.appendingPathComponent("Users.xcdatamodeld/Users.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data(contents.utf8).write(to: version.appendingPathComponent("contents"))
        return folder
    }

    @Test func hashesAreThoseOfCoreData() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try StrataTool.run("model", "hashes", folder.path + "/Users.xcdatamodeld", "--json")
        #expect(run.status == 0)
        #expect(
            try run.json() as? [String: String]
                == ["User": "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798"])
    }

    @Test func convertLeadsToStrataAndBackToTheSameHashes() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.path + "/Users.xcdatamodeld"
        let yaml = folder.path + "/Users.strata.yaml"
        let back = folder.path + "/Back.xcdatamodeld"
        #expect(try StrataTool.run("model", "convert", source, "-o", yaml).status == 0)
        #expect(try StrataTool.run("model", "check", yaml, source).status == 0)
        #expect(try StrataTool.run("model", "convert", yaml, "-o", back).status == 0)
        let hashes = try StrataTool.run("model", "hashes", back).output
        #expect(hashes == (try StrataTool.run("model", "hashes", source).output) && hashes.hasPrefix("User"))
        #expect(try StrataTool.run("model", "convert", source, "-o", back).status == 1)
    }

    @Test func showAndDiagramReadTheVersionThatIsAskedFor() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.path + "/Users.xcdatamodeld"
        #expect(try StrataTool.run("model", "show", source, "--version", "Users").output.contains("petName"))
        #expect(try StrataTool.run("model", "diagram", source, "--format", "dot").output.contains("User"))
        let missing = try StrataTool.run("model", "show", source, "--version", "Users 2")
        #expect(missing.status == 1 && missing.errors.contains("there is no version 'Users 2'"))
    }
}
