/** Removes the forms of a deleted project, each with all that it has, in small writes that can stop anywhere. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { forms, removeForm } from './form.ts'
import { removeLeftSubmissions } from './submissions/remove.ts'

/** What the removal works with. `stopping` is asked between two writes. */
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
