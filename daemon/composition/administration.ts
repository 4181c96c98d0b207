/** Composes the administration of projects and organizations. A deletion aborts delivery attempts and starts the removal of data. */
import { Endings } from '#core/administration/endings.ts'
import { Organizations } from '#core/administration/organizations.ts'
import { Projects } from '#core/administration/projects.ts'
import { removals } from '#core/administration/removals.ts'
import type { Administration } from './composed.ts'
import { alertsSwitched } from './layers/alerts.ts'
import { broke, type Composition } from './parts.ts'
import { workNames } from './works/work-names.ts'

export function administration(composition: Composition): Administration {
  const { get } = composition
  const core = get('core')
  const { daemons } = core.database
  const endings = new Endings({ daemons, accept: get('accept'), attempts: get('attempts') })
  const removing = removals({
    ...core,
    settle: get('settle'),
    async settled(organizationId, projectId) {
      await endings.ofAcceptances()
      if (projectId === undefined) await get('billing').closing.closeRemoved(organizationId)
      await endings.ofAttempts(organizationId, projectId === undefined ? undefined : new Set([projectId]))
    },
    onError: broke(composition, 'a removal'),
  })
  const onDeleted = async (organizationId: string, projectIds?: ReadonlySet<string>): Promise<void> => {
    await endings.ofAttempts(organizationId, projectIds)
    daemons.wake(workNames.removals, () => removing.wake())
  }
  return {
    projects: new Projects({ ...core, onDeleted }),
    organizations: new Organizations({ ...core, ...alertsSwitched(composition), onDeleted: (organizationId) => onDeleted(organizationId) }),
    removals: removing,
  }
}
