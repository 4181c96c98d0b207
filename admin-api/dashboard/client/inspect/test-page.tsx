/** One deliverability test: its address while it waits, then what to mend, what receivers ask for, and every check with its evidence. */
import type { ComponentChildren, JSX } from 'preact'
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { CopyButton, useBusy } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { getInspectTest, type InspectTest } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { Checks } from './checks.tsx'
import { beginTest } from './begin-test.ts'
import { words } from './inspect-words.ts'
import { Requirements } from './requirements.tsx'

const refreshMs = 3000

export function TestPage({ id }: { readonly id: string }): JSX.Element {
  const [w, common] = [words(), allWords()]
  const first = useRead(getInspectTest, { path: { id } }, { isShown: true })
  const isOpen = (test: InspectTest | undefined): boolean => test?.status === 'waiting' || test?.status === 'scoring'
  const read = useRead(getInspectTest, isOpen(first.data) ? { path: { id } } : undefined, { every: refreshMs })
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

function Unfinished({ test }: { readonly test: InspectTest }): JSX.Element {
  const w = words()
  const facts: Readonly<Record<string, readonly [title: string, text: ComponentChildren]>> = {
    waiting: [w.waitingTitle, w.waitingText(longTime(test.expires_at))],
    scoring: [w.scoringTitle, w.scoringText],
    expired: [w.expiredTitle, w.expiredText(longTime(test.expires_at))],
    failed: [w.failedTitle, <span lang="en">{test.problem}</span>],
  }
  const [title, text] = facts[test.status] ?? ['', '']
  return (
    <div role="status">
      <State title={title} text={text}>
        {test.status === 'waiting' && (
          <p class="target">
            <code>{test.address}</code> <CopyButton text={test.address} label={allWords().copy} />
          </p>
        )}
      </State>
    </div>
  )
}

function Report({ test }: { readonly test: InspectTest }): JSX.Element {
  const w = words()
  const missed = test.checks.filter(({ status }) => status === 'fail' || status === 'warn')
  const others = test.checks.filter((check) => !missed.includes(check))
  const lost = ({ points, max }: InspectTest['checks'][number]): number => max - points
  return (
    <>
      <div class="say score">
        <span class={`grade ${tone(test.grade)}`}>{test.grade}</span>
        <div>
          <h2>{w.ofHundred(test.score ?? 0)}</h2>
          {test.mail && (
            <p>
              <SafeText text={test.mail.subject || allWords().noSubject} /> · <SafeText text={test.mail.from} />
            </p>
          )}
          {test.partial && <p class="faint">{w.partial}</p>}
          {test.caps.map(({ id, limit, reason }) => (
            <p key={id} class="warn">
              <Mark name="warning" /> <span lang="en">{w.capped(limit, reason)}</span>
            </p>
          ))}
        </div>
      </div>
      <div class="columns">
        <section aria-labelledby="mend">
          <div class="head">
            <h2 id="mend">{w.toMend}</h2>
          </div>
          {missed.length === 0 ? (
            <p class="no-rows soft">{w.nothingToMend}</p>
          ) : (
            <Checks checks={missed.toSorted((a, b) => lost(b) - lost(a))} isOpen />
          )}
          <div class="head">
            <h2>{w.otherChecks}</h2>
          </div>
          <Checks checks={others} isOpen={false} />
        </section>
        <aside aria-label={w.requirements}>
          <Requirements requirements={test.requirements} />
        </aside>
      </div>
    </>
  )
}

const tone = (grade: InspectTest['grade']): string =>
  grade === 'A' || grade === 'B' ? 'good' : grade === 'C' || grade === 'D' ? 'warn' : 'bad'
