#if Server
    import StrataServer
    import Testing

    @Suite struct DialectConfigurationTests {
        private func read(_ yaml: String) throws -> ServerConfiguration {
            try ServerConfiguration(yaml: yaml, path: "server.yaml")
        }

        @Test("A configuration names dialects with their places and keys, and the report explains them")
        func report() throws {
            let configuration = try read(
                """
                dialects:
                  - {dialect: stackmob}
                  - {dialect: parse, path: /parse, application: app, key: k, masterKey: m}
                  - dialect: maxleap
                    path: /2.0
                    hosts: [api.example.org, api.example.net]
                  - {dialect: azure-apps, path: /v2, database: production}
                """)
            #expect(configuration.options.dialects.map(\.kind) == [.stackMob, .parse, .maxLeap, .azureApps])
            #expect(configuration.options.dialects[1].masterKey == "m")
            #expect(configuration.options.dialects[2].hosts == ["api.example.org", "api.example.net"])
            #expect(configuration.options.dialects[3].usesProduction)
            let report = try AccessReport(configuration, model: nil).description
            for line in [
                "speaks stackmob at /", "speaks parse at /parse", "clients must name the application app",
                "requests with the master key may do everything",
                "speaks maxleap at /2.0 of api.example.org, api.example.net", "speaks azure-apps at /v2",
                "there is no master key: what only its holder may, nobody may",
            ] {
                #expect(report.contains(line), "\(line)")
            }
        }

        @Test("Of dialects with log-ins at the root of a host, the first has them, and the report names the others'")
        func roots() throws {
            let configuration = try read(
                """
                dialects:
                  - {dialect: azure-apps, path: /v2}
                  - {dialect: datasync, path: /v3, database: production}
                  - {dialect: datasync, path: /, hosts: [sync.example.org]}
                """)
            let lines = try AccessReport(configuration, model: nil).description.split(separator: "\n").map(String.init)
            for (place, answer) in [
                ("azure-apps at /v2", "answers at /.auth, too"),
                ("datasync at /v3", "/.auth is another dialect's; its own is /v3/.auth"),
                ("datasync at / of sync.example.org", "answers at /.auth, too"),
            ] {
                let line = try #require(lines.firstIndex(of: "speaks \(place)"))
                #expect(lines[line + 1] == "  " + answer)
            }
        }

        @Test("A log-in is in the database of the dialect that answers it, which each has at a path of its own")
        func logIns() async throws {
            let bench = try Bench {
                $0.dialects = [
                    DialectMount(.azureApps, path: "/v2"), DialectMount(.datasync, path: "/v3"),
                    DialectMount(.parse, path: "/parse"),
                ]
                for place in 1...2 { $0.dialects[place].usesProduction = true }
                $0.limits.requests.timeout = 300
            }
            let eve: JSONValue = ["username": "eve", "password": "pw-of-eve"]
            func logIn(_ place: String) async -> ServerResponse { await bench.send("POST", place, eve) }
            let account = await bench.send("POST", "/parse/users", eve)
            try #require(account.status == 201, "\(account.text)")
            #expect(await logIn("/.auth/login/custom").status == 401)
            #expect(await logIn("/v2/.auth/login/custom").status == 401)
            let answer = await logIn("/v3/.auth/login/custom")
            #expect(answer.json?["authenticationToken"]?.string != nil, "\(answer.text)")
        }

        @Test("A configuration chooses the classes of live queries, and limits web sockets")
        func liveQueries() throws {
            func report(_ value: String) throws -> (DialectMount, String) {
                let configuration = try read("dialects: [{dialect: parse\(value)}]")
                return (
                    configuration.options.dialects[0], try AccessReport(configuration, model: nil).description
                )
            }
            for (value, classes, line) in [
                ("", nil, "live queries report the changes of all objects that a client may read"),
                (", liveQueries: all", nil, "live queries report the changes of all objects that a client may read"),
                (", liveQueries: none", [], "there are no live queries"),
                (", liveQueries: [Post, _User]", ["Post", "_User"], "live queries report the changes of Post, _User"),
            ] as [(String, Set<String>?, String)] {
                let (mount, text) = try report(value)
                #expect(mount.liveClasses == classes && text.contains(line), "\(value): \(text)")
            }
            let limits = try read(
                """
                limits: {socketsPerAddress: 1, socketMessageSize: 2000, socketUnsentSize: 3000, pingInterval: 4, subscriptions: 5, subscriptionMatches: 6}
                """
            ).options.limits.sockets
            #expect((limits.perAddress, limits.messageSize, limits.unsentSize) == (1, 2000, 3000))
            #expect((limits.pingInterval, limits.subscriptions, limits.matches) == (4, 5, 6))
        }

        @Test(
            "Mistakes in it are named with their place",
            arguments: [
                ("dialects: [{path: /x}]", "lacks dialect"),
                ("dialects: [{dialect: soap}]", "takes stackmob, parse"),
                ("dialects: [{dialect: parse, path: x}]", "takes a path"),
                ("dialects: [{dialect: parse}, {dialect: maxleap}]", "are both at /"),
                ("dialects: [{dialect: stackmob, key: k}]", "keys.public"),
                ("dialects: [{dialect: parse, colour: red}]", "is not known"),
                ("dialects: [{dialect: parse, liveQueries: Post}]", "takes all, none"),
                ("dialects: [{dialect: azure-apps, liveQueries: all}]", "only parse has live queries"),
                ("limits: {pingInterval: 0}", "from 1 to"),
                ("dialects: [{dialect: parse, database: test}]", "takes production, development"),
            ])
        func mistakes(yaml: String, message: String) {
            let error = #expect(throws: ServerSetupError.self) { try read(yaml) }
            #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
            #expect(error?.description.hasPrefix("server.yaml:1:") == true)
        }
    }
#endif
