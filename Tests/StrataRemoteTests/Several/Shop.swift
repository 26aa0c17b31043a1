import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting

/// A model for four stores: a catalogue that the app delivers, the orders and the memos of two servers, and what the user
/// drafts. The entities are mixed, so that no store has them at the positions that the model gives them.
enum Shop: GeneratedModel {
    static let model = makeModel()
    static let classes: [ManagedObject.Type] = [
        Draft.self, Product.self, Order.self, RushOrder.self, Memo.self, Customer.self, Label.self,
    ]

    private static func makeModel() -> ManagedObjectModel {
        do {
            return try ManagedObjectModel(
                name: "Shop",
                configurations: [
                    ModelConfiguration("Catalogue", ["Product", "Group"]),
                    ModelConfiguration("Orders", ["Order", "RushOrder", "Customer"]),
                    ModelConfiguration("Memos", ["Memo"]),
                ]
            ) { entities }
        } catch {
            fatalError("\(error)")
        }
    }

    @ModelBuilder static var entities: [Entity] {
        Entity("Draft") {
            Attribute("text", .string)
            Attribute("orderId", .string, optional: true)
            Attribute("order", .uri, optional: true).references("Order")
            Attribute("product", .uri, optional: true).references("Product")
            Relationship("labels", to: "Label", .toMany, inverse: "drafts")
        }
        Entity("Product") {
            Attribute("code", .string).unique()
            Relationship("group", to: "Group", .optionalToOne, inverse: "products")
        }
        Entity("Order") {
            Attribute("orderId", .string, optional: true).unique()
            Attribute("title", .string)
            Attribute("amount", .integer64, default: .value(0))
            Attribute("product", .uri, optional: true).references("Product")
            Relationship("customer", to: "Customer", .optionalToOne, inverse: "orders")
            FetchedProperty("drafts", of: "Draft", where: "orderId == $FETCH_SOURCE.orderId", sortedBy: "text")
        }
        Entity("Memo") {
            Attribute("memoId", .string, optional: true).unique()
            Attribute("text", .string)
        }
        Entity("Group") {
            Attribute("name", .string)
            Relationship("products", to: "Product", .toMany, inverse: "group")
        }
        Entity("RushOrder", inherits: "Order") { Attribute("hours", .integer64, default: .value(1)) }
        Entity("Customer") {
            Attribute("customerId", .string, optional: true).unique()
            Attribute("name", .string)
            Relationship("orders", to: "Order", .toMany, inverse: "customer", deleteRule: .cascade)
        }
        Entity("Label") {
            Attribute("text", .string).unique()
            Relationship("drafts", to: "Draft", .toMany, inverse: "labels")
        }
    }
}

final class Draft: ManagedObject {
    override class var entityName: String { "Draft" }
    var text: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    var orderId: String? {
        get { _optionalValue(1) }
        set { _setOptionalValue(newValue, 1) }
    }
    var order: ObjectReference<Order>? {
        get { _optionalValue(2) }
        set { _setOptionalValue(newValue, 2) }
    }
    var product: ObjectReference<Product>? {
        get { _optionalValue(3) }
        set { _setOptionalValue(newValue, 3) }
    }
    var labels: Set<Label> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    /// How often `didSave` ran.
    var saves = 0
    override func didSave() { saves += 1 }
    convenience init(_ context: ManagedObjectContext, _ text: String, _ order: Order? = nil) {
        self.init(inserting: context)
        self.text = text
        self.order = order.map(ObjectReference.init)
    }
}

final class Product: ManagedObject {
    override class var entityName: String { "Product" }
    var code: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    convenience init(_ context: ManagedObjectContext, _ code: String) {
        self.init(inserting: context)
        self.code = code
    }
}

class Order: ManagedObject {
    override class var entityName: String { "Order" }
    final var orderId: String? {
        get { _optionalValue(0) }
        set { _setOptionalValue(newValue, 0) }
    }
    final var title: String {
        get { _value(1) }
        set { _setValue(newValue, 1) }
    }
    final var amount: Int64 {
        get { _value(2) }
        set { _setValue(newValue, 2) }
    }
    final var product: ObjectReference<Product>? {
        get { _optionalValue(3) }
        set { _setOptionalValue(newValue, 3) }
    }
    final var customer: Customer? {
        get { _optionalToOne(4) }
        set { _setToOne(newValue, 4) }
    }
    final var drafts: [Draft] { _fetched("drafts") }
    /// How often `didSave` ran.
    final var saves = 0
    override func didSave() { saves += 1 }
    convenience init(_ context: ManagedObjectContext, _ title: String, _ customer: Customer? = nil) {
        self.init(inserting: context)
        self.title = title
        self.customer = customer
    }
}

final class RushOrder: Order {
    override class var entityName: String { "RushOrder" }
    var hours: Int64 {
        get { _value(5) }
        set { _setValue(newValue, 5) }
    }
}

final class Memo: ManagedObject {
    override class var entityName: String { "Memo" }
    var memoId: String? {
        get { _optionalValue(0) }
        set { _setOptionalValue(newValue, 0) }
    }
    var text: String {
        get { _value(1) }
        set { _setValue(newValue, 1) }
    }
    convenience init(_ context: ManagedObjectContext, _ text: String) {
        self.init(inserting: context)
        self.text = text
    }
}

final class Customer: ManagedObject {
    override class var entityName: String { "Customer" }
    var customerId: String? {
        get { _optionalValue(0) }
        set { _setOptionalValue(newValue, 0) }
    }
    var orders: Set<Order> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    convenience init(_ context: ManagedObjectContext, _ name: String) {
        self.init(inserting: context)
        _setValue(name, 1)
    }
}

final class Label: ManagedObject {
    override class var entityName: String { "Label" }
    var text: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    convenience init(_ context: ManagedObjectContext, _ text: String) {
        self.init(inserting: context)
        self.text = text
    }
}

extension ObjectKeys where Object == Draft {
    var text: AttributeKey<String> { AttributeKey(path, "text") }
    var order: AttributeKey<ObjectReference<Order>?> { AttributeKey(path, "order") }
}

extension ObjectKeys where Object: Order {
    var amount: AttributeKey<Int64> { AttributeKey(path, "amount") }
}
