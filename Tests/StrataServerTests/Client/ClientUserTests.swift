#if Server
    import Foundation
    import StrataServer
    import StrataStackMob
    import StrataRemoteTesting
    import Testing

    /// Users of the client at a server on loopback.
    struct ClientUserTests {
        private func failure(_ body: () async throws -> Void) async -> RemoteFailure? {
            do {
                try await body()
                return nil
            } catch PersistenceError.store(.remote(let failure)) {
                return failure
            } catch {
                Issue.record("\(error)")
                return nil
            }
        }

        @Test("A new user is saved with a password, and logs in with it alone")
        func signingUp() async throws {
            try await withServer(model: Notebook.model) { server in
                let device = try Device(server)
                let user = try device.make("User", ["username": "Bruce Wayne", "nickName": "Bat"])
                let missing = await failure { try await device.save() }
                #expect(missing?.inserted.first?.failure.code == -104)
                device.stack.setPassword("robin & co", for: user.objectID)
                try await device.save()
                #expect(device.client.session.isLoggedOut)
                do throws(RemoteError) {
                    try await device.client.logIn(username: "Bruce Wayne", password: "joker")
                    Issue.record("a wrong password was taken")
                } catch {
                    #expect(error.code == 401 && error.kind == .unauthorized)
                }
                let told = try await device.client.logIn(username: "Bruce Wayne", password: "robin & co")
                #expect(told["nick_name"] == "Bat" && told["password"] == nil)
                #expect(device.client.session.userID == "Bruce Wayne")
                let me = try await device.client.loggedInUser()
                #expect(me["username"] == "Bruce Wayne")
                try await device.client.resetPassword(from: "robin & co", to: "alfred")
                try await device.client.logOut()
                #expect(device.client.session.isLoggedOut)
                try await device.client.logIn(username: "Bruce Wayne", password: "alfred")
            }
        }

        @Test("Signed requests are their user's, and others may not touch what is the user's own")
        func signing() async throws {
            let change: (inout ServerOptions) -> Void = { options in
                options.access.standard.levels = [
                    .read: .loggedIn, .create: .loggedIn, .update: .owner, .delete: .owner,
                ]
            }
            try await withServer(model: Notebook.model, change) { server in
                let (ann, bob) = (try Device(server), try Device(server))
                try await ann.signUp("ann")
                let note = try ann.make("Note", ["noteId": "1", "title": "Ann's"])
                try await ann.save()
                let signature = ann.wire.requests.last?.head.headerFields[.authorization]
                #expect(signature?.hasPrefix("MAC id=") == true)
                // Nobody is logged in here.
                let stranger = await failure { _ = try await bob.fetch("Note") }
                #expect(stranger?.remoteKind == .unauthorized)
                try await bob.signUp("bob")
                let read = try #require(try await bob.fetch("Note").first)
                #expect(read["title"] as? String == "Ann's")
                try read.setValue("Bob's", forKey: "title")
                let refused = await failure { try await bob.save() }
                #expect([.notFound, .unauthorized].contains(refused?.updated.first?.failure.remoteKind))
                try note.setValue("Ann's own", forKey: "title")
                try await ann.save()
                let stored = try await ann.client.dataStore.read("1", in: "note")
                #expect(stored["title"] == "Ann's own")
            }
        }

        @Test("A session that the server has ended is renewed, and the request sent again")
        func renewing() async throws {
            let time = BenchTime()
            try await withServer(model: Notebook.model, clock: ServerClock { time.milliseconds }) { server in
                let device = try Device(server)
                try await device.signUp("ann")
                let before = device.client.session.credentials
                // The clocks of the two sides are years apart, which is known since the login.
                _ = try await device.client.loggedInUser()
                time.advance(2 * 3_600_000)
                let me = try await device.client.loggedInUser()
                #expect(me["username"] == "ann")
                let after = device.client.session.credentials
                #expect(before?.signer != after?.signer && before?.refreshToken != after?.refreshToken)
                // Managed objects go by the same session.
                time.advance(2 * 3_600_000)
                try device.make("Note", ["noteId": "1", "title": "late"])
                try await device.save()
                #expect(try await device.fetch("Note").count == 1)
            }
        }

        @Test("A session that is over by the client's clock is renewed before the request")
        func renewingAhead() async throws {
            let clock = VirtualClock(Date())
            try await withServer(model: Notebook.model) { server in
                let device = try Device(server, clock: clock)
                try await device.signUp("ann")
                // Longer than a token lives.
                clock.advance(by: 2 * 3_600)
                #expect(device.client.session.isExpired)
                let requests = try await device.wire.counting { _ = try await device.client.loggedInUser() }
                #expect(requests == 2)
                #expect(device.wire.requests.suffix(2).first?.head.path == "/user/refreshToken")
            }
        }

        @Test("Another user begins with an empty mirror")
        func resetting() async throws {
            try await withServer(model: Notebook.model) { server in
                let device = try Device.offline(server)
                let ann = try device.make("User", ["username": "ann"])
                device.stack.setPassword("a", for: ann.objectID)
                try device.make("Note", ["noteId": "1", "title": "Ann's", "author": ann])
                try await device.save()
                try await device.stack.sync.push()
                try device.make("Note", ["noteId": "2", "title": "never sent"])
                try await device.save()
                try device.stack.reset()
                #expect(try await device.fetch("Note").isEmpty)
                #expect(try device.stack.sync.pendingCount() == 0)
                try await device.stack.sync.pull()
                #expect(try await device.fetch("Note").map { $0["noteId"] as? String } == ["1"])
            }
        }
    }
#endif
