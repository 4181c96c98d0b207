/**
 * Repairs a LevelDB table. The checksum of a block locates a single flipped bit, which is corrected. A block of rows with more
 * damage is replaced by an empty block of the same size. Otherwise LevelDB would end the process in an assertion, or copy wrong rows.
 */
import { crc32c, flippedBit, masked } from './crc32c.ts'
import type { TableEntry } from './manifest.ts'
import { damageInTable, footerBytes, leadsToIndexes, placesIn, type Place, type TableDamage } from './table-file.ts'

export interface MendedTable {
  readonly content: Buffer
  /** Offsets of octets with a corrected bit. */
  readonly corrected: readonly number[]
  /** Blocks whose rows are lost. */
  readonly emptied: readonly TableDamage[]
}

/** Returns the repaired table; undefined if it cannot be repaired. */
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

/** Corrects a single flipped bit. Returns the offset of its octet; undefined if there are more wrong bits. */
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

/**
 * Corrects a single flipped bit in the footer, which has no checksum. Tries each bit until the footer leads to two valid indexes. Returns
 * the offset of its octet; undefined if no bit fits.
 */
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

/** Replaces the content of a block by zeros, which make an empty block, and sets its checksum. */
function empty(content: Buffer, { offset, size }: Place): void {
  const end = offset + size + 1
  content.fill(0, offset, end)
  content.writeUInt32LE(masked(crc32c(content, offset, end)), end)
}
