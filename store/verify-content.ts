/** Measures content row by row, to compare it with what its owner says. */
import { createHash, type Hash } from 'node:crypto'
import type { ContentRef } from './content.ts'
import type { Bytes } from './kv.ts'
import type { Element } from './tuple.ts'

export class ContentMeasure {
  readonly organizationId: string
  readonly id: string
  readonly #hash: Hash = createHash('sha256')
  rows = 0
  size = 0
  #last = -1

  constructor([organizationId, , id]: readonly Element[]) {
    this.organizationId = String(organizationId)
    this.id = String(id)
  }

  /** Whether a key is of the same content. */
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

  sha256(): string {
    return this.#hash.copy().digest('hex')
  }
}

/** What is stored against what the owner says, one sentence for each difference. */
export function differences(measure: ContentMeasure, owner: ContentRef): readonly string[] {
  const { rows, size } = measure
  if (rows !== owner.rows || size !== owner.size) {
    return [`it has ${size} bytes in ${rows} rows, and its owner says ${owner.size} bytes in ${owner.rows} rows.`]
  }
  return measure.sha256() === owner.sha256 ? measure.gaps() : ['its bytes are not those that its owner took in.']
}
