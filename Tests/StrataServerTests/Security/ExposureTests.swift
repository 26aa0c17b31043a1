#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct ExposureTests {
        @Test("A server that is open to strangers is not started beyond this machine, unless that is said")
        func open() async throws {
            let bench = try Bench()
            for host in ["0.0.0.0", "::", "192.0.2.1"] {
                let error = await #expect(throws: ServerSetupError.self) {
                    try await HTTPService(bench.server, host: host).run(endsOnSignals: false)
                }
                #expect(error?.description.contains("Development is on") == true)
                #expect(error?.description.contains("Anyone may create") == true)
            }
            var options = ServerOptions()
            for host in ["127.0.0.1", "::1", "localhost"] {
                #expect(throws: Never.self) { try HTTPService.checkExposure(options, host: host) }
            }
            options.network.isDeliberatelyOpen = true
            #expect(throws: Never.self) { try HTTPService.checkExposure(options, host: "0.0.0.0") }
            options = ServerOptions()
            options.isDevelopment = false
            options.access = .closed
            #expect(throws: Never.self) { try HTTPService.checkExposure(options, host: "0.0.0.0") }
            options.access.accounts.levels[.read] = .anyone
            #expect(throws: ServerSetupError.self) { try HTTPService.checkExposure(options, host: "0.0.0.0") }
        }

        @Test("Accounts are read by their owners only, as long as no rule says else")
        func accounts() async throws {
            let bench = try Bench()
            await bench.send(
                "POST", "/user", ["username": "bob", "password": "secret", "email": "bob@example.org"])
            let ann = try await bench.signUp("ann")
            #expect(await bench.send("GET", "/user").status == 401)
            #expect(await bench.send("GET", "/user/bob").status == 401)
            #expect(
                await bench.send("GET", "/user", session: ann).json?.elements?.map { $0["username"] ?? .null } == [
                    "ann"
                ])
            #expect(await bench.send("GET", "/user/bob", session: ann).status == 404)
            #expect(await bench.send("GET", "/user?email=bob@example.org", session: ann).json == [])
        }

        @Test("Rules mean the same in every order, and what they do not name is closed")
        func order() throws {
            let parts = [
                "  standard: {read: loggedIn}", "  accounts: {create: anyone, read: owner}",
                "  schemas: {note: {update: owner}, dog: {update: owner}}", "  methods: {report: loggedIn}",
            ]
            var found: Set<AccessRules> = []
            for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
                let access = "access:\n" + order.map { parts[$0] }.joined(separator: "\n") + "\n"
                let users = "users: {schema: dog}\n"
                for yaml in [access + users, users + access] {
                    found.insert(try ServerConfiguration(yaml: yaml, path: "c.yaml").options.access)
                }
            }
            let rules = try #require(found.only)
            #expect(rules.standard == AccessRules.Rule(read: .loggedIn))
            #expect(rules.schemas["note"] == AccessRules.Rule(read: .loggedIn, update: .owner))
            #expect(rules.schemas["dog"] == AccessRules.Rule(read: .owner, create: .anyone, update: .owner))
            #expect(rules.methods == ["report": .loggedIn] && rules.standardMethod == .nobody)
            let empty = try ServerConfiguration(yaml: "access: {}", path: "c.yaml").options.access
            #expect(empty == .closed)
            #expect(empty.standard == AccessRules.Rule(all: .nobody))
            #expect(throws: ServerSetupError.self) {
                try ServerConfiguration(
                    yaml: "access: {schemas: {note: {read: owner}, NOTE: {read: anyone}}}", path: "c")
            }
        }

        @Test("A configuration is explained: who may do what, and what is open")
        func report() throws {
            let configuration = try ServerConfiguration(
                yaml: """
                    listen: {host: 0.0.0.0}
                    development: false
                    hooks: {report: {url: "https://hooks.example.org/report", secret: s}}
                    access:
                      standard: {read: anyone, create: anyone}
                      accounts: {create: anyone, read: owner}
                      schemas: {note: {read: [owner, "relationship:readers"], create: owner, update: "role:editor"}}
                      methods: {report: loggedIn}
                    """, path: "c.yaml")
            let report = try AccessReport(configuration, model: nil)
            for line in [
                "schema note\n  read: the account that made the object; the accounts in the field readers of the object\n"
                    + "  create: every account that is logged in\n  update: accounts with the role editor\n",
                "accounts in user\n  read: the account that made the object\n  create: everybody, without logging in\n"
                    + "  update: nobody without the private key",
                "  report: every account that is logged in (answered by https://hooks.example.org/report)",
                "  all other methods: nobody without the private key",
            ] { #expect(report.description.contains(line), "\(line) in \(report)") }
            #expect(report.openings == ["Anyone may create objects of schemas that have no rule of their own."])
        }

        @Test("What the server writes is nobody else's, whatever the mode of the folder is")
        func files() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(
                at: folder.appending(path: "production"), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
            var options = ServerOptions()
            options.passwords.cost = PasswordCost(rounds: 16)
            let server = try DataServer(folder: folder.path, options: options, logger: silent)
            defer { server.close() }
            let body = Data(#"{"username":"ann@example.org","password":"long enough"}"#.utf8)
            _ = await server.respond(to: ServerRequest("POST", "/user", body: body))
            let forgotten = Data(#"{"username":"ann@example.org"}"#.utf8)
            _ = await server.respond(to: ServerRequest("POST", "/user/forgotPassword", body: forgotten))
            await server.finishBackgroundWork()
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
                let mode = try #require(attributes[.posixPermissions] as? Int)
                #expect(mode & 0o077 == 0, "\(name) has \(String(mode, radix: 8))")
            }
        }
    }
#endif
