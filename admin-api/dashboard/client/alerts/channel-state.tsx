/** State of an alert channel: off, unconfirmed, failing, or the result of its last test. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { Mark } from '../parts/mark.tsx'
import { shortTime } from '../parts/time.ts'
import type { AlertChannel } from '../wire/api.d.ts'
import { texts } from './alerts-texts.ts'

/** Time since which alerts do not arrive, by channel id. */
export type Failing = ReadonlyMap<string, string>

const lookMs = 15_000

/** Reads the channels whose alerts do not arrive from the open findings. */
export function useFailing(): Failing {
  const query = { state: 'open', group: 'service' } as const
  const failing = useAll('/v1/findings', { query }, { every: lookMs }).rows.filter(({ kind }) => kind === 'alerts.undeliverable')
  return new Map(failing.map(({ subject, opened_at: at }) => [subject, at]))
}

/** Returns the mark and the text of the state. */
export function stateOf(channel: AlertChannel, failing: Failing): readonly [mark: string, text: string] {
  const w = texts()
  const { id, kind, enabled, confirmed_at: confirmedAt, last_test: test } = channel
  const failingSince = failing.get(id)
  if (!enabled) return ['paused', w.off]
  if (kind === 'mail' && confirmedAt === null) return ['pending', w.unconfirmed]
  if (failingSince !== undefined) return ['failed', w.failingSince({ at: shortTime(failingSince, true) })]
  if (test === null) return ['ok', w.on]
  const at = shortTime(test.at, true)
  return test.delivered ? ['ok', w.testAcceptedAt({ at })] : ['warning', w.testFailedAt({ at, status: test.status_code ?? w.noResponse })]
}

export function ChannelState({ channel, failing }: { readonly channel: AlertChannel; readonly failing: Failing }): JSX.Element {
  const [mark, text] = stateOf(channel, failing)
  return (
    <span class="status">
      <Mark name={mark} />
      {text}
    </span>
  )
}
