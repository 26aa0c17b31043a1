#if Server
    import Foundation
    import StrataAzure
    import StrataServer
    import Testing

    /// Deletions that a client takes back, over HTTP.
    @Suite struct AzureUndeleteTests {
        @Test(
            "Clients of each version take deletions back, by the version of the deleted row or without one",
            arguments: AzureVersion.allCases)
        func undelete(version: AzureVersion) async throws {
            let deleted = AzureSystemProperty.deleted.column(in: version)
            let tag = AzureSystemProperty.version.column(in: version)
            try await withServer({ $0.dialects = Places.all }) { server in
                let notes = try server.azureClient(version).table("Note")
                let made = try await notes.insert(["id": "a", "text": "A", "count": 1])
                try await notes.delete(made)
                do throws(AzureFailure) {
                    _ = try await notes.read(id: "a")
                    Issue.record("the row is deleted")
                } catch {
                    #expect(error.status == (version == .datasync ? 410 : 404))
                }
                // The deletion gave the row another version.
                do throws(AzureFailure) {
                    try await notes.undelete(made)
                    Issue.record("the deleted row has another version")
                } catch {
                    #expect(error.code == .preconditionFailed, "\(error)")
                    #expect(error.serverItem?[deleted] == true)
                }
                var query = AzureQuery()
                query.includesDeleted = true
                let gone = try #require(try await notes.read(query).items.first)
                #expect(gone[deleted] == true)
                #expect(gone["text"] == "A")
                var back = try await notes.undelete(gone)
                #expect(back[deleted] == false)
                #expect(back["text"] == "A")
                #expect(back["count"]?.double == 1)
                #expect(try await notes.read(id: "a") == back)

                try await notes.delete(back)
                back[tag] = nil
                #expect(try await notes.undelete(back)["text"] == "A")
                #expect(try await notes.read().items.count == 1)
                do throws(AzureFailure) {
                    try await notes.undelete(["id": "never"])
                    Issue.record("there is no such row")
                } catch {
                    #expect(error.status == 404)
                }
            }
        }
    }
#endif
