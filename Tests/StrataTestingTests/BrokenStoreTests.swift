import Foundation
import StrataTesting
import Testing

/// Every defect is seen by the kit, by a check of the right kind, with a message that says what is wrong.
@Suite struct BrokenStoreTests {
    private struct Subject: ConformanceSubject {
        let defect: Defect
        var name: String { defect.rawValue }
        func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
            try BrokenStore(defect, model: model, place: place)
        }
    }

    /// The area whose check must fail, and a part of its message.
    private static let expected: [Defect: (ConformanceCheck.Area, String)] = [
        .datesInWholeSeconds: (.values, "declares a precision of 0"),
        .smallIntegers: (.values, "Item.large was saved as"),
        .roundedDoubles: (.values, "Item.ratio was saved as"),
        .normalizedTexts: (.values, "Item.name was saved as e\\u{0301}"),
        .emptyTextsAreNil: (.values, "Item.name was saved as "),
        .nilNumbersAreZero: (.values, "keep nil apart from zero and empty"),
        .falseIsNil: (.values, "Item.flag was saved as false and came back as nil"),
        .decimalsAsDoubles: (.values, "Item.price was saved as 12345678901234567890.123456789"),
        .bytesEndAtZero: (.values, "Item.payload was saved as"),
        .uuidsInOtherOrder: (.values, "Item.token was saved as"),
        .urisWithoutFragment: (.values, "Item.link was saved as https://example.org/a%20b?c=d#e"),
        .swappedPositions: (.values, "Item.place was saved as"),
        .noCondition: (.fetching, "items with name == 'Lima'"),
        .noOrder: (.sorting, "items sorted by large"),
        .noLimit: (.sorting, "at most 2 after 0"),
        .noOffset: (.sorting, "all after 3"),
        .limitBeforeOffset: (.sorting, "at most 2 after 1"),
        .nilLast: (.sorting, "items sorted by large:"),
        .tiesBackwards: (.sorting, "order ties by key, or pages overlap"),
        .caseBlind: (.fetching, "items with name == 'lima'"),
        .nilIsNotUnequal: (.fetching, "items with large != 5"),
        .countsAll: (.fetching, "how many items there are with"),
        .countsBeyondLimit: (.sorting, "the count of the same page"),
        .identitiesByKey: (.counting, "fetchIdentities must give the order that fetch gives"),
        .identitiesOfTheAskedEntity: (.counting, "the entities of what a fetch of Person finds"),
        .noSubentities: (.inheritance, "persons with those that inherit"),
        .onlySubentities: (.inheritance, "persons without those that inherit"),
        .headersForAll: (.counting, "its row came as a header"),
        .unknownRowsByKey: (.counting, "rows(entityIndex:keys:) of two keys"),
        .rowsTooFew: (.counting, "2,000 rows by key"),
        .ignoresErrors: (.fetching, "throw StoreError.invalidPredicate instead"),
        .emptySumsAreMissing: (.aggregates, "count and maximum of no objects"),
        .wholeAverages: (.aggregates, "the average of large"),
        .noHaving: (.aggregates, "having a sum above 3"),
        .notDistinct: (.aggregates, "the distinct values of large"),
        .keysTwice: (.keys, "reserve them for good"),
        .keysOverlap: (.keys, "allocateKeys gave"),
        .keysFromOne: (.keys, "allocateKeys gave the key 1"),
        .negativeKeys: (.keys, "keys are positive"),
        .lastSaveWins: (.conflicts, "compare the base version"),
        .deletesForgotten: (.fetching, "after a was deleted"),
        .updatesForgotten: (.fetching, "by the new name"),
        .insertsBeforeConflicts: (.conflicts, "a commit is all or nothing"),
        .noStoreRow: (.conflicts, "StoreConflict.storeRow"),
        .versionsStandStill: (.saving, "keep the row's version"),
        .pairsNotAdded: (.manyToMany, "the items of red"),
        .pairsNotRemoved: (.manyToMany, "after y lost it"),
        .ordersForgotten: (.ordered, "the steps"),
        .newMembersFirst: (.ordered, "the steps"),
        .conflictsAsErrors: (.conflicts, "answer commit with CommitResult.conflicts"),
        .membersOfAll: (.toMany, "memberRows of two owners of five"),
        .membersOfOne: (.toMany, "memberRows must give the rows of all owners"),
        .pairsOfAll: (.toMany, "memberKeys"),
        .neverClosed: (.life, "throw StoreError.closed"),
        .newIdentity: (.life, "the identifier after reopening"),
        .otherModel: (.life, "store.model is another model"),
    ]

    @Test("The conformance suite finds each defect and names it", arguments: Defect.allCases)
    func isCaught(_ defect: Defect) async throws {
        let (area, message) = try #require(Self.expected[defect])
        let checks = ConformanceSuite.standard.checks.filter { $0.area == area }
        let report = await ConformanceSuite(checks: checks).run(Subject(defect: defect))
        #expect(report.failures.contains { $0.message.contains(message) }, "\(report)")
    }
}
