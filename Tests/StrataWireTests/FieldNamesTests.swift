import SeededRandom
import StrataWire
import Testing

@Suite struct FieldNamesTests {
    @Test(arguments: [
        ("name", "name"), ("yearBorn", "year_born"), ("imageURL", "image_u_r_l"), ("year_born", "year_born"),
        ("line2Text", "line2_text"), ("größeX", "größe_x"), ("", ""), ("Name", "_name"), ("xÄ", "xÄ"),
    ]) func capitalsBecomeUnderscoresAndSmallLetters(property: String, field: String) {
        #expect(FieldNames.field(of: property) == field)
    }

    @Test(
        arguments: [
            ("year_born", ["name", "yearBorn"], "yearBorn"), ("image_u_r_l", ["imageURL"], "imageURL"),
            ("year_2", ["year2"], "year2"), ("year_born", ["year_born", "yearBorn"], "year_born"),
            ("name", ["Name"], nil),
            ("a_b", ["aB", "a_b"], "a_b"), ("gone", ["name"], nil), ("", [""], ""),
        ] as [(String, [String], String?)]) func fieldsLeadBackToProperties(
            field: String, properties: [String], property: String?
        )
    {
        #expect(FieldNames.property(ofField: field, among: properties) == property)
        #expect(FieldNames.property(ofField: field, among: properties.reversed()) == property)
    }

    @Test func everyNameInCamelCaseComesBack() {
        let seed = RunSeed.value()
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            var name = String(random.pick(Array("abcxyz"))!)
            for _ in 0..<random.below(12) { name.append(random.pick(Array("abcxyzABCXYZ0123"))!) }
            let field = FieldNames.field(of: name)
            #expect(FieldNames.property(ofField: field, among: ["other", name]) == name, "seed \(seed): \(name)")
            #expect(field == field.lowercased(), "seed \(seed): \(name)")
        }
    }

    @Test func schemasAreEntitiesInLowerCase() {
        #expect(FieldNames.schema(ofEntity: "TodoItem") == "todoitem")
        #expect(FieldNames.primaryKeys(ofEntity: "TodoItem") == ["todoitemId", "todoitem_id"])
    }
}
