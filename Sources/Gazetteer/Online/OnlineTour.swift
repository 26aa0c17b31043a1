#if Server
    import Foundation
    import Logging
    import Strata
    import StrataRemote
    import StrataServer

    /// Two travellers and a server: each has the cities of a country in a store of his own, both edit them without a
    /// connection, and in the end all three have the same.
    @MainActor
    final class OnlineTour {
        private let data: GeoNamesData
        private let country: CountryRecord
        private let dialect: OnlineDialect
        private let printer: StepPrinter
        private let log: StatementLog
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "gazetteer-\(UUID().uuidString)", isDirectory: true)

        init(
            data: GeoNamesData, country: CountryRecord, dialect: OnlineDialect = .stackmob, printer: StepPrinter,
            log: StatementLog
        ) {
            self.data = data
            self.country = country
            self.dialect = dialect
            self.printer = printer
            self.log = log
        }

        /// Runs all steps against a server of its own, on loopback.
        func run() async throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let model = try TravelModel.make(keepsPositions: dialect.keepsPositions)
            var options = ServerOptions()
            options.dialects = [dialect.mount]
            let server = try DataServer(
                folder: folder.appendingPathComponent("server").path, model: model, options: options,
                logger: Logger(label: "gazetteer") { _ in SwiftLogNoOpLogHandler() })
            let service = HTTPService(server)
            let (ports, ready) = AsyncStream.makeStream(of: Int.self)
            let serving = Task {
                defer { ready.finish() }
                try await service.run(endsOnSignals: false) { ready.yield($0) }
            }
            defer { serving.cancel() }
            var found = ports.makeAsyncIterator()
            guard let port = await found.next() else {
                try await serving.value
                throw GazetteerError.unexpected("the server ended before it began")
            }
            let travellers = try ["Ana", "Ben"].map { name in
                try Traveller(
                    name, model: model, dialect: dialect, host: "127.0.0.1:\(port)",
                    file: folder.appendingPathComponent("\(name).sqlite").path, log: log)
            }
            try await visit(travellers[0], travellers[1], port: port)
            for traveller in travellers { traveller.container.close() }
        }

        private func visit(_ ana: Traveller, _ ben: Traveller, port: Int) async throws {
            let records = data.cities.filter { $0.country == country.iso }.sorted { $0.population > $1.population }
            try await printer.step("A server, and a store that was filled without it") {
                printer.say("strata-server listens on port \(port), and speaks \(ana.remote.backend.name).")
                try fill(ana, records)
                printer.say("Ana saved \(cities(records.count)) while she had no connection.")
                try await synchronize(ana)
            }
            try await printer.step("A second store") {
                try await synchronize(ben)
                let count = try ben.everything().count
                try expect(count == records.count, "Ben has \(count) of \(records.count) cities")
                printer.confirm("Ben has all \(cities(count)).")
            }
            try await printer.step("Both edit without a connection") { try await edit(ana, ben, records) }
            try await printer.step("Both come back") {
                for traveller in [ana, ben, ana] {
                    traveller.line.isConnected = true
                    try await synchronize(traveller)
                }
                let note = try ben.city(records[0].name)["note"] as? String
                printer.say("Both had written about \(records[0].name). It says now: “\(note ?? "nothing")”")
            }
            try await printer.step("All three are equal") { try await compare(ana, ben) }
        }

        private func fill(_ traveller: Traveller, _ records: [CityRecord]) throws {
            let context = traveller.context
            traveller.line.isConnected = false
            let land = try context.insert(entityNamed: "Country")
            land["countryId"] = country.iso
            land["name"] = country.name
            for record in records {
                let city = try context.insert(entityNamed: "City")
                city["cityId"] = record.id
                city["name"] = record.name
                city["population"] = record.population
                traveller.place(city, latitude: record.latitude, longitude: record.longitude)
                city["country"] = land
            }
            try context.save()
            traveller.line.isConnected = true
        }

        private func edit(_ ana: Traveller, _ ben: Traveller, _ records: [CityRecord]) async throws {
            let (largest, second, last) = (records[0].name, records[min(1, records.count - 1)].name, records.last?.name)
            for traveller in [ana, ben] { traveller.line.isConnected = false }
            try ana.city(largest)["note"] = "Ana: stay for the food."
            try ana.city(second)["note"] = "Ana: go up the hill."
            try await ana.context.save()
            try ben.city(largest)["note"] = "Ben: mind the traffic."
            try ben.city(second)["population"] = Int64(1_000_000)
            if let last, records.count > 2 { ben.context.delete(try ben.city(last)) }
            let village = try ben.context.insert(entityNamed: "City")
            village["cityId"] = "ben-1"
            village["name"] = "Puerto Ben"
            village["population"] = Int64(12)
            ben.place(village, latitude: records[0].latitude, longitude: records[0].longitude)
            try await ben.context.save()
            printer.say("Ana wrote about \(largest) and \(second).")
            printer.say(
                "Ben wrote about \(largest), too, counted \(second), deleted \(last ?? "nothing"), and founded Puerto Ben."
            )
            for traveller in [ana, ben] {
                do {
                    _ = try await traveller.remote.sync.push()
                    throw GazetteerError.unexpected("\(traveller.name) reached the server without a connection")
                } catch is SyncError {
                    let waiting = try traveller.remote.sync.pendingCount()
                    printer.confirm("Nothing of \(traveller.name)'s is lost: \(changes(waiting)) wait.")
                }
            }
        }

        private func synchronize(_ traveller: Traveller) async throws {
            _ = traveller.line.takeCount()
            let report = try await traveller.remote.sync.synchronize()
            try expect(report.failures.isEmpty, "the server refused changes of \(traveller.name): \(report.failures)")
            printer.say(
                "\(traveller.name): \(changes(report.results.count)) sent, \(Figures.counted(report.received, "object")) and "
                    + "\(Figures.counted(report.removed, "deletion")) received, in "
                    + "\(Figures.counted(traveller.line.takeCount(), "request")).")
            for result in report.results {
                guard case .merged(let overridden) = result.action else { continue }
                let what =
                    overridden.isEmpty
                    ? "both sides' changes are kept" : "the server's \(overridden.joined(separator: ", ")) wins"
                printer.confirm("\(traveller.name)'s change of \(result.identity) met another: \(what).")
            }
        }

        private func compare(_ ana: Traveller, _ ben: Traveller) async throws {
            let atServer = try await ana.everythingAtServer().sorted()
            let hers = try ana.everything().sorted()
            let his = try ben.everything().sorted()
            try expect(hers == his, "the two stores differ: \(Set(hers).symmetricDifference(his).sorted())")
            try expect(hers == atServer, "store and server differ: \(Set(hers).symmetricDifference(atServer).sorted())")
            for traveller in [ana, ben] {
                let waiting = try traveller.remote.sync.pendingCount()
                try expect(waiting == 0, "\(changes(waiting)) of \(traveller.name)'s still wait")
            }
            printer.confirm("Ana, Ben and the server have the same \(cities(hers.count)), and nothing waits.")
        }

        private func cities(_ count: Int) -> String { Figures.counted(count, "city", "cities") }
        private func changes(_ count: Int) -> String { Figures.counted(count, "change") }

        private func expect(_ condition: Bool, _ problem: @autoclosure () -> String) throws(GazetteerError) {
            if !condition { throw .unexpected(problem()) }
        }
    }
#endif
