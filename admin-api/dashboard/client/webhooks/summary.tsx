/** Sentence about all endpoints, with the figures of the last day. */
import type { JSX } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { percentFrom } from '#config/watch/limits.ts'
import { Bone, HeadingBone } from '../parts/states.tsx'
import type { WebhookEndpoint } from '../wire/api.d.ts'
import { daysShown, successOf, took, useDays, useDayTotals, type DayTotals } from './last-day.tsx'
import { texts } from './webhooks-texts.ts'

export function Summary({ rows }: { readonly rows: readonly WebhookEndpoint[] }): JSX.Element {
  const days = useDays()
  const { totals, isLoading } = useDayTotals()
  useLayoutEffect(() => void (daysShown.value = days), [days])
  const isReady = rows.length > 0 && !isLoading
  return (
    <div class="say">
      <h2>{isReady ? verdict(rows, totals) : <HeadingBone />}</h2>
      <p>{isReady ? figures(totals) : <Bone isLong />}</p>
    </div>
  )
}

const isQuiet = ({ succeeded, failed }: DayTotals): boolean => succeeded + failed === 0

function verdict(rows: readonly WebhookEndpoint[], totals: DayTotals | undefined): string {
  const w = texts()
  const active = rows.filter(({ paused }) => !paused)
  const bad = active.filter(({ health }) => health.state === 'failing').length
  if (bad > 0) return w.sayFailing({ bad, all: rows.length })
  if (active.length === 0) return w.sayPaused
  return totals && isQuiet(totals) ? w.sayQuiet : w.sayFine
}

function figures(totals: DayTotals | undefined): string {
  const w = texts()
  if (!totals) return ''
  if (isQuiet(totals)) return w.sayQuietText
  const { succeeded, failed, parked, p95_ms: p95 } = totals
  const all = succeeded + failed
  return [
    [`${w.success}: ${successOf(totals)}`, ...(all < percentFrom ? [] : [w.ofAttempts({ n: all })])].join(' '),
    ...(parked > 0 ? [w.sayParked({ n: parked })] : []),
    ...(p95 === null ? [] : [`p95 ${took(p95)}`]),
  ].join(' · ')
}
