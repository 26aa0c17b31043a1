/// The objects of one hierarchy that a context knows, by key. It does not keep them alive: an object removes itself
/// when it is released.
///
/// Keys come in runs, so the table is a set of pages of 1,024 neighbours; the most recently used page is cached. No
/// hashing of each key, no rehash while it grows.
final class ObjectTable {
    /// A count, and 1,024 references that are not counted. Pages are taken and given back by hand, because counting
    /// references to them would cost more than the lookup; nothing outside of this file sees one.
    private struct Page {
        let memory: UnsafeMutablePointer<Int>

        static func make() -> Page {
            let memory = UnsafeMutablePointer<Int>.allocate(capacity: ObjectTable.pageSize + 1)
            memory.initialize(repeating: 0, count: ObjectTable.pageSize + 1)
            return Page(memory: memory)
        }

        func free() { memory.deallocate() }

        var count: Int {
            get { memory[0] }
            nonmutating set { memory[0] = newValue }
        }

        subscript(slot: Int) -> Int {
            get { memory[slot + 1] }
            nonmutating set { memory[slot + 1] = newValue }
        }

        func reference(_ slot: Int) -> Unmanaged<ManagedObject>? {
            UnsafeRawPointer(bitPattern: self[slot]).map { Unmanaged<ManagedObject>.fromOpaque($0) }
        }
    }

    private static let pageSize = 1024
    private static let noPage = Int64.min
    /// Keys below 67 million, which are all that most stores ever have, find their page only by its number.
    private static let directLimit: Int64 = 1 << 16
    @exclusivity(unchecked) private var direct: [Page?] = []
    /// The pages of greater keys.
    private var pages: [Int64: Page] = [:]
    // These are read and written as a whole with no call in between, so there is no overlapping access to look for at
    // run time.
    /// The number of ``lastPage``. No key has a page of the number that stands for none.
    @exclusivity(unchecked) private var lastNumber = ObjectTable.noPage
    @exclusivity(unchecked) private var lastPage: Page?

    /// A page without objects, kept for the next one that is needed: contexts that look at one object after the other would
    /// take and clear a page for each.
    @exclusivity(unchecked) private var spare: Page?

    /// The number of objects.
    private(set) var count = 0

    deinit { freePages() }

    private func freePages() {
        for page in allPages { page.free() }
        spare?.free()
        spare = nil
    }

    @inline(__always)
    private func page(_ number: Int64) -> Page? {
        number == lastNumber ? lastPage : otherPage(number)
    }

    private func otherPage(_ number: Int64) -> Page? {
        let found: Page?
        if number >= 0, number < Self.directLimit {
            found = number < direct.count ? direct[Int(number)] : nil
        } else {
            found = pages[number]
        }
        guard let found else { return nil }
        lastNumber = number
        lastPage = found
        return found
    }

    private func setPage(_ page: Page?, _ number: Int64) {
        if number >= 0, number < Self.directLimit {
            while direct.count <= number { direct.append(nil) }
            direct[Int(number)] = page
        } else {
            pages[number] = page
        }
        lastNumber = page == nil ? Self.noPage : number
        lastPage = page
    }

    private var allPages: [Page] { direct.compactMap { $0 } + pages.values }

    /// The object of a key.
    func object(_ key: Int64) -> ManagedObject? {
        reference(key)?.takeUnretainedValue()
    }

    /// The object of a key without counting a reference to it; it lives as long as others hold it.
    @inline(__always)
    func reference(_ key: Int64) -> Unmanaged<ManagedObject>? {
        page(key >> 10)?.reference(Int(key & 1023))
    }

    /// Adds an object. There must be none of the key.
    func insert(_ object: ManagedObject, key: Int64) {
        let number = key >> 10
        let page: Page
        if let found = self.page(number) {
            page = found
        } else {
            page = spare ?? Page.make()
            spare = nil
            setPage(page, number)
        }
        page[Int(key & 1023)] = Int(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        page.count += 1
        count += 1
    }

    /// Removes a key, if it is the given object's.
    func remove(_ object: ManagedObject, key: Int64) {
        let number = key >> 10
        guard let page = page(number) else { return }
        let slot = Int(key & 1023)
        guard page[slot] == Int(bitPattern: Unmanaged.passUnretained(object).toOpaque()) else { return }
        page[slot] = 0
        page.count -= 1
        count -= 1
        if page.count == 0 {
            setPage(nil, number)
            if spare == nil { spare = page } else { page.free() }
        }
    }

    /// All objects, kept alive by the answer.
    var objects: [ManagedObject] { objects { _ in true } }

    /// The objects that meet a condition, kept alive by the answer.
    func objects(where condition: (ManagedObject) -> Bool) -> [ManagedObject] {
        var result: [ManagedObject] = []
        for page in allPages {
            for slot in 0..<Self.pageSize {
                if let object = page.reference(slot)?.takeUnretainedValue(), condition(object) { result.append(object) }
            }
        }
        return result
    }

    /// Forgets all objects.
    func removeAll() {
        freePages()
        direct = []
        pages = [:]
        lastNumber = Self.noPage
        lastPage = nil
        count = 0
    }
}
