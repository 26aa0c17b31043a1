import Foundation

extension RowBatchBuilder {
    /// Fills a slot with a boxed value, for stores that do not need the fastest path. ``Value/null`` leaves the slot
    /// nil.
    /// - Returns: false, and the slot nil, if the value is not of the slot's type.
    @discardableResult
    public mutating func setValue(_ value: Value, slot: SlotDescription) -> Bool {
        let index = slot.index
        switch (slot.storage, value) {
        case (_, .null): return true
        case (.integer, .integer(let number)): setInteger(number, slot: index)
        case (.key, .object(let key)): setInteger(key, slot: index)
        case (.boolean, .boolean(let flag)): setInteger(flag ? 1 : 0, slot: index)
        case (.double, .double(let number)): setDouble(number, slot: index)
        case (.double, .integer(let number)): setDouble(Double(number), slot: index)
        case (.date, .date(let date)): setDouble(date.timeIntervalSinceReferenceDate, slot: index)
        case (.text, _) where slot.type?.isJSON == true:
            guard let text = JSONText.text(of: value) else { return false }
            setText(text, slot: index)
        case (.text, .string(let text)): setText(text, slot: index)
        case (.text, .uri(let url)): setText(url.absoluteString, slot: index)
        case (.decimal, .decimal(let number)): setText(number.description, slot: index)
        case (.decimal, .integer(let number)): setText(String(number), slot: index)
        case (.bytes, .binary(let data)): data.withUnsafeBytes { setBytes($0, slot: index) }
        case (.uuid, .uuid(let uuid)): withUnsafeBytes(of: uuid.uuid) { setBytes($0, slot: index) }
        case (.geoPoint, .geoPoint(let point)):
            let words = (point.latitude.bitPattern.littleEndian, point.longitude.bitPattern.littleEndian)
            withUnsafeBytes(of: words) { setBytes($0, slot: index) }
        default: return false
        }
        return true
    }
}
