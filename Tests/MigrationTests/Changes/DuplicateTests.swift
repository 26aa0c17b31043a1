import Foundation
import Strata
import Testing

/// Objects that a new constraint allows only one of.
@Suite struct DuplicateTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    /// Customers with orders, friends and a card; unique or not.
    private func model(_ isUnique: Bool, cardIsOptional: Bool = true) throws -> ManagedObjectModel {
        try version {
            Entity("Customer") {
                isUnique ? Attribute("email", .string).optional().unique() : Attribute("email", .string).optional()
                Attribute("name", .string)
                Index("name", kind: .fullText)
                Relationship("orders", to: "Order", .toMany, inverse: "customer")
                Relationship("friends", to: "Customer", .toMany, inverse: "friendOf")
                Relationship("friendOf", to: "Customer", .toMany, inverse: "friends")
                Relationship("card", to: "Card", .optionalToOne, inverse: "owner")
            }
            Entity("Order") {
                Attribute("name", .string)
                Relationship("customer", to: "Customer", .toOne, inverse: "orders")
            }
            Entity("Card") {
                Attribute("name", .string)
                Relationship("owner", to: "Customer", cardIsOptional ? .optionalToOne : .toOne, inverse: "card")
            }
        }
    }

    private func fill(cards: [Int] = [1, 2], cardIsOptional: Bool = true) throws {
        try file.open(try model(false, cardIsOptional: cardIsOptional)) { context throws in
            var customers: [ManagedObject] = []
            for (number, email) in ["a", "b", "a", nil, "a", nil].enumerated() {
                let customer = try context.make("Customer", ["name": "customer \(number)"])
                customer["email"] = email
                customers.append(customer)
                try context.make("Order", ["name": "order \(number)", "customer": customer])
            }
            customers[0]["friends"] = Set([customers[1]])
            customers[2]["friends"] = Set([customers[1], customers[3]])
            customers[5]["friends"] = Set([customers[0], customers[4]])
            for number in cards { try context.make("Card", ["name": "card \(number)", "owner": customers[number]]) }
            try context.save()
        }
    }

    private func options(_ answer: MigrationAnswer) -> SQLiteStore.Options {
        VersionedFile.options(["Customer.email": answer])
    }

    @Test("The first one stays, and what led to the others leads to it")
    func first() throws {
        try fill()
        let later = try model(true)
        #expect(file.blocked(later) == ["Customer.email"])
        #expect(file.blocked(later, answers: ["Customer.email": .accept]) == ["Customer.email"])
        try file.open(later, options(.keepFirst)) { context throws in
            #expect(
                try context.texts("Customer", "name") == ["customer 0", "customer 1", "customer 3", "customer 5"])
            #expect(try context.linked("Customer", "orders").map(\.count) == [3, 1, 1, 1])
            #expect(try context.linked("Order", "customer").allSatisfy { $0.count == 1 })
            #expect(
                try context.linked("Customer", "friends").map(Set.init) == [
                    ["customer 1", "customer 3"], [], [], ["customer 0"],
                ])
            // The first one had no card.
            #expect(try context.linked("Card", "owner") == [["customer 1"], ["customer 0"]])
            #expect(try context.linked("Customer", "card") == [["card 2"], ["card 1"], [], []])
            // The full-text index has lost those that went.
            let words = FetchRequest<ManagedObject>(
                entity: "Customer", where: try FetchPredicate(format: "name MATCHESTEXT %@", "customer"))
            #expect(try context.fetch(words).count == 4)
        }
        try file.checkSoundness()
        try file.open(later) { context throws in
            try context.make("Customer", ["name": "another", "email": "a"])
            #expect(throws: PersistenceError.self) { try context.save() }
            context.rollback()
        }
    }

    @Test("The last one stays")
    func last() throws {
        try fill(cards: [0, 2, 4])
        try file.open(try model(true), options(.keepLast)) { context throws in
            #expect(
                try context.texts("Customer", "name") == ["customer 1", "customer 3", "customer 4", "customer 5"])
            #expect(try context.linked("Customer", "orders").map(\.count) == [1, 1, 3, 1])
            // It has a card of its own.
            #expect(try context.linked("Card", "owner") == [[], [], ["customer 4"]])
            #expect(try context.linked("Customer", "card") == [[], [], ["card 4"], []])
        }
        try file.checkSoundness()
    }

    @Test("A required link that has no room at the object that stays stops the migration")
    func requiredLinks() throws {
        try fill(cards: [0, 2], cardIsOptional: false)
        let later = try model(true, cardIsOptional: false)
        let error = file.refusal(later, answers: ["Customer.email": .keepFirst])
        guard case .migrationFailed(_, _, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("1 objects of Card") && reason.contains("owner"))
        try file.open(try model(false, cardIsOptional: false)) { context throws in
            #expect(try context.all("Customer").count == 6)
        }
        try file.checkSoundness()
    }

    @Test("Several attributes, a hierarchy and values that are converted on the way")
    func compound() throws {
        func model(_ type: AttributeType, _ isUnique: Bool) throws -> ManagedObjectModel {
            try version {
                Entity("Thing") {
                    Attribute("code", type)
                    Attribute("region", .string)
                    if isUnique { Index("code", "region", kind: .unique) }
                }
                Entity("Special", inherits: "Thing") { Attribute("extra", .string).optional() }
            }
        }
        try file.open(try model(.string, false)) { context throws in
            for (entity, code, region) in [
                ("Thing", "1", "x"), ("Special", "01", "x"), ("Thing", "1", "y"), ("Special", "2", "x"),
            ] {
                try context.make(entity, ["code": code, "region": region])
            }
        }
        let later = try model(.integer32, true)
        #expect(file.blocked(later) == ["Thing.code, region"])
        try file.open(later, VersionedFile.options(["Thing.code, region": .keepLast])) { context throws in
            #expect(try context.texts("Thing", "code") == ["1", "1", "2"])
            #expect(try context.texts("Thing", "region") == ["x", "y", "x"])
            #expect(try context.all("Special").count == 2)
        }
        try file.checkSoundness()
    }

    @Test("The answer means nothing to other steps")
    func otherSteps() throws {
        try file.open(try model(false)) { _ in }
        let later = try version {
            Entity("Customer") {
                Attribute("name", .string)
                Index("name", kind: .fullText)
            }
        }
        let steps = Set(file.blocked(later))
        #expect(steps.contains("Customer.email"))
        #expect(file.blocked(later, answers: ["Customer.email": .keepFirst]).contains("Customer.email"))
    }
}
