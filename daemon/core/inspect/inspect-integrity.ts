/** Integrity checks of deliverability tests, for `postern verify`. */
import type { ContentRef } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import type { Element } from '#store/tuple.ts'
import { inspectTests, type InspectTest } from './inspect-test.ts'

/** Checks that the test of a report or pending score exists and has a mail. */
export async function checkInspected(database: Database, organizationId: Element | undefined, id: Element | undefined): Promise<string[]> {
  const stored = await database.get(inspectTests, { organizationId: String(organizationId) }, String(id))
  return stored?.record.mail ? [] : [`the inspect test ${String(id)} that it belongs to is missing or has no mail`]
}

export const mailContent = ({ mail }: InspectTest): readonly ContentRef[] => (mail ? [mail.content] : [])

/** Returns the content with this id if it is the mail of a test. */
export const contentOfTest = async (database: Database, organizationId: string, contentId: string): Promise<ContentRef | undefined> =>
  (await database.find(inspectTests, { organizationId }, 'content', [contentId]))?.record.mail?.content
