import Foundation
import SeededRandom
import StrataModel
import StrataModelFiles
import Testing

@Suite struct ModelFileFaultTests {
    @Test func allMistakesComeTogether() {
        let found = faults(
            in: """
                model: geo
                acces: public
                naming: kebabCase
                entities:
                  City:
                    abstact: false
                    attributes:
                      name: sting
                      size: {type: int, min: 1}
                      rank: {type: integer16, default: many, min: low, transient: maybe}
                      when: {type: date, default: yesterday}
                      where: {type: geoPoint, default: 5}
                      tags: transformable
                      note: {typ: string}
                      note: string
                      from: {type: string, derived: lower(name)}
                    relationships:
                      country: {to: Country, toMany: Country, delete: nullfy}
                      towns: {toMany: City, optional: true, min: few}
                      broken: {inverse: x}
                    indexes:
                      - {uniqe: [name]}
                      - [nam]
                """)
        expect(
            found,
            [
                "1:8: the name of a model begins with a capital letter and has letters and digits only",
                "2:1: a model file has no key 'acces'; did you mean 'access'?",
                "3:9: 'naming' is one of snakeCase, verbatim, not 'kebabCase'",
                "6:5: City: an entity has no key 'abstact'; did you mean 'abstract'?",
                "8:13: City.name: 'sting' is not a type; did you mean 'string'?",
                "9:20: City.size: 'int' is not a type; did you mean 'integer'?",
                "10:40: City.rank: 'many' is not a value of type integer16",
                "10:51: City.rank: 'low' is not a value of type integer16",
                "10:67: City.rank: 'transient' is true or false, not 'maybe'",
                "11:35: City.when: 'yesterday' is not a value of type date; write 2001-01-31, 2001-01-31T12:00:00Z, or seconds since 2001-01-01 00:00 UTC",
                "12:40: City.where: a geoPoint is written [latitude, longitude] in degrees",
                "13:13: City.tags: a transformable names its Swift type: {type: transformable, class: \"[String]\"}",
                "15:7: City: the key 'note' appears twice; it is also in line 14; remove one",
                "16:37: City.from: 'lower(name)' is not a derivation; write lowercase(name), uppercase(name), canonical(name), count(cities), sum(cities.population), now() or country.name",
                "18:21: City.country: a relationship has either 'to' or 'toMany'",
                "18:55: City.country: 'delete' is one of noAction, nullify, cascade, deny, not 'nullfy'; did you mean 'nullify'?",
                "19:39: City.towns: a to-many relationship is never nil; to ask for an object, write 'min: 1'",
                "19:50: City.towns: 'min' is a whole number, not 'few'",
                "20:7: City.broken: a relationship says where it leads: {to: Country} or {toMany: City}",
                "22:10: City: an index has no key 'uniqe'; did you mean 'unique'?",
                "23:9: City: nam is not a property of City; did you mean 'name'?",
            ])
    }

    @Test func faultsOfTheModelHaveTheirLine() {
        let found = faults(
            in: """
                entities:
                  City:
                    inherits: Plaze
                    attributes:
                      name: {type: string, default: x, minLength: 2}
                    relationships:
                      country: {to: Country, inverse: cites}
                  Country:
                    relationships:
                      cities: {toMany: City, inverse: country}
                """)
        expect(
            found,
            [
                "2:3: City: inherits from Plaze, which the model does not have",
                "5:7: City.name: the default \"x\" is shorter than 2",
                "7:7: City.country: the inverse Country.cites does not exist; did you mean 'cities'?",
                "10:7: Country.cities: the inverse City.country does not point back: it has the inverse cites; give it the inverse cities",
            ])
    }

    @Test(arguments: [
        ("entities:\n  City:\n    attributes: {name: string\n", "4:1: this is not YAML:"),
        ("entities:\n  City: [\n", "3:1: this is not YAML:"),
        ("entities:\n\tCity:\n", "2:1: this is not YAML:"),
        ("", "1:1: the file is empty"), ("# only a comment\n", "1:1: the file is empty"),
        ("- a\n- b\n", "1:1: a model file is a mapping"),
        ("model: X\n", "1:1: a model file has a mapping 'entities'"),
        ("entities: [City]\n", "1:11: 'entities' is a mapping of names"),
        ("entities:\n  City: 5\n", "2:9: City: an entity is a mapping"),
        ("entities:\n  City:\n    attributes: [name]\n", "3:17: City: 'attributes' is a mapping"),
        ("entities:\n  ? [a, b]\n  : c\n", "2:5: a key is a plain word"), ("a: b: c\n", "1:5: this is not YAML"),
    ])
    func textThatIsNoModel(_ yaml: String, _ expected: String) {
        let found = faults(in: yaml)
        #expect(found.first?.hasPrefix(expected) == true, "\(found)")
    }

    @Test func repeatedKeysEverywhere() {
        let found = faults(
            in: """
                entities:
                  Town:
                    attributes: {name: string, name: string?, 'name': date}
                  City:
                  City:
                    attributes:
                      x: {type: string, type: date}
                model: A
                model: B
                """)
        expect(
            found,
            [
                "3:47: Town: the key 'name' appears twice; it is also in line 3; remove one",
                "5:3: the key 'City' appears twice; it is also in line 4; remove one",
                "7:25: City.x: the key 'type' appears twice; it is also in line 7; remove one",
                "9:1: the key 'model' appears twice; it is also in line 8; remove one",
            ])
    }

    @Test func namesThatGeneratedCodeCannotHave() {
        let found = faults(
            in: """
                entities:
                  Data:
                  City:
                    attributes:
                      objectID: string
                      entity: integer64
                      hasChanges: boolean
                      self: string
                      date: {elements: {day: integer16}}
                      home: {elements: {path: string}}
                      addToTowns: string
                      class: string
                    relationships:
                      towns: {toMany: City}
                  CityKeys:
                  Town:
                    base: true
                  TownBase:
                  Home:
                """)
        expect(
            found,
            [
                "2:3: Data: a class named Data would hide Swift's or Strata's own type; give it another with 'class: MyData'",
                "5:7: City.objectID: 'objectID' is a member of every managed object; choose another name, such as 'cityObjectID'",
                "6:7: City.entity: 'entity' is a member of every managed object; choose another name, such as 'cityEntity'",
                "7:7: City.hasChanges: 'hasChanges' is a member of every managed object; choose another name, such as 'cityHasChanges'",
                "8:7: City.self: 'self' cannot be the name of a property in Swift; choose another one, such as 'citySelf'",
                "9:7: City.date: its struct City.Date would hide the type Date; rename the attribute",
                "10:7: City.home: its struct City.Home would hide the type Home; rename the attribute",
                "10:7: City.home: 'path' cannot be the name of an element; choose another one",
                "14:7: City.towns: its method addToTowns has the name of another property; rename one of them",
                "15:3: CityKeys: the generated type CityKeys is already that of City; rename one of them, or give a class name",
                "18:3: TownBase: the generated type TownBase is already that of Town; rename one of them, or give a class name",
            ])
    }

    /// Whatever is cut out of a good file or put into it: faults or a model, never a crash.
    @Test func damagedFilesGiveFaultsOrAModel() {
        let seed = RunSeed.value()
        var state = seed
        func random(_ below: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % below
        }
        let scraps = [
            "{", "}", "[", "]", ":", "- ", "\n", "  ", "&a ", "*a", "!!binary ", "? ", "\"", "'", "|", "\u{0}",
            "\u{FEFF}", "é", "name", "null",
        ]
        var models = 0
        for _ in 0..<400 {
            var text = Array(ModelFileReaderTests.yaml)
            for _ in 0...random(3) {
                let position = random(text.count)
                switch random(3) {
                case 0: text.removeSubrange(position..<min(text.count, position + 1 + random(20)))
                case 1: text.insert(contentsOf: scraps[random(scraps.count)], at: position)
                default: text.swapAt(position, random(text.count))
                }
            }
            do throws(ModelError) {
                let file = try ModelFile.read(yaml: String(text), path: "x.strata.yaml")
                models += 1
                #expect((try? file.model()) != nil, "seed \(seed)")
            } catch {
                #expect(!error.faults.isEmpty, "seed \(seed)")
                #expect(error.faults.allSatisfy { ($0.location?.line ?? 0) >= 1 }, "seed \(seed): \(error)")
            }
        }
        #expect(models < 400, "seed \(seed)")
    }
}
