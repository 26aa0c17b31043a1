import Strata
import Testing

/// Changes of entities with more attributes than a word has bits.
@Suite struct WideEntityTests {
    private static let edges = [0, 61, 62, 63, 64, 65, 126, 127, 128, 129]

    @Test("Changes at the edges of words are saved, reverted and passed on to the parent", arguments: edges)
    func changes(of number: Int) throws {
        let model = try ManagedObjectModel(name: "Wide") {
            Entity("Row") {
                for number in 0..<130 { Attribute("a\(number)", .integer64, default: .value(0)) }
            }
        }
        let container = try PersistentContainer(model: model, at: .memory(name: nil))
        let context = container.newContext()
        let row = try context.insert(entityNamed: "Row")
        let name = "a\(number)"
        row[name] = 1
        #expect(row.changedValues() == [name: 1])
        try context.save()
        #expect(!row.hasChanges && row.changedValues().isEmpty)

        row[name] = 2
        #expect(row.changedValues() == [name: 2])
        #expect(row.committedValues()[name] == 1)
        context.rollback()
        #expect(!row.hasChanges && row[name] as? Int64 == 1)

        let child = context.makeChild()
        let same = try child.existingObject(with: row.objectID)
        same[name] = 3
        let made = try child.insert(entityNamed: "Row")
        made[name] = 4
        try child.save()
        #expect(row.changedValues() == [name: 3])
        #expect(row.committedValues()[name] == 1)
        try context.save()

        let other = container.newContext()
        #expect(try other.existingObject(with: row.objectID)[name] as? Int64 == 3)
        #expect(try other.existingObject(with: made.objectID)[name] as? Int64 == 4)
        let values = (0..<130).compactMap { row["a\($0)"] as? Int64 }
        #expect(values.count == 130 && values.filter { $0 != 0 } == [3], "only this one was written")
    }
}
