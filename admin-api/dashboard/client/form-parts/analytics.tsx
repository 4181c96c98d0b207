/** Statistics of a form: views, starts, submissions and the fields where visitors left. */
import type { JSX } from 'preact'
import { go, linkHere, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import type { PartProps } from '../forms/part-props.ts'
import { CompareButton } from '../insights/range-bar.tsx'
import { isCompared } from '../insights/time-range.ts'
import { FormFunnel, spamShare } from '../plots/form-funnel.tsx'
import { Gauge, Segments } from '../parts/controls.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { number, percent, span } from '../parts/time.ts'
import type { FormAnalytics } from '../wire/api.d.ts'
import { texts } from './parts-texts.ts'

const ranges = ['7', '30', '90'] as const
const dayMs = 86_400_000

export default function AnalyticsPart({ form }: PartProps): JSX.Element {
  const w = texts()
  const range = ranges.find((one) => one === query.value.get('range')) ?? '30'
  const begin = Math.floor(Date.now() / dayMs) * dayMs - (Number(range) - 1) * dayMs
  const [from, earlier] = [new Date(begin).toISOString(), new Date(begin - Number(range) * dayMs).toISOString()]
  const path = { id: form.id }
  const read = useRead('/v1/forms/{id}/analytics', { path, query: { from } }, { isShown: true })
  const before = useRead(
    '/v1/forms/{id}/analytics',
    isCompared(query.value) ? { path, query: { from: earlier, to: from } } : undefined,
  ).data
  return (
    <div class="form-sheet wide" tabIndex={0} role="group" aria-label={w.visits}>
      <div class="actions">
        <Segments
          label={w.range}
          value={range}
          onChoose={(next) => go(linkHere({ range: next === '30' ? '' : next }), { replaces: true })}
          choices={ranges.map((value) => ({ value, label: w.days({ n: Number(value) }) }))}
        />
        <CompareButton />
      </div>
      <Show read={read} reload={read.reload} failure={w.figuresFailed}>
        {(figures) => <Figures figures={figures} before={before} name={form.public_id} />}
      </Show>
    </div>
  )
}

const shareOf = (part: number, all: number): string => (all === 0 ? '–' : percent(part / all, 1))

interface FiguresProps {
  readonly figures: FormAnalytics
  readonly before: FormAnalytics | undefined
  readonly name: string
}

function Figures({ figures, before, name }: FiguresProps): JSX.Element {
  const w = texts()
  const { form_id: formId, totals, pages } = figures
  const { views, starts, submissions, spam, median_fill_ms: median } = totals
  const facts = [
    [w.figures.views, number(views), ''],
    [w.figures.starts, number(starts), shareOf(starts, views)],
    [w.figures.submissions, number(submissions), ''],
    [w.conversion, shareOf(submissions, views), views === 0 ? '' : w.ofViews],
    [w.median, median === null ? '–' : span(median), ''],
    [w.figures.spam, number(spam), spam === 0 ? '' : spamShare(totals)],
  ] as const
  return (
    <>
      <dl class="ledger">
        {facts.map(([label, value, more]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <b>{value}</b> <span>{more}</span>
            </dd>
          </div>
        ))}
      </dl>
      {views + submissions + spam === 0 ? (
        <p class="faint">{w.noFigures}</p>
      ) : (
        <FormFunnel {...{ now: figures, before, formId, title: w.visits, note: w.perDay, name: `form-${name}` }} />
      )}
      {pages.length > 1 && <Steps pages={pages} />}
    </>
  )
}

const Steps = ({ pages }: { readonly pages: FormAnalytics['pages'] }): JSX.Element => {
  const w = texts()
  const most = Math.max(1, ...pages.map(({ reached }) => reached))
  return (
    <section class="funnel" aria-label={w.steps}>
      <h2>{w.steps}</h2>
      <p class="faint">{w.stepsText}</p>
      <table class="table">
        <thead>
          <tr>
            <th>{w.steps}</th>
            <th class="num">{w.reached}</th>
            <th class="num">{w.left}</th>
          </tr>
        </thead>
        <tbody>
          {pages.map(({ page, title, reached, left }) => (
            <tr key={page} class="still">
              <td class="tall">
                <SafeText text={w.step({ n: page, hasTitle: Boolean(title), title: plain(title ?? '') })} />
                <Gauge used={reached} limit={most} isProgress />
              </td>
              <td class="num">{number(reached)}</td>
              <td class="num">
                {number(left)} <span class="faint">{shareOf(left, reached)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
