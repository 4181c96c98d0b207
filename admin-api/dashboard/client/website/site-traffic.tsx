/** Traffic of a website by day, and its storage. */
import type { JSX } from 'preact'
import type { Reading } from '../app/query.ts'
import type { PlotData } from '../insights/drawing.ts'
import { Plot } from '../insights/plot.tsx'
import { Show } from '../parts/states.tsx'
import { bytes, credits, decimal, number } from '../parts/time.ts'
import { texts } from '../websites/websites-texts.ts'
import type { SiteUsage } from '../wire/api.d.ts'

const dayMs = 86_400_000

export function SiteTraffic({ read, name }: { readonly read: Reading<SiteUsage>; readonly name: string }): JSX.Element {
  const w = texts()
  return (
    <Show read={read} reload={read.reload} failure={w.trafficFailed}>
      {(usage) => (
        <>
          {usage.answers === 0 ? (
            <p class="no-rows soft">{w.noTraffic}</p>
          ) : (
            <Plot
              title={w.sent}
              note={w.eachDay({ unit: unitOf(usage)[0] })}
              data={plotOf(usage)}
              name={`site-${name}`}
              summary={`${w.traffic}: ${bytes(usage.traffic_bytes)}, ${w.answers}: ${number(usage.answers)}`}
            />
          )}
          <section aria-label={w.uses} class="site-use">
            <h2>{w.uses}</h2>
            <dl class="facts">
              <dt>{w.stored}</dt>
              <dd>{bytes(usage.stored_bytes)}</dd>
              <dt>{w.traffic}</dt>
              <dd>{bytes(usage.traffic_bytes)}</dd>
              <dt>{w.answers}</dt>
              <dd>{number(usage.answers)}</dd>
              <dt>{w.perDay}</dt>
              <dd>{credits(usage.credits_per_day)}</dd>
            </dl>
            <p class="faint">{w.trafficHint}</p>
          </section>
        </>
      )}
    </Show>
  )
}

const units = ['B', 'KiB', 'MiB', 'GiB'] as const

/** Returns the unit for the largest day, and its size in bytes. */
function unitOf({ days }: SiteUsage): readonly [unit: string, size: number] {
  const most = Math.max(1, ...days.map(({ traffic_bytes: sent }) => sent))
  const power = Math.min(units.length - 1, Math.floor(Math.log2(most) / 10))
  return [units[power] ?? 'B', 1024 ** power]
}

function plotOf(usage: SiteUsage): PlotData {
  const [unit, size] = unitOf(usage)
  const { days, traffic_bytes: total } = usage
  const values = days.map(({ traffic_bytes: sent }) => sent / size)
  return {
    times: days.map(({ day }) => Date.parse(day)),
    stepMs: dayMs,
    series: [{ label: `${texts().sent}, ${unit}`, look: 'relayed', kind: 'bar', values, total: bytes(total) }],
    format: (value) => decimal(value, 0, value < 10 ? 2 : 0),
  }
}
