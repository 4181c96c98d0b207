/**
 * Mends one of LevelDB's tables. A flipped bit is corrected, since the checksum of a block tells which one it is. A block of rows with more
 * damage is replaced by an empty block of the same size: LevelDB would otherwise end the process in an assertion, or copy wrong rows.
 */
import { crc32c, flippedBit, masked } from './crc32c.ts'
import type { TableEntry } from './manifest.ts'
import { damageInTable, footerBytes, leadsToIndexes, placesIn, type Place, type TableDamage } from './table-file.ts'

export interface MendedTable {
  readonly content: Buffer
  /** Offsets of the octets in which a flipped bit was corrected. */
  readonly corrected: readonly number[]
  /** Blocks whose rows are lost. */
  readonly emptied: readonly TableDamage[]
}

/** Undefined for a table that cannot be mended. */
export async function mendTable(table: Buffer, entry: TableEntry): Promise<MendedTable | undefined> {
  const content = Buffer.from(table)
  const corrected: number[] = []
  const emptied: TableDamage[] = []
  for (let damage = await look(content, entry); damage.length > 0; damage = await look(content, entry)) {
    for (const one of damage) {
      const at = correct(content, one)
      if (at !== undefined) corrected.push(at)
      else if (one.part === 'rows') {
        empty(content, one.place)
        emptied.push(one)
      } else if (one.part === 'filter') empty(content, placesIn(content)[0])
      else return undefined
    }
  }
  return { content, corrected, emptied }
}

const look = (content: Buffer, entry: TableEntry): Promise<TableDamage[]> => damageInTable(content, entry, () => {})

/** Returns the offset of the octet. */
function correct(content: Buffer, { part, place }: TableDamage): number | undefined {
  if (part === 'size') return undefined
  const bit = part === 'footer' ? undefined : bitOfBlock(content, place)
  if (bit) {
    content[bit.at] = (content[bit.at] ?? 0) ^ bit.mask
    return bit.at
  }
  return part === 'footer' || part === 'index' ? correctFooter(content) : undefined
}

function bitOfBlock(content: Buffer, { offset, size }: Place): ReturnType<typeof flippedBit> {
  const end = offset + size + 1
  return end + 4 <= content.length ? flippedBit(content, offset, end, end) : undefined
}

/** The footer has no checksum: a bit of it was flipped if both indexes are found without it. */
function correctFooter(content: Buffer): number | undefined {
  for (let at = content.length - footerBytes; at < content.length; at++) {
    for (let mask = 1; mask < 256; mask <<= 1) {
      content[at] = (content[at] ?? 0) ^ mask
      if (leadsToIndexes(content)) return at
      content[at] = (content[at] ?? 0) ^ mask
    }
  }
  return undefined
}

/** A block without rows: the number of its restart points is 0. */
function empty(content: Buffer, { offset, size }: Place): void {
  const end = offset + size + 1
  content.fill(0, offset, end)
  content.writeUInt32LE(masked(crc32c(content, offset, end)), end)
}
