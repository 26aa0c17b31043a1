/// The objects of one hierarchy that a context knows, by key. It does not keep them alive: an object takes itself out when it goes.
///
/// Keys come in runs, so the table is a set of pages of 1,024 neighbours; the page used last is kept at hand. No hashing of each key, no
/// rehash while it grows.
final class ObjectTable {
    private final class Page {
        let slots: UnsafeMutablePointer<Unmanaged<ManagedObject>?>
        var count = 0

        init() {
            slots = .allocate(capacity: ObjectTable.pageSize)
            slots.initialize(repeating: nil, count: ObjectTable.pageSize)
        }

        deinit { slots.deallocate() }
    }

    private static let pageSize = 1024
    private var pages: [Int64: Page] = [:]
    private var lastNumber: Int64 = -1
    private var lastPage: Page?

    /// The number of objects.
    private(set) var count = 0

    private func page(_ number: Int64) -> Page? {
        if number == lastNumber { return lastPage }
        guard let page = pages[number] else { return nil }
        lastNumber = number
        lastPage = page
        return page
    }

    /// The object of a key.
    func object(_ key: Int64) -> ManagedObject? {
        page(key >> 10)?.slots[Int(key & 1023)]?.takeUnretainedValue()
    }

    /// Adds an object. There must be none of the key.
    func insert(_ object: ManagedObject, key: Int64) {
        let number = key >> 10
        let page: Page
        if let found = self.page(number) {
            page = found
        } else {
            page = Page()
            pages[number] = page
            lastNumber = number
            lastPage = page
        }
        page.slots[Int(key & 1023)] = Unmanaged.passUnretained(object)
        page.count += 1
        count += 1
    }

    /// Removes a key, if it is the given object's.
    func remove(_ object: ManagedObject, key: Int64) {
        let number = key >> 10
        guard let page = page(number) else { return }
        let slot = Int(key & 1023)
        guard page.slots[slot]?.toOpaque() == Unmanaged.passUnretained(object).toOpaque() else { return }
        page.slots[slot] = nil
        page.count -= 1
        count -= 1
        if page.count == 0 {
            pages[number] = nil
            lastNumber = -1
            lastPage = nil
        }
    }

    /// All objects, kept alive by the answer.
    var objects: [ManagedObject] {
        var result: [ManagedObject] = []
        result.reserveCapacity(count)
        for page in pages.values where page.count > 0 {
            for slot in 0..<Self.pageSize {
                if let object = page.slots[slot] { result.append(object.takeUnretainedValue()) }
            }
        }
        return result
    }
}
