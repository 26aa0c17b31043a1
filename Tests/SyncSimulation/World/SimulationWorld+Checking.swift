import StrataRemote

// What must hold.
extension SimulationWorld {
    /// A client saved a value over another one.
    func saved(
        _ write: ModelServer.Write, by client: Int, seen: RemoteValue, isLoose: Bool = false,
        context: Ledger.Context? = nil
    ) {
        let save = Ledger.Save(client: client, seen: ModelServer.given(seen), isLoose: isLoose, context: context)
        ledger.save(write, save)
        trace("\(client) saves \(write.identity).\(write.property) = \(write.value) over \(seen)")
    }

    /// A client gave an item tags, and took others from it.
    func related(_ item: RemoteIdentity, added: [ModelServer.Write], removed: [ModelServer.Write], by client: Int) {
        for write in added { ledger.add(write, by: client) }
        for write in removed { ledger.remove(write) }
        trace("\(client) gives \(item) \(added.compactMap(\.tag?.id)), takes \(removed.compactMap(\.tag?.id))")
    }

    /// A client forgets objects, and what it saved of them.
    func forgot(by client: Int, _ isForgotten: (RemoteIdentity) -> Bool) {
        ledger.forget(by: client, isForgotten)
        tallies.forget(by: client, isForgotten)
    }

    /// A client forgets everything.
    func reset(by client: Int) {
        ledger.reset(client)
        forgot(by: client) { _ in true }
    }

    /// Values that a client gives up.
    func forget(_ writes: Set<ModelServer.Write>) { ledger.forget(writes) }

    /// A client deleted an object.
    func deleted(_ identity: RemoteIdentity, with values: [String: RemoteValue], by client: Int) {
        ledger.delete(identity, with: values, by: client)
        trace("\(client) deletes \(identity)")
    }

    /// Whether an object may be made that was there and was deleted.
    func mayReturn(_ identity: RemoteIdentity) -> Bool {
        if identity.entity == "Counter" {
            struck(.reusedKey)
            return true
        }
        // Some make again what others have deleted and they have changed.
        return clients.contains {
            $0.habits.overrules || ($0.habits.usesContext && $0.habits.mergePolicy != .error)
        }
    }

    /// A value may replace another one only if those who wrote it had seen that, or it is of the same client.
    func check(_ write: ModelServer.Write, replaces old: RemoteValue) {
        let write = write.given
        let old = ModelServer.given(old)
        ledger.reached(write)
        guard variant.isConditional, let first = ledger.saves[write], !overrules(first.client) else { return }
        // What it has given up itself may have arrived all the same.
        let replaced = ModelServer.Write(identity: write.identity, property: write.property, value: old)
        if ledger.forgotten.contains(replaced), ledger.saves[replaced]?.client == first.client { return }
        // What was there before somebody gave up a change comes back with the next one of that object.
        if ledger.forgotten.contains(replaced), let seen = ledger.saves[replaced]?.seen,
            ModelServer.given(seen) == write.value
        {
            return
        }
        if hasSeen(old, write) { return }
        // Of two changes of an object that a client knew by two names the later one counts, by its clock.
        if server.renamesFolders, ledger.saves[replaced]?.client == first.client, !hasSeen(write.value, replaced) {
            return
        }
        // It was deleted by the same client, with the object, and that has been made again.
        for (client, buried) in ledger.buried[write.identity] ?? []
        where client == first.client && buried.property == write.property && hasSeen(old, buried) { return }
        // Who makes a deleted object again, whatever others say, does so with all that it had.
        if clients.contains(where: { $0.habits.overrules }),
            ledger.buried[write.identity]?.contains(where: { $0.1 == write }) == true
        {
            return
        }
        violate("\(write.identity).\(write.property): \(old) was lost under \(write.value)")
    }

    /// A context may be in conflict only with what others have changed.
    func checkConflict(_ identity: RemoteIdentity, of client: Int, _ context: Ledger.Context) {
        // Who changes another reference of an object changes a value, too, but who deletes a folder.
        let isCleared = ledger.deletes.keys.contains { $0.entity == "Folder" }
        let isKnown =
            switch identity.entity {
            case "Tag": true
            case "Folder": !server.renamesFolders
            case "Item", "Special": !server.renamesFolders && !server.marksTexts && !isCleared
            default: false
            }
        guard isKnown, !server.wasRestored else { return }
        let identity = ModelServer.given(identity)
        let isOwn = ledger.saves.allSatisfy { write, save in
            write.identity != identity
                || save.client == client && save.context == context && !ledger.forgotten.contains(write)
        }
        if isOwn, ledger.deletes[identity] == nil {
            violate("client \(client): \(identity) is in conflict with what the same context has saved")
        }
    }

    /// An object may be deleted only by clients that had seen what it has.
    func check(deletionOf identity: RemoteIdentity, with values: [String: RemoteValue]) {
        guard variant.isConditional, let entity = model.entity(named: identity.entity) else { return }
        let identity = ModelServer.given(identity)
        let deleters = ledger.deletes[identity] ?? []
        if clients.contains(where: { deleters.contains($0.number) && $0.habits.maySaveUnseen }) { return }
        // New objects get an `a`.
        let makers = Set(
            ledger.saves.filter { write, save in
                write.identity == identity && write.property == "a" && save.seen == .value(.null)
            }.map(\.value.client))
        // Several have made objects of one key, and nobody can tell whose is deleted.
        if makers.count > 1 { return }
        for property in entity.simulatedAttributes {
            guard let value = values[property].map(ModelServer.given), value != .value(.null) else { continue }
            let write = ModelServer.Write(identity: identity, property: property, value: value)
            if let save = ledger.saves[write], deleters.contains(save.client) { continue }
            let buried = (ledger.buried[identity] ?? []).filter { $0.write.property == property }
            // An earlier version of the app does not know the property.
            let isSeen =
                buried.isEmpty
                || buried.contains { client, write in
                    // Who made it and got no answer takes what it lacked for what the server has filled in.
                    hasSeen(value, write) || makers.contains(client) && hasSeen(.value(.null), write)
                }
            if !isSeen { violate("\(identity).\(property): \(value) was deleted unseen") }
        }
    }

    /// Whether a value was put over another one, or over one that was put over that, and so on.
    private func hasSeen(_ old: RemoteValue, _ write: ModelServer.Write) -> Bool {
        var write = write
        while write.value != old {
            guard let save = ledger.saves[write] else { return false }
            if save.isLoose { return true }
            write = ModelServer.Write(identity: write.identity, property: write.property, value: save.seen)
        }
        return true
    }

    private func overrules(_ number: Int) -> Bool {
        clients.contains { $0.number == number && $0.habits.overrules }
    }

    func checkEnd() async {
        for client in clients {
            let truth = contents(client.model)
            do {
                let found = try client.contents()
                for identity in Set(truth.keys).union(found.keys).sorted(by: { $0.id < $1.id })
                where truth[identity] != found[identity] {
                    violate(
                        "client \(client.number) has \(identity) as \(text(found[identity])), the server as \(text(truth[identity]))"
                    )
                }
                let failed = try client.engine.failedChanges()
                for change in failed { violate("client \(client.number): \(change.identity) failed: \(change.error)") }
            } catch {
                violate("client \(client.number): \(error)")
            }
            await client.checkContexts(truth)
        }
        if variant.isConditional { checkSaves() }
    }

    private func text(_ values: [String: RemoteValue]?) -> String {
        guard let values else { return "nothing" }
        return values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }

    /// What the server has, as far as an app knows it; references to what it has not are nil.
    private func contents(_ model: ManagedObjectModel) -> [RemoteIdentity: [String: RemoteValue]] {
        var result: [RemoteIdentity: [String: RemoteValue]] = [:]
        for (identity, object) in server.objects where !object.isDeleted {
            guard let entity = model.entity(named: identity.entity) else { continue }
            var values: [String: RemoteValue] = [:]
            for slot in entity.slots where slot.name != entity.primaryKeyField {
                guard let index = slot.relationshipIndex else {
                    values[slot.name] = object.values[slot.name] ?? .value(.null)
                    continue
                }
                var target: String?
                if case .reference(let id?) = object.values[slot.name],
                    server.hasObject(entity.relationships[index].destination, id)
                {
                    target = id
                }
                values[slot.name] = .reference(target)
            }
            if let told = entity.simulatedMembers {
                var members: [String] = []
                if case .references(let list) = object.values[told.name] {
                    members = list.filter { server.hasObject(told.destination, $0) }
                }
                values[told.name] = .references(told.isOrdered ? members : members.sorted())
            }
            result[identity] = values
        }
        return result
    }

    /// Every value that was saved reached the server, or another one was saved over it, or its object was deleted, or
    /// it was reported to have lost.
    private func checkSaves() {
        let covered = Set(
            ledger.saves.map {
                ModelServer.Write(identity: $0.key.identity, property: $0.key.property, value: $0.value.seen)
            })
        let present = Set(server.objects.filter { !$0.value.isDeleted }.map { ModelServer.given($0.key) })
        checkPresence(present)
        checkTags(present)
        for (write, save) in ledger.saves
        where !ledger.history.contains(write) && !covered.contains(write) && !ledger.forgotten.contains(write) {
            // A server without tokens makes an object again whose creation it is told twice, and one that is restored has again
            // what was deleted. Others may have made another object with the same primary key. One that gives new objects keys
            // without saying so is told to delete them by the keys that they were sent with, if the answer was lost.
            let isRenamed = server.renamesFolders && write.identity.entity == "Folder"
            if !variant.hasTokens || server.wasRestored || mayReturn(write.identity) || isRenamed,
                ledger.deletes[write.identity]?.contains(save.client) == true
            {
                continue
            }
            // Contexts still show objects that a reset has taken away. The deletion of such an object is not sent.
            if ledger.resets.contains(save.client), ledger.deletes[write.identity]?.contains(save.client) == true {
                continue
            }
            // A context puts its values over those that another one has saved meanwhile.
            let isPassed = ledger.saves.contains {
                $0.key.identity == write.identity && $0.key.property == write.property && $0.value.isLoose
                    && $0.value.client == save.client && $0.value.context?.number != save.context?.number
            }
            if isPassed { continue }
            guard present.contains(write.identity), let client = clients.first(where: { $0.number == save.client })
            else { continue }
            // Of two changes of an object that the client knew by two names the later one stays, by its clock.
            if server.renamesFolders,
                ledger.saves.contains(where: {
                    $0.key.identity == write.identity && $0.key.property == write.property && $0.key != write
                        && $0.value.client == save.client && $0.value.seen == save.seen
                })
            {
                continue
            }
            // Nobody is in conflict with himself, but with a server that takes back what it has, with one that makes something
            // else of what it is given and answers a repetition, when nobody can tell whose it is – without tokens the object as a
            // whole –, and with another object that got the same primary key: there nil is a value, too. That object may be the same
            // one, deleted and made again by a creation that arrived twice.
            let isContested =
                server.wasRestored || write.identity.entity == "Counter"
                || !variant.hasTokens && ledger.deletes[write.identity] != nil
                || server.marksTexts && (write.property == "b" || !variant.hasTokens)
                || ledger.saves.contains {
                    $0.key.identity == write.identity && $0.key.property == write.property
                        && ($0.value.client != save.client || ledger.forgotten.contains($0.key)
                            // Two of its contexts have changed it, and neither knew of the other's change.
                            || !hasSeen($0.key.value, write) && !hasSeen(write.value, $0.key))
                }
            let isReported = client.results.contains { result in
                guard ModelServer.given(result.identity) == write.identity else { return false }
                switch result.action {
                case .merged(let overridden): return isContested && overridden.contains(write.property)
                case .serverWon, .deletedHere, .failed: return true
                default: return false
                }
            }
            if !isReported { violate("\(write.identity).\(write.property): \(write.value) went without a word") }
        }
    }

    /// A tag that an item was given and that nobody has taken away is there, or it was reported to have lost.
    private func checkTags(_ present: Set<RemoteIdentity>) {
        guard !server.wasRestored else { return }
        for (write, clients) in ledger.additions {
            // Of a tag that a client does not have itself it does not know the name.
            let isRemoved = [write, ModelServer.Write(tag: "", of: write.identity)].contains(
                where: ledger.removals.contains)
            guard !isRemoved, let tag = write.tag, present.contains(write.identity), present.contains(tag),
                ledger.deletes[write.identity] == nil, ledger.deletes[tag] == nil, !ledger.forgotten.contains(write)
            else { continue }
            if case .references(let ids)? = server.objects[write.identity]?.values["tags"], ids.contains(tag.id) {
                continue
            }
            let isReported = self.clients.contains { client in
                clients.contains(client.number)
                    && client.results.contains { result in
                        guard ModelServer.given(result.identity) == write.identity else { return false }
                        switch result.action {
                        case .merged(let overridden): return overridden.contains(write.property)
                        case .serverWon, .deletedHere, .failed: return true
                        default: return false
                        }
                    }
            }
            if !isReported { violate("\(write.identity): the tag \(tag.id) went without a word") }
        }
    }

    /// What was made and nobody deleted or gave up is there.
    private func checkPresence(_ present: Set<RemoteIdentity>) {
        guard !server.wasRestored else { return }
        let forgotten = Set(ledger.forgotten.map(\.identity))
        let made = Set(ledger.saves.keys.map(\.identity))
        for identity in made.subtracting(present).subtracting(forgotten) where ledger.deletes[identity] == nil {
            violate("\(identity) was made, and is gone")
        }
    }
}
