/** Measures content row by row and compares it with the reference in its owner. */
import { createHash, type Hash } from 'node:crypto'
import { contentRowKey, openContentKey, type ContentRef } from '../content.ts'
import type { Database } from '../database.ts'
import type { Bytes } from '../kv.ts'
import { pack, unpack, within, type Element } from '../tuple.ts'

/** Returns the reference of the record that owns a content; undefined without such a record. */
export type ContentOwner = (organizationId: string, contentId: string) => Promise<ContentRef | undefined>

export class ContentMeasure {
  readonly organizationId: string
  readonly id: string
  readonly #hash: Hash = createHash('sha256')
  rows = 0
  size = 0
  #last = -1

  constructor(organizationId: string, id: string) {
    this.organizationId = organizationId
    this.id = id
  }

  /** Returns whether the key belongs to the same content. */
  continues([organizationId, family, id]: readonly Element[]): boolean {
    return id === this.id && family === 'content' && organizationId === this.organizationId
  }

  add([, , , row]: readonly Element[], value: Bytes): void {
    this.rows++
    this.size += value.length
    this.#last = Number(row)
    this.#hash.update(value)
  }

  gaps(): readonly string[] {
    return this.#last === this.rows - 1 ? [] : [`it has ${this.rows} rows, but the last one is number ${this.#last}.`]
  }

  ref(): ContentRef {
    return { id: this.id, size: this.size, sha256: this.#hash.copy().digest('hex'), rows: this.rows }
  }
}

/** Equal results mean equal contents of an organization. */
export const contentSummary = ({ id, size, sha256, rows }: ContentRef): Bytes => Buffer.from(JSON.stringify([id, size, sha256, rows]))

/** Returns problems of a content as it is now. Checks twice, because the content may be in the course of creation or deletion. */
export async function verifyContent(
  database: Database,
  owner: ContentOwner,
  organizationId: string,
  id: string,
): Promise<readonly string[]> {
  const problemsNow = (): Promise<readonly string[]> => contentProblems(database, owner, organizationId, id)
  const problems = (await problemsNow()).length > 0 ? await problemsNow() : []
  return problems.map((problem) => `content ${id} of ${organizationId}: ${problem}`)
}

/** Returns problems for missing contents of a record. */
export async function missingContents(database: Database, organizationId: string, refs: readonly ContentRef[]): Promise<readonly string[]> {
  const lastRows = await database.kv.getMany(refs.map(({ id, rows }) => pack(contentRowKey(organizationId, id, rows - 1))))
  return refs.filter((_, i) => !lastRows[i]).map(({ id }) => `its content ${id} is missing.`)
}

async function contentProblems(database: Database, ownerOf: ContentOwner, organizationId: string, id: string): Promise<readonly string[]> {
  const measure = new ContentMeasure(organizationId, id)
  for await (const { key, value } of database.kv.range(within([organizationId, 'content', id]))) measure.add(unpack(key), value)
  if (measure.rows === 0) return []
  const open = await database.kv.get(pack(openContentKey(organizationId, id)))
  const owner = await ownerOf(organizationId, id)
  if (owner && open) return ['it has an owner and a marker of unfinished content: the next start would remove it.']
  if (owner) return differences(measure, owner)
  return open ? [] : ['nothing refers to it.']
}

function differences(measure: ContentMeasure, owner: ContentRef): readonly string[] {
  const { rows, size, sha256 } = measure.ref()
  if (rows !== owner.rows || size !== owner.size) {
    return [`it has ${size} bytes in ${rows} rows, but its owner says ${owner.size} bytes in ${owner.rows} rows.`]
  }
  return sha256 === owner.sha256 ? measure.gaps() : ['its bytes differ from the hash in its owner.']
}
