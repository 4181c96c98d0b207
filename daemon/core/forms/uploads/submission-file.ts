/** A file of a submission: its record, its stored octets, and its scan row. */
import type { Change } from '#store/change.ts'
import { contentRowKey } from '#store/content.ts'
import { globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'
import type { Answers } from '../definition/definition.ts'
import { storedFormFilesCounter } from '../../tenancy/counters.ts'

/** `unscanned`: the service had no scanner on arrival. The octets of an `infected` file are removed. */
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
  /** Name of the detected virus. */
  virus: z.string().nullable(),
  content: z.strictObject({ id: z.string(), size: z.int(), sha256: z.string(), rows: z.int() }).nullable(),
})

export type SubmissionFile = Immutable<z.infer<typeof submissionFileSchema>>

interface WithFiles {
  readonly id: string
  readonly files: readonly SubmissionFile[]
}

/** Contains the submission id, so that `postern verify` finds the owner of the content. */
export const fileContentId = (submissionId: string, fileId: string): string => `${submissionId}.${fileId}`

/** Returns the stored octets of a submission's files. */
export const weightOfFiles = ({ files }: Pick<WithFiles, 'files'>): number =>
  files.reduce((sum, { content }) => sum + (content?.size ?? 0), 0)

/** Returns the answers with file names in place of file ids. */
export const namedAnswers = ({ answers, files }: { readonly answers: Answers; readonly files: readonly SubmissionFile[] }): Answers =>
  files.length === 0 ? answers : { ...answers, ...Object.fromEntries(files.map(({ field, name }) => [field, name])) }

/** See `Database.onWork`. */
export const scanWork = 'form.scan'

/** Key of a row for a waiting scan. Rows are in order of submission id, so earlier submissions are scanned first. */
export const scanKey = (...rest: readonly Element[]): readonly Element[] => globalKey('form.scan', ...rest)

/** Schedules the scans of files in the write of their submission. `submit.ts` counts their size, because the limit is known there. */
export function followFiles(change: Change, organizationId: string, { id, files }: WithFiles): void {
  const kept = files.filter(({ content }) => content !== null)
  for (const file of kept) change.set(scanKey(id, file.id, organizationId)).schedule(scanWork, id)
}

/** Removes the octets and the scan rows of files in a write. */
export function removeFiles(change: Change, organizationId: string, { id, files }: WithFiles): void {
  for (const { id: fileId, content } of files) {
    if (content === null) continue
    change.delete(scanKey(id, fileId, organizationId))
    for (let row = 0; row < content.rows; row++) change.delete(contentRowKey(organizationId, content.id, row))
  }
  const weight = weightOfFiles({ files })
  if (weight > 0) change.add(storedFormFilesCounter(organizationId), -weight)
}
