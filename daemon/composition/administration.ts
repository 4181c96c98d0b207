/** What administrators do to projects and organizations, composed: deletions break off what is being sent, and wake the removal. */
import { Organizations } from '#core/administration/organizations.ts'
import { Projects } from '#core/administration/projects.ts'
import { Removals } from '#core/administration/removals.ts'
import type { Clock } from '#core/clock.ts'
import type { Attempts } from '#core/delivery/attempt/attempt.ts'
import type { Policies } from '#core/routing/policy/policy.ts'
import type { SettingWrites } from '#core/writes/setting-writes.ts'
import type { Accept } from '#core/submission/accept/accept.ts'
import type { Database } from '#store/database.ts'

export interface AdministrationParts {
  readonly database: Database
  readonly policies: Policies
  readonly clock: Clock
  readonly writes: SettingWrites
  readonly accept: Pick<Accept, 'settled'>
  readonly attempts: Pick<Attempts, 'breakOff'>
  readonly onError: (error: unknown, id: string) => void
}

export interface Administration {
  readonly projects: Projects
  readonly organizations: Organizations
  readonly removals: Removals
}

export function administration({ accept, attempts, onError, ...settings }: AdministrationParts): Administration {
  const removals = new Removals({
    ...settings,
    async settled(organizationId, projectId) {
      await accept.settled()
      await attempts.breakOff(organizationId, projectId === undefined ? undefined : new Set([projectId]))
    },
    onError,
  })
  return {
    projects: new Projects({
      ...settings,
      async onDeleted(organizationId, projectIds) {
        await attempts.breakOff(organizationId, projectIds)
        removals.wake()
      },
    }),
    organizations: new Organizations({ ...settings, onDeleted: (organizationId) => attempts.breakOff(organizationId) }),
    removals,
  }
}
