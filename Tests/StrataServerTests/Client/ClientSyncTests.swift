#if Server
    import Foundation
    import StrataServer
    import StrataStackMob
    import Testing

    /// Offline edits of two devices, and one server on loopback.
    struct ClientSyncTests {
        @Test("A pull brings what has changed since the last one, and what is gone")
        func pulls() async throws {
            try await withServer(model: Notebook.model) { server in
                let (here, there) = (try Device.offline(server), try Device.offline(server))
                let notes = try (0..<5).map { try here.make("Note", ["noteId": "\($0)", "title": "n\($0)"]) }
                try await here.save()
                try await here.stack.sync.push()
                #expect(try await there.stack.sync.pull().received == 5)
                #expect(try await there.stack.sync.pull().received == 0)
                here.context.delete(notes[0])
                here.context.delete(notes[1])
                try notes[2].setValue("changed", forKey: "title")
                try await here.save()
                try await here.stack.sync.push()
                let report = try await there.stack.sync.pull()
                #expect(report.received == 1 && report.removed == 2)
                #expect(
                    try await there.fetch("Note", sort: "noteId").map { $0["title"] as? String ?? "" }
                        == ["changed", "n3", "n4"])
            }
        }

        @Test("Two stores that were edited offline and their server end up equal")
        func equality() async throws {
            try await withServer(model: Notebook.model) { server in
                let (here, there) = (try Device.offline(server), try Device.offline(server))
                let tags = try (0..<3).map { try here.make("Tag", ["tagId": "t\($0)", "label": "tag \($0)"]) }
                let notes = try (0..<6).map {
                    try here.make("Note", ["noteId": "n\($0)", "title": "note \($0)", "tags": Set([tags[$0 % 3]])])
                }
                try await here.save()
                try await here.stack.sync.synchronize()
                try await there.stack.sync.synchronize()
                #expect(try await here.contents() == there.contents())

                // Different properties of one note, the same of another, other members, a delete against a change.
                let theirs = try await there.fetch("Note", sort: "noteId")
                let theirTags = try await there.fetch("Tag", sort: "tagId")
                try notes[0].setValue("here", forKey: "title")
                try theirs[0].setValue(Int64(7), forKey: "likes")
                try notes[1].setValue("here", forKey: "title")
                try theirs[1].setValue("there", forKey: "title")
                try notes[2].setValue(Set(tags), forKey: "tags")
                try theirs[2].setValue(Set([theirTags[0]]), forKey: "tags")
                here.context.delete(notes[3])
                try theirs[3].setValue("changed where it was deleted", forKey: "title")
                there.context.delete(theirs[4])
                try here.make("Note", ["noteId": "new here", "tags": Set([tags[1]])])
                try there.make("Note", ["noteId": "new there", "tags": Set([theirTags[1]])])
                here.context.delete(tags[2])
                try await here.save()
                try await there.save()
                try await here.stack.sync.synchronize()
                let report = try await there.stack.sync.synchronize()
                #expect(report.failures.isEmpty, "\(report.failures)")
                #expect(
                    report.results.contains { $0.action == .merged(overridden: ["title"]) }, "\(report.results)")
                for _ in 0..<2 {
                    try await here.stack.sync.synchronize()
                    try await there.stack.sync.synchronize()
                }
                let (mine, other) = (try await here.contents(), try await there.contents())
                #expect(mine == other)
                #expect(try here.stack.sync.pendingCount() == 0 && there.stack.sync.pendingCount() == 0)
                // A third one that reads everything from the server has the same.
                let third = try Device.offline(server)
                try await third.stack.sync.pull()
                #expect(try await third.contents() == mine)
                let merged = try #require(mine.first { $0.hasPrefix("note n0") })
                #expect(merged.hasPrefix("note n0 here 7"))
                #expect(mine.contains { $0.hasPrefix("note n1 here ") })
            }
        }

        @Test("Changes whose answers are lost are made once")
        func lostAnswers() async throws {
            try await withServer(model: Notebook.model) { server in
                let device = try Device.offline(server)
                for number in 0..<10 { try device.make("Note", ["noteId": "\(number)"]) }
                try await device.save()
                device.wire.loseAnswers(1)
                await #expect(throws: SyncError.self) { try await device.stack.sync.push() }
                #expect(try device.stack.sync.pendingCount() == 10)
                let report = try await device.stack.sync.push()
                #expect(report.failures.isEmpty && report.results.count == 10)
                #expect(report.results.allSatisfy { $0.action == .created })
                let count = try await device.client.dataStore.count(StackMobQuery("note"))
                #expect(count == 10)
            }
        }

        @Test("What is saved without a network waits, and goes out when there is one")
        func waiting() async throws {
            try await withServer(model: Notebook.model) { server in
                let device = try Device.offline(server)
                device.wire.cut(true)
                let note = try device.make("Note", ["noteId": "1", "title": "offline"])
                try await device.save()
                await #expect(throws: SyncError.self) { try await device.stack.sync.push() }
                #expect(device.client.reachability.status == .notReachable)
                try note.setValue("still offline", forKey: "title")
                try await device.save()
                device.wire.cut(false)
                try await device.stack.sync.synchronize()
                #expect(device.client.reachability.status == .reachable)
                let stored = try await device.client.dataStore.read("1", in: "note")
                #expect(stored["title"] == "still offline")
            }
        }
    }
#endif
