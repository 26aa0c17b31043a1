import Foundation
import Testing

@testable import StrataCoreDataModel

struct VersionHashTests {
    private struct Vector: Decodable {
        var store: String
        var hashes: [String: String]
    }

    @Test func sha256AgreesWithTheStandard() {
        var hash = SHA256Hash()
        hash.update("abc")
        let digits = hash.digest().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(digits == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test(arguments: [
        ("BigNerdRanch-TestModel", "Sample.xcdatamodeld", "TestModel"),
        ("CoreDataPlus-SampleModel_V1", "SampleModel.xcdatamodeld", "SampleModel"),
        ("CoreDataPlus-SampleModel_V2", "SampleModel.xcdatamodeld", "SampleModel2"),
        ("CoreDataPlus-SampleModel3_V1", "SampleModel3.xcdatamodeld", "SampleModel3"),
    ])
    func hashesOfModelFilesEqualThoseInStores(store: String, bundle: String, version: String) throws {
        let vectors = try JSONDecoder().decode([Vector].self, from: Samples.data("hash-vectors.json"))
        let vector = try #require(vectors.first { $0.store == store + ".sqlite" })
        let file = try CoreDataModelFile.read(path: Samples.path(bundle), version: version)
        let hashes = CoreDataVersionHashes(file.model)
        #expect(hashes.unknown.isEmpty)
        for (name, digits) in vector.hashes { #expect(hashes.hexadecimal(name) == digits, "\(name)") }
    }

    @Test(arguments: [("BigNerdRanch-TestModel", "TestModel"), ("CoreDataPlus-SampleModel_V2", "SampleModel2")])
    func hashesOfCompiledModelsEqualThoseInStores(store: String, name: String) throws {
        let vectors = try JSONDecoder().decode([Vector].self, from: Samples.data("hash-vectors.json"))
        let vector = try #require(vectors.first { $0.store == store + ".sqlite" })
        let hashes = CoreDataVersionHashes(try CoreDataModelFile.read(path: Samples.path(name + ".mom")).model)
        for (name, digits) in vector.hashes { #expect(hashes.hexadecimal(name) == digits, "\(name)") }
    }

    @Test func hashesAndChecksumsEqualThoseOfVersionInfo() throws {
        let list = try #require(PropertyList(data: Samples.data("SampleModel3-VersionInfo.plist")).dictionary)
        let versions = try #require(list["NSManagedObjectModel_VersionHashes"]?.dictionary)
        #expect(versions.count == 3)
        for (version, entities) in versions {
            let file = try CoreDataModelFile.read(path: Samples.path("SampleModel3.xcdatamodeld"), version: version)
            let hashes = CoreDataVersionHashes(file.model)
            #expect(hashes.hashes == entities.dictionary?.compactMapValues(\.data))
            #expect(hashes.checksum == list["NSManagedObjectModel_VersionChecksums"]?.dictionary?[version]?.string)
        }
    }

    @Test func anEntityWithADerivedAttributeHasAReasonInPlaceOfAHash() {
        var attribute = CoreDataAttribute(name: "count", type: .integer64)
        attribute.derivation = "pages.@count"
        var entity = CoreDataEntity(name: "Book")
        entity.attributes = [attribute]
        var heir = CoreDataEntity(name: "Novel")
        heir.parent = "Book"
        var model = CoreDataModel(name: "Books")
        model.entities = [entity, heir]
        let hashes = CoreDataVersionHashes(model)
        #expect(hashes.hashes.isEmpty && hashes.checksum == nil)
        #expect(hashes.unknown == ["Book": "Book.count is derived", "Novel": "Book.count is derived"])
    }
}
