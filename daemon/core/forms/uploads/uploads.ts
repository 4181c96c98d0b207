/**
 * The files of one submission on their way in. Each is checked and stored as it comes, before it is known whether the submission is taken;
 * what is not taken goes again, also after a crash.
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

/** A part of a form that is a file. */
export interface FilePart {
  readonly key: string
  readonly name: string
  readonly octets: AsyncIterable<Buffer>
}

/** What was sent for a field: a file, or what is wrong with it. */
export interface Upload {
  readonly key: string
  readonly size: number
  readonly kind?: FileKind
  readonly problem?: AnswerProblem
  /** To tell the same answers from others. */
  readonly sha256: string
}

interface StoredUpload extends Upload {
  readonly file?: SubmissionFile
  readonly draft?: Draft
}

/** Whose files they would be. */
export interface UploadTarget {
  readonly organizationId: string
  readonly takesFiles: boolean
}

export interface UploadsOptions {
  readonly database: Database
  /** Finds whose form it is, and throws what keeps the visitor from it; asked once, when the first file comes. */
  readonly open: () => Promise<UploadTarget>
  /** Is notified of the end. */
  readonly close: () => void
  /** Of files that have no virus that is known at once. */
  readonly status: FileStatus
  readonly nowMs: number
}

/** Whether the plan has room for files of forms at all. */
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
  /** A file came for a form that takes none. */
  isRefused = false

  constructor(options: UploadsOptions) {
    this.#options = options
    this.submissionId = options.database.newId('sub', options.nowMs)
  }

  /** The form, the origin and the rates were looked at. */
  get isOpen(): boolean {
    return this.#target !== undefined
  }

  get all(): readonly Upload[] {
    return this.#uploads
  }

  /** Reads a part to its end. One without a name and without octets is a control in which no file was chosen. */
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

  /** More files than one form can have. */
  refuse(keys: readonly string[]): void {
    for (const key of keys) this.#uploads.push({ key, size: 0, sha256: '', problem: tooMany })
  }

  /** Adds the files of these fields to the write that takes the submission. */
  seal(change: Change, keys: ReadonlySet<string>): readonly SubmissionFile[] {
    return this.#uploads.flatMap(({ key, file, draft }) => {
      if (!file || !keys.has(key)) return []
      draft?.seal(change)
      return [file]
    })
  }

  /** The write with these files was done. */
  taken(files: readonly SubmissionFile[]): void {
    this.#takenIds = new Set(files.map(({ id }) => id))
  }

  /** Removes what was not taken. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const { draft, file } of this.#uploads) await draft?.discard(file && this.#takenIds.has(file.id))
    } finally {
      this.#options.close()
    }
  }

  /** Undefined where the form takes no files: then what comes is read and thrown away. */
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

/** Throws `upload_failed` where the store does not take it. */
async function stored(written: void | Promise<void>): Promise<void> {
  try {
    await written
  } catch (cause) {
    if (cause instanceof Refusal) throw cause
    throw new Refusal('upload_failed', 'The file could not be stored; send the form again in a moment.', { cause, retryAfterSeconds: 30 })
  }
}
