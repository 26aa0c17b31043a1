import Foundation
import StrataModel
import Testing

/// What is wrong with declarations, as `Entity.property: message`, without the place.
func faults(naming: NamingConvention = .snakeCase, @ModelBuilder _ content: () -> [Entity]) -> [String] {
    ManagedObjectModel.faults(in: content(), naming: naming).map { fault in
        var fault = fault
        fault.location = nil
        return String(fault.description.dropFirst("error: ".count))
    }
}

/// An entity with one attribute.
private func one(_ attribute: Attribute) -> Entity { Entity("City") { attribute } }

@Suite struct ModelCheckerTests {
    @Test func allFaultsComeAtOnceWithTheirPlaces() throws {
        let line = #line
        let entities = [
            Entity("City") {
                Attribute("name", .string).range(1...2)
                Relationship("country", to: "Contry")
            },
            Entity("Country"),
            Entity("Country", inherits: "Nothing"),
        ]
        let error = try #require(throws: ModelError.self) { try ManagedObjectModel(name: "Faulty", entities: entities) }
        #expect(error.model == "Faulty")
        #expect(error.faults.count == 5)
        #expect(error.faults.map(\.entity) == ["Country", "City", "City", "City", "Country"])
        #expect(error.faults.map(\.property) == [nil, "name", "name", "country", nil])
        #expect(error.faults.map { ($0.location?.line ?? 0) - line } == [7, 3, 3, 4, 7])
        #expect(error.faults[3].message == "leads to Contry, which the model does not have; did you mean 'Country'?")
        let file = "StrataModelTests/ModelCheckerTests.swift"
        #expect(error.faults[3].description.hasPrefix("\(file):\(line + 4):"))
        #expect(error.faults[3].description.contains(": error: City.country: leads to Contry"))
    }

    @Test("Invalid names are refused, with the right form")
    func names() {
        #expect(faults { Entity("city") } == ["city: names of entities begin with a capital letter: City"])
        #expect(
            faults { Entity("My City") } == [
                "My City: 'My City' is not a valid name: use letters, digits and underscores, and begin with a capital letter"
            ])
        #expect(
            faults { Entity("") } == [
                "'' is not a valid name: use letters, digits and underscores, and begin with a capital letter"
            ])
        #expect(
            faults { Entity("_City") } == [
                "_City: names that begin with an underscore are the store's own; choose another name"
            ])
        #expect(faults { Entity("Self") } == ["Self: Self has a meaning of its own in Swift; choose another name"])
        #expect(
            faults { one(Attribute("Name", .string)) } == [
                "City.Name: names of properties begin with a small letter: name"
            ])
        #expect(
            faults { one(Attribute("_id", .string)) } == [
                "City._id: names that begin with an underscore are the store's own; choose another name"
            ])
        #expect(
            faults { one(Attribute("a-b", .string)) } == [
                "City.a-b: 'a-b' is not a valid name: use letters, digits and underscores, and begin with a small letter"
            ])
        #expect(faults { one(Attribute("2nd", .string)) }.count == 1)
        #expect(
            faults { one(Attribute("u\u{308}ber", .string)) }.count == 1,
            "letters in decomposed form have two spellings")
        #expect(faults { one(Attribute("über", .string)) } == [])
        #expect(
            faults { Entity("A").className("b") } == [
                "A: class name b: names of entities begin with a capital letter: B"
            ])
        #expect(
            faults {
                Entity("A").className("X")
                Entity("X")
            } == ["X: the class X is that of A already; choose another name"])
        #expect(
            faults {
                Entity("A").renamed(from: "Z")
                Entity("B").renamed(from: "Z")
            } == ["B: two entities were renamed from Z; only one can be"])
        #expect(
            faults {
                Entity("A") {
                    Attribute("x", .string).renamed(from: "z")
                    Attribute("y", .string).renamed(from: "z")
                }
            }
                == ["A.y: two properties were renamed from z; only one can be"])
        #expect(faults { one(Attribute("x", .string).renamed(from: "")) }.count == 1)
    }

    @Test func repeatedAndHiddenProperties() {
        let twice = faults {
            Entity("City") {
                Attribute("name", .string)
                Relationship("name", to: "City")
            }
        }
        #expect(twice.count == 1)
        #expect(twice[0].hasPrefix("City.name: the property is declared twice (first at "))
        let hidden = faults {
            Entity("Place") { Attribute("name", .string) }
            Entity("City", inherits: "Place")
            Entity("Capital", inherits: "City") { Attribute("name", .string) }
        }
        #expect(hidden == ["Capital.name: the property hides Place.name, which Capital inherits; rename or remove it"])
    }

    @Test("Unknown parents and circles of inheritance are refused by name")
    func inheritance() {
        #expect(
            faults {
                Entity("A", inherits: "Placee")
                Entity("Place")
            } == ["A: inherits from Placee, which the model does not have; did you mean 'Place'?"])
        #expect(faults { Entity("A", inherits: "A") } == ["A: inherits from itself: A from A; break the circle"])
        let circle = faults {
            Entity("A", inherits: "B")
            Entity("B", inherits: "C")
            Entity("C", inherits: "A") { Attribute("x", .string) }
            Entity("D", inherits: "A")
        }
        #expect(circle.count == 3)
        #expect(circle[0] == "A: inherits from itself: A from B from C from A; break the circle")
        #expect(faults { Entity("A", abstract: true) }.count == 1)
        #expect(
            faults {
                Entity("A", abstract: true)
                Entity("B", inherits: "A", abstract: true)
            }.count == 2)
        #expect(
            faults {
                Entity("A", abstract: true)
                Entity("B", inherits: "A", abstract: true)
                Entity("C", inherits: "B")
            } == [])
    }

    @Test("A primary key is a stored attribute of type string or integer64")
    func primaryKeys() {
        #expect(
            faults { Entity("A", primaryKey: "kex") { Attribute("key", .string) } } == [
                "A: the primary key kex is not an attribute of A; did you mean 'key'?"
            ])
        #expect(
            faults { Entity("A", primaryKey: "key") { Attribute("key", .integer32) } } == [
                "A: the primary key key is of type integer32; primary keys are of type string or integer64"
            ])
        #expect(faults { Entity("A", primaryKey: "key") { Attribute("key", .integer64, optional: true) } } == [])
        #expect(faults { Entity("A", primaryKey: "key") { Attribute("key", .string).transient() } }.count == 1)
        #expect(faults { Entity("A", user: true) }.count == 1)
        #expect(faults { Entity("A", user: true) { Attribute("username", .string) } } == [])
        #expect(faults { Entity("A", user: true, primaryKey: "mail") { Attribute("mail", .string) } } == [])
    }

    @Test("Validation rules that do not fit the type of the attribute are refused")
    func rules() {
        func check(_ attribute: Attribute) -> [String] {
            faults { one(attribute) }.map { $0.replacingOccurrences(of: "City.x: ", with: "") }
        }
        #expect(
            check(Attribute("x", .string).range(1...2)) == [
                "a minimum is for numbers and dates, not for string",
                "a maximum is for numbers and dates, not for string",
            ])
        #expect(check(Attribute("x", .date).range(1...)) == ["the minimum 1 is not a date"])
        #expect(check(Attribute("x", .double).range(minimum: nil, maximum: .date(Date()))).count == 1)
        #expect(
            check(Attribute("x", .integer16).range(minimum: 3, maximum: 2)) == ["the minimum 3 is above the maximum 2"])
        #expect(
            check(Attribute("x", .decimal).range(minimum: 2.5, maximum: .decimal(2))) == [
                "the minimum 2.5 is above the maximum 2"
            ])
        #expect(
            check(Attribute("x", .boolean).length(1...)) == [
                "a length is for strings, binary data and arrays, not for boolean"
            ]
        )
        #expect(
            check(Attribute("x", .string).length(minimum: 3, maximum: 2)) == [
                "the minimum length 3 is above the maximum length 2"
            ])
        #expect(check(Attribute("x", .string).length(minimum: -1, maximum: nil)) == ["the length -1 is negative"])
        #expect(
            check(Attribute("x", .string).matching("(")) == [
                "'(' is not a regular expression: at position 0 the group has no closing parenthesis"
            ])
        #expect(check(Attribute("x", .uri).matching("a")) == ["a regular expression is for strings, not for uri"])
        #expect(check(Attribute("x", .integer64).range(0...9).indexed().unique()) == [])
    }

    @Test("Defaults that the type cannot hold are refused")
    func defaults() {
        func check(_ type: AttributeType, _ value: AttributeDefault, _ change: (Attribute) -> Attribute = { $0 })
            -> [String]
        {
            faults { one(change(Attribute("x", type, default: value))) }.map {
                $0.replacingOccurrences(of: "City.x: ", with: "")
            }
        }
        #expect(check(.integer16, .value(40_000)) == ["the default 40000 is outside of what integer16 can hold"])
        #expect(check(.integer32, .value("1")) == ["the default \"1\" is of type string, not integer32"])
        #expect(check(.string, .value(1)) == ["the default 1 is of type integer, not string"])
        #expect(check(.double, .value(1)) == [])
        #expect(check(.boolean, .value(1)) == ["the default 1 is of type integer, not boolean"])
        #expect(check(.geoPoint, .value(.geoPoint(GeoPoint(latitude: 91, longitude: 0)))).count == 1)
        #expect(check(.string, .now) == ["the time of insertion is a default for dates, not for string"])
        #expect(check(.date, .newUUID) == ["a new UUID is a default for uuid and string, not for date"])
        #expect(check(.date, .now) == [] && check(.uuid, .newUUID) == [] && check(.string, .newUUID) == [])
        #expect(check(.string, .newUUID) { $0.length(...8) } == ["a new UUID as text is longer than 8"])
        #expect(check(.string, .value(nil)).count == 1)
        #expect(check(.integer16, .value(5)) { $0.range(6...) } == ["the default 5 is below the minimum 6"])
        #expect(check(.double, .value(5)) { $0.range(...4.5) } == ["the default 5 is above the maximum 4.5"])
        #expect(
            check(.string, .value("abc")) { $0.matching("[a-b]+") } == ["the default \"abc\" does not match '[a-b]+'"])
        #expect(check(.string, .value("")) { $0.length(1...) } == ["the default \"\" is shorter than 1"])
        #expect(
            check(.composite([CompositeElement("a", .string)]), .value("x")) == [
                "a composite has no default; make it or its elements optional"
            ])
    }

    @Test("Composites have elements with different names and are not nested")
    func types() {
        func check(_ type: AttributeType) -> [String] { faults { one(Attribute("x", type)) } }
        #expect(check(.composite([])) == ["City.x: a composite has at least one element"])
        #expect(
            check(.composite([CompositeElement("a", .string), CompositeElement("a", .date)])) == [
                "City.x: the element a is declared twice; rename one of them"
            ])
        #expect(
            check(.composite([CompositeElement("a", .composite([CompositeElement("b", .string)]))])) == [
                "City.x: the element a is a composite itself; composites are not nested"
            ])
        #expect(check(.composite([CompositeElement("_a", .string)])).count >= 1)
        #expect(check(.transformable(" ")) == ["City.x: a transformable names its Swift type"])
    }

    @Test func flagsAndIndexes() {
        #expect(
            faults { one(Attribute("x", .string).transient().unique()) } == [
                "City.x: is not kept by the store, which cannot make it unique; remove the index"
            ])
        #expect(
            faults { one(Attribute("x", .string).transient().indexed()) } == [
                "City.x: is not kept by the store, which cannot index it; remove the index"
            ])
        #expect(faults { one(Attribute("x", .binary).unique()) }.count == 1)
        #expect(faults { one(Attribute("x", .geoPoint).unique()) }.count == 1)
        #expect(faults { one(Attribute("x", .geoPoint).indexed()) } == [])
        #expect(
            faults { one(Attribute("x", .string).externalStorage()) } == [
                "City.x: is of type string; only binary data can be stored in external files"
            ])
        #expect(faults { one(Attribute("x", .binary).externalStorage().transient()) }.count == 1)
        func index(_ index: Index) -> [String] {
            faults {
                Entity("City") {
                    Attribute("name", .string)
                    Attribute("position", .geoPoint)
                    Attribute("picture", .binary)
                    Attribute("address", .composite([CompositeElement("street", .string)]))
                    Attribute("scratch", .string).transient()
                    Relationship("twins", to: "City", .toMany)
                    Relationship("twin", to: "City")
                    index
                }
            }.map { $0.replacingOccurrences(of: "City: ", with: "") }
        }
        #expect(index(Index("name", "-twin", "address.street")) == [])
        #expect(
            index(Index("position", kind: .spatial)) == []
                && index(Index("name", "address.street", kind: .fullText)) == [])
        #expect(index(Index([], kind: .ordered, location: nil)) == ["an index covers at least one property"])
        #expect(index(Index("nam")) == ["nam is not a property of City; did you mean 'name'?"])
        #expect(index(Index("address.stret")) == ["address has no element stret"])
        #expect(
            index(Index("twins")) == [
                "twins leads to many objects; an index covers attributes and to-one relationships"
            ])
        #expect(index(Index("twin", kind: .fullText)) == ["twin is a relationship; a fullText index covers attributes"])
        #expect(index(Index("position")) == ["position is of type geoPoint; use a spatial index"])
        #expect(index(Index("address")).count == 1 && index(Index("picture", kind: .unique)).count == 1)
        #expect(index(Index("name", kind: .spatial)) == ["name is of type string; a spatial index covers a geoPoint"])
        #expect(
            index(Index("position", kind: .fullText)) == [
                "position is of type geoPoint; a fullText index covers strings"
            ])
        #expect(index(Index("scratch")) == ["scratch is not kept by the store and cannot be in an index"])
        #expect(index(Index("name", "-name")).count == 1 && index(Index("-name", kind: .fullText)).count == 1)
        #expect(index(Index("position", "position", kind: .spatial)).count == 2)
        #expect(
            faults {
                Entity("A") {
                    Attribute("x", .string)
                    Index("x")
                    Index("x")
                }
            }.count == 1)
    }
}
