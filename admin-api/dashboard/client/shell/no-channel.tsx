/** Banner above every screen of an organization without a channel that gets alerts of all projects. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { link } from '../app/location.ts'
import { mayAdminister } from '../app/permissions.ts'
import { Mark } from '../parts/mark.tsx'
import { texts } from '../texts/shell-texts.ts'

const lookMs = 60_000

/** Renders nothing while it reads channels and findings. Requires a role that may read both. */
export function NoChannel(): JSX.Element | null {
  const w = texts()
  const channels = useAll('/v1/alert-channels', {}, { every: lookMs }).read.data
  const query = { state: 'open', group: 'service' } as const
  const findings = useAll('/v1/findings', { query }, { every: lookMs }).read.data
  if (!channels || !findings) return null
  const failing = new Set(findings.filter(({ kind }) => kind === 'alerts.undeliverable').map(({ subject }) => subject))
  const isReached = channels.some(
    ({ id, kind, enabled, project_id: project, confirmed_at: confirmedAt }) =>
      enabled && project === null && !failing.has(id) && (kind !== 'mail' || confirmedAt !== null),
  )
  if (isReached) return null
  return (
    <div class="away" role="status">
      <p class="note bad">
        <Mark name="failed" />
        <span>
          {w.noChannel} <a href={link('/settings/alerts')}>{mayAdminister.value ? w.setChannels : w.showChannels}</a>
        </span>
      </p>
    </div>
  )
}
