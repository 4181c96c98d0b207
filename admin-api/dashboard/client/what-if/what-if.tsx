/** Routing trial: routes stored messages with changed settings and lists the differences. The address stores the trial. */
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call, type ApiFault } from '../app/api.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { homeProject } from '../app/projects.ts'
import { asFault } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Loading, Show, State } from '../parts/states.tsx'
import { exactTime, number, shortTime } from '../parts/time.ts'
import type { Destination, RoutingRule, SimulatedTrace } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'
import { colon } from '../texts/language.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { idsOf, IfFailover } from './if-failover.tsx'
import { refusalReason } from '../reasons/reasons.ts'
import { texts } from '../routing/routing-texts.ts'

type Body = NonNullable<Input<'POST /v1/routing/what-if'>['body']>

const fields = [
  ...(['match', 'goes', 'without', 'budget', 'cap', 'plan', 'none', 'down'] as const),
  ...(['primary', 'fallbacks', 'on', 'days'] as const),
] as const
type Trial = Readonly<Record<(typeof fields)[number], string>>

const dayMs = 86_400_000
const pageSize = 200

const trialOf = (search: URLSearchParams): Trial => Object.fromEntries(fields.map((name) => [name, search.get(name) ?? ''])) as Trial

const isNumber = (text: string): boolean => /^\d+$/.test(text)

/** Returns the request of a trial. The period starts at midnight UTC, so that send budgets count whole days. */
function bodyOf(trial: Trial, projectId: string | undefined, beganMs: number): Body {
  const days = Number(trial.days) || 7
  const since = Math.floor((beganMs - days * dayMs) / dayMs) * dayMs
  return {
    ...(projectId !== undefined && { project_id: projectId }),
    since: new Date(since).toISOString(),
    limit: pageSize,
    ...(trial.match !== '' && trial.goes !== '' && { rules: [{ match: trial.match, destination_id: trial.goes, priority: 0 }] }),
    ...(trial.without !== '' && { without_rule_ids: [trial.without] }),
    ...(isNumber(trial.budget) && { send_budget: Number(trial.budget) }),
    ...(isNumber(trial.cap) && { monthly_capture_cap: Number(trial.cap) }),
    ...(trial.plan !== '' && { plan: trial.plan as NonNullable<Body['plan']> }),
    ...(trial.none !== '' && { no_route_policy: trial.none as NonNullable<Body['no_route_policy']> }),
    ...(trial.down !== '' && { down_ids: [trial.down] }),
    ...(trial.primary !== '' && { failover: failoverOf(trial) }),
  }
}

const failoverOf = ({ primary, fallbacks, on }: Trial): NonNullable<Body['failover']> => ({
  primary_id: primary,
  fallback_ids: idsOf(fallbacks),
  conditions: { on: idsOf(on) as NonNullable<Body['failover']>['conditions']['on'] },
})

export function WhatIf({ destinations }: { readonly destinations: readonly Destination[] }): JSX.Element {
  const w = texts()
  const asked = trialOf(query.value)
  const isAsked = query.value.get('days') !== null
  const home = homeProject()?.id
  return (
    <div class="columns">
      <section aria-label={w.whatIf}>
        {isAsked && <Result key={`${JSON.stringify(asked)} ${home ?? ''}`} trial={asked} home={home} destinations={destinations} />}
        {!isAsked && <State title={w.whatIfEmpty} text={w.whatIfEmptyText} />}
      </section>
      <aside aria-label={w.whatIf}>
        <Ask asked={asked} home={home} destinations={destinations} />
      </aside>
    </div>
  )
}

interface AskProps {
  readonly asked: Trial
  readonly home: string | undefined
  readonly destinations: readonly Destination[]
}

const matchOf = ({ match }: RoutingRule): string => ('from' in match ? match.from : 'domain' in match ? match.domain : '*')

function Ask({ asked, home, destinations }: AskProps): JSX.Element {
  const w = texts()
  const [trial, setTrial] = useState(asked)
  const rules = useAll('/v1/routing/rules', { query: { ...(home !== undefined && { project: home }) } })
  const set = (name: keyof Trial) => (value: string) => setTrial((before) => ({ ...before, [name]: value }))
  const named = destinations.map(({ id, name }) => [id, name] as const)
  const none = ['', '–'] as const
  return (
    <form
      class="form block"
      onSubmit={(event) => {
        event.preventDefault()
        go(linkHere({ ...trial, match: trial.match.trim(), budget: trial.budget.trim(), days: trial.days || '7' }))
      }}
    >
      <h2>{w.whatIf}</h2>
      <p class="soft">{w.whatIfText}</p>
      <TextField label={w.ifRule} hint={w.ifRuleHint} value={trial.match} onChange={set('match')} isMono />
      <ChooseField label={w.ifTo} value={trial.goes} onChange={set('goes')} options={[none, ...named]} />
      <ChooseField
        label={w.ifWithout}
        value={trial.without}
        onChange={set('without')}
        of={rules}
        options={[none, ...rules.rows.map((rule) => [rule.id, matchOf(rule)] as const)]}
      />
      <ChooseField label={w.ifNoRoute} value={trial.none} onChange={set('none')} options={[none, ...noRouteOptions()]} />
      <ChooseField label={w.ifDown} value={trial.down} onChange={set('down')} options={[none, ...named]} />
      <IfFailover chain={trial} onChange={(chain) => setTrial((before) => ({ ...before, ...chain }))} named={named} />
      <TextField label={w.ifBudget} hint={w.ifBudgetHint} value={trial.budget} onChange={set('budget')} type="number" />
      <TextField label={w.ifCap} hint={w.ifCapHint} value={trial.cap} onChange={set('cap')} type="number" />
      <ChooseField
        label={w.ifPlan}
        hint={w.ifPlanHint}
        value={trial.plan}
        onChange={set('plan')}
        options={[none, ...plans.map((plan) => [plan, plan] as const)]}
      />
      <ChooseField
        label={w.ifDays}
        value={trial.days || '7'}
        onChange={set('days')}
        options={[1, 7, 30, 90].map((days) => [String(days), w.ifDaysN({ n: days })] as const)}
      />
      <div class="actions">
        <button class="button primary">{w.tryNow}</button>
      </div>
    </form>
  )
}

const plans = ['free', 'basic', 'pro', 'enterprise'] as const

const noRouteOptions = (): readonly (readonly [string, string])[] => [
  ['capture', texts().policyCapture],
  ['reject', texts().policyReject],
]

interface ResultProps {
  readonly trial: Trial
  readonly home: string | undefined
  readonly destinations: readonly Destination[]
}

function Result({ trial, home, destinations }: ResultProps): JSX.Element {
  const w = texts()
  const [beganMs] = useState(() => Date.now())
  const [rows, setRows] = useState<readonly SimulatedTrace[]>()
  const [cursor, setCursor] = useState<string | null>(null)
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, setBusy] = useState(false)
  const load = async (after: string | null, isFirst = false): Promise<void> => {
    setBusy(true)
    setFault(undefined)
    try {
      const body = { ...bodyOf(trial, home, beganMs), ...(after !== null && { cursor: after }) }
      const page = await call('POST /v1/routing/what-if', { body }, { isShown: isFirst })
      setRows((before = []) => [...before, ...page.data])
      setCursor(page.next_cursor)
    } catch (error) {
      setFault(asFault(error))
    } finally {
      setBusy(false)
    }
  }
  useEffect(() => void load(null, true), [])
  if (fault)
    return (
      <Show read={{ state: 'failed', fault }} reload={() => void load(cursor)} failure={w.whatIfFailed}>
        {() => null}
      </Show>
    )
  if (!rows) return <Loading />
  return (
    <>
      <Sums rows={rows} />
      <Differing rows={rows} destinations={destinations} />
      {cursor !== null && (
        <div class="more">
          <button class="button" aria-disabled={isBusy} onClick={() => isBusy || void load(cursor)}>
            {w.goOn}
          </button>
        </div>
      )}
    </>
  )
}

function Sums({ rows }: { readonly rows: readonly SimulatedTrace[] }): JSX.Element {
  const w = texts()
  const heading = useRef<HTMLHeadingElement>(null)
  // the button is below a long form, so the result would be out of view
  useLayoutEffect(() => heading.current?.focus(), [])
  const count = (fits: (row: SimulatedTrace) => boolean): string => number(rows.filter(fits).length)
  const sums = [
    ['relayed', count(({ now }) => now.outcome === 'relayed'), w.nowRelayed],
    ['captured', count(({ now }) => now.outcome?.startsWith('captured') === true), w.nowCaptured],
    ['refused', count(({ now }) => now.outcome === null), w.nowRefused],
    ['warning', count(({ differs }) => differs), w.wouldDiffer],
  ] as const
  return (
    <div class="block" role="status">
      <h2 ref={heading} tabIndex={-1}>
        {w.looked({ n: rows.length })}
      </h2>
      <ul class="would">
        {sums.map(([mark, sum, text]) => (
          <li key={mark}>
            <Mark name={mark} />
            <b>{sum}</b> {text}
          </li>
        ))}
      </ul>
    </div>
  )
}

const maxShown = 500

function Differing({
  rows,
  destinations,
}: {
  readonly rows: readonly SimulatedTrace[]
  readonly destinations: readonly Destination[]
}): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const names = new Map(destinations.map(({ id, name }) => [id, name]))
  const differing = rows.filter(({ differs }) => differs).slice(0, maxShown)
  if (differing.length === 0)
    return (
      <div class="block">
        <p>{rows.length === 0 ? w.noneStored : w.noneDiffers}</p>
      </div>
    )
  const way = (outcome: string, destination: string | null): string =>
    [outcome.split('.')[0], destination === null ? '' : (names.get(destination) ?? common.gone)].filter(Boolean).join(' · ')
  return (
    <ul class="rows always" aria-label={w.wouldDiffer}>
      {differing.map(({ trace_id: id, at, to, subject, earlier, now }) => (
        <li key={id}>
          <a href={link(`/traces/${id}`)}>
            <Mark name={now.outcome?.split('.')[0] ?? 'refused'} />
            <b class="cut">
              <SafeText text={to[0] ?? ''} />
            </b>
            <time datetime={at} title={exactTime(at)}>
              {shortTime(at, true)}
            </time>
            <span class="over">
              <SafeText text={subject || common.noSubject} />
            </span>
            <span class="over second">
              {w.happened + colon()} <SafeText text={way(earlier.outcome, earlier.destination_id)} />
            </span>
            <span class="over second">
              {w.instead + colon()}{' '}
              {now.refusal ? (
                <Refused {...now.refusal} />
              ) : (
                <SafeText text={way(now.outcome ?? '', now.first_destination_id ?? now.destination_id)} />
              )}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

/** Reason of a refusal in the current language, or in English for an unknown code. */
function Refused({ code, message }: NonNullable<SimulatedTrace['now']['refusal']>): JSX.Element {
  const own = refusalReason(code)
  return own === undefined ? <span lang="en">{message}</span> : <span>{own}</span>
}
