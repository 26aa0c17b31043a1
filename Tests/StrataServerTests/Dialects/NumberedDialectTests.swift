#if Server
    import Foundation
    import PostgresFixture
    import StrataAzure
    import StrataServer
    import Testing

    /// Objects with numbers as keys, through all dialects of one server.
    @Suite struct NumberedDialectTests {
        @Test("An object that one dialect makes is read, changed and deleted in the others, with its number as a text")
        func crossing() async throws {
            let bench = try NumberedTables.bench()
            let stackMob = await bench.send("POST", "/note", ["text": "1"])
            #expect(stackMob.status == 201 && stackMob.json?["note_id"] == "1", "\(stackMob.text)")
            #expect(await bench.parse("POST", "classes/Note", ["text": "2"]).json?["objectId"] == "2")
            #expect(await bench.maxLeap("POST", "classes/Note", ["text": "3"]).json?["objectId"] == "3")
            #expect(await bench.insertNote(["text": "4"]) == 4)
            let apps = await bench.azure(.mobileApps, "POST", "tables/Note", ["text": "5"])
            #expect(apps.json?["id"] == "5" && apps.json?["version"]?.string != nil, "\(apps.text)")
            #expect(await bench.azure(.datasync, "POST", "tables/Note", ["id": "", "text": "6"]).json?["id"] == "6")
            for number in 1...6 {
                let text = JSONValue.string("\(number)")
                #expect(await bench.send("GET", "/note/\(number)").json?["text"] == text)
                #expect(await bench.parse("GET", "classes/Note/\(number)").json?["text"] == text)
                #expect(await bench.maxLeap("GET", "classes/Note/\(number)").json?["objectId"] == text)
                let first = await bench.azure(.mobileServices, "GET", "tables/Note/\(number)").json
                #expect(first?["id"] == .integer(Int64(number)) && first?["text"] == text)
                for version in [AzureVersion.mobileApps, .datasync] {
                    #expect(await bench.azure(version, "GET", "tables/Note/\(number)").json?["id"] == text)
                }
            }
            bench.advance(seconds: 1)
            #expect(await bench.azure(.mobileServices, "PATCH", "tables/Note/1", ["stars": 1]).status == 200)
            #expect(await bench.send("PUT", "/note/2", ["note_id": 2, "stars": 2]).status == 200)
            #expect(await bench.send("PUT", "/note/2", ["note_id": "2", "stars": 2]).status == 200)
            #expect(await bench.send("PUT", "/note/2", ["note_id": 3]).status == 400)
            #expect(await bench.parse("PUT", "classes/Note/3", ["stars": 3]).status == 200)
            #expect(await bench.maxLeap("PUT", "classes/Note/4", ["stars": 4]).status == 200)
            #expect(await bench.azure(.mobileApps, "PATCH", "tables/Note/5", ["id": "5", "stars": 5]).status == 200)
            let put = await bench.azure(.datasync, "PUT", "tables/Note/6", ["id": "6", "text": "6", "stars": 6])
            #expect(put.status == 200, "\(put.text)")
            #expect(await bench.values("/note?stars[gt]=0", "stars") == [1, 2, 3, 4, 5, 6])
            #expect(await bench.parse("DELETE", "classes/Note/1").status == 200)
            #expect(await bench.send("DELETE", "/note/2").status == 200)
            #expect(await bench.azure(.mobileApps, "DELETE", "tables/Note/5").status == 200)
            #expect(await bench.notes("$orderby=id").ids == [3, 4, 6])
            // What was deleted comes back under its number, in the dialects that take deletions back.
            let back = await bench.azure(.mobileApps, "POST", "tables/Note/5")
            #expect(back.status == 201 && back.json?["id"] == "5" && back.json?["stars"] == 5, "\(back.text)")
            #expect(await bench.notes("$orderby=id").ids == [3, 4, 5, 6])
            #expect(await bench.insertNote() == 7)
            let changes = await bench.send("GET", "/_changes/note")
            #expect(Set(changes.json?["deleted"]?.elements ?? []) == ["1", "2"])
        }

        @Test("Only the application chooses numbers; others who bring a key are refused in their dialect's words")
        func chosen() async throws {
            let bench = try NumberedTables.bench()
            await bench.insertNote()
            for (key, status) in [
                ("abc", 400), ("01", 400), ("0", 400), (-1, 400), (7, 400), ("7", 400), ("1", 409), (1, 409),
                ("9007199254740992", 400), ("9223372036854775808", 400),
            ] as [(JSONValue, Int)] {
                let answer = await bench.send("POST", "/note", ["note_id": key, "text": "x"])
                #expect(answer.status == status && answer.json?["error"]?.string != nil, "\(key): \(answer.text)")
                let parse = await bench.parse("POST", "classes/Note", ["objectId": key, "text": "x"])
                #expect(parse.status == 400, "\(parse.text)")
                #expect(parse.json?["code"] == (status == 409 ? 137 : 111), "\(parse.text)")
                let text = key.string ?? key.description
                for version in [AzureVersion.mobileApps, .datasync] {
                    let azure = await bench.azure(version, "POST", "tables/Note", ["id": .string(text)])
                    #expect(azure.status == status, "\(azure.text)")
                }
            }
            // Objects of another database move in with their numbers.
            for (key, status) in [("abc", 400), ("9007199254740992", 400), ("20", 201), ("5", 201), ("1", 400)] {
                let answer = await bench.parse("POST", "classes/Note", ["objectId": .string(key)], master: true)
                #expect(answer.status == status, "\(answer.text)")
            }
            #expect(await bench.insertNote() == 21)
            #expect(await bench.notes("$orderby=id").ids == [1, 5, 20, 21])
        }

        @Test("References to objects with numbers are pointers, keys or numbers, and nothing else fits")
        func references() async throws {
            let bench = try NumberedTables.bench()
            await bench.insertNote()
            let pointer: JSONValue = ["__type": "Pointer", "className": "Note", "objectId": "1"]
            #expect(
                await bench.parse("POST", "classes/Person", ["objectId": "a", "favorite": pointer]).status == 201)
            #expect(await bench.azure(.mobileServices, "GET", "tables/Person/a").json?["favorite"] == 1)
            #expect(await bench.azure(.mobileApps, "GET", "tables/Person/a").json?["favorite"] == "1")
            #expect(await bench.azure(.mobileServices, "PATCH", "tables/Person/a", ["favorite": 2]).status == 200)
            #expect(await bench.send("GET", "/person/a").json?["favorite"] == "2")
            #expect(await bench.parse("GET", "classes/Person/a").json?["favorite"]?["objectId"] == "2")
            // Nested, in an array, appended.
            let nested = await bench.send(
                "POST", "/folder", ["name": "Work", "notes": [["text": "n"], ["note_id": 1], "7", 8]],
                headers: ["X-StackMob-Relations": "notes=note"])
            #expect(nested.json?["notes"] == ["2", "1", "7", "8"], "\(nested.text)")
            let appended = await bench.send("PUT", "/folder/1/notes", ["9", 10, 1])
            #expect(appended.json?["notes"] == ["2", "1", "7", "8", "9", "10"], "\(appended.text)")
            let made = await bench.send(
                "POST", "/folder/1/notes", [["text": "m"]], headers: ["X-StackMob-Relations": "notes=note"])
            #expect(made.json?["succeeded"] == ["3"], "\(made.text)")
            let columns = await bench.azure(.mobileServices, "GET", "tables/Folder/1")
            #expect(columns.json?["notes"] == [2, 1, 7, 8, 9, 10, 3])
            let expanded = await bench.send("GET", "/folder/1?_expand=1")
            #expect(expanded.json?["notes"]?.elements?.first?["text"] == "n", "\(expanded.text)")
            for wrong in ["x", "01", "-1", "0", 0, 1.5, true, "9223372036854775808"] as [JSONValue] {
                #expect(await bench.send("PUT", "/person/a", ["favorite": wrong]).status == 400, "\(wrong)")
                #expect(await bench.send("PUT", "/folder/1", ["notes": ["1", wrong]]).status == 400, "\(wrong)")
                #expect(await bench.send("PUT", "/folder/1/notes", ["1", wrong]).status == 400, "\(wrong)")
                let pointer: JSONValue = [
                    "__type": "Pointer", "className": "Note", "objectId": .string(wrong.string ?? "x"),
                ]
                #expect(await bench.parse("PUT", "classes/Person/a", ["favorite": pointer]).status == 400, "\(wrong)")
                let addition: JSONValue = ["__op": "AddUnique", "objects": [pointer]]
                #expect(await bench.parse("PUT", "classes/Folder/1", ["notes": addition]).status == 400, "\(wrong)")
            }
            let strange = await bench.send(
                "PUT", "/person/a", ["favorite": ["note_id": "x"]],
                headers: ["X-StackMob-Relations": "favorite=note"])
            #expect(strange.status == 400)
            let chosen = await bench.send(
                "PUT", "/person/a", ["favorite": ["note_id": "50", "text": "x"]],
                headers: ["X-StackMob-Relations": "favorite=note"])
            #expect(chosen.status == 400)
            #expect(await bench.notes("$orderby=id").ids == [1, 2, 3])
        }

        @Test("Access rules hold for objects with numbers in each dialect, and numbers tell nothing of what is there")
        func access() async throws {
            let bench = try NumberedTables.bench {
                $0.access.standard = AccessRules.Rule(read: .owner, create: .loggedIn, update: .owner, delete: .owner)
            }
            _ = try await bench.signUp("ann")
            let eve = try await bench.signUp("eve")
            func token(_ name: String) async -> String? {
                await bench.azure(
                    .mobileServices, "POST", "login/custom",
                    ["username": .string(name), "password": "secret"]
                ).json?["authenticationToken"]?.string
            }
            let (mine, hers) = (await token("ann"), await token("eve"))
            let version = AzureVersion.mobileServices
            #expect(await bench.azure(version, "POST", "tables/Note", ["text": "x"]).status == 401)
            let made = await bench.azure(version, "POST", "tables/Note", ["text": "mine"], token: mine)
            #expect(made.json?["id"] == 1, "\(made.text)")
            for (method, body) in [("GET", nil), ("PATCH", ["text": "y"]), ("DELETE", nil)] as [(String, JSONValue?)] {
                for id in ["1", "2"] {
                    let answer = await bench.azure(version, method, "tables/Note/\(id)", body, token: hers)
                    #expect(answer.status == 404, "\(answer.text)")
                }
            }
            #expect(await bench.azure(version, "GET", "tables/Note", token: hers).json == [])
            #expect(await bench.azure(version, "GET", "tables/Note", token: mine).json?.elements?.count == 1)
            #expect(await bench.send("GET", "/note/1", session: eve).status == 404)
            #expect(await bench.parse("GET", "classes/Note/1", token: hers).status == 404)
            #expect(await bench.send("PUT", "/note/1", ["text": "y"], session: eve).status == 404)
            #expect(await bench.parse("GET", "classes/Note/1", master: true).json?["text"] == "mine")
        }

        #if Postgres
            @Test("Two servers of one database give each object a number of its own", .needsPostgres)
            func servers() async throws {
                let url = try PostgresServer.shared.newDatabase()
                let benches = [
                    try NumberedTables.bench { $0.storage.database = url },
                    try NumberedTables.bench { $0.storage.database = url },
                ]
                let ids = await withTaskGroup(of: [Int64].self) { group in
                    for place in 0..<6 {
                        group.addTask {
                            var ids: [Int64] = []
                            for _ in 0..<15 {
                                if let id = await benches[place % 2].insertNote() { ids.append(id) }
                            }
                            return ids
                        }
                    }
                    return await group.reduce(into: [Int64]()) { $0 += $1 }
                }
                #expect(ids.sorted() == Array(1...90))
                #expect(await benches[0].azure(.mobileServices, "DELETE", "tables/Note/90").status == 204)
                #expect(await benches[1].insertNote() == 91)
                #expect(await benches[0].notes("$orderby=id%20desc&$top=3").ids == [91, 89, 88])
                #expect(await benches[1].notes("$filter=id%20eq%209").ids == [9])
            }

            @Test("A database that was made before the tables with numbers gets them", .needsPostgres)
            func growing() async throws {
                let url = try PostgresServer.shared.newDatabase()
                let texts = try ManagedObjectModel(name: "Texts") {
                    Entity("Person") {
                        Attribute("personId", .string)
                        Attribute("name", .string, optional: true)
                    }
                }
                let first = try Bench.withDialects(model: texts) { $0.storage.database = url }
                #expect(await first.send("POST", "/person", ["person_id": "a", "name": "Ann"]).status == 201)
                first.server.close()
                for number in 1...2 {
                    let bench = try NumberedTables.bench { $0.storage.database = url }
                    #expect(await bench.send("GET", "/person/a").json?["name"] == "Ann")
                    #expect(await bench.insertNote() == Int64(number))
                    #expect(await bench.azure(.mobileServices, "DELETE", "tables/Note/\(number)").status == 204)
                    bench.server.close()
                }
            }
        #endif
    }
#endif
