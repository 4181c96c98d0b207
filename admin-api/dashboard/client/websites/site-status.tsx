/** Status of a website, as a mark and a text. */
import type { JSX } from 'preact'
import { healthMark, healthWord } from '../health/resource-health.tsx'
import { Mark } from '../parts/mark.tsx'
import type { Site } from '../wire/api.d.ts'
import { texts } from './websites-texts.ts'

type Status = Site['status'] | 'empty'

/** Returns the status. A live site without a deploy is empty. */
export const statusOf = ({ status, active_deploy_id: deploy }: Site): Status => (status === 'live' && deploy === null ? 'empty' : status)

const marks = { live: 'live', paused: 'paused', paused_credits: 'failed', taken_down: 'refused', empty: 'pending' } as const

/** Returns whether a served site has a problem with its domains. */
const hasProblem = ({ status, health }: Site): boolean => status === 'live' && health.state !== 'ok'

export const markOf = (site: Site): string => (hasProblem(site) ? healthMark(site.health) : marks[statusOf(site)])

/** Returns the status, with the health if it says more. */
export const wordOf = (site: Site): string => {
  const word = texts().statuses[statusOf(site)]
  return hasProblem(site) ? `${word} · ${healthWord(site.health)}` : word
}

export const SiteStatus = ({ site }: { readonly site: Site }): JSX.Element => (
  <span class="status">
    <Mark name={markOf(site)} />
    {wordOf(site)}
  </span>
)

/** The last characters of an id, which are distinct. */
export const ShortId = ({ id }: { readonly id: string }): JSX.Element => <code title={id}>{id.slice(-8)}</code>
