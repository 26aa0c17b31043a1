import StrataModel
import Testing

@Suite struct RelationshipCheckTests {
    private func check(_ a: [Relationship], _ b: [Relationship] = []) -> [String] {
        faults {
            Entity("A") { for relationship in a { relationship } }
            Entity("B") { for relationship in b { relationship } }
        }
    }

    @Test("An inverse exists and points back, or the error says what is missing")
    func inverses() {
        #expect(
            check([Relationship("b", to: "B", inverse: "as")], [Relationship("as", to: "A", .toMany, inverse: "b")])
                == [])
        #expect(
            check([Relationship("b", to: "B", inverse: "ass")], [Relationship("as", to: "A", .toMany)])
                == ["A.b: the inverse B.ass does not exist; did you mean 'as'?"])
        #expect(
            check([Relationship("b", to: "B", inverse: "as")], [Relationship("as", to: "A", .toMany)])
                == ["A.b: the inverse B.as does not point back: it names no inverse; give it the inverse b"])
        #expect(
            check([Relationship("b", to: "B", inverse: "other")], [Relationship("other", to: "B", inverse: "other")])
                == ["A.b: the inverse B.other leads to B, not to A"])
        #expect(
            check(
                [Relationship("b", to: "B", inverse: "as"), Relationship("c", to: "B", inverse: "as")],
                [Relationship("as", to: "A", .toMany, inverse: "b")])
                == ["A.c: the inverse B.as does not point back: it has the inverse b; give it the inverse c"])
        #expect(check([Relationship("twins", to: "A", .toMany, inverse: "twins")]) == [])
        #expect(check([Relationship("twins", to: "A", .orderedToMany, inverse: "twins")]).count == 1)
        let inherited = faults {
            Entity("Place") { Relationship("country", to: "Country", inverse: "cities") }
            Entity("City", inherits: "Place")
            Entity("Country") { Relationship("cities", to: "City", .toMany, inverse: "country") }
        }
        #expect(inherited.count == 2)
        #expect(inherited[0] == "Place.country: the inverse Country.cities leads to City, not to Place")
    }

    @Test("Orders and counts that do not fit the relationship are refused")
    func shapes() {
        var ordered = Relationship("b", to: "B")
        ordered.isOrdered = true
        #expect(check([ordered]) == ["A.b: a to-one relationship has no order; remove 'ordered'"])
        #expect(
            check([Relationship("b", to: "B").count(1, 2)]) == [
                "A.b: a to-one relationship has no counts; make it required instead"
            ])
        #expect(
            check([Relationship("b", to: "B", .toMany).count(3, 2)]) == [
                "A.b: the minimum count 3 is above the maximum count 2"
            ])
        #expect(check([Relationship("b", to: "B", .toMany).count(3)]) == [])
        #expect(check([Relationship("b", to: "B", .toMany).count(-1, 2)]) == ["A.b: counts cannot be negative"])
        var required = Relationship("b", to: "B", .toMany)
        required.isOptional = false
        #expect(check([required]).count == 1)
        #expect(check([Relationship("b", to: "B", .toOne, deleteRule: .deny)]).count == 1)
        #expect(check([Relationship("b", to: "B", .toMany, deleteRule: .deny).count(1)]).count == 1)
        #expect(check([Relationship("b", to: "B", .toMany, deleteRule: .deny)]) == [])
    }

    @Test func aRequiredEndMayBeNullified() {
        #expect(
            check(
                [Relationship("b", to: "B", .toOne, inverse: "as")],
                [Relationship("as", to: "A", .toMany, inverse: "b", deleteRule: .nullify)]) == [])
    }

    @Test func storedNamesThatMeet() {
        #expect(
            faults {
                Entity("TodoItem")
                Entity("Todo_Item")
            } == ["Todo_Item: is stored as 'todo_item', and so is TodoItem; rename one of them"])
        #expect(
            faults(naming: .verbatim) {
                Entity("TodoItem")
                Entity("Todo_Item")
            } == [])
        #expect(
            faults(naming: .verbatim) {
                Entity("TodoItem")
                Entity("Todoitem")
            }.count == 1, "SQLite does not tell capitals from small letters")
        #expect(
            faults { Entity("SqliteThing") } == [
                "SqliteThing: is stored as 'sqlite_thing'; names that begin with sqlite_ are SQLite's own"
            ])
        let columns = faults {
            Entity("A") {
                Attribute("yearBorn", .integer16)
                Attribute("year_born", .integer16)
                Attribute("address", .composite([CompositeElement("street", .string)]))
                Attribute("addressStreet", .string)
            }
        }
        #expect(
            columns == [
                "A.year_born: year_born is stored as 'year_born', and so is yearBorn; rename one of them",
                "A.addressStreet: addressStreet is stored as 'address_street', and so is address.street; rename one of them",
            ])
        let inherited = faults {
            Entity("A") { Attribute("yearBorn", .integer16) }
            Entity("B", inherits: "A") { Relationship("year_born", to: "A", .toMany) }
        }
        #expect(
            inherited == ["B.year_born: year_born is stored as 'year_born', and so is yearBorn; rename one of them"])
    }

    @Test func siblingsShareColumnsOfOneKind() {
        func siblings(_ a: any EntityComponent, _ b: any EntityComponent) -> [String] {
            faults {
                Entity("Root")
                Entity("A", inherits: "Root") { [a] }
                Entity("B", inherits: "Root") { [b] }
            }
        }
        #expect(siblings(Attribute("size", .integer16), Attribute("size", .integer64)) == [])
        #expect(siblings(Attribute("size", .integer16), Attribute("size", .string)).count == 1)
        #expect(
            siblings(Attribute("size", .integer16), Attribute("size", .string))[0].hasPrefix(
                "B.size: shares the column 'size' with A.size, which holds whole numbers and not text"))
        #expect(siblings(Attribute("size", .integer16), Relationship("size", to: "Root")).count == 1)
        #expect(
            siblings(Relationship("size", to: "A"), Relationship("size", to: "B")) == [], "one hierarchy has one table")
        #expect(siblings(Attribute("size", .integer16), Attribute("size", .string).transient()) == [])
    }

    @Test("Derivations that lead nowhere or have another type are refused")
    func derivations() {
        func check(_ attribute: Attribute) -> [String] {
            faults {
                Entity("Country") {
                    Attribute("name", .string)
                    Attribute("area", .double)
                    Attribute("scratch", .string).transient()
                    Attribute("nickname", .string, optional: true)
                    Relationship("cities", to: "City", .toMany, inverse: "country")
                    Relationship("capital", to: "City")
                    attribute
                }
                Entity("City") {
                    Attribute("name", .string)
                    Attribute("population", .integer64)
                    Relationship("country", to: "Country", .toOne, inverse: "cities")
                }
            }.map { $0.replacingOccurrences(of: "Country.x: ", with: "") }
        }
        func derived(_ type: AttributeType, _ derivation: Derivation) -> Attribute {
            Attribute("x", type).derived(derivation)
        }
        #expect(check(derived(.string, .lowercase("name"))) == [])
        #expect(
            check(derived(.string, .uppercase("nam"))) == [
                "is derived from nam, but Country has no such attribute; did you mean 'name'?"
            ])
        #expect(
            check(derived(.string, .canonical("area"))) == [
                "is derived from area, which is of type double and no string"
            ])
        #expect(check(derived(.string, .canonical("scratch"))).count == 1)
        #expect(
            check(derived(.string, .canonical("nickname"))) == [
                "is derived from nickname, which may be nil; make it optional, too"
            ])
        #expect(check(derived(.double, .lowercase("name"))) == ["derived text is a string, not double"])
        #expect(check(derived(.date, .now)) == [] && check(derived(.string, .now)).count == 1)
        #expect(check(derived(.integer32, .count("cities"))) == [])
        #expect(check(derived(.double, .count("cities"))) == ["a count is a whole number, not double"])
        #expect(
            check(derived(.integer32, .count("capital"))) == [
                "capital leads to one object; counts and sums are over to-many relationships"
            ])
        #expect(check(derived(.integer32, .count("name"))).count == 1)
        #expect(check(derived(.integer64, .sum("cities", "population"))) == [])
        #expect(
            check(derived(.integer64, .sum("cities", "name"))) == [
                "sums up City.name, which is of type string and no number"
            ])
        #expect(check(derived(.string, .sum("cities", "population"))) == ["a sum is a number, not string"])
        #expect(check(derived(.integer64, .sum("cities", "populatio"))).count == 1)
        #expect(check(derived(.string, .path(["capital", "name"])).optional()) == [])
        #expect(
            check(derived(.string, .path(["capital", "name"]))) == [
                "the path may lead nowhere; make the attribute optional"
            ])
        #expect(
            check(derived(.date, .path(["capital", "name"])).optional()) == [
                "is of type date, but the path ends at City.name of type string"
            ])
        #expect(
            check(derived(.string, .path(["cities", "name"]))) == [
                "the path leads over Country.cities to many objects; use count or sum"
            ])
        #expect(
            check(derived(.string, .path(["capitol", "name"]))) == [
                "is derived from capitol, but Country has no such relationship; did you mean 'capital'?"
            ])
        #expect(check(derived(.string, .path(["name"]))).count == 1)
        #expect(check(derived(.string, .lowercase("name")).transient()).count == 1)
        #expect(
            check(derived(.string, .lowercase("name")).defaultValue("x")) == [
                "is derived and always has its computed value; remove the default"
            ])
        #expect(check(derived(.integer32, .count("cities")).unique()).count == 1)
    }
}
