/**
 * Compares each block of a LevelDB table with its checksum. A table consists of blocks of rows, a filter, an index of each, and a
 * footer with the places of the indexes. See LevelDB's table_format document.
 */
import type { Rest } from '../../engine/store-kv.ts'
import type { Bytes } from '../../kv.ts'
import { crc32c, masked } from './crc32c.ts'
import { FieldReader } from './field-reader.ts'
import { keyWithin, type TableEntry } from './manifest.ts'
import { inflateSnappy } from './snappy.ts'

export interface TableDamage {
  readonly at: number
  /** The damaged part. A table is readable without its filter, but not without its index or footer. */
  readonly part: 'rows' | 'filter' | 'index' | 'footer' | 'size'
  /** The damaged block. */
  readonly place: Place
  /** Rows from one key to the other, both included, are unreliable. */
  readonly from: Bytes
  readonly upTo: Bytes
}

export interface Place {
  readonly offset: number
  readonly size: number
}

export const footerBytes = 48
const magic = Buffer.from('57fb808b247547db', 'hex')
/** Octets that are compared between two pauses. */
const stepBytes = 128 * 1024

/** Returns all damage in a table. */
export async function damageInTable(table: Buffer, { size, first, last }: TableEntry, rest: Rest): Promise<TableDamage[]> {
  const all = (part: TableDamage['part'], place: Place, at = place.offset): TableDamage[] => [{ at, part, place, from: first, upTo: last }]
  const footer = table.subarray(-footerBytes)
  const footerPlace = { offset: size - footerBytes, size: footerBytes }
  if (table.length !== size) return all('size', footerPlace, Math.min(table.length, size))
  if (size < footerBytes || !footer.subarray(-magic.length).equals(magic))
    return all('footer', footerPlace, Math.max(0, size - magic.length))
  try {
    const [others, rows] = placesIn(footer)
    const index = entriesAt(table, rows)
    if (!index) return all('index', rows)
    const filters = entriesAt(table, others)
    if (!filters) return all('filter', others)
    // a wrong filter hides rows of the whole table
    for (const [, value] of filters) {
      const place = placeIn(new FieldReader(value))
      if (!isWhole(table, place)) return all('filter', place)
    }
    return await damagedBlocks(table, index, first, rest)
  } catch (error) {
    if (error instanceof RangeError) return all('footer', footerPlace)
    throw error
  }
}

/** Returns the places of the index of the filters and of the index of the rows. Throws `RangeError`. */
export function placesIn(table: Buffer): readonly [filters: Place, rows: Place] {
  const fields = new FieldReader(table.subarray(-footerBytes))
  return [placeIn(fields), placeIn(fields)]
}

/** Returns whether a footer is valid and leads to two indexes with correct checksums. */
export function leadsToIndexes(table: Buffer): boolean {
  if (!table.subarray(-magic.length).equals(magic)) return false
  try {
    return placesIn(table).every((place) => isWhole(table, place))
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

type Entries = readonly (readonly [key: Buffer, value: Buffer])[]

async function damagedBlocks(table: Buffer, index: Entries, first: Bytes, rest: Rest): Promise<TableDamage[]> {
  const found: TableDamage[] = []
  let from = first
  let work = 0
  for (const [key, value] of index) {
    const place = placeIn(new FieldReader(value))
    const upTo = keyWithin(key)
    if (!isWhole(table, place)) found.push({ at: place.offset, part: 'rows', place, from, upTo })
    from = Buffer.concat([upTo, Buffer.of(0)])
    work += place.size
    if (work < stepBytes) continue
    work = 0
    await rest()
  }
  return found
}

/** A block is followed by its type, which the checksum covers, and by the masked CRC-32C. */
function isWhole(table: Buffer, { offset, size }: Place): boolean {
  const end = offset + size + 1
  return end + 4 <= table.length && table.readUInt32LE(end) === masked(crc32c(table, offset, end))
}

const placeIn = (fields: FieldReader): Place => ({ offset: fields.number(), size: fields.number() })

/** Returns keys and values of an index; undefined if its checksum is wrong. */
function entriesAt(table: Buffer, place: Place): Entries | undefined {
  if (!isWhole(table, place)) return undefined
  const stored = table.subarray(place.offset, place.offset + place.size)
  const block = table[place.offset + place.size] === 1 ? inflateSnappy(stored) : stored
  const restarts = 4 * (block.length < 4 ? 0 : block.readUInt32LE(block.length - 4)) + 4
  if (restarts === 4) return [] // LevelDB treats it as empty
  if (restarts > block.length) throw new RangeError('A block is shorter than its parts.')
  const fields = new FieldReader(block.subarray(0, block.length - restarts))
  const entries: [Buffer, Buffer][] = []
  let key = Buffer.alloc(0)
  while (fields.left > 0) {
    const [shared, own, length] = [fields.number(), fields.number(), fields.number()]
    key = Buffer.concat([key.subarray(0, shared), fields.octets(own)])
    entries.push([key, fields.octets(length)])
  }
  return entries
}
