import Foundation
import Strata
import StrataCoreData
import Testing

/// The rules of the format, on stores that Core Data wrote and on stores that break them.
struct CheckTests {
    @Test("Stores that Core Data wrote keep the rules", arguments: Samples.own + Samples.shared)
    func samples(name: String) throws {
        let path = try Samples.copy(name)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let problems = try CoreDataStore.check(at: path)
        if name.hasSuffix("MagicalRecord-Recipes.sqlite") {
            // Core Data of 2009 gave page sizes and vacuum modes of their own time to the file.
            #expect(problems.allSatisfy { [.file, .tables].contains($0.kind) }, "\(problems)")
        } else {
            #expect(problems == [])
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test(
        "Each broken rule is found",
        arguments: [
            ("PRAGMA user_version = 3", CoreDataFormatProblem.Kind.file),
            ("UPDATE Z_METADATA SET Z_VERSION = 2", .metadata),
            ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 4 WHERE Z_NAME = 'Bird'", .entities),
            ("UPDATE Z_PRIMARYKEY SET Z_MAX = 0", .entities),
            ("DROP INDEX ZANIMAL_ZKEEPER_INDEX", .tables),
            ("UPDATE ZANIMAL SET Z_ENT = 4 WHERE Z_PK = 1", .rows),
            ("UPDATE ZANIMAL SET Z_OPT = 0 WHERE Z_PK = 1", .rows),
            ("UPDATE ZANIMAL SET ZNUMBER = 70000 WHERE Z_PK = 1", .values),
            ("UPDATE ZANIMAL SET ZTAG = x'00' WHERE Z_PK = 1", .values),
            ("UPDATE ZANIMAL SET ZPHOTO = x'05' WHERE Z_PK = 1", .values),
            ("UPDATE ZANIMAL SET ZKEEPER = 99 WHERE Z_PK = 1", .references),
            ("UPDATE ZANIMAL SET Z5_KEEPER = 5 WHERE Z_PK = 1", .references),
            ("UPDATE ZANIMAL SET Z_FOK_KEEPER = NULL WHERE Z_PK = 1", .order),
            ("INSERT INTO Z_1CLUBS(Z_1MEMBERS, Z_4CLUBS, Z_FOK_1MEMBERS) VALUES(77, 1, 2048)", .pairs),
            ("UPDATE Z_1CLUBS SET Z_FOK_1MEMBERS = NULL", .order),
            (
                "UPDATE ZANIMAL SET ZPHOTO = x'0230303131323233332d343435352d363637372d383839392d41414242434344444545464600' WHERE Z_PK = 1",
                .externalFiles
            ),
        ])
    func broken(statement: String, kind: CoreDataFormatProblem.Kind) throws {
        let zoo = try Zoo()
        let path = Samples.temporary(".sqlite")
        try CoreDataStore.create(path: path, model: zoo.file)
        for row in [
            "INSERT INTO ZPERSON(Z_PK, Z_ENT, Z_OPT) VALUES(1, 6, 1)",
            "INSERT INTO ZANIMAL(Z_PK, Z_ENT, Z_OPT, ZNAME, ZKEEPER, Z5_KEEPER, Z_FOK_KEEPER) VALUES(1, 1, 1, 'A', 1, 6, 2048)",
            "INSERT INTO ZCLUB(Z_PK, Z_ENT, Z_OPT) VALUES(1, 4, 1)",
            "INSERT INTO Z_1CLUBS(Z_1MEMBERS, Z_4CLUBS, Z_FOK_1MEMBERS) VALUES(1, 1, 2048)",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_SUPER = 0",
        ] { try AppleStore.execute(path, row) }
        #expect(try CoreDataStore.check(at: path) == [])
        try AppleStore.execute(path, statement)
        #expect(try CoreDataStore.check(at: path).contains { $0.kind == kind })
    }
}
