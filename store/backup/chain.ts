/** One backup as its rows and files, and the rows of a chain of backups in which each goes on from the one before it. */
import type { SnapshotRow } from '../engine/snapshot.ts'
import { BackupDamaged, readFrames, rowOf, type Begin, type End, type Frame } from './frames.ts'

/** A file of the data folder; its content must be read before the next one. */
export interface BackupFile {
  readonly path: string
  readonly mode: number
  readonly content: AsyncIterable<Uint8Array>
}

/** Reads `begin`, then `rows` to their end, then `files`. What is out of order, missing or too much is `BackupDamaged`. */
export class BackupReader {
  readonly #frames: AsyncIterator<Frame>
  #next: Frame | undefined
  #rows = 0
  #files = 0

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#frames = readFrames(bytes)
  }

  get counts(): End {
    return { rows: this.#rows, files: this.#files }
  }

  async begin(): Promise<Begin> {
    const frame = await this.#take()
    if (frame.type !== 'begin') throw damaged()
    return jsonIn(frame) as Begin
  }

  /** In the order of their keys. */
  async *rows(): AsyncGenerator<SnapshotRow> {
    let last: Uint8Array | undefined
    for (;;) {
      const frame = await this.#take()
      const row = rowOf(frame)
      if (!row) {
        this.#next = frame
        return
      }
      if (last && Buffer.compare(last, row.key) >= 0) throw damaged()
      last = row.key
      this.#rows++
      yield row
    }
  }

  /** Ends at the end of the backup, whose counts must be those that were seen. */
  async *files(): AsyncGenerator<BackupFile> {
    for (;;) {
      const frame = await this.#take()
      if (frame.type === 'end') {
        const { rows, files } = jsonIn(frame) as End
        if (rows !== this.#rows || files !== this.#files) throw damaged()
        await this.#frames.next() // what came behind would be damage
        return
      }
      if (frame.type !== 'file') throw damaged()
      this.#files++
      const { mode } = jsonIn(frame) as { readonly mode: number }
      const content = this.#pieces()
      yield { path: Buffer.from(frame.key).toString('utf8'), mode, content }
      for await (const _ of content); // what was not read
    }
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const frame = await this.#take()
      if (frame.type !== 'piece') {
        this.#next = frame
        return
      }
      yield frame.body
    }
  }

  async #take(): Promise<Frame> {
    const waiting = this.#next
    this.#next = undefined
    if (waiting) return waiting
    const { value, done } = await this.#frames.next()
    if (done === true) throw damaged()
    return value
  }
}

/** The rows of the last of them, each with its value, wherever in the chain that is. The first is a full backup. */
export function chainedRows([first, ...rest]: readonly AsyncGenerator<SnapshotRow>[]): AsyncGenerator<SnapshotRow> {
  let rows = withoutGaps(first ?? noRows())
  for (const next of rest) rows = filledFrom(rows, next)
  return rows
}

async function* noRows(): AsyncGenerator<SnapshotRow> {}

async function* withoutGaps(rows: AsyncGenerator<SnapshotRow>): AsyncGenerator<SnapshotRow> {
  for await (const row of rows) {
    if (row.kind === 'same') throw new BackupDamaged('This is an incremental backup; give those that it goes on from first.')
    yield row
  }
}

async function* filledFrom(earlier: AsyncGenerator<SnapshotRow>, later: AsyncGenerator<SnapshotRow>): AsyncGenerator<SnapshotRow> {
  let found = await earlier.next()
  for await (const row of later) {
    if (row.kind !== 'same') {
      yield row
      continue
    }
    while (found.done !== true && Buffer.compare(found.value.key, row.key) < 0) found = await earlier.next()
    if (found.done === true || Buffer.compare(found.value.key, row.key) !== 0) throw damaged()
    yield found.value
  }
  while (found.done !== true) found = await earlier.next() // to its end, so that it is read as a whole
}

const damaged = (): BackupDamaged => new BackupDamaged('The backup is damaged: its parts do not agree.')

function jsonIn({ body }: Frame): object {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    throw damaged()
  }
  if (typeof value === 'object' && value !== null) return value
  throw damaged()
}
