/**
 * The files of one submission while they arrive. Each file is checked and stored before the submission is accepted. Files of a refused
 * submission are removed, also after a crash.
 */
import { Change } from '#store/change.ts'
import { Draft, type ContentRef } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { limitsOf, type LimitSettings } from '../../plan/limits.ts'
import { Refusal } from '../../refusals.ts'
import { definitionLimits } from '../definition/definition.ts'
import type { AnswerProblem } from '../definition/answers.ts'
import { FileCheck } from './file-check.ts'
import { fileKinds, fileName, type FileKind } from './file-kinds.ts'
import { fileContentId, type FileStatus, type SubmissionFile } from './submission-file.ts'
import { TestVirusSearch, testVirusName } from './test-virus.ts'

/** A file part of a multipart form. */
export interface FilePart {
  readonly key: string
  readonly name: string
  readonly octets: AsyncIterable<Buffer>
}

/** The file of a field, or its problem. */
export interface Upload {
  readonly key: string
  readonly size: number
  readonly kind?: FileKind
  readonly problem?: AnswerProblem
  /** Distinguishes repeated from different content. */
  readonly sha256: string
}

interface StoredUpload extends Upload {
  readonly file?: SubmissionFile
  readonly draft?: Draft
}

/** The owner of the files. */
export interface UploadTarget {
  readonly organizationId: string
  readonly takesFiles: boolean
}

export interface UploadsOptions {
  readonly database: Database
  /** Finds the form. Throws a refusal if the visitor may not submit it. Called once, at the first file. */
  readonly open: () => Promise<UploadTarget>
  /** Called at disposal. */
  readonly close: () => void
  /** Status of files without a known test virus. */
  readonly status: FileStatus
  readonly nowMs: number
}

/** Whether the plan has storage for form files. */
export const takesFiles = (settings: LimitSettings): boolean => limitsOf(settings).formFileMebibytes !== 0

const sizeOf = (bytes: number): string =>
  bytes < 2 ** 20 ? `${Math.floor(bytes / 102.4) / 10} kB` : `${Math.floor(bytes / 104_857.6) / 10} MB`

export const tooLargeProblem = (maxBytes: number): AnswerProblem => ({
  code: 'file_too_large',
  message: `Choose a file of at most ${sizeOf(maxBytes)}.`,
})

export class Uploads {
  readonly submissionId: string
  readonly #options: UploadsOptions
  readonly #uploads: StoredUpload[] = []
  #target: Promise<UploadTarget> | undefined
  #takenIds: ReadonlySet<string> = new Set()
  /** True if a file was sent to a form that accepts no files. */
  isRefused = false

  constructor(options: UploadsOptions) {
    this.#options = options
    this.submissionId = options.database.newId('sub', options.nowMs)
  }

  /** True if `open` was called, so form, origin and rate are already checked. */
  get isOpen(): boolean {
    return this.#target !== undefined
  }

  get all(): readonly Upload[] {
    return this.#uploads
  }

  /** Reads a part to its end. A part without a name and octets is a file control without a selected file. */
  async take({ key, name, octets }: FilePart): Promise<void> {
    const [check, virus] = [new FileCheck(), new TestVirusSearch()]
    let size = 0
    let draft: Draft | undefined
    const fileId = this.#options.database.newId('fil', this.#options.nowMs)
    try {
      for await (const chunk of octets) {
        size += chunk.length
        const isDropped = size > definitionLimits.fileBytes || check.isRefused || this.isRefused
        if (isDropped) continue
        draft ??= await this.#draft(fileId)
        check.write(chunk)
        virus.write(chunk)
        if (!check.isRefused) await stored(draft?.write(chunk))
      }
    } catch (error) {
      await draft?.discard()
      throw error
    }
    if (size === 0 && name === '') return
    const { fault, kind } = { fault: undefined, kind: undefined, ...check.end() }
    const problem = this.#problemOf(key) ?? (size > definitionLimits.fileBytes ? tooLargeProblem(definitionLimits.fileBytes) : fault)
    if (problem || kind === undefined || !draft) {
      await draft?.discard()
      this.#uploads.push({ key, size, sha256: '', ...(problem && { problem }) })
      return
    }
    const ref = draft.seal(new Change())
    if (virus.isFound) await draft.discard()
    const file = this.#fileOf({ fileId, key, name, kind, ref, isInfected: virus.isFound })
    this.#uploads.push({ key, size, kind, sha256: ref.sha256, file, ...(!virus.isFound && { draft }) })
  }

  /** Adds a `too_many_files` problem for each of these fields. Their files exceed the maximum number per submission and are not read. */
  refuse(keys: readonly string[]): void {
    for (const key of keys) this.#uploads.push({ key, size: 0, sha256: '', problem: tooMany })
  }

  /** Adds the files of these fields to the write that accepts the submission. */
  seal(change: Change, keys: ReadonlySet<string>): readonly SubmissionFile[] {
    return this.#uploads.flatMap(({ key, file, draft }) => {
      if (!file || !keys.has(key)) return []
      draft?.seal(change)
      return [file]
    })
  }

  /** Records that the write with these files is durable. */
  taken(files: readonly SubmissionFile[]): void {
    this.#takenIds = new Set(files.map(({ id }) => id))
  }

  /** Removes the files that were not accepted. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const { draft, file } of this.#uploads) await draft?.discard(file && this.#takenIds.has(file.id))
    } finally {
      this.#options.close()
    }
  }

  /** Returns undefined if the form accepts no files; the octets are then read and discarded. */
  async #draft(fileId: string): Promise<Draft | undefined> {
    const { organizationId, takesFiles } = await (this.#target ??= this.#options.open())
    this.isRefused = !takesFiles
    return takesFiles ? new Draft(this.#options.database, organizationId, fileContentId(this.submissionId, fileId)) : undefined
  }

  #problemOf(key: string): AnswerProblem | undefined {
    return this.#uploads.some((other) => other.key === key) ? tooMany : undefined
  }

  #fileOf(given: {
    readonly fileId: string
    readonly key: string
    readonly name: string
    readonly kind: FileKind
    readonly ref: ContentRef
    readonly isInfected: boolean
  }): SubmissionFile {
    const { fileId, key, name, kind, ref, isInfected } = given
    return {
      ...{ id: fileId, field: key, name: fileName(name, kind), contentType: fileKinds[kind].contentType },
      ...{ size: ref.size, sha256: ref.sha256 },
      ...(isInfected
        ? { status: 'infected', virus: testVirusName, content: null }
        : { status: this.#options.status, virus: null, content: ref }),
    }
  }
}

const tooMany: AnswerProblem = {
  code: 'too_many_files',
  message: `Send one file for each field, and at most ${definitionLimits.files} in all.`,
}

/** Throws `upload_failed` if the store fails. */
async function stored(written: void | Promise<void>): Promise<void> {
  try {
    await written
  } catch (cause) {
    if (cause instanceof Refusal) throw cause
    throw new Refusal('upload_failed', 'The file could not be stored; send the form again in a moment.', { cause, retryAfterSeconds: 30 })
  }
}
