import Foundation
import SeededRandom
import Strata
import StrataCoreData
import Testing

/// What saves write to a Core Data store.
struct WritingTests {
    let zoo: Zoo
    let path: String

    init() throws {
        zoo = try Zoo()
        path = Samples.temporary(".sqlite")
        try CoreDataStore.create(path: path, model: zoo.file)
    }

    private func open() throws -> CoreDataStore {
        var options = CoreDataStore.Options()
        options.isReadOnly = false
        return try CoreDataStore.open(path: path, options: options)
    }

    private func context() throws -> ManagedObjectContext {
        try PersistentContainer(store: open()).newContext()
    }

    /// A person, a vet, three animals of the vet in an order, and a club.
    private func fill() throws {
        let context = try context()
        let ann = try context.insert(entityNamed: "Person")
        let ben = try context.insert(entityNamed: "Vet")
        ben["degree"] = "DVM"
        var animals: [ManagedObject] = []
        for (entity, name) in [("Animal", "Leo"), ("Bird", "Tweety"), ("Fish", "Nemo")] {
            let animal = try context.insert(entityNamed: entity)
            animal["name"] = name
            animals.append(animal)
        }
        animals[0]["number"] = 7
        animals[0]["isTame"] = true
        animals[0]["born"] = Date(timeIntervalSinceReferenceDate: 600_000_000)
        animals[0]["weight"] = 181.5
        animals[0]["rating"] = Decimal(string: "4.25")
        animals[0]["home"] = URL(string: "https://example.org/leo")
        animals[0]["tag"] = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")
        animals[0]["photo"] = Data([10, 20])
        animals[1]["photo"] = Data(repeating: 7, count: 300_000)
        animals[1]["text"] = "sings"
        animals[2]["textFish"] = 42
        ben["animals"] = [animals[2], animals[0]]
        animals[1]["keeper"] = ann
        let club = try context.insert(entityNamed: "Club")
        club["title"] = "All"
        club["members"] = [animals[1], animals[2], animals[0]]
        club["sponsors"] = Set([ann, ben])
        try context.save()
    }

    private func rows(_ sql: String) throws -> [String] { try AppleStore.rows(path, sql) }

    private func named(_ name: String, in context: ManagedObjectContext) throws -> ManagedObject {
        try #require(try context.all("Animal", where: "name == '\(name)'").first)
    }

    @Test("New objects are rows as Core Data writes them")
    func inserting() throws {
        try fill()
        #expect(
            try rows("SELECT Z_PK || ' ' || Z_ENT || ' ' || Z_OPT || ' ' || ZNAME FROM ZANIMAL")
                == ["1 1 1 Leo", "2 2 1 Tweety", "3 3 1 Nemo"])
        #expect(
            try rows("SELECT Z_NAME || ' ' || Z_MAX FROM Z_PRIMARYKEY WHERE Z_MAX >= 1").map {
                String($0.prefix { $0 != " " })
            }
                == ["Animal", "Club", "Person"])
        #expect(
            try rows("SELECT ZKEEPER || ' ' || Z5_KEEPER FROM ZANIMAL WHERE Z_PK <> 2").allSatisfy {
                $0.hasSuffix(" 6")
            })
        #expect(try rows("SELECT Z5_KEEPER FROM ZANIMAL WHERE Z_PK = 2") == ["5"])
        #expect(
            try rows("SELECT Z_PK || ' ' || Z_FOK_KEEPER FROM ZANIMAL") == ["1 3072", "2 2048", "3 2048"])
        #expect(
            try rows(
                "SELECT typeof(ZBORN) || ZBORN || typeof(ZRATING) || ZRATING FROM ZANIMAL WHERE Z_PK = 1")
                == ["integer600000000real4.25"])
        #expect(try rows("SELECT hex(ZPHOTO) FROM ZANIMAL WHERE Z_PK = 1") == ["010A14"])
        #expect(
            try rows("SELECT hex(ZTAG) FROM ZANIMAL WHERE Z_PK = 1") == [
                "00112233445566778899AABBCCDDEEFF"
            ])
        #expect(try CoreDataStore.check(at: path) == [])
    }

    @Test("What was saved is read back, also by a store that only reads")
    func readingBack() throws {
        try fill()
        let context = try PersistentContainer(store: CoreDataStore.open(path: path)).newContext()
        let leo = try named("Leo", in: context)
        #expect(
            leo["number"] as? Int16 == 7 && leo["isTame"] as? Bool == true
                && leo["weight"] as? Double == 181.5)
        #expect(leo["rating"] as? Decimal == Decimal(string: "4.25"))
        #expect(
            leo["home"] as? URL == URL(string: "https://example.org/leo")
                && leo["photo"] as? Data == Data([10, 20]))
        #expect(
            try named("Tweety", in: context)["photo"] as? Data == Data(repeating: 7, count: 300_000))
        let ben = try #require(try context.all("Vet").first)
        #expect((ben["animals"] as? [ManagedObject])?.map { $0["name"] as? String } == ["Nemo", "Leo"])
        let club = try #require(try context.all("Club").first)
        #expect(
            (club["members"] as? [ManagedObject])?.map { $0["name"] as? String } == [
                "Tweety", "Nemo", "Leo",
            ])
        #expect((club["sponsors"] as? Set<ManagedObject>)?.count == 2)
        #expect((leo["clubs"] as? Set<ManagedObject>) == [club])
    }

    @Test(
        "Changes raise versions, move objects in orders and to other owners, and clear references to deleted objects"
    )
    func changing() throws {
        try fill()
        let context = try context()
        let ben = try #require(try context.all("Vet").first)
        let leo = try named("Leo", in: context)
        leo["name"] = "Lea"
        leo["born"] = nil
        ben["animals"] = [leo, try named("Tweety", in: context), try named("Nemo", in: context)]
        try context.save()
        #expect(try rows("SELECT ZNAME || Z_OPT FROM ZANIMAL WHERE Z_PK = 1") == ["Lea2"])
        #expect(try rows("SELECT ZBORN FROM ZANIMAL WHERE Z_PK = 1") == ["NULL"])
        #expect(try rows("SELECT Z5_KEEPER FROM ZANIMAL WHERE Z_PK = 2") == ["6"])
        #expect(try CoreDataStore.check(at: path) == [])
        let club = try #require(try context.all("Club").first)
        club["members"] = [leo, try named("Tweety", in: context)]
        context.delete(ben)
        try context.save()
        #expect(try rows("SELECT ZKEEPER FROM ZANIMAL") == ["NULL", "NULL", "NULL"])
        #expect(try rows("SELECT Z5_KEEPER FROM ZANIMAL") == ["NULL", "NULL", "NULL"])
        #expect(try rows("SELECT count(*) FROM Z_4SPONSORS") == ["1"])
        #expect(try rows("SELECT count(*) FROM Z_1CLUBS") == ["2"])
        #expect(try CoreDataStore.check(at: path) == [])
        let other = try PersistentContainer(store: CoreDataStore.open(path: path)).newContext()
        let members = try #require(try other.all("Club").first)["members"] as? [ManagedObject]
        #expect(members?.map { $0["name"] as? String } == ["Lea", "Tweety"])
    }

    @Test("A row whose reference is cleared by a context that does not know it gets the next version")
    func clearedReference() throws {
        try fill()
        let container = try PersistentContainer(store: open())
        let stale = container.newContext()
        let keeper = try stale.insert(entityNamed: "Person")
        try stale.save()
        let deleting = container.newContext()
        let same = try deleting.existingObject(with: keeper.objectID)
        #expect((same["animals"] as? [ManagedObject])?.isEmpty == true)
        let nemo = try named("Nemo", in: stale)
        nemo["keeper"] = keeper
        try stale.save()
        let known = try named("Nemo", in: deleting)
        let version = known.version
        deleting.delete(same)
        try deleting.save()
        #expect(known["keeper"] == nil && known.version == version + 1)
        nemo["name"] = "Dory"
        let error = #expect(throws: PersistenceError.self) { try stale.save() }
        #expect("\(try #require(error))".contains("others changed the same objects"))
        known["name"] = "Coral"
        try deleting.save()
        #expect(
            try rows("SELECT ZNAME FROM ZANIMAL WHERE ZKEEPER IS NULL AND Z_PK = \(known.objectID.key)") == ["Coral"])
        #expect(try CoreDataStore.check(at: path) == [])
    }

    @Test("Keys are not used again, and the highest key is never below a row's")
    func keys() throws {
        try fill()
        let maximum = try #require(
            Int(try rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Animal'")[0]))
        try AppleStore.execute(path, "UPDATE Z_PRIMARYKEY SET Z_MAX = -1")
        try AppleStore.execute(
            path, "INSERT INTO ZANIMAL(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(\(maximum + 500), 1, 1, 'Far')")
        let context = try context()
        let animal = try context.insert(entityNamed: "Animal")
        animal["name"] = "New"
        try context.save()
        #expect(animal.objectID.key > maximum + 500)
        #expect(try CoreDataStore.check(at: path).filter { $0.subject == "Animal" } == [])
    }

    @Test("An object that another program changed meanwhile is a conflict, and nothing is written")
    func conflicts() throws {
        try fill()
        let context = try context()
        context.mergePolicy = .error
        let leo = try named("Leo", in: context)
        let nemo = try named("Nemo", in: context)
        try AppleStore.execute(
            path, "UPDATE ZANIMAL SET ZNAME = 'Their', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
        leo["name"] = "Mine"
        nemo["name"] = "Other"
        #expect(throws: PersistenceError.self) { try context.save() }
        #expect(try rows("SELECT ZNAME FROM ZANIMAL") == ["Their", "Tweety", "Nemo"].sorted())
        context.rollback()
        try AppleStore.execute(path, "DELETE FROM ZANIMAL WHERE Z_PK = 3")
        nemo["name"] = "Gone"
        #expect(throws: PersistenceError.self) { try context.save() }
        context.rollback()
        context.mergePolicy = .objectWinsByProperty
        leo["weight"] = 5.5
        try context.save()
        #expect(try rows("SELECT ZNAME || ZWEIGHT FROM ZANIMAL WHERE Z_PK = 1") == ["Their5.5"])
    }

    @Test("Files of values are written before the row, and removed after it")
    func externalFiles() throws {
        try fill()
        let folder = URL(fileURLWithPath: path).deletingPathExtension()
        let support =
            folder.deletingLastPathComponent().path
            + "/.\(folder.lastPathComponent)_SUPPORT/_EXTERNAL_DATA"
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: support) }
        #expect(try files().count == 1)
        let context = try context()
        let tweety = try named("Tweety", in: context)
        tweety["photo"] = Data(repeating: 8, count: 200_000)
        try context.save()
        #expect(try files().count == 1)
        #expect(
            try named("Tweety", in: try self.context())["photo"] as? Data
                == Data(repeating: 8, count: 200_000))
        tweety["photo"] = Data(repeating: 9, count: 200_000)
        tweety["rating"] = Decimal(string: "1.234567890123456789")
        let error = #expect(throws: PersistenceError.self) { try context.save() }
        #expect("\(try #require(error))".contains("15 digits"))
        #expect(try files().count == 1)
        context.rollback()
        context.delete(tweety)
        try context.save()
        #expect(try files().isEmpty)
        #expect(try CoreDataStore.check(at: path) == [])
    }

    @Test(
        "Archives and pairs of a relationship that is its own inverse are refused, and nothing is written"
    )
    func refusedValues() throws {
        try fill()
        let context = try context()
        let leo = try named("Leo", in: context)
        leo["name"] = "Changed"
        leo["friends"] = Set([try named("Nemo", in: context)])
        let error = #expect(throws: PersistenceError.self) { try context.save() }
        #expect("\(try #require(error))".contains("its own inverse"))
        context.rollback()
        leo["name"] = "Changed"
        leo["notes"] = ["loud"]
        let refused = #expect(throws: PersistenceError.self) { try context.save() }
        #expect("\(try #require(refused))".contains("archives"))
        context.rollback()
        try AppleStore.execute(path, "UPDATE ZANIMAL SET ZNOTES = x'00'")
        #expect(try rows("SELECT ZNAME FROM ZANIMAL WHERE Z_PK = 1") == ["Leo"])
        // Values that are not changed are not written.
        leo["name"] = "Changed"
        try context.save()
        #expect(try rows("SELECT hex(ZNOTES) || ZNAME FROM ZANIMAL WHERE Z_PK = 1") == ["00Changed"])
    }

    @Test(
        "A store with something that Core Data keeps besides objects is refused",
        arguments: [
            ("CREATE TABLE ATRANSACTION (Z_PK INTEGER)", "history"),
            ("CREATE TABLE ANSCKEVENT (Z_PK INTEGER)", "CloudKit"),
            ("CREATE TABLE Words (word TEXT)", "WORDS"),
            ("CREATE TRIGGER log AFTER INSERT ON ZCLUB BEGIN SELECT 1; END", "trigger log"),
            (
                "CREATE TRIGGER Z_DA_ZCLUB_Club_x AFTER INSERT ON ZCLUB BEGIN SELECT NSCoreDataUnknown(1); END",
                "trigger Z_DA_ZCLUB_Club_x"
            ),
            ("UPDATE Z_METADATA SET Z_PLIST = NULL", "version"), ("DELETE FROM Z_MODELCACHE", "inferred"),
            ("INSERT INTO Z_PRIMARYKEY VALUES(90, 'Strange', 0, 0)", "Strange"),
        ])
    func refusals(statement: String, reason: String) throws {
        try fill()
        try AppleStore.execute(path, statement)
        let error = #expect(throws: StoreError.self) { try open() }
        #expect("\(try #require(error))".contains(reason))
        #expect(
            try PersistentContainer(store: CoreDataStore.open(path: path)).newContext().all("Club").count
                == 1)
    }

    @Test("Triggers of derived attributes can call Core Data's functions")
    func triggers() throws {
        try AppleStore.execute(
            path,
            """
            CREATE TRIGGER Z_DA_ZCLUB_Club_count_SOURCE_INSERT AFTER INSERT ON ZCLUB BEGIN \
            SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZCLUB', NEW.Z_ENT, NEW.Z_PK, 'count', 1); END
            """)
        try fill()
        #expect(try rows("SELECT count(*) FROM ZCLUB") == ["1"])
    }

    @Test("A store that another program migrates meanwhile takes no writes")
    func migratedMeanwhile() throws {
        try fill()
        let context = try context()
        try named("Leo", in: context)["name"] = "Late"
        try AppleStore.execute(path, "CREATE TABLE ATRANSACTION (Z_PK INTEGER)")
        #expect(throws: PersistenceError.self) { try context.save() }
        #expect(try rows("SELECT ZNAME FROM ZANIMAL WHERE Z_PK = 1") == ["Leo"])
    }

    @Test("Unique values are conflicts, and rows can exchange them")
    func uniqueValues() throws {
        let path = try Samples.copy("CoreDataPlus-SampleModel_V1.sqlite")
        var options = CoreDataStore.Options()
        options.isReadOnly = false
        let context = try PersistentContainer(store: CoreDataStore.open(path: path, options: options))
            .newContext()
        context.mergePolicy = .error
        let cars = try Array(context.all("Car").prefix(2))
        try #require(cars.count == 2)
        let plates = cars.map { $0["numberPlate"] as? String }
        cars[0]["numberPlate"] = plates[1]
        #expect(throws: PersistenceError.self) { try context.save() }
        cars[1]["numberPlate"] = plates[0]
        try context.save()
        let keys = cars.map(\.objectID.key)
        for (key, plate) in zip(keys, plates.reversed()) {
            #expect(
                try AppleStore.rows(path, "SELECT ZNUMBERPLATE FROM ZCAR WHERE Z_PK = \(key)") == [
                    plate ?? ""
                ])
        }
        #expect(try CoreDataStore.check(at: path) == [])
    }

    @Test("Settings of the file, metadata and the copy of the model stay as they are")
    func untouched() throws {
        let queries = [
            "PRAGMA journal_mode", "PRAGMA auto_vacuum", "PRAGMA user_version",
            "SELECT hex(Z_PLIST) || Z_UUID FROM Z_METADATA",
            "SELECT hex(Z_CONTENT) FROM Z_MODELCACHE",
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL",
        ]
        for mode in ["DELETE", "WAL"] {
            try AppleStore.execute(path, "PRAGMA journal_mode = \(mode)")
            let before = try queries.map(rows)
            #expect(before[0] == [mode.lowercased()])
            try fill()
            #expect(try queries.map(rows) == before)
        }
    }
}
