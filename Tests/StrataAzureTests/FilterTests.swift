import Foundation
import StrataAzure
import StrataRemoteTesting
import Testing

/// Conditions of an entity: in terms of columns, and with the answers that they have here.
@Suite struct AzureFilterTests {
    private let model: ManagedObjectModel
    private let note: EntityDescription

    init() throws {
        model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") {
                Attribute("noteId", .string)
                Attribute("text", .string, optional: true)
                Attribute("other", .string, optional: true)
                Attribute("title", .string)
                Attribute("count", .integer64, optional: true)
                Attribute("weight", .float, optional: true)
                Attribute("price", .decimal, optional: true)
                Attribute("done", .boolean, optional: true)
                Attribute("token", .uuid, optional: true)
                Attribute("written", .date, optional: true)
                Attribute("updatedAt", .date, optional: true)
                Relationship("folder", to: "Folder", .optionalToOne, inverse: "notes")
            }
            Entity("Folder") {
                Attribute("folderId", .string)
                Relationship("notes", to: "Note", .toMany, inverse: "folder")
            }
        }
        note = try #require(model.entity(named: "Note"))
    }

    /// The filter of a query; nil if the dialect refuses it.
    private func filter(
        _ format: String, _ arguments: [Value] = [], _ version: AzureVersion = .mobileApps,
        _ change: (inout AzureDialect) -> Void = { _ in }
    ) throws -> String? {
        var dialect = try AzureDialect(address: "https://notes.example", version: version)
        change(&dialect)
        var query = RemoteQuery(entity: note)
        query.predicate = try FetchPredicate(format: format, arguments: arguments)
        do throws(RemoteError) {
            let path = try dialect.request(for: .query(query), options: RequestOptions()).head.path ?? ""
            let pairs = QueryParameters.read(path.split(separator: "?").last ?? "") ?? []
            return pairs.first { $0.name == "$filter" }?.value
        } catch {
            #expect(error.kind == .unsupported)
            return nil
        }
    }

    @Test func valuesHaveTheTypesOfTheirColumns() throws {
        let date = Date(timeIntervalSince1970: 1_582_977_600.005)
        #expect(try filter("weight == 1.5") == "(weight eq 1.5f)")
        #expect(try filter("price > 2") == "(price gt 2m)")
        #expect(try filter("done == 1") == "(done eq true)")
        #expect(try filter("count > 3000000000") == "(count gt 3000000000l)")
        #expect(try filter("written > %@", [.date(date)]) == "(written gt datetime'2020-02-29T12:00:00.005Z')")
        // The server's own times have an offset.
        #expect(
            try filter("updatedAt > %@", [.date(date)], .mobileServices)
                == "(__updatedAt gt datetimeoffset'2020-02-29T12:00:00.005Z')")
        let token = try #require(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF"))
        #expect(try filter("token == %@", [.uuid(token)]) == "(token eq '01234567-89AB-CDEF-0123-456789ABCDEF')")
        #expect(
            try filter("token == %@", [.uuid(token)], .datasync)
                == "(token eq cast(01234567-89AB-CDEF-0123-456789ABCDEF,Edm.Guid))")
    }

    @Test func keysAndReferencesAreIDs() throws {
        #expect(try filter("noteId == 'a'") == "(id eq 'a')")
        #expect(try filter("folder == 'f'") == "(folder eq 'f')")
        #expect(try filter("folder == nil") == "(folder eq null)")
        #expect(try filter("folder.folderId == 'f'") == nil)
        #expect(try filter("nothing == 1") == nil)
        #expect(try filter("folder == 'f'") { $0.names.columns["Note.folder"] = "folderId" } == "(folderId eq 'f')")
    }

    @Test func nilIsUnequalToEveryValue() throws {
        #expect(try filter("text != 'a'") == "((text ne 'a') or (text eq null))")
        #expect(try filter("title != 'a'") == "(title ne 'a')")
        #expect(try filter("text != nil") == "(text ne null)")
        #expect(try filter("NOT count > 3") == "(not((count gt 3)) or (count eq null))")
        #expect(
            try filter("NOT (count > 3 AND title == 'a')")
                == "((not((count gt 3)) or (count eq null)) or (title ne 'a'))")
        #expect(try filter("NOT text IN {'a', 'b'}") == "(not(((text eq 'a') or (text eq 'b'))) or (text eq null))")
        #expect(try filter("text IN %@", [.list([.string("a"), .null])]) == "(text eq 'a')")
        // Two that are both nil are equal here, and not in every database.
        #expect(try filter("text == other") == nil)
        #expect(try filter("text == title") == "(text eq title)")
    }

    @Test("Columns of arrays and JSON are only compared with nil: what the service keeps of them is not known here")
    func arraysAreNotCompared() throws {
        let model = try ManagedObjectModel(name: "Items") {
            Entity("Item") {
                Attribute("itemId", .string)
                Attribute("tags", .array(.string), optional: true)
                Attribute("layout", .json(JSONType("Layout")), optional: true)
            }
        }
        let item = try #require(model.entity(named: "Item"))
        for version in AzureVersion.allCases {
            let dialect = try AzureDialect(address: "https://notes.example", version: version, applicationKey: "k")
            func filter(_ format: String) throws -> String? {
                var query = RemoteQuery(entity: item)
                query.predicate = try FetchPredicate(format: format)
                let path = try dialect.request(for: .query(query), options: RequestOptions()).head.path ?? ""
                return (QueryParameters.read(path.split(separator: "?").last ?? "") ?? [])
                    .first { $0.name == "$filter" }?.value
            }
            #expect(try filter("tags == nil") == "(tags eq null)")
            #expect(try filter("NOT layout == nil") == "(layout ne null)")
            for format in [
                "tags CONTAINS 'red'", "'red' IN tags", "tags BEGINSWITH 'red'", "tags ENDSWITH 'red'", "tags == 'red'",
                "NOT tags CONTAINS 'red'", "tags != 'red'", "tags IN {'red'}", "tags > 'a'", "ANY tags == 'red'",
                "ANY tags IN {'red'}", "tags.@count == 1", "lowercase(tags) == 'red'", "tags CONTAINS[c] 'red'",
                "layout CONTAINS 'x'", "layout == 'x'",
            ] {
                #expect { try filter(format) } throws: { ($0 as? RemoteError)?.kind == .unsupported }
            }
        }
    }

    /// The same conditions over the same rows: in the evaluator, and by a server that reads the filter.
    @Test(arguments: [
        "text == 'a'", "text != 'a'", "NOT text == 'a'", "NOT text != 'a'", "text == nil", "text != nil", "count > 1",
        "NOT count > 1", "NOT (count > 1 OR text == 'a')", "NOT (count > 1 AND text BEGINSWITH 'a')",
        "count IN {1, 2}", "NOT count IN {1, 2}", "count BETWEEN {1, 2}", "NOT count BETWEEN {1, 2}",
        "text BEGINSWITH[c] 'A'", "NOT text CONTAINS 'b'", "text ENDSWITH 'b' OR count < 2", "done == YES",
        "done != YES", "NOT (NOT (text == 'ab'))", "TRUEPREDICATE", "FALSEPREDICATE", "NOT TRUEPREDICATE",
    ])
    func answersAreThoseOfTheEvaluator(format: String) async throws {
        for version in AzureVersion.allCases {
            let predicate = try FetchPredicate(format: format)
            let dialect = try AzureDialect(address: "https://notes.example", version: version, applicationKey: "k")
            let backend = HTTPBackend(dialect: dialect, transport: AzureTestServer(version))
            var expected: Set<String> = []
            for text in [nil, "a", "ab", "b", "A"] {
                for count in [nil, 0, 1, 2, 3] as [Int64?] {
                    let id = "\(text ?? "nil")-\(count.map { "\($0)" } ?? "nil")"
                    let values: [String: RemoteValue] = [
                        "title": .value("t"), "text": .value(text.map(Value.string) ?? .null),
                        "count": .value(count.map(Value.integer) ?? .null),
                        "done": .value(count.map { .boolean($0 > 1) } ?? .null),
                    ]
                    let outcomes = try await backend.perform(
                        .create(entity: note, [RemoteWrite(id: id, values: values)]), options: RequestOptions())
                    guard case .outcomes(let list) = outcomes, case .done? = list.first else {
                        Issue.record("the row \(id) is not made: \(outcomes)")
                        return
                    }
                    let record = RemoteRecord(entity: "Note", id: id, values: values)
                    if try predicate.evaluate(on: RecordSource(record: record, of: note)) { expected.insert(id) }
                }
            }
            var query = RemoteQuery(entity: note)
            query.predicate = predicate
            guard case .page(let page) = try await backend.perform(.query(query), options: RequestOptions()) else {
                Issue.record("a query is answered by a page")
                return
            }
            #expect(Set(page.records.map(\.id)) == expected, "\(format) in \(version)")
        }
    }
}
