import Foundation
import StrataCSQLite
import StrataCoreDataModel

/// The store of the notebook that the guide moves, as Core Data would have written it, and its model.
struct NotebookStore {
    let path: String
    let model: String

    private static let contents = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Folder" representedClassName=".Folder">
                <attribute name="name" attributeType="String"/>
                <relationship name="notes" optional="YES" toMany="YES" deletionRule="Cascade" ordered="YES" destinationEntity="Note" inverseName="folder" inverseEntity="Note"/>
            </entity>
            <entity name="Note" representedClassName=".Note">
                <attribute name="changedAt" optional="YES" attributeType="Date"/>
                <attribute name="keywords" optional="YES" attributeType="Transformable" valueTransformerName="NSSecureUnarchiveFromData" customClassName="NSArray"/>
                <attribute name="text" optional="YES" attributeType="String"/>
                <attribute name="title" attributeType="String"/>
                <relationship name="folder" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Folder" inverseName="notes" inverseEntity="Folder"/>
            </entity>
        </model>
        """

    init(folder: URL) throws {
        path = folder.appending(path: "Notebook.sqlite").path
        model = folder.appending(path: "Notebook.xcdatamodeld").path
        let version = folder.appending(path: "Notebook.xcdatamodeld/Notebook.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data(Self.contents.utf8).write(to: version.appending(path: "contents"))
        let file = try CoreDataModelFile.read(path: model)
        let metadata = PropertyList.dictionary([
            "NSStoreType": .string("SQLite"),
            "NSStoreModelVersionHashes": .dictionary(CoreDataVersionHashes(file.model).hashes.mapValues { .data($0) }),
        ])
        let keywords = try NSKeyedArchiver.archivedData(
            withRootObject: ["shop", "food"] as NSArray, requiringSecureCoding: false)
        try Self.write(
            [
                "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
                "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
                "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
                "CREATE TABLE ZFOLDER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)",
                """
                CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFOLDER INTEGER, \
                Z_FOK_FOLDER INTEGER, ZCHANGEDAT TIMESTAMP, ZTEXT VARCHAR, ZTITLE VARCHAR, ZKEYWORDS BLOB)
                """,
                "CREATE INDEX ZNOTE_ZFOLDER_INDEX ON ZNOTE (ZFOLDER)",
                "INSERT INTO Z_METADATA VALUES(1, '\(UUID().uuidString)', \(Self.literal(metadata.binary())))",
                "INSERT INTO Z_PRIMARYKEY VALUES(1, 'Folder', 0, 2), (2, 'Note', 0, 3)",
                "INSERT INTO Z_MODELCACHE VALUES(\(Self.literal(Self.stored(Self.compiled(file.model)))))",
                "INSERT INTO ZFOLDER VALUES(1, 1, 1, 'Work'), (2, 1, 1, 'Home')",
                """
                INSERT INTO ZNOTE VALUES(1, 2, 1, 2, 3072, 600000000, NULL, 'Bread', NULL), \
                (2, 2, 1, 2, 2048, 700000000.5, 'two bottles', 'Milk', \(Self.literal(keywords))), \
                (3, 2, 4, 1, 2048, NULL, NULL, 'Report', NULL)
                """,
            ], to: path)
    }

    private static func write(_ statements: [String], to path: String) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close_v2(handle) }
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw CocoaError(.fileWriteUnknown) }
        for statement in statements where sqlite3_exec(handle, statement, nil, nil, nil) != SQLITE_OK {
            throw CocoaError(.fileWriteUnknown, userInfo: ["statement": statement])
        }
    }

    private static func literal(_ data: Data) -> String {
        "x'" + data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }

    /// A DEFLATE stream of one block that is not compressed.
    private static func stored(_ data: Data) -> Data {
        let length = UInt16(data.count)
        let header = [1, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8)]
        return Data(header) + data
    }

    /// The archive of a model with attributes and relationships.
    private static func compiled(_ model: CoreDataModel) -> Data {
        var objects: [PropertyList] = [.string("$null")]
        func add(_ object: PropertyList) -> PropertyList {
            objects.append(object)
            return .uid(objects.count - 1)
        }
        func object(_ className: String, _ members: [String: PropertyList]) -> PropertyList {
            let type = add(.dictionary(["$classname": .string(className), "$classes": .array([.string(className)])]))
            return add(.dictionary(members.merging(["$class": type]) { first, _ in first }))
        }
        func dictionary(_ pairs: [(String, PropertyList)]) -> PropertyList {
            object(
                "NSDictionary",
                ["NS.keys": .array(pairs.map { add(.string($0.0)) }), "NS.objects": .array(pairs.map(\.1))])
        }
        let entities = model.entities.map { entity in
            let attributes = entity.attributes.map { attribute in
                var members: [String: PropertyList] = [
                    "NSPropertyName": add(.string(attribute.name)),
                    "NSAttributeType": .integer(Int64(attribute.type.rawValue)),
                    "NSIsOptional": .boolean(attribute.isOptional),
                ]
                for (key, text) in [
                    ("NSValueTransformerName", attribute.transformerName),
                    ("NSAttributeValueClassName", attribute.valueClassName),
                ] { members[key] = text.map { add(.string($0)) } }
                return (attribute.name, object("NSAttributeDescription", members))
            }
            let relationships = entity.relationships.map { relationship in
                (
                    relationship.name,
                    object(
                        "NSRelationshipDescription",
                        [
                            "NSPropertyName": add(.string(relationship.name)),
                            "NSIsOptional": .boolean(relationship.isOptional),
                            "NSIsOrdered": .boolean(relationship.isOrdered),
                            "NSMaxCount": .integer(relationship.isToMany ? 0 : 1),
                            "NSDeleteRule": .integer(Int64(relationship.deleteRule.rawValue)),
                            "_NSDestinationEntityName": add(.string(relationship.destination)),
                            "_NSInverseRelationshipName": add(.string(relationship.inverse ?? "")),
                        ])
                )
            }
            return (
                entity.name,
                object(
                    "NSEntityDescription",
                    ["NSEntityName": add(.string(entity.name)), "NSProperties": dictionary(attributes + relationships)])
            )
        }
        let root = object("NSManagedObjectModel", ["NSEntities": dictionary(entities)])
        return PropertyList.dictionary([
            "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
            "$top": .dictionary(["root": root]), "$objects": .array(objects),
        ]).binary()
    }
}
