/** Screen for deliverability tests: test addresses and the scores of received messages. */
import type { JSX } from 'preact'
import { link, projectId } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { useBusy } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark, Status } from '../parts/mark.tsx'
import { State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { InspectTestSummary } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { beginTest } from './begin-test.ts'
import { Compare } from './compare.tsx'
import { texts } from './inspect-texts.ts'
import { TestPage } from './test-page.tsx'

export default function Inspect({ rest: [id] }: ScreenProps): JSX.Element {
  if (id === undefined) return <Tests />
  return id === 'compare' ? <Compare /> : <TestPage key={id} id={id} />
}

function Tests(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList('/v1/inspect/tests', { query: project })
  const [isBusy, start] = useBusy()
  const begin = mayChange.value && (
    <button class="button primary" aria-disabled={isBusy} onClick={() => start(beginTest)}>
      <Icon name="plus" />
      <span class="shell-label">{w.getAddress}</span>
    </button>
  )
  return (
    <>
      <TopBar title={common.inspect}>{begin}</TopBar>
      <div class="sheet">
        <History tests={list.read.data ?? []} />
        <List
          label={common.inspect}
          list={list}
          failure={w.inspectFailed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/inspect/${id}`)}
          nameOf={({ address }) => address}
          bulk={(chosen) => <CompareChosen chosen={chosen} />}
          empty={
            <State title={w.noTests} text={w.noTestsText}>
              {begin && <div class="actions">{begin}</div>}
            </State>
          }
          columns={[
            { head: w.address, class: 'strong', cell: ({ id, address }) => <a href={link(`/inspect/${id}`)}>{address}</a> },
            { head: common.status, class: 'c-outcome', cell: ({ status }) => <Status name={markOf(status)} /> },
            { head: w.score, class: 'c-took num', cell: (test) => scoreOf(test) },
            { head: w.created, class: 'c-time', cell: ({ created_at: at }) => <Moment at={at} /> },
          ]}
          narrow={(test) => [<Mark name={markOf(test.status)} />, test.address, shortTime(test.created_at), scoreOf(test)]}
        />
      </div>
    </>
  )
}

/** Link that compares two selected reports, the earlier one first. */
function CompareChosen({ chosen }: { readonly chosen: readonly InspectTestSummary[] }): JSX.Element {
  const w = texts()
  const ready = chosen.filter(({ status }) => status === 'ready').toSorted((a, b) => a.created_at.localeCompare(b.created_at))
  const [first, second] = ready
  if (!first || !second || ready.length !== 2 || chosen.length !== 2) return <span class="soft">{w.chooseTwo}</span>
  return (
    <a class="button small" href={link('/inspect/compare', { first: first.id, second: second.id })}>
      {w.compare}
    </a>
  )
}

const scoreOf = ({ score, grade }: InspectTestSummary): string => (score === null ? '–' : `${grade ?? ''} ${String(score)}`)

const markOf = (status: InspectTestSummary['status']): string =>
  ({ waiting: 'pending', scoring: 'queued', ready: 'ok', failed: 'failed', expired: 'canceled' })[status]

const shown = 20
const [width, height] = [240, 40] as const

/** Line plot of past scores, with a text alternative. */
function History({ tests }: { readonly tests: readonly InspectTestSummary[] }): JSX.Element | null {
  const w = texts()
  const scores = tests
    .flatMap(({ score }) => (score === null ? [] : [score]))
    .slice(0, shown)
    .reverse()
  if (scores.length < 2) return null
  const points = scores.map((score, i) => `${String((i * width) / (scores.length - 1))},${String(height - (score / 100) * height)}`)
  return (
    <figure class="history">
      <figcaption>{w.history}</figcaption>
      <svg
        viewBox={`-3 -3 ${String(width + 6)} ${String(height + 6)}`}
        role="img"
        aria-label={w.historySentence({ scores: scores.join(', ') })}
      >
        <path class="thin" d={`M0 ${String(height)}H${String(width)}`} />
        <polyline points={points.join(' ')} />
      </svg>
      <span class="num">{scores.join(' · ')}</span>
    </figure>
  )
}
