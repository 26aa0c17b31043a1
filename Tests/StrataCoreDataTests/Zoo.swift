import Foundation
import Strata
import StrataCoreData

/// A model and a store that have everything that the format knows: inheritance, a polymorphic to-one relationship, orders,
/// pairs of all kinds, values in files, archives, and names that Strata does not have.
struct Zoo {
    static let xml = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Animal" representedClassName=".Animal">
                <attribute name="born" optional="YES" attributeType="Date"/>
                <attribute name="home" optional="YES" attributeType="URI"/>
                <attribute name="isTame" optional="YES" attributeType="Boolean"/>
                <attribute name="mood" optional="YES" attributeType="Transformable" valueTransformerName="MoodTransformer" customClassName=".Mood"/>
                <attribute name="name" attributeType="String"/>
                <attribute name="notes" optional="YES" attributeType="Transformable" valueTransformerName="NSSecureUnarchiveFromData"/>
                <attribute name="number" optional="YES" attributeType="Integer 16"/>
                <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="rating" optional="YES" attributeType="Decimal"/>
                <attribute name="scratch" optional="YES" transient="YES" attributeType="String"/>
                <attribute name="tag" optional="YES" attributeType="UUID"/>
                <attribute name="weight" optional="YES" attributeType="Double"/>
                <relationship name="clubs" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Club" inverseName="members" inverseEntity="Club"/>
                <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Animal" inverseName="friends" inverseEntity="Animal"/>
                <relationship name="keeper" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="animals" inverseEntity="Person"/>
            </entity>
            <entity name="Bird" representedClassName=".Bird" parentEntity="Animal">
                <attribute name="text" optional="YES" attributeType="String"/>
            </entity>
            <entity name="Club" representedClassName=".Club">
                <attribute name="_title" optional="YES" attributeType="String"/>
                <relationship name="members" optional="YES" toMany="YES" deletionRule="Nullify" ordered="YES" destinationEntity="Animal" inverseName="clubs" inverseEntity="Animal"/>
                <relationship name="sponsors" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Person"/>
            </entity>
            <entity name="Fish" representedClassName=".Fish" parentEntity="Animal">
                <attribute name="text" optional="YES" attributeType="Integer 64"/>
            </entity>
            <entity name="Person" representedClassName=".Person">
                <attribute name="Name" optional="YES" attributeType="String"/>
                <attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="animals" optional="YES" toMany="YES" deletionRule="Nullify" ordered="YES" destinationEntity="Animal" inverseName="keeper" inverseEntity="Animal"/>
            </entity>
            <entity name="Vet" representedClassName=".Vet" parentEntity="Person">
                <attribute name="degree" optional="YES" attributeType="String"/>
            </entity>
        </model>
        """

    static let animalColumns = [
        "Z_PK", "Z_ENT", "Z_OPT", "ZISTAME", "ZNUMBER", "ZTEXT1", "ZKEEPER", "Z5_KEEPER",
        "Z_FOK_KEEPER", "ZBORN",
        "ZWEIGHT", "ZRATING", "ZNAME", "ZTEXT", "ZHOME", "ZTAG", "ZMOOD", "ZNOTES", "ZPHOTO",
    ]

    let apple: AppleStore
    let file: CoreDataModelFile
    var path: String { apple.path }

    init() throws {
        file = try CoreDataModelFile.read(contents: Data(Self.xml.utf8), name: "Zoo", file: "contents")
        let hashes = CoreDataVersionHashes(file.model)
        apple = try AppleStore(
            metadata: .dictionary([
                "NSStoreType": .string("SQLite"), "NSPersistenceFrameworkVersion": .integer(1344),
                "NSStoreModelVersionHashes": .dictionary(hashes.hashes.mapValues { .data($0) }),
                "NSStoreModelVersionIdentifiers": .array([.string("")]), "secret": .string("token"),
            ]))
        for (number, name, parent) in [
            (1, "Animal", 0), (2, "Bird", 1), (3, "Fish", 1), (4, "Club", 0), (5, "Person", 0),
            (6, "Vet", 5),
        ] { try apple.entity(number, name, parent: parent) }
        try apple.run(
            """
            CREATE TABLE ZANIMAL (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISTAME INTEGER, \
            ZNUMBER INTEGER, ZTEXT1 INTEGER, ZKEEPER INTEGER, Z5_KEEPER INTEGER, Z_FOK_KEEPER INTEGER, ZBORN TIMESTAMP, \
            ZWEIGHT FLOAT, ZRATING DECIMAL, ZNAME VARCHAR, ZTEXT VARCHAR, ZHOME VARCHAR, ZTAG BLOB, ZMOOD BLOB, \
            ZNOTES BLOB, ZPHOTO BLOB)
            """)
        try apple.run("CREATE INDEX ZANIMAL_Z_ENT_INDEX ON ZANIMAL (Z_ENT)")
        try apple.run("CREATE INDEX ZANIMAL_ZKEEPER_INDEX ON ZANIMAL (ZKEEPER)")
        try apple.run(
            "CREATE TABLE ZCLUB (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z_TITLE VARCHAR)"
        )
        try apple.run(
            """
            CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZNAME1 VARCHAR, \
            ZDEGREE VARCHAR)
            """)
        try apple.run(
            "CREATE TABLE Z_1FRIENDS (Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_1FRIENDS, REFLEXIVE))"
        )
        try apple.run(
            """
            CREATE TABLE Z_1CLUBS (Z_1MEMBERS INTEGER, Z_4CLUBS INTEGER, Z_FOK_1MEMBERS INTEGER, \
            PRIMARY KEY (Z_1MEMBERS, Z_4CLUBS))
            """)
        try apple.run(
            "CREATE TABLE Z_4SPONSORS (Z_4CLUB INTEGER, Z_5SPONSORS INTEGER, PRIMARY KEY (Z_4CLUB, Z_5SPONSORS))"
        )
    }

    /// Adds an animal, of which all values that are not given are NULL.
    func animal(_ key: Int, entity: Int = 1, _ values: [String: Any?]) throws {
        var all: [String: Any?] = ["Z_PK": key, "Z_ENT": entity, "Z_OPT": 1]
        all.merge(values) { $1 }
        let names = all.keys.sorted()
        var row: [Any?] = []
        for name in names { row.append(all[name] ?? nil) }
        try apple.insert("ZANIMAL", names, row)
    }

    /// Seven animals of three keepers, with all kinds of values.
    func fill() throws {
        try apple.run(
            "INSERT INTO ZPERSON VALUES(1, 5, 3, 'A', 'Ann', NULL), (2, 6, 1, 'B', 'Ben', 'DVM')")
        let tag = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!
        let external = UUID().uuidString
        try Data(repeating: 7, count: 300_000).write(
            to: apple.externalFolder().appendingPathComponent(external))
        try animal(
            1,
            [
                "ZNAME": "Leo", "ZNUMBER": 7, "ZISTAME": 1, "ZBORN": 600_000_000, "ZWEIGHT": 181.5,
                "ZRATING": 4.25,
                "ZHOME": "https://example.org/leo", "ZTAG": withUnsafeBytes(of: tag.uuid) { Data($0) },
                "ZKEEPER": 2, "Z5_KEEPER": 6, "Z_FOK_KEEPER": 3072, "ZPHOTO": Data([1, 10, 20]),
                "ZNOTES": try archive(["loud", "large"] as NSArray), "ZMOOD": Data("calm".utf8),
            ])
        try animal(
            2, entity: 2,
            [
                "ZNAME": "Tweety", "ZTEXT": "sings", "ZBORN": -1.5, "ZKEEPER": 2, "Z5_KEEPER": 6,
                "Z_FOK_KEEPER": 2048,
                "ZPHOTO": Data([2]) + Data(external.utf8) + Data([0]), "ZRATING": 3,
                "ZNOTES": try archive(
                    ["age": 3, "site": URL(string: "https://example.org")!] as NSDictionary),
            ])
        try animal(
            3, entity: 3, ["ZNAME": "Nemo", "ZTEXT1": 42, "ZKEEPER": 1, "Z5_KEEPER": 5, "ZRATING": "NaN"])
        try animal(4, ["ZNAME": "Rex", "ZNOTES": archiveOfUnknownClass("UIColor"), "Z_OPT": 9])
        try animal(
            5, entity: 2,
            ["ZNAME": "Polly", "ZPHOTO": Data([2]) + Data(UUID().uuidString.utf8) + Data([0])])
        try apple.run("INSERT INTO ZCLUB VALUES(1, 4, 1, 'Cats'), (2, 4, 1, 'All')")
        try apple.run("INSERT INTO Z_1FRIENDS VALUES(1, 2), (2, 1), (3, 3), (4, 1)")
        try apple.run(
            "INSERT INTO Z_1CLUBS VALUES(1, 1, 2048), (1, 2, 4096), (2, 2, 2048), (3, 2, 3072)")
        try apple.run("INSERT INTO Z_4SPONSORS VALUES(2, 1), (2, 2)")
    }

    /// Opens the store.
    func open(_ configure: (inout CoreDataStore.Options) -> Void = { _ in }) throws -> CoreDataStore {
        var options = CoreDataStore.Options()
        configure(&options)
        return try CoreDataStore.open(path: path, model: .model(file), options: options)
    }
}

extension AppleStore {
    func insert(_ table: String, _ names: [String], _ row: [Any?]) throws {
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        try run("INSERT INTO \(table)(\(names.joined(separator: ", "))) VALUES(\(marks))", list: row)
    }
}

extension ManagedObjectContext {
    /// The objects of an entity by key.
    func all(_ entity: String, where format: String? = nil) throws -> [ManagedObject] {
        try fetch(
            FetchRequest<ManagedObject>(
                entity: entity, where: format.map { try FetchPredicate(format: $0) }))
    }
}
