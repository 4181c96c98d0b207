/** Test of routing: shows the matching rule and each step for a sample message. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { boot } from '../app/boot.ts'
import { go, linkHere, projectId, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { outcomeReason, refusalReason, stepReason } from '../reasons/reasons.ts'
import type { RoutingSimulation } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './routing-texts.ts'

export function Tester(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [from, setFrom] = useState(query.value.get('from') ?? boot.email)
  const [to, setTo] = useState(query.value.get('to') ?? boot.email)
  const asked = { from: query.value.get('from') ?? '', to: query.value.get('to') ?? '' }
  const isAsked = asked.from !== '' && asked.to !== ''
  const project = projectId.value === undefined ? {} : { project_id: projectId.value }
  const read = useRead('POST /v1/routing/simulate', isAsked ? { body: { ...project, ...asked } } : undefined)
  return (
    <div class="block">
      <h2>{w.whichRule}</h2>
      <p class="soft">{w.whichRuleText}</p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          go(linkHere({ from: from.trim(), to: to.trim() }), { replaces: true })
        }}
      >
        <TextField label={common.from} value={from} onChange={setFrom} />
        <TextField label={common.to} value={to} onChange={setTo} />
        <div class="actions">
          <button class="button">{w.try_}</button>
        </div>
      </form>
      {isAsked && (
        <Show read={read} reload={read.reload} failure={w.rulesFailed} rows={3}>
          {(simulation) => <Verdict simulation={simulation} />}
        </Show>
      )}
    </div>
  )
}

const isAgainst: ReadonlySet<string> = new Set(['not_matched', 'refused', 'destination_gone'])

function Verdict({ simulation }: { readonly simulation: RoutingSimulation }): JSX.Element {
  const w = texts()
  const { outcome, refusal, reason, steps } = simulation
  const rules = useAll('/v1/routing/rules', { query: { project: simulation.project_id } })
  const destinations = useAll('/v1/destinations', {})
  const known = { rules: rules.read.data ?? [], destinations: new Map((destinations.read.data ?? []).map(({ id, name }) => [id, name])) }
  const last = steps.at(-1)
  const said = refusal
    ? refusalReason(refusal.code, last?.used, last?.limit)
    : outcomeReason(simulation, plain(simulation.destination?.name ?? ''))
  const mark = refusal ? 'refused' : outcome === 'relayed' ? 'relayed' : 'captured'
  return (
    <div role="status" class="verdict">
      <p class="status">
        <Mark name={mark} />
        <b>{refusal ? w.wouldRefuse({ code: refusal.code }) : w.wouldBe({ outcome: outcome ?? '–' })}</b>
      </p>
      <p class="soft" lang={said === undefined ? 'en' : undefined}>
        <SafeText text={said ?? refusal?.message ?? reason} />
      </p>
      <ol class="decisions">
        {steps.map((step, i) => {
          const own = stepReason(step, simulation, known)
          return (
            <li key={i}>
              <Icon name={isAgainst.has(step.result) ? 'close' : 'check'} />
              <span lang={own === undefined ? 'en' : undefined}>
                <SafeText text={own ?? step.message} />
              </span>
            </li>
          )
        })}
      </ol>
    </div>
  )
}
