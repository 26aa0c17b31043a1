import Foundation
import StrataModel
import StrataModelExport
import StrataModelFiles
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite struct DiagramTests {
    /// A model small enough to see that each line is right.
    static func small() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Small & <round>") {
            Entity("Country") {
                Attribute("countryId", .string)
                Attribute("area", .double, optional: true)
                Relationship("cities", to: "City", .toMany, inverse: "country")
                Relationship("neighbours", to: "Country", .toMany, inverse: "neighbours")
            }
            Entity("City") {
                Relationship("country", to: "Country", .toOne, inverse: "cities")
            }
            Entity("Capital", inherits: "City")
        }
    }

    @Test("A Mermaid diagram has entities, keys, inheritance and relationships")
    func mermaid() throws {
        #expect(
            try EntityDiagram(model: Self.small()).mermaid() == """
                erDiagram
                    Country {
                        string countryId PK
                        double area "optional"
                    }
                    City
                    Capital
                    City ||..o| Capital : "is a"
                    Country ||--o{ City : "cities / country"
                    Country }o--o{ Country : "neighbours / neighbours"

                """)
    }

    @Test("A DOT diagram has inheritance and both ends of relationships, and escapes names")
    func dot() throws {
        let dot = try EntityDiagram(model: Self.small()).dot()
        #expect(dot.hasPrefix("digraph \"Small & <round>\" {\n"))
        #expect(dot.contains("\"City\" -> \"Capital\" [arrowtail=onormal, arrowhead=none, style=dashed];"))
        #expect(
            dot.contains(
                "\"Country\" -> \"City\" [arrowtail=teetee, arrowhead=crowodot, tooltip=\"cities / country\"];"))
        #expect(dot.contains("<b>countryId</b>"))
    }

    @Test func svgIsWellFormedAndComplete() throws {
        for model in [try Self.small(), try libraryFile().model(), try ManagedObjectModel(name: "Empty", entities: [])]
        {
            let svg = EntityDiagram(model: model).svg()
            let parser = XMLParser(data: Data(svg.utf8))
            let texts = Texts()
            parser.delegate = texts
            #expect(parser.parse())
            for entity in model.entities {
                #expect(texts.found.contains(entity.name))
                for attribute in entity.declaration.attributes { #expect(texts.found.contains(attribute.name)) }
                for relationship in entity.declaration.relationships {
                    #expect(texts.found.contains(relationship.name))
                }
            }
            #expect(svg == EntityDiagram(model: model).svg())
        }
    }

    /// Boxes keep apart, and lines go round them.
    @Test func nothingOverlapsInTheSVG() throws {
        let svg = try EntityDiagram(model: libraryFile().model()).svg()
        let boxes = svg.matches(
            of: /<rect class="box" x="([0-9.-]+)" y="([0-9.-]+)" width="([0-9.]+)" height="([0-9.]+)"/
        ).map { match in
            CGRect(x: Double(match.1)!, y: Double(match.2)!, width: Double(match.3)!, height: Double(match.4)!)
        }
        #expect(boxes.count == 9)
        for (index, a) in boxes.enumerated() {
            for b in boxes[(index + 1)...] { #expect(!a.intersects(b), "\(a) overlaps \(b)") }
        }
    }

    private final class Texts: NSObject, XMLParserDelegate {
        var found: Set<String> = []
        private var text = ""
        func parser(
            _: XMLParser, didStartElement _: String, namespaceURI _: String?, qualifiedName _: String?,
            attributes _: [String: String]
        ) {
            text = ""
        }
        func parser(_: XMLParser, foundCharacters characters: String) { text += characters }
        func parser(_: XMLParser, didEndElement name: String, namespaceURI _: String?, qualifiedName _: String?) {
            if name == "text" { found.insert(text) }
            text = ""
        }
    }
}
