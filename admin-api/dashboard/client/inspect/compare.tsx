/** Comparison of two reports: changes from the earlier to the later message, by check. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { ChooseField } from '../parts/controls.tsx'
import { type MaybeCut } from '../selection/newest.tsx'
import { CheckSaid } from '../check-texts/check-said.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { InspectTest, InspectTestSummary } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { marks, type Check, Titled } from './checks.tsx'
import { Grade } from './grade.tsx'
import { texts } from './inspect-texts.ts'

type Side = 'first' | 'second'

export function Compare(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [first, second] = [useSide('first'), useSide('second')]
  const all = useAll('/v1/inspect/tests', {})
  const ready = all.rows.filter(isReady)
  return (
    <>
      <TopBar
        title={w.compare}
        heading={
          <>
            <a href={link('/inspect')}>{common.inspect}</a>
            <span class="cut">{w.compare}</span>
          </>
        }
      />
      <div class="sheet">
        <div class="compared">
          <Choice side="first" label={w.before} all={all} tests={ready} />
          <Choice side="second" label={w.after} all={all} tests={ready} />
        </div>
        <Show read={first} reload={first.reload} failure={w.inspectFailed}>
          {(before) => (
            <Show read={second} reload={second.reload} failure={w.inspectFailed}>
              {(after) =>
                isReady(before) && isReady(after) ? (
                  <Both before={before} after={after} />
                ) : (
                  <State title={w.notBothReady} text={w.notBothReadyText} />
                )
              }
            </Show>
          )}
        </Show>
      </div>
    </>
  )
}

const isReady = ({ status }: Pick<InspectTestSummary, 'status'>): boolean => status === 'ready'

const useSide = (side: Side) =>
  useRead('/v1/inspect/tests/{id}', { path: { id: query.value.get(side) ?? '-' } }, { isShown: side === 'second' })

interface ChoiceProps {
  readonly side: Side
  readonly label: string
  readonly all: MaybeCut
  readonly tests: readonly InspectTestSummary[]
}

function Choice({ side, label, all, tests }: ChoiceProps): JSX.Element {
  const chosen = query.value.get(side) ?? ''
  const options = tests.map((test) => [test.id, nameOf(test)] as const)
  return (
    <ChooseField
      label={label}
      value={chosen}
      onChange={(next) => go(linkHere({ [side]: next }), { replaces: true })}
      of={all}
      options={tests.some(({ id }) => id === chosen) ? options : [[chosen, '–'], ...options]}
    />
  )
}

/** Formats `B 84 · Mon, 14:02 · a1b2c3`. */
const nameOf = ({ grade, score, created_at: at, address }: InspectTestSummary): string =>
  `${grade ?? ''} ${String(score ?? '–')} · ${shortTime(at)} · ${address.split('@')[0] ?? ''}`

interface BothProps {
  readonly before: InspectTest
  readonly after: InspectTest
}

function Both({ before, after }: BothProps): JSX.Element {
  const w = texts()
  const gain = (after.score ?? 0) - (before.score ?? 0)
  const pairs = after.checks.flatMap((later) => {
    const earlier = before.checks.find(({ id }) => id === later.id)
    return earlier ? [{ earlier, later }] : []
  })
  const changed = pairs.filter(({ earlier, later }) => earlier.status !== later.status || earlier.points !== later.points)
  return (
    <>
      <div class="say">
        <h2>{gain === 0 ? w.sameScore : gain > 0 ? w.scoreRose({ points: gain }) : w.scoreFell({ points: -gain })}</h2>
        <p>{w.checksChanged({ changed: changed.length, all: pairs.length })}</p>
      </div>
      <div class="both">
        <Head label={w.before} test={before} />
        <Head label={w.after} test={after} />
      </div>
      {changed.length > 0 && <Pairs title={w.changed} pairs={changed} isOpen />}
      <Pairs title={w.unchanged} pairs={pairs.filter((pair) => !changed.includes(pair))} isOpen={false} />
    </>
  )
}

const Head = ({ label, test }: { readonly label: string; readonly test: InspectTest }): JSX.Element => (
  <section class="score" aria-label={label}>
    <Grade test={test} />
    <div>
      <h3>
        <a href={link(`/inspect/${test.id}`)}>{texts().ofHundred({ score: test.score ?? 0 })}</a>
      </h3>
      <p class="soft">
        <SafeText text={test.mail?.subject || allTexts().noSubject} />
      </p>
      <p class="faint">
        {label} · {shortTime(test.received_at ?? test.created_at)}
      </p>
    </div>
  </section>
)

interface Pair {
  readonly earlier: Check
  readonly later: Check
}

interface PairsProps {
  readonly title: string
  readonly pairs: readonly Pair[]
  readonly isOpen: boolean
}

const Pairs = ({ title, pairs, isOpen }: PairsProps): JSX.Element => (
  <section aria-label={title}>
    <div class="head">
      <h2>{title}</h2>
    </div>
    <ul class="inspected">
      {pairs.map(({ earlier, later }) => (
        <li key={later.id}>
          <details open={isOpen}>
            <summary>
              <Mark name={marks[later.status]} />
              <Titled check={later} />
              <Gain by={later.points - earlier.points} />
            </summary>
            <div class="both found">
              <Finding check={earlier} label={texts().before} />
              <Finding check={later} label={texts().after} />
            </div>
          </details>
        </li>
      ))}
    </ul>
  </section>
)

const Gain = ({ by }: { readonly by: number }): JSX.Element => (
  <span class={`num ${by > 0 ? 'good' : by < 0 ? 'bad' : 'faint'}`}>{by > 0 ? `+${String(by)}` : by < 0 ? `−${String(-by)}` : '='}</span>
)

const Finding = ({ check, label }: { readonly check: Check; readonly label: string }): JSX.Element => (
  <div>
    <p class="status">
      <Mark name={marks[check.status]} />
      <span>
        {label}: {texts().statuses[check.status]}{' '}
        {check.max > 0 && <span class="faint">{texts().points({ points: check.points, max: check.max })}</span>}
      </span>
    </p>
    <p>
      <CheckSaid english={check.summary} said={check.summary_said} />
    </p>
  </div>
)
