/**
 * Reports changed lists of an organization to open streams. It observes the counts in every write, so that it costs nothing without open
 * streams. Changes are not stored for absent clients.
 */
import type { Database } from '#store/database.ts'
import type { Tally } from '#store/kv.ts'
import { unpack } from '#store/tuple.ts'
import { listsOf, type ListName } from '../insights/count.ts'
import { levels, wholeOrganization } from '../insights/levels.ts'

export type { ListName }

export interface ListChange {
  readonly list: ListName
  /** Null for entries without a project. */
  readonly projectId: string | null
  /** Number of new entries; 0 if existing entries have changed. */
  readonly added: number
}

export interface Watched {
  readonly organizationId: string
  /** Only changes of this project; undefined for all projects. */
  readonly projectId: string | undefined
}

type Listener = (change: ListChange) => void

interface Watcher extends Watched {
  readonly onChange: Listener
}

export class Changes {
  readonly #watchers = new Map<string, Set<Watcher>>()

  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    database.onTallied((tallies) => {
      if (this.#watchers.size > 0) for (const tally of tallies) this.#report(tally)
    })
  }

  /** Calls `onChange` for every later durable change. Returns a function that stops the calls. */
  watch(watched: Watched, onChange: Listener): () => void {
    const watcher = { ...watched, onChange }
    const { organizationId } = watched
    const unfollow = this.#database.follow(organizationId)
    this.#watchers.set(organizationId, (this.#watchers.get(organizationId) ?? new Set<Watcher>()).add(watcher))
    return () => {
      unfollow()
      const left = this.#watchers.get(organizationId)
      left?.delete(watcher)
      if (left?.size === 0) this.#watchers.delete(organizationId)
    }
  }

  #report({ key, names, delta = 1 }: Tally): void {
    const [organizationId, family, project, , subject] = unpack(key)
    // a late report counts in coarser levels, each also for the whole organization
    const isLate = levels.some(({ name }) => name === family) && family !== levels[0].name && project !== wholeOrganization
    if (family !== levels[0].name && !isLate) return // counts for other purposes
    const watchers = this.#watchers.get(String(organizationId))
    if (!watchers) return
    const projectId = project === '' ? null : String(project)
    for (const [list, added] of listsOf(String(subject), names, delta))
      for (const watcher of watchers)
        if (watcher.projectId === undefined || watcher.projectId === projectId) watcher.onChange({ list, projectId, added })
  }
}
