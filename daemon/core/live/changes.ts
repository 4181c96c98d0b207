/**
 * Says which lists of an organization have changed, to whoever looks at them now. It follows the counts that come with every write, so
 * it costs nothing while no stream is open; nothing is kept for those who are away.
 */
import type { Database } from '#store/database.ts'
import type { Tally } from '#store/kv.ts'
import { unpack } from '#store/tuple.ts'
import { listsOf, type ListName } from '../insights/count.ts'
import { levels } from '../insights/levels.ts'

export type { ListName }

export interface ListChange {
  readonly list: ListName
  /** Null for what is of no project. */
  readonly projectId: string | null
  /** So many entries are new; 0 where entries that were there have changed. */
  readonly added: number
}

export interface Watched {
  readonly organizationId: string
  /** Changes of this project alone; undefined for all. */
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

  /** Calls `onChange` for every change that is durable from now on. Returns what ends that. */
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
    if (family !== levels[0].name) return // counts of something else
    const watchers = this.#watchers.get(String(organizationId))
    if (!watchers) return
    const projectId = project === '' ? null : String(project)
    for (const [list, added] of listsOf(String(subject), names, delta))
      for (const watcher of watchers)
        if (watcher.projectId === undefined || watcher.projectId === projectId) watcher.onChange({ list, projectId, added })
  }
}
