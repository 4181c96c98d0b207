/** Integrity checks of submission files, for `postern verify`. */
import type { ContentRef } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import type { Element } from '#store/tuple.ts'
import { formSubmissions, type FormSubmission } from '../submissions/submission.ts'
import { fileContentId } from './submission-file.ts'

export const fileContents = ({ files }: FormSubmission): readonly ContentRef[] => files.flatMap(({ content }) => content ?? [])

/** Returns the content with this id if a submission has it. */
export async function fileContentOf(database: Database, organizationId: string, id: string): Promise<ContentRef | undefined> {
  const [submissionId = ''] = id.split('.')
  if (!submissionId.startsWith('sub_')) return undefined
  const stored = await database.get(formSubmissions, { organizationId }, submissionId)
  return stored?.record.files.flatMap(({ content }) => content ?? []).find((content) => content.id === id)
}

/** Checks that the file of a scan row exists. */
export async function checkScan(database: Database, [, , submissionId, fileId, organizationId]: readonly Element[]): Promise<string[]> {
  const id = fileContentId(String(submissionId), String(fileId))
  return (await fileContentOf(database, String(organizationId), id)) ? [] : [`the file ${String(fileId)} that is to be scanned is missing`]
}
