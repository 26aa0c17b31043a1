import Foundation
import Strata
import Testing

/// What counts as a change.
@Suite struct ChangedValueTests {
    @Test("Setting an equal value, or setting a value back, is not a change that a save writes")
    func equalValues() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let sample = Sample(context, "a")
        sample.decimal = 1
        sample.double = 2
        sample.flag = true
        try context.save()
        sample.label = "a"
        #expect(sample.isUpdated && sample.hasChanges && context.hasChanges)
        #expect(
            sample.changedValues().isEmpty && sample.changedPropertyNames.isEmpty && !sample.hasPersistentChangedValues)
        #expect(try file.count { try context.save() }.writes == 0)
        #expect(sample.version == 1 && !sample.hasChanges && !context.hasChanges)
        sample.label = "b"
        sample.decimal = Decimal(string: "1.50")
        #expect(sample.changedValues() == ["label": "b", "decimal": .decimal(1.5)])
        #expect(sample.committedValues()["label"] == "a")
        #expect(sample.committedValues()["text"] == .null)
        sample.label = "a"
        sample.decimal = Decimal(string: "1.0")
        #expect(sample.changedValues().isEmpty, "1.0 is 1")
        #expect(sample.isUpdated)
        sample.flag = false
        try context.save()
        #expect(sample.version == 2)
        #expect(sample.changedValues().isEmpty, "changes end with the save")
        #expect(sample.committedValues()["flag"] == .boolean(false))
    }

    @Test("The changed values of a new object are those that differ from its defaults")
    func newObjects() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let sample = Sample(context, "a")
        #expect(sample.changedValues() == ["label": "a"])
        #expect(sample.committedValues().isEmpty)
        sample.label = ""
        #expect(sample.changedValues().isEmpty)
        #expect(sample.isInserted && sample.hasPersistentChangedValues)
        try context.save()
        #expect(sample.committedValues()["label"] == "")
    }

    @Test(
        "After a save and after a merge the snapshot is the new one, so the next save does not conflict with itself"
    )
    func snapshots() throws {
        let file = try ZooFile()
        let one = file.container.newContext()
        let two = file.container.newContext(automaticallyMergesChanges: true)
        let sample = Sample(one, "a")
        for step in 1...5 {
            sample.small = Int16(step)
            try one.save()
            #expect(sample.version == Int64(step))
        }
        let same = try two.existingObject(Sample.self, with: sample.objectID)
        sample.label = "b"
        try one.save()
        two.processPendingChanges()
        #expect(same.label == "b" && same.version == 6)
        same.small = 50
        try two.save()
        same.small = 51
        try two.save()
        #expect(same.version == 8)
        try one.refresh(sample)
        #expect(sample.small == 51)
        sample.small = 52
        try one.save()
        #expect(sample.version == 9)
    }

    @Test("Policies compare three states, and overwrite is not object wins")
    func policies() throws {
        for policy in MergePolicy.allCases {
            let file = try ZooFile()
            let one = file.container.newContext()
            let two = file.container.newContext()
            let mine = Sample(one, "base")
            mine.text = "base"
            mine.small = 1
            try one.save()
            let theirs = try two.existingObject(Sample.self, with: mine.objectID)
            theirs.label = "theirs"
            theirs.text = "theirs"
            try two.save()
            mine.label = "mine"
            mine.small = 2
            one.mergePolicy = policy
            let error = persistenceError { try one.save() }
            let expected: (String, String, Int16)
            switch policy {
            case .error:
                guard case .conflicts(let conflicts)? = error else { throw try #require(error) }
                #expect(conflicts.map(\.reason) == [.changedInStore] && conflicts[0].objectID == mine.objectID)
                #expect(conflicts[0].properties.map(\.name) == ["label"])
                #expect(conflicts[0].properties[0].snapshot == "base" && conflicts[0].properties[0].memory == "mine")
                #expect(conflicts[0].properties[0].store == "theirs")
                #expect(mine.label == "mine" && mine.changedValues() == ["label": "mine", "small": 2])
                continue
            case .storeWinsByProperty: expected = ("theirs", "theirs", 2)
            case .objectWinsByProperty: expected = ("mine", "theirs", 2)
            case .overwrite: expected = ("mine", "base", 2)
            case .rollback: expected = ("theirs", "theirs", 1)
            }
            #expect(error == nil)
            #expect(mine.label == expected.0 && mine.text == expected.1 && mine.small == expected.2, "\(policy)")
            let reader = file.container.newContext()
            let fresh = try reader.existingObject(Sample.self, with: mine.objectID)
            #expect(fresh.label == expected.0 && fresh.text == expected.1 && fresh.small == expected.2, "\(policy)")
            #expect(!one.hasChanges)
            mine.label = "again"
            try one.save()
        }
    }

    @Test("Fetching again keeps what is loaded and what is changed; refreshing takes the new values")
    func refetching() throws {
        let file = try ZooFile()
        let one = file.container.newContext()
        let two = file.container.newContext()
        let loaded = Sample(one, "loaded")
        let dirty = Sample(one, "dirty")
        try one.save()
        for sample in try two.fetch(FetchRequest<Sample>()) {
            sample.text = "new"
            sample.small = 7
        }
        try two.save()
        dirty.small = 5
        #expect(try one.fetch(FetchRequest<Sample>()).count == 2)
        #expect(loaded.text == nil && dirty.text == nil && dirty.small == 5)
        try one.refresh(loaded)
        try one.refresh(dirty)
        #expect(loaded.text == "new" && loaded.small == 7 && !loaded.hasChanges)
        #expect(dirty.text == "new" && dirty.small == 5 && dirty.changedValues() == ["small": 5])
        try one.refresh(dirty, mergingChanges: false)
        #expect(dirty.isFault && !dirty.hasChanges)
        #expect(dirty.small == 7)
        #expect(try one.fetch(FetchRequest<Sample>(where: AttributeKey<Int16>(["small"]) == 7)).count == 2)
    }

    @Test("Transient values survive a refresh that merges, and are dropped by one that does not")
    func transients() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let cat = Cat(context, name: "Tom")
        cat.mood = "grim"
        try context.save()
        #expect(cat.mood == "grim")
        try context.refresh(cat)
        #expect(cat.mood == "grim")
        cat.mood = "gay"
        #expect(cat.hasChanges && !cat.hasPersistentChangedValues)
        #expect(try file.count { try context.save() }.writes == 0)
        try context.refresh(cat, mergingChanges: false)
        #expect(cat.mood == nil && cat.name == "Tom")
        #expect(
            persistenceError { try context.fetch(FetchRequest<Cat>(where: AttributeKey<String?>(["mood"]) == "gay")) }
                != nil)
    }
}
