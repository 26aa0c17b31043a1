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

        @Test(
            "Mistakes in it are named with their place",
            arguments: [
                ("dialects: [{path: /x}]", "lacks dialect"),
                ("dialects: [{dialect: soap}]", "takes stackmob, parse"),
                ("dialects: [{dialect: parse, path: x}]", "takes a path"),
                ("dialects: [{dialect: parse}, {dialect: maxleap}]", "are both at /"),
                ("dialects: [{dialect: stackmob, key: k}]", "keys.public"),
                ("dialects: [{dialect: parse, colour: red}]", "is not known"),
                ("dialects: [{dialect: parse, database: test}]", "takes production, development"),
            ])
        func mistakes(yaml: String, message: String) {
            let error = #expect(throws: ServerSetupError.self) { try read(yaml) }
            #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
            #expect(error?.description.hasPrefix("server.yaml:1:") == true)
        }
    }
#endif
