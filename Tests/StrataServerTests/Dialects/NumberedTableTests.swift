#if Server
    import ChildProcesses
    import Foundation
    import StrataAzure
    import StrataServer
    import Testing

    /// Tables of Azure Mobile Services whose ids are numbers that the server assigns.
    @Suite struct NumberedTableTests {
        private static let version = AzureVersion.mobileServices

        @Test("Over HTTP, rows are inserted without ids, and read, changed and deleted by number")
        func rows() async throws {
            try await NumberedTables.bench().serving { port in
                let base = "http://127.0.0.1:\(port)/azure1/tables/Note"
                func send(
                    _ method: String, _ path: String = "", _ body: String? = nil, _ headers: [String: String] = [:]
                ) async throws -> (status: Int, json: JSONValue?, headers: [AnyHashable: Any]) {
                    var all = headers
                    all["X-ZUMO-APPLICATION"] = "zumo"
                    return try await LoopbackTests.send(
                        method, base + path, body.map { Data($0.utf8) }, headers: all)
                }
                let made = try await send("POST", "", #"{"text":"Milk"}"#)
                #expect(made.status == 201)
                #expect(made.json?["id"] == 1 && made.json?["text"] == "Milk")
                #expect(made.headers["Location"] as? String == "/azure1/tables/Note/1")
                #expect(made.headers["Etag"] == nil && made.headers["ETag"] == nil)
                // What stands for no id.
                for (place, id) in ["0", "null", #""""#].enumerated() {
                    let next = try await send("POST", "", #"{"id":\#(id),"text":"x"}"#)
                    #expect(next.status == 201 && next.json?["id"] == .integer(Int64(place) + 2))
                }
                let changed = try await send("PATCH", "/2", #"{"id":2,"text":"Bread"}"#)
                #expect(changed.status == 200 && changed.json?["text"] == "Bread" && changed.json?["id"] == 2)
                #expect(try await send("PATCH", "/2", #"{"id":3,"text":"Bread"}"#).status == 400)
                #expect(try await send("GET", "/2").json?["text"] == "Bread")
                #expect(try await send("GET", "/02").json?["id"] == 2)
                #expect(try await send("DELETE", "/4").status == 204)
                #expect(try await send("GET", "/4").status == 404)
                #expect(try await send("DELETE", "/4").status == 404)
                #expect(try await send("PATCH", "/4", #"{"text":"x"}"#).status == 404)
                #expect(try await send("POST", "", "{}").json?["id"] == 5)
                let all = try await send("GET")
                #expect(all.json?.elements?.map { $0["id"] } == [1, 2, 3, 5])
            }
        }

        @Test("An insert that brings an id is refused, whoever sends it")
        func givenIDs() async throws {
            let bench = try NumberedTables.bench()
            await bench.insertNote()
            for id in [7, 1, -1, "7", "abc", 1.5, true, [1], ["a": 1], .integer(.max)] as [JSONValue] {
                for headers in [[:], ["X-ZUMO-MASTER": Places.master]] {
                    let answer = await bench.azure(
                        Self.version, "POST", "tables/Note", ["id": id, "text": "x"], headers: headers)
                    #expect(answer.status == 400, "\(id): \(answer.text)")
                }
            }
            let words = await bench.azure(Self.version, "POST", "tables/Note", ["id": 7])
            #expect(words.json?["error"] == "Error: A value cannot be specified for property 'id'")
            #expect(await bench.insertNote() == 2)
        }

        @Test("Rows with numbers have no columns of the server's own, no versions and no undelete")
        func systemColumns() async throws {
            let bench = try NumberedTables.bench()
            let made = await bench.azure(
                Self.version, "POST", "tables/Note?__systemProperties=*", ["text": "x"])
            let names: Set<String> = ["id", "text", "stars", "folder", "owner", "fans"]
            #expect(Set(made.json?.members?.names ?? []) == names, "\(made.text)")
            let read = await bench.azure(Self.version, "GET", "tables/Note/1?__systemProperties=__version,__updatedAt")
            #expect(Set(read.json?.members?.names ?? []) == names && read.header("ETag") == nil)
            // The real service has no version to compare, and does not look at the header.
            for tag in ["\"1\"", "x", "\"a\", \"b\""] {
                let changed = await bench.azure(
                    Self.version, "PATCH", "tables/Note/1", ["text": "y"], headers: ["If-Match": tag])
                #expect(changed.status == 200 && changed.header("ETag") == nil, "\(changed.text)")
            }
            let again = await bench.azure(
                Self.version, "GET", "tables/Note/1", headers: ["If-None-Match": "\"1700000000000\""])
            #expect(again.status == 200)
            #expect(await bench.azure(Self.version, "PATCH", "tables/Note/1", ["__version": "1"]).status == 400)
            #expect(await bench.notes("$filter=__deleted%20eq%20false").status != 500)
            let deleted = await bench.azure(
                Self.version, "DELETE", "tables/Note/1", headers: ["If-Match": "\"stale\""])
            #expect(deleted.status == 204)
            #expect(await bench.notes("__includeDeleted=true").ids.isEmpty)
            #expect(await bench.azure(Self.version, "GET", "tables/Note/1?__includeDeleted=true").status == 404)
            let back = await bench.azure(Self.version, "POST", "tables/Note/1")
            #expect(back.status == 400 && back.text.contains("not supported on this table"))
            // A table with texts in the same model has them all.
            let person = await bench.azure(Self.version, "POST", "tables/Person?__systemProperties=*", ["id": "a"])
            #expect(person.json?["__version"]?.string != nil && person.header("ETag") != nil)
        }

        @Test("Ids are compared and ordered as numbers, and columns with ids of other tables hold numbers")
        func filters() async throws {
            let bench = try NumberedTables.bench()
            for number in 1...12 { await bench.insertNote(["stars": .integer(Int64(number % 3))]) }
            let finds: [(String, [JSONValue])] = [
                ("id eq 10", [10]), ("id gt 9", [10, 11, 12]), ("id ge 9L and id lt 11", [9, 10]), ("id le 2", [1, 2]),
                ("2 ge id", [1, 2]), ("id ne 1 and id lt 4", [2, 3]), ("id eq 2 or id eq 12", [2, 12]),
                ("id add 1 eq 11", [10]), ("id mod 5 eq 0", [5, 10]), ("id eq 11.0", [11]), ("id eq '11'", [11]),
                ("id eq 'x'", []), ("id eq null", []), ("id eq -1", []), ("id eq 99999999999999999999", []),
                ("id gt 9223372036854775807", []),
            ]
            for (filter, ids) in finds {
                #expect(await bench.notes("$orderby=id&$filter=\(escaped(filter))").ids == ids, "\(filter)")
            }
            #expect(
                await bench.notes("$orderby=id%20desc&$top=4").ids == [12, 11, 10, 9])
            #expect(await bench.notes("$orderby=stars,id%20desc&$skip=1&$top=3").ids == [9, 6, 3])
            #expect(await bench.notes("$filter=startswith(id,'1')").status == 400)

            await bench.azure(Self.version, "POST", "tables/Folder", ["name": "Work"])
            for (id, value) in [("1", 1), ("2", "1")] as [(String, JSONValue)] {
                let changed = await bench.azure(Self.version, "PATCH", "tables/Note/\(id)", ["folder": value])
                #expect(changed.json?["folder"] == 1, "\(changed.text)")
            }
            // It need not exist yet.
            await bench.azure(Self.version, "PATCH", "tables/Note/3", ["folder": 12])
            await bench.azure(Self.version, "POST", "tables/Person", ["id": "ann", "favorite": 3])
            #expect(await bench.notes("$orderby=id&$filter=folder%20eq%201").ids == [1, 2])
            #expect(await bench.notes("$orderby=id&$filter=folder%20ne%201").ids == [3])
            #expect(await bench.notes("$filter=folder%20gt%205").status == 400)
            #expect(await bench.notes("$orderby=folder").status == 400)
            let people = await bench.azure(Self.version, "GET", "tables/Person?$filter=favorite%20eq%203")
            #expect(people.json?.elements?.map { $0["favorite"] } == [3])
            for wrong in [0, -1, 1.5, "x", "01", "+1", "99999999999999999999", true, [1]] as [JSONValue] {
                let answer = await bench.azure(Self.version, "PATCH", "tables/Note/1", ["folder": wrong])
                #expect(answer.status == 400, "\(wrong): \(answer.text)")
            }
            let cleared = await bench.azure(Self.version, "PATCH", "tables/Note/1", ["folder": .null])
            #expect(cleared.json?["folder"] == .null)
        }

        @Test("Ids that are none are answered with 400 or 404, and nothing happens")
        func hostile() async throws {
            let bench = try NumberedTables.bench()
            await bench.insertNote()
            let missing = [
                "0", "-1", "2", "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
                "99999999999999999999999", String(repeating: "9", count: 2_000),
            ]
            let malformed = [
                "abc", "1.5", "1e3", "0x1", "%2B1", "--1", "-", "1-", "1%20", "%201", "%D9%A1", "%EF%BC%91",
                "1%00", "1;1", "1,2", "null", "NaN", "Infinity", "%F0%9F%98%80", "1%2F2", "'1'",
            ]
            for (ids, status) in [(missing, 404), (malformed, 400)] {
                for id in ids {
                    for (method, body) in [("GET", nil), ("PATCH", ["text": "y"]), ("DELETE", nil)]
                        as [(String, JSONValue?)]
                    {
                        let answer = await bench.azure(Self.version, method, "tables/Note/\(id)", body)
                        #expect(answer.status == status, "\(method) \(id.prefix(40)): \(answer.text)")
                    }
                }
            }
            #expect(await bench.azure(Self.version, "GET", "tables/Note/1").json?["text"] == "x")
            #expect(await bench.insertNote() == 2)
        }

        @Test("Many who insert at the same moment get one number each, and a write that fails uses none")
        func concurrent() async throws {
            let bench = try NumberedTables.bench()
            let ids = await withTaskGroup(of: Int64?.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        // Every third one is refused.
                        await bench.insertNote(number % 3 == 0 ? ["stars": 1, "text": 5] : ["stars": 1])
                    }
                }
                return await group.reduce(into: [Int64]()) { if let id = $1 { $0.append(id) } }
            }
            #expect(ids.sorted() == Array(1...40))
            let many = await bench.send(
                "POST", "/note", [["text": "a"], ["text": 5], ["text": "b"], ["note_id": "1"], ["text": "c"]])
            #expect(many.json?["succeeded"] == ["41", "42", "43"], "\(many.text)")
            #expect(many.json?["failed"]?.elements?.count == 2)
        }

        @Test("A server that is killed goes on after the last number, even if its row is gone")
        func restart() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let model = folder.appending(path: "Numbered.strata.yaml")
            try Data(NumberedTables.modelFile.utf8).write(to: model)
            let configuration = folder.appending(path: "server.yaml")
            try Data(NumberedTables.configuration.utf8).write(to: configuration)
            let arguments = ["--model", model.path, "--config", configuration.path]
            func send(_ method: String, _ server: ServerProcess, _ path: String) async throws -> (Int, JSONValue?) {
                let answer = try await LoopbackTests.send(
                    method, "http://127.0.0.1:\(server.port)\(path)", method == "POST" ? Data("{}".utf8) : nil,
                    headers: ["X-ZUMO-APPLICATION": "zumo"])
                return (answer.status, answer.json)
            }
            var next: Int64 = 1
            for _ in 0..<3 {
                let server = try ServerProcess(folder: folder, arguments: arguments)
                for _ in 0..<3 {
                    let (status, made) = try await send("POST", server, "/v1/tables/Note")
                    #expect(status == 201 && made?["id"] == .integer(next))
                    next += 1
                }
                #expect(try await send("DELETE", server, "/v1/tables/Note/\(next - 1)").0 == 204)
                server.kill()
            }
            let server = try ServerProcess(folder: folder, arguments: arguments)
            #expect(try await send("POST", server, "/v1/tables/Note").1?["id"] == 10)
            let (_, found) = try await send("GET", server, "/v1/tables/Note?$orderby=id")
            #expect(found?.elements?.map { $0["id"] } == [1, 2, 4, 5, 7, 8, 10])
        }

        // MARK: Models

        @Test("A database with other tables gets tables with numbers; the keys of a table stay what they are")
        func growing() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            func open(_ entities: [(name: String, key: AttributeType)]) throws -> DataServer {
                let all = entities.map { (name, key) in
                    Entity(name, primaryKey: "\(name.lowercased())Id") {
                        Attribute("\(name.lowercased())Id", key, optional: true)
                        Attribute("text", .string, optional: true)
                    }
                }
                return try DataServer(
                    folder: folder.path, model: try ManagedObjectModel(name: "M", entities: all), logger: silent)
            }
            func post(_ server: DataServer, _ path: String, _ body: String) async -> JSONValue? {
                await server.respond(to: ServerRequest("POST", path, body: Data(body.utf8))).json
            }
            let first = try open([("Todo", .string)])
            _ = await post(first, "/todo", #"{"todo_id":"a","text":"A"}"#)
            first.close()
            let second = try open([("Todo", .string), ("Note", .integer64), ("Alpha", .integer64)])
            #expect(await post(second, "/note", "{}")?["note_id"] == "1")
            #expect(await post(second, "/alpha", "{}")?["alpha_id"] == "1")
            #expect(await post(second, "/note", "{}")?["note_id"] == "2")
            #expect(await second.respond(to: ServerRequest("GET", "/todo/a")).json?["text"] == "A")
            second.close()
            for (entities, name) in [
                ([("Todo", AttributeType.integer64)], "Todo"), ([("Note", AttributeType.string)], "Note"),
            ] {
                let error = #expect(throws: ServerSetupError.self) { try open(entities) }
                #expect(error?.description.hasPrefix("\(name): the keys of \(name.lowercased())") == true)
            }
            let third = try open([("Note", .integer64)])
            #expect(await post(third, "/note", "{}")?["note_id"] == "3")
            third.close()
        }

        @Test("Keys of other types, and numbers for accounts, are refused at the start")
        func refused() throws {
            for (entity, type, part) in [
                ("Note", AttributeType.integer16, "integer64"), ("Note", .date, "integer64"),
                ("User", .integer64, "accounts"),
            ] {
                let model = try? ManagedObjectModel(name: "M") {
                    Entity(entity, primaryKey: "key") { Attribute("key", type, optional: true) }
                }
                // The model itself refuses most of them.
                guard let model else { continue }
                let error = #expect(throws: ServerSetupError.self) { try Bench(model: model) }
                #expect(error?.description.contains("\(entity).key") == true)
                #expect(error?.description.contains(part) == true)
            }
        }
    }
#endif
