/** Removes the forms of a deleted project with all their data, in small writes. It can stop between any two writes. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { forms, removeForm } from './form.ts'
import { removeLeftSubmissions } from './submissions/remove.ts'

/** `stopping` is called between two writes. */
interface RemovalWork {
  readonly database: Database
  readonly stopping: () => boolean
}

export async function removeForms({ database, stopping }: RemovalWork, organizationId: string, projectId: string): Promise<void> {
  while (!stopping()) {
    const { rows } = await database.list(forms, { organizationId }, { index: 'project', values: [projectId], limit: 1, forWork: true })
    const [stored] = rows
    if (!stored) return removeLeftSubmissions({ database, stopping })
    await database.commit(removeForm(new Change(), organizationId, stored))
  }
}
