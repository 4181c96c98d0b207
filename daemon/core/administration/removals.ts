/** Removes in the background what is left of deleted projects, and of organizations whose time of grace is over. */
import { pack, unpack, within } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import type { Timer } from '../clock.ts'
import { WorkLoop } from '../work-loop.ts'
import { projectRemovalKey, removalsKey } from '../tenancy/removal-key.ts'
import { removeOrganization } from './remove-organization.ts'
import { formRemovalWork, removeLeftSubmissions } from '../forms/submissions/remove.ts'
import { removeProject, type RemovalWork } from './remove-project.ts'

export interface RemovalOptions extends Core {
  /** Resolves when nothing that began before the deletion is still on its way into the project, or all of the organization. */
  readonly settled: (organizationId: string, projectId: string | undefined) => Promise<void>
  /** Is notified of defects; the removal is tried again in the next round. */
  readonly onError: (error: unknown, id: string) => void
}

/** Times of grace end at any time; so often it is looked at. */
const everyMs = 3_600_000

export class Removals {
  readonly #options: RemovalOptions
  readonly #rounds: WorkLoop
  #timer: Timer | undefined

  constructor(options: RemovalOptions) {
    this.#options = options
    this.#rounds = new WorkLoop({ round: () => this.#round(), onError: (error) => options.onError(error, '') })
  }

  /** Takes up what an earlier process left, and looks about every hour. */
  start(): void {
    this.#options.database.onWork(formRemovalWork, () => this.wake())
    this.wake()
    this.#timer = this.#options.clock.after(everyMs, () => this.start())
  }

  /** Something was deleted. */
  wake(): void {
    this.#rounds.wake()
  }

  /** Resolves when nothing is being removed. */
  async idle(): Promise<void> {
    await this.#rounds.idle()
  }

  /** Ends between two writes; the next start goes on. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    await this.#rounds.stop()
  }

  async #round(): Promise<void> {
    const { database, clock, settled, onError } = this.#options
    const nowMs = clock.now()
    await removeLeftSubmissions({ database, stopping: () => this.#rounds.stopping }).catch((error: unknown) => onError(error, ''))
    const { start } = within(removalsKey)
    const work: RemovalWork = { database, nowMs, stopping: () => this.#rounds.stopping, keepsLinks: true }
    for await (const { key } of database.kv.range({ start, end: pack([...removalsKey, nowMs + 1]) })) {
      if (this.#rounds.stopping) return
      const [, , at, organization, project] = unpack(key)
      const organizationId = String(organization)
      const projectId = project === undefined ? undefined : String(project)
      try {
        await settled(organizationId, projectId)
        if (projectId === undefined) await removeOrganization({ ...work, keepsLinks: false }, organizationId)
        else await removeProject(work, organizationId, projectId, projectRemovalKey(Number(at), organizationId, projectId))
      } catch (error) {
        onError(error, projectId ?? organizationId)
      }
    }
  }
}
