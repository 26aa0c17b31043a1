#if Server
    import Foundation
    import StrataServer
    import StrataStackMob
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Managed objects of two devices and one server on loopback.
    struct ClientDataTests {
        @Test("What one device saves another one reads, relationships included")
        func relationships() async throws {
            try await withServer(model: Notebook.model) { server in
                let (here, there) = (try Device(server), try Device(server))
                let user = try here.make("User", ["username": "ann"])
                here.stack.setPassword("x", for: user.objectID)
                let tags = [
                    try here.make("Tag", ["tagId": "red", "label": "Red"]),
                    try here.make("Tag", ["tagId": "blue", "label": "Blue"]),
                ]
                let note = try here.make(
                    "Note", ["noteId": "1", "title": "First", "author": user, "tags": Set(tags)])
                try here.make("Note", ["noteId": "2", "title": "Second", "tags": Set([tags[0]])])
                try await here.save()

                let found = try #require(try await there.fetch("Note", "noteId == '1'").first)
                let author = try #require(found["author"] as? ManagedObject)
                try await there.context.load([author])
                #expect(author["username"] as? String == "ann")
                try await there.context.load("tags", of: [found])
                let labels = (found["tags"] as? Set<ManagedObject> ?? []).map { $0["label"] as? String ?? "" }
                #expect(labels.sorted() == ["Blue", "Red"])
                // The server knows only the notes' end: the other one is as complete as the notes that are here.
                _ = try await there.fetch("Note")
                let red = try #require(try await there.fetch("Tag", "tagId == 'red'").first)
                #expect((red["notes"] as? Set<ManagedObject>)?.count == 2)

                try found.setValue(nil, forKey: "author")
                try found.setValue(Set([red]), forKey: "tags")
                try found.setValue("First, again", forKey: "title")
                try await there.save()
                _ = try await here.fetch("Note")
                #expect(note["title"] as? String == "First, again" && note["author"] == nil)
                #expect((note["tags"] as? Set<ManagedObject>) == [tags[0]])

                there.context.delete(found)
                try await there.save()
                #expect(try await here.fetch("Note").map { $0["noteId"] as? String } == ["2"])
                _ = try await here.fetch("Tag")
                #expect((tags[0]["notes"] as? Set<ManagedObject>)?.count == 1)
            }
        }

        @Test("Values of every type arrive as they were sent")
        func values() async throws {
            try await withServer(model: Notebook.model) { server in
                let (here, there) = (try Device(server), try Device(server))
                let values: [String: any Sendable & Hashable] = [
                    "title": "Zürich \u{1F469}\u{200D}\u{1F467} \"'\\ \u{0} e\u{301}", "likes": Int64.min,
                    "ratio": 0.1, "isDone": false,
                    "dueDate": Date(timeIntervalSince1970: 1_368_489_600.123),
                    "price": try #require(Decimal(string: "-12.05")),
                    "token": UUID(), "link": try #require(URL(string: "https://example.org/a%20b?c=d#e")),
                    "bytes": Data((0...255).map { UInt8($0) }), "place": GeoPoint(latitude: -12.05, longitude: -77.04),
                ]
                try here.make("Note", values.merging(["noteId": "1"]) { first, _ in first })
                try here.make("Note", ["noteId": "2"])
                try await here.save()
                let found = try await there.fetch("Note", sort: "noteId")
                #expect(found.count == 2)
                for (name, value) in values {
                    let got = found[0][name] as? AnyHashable
                    if let date = value as? Date {
                        let difference = (got as? Date).map { date.timeIntervalSince($0) } ?? .infinity
                        #expect(abs(difference) < 0.001, "dueDate")
                    } else {
                        #expect(got == AnyHashable(value), "\(name)")
                    }
                    if !["title", "likes"].contains(name) { #expect(found[1][name] == nil, "\(name)") }
                }
            }
        }

        @Test("Conditions on positions are answered by the server, nearest first")
        func positions() async throws {
            try await withServer(model: Notebook.model) { server in
                let (here, there) = (try Device(server), try Device(server))
                for (name, latitude, longitude) in [
                    ("Lima", -12.05, -77.04), ("Cusco", -13.53, -71.97), ("Oslo", 59.91, 10.75),
                ] {
                    try here.make(
                        "Note", ["title": name, "place": GeoPoint(latitude: latitude, longitude: longitude)])
                }
                try await here.save()
                func titles(_ format: String) async throws -> [String] {
                    try await there.fetch("Note", format).map { $0["title"] as? String ?? "" }
                }
                #expect(try await titles("near(place, {-13, -72})") == ["Cusco", "Lima", "Oslo"])
                #expect(
                    try await titles("withinKilometers(place, {-12.05, -77.04}, 600)").sorted() == ["Cusco", "Lima"])
                #expect(try await titles("withinKilometers(place, {-12.05, -77.04}, 100)") == ["Lima"])
                #expect(try await titles("withinBox(place, {-20, -80}, {-13, -70})") == ["Cusco"])
                let paths = there.wire.requests.compactMap(\.head.path)
                #expect(paths.filter { $0.contains("place") }.count == 4, "\(paths)")
            }
        }

        @Test("A file goes out as text, and an address comes back from which it can be read")
        func files() async throws {
            try await withServer(model: Notebook.model) { server in
                let device = try Device(server)
                let bytes = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
                let file = StackMobFile(name: "a.png", contentType: "image/png", data: bytes)
                let note = try device.make("Note", ["noteId": "1", "picture": file.fieldValue])
                try await device.save()
                let address = try #require(note["picture"] as? String)
                #expect(StackMobFile.isAddress(address))
                let (data, response) = try await URLSession.shared.data(from: try #require(URL(string: address)))
                #expect(data == bytes)
                #expect((response as? HTTPURLResponse)?.mimeType == "image/png")
                // A change of something else leaves it where it is.
                try note.setValue("with a picture", forKey: "title")
                try await device.save()
                _ = try await device.fetch("Note")
                #expect(note["picture"] as? String == address)
            }
        }

        @Test("A change of what another device has changed meanwhile is refused, and decided by the merge policy")
        func conflicts() async throws {
            try await withServer(model: Notebook.model) { server in
                let (here, there) = (try Device(server), try Device(server))
                // Changes of others reach this context only as conflicts.
                let context = here.container.newContext()
                context.mergePolicy = .error
                let mine = try context.insert(entityNamed: "Note")
                try mine.setValue("1", forKey: "noteId")
                try mine.setValue("old", forKey: "title")
                try await context.save(options: nil)
                let theirs = try #require(try await there.fetch("Note").first)
                try theirs.setValue("theirs", forKey: "title")
                try await there.save()
                try mine.setValue("mine", forKey: "title")
                do {
                    try await context.save(options: nil)
                    Issue.record("the server took a change of an old state")
                } catch PersistenceError.store(.remote(let failure)) {
                    #expect(failure.updated.first?.failure.remoteKind == .conflict)
                }
                #expect(here.wire.requests.contains { $0.head.headerFields[.ifMatch] != nil })
                // The mirror has the server's state now.
                do {
                    try await context.save(options: nil)
                    Issue.record("the conflict was not noticed here")
                } catch PersistenceError.conflicts(let list) {
                    #expect(list.first?.properties.first { $0.name == "title" }?.store == .string("theirs"))
                }
                context.mergePolicy = .objectWinsByProperty
                try await context.save(options: nil)
                let stored = try await there.client.dataStore.read("1", in: "note")
                #expect(stored["title"] == "mine")
            }
        }

        @Test("Many changes go in few requests")
        func batches() async throws {
            try await withServer(model: Notebook.model) { server in
                let device = try Device(server)
                for number in 0..<300 { try device.make("Note", ["noteId": "\(number)", "likes": Int64(number)]) }
                #expect(try await device.wire.counting { try await device.save() } == 2)
                let notes = try await device.fetch("Note")
                #expect(notes.count == 300)
                for note in notes.prefix(200) { try note.setValue("changed", forKey: "title") }
                for note in notes.suffix(100) { device.context.delete(note) }
                #expect(try await device.wire.counting { try await device.save() } <= 3)
                let other = try Device(server)
                #expect(try await other.fetch("Note", "title == 'changed'").count == 200)
                #expect(try await other.context.count(FetchRequest<ManagedObject>(entity: "Note")) == 200)
            }
        }

        @Test("Increments of several clients at once all count")
        func increments() async throws {
            try await withServer(model: Notebook.model) { server in
                let device = try Device(server)
                try device.make("Note", ["noteId": "1"])
                try await device.save()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 1...20 {
                        let client = try server.client()
                        group.addTask {
                            _ = try await client.dataStore.increment(
                                "likes", of: "1", in: "note", by: number % 2 == 0 ? 3 : -1)
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await device.fetch("Note").first?["likes"] as? Int64 == 20)
            }
        }

        @Test("A thousand faults are filled by a handful of requests")
        func faults() async throws {
            try await withServer(model: Notebook.model) { server in
                let (here, there) = (try Device(server), try Device(server))
                for number in 0..<1_000 {
                    let tag = try here.make("Tag", ["tagId": "t\(number)", "label": "Tag \(number)"])
                    try here.make("Note", ["noteId": "\(number)", "tags": Set([tag])])
                }
                try await here.save()
                let notes = try await there.fetch("Note")
                let requests = try await there.wire.counting { try await there.context.load("tags", of: notes) }
                #expect(requests <= 7)
                let labels = notes.flatMap { $0["tags"] as? Set<ManagedObject> ?? [] }.map { $0["label"] as? String }
                #expect(Set(labels).count == 1_000 && labels.count == 1_000)
            }
        }
    }
#endif
