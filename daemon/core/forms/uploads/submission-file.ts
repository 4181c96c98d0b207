/** A file that came with a submission: what is said of it in the record, its octets in the store, and the row by which it is scanned. */
import type { Change } from '#store/change.ts'
import { contentRowKey } from '#store/content.ts'
import { globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'
import type { Answers } from '../definition/definition.ts'
import { storedFormFilesCounter } from '../../tenancy/counters.ts'

/** `unscanned`: the service had no scanner when it came. Of one that is `infected`, nothing but this is left. */
export const fileStatuses = ['pending', 'clean', 'infected', 'unscanned'] as const
export type FileStatus = (typeof fileStatuses)[number]

export const submissionFileSchema = z.strictObject({
  id: z.string(),
  /** Key of the field. */
  field: z.string(),
  name: z.string(),
  contentType: z.string(),
  size: z.int(),
  sha256: z.string(),
  status: z.enum(fileStatuses),
  /** What the scanner found. */
  virus: z.string().nullable(),
  content: z.strictObject({ id: z.string(), size: z.int(), sha256: z.string(), rows: z.int() }).nullable(),
})

export type SubmissionFile = Immutable<z.infer<typeof submissionFileSchema>>

interface WithFiles {
  readonly id: string
  readonly files: readonly SubmissionFile[]
}

/** Names the submission too, so that `verify` finds whose content it is. */
export const fileContentId = (submissionId: string, fileId: string): string => `${submissionId}.${fileId}`

/** Octets that an organization keeps of the files of a submission. */
export const weightOfFiles = ({ files }: Pick<WithFiles, 'files'>): number =>
  files.reduce((sum, { content }) => sum + (content?.size ?? 0), 0)

/** The answers as people read them: of a file, its name. */
export const namedAnswers = ({ answers, files }: { readonly answers: Answers; readonly files: readonly SubmissionFile[] }): Answers =>
  files.length === 0 ? answers : { ...answers, ...Object.fromEntries(files.map(({ field, name }) => [field, name])) }

/** See `Database.onWork`. */
export const scanWork = 'form.scan'

/** Rows of files that were not scanned yet, in the order in which they came. */
export const scanKey = (...rest: readonly Element[]): readonly Element[] => globalKey('form.scan', ...rest)

/** Adds to the write that takes a submission that its files are to be scanned. Their weight is counted where its limit is known. */
export function followFiles(change: Change, organizationId: string, { id, files }: WithFiles): void {
  const kept = files.filter(({ content }) => content !== null)
  for (const file of kept) change.set(scanKey(id, file.id, organizationId)).schedule(scanWork, id)
}

/** Adds to a write that the octets of these files go. */
export function removeFiles(change: Change, organizationId: string, { id, files }: WithFiles): void {
  for (const { id: fileId, content } of files) {
    if (content === null) continue
    change.delete(scanKey(id, fileId, organizationId))
    for (let row = 0; row < content.rows; row++) change.delete(contentRowKey(organizationId, content.id, row))
  }
  const weight = weightOfFiles({ files })
  if (weight > 0) change.add(storedFormFilesCounter(organizationId), -weight)
}
