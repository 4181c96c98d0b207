/** Rows and files of one backup, and the rows of a chain of incremental backups. */
import type { SnapshotRow } from '../engine/snapshot.ts'
import { BackupDamaged, readFrames, rowOf, type Begin, type End, type Frame } from './frames.ts'

/** A file of the data folder. Read its content before the next file. */
export interface BackupFile {
  readonly path: string
  readonly mode: number
  readonly content: AsyncIterable<Uint8Array>
}

/**
 * Reads `begin`, then all `rows`, then all `files`. Throws `BackupDamaged` for frames that are missing, unexpected or in the wrong order.
 */
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

  /** Returns the rows in key order. */
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

  /** Returns the files. At the end it compares the counts in the backup with the frames. */
  async *files(): AsyncGenerator<BackupFile> {
    for (;;) {
      const frame = await this.#take()
      if (frame.type === 'end') {
        const { rows, files } = jsonIn(frame) as End
        if (rows !== this.#rows || files !== this.#files) throw damaged()
        await this.#frames.next() // a frame after the end would be damage
        return
      }
      if (frame.type !== 'file') throw damaged()
      this.#files++
      const { mode } = jsonIn(frame) as { readonly mode: number }
      const content = this.#pieces()
      yield { path: Buffer.from(frame.key).toString('utf8'), mode, content }
      for await (const _ of content); // discards unread content
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

/** Returns the rows of the last backup, with values from anywhere in the chain. The first backup must be a full one. */
export function chainedRows([first, ...rest]: readonly AsyncGenerator<SnapshotRow>[]): AsyncGenerator<SnapshotRow> {
  let rows = withoutGaps(first ?? noRows())
  for (const next of rest) rows = filledFrom(rows, next)
  return rows
}

async function* noRows(): AsyncGenerator<SnapshotRow> {}

async function* withoutGaps(rows: AsyncGenerator<SnapshotRow>): AsyncGenerator<SnapshotRow> {
  for await (const row of rows) {
    if (row.kind === 'same') throw new BackupDamaged('This is an incremental backup. Name the earlier backups of its chain first.')
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
  while (found.done !== true) found = await earlier.next() // reads the earlier backup to its end to find damage in it
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
