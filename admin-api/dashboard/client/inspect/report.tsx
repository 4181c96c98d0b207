/** Report of a message: score, most important remedies, all checks by topic, and requirements of large mailbox providers. */
import type { JSX } from 'preact'
import { CheckName } from '../check-texts/check-said.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import type { InspectTest } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Checks, Titled, type Check } from './checks.tsx'
import { Grade } from './grade.tsx'
import { texts } from './inspect-texts.ts'
import { Requirements } from './requirements.tsx'

const groups = ['sender', 'server', 'domains', 'form', 'content'] as const satisfies readonly Check['group'][]

export function Report({ test }: { readonly test: InspectTest }): JSX.Element {
  const w = texts()
  return (
    <>
      <div class="say score">
        <Grade test={test} />
        <div>
          <h2>{w.ofHundred({ score: test.score ?? 0 })}</h2>
          {test.mail && (
            <p>
              <SafeText text={test.mail.subject || allTexts().noSubject} /> · <SafeText text={test.mail.from} />
            </p>
          )}
          {test.partial && <p class="faint">{w.partial}</p>}
          {test.caps.map(({ id, limit, reason }) => (
            <p key={id} class="warn">
              <Mark name="warning" /> {w.capped({ limit })} <CheckName of="caps" code={id} english={reason} />
            </p>
          ))}
        </div>
      </div>
      <div class="columns">
        <section aria-labelledby="mend">
          <ToMend checks={test.checks} />
          {groups.map((group) => (
            <Group key={group} group={group} checks={test.checks.filter((check) => check.group === group)} />
          ))}
        </section>
        <aside aria-label={w.requirements}>
          <Requirements requirements={test.requirements} />
        </aside>
      </div>
    </>
  )
}

const isMissed = ({ status }: Check): boolean => status === 'fail' || status === 'warn'
const lost = ({ points, max }: Check): number => max - points

/** Failed checks by lost points, highest first, with links to their details. */
function ToMend({ checks }: { readonly checks: readonly Check[] }): JSX.Element {
  const w = texts()
  const missed = checks.filter(isMissed).toSorted((a, b) => lost(b) - lost(a))
  const show = (id: string): void => {
    const summary = document.querySelector<HTMLElement>(`#check-${id} > summary`)
    summary?.parentElement?.setAttribute('open', '')
    summary?.scrollIntoView({ block: 'center' })
    summary?.focus()
  }
  return (
    <>
      <div class="head">
        <h2 id="mend">{w.toMend}</h2>
      </div>
      {missed.length === 0 ? (
        <p class="no-rows soft">{w.nothingToMend}</p>
      ) : (
        <ul class="to-mend">
          {missed.map((check) => (
            <li key={check.id}>
              <Mark name={check.status === 'fail' ? 'failed' : 'warning'} />
              <button class="as-link" onClick={() => show(check.id)}>
                <Titled check={check} />
              </button>
              <span class="faint num">{lost(check) > 0 && w.morePoints({ points: lost(check) })}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Group({ group, checks }: { readonly group: Check['group']; readonly checks: readonly Check[] }): JSX.Element | null {
  const w = texts()
  const sum = (field: 'points' | 'max'): number => checks.reduce((total, check) => total + (check.status === 'na' ? 0 : check[field]), 0)
  if (checks.length === 0) return null
  return (
    <>
      <div class="head">
        <h2>{w.groups[group]}</h2>
        <span class="faint num">{w.points({ points: sum('points'), max: sum('max') })}</span>
      </div>
      <Checks checks={checks} isOpen={isMissed} />
    </>
  )
}
