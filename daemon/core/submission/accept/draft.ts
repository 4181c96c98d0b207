/** The store's draft as the core uses it: entry points write the content, and `accept` commits it. */
import type { Draft } from '#store/content.ts'
import { newTraceId } from '#store/ids.ts'
import type { FileScan } from './file-scan.ts'
import type { ContentDraft } from '../submission.ts'

export type ContentDraftInStore = ContentDraft & Pick<Draft, 'seal' | 'inMemory' | 'read' | 'replace'>

/**
 * A draft that an entry point writes. After `submit`, `discard` has no effect, so that a client that disconnects cannot remove content that
 * is being accepted.
 */
export class DoorDraft implements ContentDraft {
  readonly traceId = newTraceId()
  readonly #draft: Draft
  readonly #scan: FileScan | undefined
  #submitted = false

  /** `scan` detects files while the content is written. */
  constructor(open: (traceId: string) => Draft, scan?: FileScan) {
    this.#draft = open(this.traceId)
    this.#scan = scan
  }

  /** 1 if the scan found files, else 0. The plan check needs no exact number. */
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

  /** Hands the draft over to the submission. */
  submit(): Draft {
    this.#submitted = true
    return this.#draft
  }
}
