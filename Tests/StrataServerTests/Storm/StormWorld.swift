#if Server
    import Foundation
    import SeededRandom
    import StrataServer
    import StrataStore
    import StrataRemoteTesting
    import Testing

    /// Some devices with files of their own, one server, and a bad network between them.
    final class StormWorld {
        private let service: StormService
        private let seed: UInt64
        private var random: SplitMix64
        private let model: ManagedObjectModel
        private let folder: URL
        private let server: DataServer
        private let clock = VirtualClock(Date(timeIntervalSince1970: 1_700_000_000))
        private let transport: StormTransport
        private var devices: [StormDevice] = []
        /// The titles of notes that only one device changes, as that saved them last; nil for those it deleted.
        private var titles: [String: String?] = [:]
        private var lastText = 0

        var struck: [StormTransport.Fault: Int] { transport.struck }

        init(_ service: StormService, seed: UInt64) throws {
            self.service = service
            self.seed = seed
            random = SplitMix64(seed: seed)
            model = try Self.model(withMembers: service.hasMembers, numbers: service.hasNumbers)
            folder = FileManager.default.temporaryDirectory.appending(path: "strata-storm-\(UUID().uuidString)")
            var options = ServerOptions()
            options.storage.survivesPowerFailure = false
            options.dialects = Places.all
            let clock = clock
            server = try DataServer(
                folder: folder.appending(path: "server").path, model: model, options: options,
                clock: ServerClock(milliseconds: { Int64(clock.now.timeIntervalSince1970 * 1000) }), logger: silent)
            transport = StormTransport(server, clock: clock, seed: seed &+ 1)
            for number in 1...3 { devices.append(try device("\(number)")) }
        }

        deinit {
            for device in devices { device.close() }
            server.close()
            try? FileManager.default.removeItem(at: folder)
        }

        /// - Parameter numbers: Whether folders and notes have whole numbers as keys, which the server assigns. What devices
        ///   choose is in the attribute `code` then.
        private static func model(withMembers: Bool, numbers: Bool) throws -> ManagedObjectModel {
            let key = numbers ? AttributeType.integer64 : .string
            return try ManagedObjectModel(name: "Storm") {
                Entity("Folder", primaryKey: "folderId") {
                    Attribute("folderId", key, optional: numbers)
                    if numbers { Attribute("code", .string, optional: true) }
                    Attribute("name", .string, optional: true)
                    Relationship("notes", to: "Note", .toMany, inverse: "folder")
                }
                Entity("Note", primaryKey: "noteId") {
                    Attribute("noteId", key, optional: numbers)
                    if numbers { Attribute("code", .string, optional: true) }
                    Attribute("title", .string, default: .value(""))
                    Attribute("body", .string, optional: true)
                    Attribute("likes", .integer64, default: .value(0))
                    Attribute("ratio", .double, optional: true)
                    Attribute("isDone", .boolean, optional: true)
                    Attribute("dueDate", .date, optional: true)
                    Relationship("folder", to: "Folder", .optionalToOne, inverse: "notes")
                    if withMembers { Relationship("tags", to: "Tag", .toMany, inverse: "notes") }
                }
                if withMembers {
                    Entity("Tag") {
                        Attribute("tagId", .string)
                        Attribute("label", .string, optional: true)
                        Relationship("notes", to: "Note", .toMany, inverse: "tags")
                    }
                }
            }
        }

        private func device(_ name: String) throws -> StormDevice {
            let backend = try service.backend(
                model, transport: StormTransport.End(way: transport, device: name), clock: clock,
                usesExtensions: seed % 2 == 1)
            return try StormDevice(
                name, model: model, backend: backend, file: folder.appending(path: "\(name).sqlite").path, clock: clock,
                hasNumbers: service.hasNumbers)
        }

        // MARK: The storm

        func run() async throws {
            for name in ["Folder", "Folder"] + (service.hasMembers ? ["Tag", "Tag"] : []) {
                lastText += 1
                try devices[0].make(name, id: "shared\(lastText)")
            }
            for number in 0..<3 { try devices[0].make("Note", id: "s\(number)") }
            try devices[0].save()
            for _ in 0..<30 {
                let index = random.below(devices.count)
                try act(index)
                clock.advance(by: Double(random.below(3000)) / 1000)
                switch random.below(6) {
                case 0, 1: await synchronize(index)
                case 2: await synchronizeWhileActing(index)
                case 3 where random.oneIn(3): try restart(index)
                default: break
                }
            }
            transport.calmDown()
            try await settle()
            try await check()
        }

        private func text() -> String {
            lastText += 1
            return "text \(lastText)"
        }

        /// One or two edits, and a save.
        private func act(_ index: Int) throws {
            let device = devices[index]
            for _ in 0...random.below(2) { try edit(device) }
            for object in device.context.insertedObjects.union(device.context.updatedObjects) {
                transport.log("\(device.name): saves \(device.line(object))")
            }
            try device.save()
        }

        private func edit(_ device: StormDevice) throws {
            // While a note is here twice, changes of either may meet those of the other. What the device has deleted it leaves
            // alone, even if a pull reports it once more.
            let doubles = try device.doubles("Note")
            let notes = try device.objects("Note").filter { note in
                let id = device.id(of: note)
                return !doubles.contains(id) && titles[id] != .some(nil)
            }
            let own = notes.filter { device.id(of: $0).hasPrefix("d\(device.name)-") }
            let shared = notes.filter { device.id(of: $0).hasPrefix("s") }
            switch random.below(9) {
            case 0, 1:
                lastText += 1
                let id = "d\(device.name)-\(lastText)"
                let note = try device.make("Note", id: id)
                note["title"] = "made"
                titles[id] = .some("made")
            case 2, 3:
                guard let note = random.pick(own) else { return }
                let title = text()
                note["title"] = title
                titles[device.id(of: note)] = .some(title)
            case 4:
                guard let note = random.pick(own) else { return }
                titles[device.id(of: note)] = .some(nil)
                transport.log("\(device.name): deletes \(device.id(of: note))")
                device.context.delete(note)
            case 5:
                guard let note = random.pick(shared + own) else { return }
                note["likes"] = Int64(random.below(100))
                note["ratio"] = Double(random.below(100)) / 8
                note["isDone"] = random.oneIn(2)
                note["dueDate"] = Date(timeIntervalSince1970: Double(1_600_000_000 + random.below(1_000_000)))
            case 6:
                guard let note = random.pick(shared) else { return }
                note["body"] = random.oneIn(4) ? nil : text()
            case 7:
                guard let note = random.pick(shared + own) else { return }
                note["folder"] = random.oneIn(4) ? nil : random.pick(try device.objects("Folder"))
            default:
                guard service.hasMembers, let note = random.pick(shared + own) else { return }
                note["tags"] = Set(try device.objects("Tag").filter { _ in random.oneIn(2) })
            }
        }

        private func synchronize(_ index: Int) async {
            let sync = devices[index].store.sync
            switch random.below(3) {
            case 0: _ = try? await sync.push()
            case 1: _ = try? await sync.pull()
            default: _ = try? await sync.synchronize()
            }
        }

        /// People go on while a synchronization is under way.
        private func synchronizeWhileActing(_ index: Int) async {
            let sync = devices[index].store.sync
            async let result = try? await sync.synchronize()
            for _ in 0...random.below(3) {
                await Task.yield()
                do { try act(index) } catch { Issue.record("\(service), seed \(seed): \(error)") }
            }
            _ = await result
        }

        private func restart(_ index: Int) throws {
            let name = devices[index].name
            transport.log("\(name): restarts")
            devices[index].close()
            devices[index] = try device(name)
        }

        // MARK: Afterwards

        private func settle() async throws {
            for round in 0..<12 {
                for device in devices {
                    let failed = try device.store.sync.failedChanges()
                    if !failed.isEmpty { try device.store.sync.retry(failed) }
                    do {
                        try await device.store.sync.synchronize()
                    } catch {
                        Issue.record("\(service), seed \(seed): device \(device.name) in calm weather: \(error)")
                    }
                    clock.advance(by: 5)
                }
                let waiting = try devices.reduce(0) {
                    try $0 + $1.store.sync.pendingCount() + $1.store.sync.failedChanges().count
                }
                if waiting == 0, round > 1 { return }
            }
            for device in devices {
                let failed = try device.store.sync.failedChanges().map { "\($0.identity): \($0.error)" }
                Issue.record(
                    "\(service), seed \(seed): device \(device.name) still has \(try device.store.sync.pendingCount()) changes to send; failed: \(failed)"
                )
            }
        }

        private func check() async throws {
            let fresh = try device("fresh")
            defer { fresh.close() }
            try await fresh.store.sync.pull()
            let truth = try fresh.contents()
            for device in devices {
                let contents = try device.contents()
                for id in Set(truth.keys).union(contents.keys).sorted() where truth[id] != contents[id] {
                    fail(
                        "device \(device.name) has \(id) as \(contents[id] ?? "nothing"), the server as \(truth[id] ?? "nothing")",
                        about: id)
                }
            }
            for entity in ["Folder", "Note"] {
                for id in try fresh.doubles(entity).sorted() { fail("\(id) was made more than once", about: id) }
            }
            for (id, title) in titles.sorted(by: { $0.key < $1.key }) {
                let found = try fresh.title(of: id)
                if found != title {
                    fail("\(id) was saved as \(title ?? "deleted"), and is \(found ?? "missing")", about: id)
                }
            }
        }

        private func fail(_ message: String, about id: String) {
            if let path = ProcessInfo.processInfo.environment["STRATA_STORM_LOG"] {
                try? Data(transport.log.joined(separator: "\n").utf8).write(to: URL(filePath: path))
            }
            let name = id.split(separator: " ").last.map(String.init) ?? id
            let lines = transport.log.compactMap { line -> String? in
                guard let place = line.firstRange(of: name) else { return line.hasSuffix("restarts") ? line : nil }
                // Of a page, what it says about the object.
                return String(line.prefix(30)) + " … " + line[place.lowerBound...].prefix(300)
            }
            Issue.record("\(service), seed \(seed): \(message)\n\(lines.suffix(60).joined(separator: "\n"))")
        }
    }
#endif
