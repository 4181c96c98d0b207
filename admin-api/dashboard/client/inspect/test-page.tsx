/** Page of a deliverability test: its address until a message arrives, then the report. */
import type { ComponentChildren, JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { link } from '../app/location.ts'
import { CheckName } from '../check-texts/check-said.tsx'
import { mayChange } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { CopyButton, useBusy } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Show, State } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { InspectTest } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { beginTest } from './begin-test.ts'
import { texts } from './inspect-texts.ts'
import { Report } from './report.tsx'

const refreshMs = 3000

export function TestPage({ id }: { readonly id: string }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const first = useRead('/v1/inspect/tests/{id}', { path: { id } }, { isShown: true })
  const isOpen = (test: InspectTest | undefined): boolean => test?.status === 'waiting' || test?.status === 'scoring'
  const read = useRead('/v1/inspect/tests/{id}', isOpen(first.data) ? { path: { id } } : undefined, { every: refreshMs })
  const latest = read.data ? read : first
  const [isBusy, start] = useBusy()
  const address = latest.data?.address ?? ''
  return (
    <>
      <TopBar
        title={address || common.inspect}
        heading={
          <>
            <a href={link('/inspect')}>{common.inspect}</a>
            <span class="cut">{address}</span>
          </>
        }
      >
        {latest.data?.status === 'ready' && (
          <a
            class="button"
            href={new URL(latest.data.report_url, location.origin).pathname}
            target="_blank"
            rel="noopener"
            title={w.publicReport}
          >
            <Icon name="share" />
            <span class="shell-label">{w.publicReport}</span>
          </a>
        )}
        {latest.data?.status === 'ready' && <CompareLink test={latest.data} />}
        {mayChange.value && latest.data && !isOpen(latest.data) && (
          <button class="button primary" aria-disabled={isBusy} onClick={() => start(beginTest)}>
            {w.testAgain}
          </button>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={latest} reload={first.reload} failure={w.inspectFailed}>
          {(test) => (test.status === 'ready' ? <Report test={test} /> : <Unfinished test={test} />)}
        </Show>
      </div>
    </>
  )
}

/** Link that compares this test with the previous one, else with the next one. */
function CompareLink({ test }: { readonly test: InspectTest }): JSX.Element | null {
  const w = texts()
  const list = useAll('/v1/inspect/tests', {})
  const ready = (list.read.data ?? []).filter(({ status, id }) => status === 'ready' && id !== test.id)
  const other = ready.find(({ created_at: at }) => at < test.created_at) ?? ready.at(-1)
  if (!other) return null
  const [first, second] = other.created_at < test.created_at ? [other.id, test.id] : [test.id, other.id]
  return (
    <a class="button" href={link('/inspect/compare', { first, second })} title={w.compare}>
      <Icon name="compare" />
      <span class="shell-label">{w.compare}</span>
    </a>
  )
}

function Unfinished({ test }: { readonly test: InspectTest }): JSX.Element {
  const w = texts()
  const facts: Readonly<Record<string, readonly [title: string, text: ComponentChildren]>> = {
    waiting: [w.waitingTitle, w.waitingText({ at: longTime(test.expires_at) })],
    scoring: [w.scoringTitle, w.scoringText],
    expired: [w.expiredTitle, w.expiredText({ at: longTime(test.expires_at) })],
    failed: [w.failedTitle, <CheckName of="problems" english={test.problem ?? ''} code={test.problem_code} />],
  }
  const [title, text] = facts[test.status] ?? ['', '']
  return (
    <div role="status">
      <State title={title} text={text}>
        {test.status === 'waiting' && (
          <p class="target">
            <code>{test.address}</code> <CopyButton text={test.address} label={allTexts().copy} />
          </p>
        )}
      </State>
    </div>
  )
}
