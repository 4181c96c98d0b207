/** Messages of a key within 30 days, and the requests that its gates refused. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { firstOf, mostFigures, useRead } from '../app/query.ts'
import { Plot } from '../insights/plot.tsx'
import type { Series } from '../insights/drawing.ts'
import { asQuery, spanOf } from '../insights/time-range.ts'
import { Dialog } from '../parts/controls.tsx'
import { plain } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import type { PublishableKey, PublishableKeyInsight } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './publishable-texts.ts'

export function KeyUse({
  publishable,
  name,
  onClose,
}: {
  readonly publishable: PublishableKey
  readonly name: string
  readonly onClose: () => void
}): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [span] = useState(() => spanOf('90d', true, Date.now()))
  const month = { ...span, from: span.to - 30 * span.stepMs }
  const read = useRead(
    '/v1/insights/publishable-keys',
    firstOf(mostFigures, { query: { ...asQuery(month), project: publishable.project_id } }),
  )
  const title = w.useOf({ name: plain(name) })
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="key-use">
        <h2>{title}</h2>
        <Show read={read} reload={read.reload} failure={w.useFailed} rows={4}>
          {(insight) => <Figures insight={insight} id={publishable.id} stepMs={month.stepMs} />}
        </Show>
        <footer>
          <button class="button primary" onClick={onClose}>
            {common.close}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}

interface FiguresProps {
  readonly insight: PublishableKeyInsight
  readonly id: string
  readonly stepMs: number
}

function Figures({ insight, id, stepMs }: FiguresProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const own = insight.data.find((one) => one.publishable_key_id === id)
  if (!own) return <p class="soft">{w.useNone}</p>
  const { points, totals } = own
  const capturedIn = (point: typeof totals): number =>
    point.captured_sandbox_destination + point.captured_no_route + point.captured_anonymous_project
  const series: readonly Series[] = [
    { label: common.relayed, look: 'relayed', kind: 'bar', values: points.map(({ relayed }) => relayed), total: number(totals.relayed) },
    {
      label: w.captured,
      look: 'hatched',
      kind: 'bar',
      values: points.map((point) => capturedIn({ ...point })),
      total: number(capturedIn(totals)),
    },
    { label: common.refused, look: 'striped', kind: 'bar', values: points.map(({ refused }) => refused), total: number(totals.refused) },
  ]
  const gates = Object.entries(totals.refused_by_code).sort(([, a], [, b]) => b - a)
  return (
    <>
      <Plot
        data={{ times: points.map(({ at }) => Date.parse(at)), stepMs, series, format: number }}
        name="publishable-key"
        title={w.sendsOfKey}
        note={w.perDay}
        summary={series.map(({ label, total }) => `${label} ${total}`).join(', ')}
        height={150}
      />
      {gates.length > 0 && (
        <section aria-labelledby="key-gates">
          <h3 id="key-gates">{w.refusedBy}</h3>
          <dl class="facts">
            {gates.map(([code, times]) => (
              <>
                <dt key={code}>
                  <code>{code}</code>
                </dt>
                <dd>{number(times)}</dd>
              </>
            ))}
          </dl>
        </section>
      )}
    </>
  )
}
