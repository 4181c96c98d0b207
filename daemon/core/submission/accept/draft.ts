/** The store's draft as the core uses it: what a door writes to, plus what `accept` needs to make it count. */
import type { Draft } from '#store/content.ts'
import { newTraceId } from '#store/ids.ts'
import type { FileScan } from './file-scan.ts'
import type { ContentDraft } from '../submission.ts'

export type ContentDraftInStore = ContentDraft & Pick<Draft, 'seal' | 'inMemory' | 'read' | 'replace'>

/**
 * A draft in the hands of a door. Once the door has submitted it, only the submission decides its fate: a door
 * that gives up meanwhile, because its client left, must not take the content away from a message that is being accepted.
 */
export class DoorDraft implements ContentDraft {
  readonly traceId = newTraceId()
  readonly #draft: Draft
  readonly #scan: FileScan | undefined
  #submitted = false

  /** `scan` looks for files on the way, where that matters. */
  constructor(open: (traceId: string) => Draft, scan?: FileScan) {
    this.#draft = open(this.traceId)
    this.#scan = scan
  }

  /** How many files were seen, as far as that matters: one stands for any number. */
  get files(): number {
    return this.#scan?.hasFile ? 1 : 0
  }

  get size(): number {
    return this.#draft.size
  }

  write(chunk: Uint8Array): void | Promise<void> {
    this.#scan?.read(chunk)
    return this.#draft.write(chunk)
  }

  async discard(): Promise<void> {
    if (!this.#submitted) await this.#draft.discard()
  }

  /** The draft itself, for the one submission. */
  submit(): Draft {
    this.#submitted = true
    return this.#draft
  }
}
