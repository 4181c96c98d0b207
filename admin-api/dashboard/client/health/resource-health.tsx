/** Health of endpoints, routes, sources, domains and websites, next to their switches. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { Mark } from '../parts/mark.tsx'
import { Moment } from '../parts/list.tsx'
import { longTime } from '../parts/time.ts'
import { texts } from '../texts/texts.ts'
import type { ResourceHealth } from '../wire/api.d.ts'

const marks = { ok: 'ok', warning: 'warning', failing: 'failed', unknown: 'pending' } as const

/** Returns the mark. Failed attempts without a finding are a warning. */
export const healthMark = ({ state, failures_in_a_row: failures }: ResourceHealth): string =>
  state === 'unknown' && (failures ?? 0) > 0 ? 'warning' : marks[state]

/** Returns the state, or the number of failed attempts while it is unknown. */
export function healthWord({ state, failures_in_a_row: failures }: ResourceHealth): string {
  const w = texts().resourceHealth
  return state === 'unknown' && failures !== null && failures > 0 ? w.few({ count: failures }) : w[state]
}

function replyText({ last_reply: reply }: ResourceHealth): string | undefined {
  const w = texts().resourceHealth
  return reply === 'no_response' ? w.noResponse : reply === 'not_sent' ? w.notSent : (reply ?? undefined)
}

/** Badge of a list: the state, and the latest reply if something is wrong. `off` replaces it while the resource is switched off. */
export function HealthBadge({ health, off }: { readonly health: ResourceHealth; readonly off?: string | false | undefined }): JSX.Element {
  const reply = replyText(health)
  if (typeof off === 'string')
    return (
      <span class="status">
        <Mark name="paused" />
        {off}
      </span>
    )
  return (
    <span class="status" title={reply === undefined ? undefined : texts().resourceHealth.lastReply({ reply })}>
      <Mark name={healthMark(health)} />
      <span>
        {healthWord(health)}
        {(health.state === 'failing' || health.state === 'warning') && reply !== undefined && <span class="faint"> · {reply}</span>}
      </span>
    </span>
  )
}

/** Time of the latest success in a list. */
export const LastSuccess = ({ health: { last_success_at: at } }: { readonly health: ResourceHealth }): JSX.Element =>
  at === null ? <span class="faint">–</span> : <Moment at={at} />

const capital = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1)

/** Line of a page: the state, the latest success and the latest reply; a note with the findings if something is wrong. */
export function HealthLine({ health }: { readonly health: ResourceHealth }): JSX.Element {
  const w = texts().resourceHealth
  const { state, since, last_success_at: success, failures_in_a_row: failures, findings } = health
  const reply = replyText(health)
  const isWrong = healthMark(health) !== 'ok' && healthMark(health) !== 'pending'
  const facts = [
    success === null ? w.noSuccess : w.lastSuccessAt({ at: longTime(success) }),
    ...(reply === undefined ? [] : [w.lastReply({ reply })]),
    ...(state !== 'unknown' && failures !== null && failures > 0 ? [w.failures({ count: failures })] : []),
  ]
  return (
    <div class={`note health ${state === 'failing' ? 'bad' : isWrong ? 'warn' : ''}`}>
      <Mark name={healthMark(health)} />
      <p>
        <b>{capital(isWrong && since !== null ? w.since({ state: healthWord(health), at: longTime(since) }) : healthWord(health))}</b>
        <br />
        {facts.join(' · ')}
      </p>
      {findings.length > 0 && (
        <a class="button" href={link('/findings')}>
          {w.seeFindings}
        </a>
      )}
    </div>
  )
}
