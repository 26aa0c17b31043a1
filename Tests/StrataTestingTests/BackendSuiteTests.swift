import StrataRemote
import StrataRemoteTesting
import Testing

/// The kit's own back end holds to the laws, and each defect of a back end is found by the law that it breaks.
@Suite struct BackendSuiteTests {
    private struct Memory: BackendSubject {
        var features = MemoryBackend.allFeatures
        var maximumPage: Int?
        var hasIntegerKeys = false
        var unlisted: [String: Set<String>] = [:]
        let name = "Memory"
        let datePrecision = 0.0
        func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
            MemoryBackend(features: features, maximumPage: maximumPage, unlisted: unlisted)
        }
    }

    private struct Broken: BackendSubject {
        let defect: BackendDefect
        var assignsIDs = false
        var name: String { defect.rawValue }
        var hasIntegerKeys: Bool { assignsIDs }
        func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
            BrokenBackend(defect, assignsIDs: assignsIDs)
        }
    }

    @Test func aServerInMemoryHoldsToAllLaws() async {
        let failures = await BackendSuite.run(Memory())
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test(arguments: [true, false])
    func aServerThatAssignsKeysHoldsToItsLaw(hasIntegerKeys: Bool) async {
        for features: RemoteCapabilities.Features in [MemoryBackend.allFeatures, []] {
            let failures = await BackendSuite.run(
                Memory(features: features.union(.assignsIDs), hasIntegerKeys: hasIntegerKeys))
            #expect(failures.isEmpty, "\(failures)")
        }
    }

    @Test(
        "Defects of a server that assigns keys are found by the laws that all back ends have",
        arguments: [
            (.updatesAnyVersion, .conditionalWrites), (.deletesAnyVersion, .conditionalWrites),
            (.pullSkipsUpdates, .cursors), (.deletionsUntold, .cursors), (.cursorStandsStill, .cursors),
            (.limitIgnored, .paging), (.orderIgnored, .paging), (.zeroIsNil, .values), (.referenceStays, .values),
            (.updatesRepeat, .idempotency), (.laterTextLost, .synchronization), (.deletedIsFound, .visibility),
        ] as [(BackendDefect, BackendSuite.Law)])
    func defectsWithAssignedKeys(defect: BackendDefect, law: BackendSuite.Law) async {
        let failures = await BackendSuite.run(Broken(defect: defect, assignsIDs: true))
        #expect(failures.contains { $0.law == law }, "\(failures)")
    }

    @Test("A server whose records list no members holds to all laws", arguments: [true, false])
    func unlistedMembers(assignsIDs: Bool) async {
        for features in [MemoryBackend.allFeatures, MemoryBackend.allFeatures.subtracting(.memberQueries)] {
            let failures = await BackendSuite.run(
                Memory(
                    features: assignsIDs ? features.union(.assignsIDs) : features, maximumPage: 3,
                    hasIntegerKeys: assignsIDs, unlisted: ["Note": ["tags"]]))
            #expect(failures.isEmpty, "\(failures)")
        }
    }

    @Test func aServerWithSmallPagesHoldsToAllLaws() async {
        let failures = await BackendSuite.run(Memory(maximumPage: 3))
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test(
        arguments: [
            [], [.conditionalWrites], [.idempotencyTokens, .incrementalPull], [.paging, .sorting, .readingMany],
        ] as [RemoteCapabilities.Features])
    func aServerThatCanDoLittleHoldsToAllLaws(features: RemoteCapabilities.Features) async {
        // Without any way to know what was done, a repeated write is done again.
        let laws = BackendSuite.Law.allCases.filter {
            $0 != .synchronization || features.contains(.idempotencyTokens) || features.contains(.conditionalWrites)
        }
        let failures = await BackendSuite.run(Memory(features: features), laws: laws)
        #expect(failures.isEmpty, "\(failures)")
    }

    /// A server that carries out all writes of a request or none.
    private struct AllOrNothing: BackendSubject {
        let name = "All or nothing"

        func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend { Server() }

        private struct Server: RemoteBackend {
            let base = MemoryBackend()
            var name: String { base.name }
            var capabilities: RemoteCapabilities { base.capabilities }

            func check(_ operation: RemoteOperation) throws(RemoteError) { try base.check(operation) }

            func perform(
                _ operation: RemoteOperation, options: RequestOptions
            ) async throws(RemoteError) -> RemoteAnswer {
                let backup = base.backUp()
                let answer = try await base.perform(operation, options: options)
                guard case .outcomes(let outcomes) = answer, outcomes.count > 1 else { return answer }
                for case .failed(let error) in outcomes {
                    base.restore(backup)
                    throw error
                }
                return answer
            }
        }
    }

    @Test func aServerThatCarriesOutAllOrNothingHoldsToAllLaws() async {
        let failures = await BackendSuite.run(AllOrNothing())
        #expect(failures.isEmpty, "\(failures)")
    }

    /// A server whose cursors are so far back that pulls report all objects again.
    private struct Repeating: BackendSubject {
        let name = "Repeating"
        var repeatsRecentChanges = false
        /// Whether the objects that come again have another text than they have.
        var isWrong = false

        func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend { Server(isWrong: isWrong) }

        private struct Server: RemoteBackend {
            let base = MemoryBackend()
            let isWrong: Bool
            var name: String { base.name }
            var capabilities: RemoteCapabilities { base.capabilities }

            func check(_ operation: RemoteOperation) throws(RemoteError) { try base.check(operation) }

            func perform(
                _ operation: RemoteOperation, options: RequestOptions
            ) async throws(RemoteError) -> RemoteAnswer {
                let answer = try await base.perform(operation, options: options)
                guard case .pull(let pull) = operation, pull.cursor != nil, case .page(var page) = answer, !page.hasMore
                else { return answer }
                let told = Set(page.records.map(\.id))
                var again = base.records.filter { $0.entity == pull.entity.name && !told.contains($0.id) }
                if isWrong { for index in again.indices { again[index].values["text"] = .value(.string("wrong")) } }
                page.records = again + page.records
                return .page(page)
            }
        }
    }

    @Test func objectsMayComeAgainIfTheSubjectSaysSo() async {
        let failures = await BackendSuite.run(Repeating(repeatsRecentChanges: true))
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test(
        "Objects must not come again unless the subject says so, and never with other values", arguments: [false, true])
    func objectsThatComeAgainBreakTheLaw(isDeclared: Bool) async {
        let failures = await BackendSuite.run(
            Repeating(repeatsRecentChanges: isDeclared, isWrong: isDeclared), laws: [.cursors])
        #expect(failures.contains { $0.check.contains("without changes") }, "\(failures)")
    }

    @Test(arguments: ["", "@", "-1", "7", "0@x@y", "9999999999999999999999"])
    func aCursorOfNobodyIsNoTrap(cursor: String) async throws {
        let entity = try #require(
            try ManagedObjectModel(name: "Notes") { Entity("Note") { Attribute("noteId", .string) } }.entity(
                named: "Note"))
        let server = MemoryBackend()
        do {
            _ = try await server.perform(.pull(RemotePull(entity: entity, cursor: cursor)), options: RequestOptions())
            #expect(cursor == "0@x@y")
        } catch {
            #expect(error.kind == .cursorExpired)
        }
        var query = RemoteQuery(entity: entity)
        (query.offset, query.limit, query.cursor) = (-1, -1, cursor)
        _ = try await server.perform(.query(query), options: RequestOptions())
    }

    @Test func checksHaveNamesOfTheirOwn() {
        let names = BackendSuite.Law.allCases.flatMap(BackendSuite.names)
        #expect(Set(names).count == names.count)
    }

    /// The law that must be found broken, and a part of the name of the check.
    private static let expected: [BackendDefect: (BackendSuite.Law, String)] = [
        .outcomeOfAnother: (.pairing, "about its own object"), .lostOutcome: (.pairing, "a group has one outcome"),
        .outcomesReversed: (.pairing, "a group has one outcome"),
        .failureNamesFirst: (.pairing, "a group has one outcome"),
        .batchEndsAtFailure: (.pairing, "a batch has one outcome"), .memberIsOwner: (.pairing, "a missing member"),
        .versionStandsStill: (.conditionalWrites, "another version"),
        .noVersion: (.conditionalWrites, "another version"),
        .updatesAnyVersion: (.conditionalWrites, "of several writes"),
        .deletesAnyVersion: (.conditionalWrites, "a delete of an old version"),
        .refusalShowsOwn: (.conditionalWrites, "a refusal shows"),
        .refusalWrites: (.conditionalWrites, "an update of an old version"),
        .needsVersion: (.conditionalWrites, "without a version"),
        .conflictIsRejected: (.conditionalWrites, "an update of an old version"),
        .batchWithoutVersions: (.conditionalWrites, "each write of a batch"),
        .batchWithoutTokens: (.idempotency, "each write of a batch"),
        .creationsRepeat: (.idempotency, "a creation that comes twice"),
        .updatesRepeat: (.idempotency, "an update that comes late"),
        .deletesRepeat: (.idempotency, "a delete that comes twice"),
        .creationComesBack: (.idempotency, "a late creation"), .usedTokenIsDone: (.idempotency, "a token belongs"),
        .pullEndsEarly: (.cursors, "join to everything"), .cursorStandsStill: (.cursors, "join to everything"),
        .pullLosesLast: (.cursors, "join to everything"), .noLastCursor: (.cursors, "without changes"),
        .pullComesAgain: (.cursors, "without changes"), .pullSkipsUpdates: (.cursors, "a later change"),
        .deletionsUntold: (.cursors, "a deletion comes"), .madeAgainIsDeleted: (.cursors, "created again"),
        .foreignCursorIsEnd: (.cursors, "another server"), .pageTooLarge: (.cursors, "no more objects"),
        .pullOfOtherEntity: (.cursors, "join to everything"), .endBeforeRefused: (.cursors, "refused leaves no gap"),
        .oneHundredAtMost: (.paging, "without a limit"), .keyFindsNothing: (.paging, "what they find in a store"),
        .partIsWhole: (.paging, "what they find in a store"), .numbersAreTexts: (.paging, "what they find in a store"),
        .silentCap: (.paging, "without a limit"), .limitIgnored: (.paging, "a limit is kept"),
        .offsetIgnored: (.paging, "an offset"), .pagesOverlap: (.paging, "each object once"),
        .orderIgnored: (.paging, "an order is kept"), .alwaysAscending: (.paging, "an order is kept"),
        .conditionIgnored: (.paging, "a condition"), .countsAll: (.paging, "a count"),
        .totalOfPage: (.paging, "a total"),
        .queryOfAllEntities: (.paging, "of its entity only"), .pageAgain: (.paging, "without a limit"),
        .groupCutOff: (.groups, "the largest group"), .readCutOff: (.groups, "the longest list"),
        .refusedInPart: (.pairing, "a batch has one outcome"), .lowercase: (.identities, "two objects"),
        .numbers: (.identities, "a primary key comes back"), .lastComponent: (.identities, "a primary key comes back"),
        .decodedTwice: (.identities, "a primary key comes back"),
        .plusIsSpace: (.identities, "a primary key comes back"),
        .trimmed: (.identities, "a primary key comes back"), .keyUntold: (.assignedKeys, "by which it is found"),
        .keyOfClient: (.assignedKeys, "a new object gets"), .newKeyEachTime: (.assignedKeys, "comes twice"),
        .emptyTextIsNil: (.values, "texts"),
        .zeroIsNil: (.values, "are not nil"), .falseIsNil: (.values, "truth values"),
        .numbersAsDoubles: (.values, "whole numbers"), .singlePrecision: (.values, "floating-point"),
        .decimalsAsDoubles: (.values, "decimals"), .wholeSeconds: (.values, "dates"),
        .bytesEndAtZero: (.values, "bytes"),
        .swappedPositions: (.values, "positions"), .trimmedTexts: (.values, "texts"),
        .updateReplaces: (.values, "does not name"), .nilIgnored: (.values, "nil takes the place"),
        .referenceStays: (.values, "a reference comes back"), .answerShowsOld: (.values, "an answer to a write"),
        .updateMakes: (.visibility, "never was makes nothing"),
        .createOverwrites: (.visibility, "over a present object"),
        .deletedIsFound: (.visibility, "a deleted object"), .anybodyIsFound: (.visibility, "never was is not found"),
        .missingIsForbidden: (.visibility, "never was makes nothing"),
        .secondDeleteIsRejected: (.visibility, "a delete of what is gone"), .unreachable: (.claims, "can be reached"),
        .countIsRejected: (.claims, "an undeclared feature"), .selectionIgnored: (.claims, "a selection"),
        .membershipIgnored: (.claims, "one by one"), .listsHidden: (.claims, "one by one"),
        .membersReplaced: (.claims, "one by one"), .membersStay: (.claims, "one by one"),
        .incrementSets: (.claims, "numbers that others add"),
        .subqueriesIgnored: (.claims, "another query"), .oppositeIgnored: (.claims, "another query"),
        .everyFifthLost: (.synchronization, "more objects arrive"),
        .laterTextLost: (.synchronization, "over a bad network"),
    ]

    @Test(arguments: BackendDefect.allCases)
    func aDefectIsFound(defect: BackendDefect) async throws {
        let (law, check) = try #require(Self.expected[defect])
        let failures = await BackendSuite.run(Broken(defect: defect), laws: [law])
        #expect(failures.contains { $0.law == law && $0.check.contains(check) }, "\(defect): \(failures)")
    }
}
