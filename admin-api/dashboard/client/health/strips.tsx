/** Health of each destination within the last day: strips, table and downloads. */
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { link, query } from '../app/location.ts'
import { plain } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { texts as plotTexts } from '../plots/plots-texts.ts'
import type { Destination } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import type { LookName, Shape } from '../insights/drawing.ts'
import { savePng, saveRows } from '../insights/plot-files.ts'
import { Tool } from '../insights/plot.tsx'
import { useEarlier, useInsight } from '../insights/reading.tsx'
import { isCompared } from '../insights/time-range.ts'
import { urgentFirst, useTroubles, type Healths } from './destination-health.ts'
import { cellOf, lastDay, stripText } from './health-strip.tsx'
import { StripList, StripTable, type Shown } from './strip-list.tsx'

/** Cell length when the strip is wide enough for 288 cells. */
const fineCellMs = 5 * 60_000
/** Limited because each strip has 288 cells. */
const mostStrips = 50

/** Returns the strips as shapes for a picture: a line of text and a strip per destination. */
function shapesOf({ destinations, healthOf }: Shown, width: number): readonly Shape[] {
  return destinations.flatMap((one, row): readonly Shape[] => {
    const [health, base] = [healthOf(one.id), row * rowHeight + 44]
    const step = (width - 2 * side) / Math.max(1, health?.points.length ?? 0)
    const bars = (health?.points ?? []).map((point, at): Shape => {
      const [height, fill] = cellOf(point, health?.totals.p95_ms ?? 0)
      return { kind: 'bar', look: lookOfFill[fill] ?? 'plain', x: side + at * step, y: base - height, width: Math.max(1, step - 1), height }
    })
    return [
      { kind: 'text', look: 'axis', x: side, y: base - 24, text: stripText(plain(one.name), health?.totals), anchor: 'start' },
      ...bars,
    ]
  })
}

const lookOfFill: Readonly<Record<string, LookName>> = { '--p-bad': 'bad', '--p-refused': 'striped', '--p-relayed': 'relayed' }
const side = 8
const rowHeight = 48
const pictureWidth = 960

function csvOf({ destinations, healthOf }: Shown): readonly (readonly string[])[] {
  const w = texts()
  return [
    ['time', w.destination, w.attempts, w.errors, 'p95_ms'],
    ...destinations.flatMap(({ id, name }) =>
      (healthOf(id)?.points ?? []).map(({ at, attempts, errors, p95_ms: p95 }) => [
        ...[at, name, String(attempts), String(errors)],
        String(p95 ?? ''),
      ]),
    ),
  ]
}

interface StripsProps {
  readonly now: number
  readonly destinations: readonly Destination[]
  readonly healths: Healths
}

export function Strips({ now, destinations: all, healths }: StripsProps): JSX.Element {
  const w = texts()
  const id = useId()
  const [asTable, setAsTable] = useState(false)
  const day = lastDay(now)
  const read = useInsight('/v1/insights/destinations', { ...day, stepMs: fineCellMs }, { first: mostStrips })
  const before = useEarlier('/v1/insights/destinations', day, mostStrips)
  const first = urgentFirst(all, useTroubles().troubles, (id) => (healths.get(id)?.last_hour.attempts ?? 0) > 0).slice(0, mostStrips)
  const shown: Shown = {
    ...{ destinations: first, healths, stepMs: fineCellMs, isCompared: isCompared(query.value) },
    healthOf: (of) => read.data?.data.find((one) => one.destination_id === of),
    beforeOf: (of) => before?.data.find((one) => one.destination_id === of)?.totals,
  }
  const [title, note] = [w.destinations, plotTexts().lastDayInCells]
  const picture = (): Promise<void> =>
    savePng({
      ...{ shapes: shapesOf(shown, pictureWidth), width: pictureWidth, height: first.length * rowHeight + 16 },
      ...{ title: `${title} – ${note}`, name: 'health' },
    })
  return (
    <section class="plot" aria-labelledby={id}>
      <div class="plot-head">
        <h2 id={id}>{title}</h2>
        <span class="faint">{note}</span>
        {all.length > first.length && <a href={link('/destinations')}>{w.allDestinations}</a>}
        <span class="plot-tools">
          <Tool
            label={`${asTable ? w.asPlot : w.asTable}: ${title}`}
            icon={asTable ? 'overview' : 'traces'}
            onClick={() => setAsTable(!asTable)}
          />
          <Tool label={`CSV: ${title}`} text="CSV" onClick={() => void saveRows(csvOf(shown), 'health')} />
          {!asTable && <Tool label={`PNG: ${title}`} text="PNG" onClick={() => void picture()} />}
        </span>
      </div>
      <Show read={read} reload={read.reload} failure={w.insightFailed} rows={3}>
        {() => (asTable ? <StripTable {...shown} /> : <StripList {...shown} day={day} />)}
      </Show>
    </section>
  )
}
