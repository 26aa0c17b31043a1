import SeededRandom
import StrataModel
import Testing

@Suite struct NamingConventionTests {
    @Test(
        "Names of properties become snake_case, or stay as they are",
        arguments: [
            ("name", "name"), ("yearBorn", "year_born"), ("imageURL", "image_url"), ("line2Text", "line2_text"),
            ("year_born", "year_born"),
            ("x", "x"), ("aB", "a_b"), ("urlOfHTTPServer", "url_of_http_server"), ("iso3166Code", "iso3166_code"),
            ("größeInCM", "größe_in_cm"),
        ])
    func properties(_ name: String, _ stored: String) {
        #expect(NamingConvention.snakeCase.storedName(ofProperty: name) == stored)
        #expect(NamingConvention.verbatim.storedName(ofProperty: name) == name)
    }

    @Test(
        "Names of entities become snake_case, or stay as they are",
        arguments: [
            ("TodoItem", "todo_item"), ("HTTPServer", "http_server"), ("City", "city"), ("A", "a"), ("URL", "url"),
        ])
    func entities(_ name: String, _ stored: String) {
        #expect(NamingConvention.snakeCase.storedName(ofEntity: name) == stored)
        #expect(NamingConvention.verbatim.storedName(ofEntity: name) == name)
    }

    @Test("Stored names lead back to the names of properties and entities")
    func wayBack() {
        let naming = NamingConvention.snakeCase
        #expect(naming.propertyName(ofStored: "year_born") == "yearBorn")
        #expect(naming.propertyName(ofStored: "line2_text") == "line2Text")
        #expect(naming.propertyName(ofStored: "yearBorn") == "yearBorn")
        #expect(naming.propertyName(ofStored: "line_2") == "line_2")
        #expect(naming.propertyName(ofStored: "a__b_") == "a__b_")
        #expect(naming.entityName(ofStored: "todo_item") == "TodoItem")
        #expect(NamingConvention.verbatim.propertyName(ofStored: "year_born") == "year_born")
        #expect(naming.storedName(ofProperty: "address.zipCode") == "address_zip_code")
        #expect(NamingConvention.verbatim.storedName(ofProperty: "address.zipCode") == "address_zipCode")
    }

    /// Random names in camelCase without runs of capitals come back; converting twice changes nothing; every name of a
    /// model is found again.
    @Test("Random names come back from their stored form, and converting twice changes nothing")
    func randomNames() throws {
        let seed = RunSeed.value()
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            let words = (0..<Int.random(in: 1...4, using: &random)).map { _ in Self.word(&random) }
            let name = words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            let stored = NamingConvention.snakeCase.storedName(ofProperty: name)
            #expect(NamingConvention.snakeCase.propertyName(ofStored: stored) == name, "seed \(seed)")
            #expect(NamingConvention.snakeCase.storedName(ofProperty: stored) == stored, "seed \(seed)")
            #expect(stored == stored.lowercased(), "seed \(seed)")
            let entity = name.prefix(1).uppercased() + name.dropFirst()
            let table = NamingConvention.snakeCase.storedName(ofEntity: entity)
            #expect(NamingConvention.snakeCase.entityName(ofStored: table) == entity, "seed \(seed)")
        }
    }

    @Test func lookUpIsExact() throws {
        let model = try ManagedObjectModel(name: "Names") {
            Entity("HTTPServer") {
                Attribute("imageURL", .string)
                Attribute("year_born", .integer16)
                Attribute("address", .composite([CompositeElement("zipCode", .string)]))
                Relationship("peerServers", to: "HTTPServer", .toMany)
            }
        }
        let entity = try #require(model.entity(storedName: "http_server"))
        #expect(entity.name == "HTTPServer")
        #expect(entity.property(storedName: "image_url") == "imageURL")
        #expect(entity.property(storedName: "year_born") == "year_born")
        #expect(entity.property(storedName: "address_zip_code") == "address.zipCode")
        #expect(entity.property(storedName: "peer_servers") == "peerServers")
        #expect(entity.property(storedName: "imageURL") == nil)
    }

    private static func word(_ random: inout SplitMix64) -> String {
        let first = "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random)!
        return String(first)
            + String(
                (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    "abcdefghijklmnopqrstuvwxyz0123456789".randomElement(using: &random)!
                })
    }
}
