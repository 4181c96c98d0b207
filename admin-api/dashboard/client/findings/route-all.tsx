/** Button that routes all mail of a project to its only live destination. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { readAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { mayAdminister, mayChange } from '../app/permissions.ts'
import { showFault } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Finding } from '../wire/api.d.ts'
import { texts } from './findings-texts.ts'

interface Target {
  readonly id: string
  readonly name: string
  readonly projectId: string
}

/** Returns the destination of the button, if the user's role may promote it. */
export function onlyDestination({ kind, state, project_id: projectId, params }: Finding): Target | undefined {
  const { destinationId: id, destination: name, scope } = params
  if (kind !== 'route.missing' || state !== 'open' || projectId === null || id === undefined) return undefined
  const may = scope === 'org' ? mayAdminister : mayChange
  return may.value ? { id: String(id), name: plain(String(name)), projectId } : undefined
}

interface RouteAllProps {
  readonly to: Target
  readonly project: string
}

/** The finding ends at the next check. The button disappears at once. */
export function RouteAll({ to: { id, name, projectId }, project }: RouteAllProps): JSX.Element | null {
  const w = texts()
  const [isBusy, start] = useBusy()
  const [isDone, setDone] = useState(false)
  const undo = (ruleId: string): void => {
    call('DELETE /v1/routing/rules/{id}', { path: { id: ruleId } }).then(() => setDone(false), showFault)
  }
  const route = async (): Promise<void> => {
    try {
      const { rows: before } = await readAll('/v1/routing/rules', { query: { project: projectId } })
      const body = { default_route: true, project_id: projectId }
      const { rule_id: rule } = (await call('POST /v1/destinations/{id}/promote-to-live', { path: { id }, body })).route
      const isNew = rule !== null && !before.some((one) => one.id === rule)
      setDone(true)
      toast(w.allRouted({ project, name }), isNew ? () => undo(rule) : undefined)
    } catch (error) {
      showFault(error)
    }
  }
  if (isDone) return null
  return (
    <button class="button" aria-disabled={isBusy} onClick={() => start(route)}>
      {w.routeAll({ name })}
    </button>
  )
}
